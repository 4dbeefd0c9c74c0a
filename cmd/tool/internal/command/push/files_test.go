package push_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/tree"
)

// withFiles is a world whose base files were pushed from here.
func withFiles(t *testing.T) *apptest.World {
	t.Helper()
	w := apptest.Differing(t)
	w.Write("src/index.html", "<h1>\none\ntwo\n")
	w.Write("src/old.css", "p {}\n")
	w.Run(push.Command, "web", "--base-files-only").Done()
	return w
}

// remove removes a file of the workspace.
func remove(t *testing.T, w *apptest.World, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(w.Dir, name)); err != nil {
		t.Fatal(err)
	}
}

// replaceFiles replaces the hub's base files by one, as somebody else would, and returns
// the digest.
func replaceFiles(t *testing.T, w *apptest.World, path, content string) string {
	t.Helper()
	hash := sha256.Sum256([]byte(content))
	files := tree.Tree{{Path: path, Mode: tree.Regular, Size: int64(len(content)), SHA256: hex.EncodeToString(hash[:])}}
	open := func(tree.Entry) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
	if _, err := w.Client().Upload(apptest.Stack, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(
		t.Context()); err != nil {
		t.Fatal(err)
	}
	return files.Digest()
}

func TestPush_AsksBeforeItRemovesFiles(t *testing.T) {
	w := withFiles(t)
	remove(t, w, "src/old.css")
	w.Write("src/new.css", "p {}\n")
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web", "--base-files-only").Done().Prints("Aborted")
	if asked := w.UI.Asked[0]; !strings.Contains(asked, "1 added, 1 removed") ||
		!strings.Contains(asked, "- src/old.css") || strings.Contains(asked, "Note") {
		t.Errorf("asked %q", asked)
	}
	w.UI.Answers = []string{"show", "yes"}
	w.Run(push.Command, "web", "--base-files-only").Done().Prints("1 added, 1 removed")
	if len(w.UI.Answers) != 0 || len(w.UI.Asked) != 3 {
		t.Errorf("asked %q", w.UI.Asked)
	}
	w.Strict = true
	remove(t, w, "src/new.css")
	w.Run(push.Command, "web", "--base-files-only").Done()
}

func TestPush_SendsAllFilesWithForce(t *testing.T) {
	w := withFiles(t)
	again := w.Run(push.Command, "web", "--base-files-only", "--json").Done().JSON()
	forced := w.Run(push.Command, "web", "--base-files-only", "--force", "--json").Done().JSON()
	if again["baseFilesUploaded"] != 0.0 || forced["baseFilesUploaded"] != forced["baseFilesPushed"] {
		t.Errorf("sent again: %v; by force: %v", again, forced)
	}
}

func TestPush_PushesWithoutAQuestionWhatReplacesItsOwnFiles(t *testing.T) {
	w := withFiles(t)
	w.Write("src/index.html", "<h2>")
	w.Run(push.Command, "web", "--base-files-only").Done().Prints("(1 changed; ")
}

func TestPush_AsksBeforeItReplacesFilesOfOthers(t *testing.T) {
	w := withFiles(t)
	replaceFiles(t, w, "src/index.html", "<h1>\nuno\ntwo\n")
	w.UI.Answers = []string{"show", "no"}
	w.Run(push.Command, "web", "--base-files-only").Done().Prints("Aborted")
	if asked := w.UI.Asked; !strings.Contains(asked[0], "not those that were last pushed or pulled here, but by alice") ||
		!strings.Contains(asked[0], "~ src/index.html") ||
		!strings.Contains(asked[1], "src/index.html: <h1>\nuno\ntwo\n -> <h1>\none\ntwo\n") {
		t.Errorf("asked %q", asked)
	}
	w.Run(push.Command, "web", "--base-files-only", "--force").Done()
}

func TestPush_AsksAgainWhenFilesChangedMeanwhile(t *testing.T) {
	w := withFiles(t)
	remove(t, w, "src/old.css")
	w.UI.Answers = []string{"yes", "no"}
	w.UI.Meanwhile = func(string) {
		replaceFiles(t, w, "theirs.txt", "theirs")
		w.UI.Meanwhile = nil
	}
	w.Run(push.Command, "web", "--base-files-only").Done().Prints("Aborted")
	if asked := w.UI.Asked; len(asked) != 2 || !strings.Contains(asked[1], "changed while you looked") ||
		!strings.Contains(asked[1], "- theirs.txt") {
		t.Errorf("asked %q", asked)
	}
	if files := w.BaseFiles(apptest.Stack); len(files) != 1 || files["theirs.txt"] == 0 {
		t.Errorf("the hub has %v", files)
	}
}

func TestPush_SaysAfterANoThatTheConfigWasWritten(t *testing.T) {
	w := withFiles(t)
	w.Edit(apptest.Stack, "title", `"theirs"`)
	remove(t, w, "src/old.css")
	w.UI.Answers = []string{"yes", "yes", "no"}
	w.UI.Meanwhile = func(string) {
		replaceFiles(t, w, "theirs.txt", "theirs")
		w.UI.Meanwhile = nil
	}
	w.Run(push.Command, "web", "--base-files").Done().
		Prints("Aborted: the config was written, the base files were not; to restore the previous config: tool -C ")
}

func TestPush_IfTreeReplacesOnlyThatTree(t *testing.T) {
	w := withFiles(t)
	w.Strict = true
	plan := w.Run(push.Command, "web", "--base-files-only", "--dry-run", "--json").Done().JSON()
	shown := plan["baseFiles"].(map[string]any)["tree"].(string)
	theirs := replaceFiles(t, w, "theirs.txt", "theirs")
	f := w.Run(push.Command, "web", "--base-files-only", "--if-tree", shown, "--json").Fails("revision_changed", "push")
	if reason := f["reason"].(string); !strings.Contains(reason, theirs) {
		t.Errorf("%v", f)
	}
	w.Run(push.Command, "web", "--base-files-only", "--if-tree", "none", "--json").Fails("revision_changed", "push")
	w.Run(push.Command, "web", "--base-files-only", "--if-tree", theirs, "--dry-run").Done().Prints("replacing " + theirs)
	for range 2 { // the second run finds that the first one took effect
		w.Run(push.Command, "web", "--base-files-only", "--if-tree", theirs).Done()
	}
	if files := w.BaseFiles(apptest.Stack); files["theirs.txt"] != 0 {
		t.Errorf("the hub has %v", files)
	}
}

func TestPush_NoClobberKeepsFilesOfOthers(t *testing.T) {
	w := withFiles(t)
	w.Strict = true
	first, err := w.Client().BaseFiles(t.Context(), apptest.Stack)
	if err != nil {
		t.Fatal(err)
	}
	w.Write("src/index.html", "mine")
	w.Run(push.Command, "web", "--base-files", "--no-clobber").Done()
	older := w.Read(".tool/web/pulled.json")
	second, err := w.Client().BaseFiles(t.Context(), apptest.Stack)
	if err == nil { // somebody restores the first one on the page
		_, err = w.Client().RestoreBaseFiles(t.Context(), apptest.Stack, first.Tree, second.Tree)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Write("src/index.html", "mine again")
	for _, args := range [][]string{nil, {"--dry-run"}} {
		f := w.Run(push.Command, append([]string{"web", "--base-files-only", "--no-clobber", "--json"}, args...)...).Fails(
			"would_undo_edits", "push")
		if edits := f["edits"].([]any); len(edits) != 1 {
			t.Errorf("edits %v", edits)
		}
	}
	w.Run(pull.Command, "web", "--base-files-only", "--force").Done()
	w.Write("src/index.html", "mine again")
	w.Run(push.Command, "web", "--base-files-only", "--no-clobber").Done()

	// After a merge of git with conflicts, the newer side counts.
	newer := w.Read(".tool/web/pulled.json")
	w.Write(".tool/web/pulled.json", "<<<<<<< HEAD\n"+older+"=======\n"+newer+">>>>>>> theirs\n")
	w.Write("src/index.html", "merged")
	w.Run(push.Command, "web", "--base-files-only", "--no-clobber").Done().Prints("Pushed")
}
