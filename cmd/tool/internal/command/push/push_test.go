package push_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

// project returns a World whose local project web differs from the hub's in one key.
func project(t *testing.T) *apptest.World {
	t.Helper()
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{"title": "local"}`)
	return w
}

func wantConfig(t *testing.T, w *apptest.World, want string) {
	t.Helper()
	if config, _ := w.Config(apptest.Stack); config != want {
		t.Errorf("the hub has %s, want %s", config, want)
	}
}

func TestPush_AsksBeforeItOverwrites(t *testing.T) {
	w := project(t)
	w.UI.Answers = []string{"yes"}
	w.Run(push.Command, "web").Done().Prints("Pushed web to alice/web", "the existing config was replaced")
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], `Overwrite the config of @alice/web?`) || !strings.Contains(w.UI.Asked[0], "title") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	wantConfig(t, w, `{"title":"local"}`)
}

func TestPush_ChangesNothingAfterANo(t *testing.T) {
	w := project(t)
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web").Done().Prints("Aborted: nothing was changed")
	wantConfig(t, w, `{"title":"hub"}`)
}

func TestPush_AsksNobodyWithForceOrWithoutATerminal(t *testing.T) {
	for name, args := range map[string][]string{"force": {"web", "--force"}, "no terminal": {"web"}, "no input": {"web", "--no-input"}} {
		t.Run(name, func(t *testing.T) {
			w := project(t)
			w.Strict = name == "no terminal"
			w.Run(push.Command, args...).Done()
			wantConfig(t, w, `{"title":"local"}`)
		})
	}
}

func TestPush_AsksAgainIfTheHubChangedMeanwhile(t *testing.T) {
	w := project(t)
	w.UI.Answers = []string{"yes", "yes"}
	edits := 0
	w.UI.Meanwhile = func(string) {
		if edits++; edits == 1 {
			w.Edit(apptest.Stack, "title", `"edited"`)
		}
	}
	w.Run(push.Command, "web").Done()
	if len(w.UI.Asked) != 2 || !strings.Contains(w.UI.Asked[1], "alice changed it while you looked") || !strings.Contains(w.UI.Asked[1], "edited") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	wantConfig(t, w, `{"title":"local"}`)
}

func TestPush_GivesUpWhenTheHubRefusesTheRevisionItHas(t *testing.T) {
	w := project(t)
	w.Strict = true
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPut && apptest.Refuse(rw, http.StatusPreconditionFailed, "revision_changed", "it has another revision")
	})
	f := w.Run(push.Command, "web", "--json", "--no-clobber").Fails("revision_changed", "push")
	if project, _ := f["project"].(map[string]any); project["slug"] != "web" || f["origin"] != w.Origin {
		t.Errorf("%v", f)
	}
}

func TestPush_NoClobberRefusesToUndoAnEdit(t *testing.T) {
	w := project(t)
	w.Edit(apptest.Stack, "title", `"edited"`)
	f := w.Run(push.Command, "web", "--json", "--no-clobber").Fails("would_undo_edits", "push")
	if f["current"] == nil || f["config"] == nil || f["configWritten"] != nil {
		t.Errorf("%v", f)
	}
	wantConfig(t, w, `{"title":"edited"}`)
}

func TestPush_IfRevision(t *testing.T) {
	w := project(t)
	_, revision := w.Config(apptest.Stack)
	w.Run(push.Command, "web", "--json", "--if-revision", strings.Repeat("0", 64)).Fails("revision_changed", "push")
	wantConfig(t, w, `{"title":"hub"}`)
	w.Run(push.Command, "web", "--json", "--if-revision", revision).Done()
	wantConfig(t, w, `{"title":"local"}`)
}

func TestPush_DryRunChangesNothing(t *testing.T) {
	w := project(t)
	w.Write("src/index.html", "<p>")
	plan := w.Run(push.Command, "web", "--json", "--dry-run", "--base-files").Done().JSON()
	files, _ := plan["baseFiles"].(map[string]any)
	if plan["type"] != "planned" || plan["authorized"] != true || plan["config"] == nil || files["count"] == float64(0) {
		t.Errorf("%v", plan)
	}
	wantConfig(t, w, `{"title":"hub"}`)
}

func TestPush_UndoPutsTheFormerConfigBack(t *testing.T) {
	w := project(t)
	w.Run(push.Command, "web", "--force").Done()
	w.Run(push.Command, "web", "--undo").Done().Prints("Put back the config of alice/web")
	wantConfig(t, w, `{"title":"hub"}`)
	w.Strict = true
	w.Run(push.Command, "web", "--undo", "--json").Fails("nothing_kept", "read")
}

func TestPush_UndoRefusesWhatWasEditedSince(t *testing.T) {
	w := project(t)
	w.Run(push.Command, "web", "--force").Done()
	w.Edit(apptest.Stack, "title", `"edited"`)
	w.Run(push.Command, "web", "--undo", "--json").Fails("revision_changed", "push")
	wantConfig(t, w, `{"title":"edited"}`)
}

func TestPush_SavesTheConfigBeforeAWriteWhoseResponseIsLost(t *testing.T) {
	w := project(t)
	w.Strict = true
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPut && apptest.Refuse(rw, http.StatusInternalServerError, "internal", "it broke")
	})
	f := w.Run(push.Command, "web", "--json").Fails("internal", "push")
	if hint, _ := f["hint"].(string); !strings.Contains(hint, "push web --undo") {
		t.Errorf("the hint is %q", hint)
	}
}

func TestPush_KeepsTheStageOfADiskFullError(t *testing.T) {
	w := project(t)
	w.Strict = true
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPut && apptest.Refuse(rw, http.StatusInsufficientStorage, "storage_full", "the hub's disk is full")
	})
	w.Run(push.Command, "web").Exits(1).Prints("error: push web to @alice/web: the hub's disk is full", "(stage push)")
}

func TestPush_RecordsTheDestination(t *testing.T) {
	w := project(t)
	w.Local("", `{"title": "local"}`)
	w.Run(push.Command, "web", "--json").Fails("no_destination", "destination")
	w.Run(push.Command, "web", "--project", "@alice/web", "--no-record", "--force").Done()
	if strings.Contains(w.Read(".tool/web/client.json"), "@alice/web") {
		t.Error("--no-record is ignored")
	}
	w.Run(push.Command, "web", "--project", "@alice/web", "--force").Done().Prints("the destination was recorded")
	if !strings.Contains(w.Read(".tool/web/client.json"), "@alice/web") {
		t.Error("the destination is not recorded")
	}
}

func TestPush_NeverCreates(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Local("@alice/other", `{}`)
	f := w.Run(push.Command, "web", "--json").Fails("not_found", "push")
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 || !strings.Contains(recipe[0].(string), "project create @alice/other --from web") {
		t.Errorf("%v", f)
	}
}

func TestPush_RefusesFlagsThatExcludeEachOther(t *testing.T) {
	w := project(t)
	for _, args := range [][]string{
		{"--undo", "--force"}, {"--force", "--no-clobber"}, {"--base-files", "--base-files-only"}, {"--watch"},
		{"--if-revision", "x"}, {"--allow-empty"}, {"--base-files-only", "--no-clobber"}, {"--watch", "--base-files", "--dry-run"},
	} {
		w.Run(push.Command, append([]string{"web"}, args...)...).Exits(2)
	}
}

func TestPush_HalfDoneNamesTheUndoLine(t *testing.T) {
	for name, test := range map[string]struct {
		before func(rw http.ResponseWriter) bool
		want   string
	}{
		"refused": {func(rw http.ResponseWriter) bool {
			return apptest.Refuse(rw, http.StatusForbidden, "not_permitted", "no")
		}, "the base files were not; "},
		"response lost": {func(http.ResponseWriter) bool { panic(http.ErrAbortHandler) }, "the base files may have been; "},
	} {
		t.Run(name, func(t *testing.T) {
			w := project(t)
			w.Write("src/index.html", "<p>")
			w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
				return strings.Contains(r.URL.Path, "/base-files") && r.Method != http.MethodGet && test.before(rw)
			})
			f := w.Run(push.Command, "web", "--json", "--force", "--base-files", "--timeout", "2s").Exits(1).JSON()
			hint, _ := f["hint"].(string)
			if f["configWritten"] != true || !strings.Contains(hint, test.want) || !strings.Contains(hint, "tool") || !strings.Contains(hint, "push web") || !strings.Contains(hint, "--undo") {
				t.Errorf("%v", f)
			}
			w.Intercept(nil)
			w.Run(push.Command, "web", "--undo").Done()
			wantConfig(t, w, `{"title":"hub"}`)
		})
	}
}
