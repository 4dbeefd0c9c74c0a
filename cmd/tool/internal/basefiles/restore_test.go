package basefiles_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
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

func TestARestoreTellsWhatIsNewAndWhatDiffers(t *testing.T) {
	root := plant(t, map[string]string{"same": "1", "size": "22", "content": "a", "mode": "x", "own": "mine"})
	runs := entryOf("mode", "x")
	runs.Mode = tree.Executable
	r := restore(t, root, entryOf("content", "b"), runs, entryOf("new/file", "n"), entryOf("same", "1"), entryOf("size", "2"))
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

func TestADirectoryIsMadeWithItsFirstFile(t *testing.T) {
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

func TestAFileIsTheSameHoweverItsNameIsSpelled(t *testing.T) {
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

func TestADirectoryInAFilesPlaceIsToldBeforeAnythingIsWritten(t *testing.T) {
	root := plant(t, map[string]string{"a/b": "mine"})
	_, err := basefiles.NewRestore(root, []tree.Entry{entryOf("a", "theirs")})
	wantFault(t, err, wire.CodeInvalidFile, "write "+filepath.Join(root, "a")+": a directory stands in the file's place")
}

func TestAFileThatBreaksOffLeavesTheFormerOne(t *testing.T) {
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

func TestNothingIsWrittenOutsideOfTheDirectory(t *testing.T) {
	outside := plant(t, map[string]string{"secret": "kept"})
	root := plant(t, map[string]string{"file": "x"})
	link(t, outside, filepath.Join(root, "dir"))
	link(t, filepath.Join(outside, "secret"), filepath.Join(root, "link"))
	if _, err := basefiles.NewRestore(root, []tree.Entry{entryOf("dir/secret", "evil")}); err == nil {
		t.Error("a directory that is a link out of the root is followed")
	}
	r := restore(t, root, entryOf("link", "evil"))
	must(t, r.Write(r.Changed[0], strings.NewReader("evil")))
	if got := content(t, filepath.Join(outside, "secret")); got != "kept" {
		t.Errorf("the secret is now %q", got)
	}
	if is, err := os.Lstat(filepath.Join(root, "link")); err != nil || !is.Mode().IsRegular() {
		t.Errorf("the link is still one: %v, %v", is, err)
	}
	for _, path := range []string{".git/hooks/pre-commit", "sub/.GIT/config", ".hg/hgrc", ".svn/x"} {
		_, err := basefiles.NewRestore(root, []tree.Entry{entryOf(path, "evil")})
		wantFault(t, err, wire.CodeInvalidFile, "the hub's base files hold \""+path+"\", which is not written")
	}
}
