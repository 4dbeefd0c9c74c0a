package push_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/hubclient/wire"
)

func TestPush_DryRunAsksTheHubWhetherItAccepts(t *testing.T) {
	w := apptest.Differing(t)
	w.PublishSchema("2.0.0", `{"properties": {"title": {"type": "string"}}}`)
	w.Local("@alice/web", `{"title": 1}`)
	w.Run(push.Command, "web", "--dry-run").Done().Prints("note: the stack's schema does not allow settings/title: ")
	enforce := true
	if _, err := w.Client().EditProject(t.Context(), apptest.Stack, wire.EditProject{EnforceSchema: &enforce}); err != nil {
		t.Fatal(err)
	}
	w.Run(push.Command, "web", "--dry-run", "--json").Fails("settings_invalid", "push")
	w.Local("@alice/web", `{"title": "local"}`)
	w.Run(push.Command, "web", "--dry-run").Done().Prints("Pushing web to @alice/web would change")
	wantConfig(t, w, `{"title":"hub"}`)
}

func TestPush_QuestionSaysWhatTheSchemaDoesNotAllow(t *testing.T) {
	w := apptest.Differing(t)
	w.PublishSchema("2.0.0", `{"properties": {"title": {"type": "string"}}}`)
	w.Local("@alice/web", `{"title": 1}`)
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web").Done()
	const want = "Note    the stack's schema does not allow settings/title: got number, want string"
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], want) {
		t.Errorf("asked %q", w.UI.Asked)
	}
	enforce := true
	if _, err := w.Client().EditProject(t.Context(), apptest.Stack, wire.EditProject{EnforceSchema: &enforce}); err != nil {
		t.Fatal(err)
	}
	w.Run(push.Command, "web", "--json").Fails("settings_invalid", "push") // nothing is asked
}

func TestPush_DryRunOfAReaderDoesNotAsk(t *testing.T) {
	w := apptest.Differing(t)
	w.Env["TOOL_HUB_TOKEN"] = w.NewToken("")
	if plan := w.Run(push.Command, "web", "--json", "--dry-run").Done().JSON(); plan["authorized"] != false {
		t.Errorf("%v", plan)
	}
	w.Local("@alice/web", `{"title": `+strings.Repeat("[", 50)+strings.Repeat("]", 50)+`}`)
	w.Run(push.Command, "web", "--dry-run", "--json").Fails("too_large", "push")
}
