package push_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/hubclient/wire"
)

// merging is the command as in the program, where its question can merge.
func merging(a *app.App) *cobra.Command {
	a.Merge = pull.Merge
	return push.Command(a)
}

// edited is a workspace whose config was pushed, edited on the hub, and then edited here.
func edited(t *testing.T, theirs map[string]string, mine string) *apptest.World {
	w := apptest.Differing(t)
	w.Local("@alice/web", `{"title": "Pets", "old": 1}`)
	w.Run(push.Command, "web", "--force").Done()
	for key, value := range theirs {
		w.Edit(apptest.Stack, key, value)
	}
	w.Local("@alice/web", mine)
	return w
}

// asked is one question with its facts.
func asked(t *testing.T, w *apptest.World, n int, want ...string) {
	t.Helper()
	if len(w.UI.Asked) <= n {
		t.Fatalf("asked %q", w.UI.Asked)
	}
	for _, text := range want {
		if !strings.Contains(w.UI.Asked[n], text) {
			t.Errorf("question %d does not say %q: %q", n, text, w.UI.Asked[n])
		}
	}
}

func TestPush_SaysWhoseEditsItWouldUndo(t *testing.T) {
	w := edited(t, map[string]string{"color": `"red"`}, `{"title": "Animals", "old": 1}`)
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web").Done()
	asked(t, w, 0, "Overwrite the config of @alice/web? This would undo 1 edit by alice.\n",
		`title: "Pets" -> "Animals"`, "undoes color: alice, just now")
	w.Run(push.Command, "web", "--dry-run").Done().Prints("undoes       1 edit by alice\n    - color: \"red\"\n",
		"    ~ title: \"Pets\" → \"Animals\"\n")
	plan := w.Run(push.Command, "web", "--dry-run", "--json").Done().JSON()
	mine, theirs := plan["mine"].(map[string]any), plan["theirs"].(map[string]any)
	if len(mine["changed"].(map[string]any)) != 1 || len(mine["removed"].(map[string]any)) != 0 {
		t.Errorf("mine: %v", mine)
	}
	color, _ := theirs["removed"].(map[string]any)["color"].(map[string]any)
	if color["from"] != "red" || color["by"] != "alice" || color["via"] != "api" || color["at"] == nil {
		t.Errorf("theirs: %v", theirs)
	}
	wantConfig(t, w, `{"color":"red","old":1,"title":"Pets"}`)
}

func TestPush_MergesFirst(t *testing.T) {
	w := edited(t, map[string]string{"color": `"red"`}, `{"title": "Animals", "old": 1}`)
	w.UI.Answers = []string{"merge", "yes"}
	w.Run(merging, "web").Done().
		Prints("the hub's edits were merged into .tool/web/client.json; to undo that: tool", "pull web --undo\n")
	asked(t, w, 1, "Push 1 change to @alice/web?\n", "in client.json now")
	wantConfig(t, w, `{"color":"red","old":1,"title":"Animals"}`)
	if text := w.Read(".tool/web/client.json"); !strings.Contains(text, `"color": "red"`) {
		t.Errorf("client.json: %s", text)
	}
}

func TestPush_CancelAfterAMergeSaysWhatWasChanged(t *testing.T) {
	w := edited(t, map[string]string{"color": `"red"`}, `{"title": "Animals", "old": 1}`)
	w.UI.Answers = []string{"merge", "no"}
	w.Run(merging, "web").Done().Prints(
		"Aborted: the hub's edits were merged into .tool/web/client.json; to undo that: tool")
	wantConfig(t, w, `{"color":"red","old":1,"title":"Pets"}`)
}

func TestPush_AsksAboutConflictsOfAMerge(t *testing.T) {
	w := edited(t, map[string]string{"title": `"Dogs"`}, `{"title": "Cats", "old": 1}`)
	before := w.Read(".tool/web/client.json")
	w.UI.Answers = []string{"merge", "no", "no"} // leaving the conflicts returns to the question
	w.Run(merging, "web").Done()
	asked(t, w, 1, `title: "Pets" | "Cats" | "Dogs"`)
	asked(t, w, 2, "This would undo 1 edit by alice.")
	if now := w.Read(".tool/web/client.json"); now != before {
		t.Errorf("client.json is now %s", now)
	}
	w.UI.Answers = []string{"merge", "t"} // nothing of mine is left: there is nothing more to ask
	w.Run(merging, "web").Done()
	wantConfig(t, w, `{"old":1,"title":"Dogs"}`)
}

func TestPush_YesIsHarmlessWhereNobodyElseWrote(t *testing.T) {
	w := edited(t, nil, `{"title": "Animals", "old": 1}`)
	w.UI.Answers = []string{"yes"}
	w.Run(push.Command, "web").Done()
	asked(t, w, 0, "Push 1 change to @alice/web?\n")
}

// A push from another machine is the caller's own: only the edit of the page counts.
func TestPush_OwnPushesAreNoEditsOfOthers(t *testing.T) {
	w := edited(t, map[string]string{"color": `"red"`}, `{"title": "Animals", "old": 1, "color": "blue"}`)
	pulled := w.Read(".tool/web/pulled.json")
	w.Run(push.Command, "web", "--force").Done()
	w.Write(".tool/web/pulled.json", pulled)
	w.Local("@alice/web", `{"title": "Mice", "old": 1}`)
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web").Done()
	asked(t, w, 0, "Push 2 changes to @alice/web?\n")
}

// The hub names only the first of many keys.
func TestPush_OwnPushOfManyKeysIsNoEditOfOthers(t *testing.T) {
	many := func(value int) string {
		var keys []string
		for i := range 200 {
			keys = append(keys, fmt.Sprintf(`"%s%03d": %d`, strings.Repeat("k", 37), i, value))
		}
		return "{" + strings.Join(keys, ", ") + "}"
	}
	for edits, want := range map[string]string{
		"by me":         "Push 201 changes to @alice/web?\n",
		"and by others": "Overwrite the config of @alice/web? This would undo 201 edits by alice.\n",
	} {
		t.Run(edits, func(t *testing.T) {
			w := edited(t, nil, many(1))
			pulled := w.Read(".tool/web/pulled.json")
			w.Run(push.Command, "web", "--force").Done()
			if edits == "and by others" {
				set := wire.PatchConfig{Set: jsontext.Value(many(2))}
				_, last := w.Config(apptest.Stack)
				if _, err := w.Client().PatchConfig(t.Context(), apptest.Stack, set, last); err != nil {
					t.Fatal(err)
				}
			}
			w.Write(".tool/web/pulled.json", pulled)
			w.Local("@alice/web", `{"title": "Mice"}`)
			w.UI.Answers = []string{"no"}
			w.Run(push.Command, "web").Done()
			asked(t, w, 0, want)
		})
	}
}

// The hub does not say that the newer edit has changed z, which comes after the keys that it names.
func TestPush_OwnPushIsNoExcuseForANewerEditOfManyKeys(t *testing.T) {
	w := edited(t, nil, `{"title": "Pets", "old": 1, "z": 1}`)
	pulled := w.Read(".tool/web/pulled.json")
	w.Run(push.Command, "web", "--force").Done()
	keys := []string{`"z": 2`}
	for i := range 200 {
		keys = append(keys, fmt.Sprintf(`"%s%03d": 1`, strings.Repeat("k", 37), i))
	}
	set := wire.PatchConfig{Set: jsontext.Value("{" + strings.Join(keys, ", ") + "}")}
	_, last := w.Config(apptest.Stack)
	if _, err := w.Client().PatchConfig(t.Context(), apptest.Stack, set, last); err != nil {
		t.Fatal(err)
	}
	w.Write(".tool/web/pulled.json", pulled)
	w.Local("@alice/web", `{"title": "Mice", "old": 1}`)
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web").Done()
	asked(t, w, 0, "This would undo 201 edits by alice.\n")
}

// gitHubToken is put together here, so that no scanner takes this file for a leak.
var gitHubToken = "ghp" + "_" + strings.Repeat("aB3", 12)

func TestPush_SendsNoTextOfACredentialUnasked(t *testing.T) {
	w := apptest.Differing(t)
	w.Write("src/key.ts", "key = '"+gitHubToken+"'\n")
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web", "--base-files-only").Done().Prints("Aborted: nothing was changed")
	asked(t, w, 0, "Push these files to @alice/web?", "Such files hold secrets:", "src/key.ts: a GitHub token on line 1")
	w.Strict = true
	f := w.Run(push.Command, "web", "--base-files-only", "--json").Fails("secret_found", "read")
	if !strings.Contains(f["reason"].(string), "src/key.ts: a GitHub token on line 1") ||
		strings.Contains(f["reason"].(string), gitHubToken) {
		t.Errorf("%v", f["reason"])
	}
	w.Run(push.Command, "web", "--base-files-only", "--allow-secrets", "src/key.ts").Done()
	w.Run(push.Command, "web", "--base-files-only").Done() // the hub has it: nothing is sent
	w.Write("src/key.ts", "key = '"+gitHubToken+"' // once more\n")
	w.Run(push.Command, "web", "--base-files-only", "--json").Fails("secret_found", "read")
}

func TestPush_NotesCredentialsInTheConfig(t *testing.T) {
	w := apptest.Differing(t)
	w.Local("@alice/web", `{"deploy": {"key": "`+gitHubToken+`"}}`)
	w.Strict = true
	w.Run(push.Command, "web").Done().Prints(
		"note: settings/deploy/key: this looks like a GitHub token: everyone who can read the project can read it")
}

func TestPush_SendsNoCredentialToAPublicProject(t *testing.T) {
	w := apptest.Differing(t)
	if _, err := w.Client().EditProject(t.Context(), apptest.Stack,
		wire.EditProject{Visibility: wire.Public}); err != nil {
		t.Fatal(err)
	}
	w.Local("@alice/web", `{"deploy": {"key": "`+gitHubToken+`"}}`)
	r := w.Run(push.Command, "web").Exits(1).Prints("look like credentials: /deploy/key", "hint: revoke them")
	if len(w.UI.Asked) != 0 || strings.Contains(r.Err+r.Out, gitHubToken) {
		t.Errorf("asked %q, said %s%s", w.UI.Asked, r.Out, r.Err)
	}
	w.Strict = true
	w.Run(push.Command, "web", "--json").Fails("secret_found", "push")
	w.Local("@alice/web", `{"deploy": {"key": {"$secret": "DEPLOY_KEY"}}}`)
	w.Run(push.Command, "web").Done()
	wantConfig(t, w, `{"deploy.key":{"$secret":"DEPLOY_KEY"}}`)
}

// What this machine pushed from elsewhere is no base of this client.json, which may never have had it.
func TestPush_APushFromElsewhereIsNoBase(t *testing.T) {
	w := edited(t, map[string]string{"color": `"red"`}, `{"title": "Pets", "old": 1, "color": "red"}`)
	w.Run(push.Command, "web", "--force").Done()
	if err := os.Remove(filepath.Join(w.Dir, ".tool/web/pulled.json")); err != nil {
		t.Fatal(err)
	}
	w.Local("@alice/web", `{"title": "Pets", "old": 1}`)
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web").Done()
	asked(t, w, 0, "whose edits this undoes is not known")
	w.Strict = true
	w.Run(push.Command, "web", "--no-clobber", "--json").Fails("would_undo_edits", "push")
}

func TestPush_SaysWhereItIsNotKnownWhoseEditsItUndoes(t *testing.T) {
	w := apptest.Differing(t)
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web").Done()
	asked(t, w, 0, "whose edits this undoes is not known")
	if plan := w.Run(push.Command, "web", "--dry-run", "--json").Done().JSON(); plan["mine"] != nil ||
		plan["theirs"] != nil {
		t.Errorf("%v", plan)
	}
}

func TestPush_DryRunOfAStrangerDoesNotKnowWhoseEditsAreUndone(t *testing.T) {
	w := edited(t, map[string]string{"color": `"red"`}, `{"title": "Animals", "old": 1}`)
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/history") &&
			apptest.Refuse(rw, http.StatusForbidden, "not_permitted", "no role")
	})
	if plan := w.Run(push.Command, "web", "--dry-run", "--json").Done().JSON(); plan["theirs"] != nil {
		t.Errorf("%v", plan)
	}
}

func TestPush_NotesInAPipeWhoseEditsItUndid(t *testing.T) {
	w := edited(t, map[string]string{"color": `"red"`}, `{"title": "Animals", "old": 1}`)
	w.Strict = true
	w.Run(push.Command, "web").Done().Prints("note: the existing config was replaced, which undid 1 edit by alice\n")
	w.Local("@alice/web", `{"title": "Mice", "old": 1}`)
	w.Run(push.Command, "web").Done().Prints("note: the existing config was replaced\n")
}

func TestPush_ShowsNoCredentialOfAConfig(t *testing.T) {
	w := edited(t, nil, `{"title": "`+gitHubToken+`", "old": 1}`)
	w.Run(push.Command, "web", "--dry-run").Done().Prints(`~ title: "Pets" → "ghp_…"`)
}
