package pull_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

// clientText is a client.json that no program would write.
const clientText = `{ "project":"@alice/web",
  "settings": {"title":"Pets",   "size": 1.0,
      "theme": { "dark" :true},
  "old":null }
}`

// synced returns a World whose local project has been pushed, and is edited by edit.
func synced(t *testing.T, edit string) *apptest.World {
	t.Helper()
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{}`)
	w.Local("@alice/web", `{}`)
	w.Write(".tool/web/client.json", clientText)
	w.Strict = true
	w.Run(push.Command, "web").Done()
	from, to, _ := strings.Cut(edit, " => ")
	w.Write(".tool/web/client.json", strings.Replace(clientText, from, to, 1))
	return w
}

func wantClient(t *testing.T, w *apptest.World, want string) {
	t.Helper()
	if got := w.Read(".tool/web/client.json"); got != want {
		t.Errorf("client.json is\n%s\nwant\n%s", got, want)
	}
}

func TestPull_MergesEditsOfOtherKeys(t *testing.T) {
	w := synced(t, `"Pets" => "Mine"`)
	w.Edit(apptest.Stack, "theme.dark", `false`)
	r := w.Run(pull.Command, "web", "--json").Done().JSON()
	if r["merged"] != true || r["keysTaken"] != 1.0 || r["keysKept"] != 1.0 || len(r["conflicts"].(map[string]any)) != 0 {
		t.Errorf("%v", r)
	}
	wantClient(t, w, strings.NewReplacer(`"Pets"`, `"Mine"`, `:true`, `:false`).Replace(clientText))
	w.Run(push.Command, "web").Done()
	if config, _ := w.Config(apptest.Stack); config != `{"old":null,"size":1.0,"theme.dark":false,"title":"Mine"}` {
		t.Errorf("the hub has %s", config)
	}
}

func TestPull_LeavesTheFileWhereOnlyOneSideChanged(t *testing.T) {
	w := synced(t, `"Pets" => "Mine"`)
	before := w.Read(".tool/web/client.json")
	r := w.Run(pull.Command, "web", "--json").Done().JSON()
	if r["merged"] != true || r["settingsChanged"] != false {
		t.Errorf("%v", r)
	}
	wantClient(t, w, before)
}

func TestPull_FailsOnConflictsWithoutATerminal(t *testing.T) {
	w := synced(t, `"Pets" => "Mine"`)
	before, pulled := w.Read(".tool/web/client.json"), w.Read(".tool/web/pulled.json")
	w.Edit(apptest.Stack, "title", `"Theirs"`)
	w.Edit(apptest.Stack, "size", `2`)
	r := w.Run(pull.Command, "web", "--json").Fails("conflict", "pull")
	title := r["conflicts"].(map[string]any)["title"].(map[string]any)
	if len(r["conflicts"].(map[string]any)) != 1 || title["base"] != "Pets" || title["mine"] != "Mine" ||
		title["theirs"] != "Theirs" {
		t.Errorf("%v", r)
	}
	w.Run(pull.Command, "web").Exits(1).Prints(`! title: mine "Mine", theirs "Theirs", base "Pets"`)
	wantClient(t, w, before)
	if got := w.Read(".tool/web/pulled.json"); got != pulled {
		t.Errorf("pulled.json was %s, is %s", pulled, got)
	}
	w.Run(pull.Command, "web", "--mine").Done().Prints("conflicts    1, resolved", "kept         1 local change")
	wantClient(t, w, strings.Replace(before, "1.0", "2", 1))
	w.Run(pull.Command, "web", "--undo").Done()
	wantClient(t, w, before)
	w.Run(pull.Command, "web", "--theirs").Done()
	wantClient(t, w, strings.NewReplacer("1.0", "2", "Mine", "Theirs").Replace(before))
}

func TestPull_ChoosesConflictsInATerminal(t *testing.T) {
	w := synced(t, `"Pets",   "size": 1.0 => "Mine",   "size": 3`)
	before := w.Read(".tool/web/client.json")
	w.Edit(apptest.Stack, "title", `"Theirs"`)
	w.Edit(apptest.Stack, "size", `2`)
	w.Strict = false
	w.UI.Answers = []string{"no", "tm"}
	w.Run(pull.Command, "web").Done().Prints("Aborted")
	wantClient(t, w, before)
	w.Run(pull.Command, "web").Done().Prints("conflicts    2, resolved")
	wantClient(t, w, strings.Replace(before, "3", "2", 1))
	if !strings.Contains(w.UI.Asked[0], `title: "Pets" | "Mine" | "Theirs"`) {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestPull_AsksBeforeItMerges(t *testing.T) {
	w := synced(t, `"Pets" => "Mine"`)
	w.Edit(apptest.Stack, "size", `2`)
	w.Strict = false
	w.UI.Answers = []string{"yes"}
	w.Run(pull.Command, "web").Done()
	if !strings.Contains(w.UI.Asked[0], "Merge the hub's changes into .tool/web/client.json?") ||
		!strings.Contains(w.UI.Asked[0], "Kept    1 local change") {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestPull_EveryDifferenceIsAConflictWithoutABase(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(pull.Command, "web", "--json").Fails("conflict", "pull")
	w.Strict = true
	w.Run(pull.Command, "web").Exits(1).Prints(
		"the config that .tool/web/client.json comes from is not known, so every difference is a conflict")
	wantSettings(t, w, `"title": "local"`)
	w.Run(pull.Command, "web", "--theirs").Done().Prints(
		"note: the config that .tool/web/client.json comes from is not known")
	wantSettings(t, w, `"title": "hub"`)
}

func TestPull_KnowsNoBaseThatIsNotKept(t *testing.T) {
	w := synced(t, `"Pets" => "Mine"`)
	w.Edit(apptest.Stack, "size", `2`)
	w.Write(".tool/web/pulled.json",
		strings.Replace(w.Read(".tool/web/pulled.json"), `"revision": "`,
			`"revision": "`+strings.Repeat("0", 64)+`", "was": "`, 1))
	r := w.Run(pull.Command, "web", "--json").Fails("conflict", "pull")
	if len(r["conflicts"].(map[string]any)) != 2 {
		t.Errorf("%v", r)
	}
	w.Run(pull.Command, "web").Exits(1).Prints(
		"2 keys differ; the config that .tool/web/client.json comes from is not known, so every difference is a conflict",
		"try: tool -C "+w.Dir+" diff web")
}

func TestPull_DoesNotBelieveAnotherBase(t *testing.T) {
	w := synced(t, `"Pets" => "Mine"`)
	before := w.Read(".tool/web/client.json")
	w.Edit(apptest.Stack, "title", `"Theirs"`)
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if !r.URL.Query().Has("revision") {
			return false
		}
		answer := httptest.NewRecorder()
		w.Hub.ServeHTTP(answer, r)
		for name := range answer.Header() {
			rw.Header().Set(name, answer.Header().Get(name))
		}
		rw.Header().Del("Content-Length")
		io.WriteString(rw, strings.Replace(answer.Body.String(), `"Pets"`, `"Mine"`,
			1)) // the local title, as if nothing was edited here
		return true
	})
	w.Run(pull.Command, "web", "--json").Fails("conflict", "pull")
	wantClient(t, w, before)
}

func TestPull_ReportsGitConflictMarkersInClientJSON(t *testing.T) {
	w := synced(t, `"old":null => "old":null,
<<<<<<< HEAD
"a": 1
=======
"a": 2
>>>>>>> theirs
`)
	before := w.Read(".tool/web/client.json")
	w.Run(pull.Command, "web").Exits(1).Prints(".tool/web/client.json:5:1: git conflict markers")
	w.Run(push.Command, "web").Exits(1).Prints(".tool/web/client.json:5:1: git conflict markers")
	wantClient(t, w, before)
}

// merged returns pulled.json as git merges two versions of it with a conflict.
func merged(ours, theirs string) string {
	return "<<<<<<< HEAD\n" + ours + "||||||| base\n{\n=======\n" + theirs + ">>>>>>> theirs\n"
}

func TestPull_TakesTheNewerSideOfPulledJSONWithGitConflictMarkers(t *testing.T) {
	for name, merge := range map[string]func(newer, older string) string{
		"ours":   func(newer, older string) string { return merged(newer, older) },
		"theirs": func(newer, older string) string { return merged(older, newer) },
	} {
		t.Run(name, func(t *testing.T) {
			w := synced(t, `"Pets" => "Pets"`)
			older := w.Read(".tool/web/pulled.json")
			w.Edit(apptest.Stack, "size", `2`)
			w.Run(pull.Command, "web").Done()
			newer := w.Read(".tool/web/pulled.json")
			w.Edit(apptest.Stack, "size", `3`)
			w.Write(".tool/web/pulled.json", merge(newer, older))
			r := w.Run(push.Command, "web", "--no-clobber", "--json").Fails("would_undo_edits", "push")
			if recipe := fmt.Sprint(r["recipe"]); strings.Contains(recipe, " -- ") {
				t.Errorf("git commits no part of a merge: %s", recipe)
			}
			// With the older base, size would be in conflict.
			w.Run(pull.Command, "web").Done().Prints("git conflict markers", "both sides count")
			if got := w.Read(".tool/web/client.json"); !strings.Contains(got, `"size": 3`) {
				t.Errorf("client.json is %s", got)
			}
			if got := w.Read(".tool/web/pulled.json"); strings.Contains(got, "<<<<") {
				t.Errorf("pulled.json is %s", got)
			}
		})
	}
}

// One clone pulled an edit, the other one after it was reverted on the hub: git keeps the edit.
func TestPull_AsksForAnEditThatGitKeptAlthoughItWasReverted(t *testing.T) {
	w := synced(t, `"Pets" => "Pets"`)
	w.Edit(apptest.Stack, "size", `2`)
	w.Run(pull.Command, "web").Done()
	edited, older := w.Read(".tool/web/client.json"), w.Read(".tool/web/pulled.json")
	w.Edit(apptest.Stack, "size", `1.0`)
	w.Edit(apptest.Stack, "title", `"new"`)
	w.Run(pull.Command, "web").Done()
	w.Write(".tool/web/client.json", strings.ReplaceAll(edited, `"Pets"`, `"new"`))
	w.Write(".tool/web/pulled.json", merged(w.Read(".tool/web/pulled.json"), older))
	w.Run(push.Command, "web", "--no-clobber", "--json").Fails("would_undo_edits", "push")
	r := w.Run(pull.Command, "web", "--json").Fails("conflict", "pull")
	if conflicts := r["conflicts"].(map[string]any); len(conflicts) != 1 || conflicts["size"] == nil {
		t.Errorf("conflicts: %v", conflicts)
	}
}

func TestPull_KnowsNoBaseWhereASideWasRestored(t *testing.T) {
	w := synced(t, `"Pets" => "Mine"`)
	older := w.Read(".tool/web/pulled.json")
	w.Edit(apptest.Stack, "size", `2`)
	w.Run(pull.Command, "web").Done()
	newer := w.Read(".tool/web/pulled.json")
	w.Edit(apptest.Stack, "size", `1.0`) // which restores the older revision
	w.Write(".tool/web/pulled.json", merged(newer, older))
	w.Run(pull.Command, "web", "--json").Fails("conflict", "pull")
	w.Run(pull.Command, "web", "--mine").Done()
}

func TestPull_TakesDamagedPulledJSONForNoBase(t *testing.T) {
	w := synced(t, `"Pets" => "Mine"`)
	w.Edit(apptest.Stack, "size", `2`)
	w.Write(".tool/web/pulled.json", "<<<<<<< HEAD\n")
	w.Run(pull.Command, "web").Exits(1).Prints("it counts as absent", "2 keys differ")
	w.Run(pull.Command, "web", "--mine").Done()
	w.Edit(apptest.Stack, "theme.dark", `false`)
	w.Run(pull.Command, "web").Done() // the base is known again
}
