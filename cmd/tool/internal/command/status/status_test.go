package status_test

import (
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/status"
)

// configOf returns how the only local project compares with the hub.
func configOf(t *testing.T, w *apptest.World) any {
	t.Helper()
	projects := w.Run(status.Command, "--json").Done().JSON()["projects"].([]any)
	if len(projects) != 1 {
		t.Fatalf("%v", projects)
	}
	return projects[0].(map[string]any)["config"]
}

func TestStatus_ComparesSettingsWithTheHub(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{"title": "hub"}`)
	for settings, want := range map[string]string{`{"title": "hub"}`: "same", `{"title": "local"}`: "differs"} {
		w.Local("@alice/web", settings)
		if got := configOf(t, w); got != want {
			t.Errorf("%s: %v, want %s", settings, got, want)
		}
	}
	w.Local("", `{}`)
	if got := configOf(t, w); got != "none" {
		t.Errorf("without a destination: %v", got)
	}
}

func TestStatus_WithoutATokenOrAWorkspace(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	r := w.Run(status.Command, "--json").Done().JSON()
	if r["identity"] != nil || len(r["projects"].([]any)) != 0 || r["originSource"] != "environment" {
		t.Errorf("%v", r)
	}
	w.Local("@alice/web", `{}`)
	w.Run(status.Command).Done().Prints("unknown until you log in", "there is no token: tool")
}

func TestStatus_ReportsBrokenFilesAsProblems(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Local("@alice/web", `{}`)
	w.Write(".tool/web/client.json", `{`)
	w.Run(status.Command).Done().Prints("problem", ".tool/web/client.json:1:")
	w.Env["TOOL_API_ORIGIN"] = "http://127.0.0.1:1"
	w.Run(status.Command, "--json", "--timeout", "1ms").Exits(1)
}
