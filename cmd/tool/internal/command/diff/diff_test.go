package diff_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/diff"
	"example.com/projecthub/hubclient/wire"
)

func TestDiff_ShowsWhatAPushWouldChange(t *testing.T) {
	w := apptest.Differing(t)
	w.Edit(apptest.Stack, "gone", `1`)
	w.Local("@alice/web", `{"title": "local", "new": true}`)
	w.Run(diff.Command, "web").Done().Prints("web differs from @alice/web\n", "settings     1 added, 1 changed, 1 removed",
		"    + new: true\n", `    ~ title: "hub" → "local"`, "    - gone: 1\n")
	r := w.Run(diff.Command, "--json").Done().JSON()
	changes := r["changes"].(map[string]any)
	if r["type"] != "diff" || r["same"] != false || r["updatedVia"] != "api" ||
		changes["added"].(map[string]any)["new"] != true {
		t.Errorf("%v", r)
	}
	if config, _ := w.Config(apptest.Stack); config != `{"gone":1,"title":"hub"}` {
		t.Errorf("the hub has %s", config)
	}
}

func TestDiff_NotesWhatTheSchemaDoesNotAllow(t *testing.T) {
	w := apptest.Differing(t)
	w.PublishSchema("2.0.0", `{"properties": {"title": {"type": "string"}}}`)
	w.Local("@alice/web", `{"title": 1}`)
	for _, enforce := range []bool{false, true} {
		if _, err := w.Client().EditProject(t.Context(), apptest.Stack,
			wire.EditProject{EnforceSchema: &enforce}); err != nil {
			t.Fatal(err)
		}
		w.Run(diff.Command, "web").Done().
			Prints("note: the stack's schema does not allow settings/title: must be a string, not a number")
	}
	w.Env["TOOL_HUB_TOKEN"] = w.NewToken("") // of a reader
	w.Run(diff.Command, "web").Done().Prints("web differs")
}

func TestDiff_ExitCode(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(diff.Command, "web", "--exit-code").Exits(3).Prints("web differs")
	if r := w.Run(diff.Command, "web", "--exit-code", "--json").Exits(3).JSON(); r["type"] != "diff" {
		t.Errorf("%v", r)
	}
	w.Local("@alice/web", `{"title": "hub"}`)
	w.Run(diff.Command, "web", "--exit-code").Done().Prints("web is the same as @alice/web", "no difference")
}

func TestDiff_NameOnly(t *testing.T) {
	w := apptest.Differing(t)
	w.Local("@alice/web", `{"a": {"b\u202e": 1}, "title": "local"}`)
	if r := w.Run(diff.Command, "web", "--name-only").Done(); r.Out != "a.b\\u202e\ntitle\n" {
		t.Errorf("%q", r.Out)
	}
	w.Run(diff.Command, "web", "--name-only", "--full").Exits(2)
}

func TestDiff_CutsLongValuesAndListsUnlessFull(t *testing.T) {
	w := apptest.Differing(t)
	long := strings.Repeat("x", 200)
	var many strings.Builder
	for i := range 60 {
		many.WriteString(`, "k` + string(rune('A'+i/26)) + string(rune('a'+i%26)) + `": 1`)
	}
	w.Local("@alice/web", `{"title": "`+long+`"`+many.String()+`}`)
	if r := w.Run(diff.Command, "web").Done().Prints("xxx…", "… and 10 more"); strings.Contains(r.Out, long) {
		t.Errorf("not cut:\n%s", r.Out)
	}
	if r := w.Run(diff.Command, "web", "--full").Done().Prints(long, "+ kCh: 1"); strings.Contains(r.Out, "…") {
		t.Errorf("cut:\n%s", r.Out)
	}
}

func TestDiff_ComparesWithAnEarlierRevision(t *testing.T) {
	w := apptest.Differing(t)
	_, first := w.Config(apptest.Stack)
	w.Edit(apptest.Stack, "title", `"edited"`)
	w.Run(diff.Command, "web", "--to", first[:8]).Done().Prints("web differs from @alice/web at "+first[:12],
		`~ title: "hub" → "local"`)
	r := w.Run(diff.Command, "web", "--to", "0000", "--json").Fails("revision_not_kept", "diff")
	if recipe := r["recipe"].([]any)[0].(string); !strings.Contains(recipe, "log web") {
		t.Errorf("%v", r)
	}
	for _, bad := range []string{"", "abc", "HEAD", first + "0"} {
		w.Run(diff.Command, "web", "--to", bad).Exits(2)
	}
}

func TestDiff_FailsWithoutProjectOrHistory(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(diff.Command, "web", "--project", "@alice/none", "--json").Fails("not_found", "diff")
	w.Run(diff.Command, "web", "--to", "0000", "--json").Fails("revision_not_kept", "diff")
	w.Local("", `{}`)
	w.Run(diff.Command, "web", "--json").Fails("no_destination", "destination")
	w.Write(".tool/web/client.json", "{\n<<<<<<< HEAD\n")
	w.Run(diff.Command, "web").Exits(1).Prints(".tool/web/client.json:2:1: git conflict markers")
}
