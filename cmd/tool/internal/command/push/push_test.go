package push_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/hubclient/wire"
)

func wantConfig(t *testing.T, w *apptest.World, want string) {
	t.Helper()
	if config, _ := w.Config(apptest.Stack); config != want {
		t.Errorf("the hub has %s, want %s", config, want)
	}
}

func TestPush_AsksBeforeItOverwrites(t *testing.T) {
	w := apptest.Differing(t)
	w.UI.Answers = []string{"yes"}
	w.Run(push.Command, "web").Done().Prints("Pushed web to @alice/web", "the existing config was replaced")
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], `Overwrite the config of @alice/web?`) ||
		!strings.Contains(w.UI.Asked[0], "title") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	wantConfig(t, w, `{"title":"local"}`)
}

func TestPush_ReadsADestinationAsACommandLineDoes(t *testing.T) {
	w := apptest.Differing(t)
	w.Local("alice/web", `{"title": "local"}`)
	w.Run(push.Command, "web", "--force").Done().Prints("Pushed web to @alice/web")
}

func TestPush_TakesADestinationForItsLocalProject(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(push.Command, "@alice/web", "--force").Done().Prints("Pushed web to @alice/web")
	w.Run(push.Command, "@alice/shop", "--force").Exits(1).
		Prints("no local project has the destination @alice/shop", " pull @alice/shop")
	w.Run(push.Command, "@alice/web", "-C", t.TempDir()).Exits(1).Prints(" pull @alice/web")
}

func TestPush_AdvisesTheSamePushOfALocalProject(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	for _, flags := range [][]string{{"--dry-run", "--message", "true"}, {"--undo"}} {
		w.Run(push.Command, append(flags, "--force=false")...).Exits(2).
			Prints("try: tool -C " + w.Dir + " push web " + strings.Join(flags, " ") + " --origin ")
	}
}

func TestPush_ChangesNothingAfterANo(t *testing.T) {
	w := apptest.Differing(t)
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web").Done().Prints("Aborted: nothing was changed")
	wantConfig(t, w, `{"title":"hub"}`)
}

func TestPush_AsksNobodyWithForceOrWithoutATerminal(t *testing.T) {
	for name, args := range map[string][]string{"force": {"web", "--force"}, "no terminal": {"web"},
		"no input": {"web", "--no-input"}} {
		t.Run(name, func(t *testing.T) {
			w := apptest.Differing(t)
			w.Strict = name == "no terminal"
			w.Run(push.Command, args...).Done()
			wantConfig(t, w, `{"title":"local"}`)
		})
	}
}

func TestPush_AsksAgainIfTheHubChangedMeanwhile(t *testing.T) {
	w := apptest.Differing(t)
	w.UI.Answers = []string{"yes", "yes"}
	edits := 0
	w.UI.Meanwhile = func(string) {
		if edits++; edits == 1 {
			w.Edit(apptest.Stack, "title", `"edited"`)
		}
	}
	w.Run(push.Command, "web").Done()
	if len(w.UI.Asked) != 2 || !strings.Contains(w.UI.Asked[1], "alice changed it while you looked") ||
		!strings.Contains(w.UI.Asked[1], "edited") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	wantConfig(t, w, `{"title":"local"}`)
}

func TestPush_GivesUpWhenTheHubRefusesTheRevisionItHas(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPut &&
			apptest.Refuse(rw, http.StatusPreconditionFailed, "revision_changed", "it has another revision")
	})
	f := w.Run(push.Command, "web", "--json", "--no-clobber").Fails("revision_changed", "push")
	if project, _ := f["project"].(map[string]any); project["slug"] != "web" || f["origin"] != w.Origin {
		t.Errorf("%v", f)
	}
}

func TestPush_NoClobberNamesTheKeysOfEachEdit(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Run(push.Command, "web").Done()
	w.Edit(apptest.Stack, "title", `"edited"`)
	for i := range 10 {
		w.Edit(apptest.Stack, fmt.Sprintf("k%d", i), `1`)
	}
	_, last := w.Config(apptest.Stack)
	if _, err := w.Client().PatchConfig(t.Context(), apptest.Stack,
		wire.PatchConfig{Remove: []string{"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"}}, last); err != nil {
		t.Fatal(err)
	}
	w.Run(push.Command, "web", "--no-clobber").Exits(1).
		Prints(": ~ title\n", ": + k9\n", ": - k0, - k1, - k2, - k3, - k4, - k5, - k6, - k7, and 2 more\n",
			"edit: alice through the API just now: ")
	edits := w.Run(push.Command, "web", "--no-clobber", "--json").Fails("would_undo_edits", "push")["edits"].([]any)
	keys := edits[0].(map[string]any)["keys"].(map[string]any)
	if len(edits) != 12 || len(keys["removed"].([]any)) != 10 || len(keys["added"].([]any)) != 0 {
		t.Errorf("%v", edits)
	}
}

func TestPush_NoClobberRefusesToUndoAnEdit(t *testing.T) {
	w := apptest.Differing(t)
	w.Edit(apptest.Stack, "title", `"edited"`)
	f := w.Run(push.Command, "web", "--json", "--no-clobber").Fails("would_undo_edits", "push")
	if f["current"] == nil || f["config"] == nil || f["configWritten"] != nil {
		t.Errorf("%v", f)
	}
	wantConfig(t, w, `{"title":"edited"}`)
}

func TestPush_IfRevision(t *testing.T) {
	w := apptest.Differing(t)
	_, revision := w.Config(apptest.Stack)
	w.Run(push.Command, "web", "--json", "--if-revision", strings.Repeat("0", 64)).Fails("revision_changed", "push")
	wantConfig(t, w, `{"title":"hub"}`)
	w.Run(push.Command, "web", "--json", "--if-revision", revision).Done()
	wantConfig(t, w, `{"title":"local"}`)
}

func TestPush_DryRunChangesNothing(t *testing.T) {
	w := apptest.Differing(t)
	w.Write("src/index.html", "<p>")
	plan := w.Run(push.Command, "web", "--json", "--dry-run", "--base-files").Done().JSON()
	files, _ := plan["baseFiles"].(map[string]any)
	if plan["type"] != "planned" || plan["authorized"] != true || plan["config"] == nil || files["count"] == float64(0) {
		t.Errorf("%v", plan)
	}
	wantConfig(t, w, `{"title":"hub"}`)
}

func TestPush_UndoPutsTheFormerConfigBack(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(push.Command, "web", "--force").Done()
	w.Run(push.Command, "web", "--undo").Done().Prints("Restored the config of @alice/web")
	wantConfig(t, w, `{"title":"hub"}`)
	now, err := w.Client().Config(t.Context(), apptest.Stack, "")
	if err != nil || now.UpdatedVia != wire.ViaRestore {
		t.Errorf("it was written through %q, %v", now.UpdatedVia, err)
	}
	w.Strict = true
	f := w.Run(push.Command, "web", "--undo", "--json").Fails("revision_changed", "push")
	if f["current"].(map[string]any)["updatedVia"] != "restore" ||
		!strings.HasSuffix(f["recipe"].([]any)[0].(string), "log web") {
		t.Errorf("%v", f)
	}
	w.Run(push.Command, "web", "--no-clobber").Done() // an own undo is no edit by others
	w.Run(push.Command, "web", "--undo").Done()
	wantConfig(t, w, `{"title":"hub"}`)
}

// Nothing but the newest edit is undone, and only if it is a push of the caller, from whatever
// machine.
func TestPush_UndoIsOfTheCallersNewestPush(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	broken := true
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return broken && r.Method == http.MethodPut &&
			apptest.Refuse(rw, http.StatusInternalServerError, "internal", "it broke")
	})
	w.Run(push.Command, "web", "--json").Fails("internal", "push")
	broken = false
	w.Run(push.Command, "web", "--undo", "--json").Fails("nothing_kept",
		"read") // what created the config replaced nothing
	w.Run(push.Command, "web").Done()
	w.Env["TOOL_STATE_DIR"], w.Env["TOOL_CACHE_DIR"] = t.TempDir(), t.TempDir() // another machine
	w.Run(push.Command, "web", "--undo").Done()
	wantConfig(t, w, `{"title":"hub"}`)
}

func TestPush_UndoRefusesWhatWasEditedSince(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(push.Command, "web", "--force").Done()
	w.Edit(apptest.Stack, "title", `"edited"`)
	w.Run(push.Command, "web", "--undo", "--json").Fails("revision_changed", "push")
	wantConfig(t, w, `{"title":"edited"}`)
}

func TestPush_NamesTheUndoLineAfterAWriteWhoseResponseIsLost(t *testing.T) {
	w := apptest.Differing(t)
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
	w := apptest.Differing(t)
	w.Strict = true
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPut &&
			apptest.Refuse(rw, http.StatusInsufficientStorage, "storage_full", "the hub's disk is full")
	})
	w.Run(push.Command, "web").Exits(1).Prints("error: push web to @alice/web: the hub's disk is full", "(stage push)")
}

func TestPush_RecordsTheDestination(t *testing.T) {
	w := apptest.Differing(t)
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
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 ||
		!strings.Contains(recipe[0].(string), "project create @alice/other --from web") {
		t.Errorf("%v", f)
	}
}

func TestPush_RefusesFlagsThatExcludeEachOther(t *testing.T) {
	w := apptest.Differing(t)
	for _, args := range [][]string{
		{"--undo", "--force"}, {"--force", "--no-clobber"}, {"--base-files", "--base-files-only"},
		{"--if-revision", "x"}, {"--allow-empty"}, {"--if-tree", "none"}, {"--base-files", "--if-tree", "x"},
		{"--base-files", "--if-tree", "none", "--no-clobber"}, {"--base-files-only", "--if-revision", "none"},
		{"--watch", "--base-files", "--dry-run"},
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
			w := apptest.Differing(t)
			w.Write("src/index.html", "<p>")
			w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
				return strings.Contains(r.URL.Path, "/base-files") && r.Method != http.MethodGet && test.before(rw)
			})
			f := w.Run(push.Command, "web", "--json", "--force", "--base-files", "--timeout", "2s").Exits(1).JSON()
			hint, _ := f["hint"].(string)
			if f["configWritten"] != true || !strings.Contains(hint, test.want) || !strings.Contains(hint, "tool") ||
				!strings.Contains(hint, "push web") || !strings.Contains(hint, "--undo") {
				t.Errorf("%v", f)
			}
			w.Intercept(nil)
			w.Run(push.Command, "web", "--undo").Done()
			wantConfig(t, w, `{"title":"hub"}`)
		})
	}
}

func TestPush_SendsOnlyChangedBaseFiles(t *testing.T) {
	w := apptest.Differing(t)
	w.Write("src/index.html", "<p>")
	w.Write("src/old.txt", "old")
	w.Write("src/same.txt", "same")
	first := w.Run(push.Command, "web", "--json", "--force", "--base-files").Done().JSON()
	if first["baseFilesPushed"] != first["baseFilesAdded"] || first["baseFilesAdded"] == float64(0) {
		t.Errorf("the first push: %v", first)
	}
	w.Write("src/index.html", "<p>more")
	w.Write("src/new.txt", "new")
	if err := os.Remove(filepath.Join(w.Dir, "src", "old.txt")); err != nil {
		t.Fatal(err)
	}
	second := w.Run(push.Command, "web", "--json", "--base-files-only").Done().JSON()
	for member, want := range map[string]float64{"baseFilesAdded": 1, "baseFilesChanged": 1, "baseFilesRemoved": 1,
		"baseFilesUploaded": 2} {
		if second[member] != want {
			t.Errorf("%s is %v, want %v", member, second[member], want)
		}
	}
	files := w.BaseFiles(apptest.Stack)
	if _, there := files["src/old.txt"]; there || files["src/index.html"] != int64(len("<p>more")) ||
		files["src/new.txt"] != 3 || files["src/same.txt"] != 4 {
		t.Errorf("the hub has %v", files)
	}
	wantConfig(t, w, `{"title":"local"}`)
	third := w.Run(push.Command, "web", "--json", "--base-files-only").Done().JSON()
	if third["baseFilesUploaded"] != float64(0) || third["baseFilesBytesSent"] != float64(0) {
		t.Errorf("an unchanged set is sent: %v", third)
	}
}

func TestPush_RefusesToRemoveAllBaseFiles(t *testing.T) {
	w := apptest.Differing(t)
	w.Write(".toolignore", "*\n")
	f := w.Run(push.Command, "web", "--json", "--base-files-only").Exits(1).JSON()
	if f["stage"] != "read" {
		t.Errorf("%v", f)
	}
	w.Run(push.Command, "web", "--base-files-only", "--allow-empty").Done()
	if files := w.BaseFiles(apptest.Stack); len(files) != 0 {
		t.Errorf("the hub has %v", files)
	}
}

func TestPush_AsksOnlyAboutIgnoredFilesThatItSends(t *testing.T) {
	w := apptest.Differing(t)
	if err := exec.Command("git", "init", "-q", w.Dir).Run(); err != nil {
		t.Skip("needs git: ", err)
	}
	w.Write(".gitignore", "secrets/\n")
	w.Write("secrets/old.json", "{}\n")
	files := []string{"web", "--base-files-only"}
	w.Run(push.Command, append(files, "--force")...).Done().Prints(
		"git ignores 1 added or changed base file, such as secrets/old.json")
	// The project has this file already, and nobody is asked.
	if r := w.Run(push.Command, files...).Done(); strings.Contains(r.Out+r.Err, "git ignores") || len(w.UI.Asked) > 0 {
		t.Errorf("asked %q\n%s%s", w.UI.Asked, r.Out, r.Err)
	}
	w.Run(push.Command, append(files, "--dry-run")...).Done().Prints("git ignores 1 base file, such as secrets/old.json")

	for _, name := range []string{"secrets/new.json", "secrets/old.json"} {
		w.Write(name, `{"key": "`+name+`"}`)
		w.UI.Asked, w.UI.Answers = nil, []string{"no"}
		w.Run(push.Command, files...).Done().Prints("Aborted")
		if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], name) {
			t.Errorf("asked %q, want a question about %s", w.UI.Asked, name)
		}
	}
}

func TestPush_SendsSecretsOnlyIfSomebodyAllowsIt(t *testing.T) {
	w := apptest.Differing(t)
	w.Write(".toolignore", "!.env\n!tls.key\n")
	w.Write("a.txt", "a\n")
	w.Write(".env", "PASSWORD=hunter2\n")
	w.Write("tls.key", "key\n")
	files := func(args ...string) []string { return append([]string{"web", "--base-files-only"}, args...) }
	unsent := func() {
		t.Helper()
		if set := w.BaseFiles(apptest.Stack); len(set) > 0 {
			t.Fatalf("the hub has %v", set)
		}
	}
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, files()...).Done().Prints("Aborted")
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "Such files hold secrets:\n  .env\n  tls.key") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	unsent()
	const note = "2 files that hold secrets would be sent, such as .env, tls.key"
	w.Run(push.Command, files("--dry-run")...).Done().Prints(note)
	f := w.Run(push.Command, files("--force", "--json")...).Fails("secret_found", "read") // which is about overwriting
	recipe := fmt.Sprint(f["recipe"])
	if !strings.Contains(recipe, "push web --base-files-only --allow-secrets .env --allow-secrets tls.key") {
		t.Errorf("the recipe is %s", recipe)
	}
	w.Strict = true
	f = w.Run(push.Command, files("--json", "--allow-secrets", "./.env")...).Fails("secret_found", "read")
	if recipe := fmt.Sprint(f["recipe"]); !strings.Contains(recipe, "--allow-secrets ./.env --allow-secrets tls.key") {
		t.Errorf("the recipe forgets what was allowed: %s", recipe)
	}
	unsent()
	w.Run(push.Command, files("--allow-secrets", "./.env", "--allow-secrets", "tls.key")...).Done()
	if set := w.BaseFiles(apptest.Stack); set[".env"] == 0 || set["tls.key"] == 0 {
		t.Errorf("the hub has %v", set)
	}
	w.Strict = false
	w.Write("a.txt", "changed\n")
	w.Run(push.Command, files()...).Done() // which has had the secrets
	w.Run(push.Command, "web", "--allow-secrets", ".env").Exits(2)
}

func TestPush_AsksWhereItIsNotKnownWhatGitIgnores(t *testing.T) {
	w := apptest.Differing(t)
	w.Write(".git/HEAD", "not a repository\n")
	w.Write("a.txt", "a\n")
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web", "--base-files-only").Done().Prints("Aborted")
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "It is not known which files git ignores: git") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	w.Strict = true
	w.Run(push.Command, "web", "--base-files-only").Done().Prints("note: it is not known which files git ignores: git")
}

func TestPush_ReplacesADamagedConfigWithForce(t *testing.T) {
	w := apptest.Differing(t)
	_, revision := w.Config(apptest.Stack)
	damaged := func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/config") &&
			apptest.Refuse(rw, http.StatusInternalServerError, wire.CodeDamaged, "the stored bytes are damaged")
	}
	w.Intercept(damaged)
	f := w.Run(push.Command, "web", "--base-files", "--json").Fails("damaged", "push")
	if recipe := fmt.Sprint(f["recipe"]); !strings.Contains(recipe, "push web --force --base-files") {
		t.Errorf("the recipe is %s", recipe)
	}
	w.Run(push.Command, "web", "--no-clobber", "--json").Fails("damaged", "push")
	w.Run(push.Command, "web", "--if-revision", revision, "--json").Fails("damaged", "push")
	w.Intercept(nil)
	wantConfig(t, w, `{"title":"hub"}`)
	w.Intercept(damaged)
	w.Run(push.Command, "web", "--force").Done().Prints("the hub's config was damaged, and was replaced")
	w.Intercept(nil)
	wantConfig(t, w, `{"title":"local"}`)
}

// A pipeline cannot be asked: what git ignores stays, unless .toolignore includes it by a rule, or it is named.
func TestPush_LeavesOutWhatGitIgnores(t *testing.T) {
	w := apptest.Differing(t)
	w.Write(".gitignore", "dist/\n*.local\n")
	if err := exec.Command("git", "init", "-q", w.Dir).Run(); err != nil {
		t.Skip("needs git: ", err)
	}
	for _, name := range []string{"src/a.txt", "dist/app.txt", "src/one.local", "src/two.local"} {
		w.Write(name, "text")
	}
	w.Write(".toolignore", "!/dist/\n")
	w.Strict = true
	w.Run(push.Command, "web", "--base-files-only", "--allow-secrets", "src/one.local").Done().
		Prints("git ignores 1 base file, such as src/two.local, left out: a rule with ! in .toolignore includes them")
	files := w.BaseFiles(apptest.Stack)
	for name, want := range map[string]bool{"src/a.txt": true, "dist/app.txt": true, "src/one.local": true,
		"src/two.local": false} {
		if _, is := files[name]; is != want {
			t.Errorf("%s: %t, want %t", name, is, want)
		}
	}
	w.Write(".toolignore", "/src/a.txt\n/src/one.local\n/*.*\n/dist/\n")
	w.Run(push.Command, "web", "--base-files-only", "--json").Fails("no_base_files", "read")

	// A terminal that said yes once includes them.
	w.Strict = false
	w.UI.Answers = []string{"yes", "yes"}
	w.Run(push.Command, "web", "--base-files-only").Done()
	w.Strict = true
	w.Run(push.Command, "web", "--base-files-only").Done()
	if files := w.BaseFiles(apptest.Stack); len(files) != 1 || files["src/two.local"] == 0 {
		t.Errorf("the hub has %v", files)
	}
}
