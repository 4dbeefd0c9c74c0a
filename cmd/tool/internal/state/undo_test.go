package state_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/hubclient/tree"
)

// begin returns an Undo of web with copies of a and dir/b.
func begin(t *testing.T, d state.Dir, text string) *state.Undo {
	t.Helper()
	u := d.NewUndo("web", state.Base{Origin: text}, "")
	for _, name := range []string{"a", "dir/b"} {
		add(t, u, name, text+" "+name, "w")
	}
	if err := u.Begin(); err != nil {
		t.Fatal(err)
	}
	return u
}

func add(t *testing.T, u *state.Undo, name, content, written string) {
	t.Helper()
	f := state.File{Path: name, Mode: 0o755, Written: []string{written}}
	if err := u.Add(f, strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}

// wantUndo fails the test unless the latest Undo has this text; "" for none.
func wantUndo(t *testing.T, d state.Dir, text string) {
	t.Helper()
	u, err := d.LatestUndo("web")
	if err != nil || u == nil || text == "" {
		if u != nil || err != nil || text != "" {
			t.Errorf("the latest is %+v, %v; want %q", u, err, text)
		}
		return
	}
	if got := copyOf(t, u, "dir/b"); got != text+" dir/b" || u.Before.Origin != text || u.Files[1].Mode != 0o755 {
		t.Errorf("the latest is %+v with %q; want %q", u, got, text)
	}
}

func copyOf(t *testing.T, u *state.Undo, name string) string {
	t.Helper()
	f, err := u.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestUndo_IsThatOfTheLastPull(t *testing.T) {
	dir := t.TempDir()
	d := state.Dir(dir)
	wantUndo(t, d, "")
	first := begin(t, d, "first")
	wantUndo(t, d, "first")
	first.End(true)
	wantUndo(t, d, "first")

	second := begin(t, d, "second")
	wantUndo(t, d, "second")
	second.End(false) // the pull failed
	wantUndo(t, d, "first")
	begin(t, d, "third").End(true)
	wantUndo(t, d, "third")
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, walkErr error) error {
		if walkErr != nil {
			return walkErr
		}
		info, err := e.Info()
		if err != nil || path != dir && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
		return nil
	})
	if other, err := d.LatestUndo("shop"); other != nil || err != nil {
		t.Errorf("of another place: %v, %v", other, err)
	}
}

func TestUndo_IsNotSeenBeforeAllIsCopied(t *testing.T) {
	d := state.Dir(t.TempDir())
	begin(t, d, "first").End(true)
	add(t, d.NewUndo("web", state.Base{}, ""), "a", "x", "w")
	wantUndo(t, d, "first")
	begin(t, d, "second") // over what a program left behind that was killed
	wantUndo(t, d, "second")
}

// Each of two pulls was interrupted after it had written a, and before it wrote b.
func TestUndo_KeepsTheCopiesOfInterruptedPulls(t *testing.T) {
	d := state.Dir(t.TempDir())
	for _, pull := range []struct{ a, b, written string }{
		{"mine", "mine", "one"}, {"one", "edited", "two"}, {"two", "edited", "three"},
	} {
		u := d.NewUndo("web", state.Base{}, "")
		add(t, u, "a", pull.a, tree.DigestOf([]byte(pull.written)))
		add(t, u, "b", pull.b, tree.DigestOf([]byte(pull.written)))
		if err := u.Begin(); err != nil {
			t.Fatal(err)
		}
	}
	u, err := d.LatestUndo("web")
	if err != nil || len(u.Files) != 2 || len(u.Files[0].Written) != 3 {
		t.Fatalf("%+v, %v", u, err)
	}
	if a, b := copyOf(t, u, "a"), copyOf(t, u, "b"); a != "mine" || b != "edited" {
		t.Errorf("the copies are %q and %q", a, b)
	}
	d.NewUndo("web", state.Base{}, "").End(false) // a pull that fails replaces nothing
	if u, err := d.LatestUndo("web"); err != nil || u == nil || len(u.Files) != 2 {
		t.Errorf("after a pull that failed: %+v, %v", u, err)
	}
}

func TestUndo_WithoutFilesSavesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, u := range []*state.Undo{nil, state.Dir(dir).NewUndo("web", state.Base{}, "")} {
		if err := u.Begin(); err != nil {
			t.Error(err)
		}
		u.End(true)
		u.End(false)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("saved: %v, %v", names, err)
	}
	nowhere := state.Dir("").NewUndo("web", state.Base{}, "")
	if err := nowhere.Add(state.File{Path: "a"}, strings.NewReader("x")); err == nil {
		t.Error("a file is copied nowhere")
	}
}

func TestUndo_NamesAnIndexThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	begin(t, state.Dir(dir), "first")
	found, err := filepath.Glob(filepath.Join(dir, "pulls", "*", "pending", "index.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	if err := os.WriteFile(found[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := state.Dir(dir).LatestUndo("web"); err == nil || !strings.Contains(err.Error(), found[0]) {
		t.Errorf("%v", err)
	}
}
