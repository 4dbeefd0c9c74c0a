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
)

// begin returns an Undo of web with copies of a and dir/b.
func begin(t *testing.T, d state.Dir, text string) *state.Undo {
	t.Helper()
	u := d.NewUndo("web", state.Base{Origin: "o", Common: text})
	for _, name := range []string{"a", "dir/b"} {
		if err := u.Add(state.File{Path: name, Mode: 0o755, Written: "w"}, strings.NewReader(text+" "+name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.Begin(); err != nil {
		t.Fatal(err)
	}
	return u
}

// wantUndo fails the test unless the latest Undo has this text; "" for none.
func wantUndo(t *testing.T, d state.Dir, text string, pending bool) {
	t.Helper()
	u, err := d.LatestUndo("web")
	if err != nil || u == nil || text == "" {
		if u != nil || err != nil || text != "" {
			t.Errorf("the latest is %+v, %v; want %q", u, err, text)
		}
		return
	}
	f, err := u.Open(u.Files[1])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if err != nil || string(got) != text+" dir/b" || u.Before.Common != text || u.Pending != pending || u.Files[1].Mode != 0o755 {
		t.Errorf("the latest is %+v with %q, %v; want %q", u, got, err, text)
	}
}

func TestUndo_IsThatOfTheLastPull(t *testing.T) {
	dir := t.TempDir()
	d := state.Dir(dir)
	wantUndo(t, d, "", false)
	first := begin(t, d, "first")
	wantUndo(t, d, "first", true)
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	wantUndo(t, d, "first", false)

	second := begin(t, d, "second")
	wantUndo(t, d, "second", true)
	if err := second.Drop(); err != nil { // the pull failed
		t.Fatal(err)
	}
	wantUndo(t, d, "first", false)
	if err := begin(t, d, "third").Commit(); err != nil {
		t.Fatal(err)
	}
	wantUndo(t, d, "third", false)
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
	if err := begin(t, d, "first").Commit(); err != nil {
		t.Fatal(err)
	}
	if err := d.NewUndo("web", state.Base{}).Add(state.File{Path: "a"}, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	wantUndo(t, d, "first", false)
	begin(t, d, "second") // over what a program left behind that was killed
	wantUndo(t, d, "second", true)
}

func TestUndo_WithoutFilesSavesNothing(t *testing.T) {
	dir := t.TempDir()
	u := state.Dir(dir).NewUndo("web", state.Base{})
	if err := u.Begin(); err != nil {
		t.Error(err)
	}
	if err := u.Commit(); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("saved: %v, %v", names, err)
	}
	if err := state.Dir("").NewUndo("web", state.Base{}).Add(state.File{Path: "a"}, strings.NewReader("x")); err == nil {
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
