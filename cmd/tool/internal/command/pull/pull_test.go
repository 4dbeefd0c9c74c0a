package pull_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

func wantSettings(t *testing.T, w *apptest.World, want string) {
	t.Helper()
	if got := w.Read(".tool/web/client.json"); !strings.Contains(got, want) {
		t.Errorf("client.json is %s, without %s", got, want)
	}
}

func TestPull_AsksBeforeItReplacesSettings(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(push.Command, "web", "--force").Done()
	w.Edit(apptest.Stack, "title", `"hub"`)
	w.UI.Answers = []string{"yes"}
	w.Run(pull.Command, "web").Done().Prints("Pulled web from @alice/web")
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "Replace the settings in .tool/web/client.json?") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	wantSettings(t, w, `"title": "hub"`)
}

func TestPull_ChangesNothingAfterANo(t *testing.T) {
	w := apptest.Differing(t)
	w.UI.Answers = []string{"no"}
	w.Run(pull.Command, "web").Done().Prints("Aborted")
	wantSettings(t, w, `"title": "local"`)
}

func TestPull_ReplacesSettingsThatWerePulledBefore(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Run(pull.Command, "web", "--force").Done()
	w.Edit(apptest.Stack, "title", `"edited"`)
	w.Run(pull.Command, "web").Done()
	wantSettings(t, w, `"title": "edited"`)
}

func TestPull_UndoPutsTheFormerSettingsBack(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(pull.Command, "web", "--force").Done()
	w.Run(pull.Command, "web", "--undo").Done().Prints("Restored the settings of web")
	wantSettings(t, w, `"title": "local"`)
	w.Run(pull.Command, "web", "--undo", "--json").Fails("nothing_kept", "read")
	w.Unprinted("the pull went through", pull.Command, "web", "--force")
	w.Run(pull.Command, "web", "--force").Done()
	w.Local("@alice/web", `{"title": "local"}`) // by hand
	w.Run(pull.Command, "web", "--undo").Exits(1).Prints("there is no pull to undo on this machine")
}

func TestPull_FailsWithoutConfigProjectOrBaseFiles(t *testing.T) {
	t.Run("no config", func(t *testing.T) {
		t.Parallel()
		w := apptest.New(t)
		w.Project("")
		w.Local("@alice/web", `{}`)
		w.Run(pull.Command, "web", "--json").Fails("no_config", "pull")
	})
	t.Run("no project", func(t *testing.T) {
		t.Parallel()
		w := apptest.New(t)
		w.Local("@alice/web", `{}`)
		w.Run(pull.Command, "web", "--json").Fails("not_found", "pull")
	})
	t.Run("no base files", func(t *testing.T) {
		w := apptest.Differing(t)
		w.Run(pull.Command, "web", "--json", "--base-files-only").Fails("no_base_files", "pull")
	})
}

func TestPull_RefusesFlagsThatExcludeEachOther(t *testing.T) {
	w := apptest.Differing(t)
	for _, args := range [][]string{{"--undo", "--force"}, {"--undo", "--mine"}, {"--mine", "--theirs"},
		{"--force", "--theirs"}, {"--base-files-only", "--mine"}, {"--base-files", "--base-files-only"}, {"--output", "x"},
		{"--base-files", "--output", ".tool"}} {
		w.Run(pull.Command, append([]string{"web"}, args...)...).Exits(2)
	}
}

func TestPull_SaysThatUndoLeavesAddedFiles(t *testing.T) {
	w := apptest.Differing(t)
	w.Write("src/index.html", "<p>")
	w.Run(push.Command, "web", "--force", "--base-files").Done()
	if err := os.Remove(filepath.Join(w.Dir, "src", "index.html")); err != nil {
		t.Fatal(err)
	}
	w.Run(pull.Command, "web", "--force", "--base-files").Done().Prints(
		"pull --undo does not remove the added base files (1)")
	if r := w.Run(pull.Command, "web", "--force", "--base-files").Done(); strings.Contains(r.Out, "added base files (") {
		t.Errorf("nothing was added:\n%s", r.Out)
	}
}

// pushed returns a World whose hub has the base file src/index.html, which is edited here.
func pushed(t *testing.T) *apptest.World {
	t.Helper()
	w := apptest.Differing(t)
	w.Write("src/index.html", "<p>hub")
	w.Run(push.Command, "web", "--force", "--base-files").Done()
	w.Write("src/index.html", "<p>here")
	return w
}

func wantFile(t *testing.T, w *apptest.World, want string) {
	t.Helper()
	if got := w.Read("src/index.html"); got != want {
		t.Errorf("index.html is %s, want %s", got, want)
	}
}

func TestPull_AsksBeforeItOverwritesBaseFiles(t *testing.T) {
	w := pushed(t)
	w.UI.Answers = []string{"show", "no", "yes"}
	w.Run(pull.Command, "web", "--base-files").Done().Prints("Aborted")
	if len(w.UI.Asked) != 2 || !strings.Contains(w.UI.Asked[1], "src/index.html: <p>here -> <p>hub") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	wantFile(t, w, "<p>here")
	w.Run(pull.Command, "web", "--base-files").Done().Prints("(1 changed)", "the replaced base files (1) are saved")
	wantFile(t, w, "<p>hub")
	if len(w.UI.Asked) != 3 || !strings.Contains(w.UI.Asked[2], "~ src/index.html") {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestPull_RefusesToOverwriteBaseFilesWithoutATerminal(t *testing.T) {
	w := pushed(t)
	w.Run(pull.Command, "web", "--json", "--base-files").Fails("files_differ", "pull")
	wantFile(t, w, "<p>here")
}

// taking returns a World whose hub has base files that came from elsewhere.
func taking(t *testing.T) *apptest.World {
	t.Helper()
	w := apptest.Differing(t)
	w.Write("src/index.html", "<p>hub")
	w.Write(".toolignore", "!.env\n!.envrc\n")
	w.Write(".envrc", "echo run")
	w.Run(push.Command, "web", "--force", "--base-files", "--allow-secrets", ".envrc").Done()
	for _, name := range []string{"src/index.html", ".toolignore", ".envrc"} {
		if err := os.Remove(filepath.Join(w.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.Edit(apptest.Stack, "other", `1`)
	return w
}

// Who may write to the project, moves the app to where other programs look for files.
func TestPull_AddsNoFileUnaskedWhereTheHubMovesTheApp(t *testing.T) {
	w := apptest.Differing(t)
	w.Write("src/tasks.json", "{}")
	w.Run(push.Command, "web", "--force", "--base-files").Done()
	for _, root := range []string{".github/workflows", ".vscode", ".husky", "node_modules/.bin"} {
		w.Edit(apptest.Stack, "basePath", `"`+root+`/src"`)
		r := w.Run(pull.Command, "web", "--json", "--base-files").Fails("files_unconfirmed", "pull")
		if reason := r["reason"].(string); !strings.Contains(reason, ": 2, such as openapi.json, src/tasks.json") {
			t.Errorf("%s: %s", root, reason)
		}
		if _, err := os.Lstat(filepath.Join(w.Dir, root)); err == nil {
			t.Errorf("%s was made", root)
		}
	}
}

func TestPull_AddsNoFileUnaskedThatActs(t *testing.T) {
	w := taking(t)
	r := w.Run(pull.Command, "web", "--json", "--base-files").Fails("files_unconfirmed", "pull")
	if reason := r["reason"].(string); !strings.Contains(reason, ": 2, such as .envrc, .toolignore") {
		t.Errorf("reason: %s", reason)
	}
	w.Strict = true
	w.Run(pull.Command, "web", "--base-files").Exits(1).
		Prints("pull web --origin", "pull web --base-files-only --force --origin")
	if got := w.Read(".tool/web/client.json"); strings.Contains(got, "other") {
		t.Errorf("client.json is %s", got)
	}
	w.Write("src/index.html", "<p>here")
	w.Run(pull.Command, "web", "--base-files-only").Exits(1).
		Prints("such as src/index.html; files would be added", ".envrc")
	if err := os.Remove(filepath.Join(w.Dir, "src", "index.html")); err != nil {
		t.Fatal(err)
	}
	w.Strict = false
	w.UI.Answers = []string{"yes", "no", "yes", "show", "yes"}
	w.Run(pull.Command, "web", "--base-files").Done().Prints("Aborted")
	for _, name := range []string{".envrc", ".toolignore", "src/index.html"} {
		if _, err := os.Lstat(filepath.Join(w.Dir, name)); err == nil {
			t.Errorf("%s was added", name)
		}
	}
	w.Run(pull.Command, "web", "--base-files").Done().
		Prints("4 (3 added)\n", "    + .envrc\n", "    + .toolignore\n", "    + src/index.html\n")
	title, list := "Add files to the app root?", "+ .envrc"
	if asked := w.UI.Asked[1]; !strings.Contains(asked, title) || !strings.Contains(asked, list) {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestPull_ListsAddedFiles(t *testing.T) {
	w := taking(t)
	r := w.Run(pull.Command, "web", "--json", "--base-files-only", "--force").Done().JSON()
	if got := fmt.Sprint(r["addedBaseFiles"]); got != "[.envrc .toolignore src/index.html]" {
		t.Errorf("added: %s", got)
	}
}

func TestPull_UndoPutsBaseFilesAndSettingsBack(t *testing.T) {
	w := pushed(t)
	w.Edit(apptest.Stack, "title", `"edited"`)
	w.Run(pull.Command, "web", "--force", "--base-files").Done()
	wantFile(t, w, "<p>hub")
	wantSettings(t, w, `"title": "edited"`)
	w.Run(pull.Command, "web", "--undo").Done().Prints("settings and base files of web", "1 restored")
	wantFile(t, w, "<p>here")
	wantSettings(t, w, `"title": "local"`)
}

func TestPull_UndoKeepsBaseFilesEditedSince(t *testing.T) {
	w := pushed(t)
	w.Run(pull.Command, "web", "--force", "--base-files-only").Done()
	w.Write("src/index.html", "<p>edited")
	w.Run(pull.Command, "web", "--undo", "--json").Fails("files_differ", "read")
	wantFile(t, w, "<p>edited")
}

// The app root may be another one by then, and its directory a link.
func TestPull_UndoWritesWhereThePullDid(t *testing.T) {
	w := pushed(t)
	w.Run(pull.Command, "web", "--force", "--base-files-only").Done()
	w.Write("other/src/index.html", "<p>hub")
	w.Local("@alice/web", `{"title": "local", "basePath": "other/src"}`)
	w.Run(pull.Command, "web", "--undo").Done()
	wantFile(t, w, "<p>here")

	w.Run(pull.Command, "web", "--base-files-only", "--output", "copy").Done()
	w.Write("copy/src/index.html", "<p>here")
	w.Run(pull.Command, "web", "--force", "--base-files-only", "--output", "copy").Done()
	moved, elsewhere := filepath.Join(w.Dir, "copy"), filepath.Join(w.Dir, "other")
	if err := errors.Join(os.Rename(moved, moved+" of hub"), os.Symlink(elsewhere, moved)); err != nil {
		t.Fatal(err)
	}
	w.Run(pull.Command, "web", "--undo", "--json").Fails("files_differ", "read")
	if got := w.Read("other/src/index.html"); got != "<p>hub" {
		t.Errorf("index.html of another app is %s", got)
	}
}

// What is pulled into another directory is undone like anything else, settings and files.
func TestPull_UndoRestoresAnotherDirectory(t *testing.T) {
	w := pushed(t)
	w.Edit(apptest.Stack, "title", `"edited"`)
	w.Write("copy/src/index.html", "<p>mine")
	r := w.Run(pull.Command, "web", "--force", "--base-files", "--output", "copy").Done()
	r.Prints("the previous settings are saved; to restore them: tool",
		"the replaced base files (1) are saved; to restore them, and leave the added ones (1): tool")
	w.Run(pull.Command, "web", "--undo").Done().Prints("settings and base files of web", "1 restored")
	wantSettings(t, w, `"title": "local"`)
	if got := w.Read("copy/src/index.html"); got != "<p>mine" {
		t.Errorf("the copy is %s", got)
	}
}

// An interrupted pull leaves copies that the next pull takes over.
func TestPull_UndoRestoresWhatAnInterruptedPullReplaced(t *testing.T) {
	w := pushed(t)
	w.Run(pull.Command, "web", "--force", "--base-files").Done()
	saved, err := filepath.Glob(filepath.Join(w.Env["TOOL_STATE_DIR"], "pulls", "*", "last"))
	if err != nil || len(saved) != 1 {
		t.Fatalf("saved: %v, %v", saved, err)
	}
	if err := os.Rename(saved[0], filepath.Join(filepath.Dir(saved[0]), "pending")); err != nil {
		t.Fatal(err)
	}
	w.Edit(apptest.Stack, "title", `"edited"`)
	w.Run(pull.Command, "web", "--force", "--base-files").Done()
	wantFile(t, w, "<p>hub")
	w.Run(pull.Command, "web", "--undo").Done().Prints("settings and base files of web", "1 restored")
	wantFile(t, w, "<p>here")
	wantSettings(t, w, `"title": "local"`)
}

func TestPull_WritesBaseFilesToAnotherDirectory(t *testing.T) {
	w := pushed(t)
	w.Run(pull.Command, "web", "--base-files-only", "--output", "copy").Done()
	if got := w.Read("copy/src/index.html"); got != "<p>hub" {
		t.Errorf("the copy is %s", got)
	}
	wantFile(t, w, "<p>here")
}

// A hub can name files of any size, and pack them into a few bytes.
func TestPull_AsksBeforeItWritesMoreThanAPushMaySend(t *testing.T) {
	w := apptest.Differing(t)
	file := func(i int, size int64) tree.Entry {
		return tree.Entry{Path: fmt.Sprintf("f%05d", i), Mode: tree.Regular, Size: size, SHA256: strings.Repeat("0", 64)}
	}
	many := make(tree.Tree, 20_001)
	for i := range many {
		many[i] = file(i, 0)
	}
	total := make(tree.Tree, 42)
	for i := range total {
		total[i] = file(i, 25<<20)
	}
	for want, files := range map[string]tree.Tree{
		"f00000 has 3072 MiB, and a file may have 25 MiB at most":              {file(0, 3<<30)},
		"there are 20001 files, and there may be 20000 at most":                many,
		"the files have 1050 MiB together, and they may have 1024 MiB at most": total,
	} {
		downloads := 0
		w.UI.Asked = nil
		w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
			switch {
			case strings.HasSuffix(r.URL.Path, "/preview/base-files/archive"):
				downloads++
				return apptest.Refuse(rw, http.StatusForbidden, wire.CodeNotPermitted, "no")
			case strings.HasSuffix(r.URL.Path, "/preview/base-files"):
				rw.Header().Set("Content-Type", "application/json")
				rw.Header().Set("Hub-Version", "1.0.0")
				set := wire.BaseFiles{BaseFilesSum: wire.BaseFilesSum{Tree: files.Digest()}, Files: files}
				body, err := wire.Encode(set)
				if err != nil {
					t.Error(err)
				}
				rw.Write(body)
				return true
			}
			return false
		})
		f := w.Run(pull.Command, "web", "--base-files", "--mine", "--output", "copy", "--json").
			Fails("too_large", "read")
		hint := fmt.Sprint(f["reason"], f["hint"], f["recipe"])
		if !strings.Contains(hint, want) || !strings.Contains(hint, "pull web --base-files-only --force --output copy") {
			t.Errorf("%v, want %q", f, want)
		}
		w.UI.Answers = []string{"no", "yes"}
		w.Run(pull.Command, "web", "--base-files-only").Done().Prints("Aborted")
		if downloads > 0 {
			t.Errorf("%q: %d downloads without a yes", want, downloads)
		}
		w.Run(pull.Command, "web", "--base-files-only").Exits(1)
		w.Run(pull.Command, "web", "--base-files-only", "--json", "--force").Fails("not_permitted", "pull")
		if downloads != 2 || len(w.UI.Asked) != 2 || !strings.Contains(w.UI.Asked[0], want) {
			t.Errorf("%d downloads, asked %q", downloads, w.UI.Asked)
		}
	}
}
