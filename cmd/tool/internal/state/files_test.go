package state_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/cmd/tool/internal/state"
)

func TestFileSet_IsStoredPrivatelyAndReadBack(t *testing.T) {
	dir := t.TempDir()
	s := state.NewHistory(dir)
	if set, err := s.LatestFileSet("web"); set != nil || err != nil {
		t.Errorf("before anything is stored: %v, %v", set, err)
	}
	set := s.NewFileSet("web", "r1", "")
	for _, name := range []string{"a", "dir/b"} {
		if err := set.Add(state.File{Path: name, Mode: 0o755, Written: "w"}, strings.NewReader("former "+name)); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, set)
	back, err := s.LatestFileSet("web")
	if err != nil || back.Settings != "r1" || len(back.Files) != 2 || back.Files[1] != (state.File{Path: "dir/b", Mode: 0o755, Written: "w"}) {
		t.Fatalf("LatestFileSet = %+v, %v", back, err)
	}
	f, err := back.Open(back.Files[1])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "former dir/b" {
		t.Errorf("it contains %q, %v", text, err)
	}
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
	if other, err := s.LatestFileSet("shop"); other != nil || err != nil {
		t.Errorf("under another name: %v, %v", other, err)
	}
	if err := back.Remove(); err != nil {
		t.Fatal(err)
	}
	if set, err := s.LatestFileSet("web"); set != nil || err != nil {
		t.Errorf("after its removal: %v, %v", set, err)
	}
}

func commit(t *testing.T, set *state.FileSet) {
	t.Helper()
	if err := set.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestFileSet_IsNotSeenBeforeItIsComplete(t *testing.T) {
	dir := t.TempDir()
	s := state.NewHistory(dir)
	for range 2 {
		set := s.NewFileSet("web", "r1", "")
		if err := set.Add(state.File{Path: "a"}, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
		if latest, err := s.LatestFileSet("web"); latest != nil || err != nil {
			t.Errorf("before Commit: %+v, %v", latest, err)
		}
	}
	incomplete := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "files", "*", "new-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	old := incomplete()
	if len(old) != 2 {
		t.Fatalf("incomplete sets: %v", old)
	}
	yesterday := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(old[0], yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	set := s.NewFileSet("web", "r2", "")
	if err := set.Add(state.File{Path: "a"}, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	commit(t, set)
	if now := incomplete(); len(now) != 1 || now[0] != old[1] {
		t.Errorf("of %v are left %v", old, now)
	}
	if latest, err := s.LatestFileSet("web"); latest == nil || err != nil || latest.Settings != "r2" {
		t.Errorf("after Commit: %+v, %v", latest, err)
	}
}

func TestFileSet_KeepsTheLastTen(t *testing.T) {
	dir := t.TempDir()
	s := state.NewHistory(dir)
	for n := range 13 {
		set := s.NewFileSet("web", fmt.Sprint(n), "")
		if err := set.Add(state.File{Path: "a"}, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
		commit(t, set)
	}
	for n := 12; n >= 3; n-- {
		set, err := s.LatestFileSet("web")
		if err != nil || set == nil || set.Settings != fmt.Sprint(n) {
			t.Fatalf("set %d: %+v, %v", n, set, err)
		}
		if err := set.Remove(); err != nil {
			t.Fatal(err)
		}
	}
	if set, err := s.LatestFileSet("web"); set != nil || err != nil {
		t.Errorf("an eleventh: %v, %v", set, err)
	}
}

func TestFileSet_FailsWithoutADirectory(t *testing.T) {
	set := state.NewHistory("").NewFileSet("web", "", "")
	if err := set.Add(state.File{Path: "a"}, strings.NewReader("x")); err != state.ErrNoDirectory {
		t.Errorf("Add = %v", err)
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := state.NewHistory(blocked).NewFileSet("web", "", "").Add(state.File{Path: "a"}, strings.NewReader("x")); err == nil {
		t.Error("a file is stored below a file")
	}
}
