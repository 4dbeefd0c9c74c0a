package basefiles_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

func entryOf(path, content string) tree.Entry {
	return tree.Entry{Path: path, Mode: tree.Regular, Size: int64(len(content)), SHA256: digest(content)}
}

func restore(t *testing.T, dir string, entries ...tree.Entry) *basefiles.Restore {
	t.Helper()
	r, err := basefiles.NewRestore(dir, entries)
	must(t, err)
	t.Cleanup(r.Close)
	return r
}

func content(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return string(text)
}

func TestRestore_ReportsNewAndDifferentFiles(t *testing.T) {
	root := plant(t, map[string]string{"same": "1", "size": "22", "content": "a", "mode": "x", "own": "mine"})
	runs := entryOf("mode", "x")
	runs.Mode = tree.Executable
	r := restore(t, root, entryOf("content", "b"), runs, entryOf("new/file", "n"), entryOf("same", "1"),
		entryOf("size", "2"))
	if len(r.Added) != 1 || r.Added[0].Path != "new/file" || len(r.Changed) < 2 || r.Changed[0].Path != "content" {
		t.Errorf("added %v, changed %v", r.Added, r.Changed)
	}
	for _, e := range append(r.Added, r.Changed...) {
		must(t, r.Write(e, strings.NewReader("written")))
		if got := content(t, filepath.Join(root, e.Path)); got != "written" {
			t.Errorf("%s holds %q", e.Path, got)
		}
	}
	if got := content(t, filepath.Join(root, "own")); got != "mine" {
		t.Errorf("a file of the app's own holds %q", got)
	}
}

func TestRestore_CreatesDirectoriesWithFirstFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet")
	r := restore(t, dir, entryOf("a/b", "new"))
	if _, err := os.Stat(dir); len(r.Added) != 1 || err == nil {
		t.Errorf("added %v; the directory: %v", r.Added, err)
	}
	must(t, r.Write(r.Added[0], strings.NewReader("new")))
	if got := content(t, filepath.Join(dir, "a", "b")); got != "new" {
		t.Errorf("it holds %q", got)
	}
}

func TestRestore_TreatsUnicodeFormsAsOneName(t *testing.T) {
	root := plant(t, map[string]string{"cafe\u0301/re\u0301sume\u0301.txt": "same", "cafe\u0301/e\u0301": "mine"})
	r := restore(t, root, entryOf("café/résumé.txt", "same"), entryOf("café/é", "theirs"), entryOf("café/ü", "new"))
	if len(r.Added) != 1 || len(r.Changed) != 1 {
		t.Fatalf("added %v, changed %v", r.Added, r.Changed)
	}
	for _, e := range append(r.Added, r.Changed...) {
		must(t, r.Write(e, strings.NewReader("written")))
	}
	for _, name := range []string{"cafe\u0301/e\u0301", "cafe\u0301/ü"} {
		if got := content(t, filepath.Join(root, name)); got != "written" {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if names, err := os.ReadDir(root); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestRestore_RejectsDirectoryInPlaceOfFileFirst(t *testing.T) {
	root := plant(t, map[string]string{"a/b": "mine"})
	_, err := basefiles.NewRestore(root, []tree.Entry{entryOf("a", "theirs")})
	wantFault(t, err, failure.CodeInvalidFile, "write "+filepath.Join(root, "a")+": it is a directory, not a file")
}

func TestRestore_TruncatedFileLeavesOldOne(t *testing.T) {
	root := plant(t, map[string]string{"a": "former"})
	r := restore(t, root, entryOf("a", "new"))
	if err := r.Write(r.Changed[0], iotest.TimeoutReader(strings.NewReader(strings.Repeat("x", 100_000)))); err == nil {
		t.Error("it succeeds")
	}
	names, err := os.ReadDir(root)
	must(t, err)
	if got := content(t, filepath.Join(root, "a")); got != "former" || len(names) != 1 {
		t.Errorf("it holds %q, beside %d others", got, len(names)-1)
	}
}

func TestNewRestore_RefusesSymbolicLinksInPaths(t *testing.T) {
	outside := plant(t, map[string]string{"secret": "kept"})
	root := plant(t, map[string]string{"file": "x", ".git/hooks/pre-commit.sample": "", ".tool/web/client.json": "{}"})
	link(t, outside, filepath.Join(root, "out"))
	link(t, ".git/hooks", filepath.Join(root, "assets"))
	link(t, ".tool/web", filepath.Join(root, "web"))
	link(t, filepath.Join(outside, "secret"), filepath.Join(root, "link"))
	link(t, "file", filepath.Join(root, "inside"))
	for path, where := range map[string]string{
		"out/secret": "out", "assets/post-checkout": "assets", "assets/a/b": "assets", "web/client.json": "web", "link": "",
		"inside": "",
	} {
		why := "it is a symbolic link, not a file"
		if where != "" {
			why = where + " is a symbolic link, not a directory"
		}
		_, err := basefiles.NewRestore(root, []tree.Entry{entryOf(path, "evil")})
		wantFault(t, err, failure.CodeInvalidFile, "write "+filepath.Join(root, path)+": "+why)
	}
}

func TestRestoreWrite_RefusesLinksThatAppearAfterTheComparison(t *testing.T) {
	root := plant(t, map[string]string{".git/config": "mine", "assets/a": "old", "file": "old"})
	r := restore(t, root, entryOf("assets/a", "theirs"), entryOf("file", "theirs"), entryOf("new/post-checkout", "evil"))
	link(t, ".git", filepath.Join(root, "new"))
	must(t, os.RemoveAll(filepath.Join(root, "assets")))
	must(t, os.Remove(filepath.Join(root, "file")))
	must(t, os.WriteFile(filepath.Join(root, ".git", "a"), []byte("mine"), 0o600))
	link(t, ".git", filepath.Join(root, "assets"))
	link(t, ".git/config", filepath.Join(root, "file"))
	for _, e := range append(r.Added, r.Changed...) {
		if err := r.Write(e, strings.NewReader("evil")); err == nil {
			t.Errorf("%s is written", e.Path)
		}
	}
	for _, name := range []string{"a", "config"} {
		if got := content(t, filepath.Join(root, ".git", name)); got != "mine" {
			t.Errorf(".git/%s contains %q", name, got)
		}
	}
	if names, err := os.ReadDir(filepath.Join(root, ".git")); err != nil || len(names) != 2 {
		t.Errorf(".git contains %v, %v", names, err)
	}
}

func TestNewRestore_RefusesReservedAndInvalidPaths(t *testing.T) {
	root := plant(t, map[string]string{"file": "x"})
	for _, path := range []string{".git/hooks/pre-commit", "sub/.GIT/config", ".hg/hgrc", ".svn/x", "a/.tool/x",
		"git~1/config", ".g\u200cit/x", "../x", "/x"} {
		if _, err := basefiles.NewRestore(root, []tree.Entry{entryOf(path, "evil")}); err == nil {
			t.Errorf("%q is accepted", path)
		}
	}
}

func TestRestoreWrite_KeepsEditsMadeAfterTheComparison(t *testing.T) {
	for name, edit := range map[string]func(t *testing.T, root string){
		"edited in place": func(t *testing.T, root string) { write(t, filepath.Join(root, "a"), "edit") },
		"edited by rename": func(t *testing.T, root string) {
			write(t, filepath.Join(root, "a.new"), "edit")
			must(t, os.Rename(filepath.Join(root, "a.new"), filepath.Join(root, "a")))
		},
	} {
		for path, before := range map[string]map[string]string{"changed": {"a": "mine"}, "added": {"b": "mine"}} {
			t.Run(name+" "+path, func(t *testing.T) {
				root := plant(t, before)
				r := restore(t, root, entryOf("a", "theirs"))
				edit(t, root)
				err := r.Write(entryOf("a", "theirs"), strings.NewReader("theirs"))
				wantFault(t, err, failure.CodeFilesDiffer,
					filepath.Join(root, "a")+" was not replaced: it changed while the files were pulled")
				if got := content(t, filepath.Join(root, "a")); got != "edit" {
					t.Errorf("it contains %q", got)
				}
				wantNoTemporaryFiles(t, root)
			})
		}
	}
}

func wantNoTemporaryFiles(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".tool-*"))
	if must(t, err); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRestoreSave_GivesFilesThatWillBeReplaced(t *testing.T) {
	root := plant(t, map[string]string{"a": "mine", "b": "mine too"})
	r := restore(t, root, entryOf("a", "theirs"), entryOf("b", "theirs"), entryOf("c", "new"))
	saved := map[string]string{}
	save := func(f basefiles.Former) error {
		text, err := io.ReadAll(f.Content)
		saved[f.Path] = string(text)
		return err
	}
	must(t, r.Save(save))
	if diff := cmp.Diff(map[string]string{"a": "mine", "b": "mine too"}, saved); diff != "" {
		t.Error(diff)
	}
	if err := r.Save(func(basefiles.Former) error { return errors.New("the disk is full") }); err == nil ||
		!strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("a file that cannot be saved: %v", err)
	}
	write(t, filepath.Join(root, "b"), "edit")
	wantFault(t, r.Save(save), failure.CodeFilesDiffer,
		filepath.Join(root, "b")+" was not replaced: it changed while the files were pulled")
}
