package wholefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/projecthub/cmd/tool/internal/wholefile"
)

func TestWrite_ReplacesFileAndLeavesNothingElse(t *testing.T) {
	name := filepath.Join(t.TempDir(), "made", "too", "file")
	for _, text := range []string{"first", "", "another"} {
		if err := wholefile.Replace(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("it holds %q, %v; want %q", got, err, text)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(name)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestWrite_FailureLeavesOldFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(name, "by a directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Replace(name, []byte("x")); err == nil {
		t.Error("a directory was replaced")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
