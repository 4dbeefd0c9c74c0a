package status_test

import (
	"net/http"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/cmd/tool/internal/command/status"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/wire"
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
	w.Run(status.Command).Done().Prints("unknown until you log in", "there is no token for "+w.Origin+": tool")
}

func TestStatus_ListsTheLoginsForOtherHubs(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	logins, err := identity.LoadLogins(w.Env["TOOL_CONFIG_DIR"])
	if err != nil {
		t.Fatal(err)
	}
	for _, origin := range []string{w.Origin, "https://hub.example.com"} {
		err := logins.Put(identity.Login{Origin: origin, Token: w.NewToken("write:config"), User: "alice"})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Run(status.Command).Done().Prints("Hub "+w.Origin+" (variable)",
		"other login  https://hub.example.com as alice, never expires")
	w.Env["TOOL_HUB_TOKEN"] = w.NewToken("write:config")
	if others := w.Run(status.Command, "--json").Done().JSON()["logins"].([]any); len(others) != 0 {
		t.Errorf("with a given token: %v", others)
	}
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

func TestStatus_ShowsLocalFactsWithoutTheHub(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{"title": "hub"}`)
	w.Strict = true
	w.Run(push.Command, "web").Done()
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return apptest.Refuse(rw, http.StatusUnauthorized, "token_revoked", "the token is revoked")
	})
	w.Run(status.Command).Exits(1).Prints("Hub "+w.Origin,
		"@alice/web (client.json), unknown: the hub could not be queried",
		"unchanged since the last push or pull", "here 1.0.0", "error: show the status: ", "revoked")
	w.Local("@alice/web", `{"title": "local"}`)
	w.Run(status.Command).Exits(1).Prints("changed since the last push or pull")
	w.Run(status.Command, "--json").Fails("token_revoked", "status")
}

func TestStatus_ReportsAMalformedStackNameAsAProblem(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{}`)
	w.Write(".tool/web/stack.json", `{"name": "web", "version": "1.0.0"}`)
	w.Run(status.Command).Done().Prints("problem", ".tool/web/stack.json")
}

func TestStatus_SaysHowToRestoreADeletedProject(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	r := w.Project(`{"title": "hub"}`)
	w.Local(r.String(), `{"title": "hub"}`)
	w.Write(".tool/web/client.prod.json", `{"project": "@alice/web"}`)
	if _, err := w.Client().DeleteProject(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	restore := ", deleted; to restore it: tool -C " + w.Dir + " project restore @alice/web\n"
	w.Run(status.Command).Done().Prints("@alice/web (client.json)"+restore, "prod         @alice/web"+restore)
	w.Run(status.Command, "--json").Done().Prints(`"deleted":true`)
}

func TestStatus_SaysThatAProjectWasRenamed(t *testing.T) {
	w := apptest.Differing(t)
	edit := wire.EditProject{Slug: "shop"}
	if _, err := w.Client().EditProject(t.Context(), apptest.Stack, edit); err != nil {
		t.Fatal(err)
	}
	w.Run(status.Command).Done().Prints("destination  @alice/web, renamed to @alice/shop (client.json), you may push")
}

func TestStatus_ExitCode(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(status.Command).Done()
	w.Run(status.Command, "--exit-code").Exits(3).Prints("differs")
	w.Local("@alice/web", `{"title": "hub"}`)
	w.Run(status.Command, "--exit-code", "--json").Done()
	w.Local("", `{}`)
	w.Run(status.Command, "web", "--exit-code").Done() // it has no destination
	w.Write(".tool/web/client.json", `{`)
	w.Run(status.Command, "--exit-code").Exits(3)
	w.Local("@alice/none", `{}`)
	w.Run(status.Command, "--exit-code").Exits(3)
	w.Local("@alice/web", `{"title": "hub"}`)
	w.Write(".tool/web/client.new.json", `{}`)
	w.Run(status.Command, "--exit-code").Done() // it has no destination yet
	w.Write(".tool/web/client.prod.json", `{"project": "@alice/web", "settings": {"title": "prod"}}`)
	w.Run(status.Command, "--exit-code").Exits(3).Prints("prod         @alice/web, differs")
}

func TestStatus_KnowsTheBaseInAFreshClone(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Run(push.Command, "web", "--force").Done()
	w.Env["TOOL_STATE_DIR"] = t.TempDir() // of another machine
	w.Run(status.Command).Done().Prints("same")
	w.Local("@alice/web", `{"title": "edited here"}`)
	w.Run(status.Command).Done().Prints("changed here")
	w.Edit(apptest.Stack, "title", `"edited there"`)
	w.Run(status.Command).Done().Prints("changed here and on the hub")
}

func TestStatus_SaysWhichHubItWaitsFor(t *testing.T) {
	w := apptest.New(t)
	w.Run(status.Command).Done()
	if _, waited := w.UI.WaitedFor.Load(w.Origin); !waited || w.UI.Pending.Load() != 0 {
		t.Errorf("it waited for the hub: %v; %d requests have no answer", waited, w.UI.Pending.Load())
	}
}
