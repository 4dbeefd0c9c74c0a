package push_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

func TestPush_RecordsTheHubOfTheWorkspaceOnce(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Run(push.Command, "web", "--dry-run").Done()
	w.Run(push.Command, "web", "--no-record").Done()
	note := "the hub was recorded in .tool/hub.json as this workspace's"
	w.Run(push.Command, "web").Done().Prints(note)
	if r := w.Run(push.Command, "web").Done(); strings.Contains(r.Out, note) {
		t.Errorf("it is recorded twice:\n%s", r.Out)
	}
	if got := w.Read(".tool/hub.json"); !strings.Contains(got, w.Origin) {
		t.Errorf("hub.json is %s", got)
	}
}

func TestPush_AsksBeforeItUsesAnotherHub(t *testing.T) {
	w := apptest.Differing(t)
	w.Write(".tool/hub.json", `{"origin": "https://hub.example.com"}`)
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web").Done().Prints("Aborted: nothing was changed")
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "Workspace  https://hub.example.com (.tool/hub.json)") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	if config, _ := w.Config(apptest.Stack); config != `{"title":"hub"}` {
		t.Errorf("the hub holds %s", config)
	}
	w.UI.Answers = []string{"yes", "yes"}
	w.Run(push.Command, "web").Done().Prints("Pushed web")
	if got := w.Read(".tool/hub.json"); !strings.Contains(got, "hub.example.com") {
		t.Errorf("hub.json is %s", got)
	}
}

func TestPush_WarnsOfAnotherHubInAPipeline(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Write(".tool/hub.json", `{"origin": "https://hub.example.com"}`)
	r := w.Run(push.Command, "web", "--json").Done()
	if want := "warning: " + w.Origin +
		" (variable) is not the hub of this workspace, which is https://hub.example.com\n"; r.Err != want {
		t.Errorf("stderr is %q, want %q", r.Err, want)
	}
}

func TestPush_NeedsALoginToTheHubOfTheWorkspace(t *testing.T) {
	w := apptest.Differing(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	delete(w.Env, "TOOL_API_ORIGIN")
	w.Write(".tool/hub.json", `{"origin": "https://hub.example.com"}`)
	f := w.Run(push.Command, "web", "--json").Fails("not_logged_in", "push")
	if recipe := f["recipe"].([]any); len(recipe) != 1 ||
		!strings.HasSuffix(recipe[0].(string), "login --origin https://hub.example.com") {
		t.Errorf("recipe %v", recipe)
	}
}
