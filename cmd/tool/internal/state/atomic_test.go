package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/projecthub/cmd/tool/internal/state"
)

var writers = map[string]func(name string, data []byte) error{
	"WriteFile":  func(name string, data []byte) error { return state.WriteFile(name, data, nil) },
	"WriteCache": state.WriteCache,
}

func TestWrite_ReplacesFileAndLeavesNothingElse(t *testing.T) {
	for writer, write := range writers {
		name := filepath.Join(t.TempDir(), "made", "too", "file")
		for _, text := range []string{"first", "", "another"} {
			if err := write(name, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(name); err != nil || string(got) != text {
				t.Errorf("%s: the content is %q, %v; want %q", writer, got, err, text)
			}
		}
		if entries, err := os.ReadDir(filepath.Dir(name)); err != nil || len(entries) != 1 {
			t.Errorf("%s: %v, %v", writer, entries, err)
		}
	}
}

func TestWrite_FailureLeavesOldFile(t *testing.T) {
	for writer, write := range writers {
		dir := t.TempDir()
		name := filepath.Join(dir, "taken")
		if err := os.MkdirAll(filepath.Join(name, "by a directory"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := write(name, []byte("x")); err == nil {
			t.Errorf("%s replaced a directory", writer)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s left behind: %v, %v", writer, entries, err)
		}
	}
}

func TestWriteFile_FailsWithPrepare(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := state.WriteFile(name, []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no such owner")
	if err := state.WriteFile(name, []byte("new"), func(*os.File) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("error %v", err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "old" {
		t.Errorf("the content is %q, %v", got, err)
	}
}
