package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
)

var writers = map[string]func(name string, data []byte) error{
	"WriteFile":  atomicfile.WriteFile,
	"WriteCache": atomicfile.WriteCache,
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
