package basefiles

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestExchange_SwapsNamesWithAndWithoutTheSystemCall(t *testing.T) {
	for name, exchange := range map[string]func(*os.Root, string, string) error{"system": exchange, "by name": exchangeByName} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			put := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put("new", "theirs")
			if err := exchange(root, "new", "file"); !errors.Is(err, errChanged) {
				t.Errorf("exchange with a missing file: %v", err)
			}
			put("file", "mine")
			if err := exchange(root, "new", "file"); err != nil {
				t.Fatal(err)
			}
			names, err := os.ReadDir(dir)
			if err != nil || len(names) != 2 {
				t.Errorf("the directory contains %v, %v", names, err)
			}
			for name, want := range map[string]string{"new": "mine", "file": "theirs"} {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
					t.Errorf("%s contains %q, %v; want %q", name, got, err, want)
				}
			}
		})
	}
}

func TestCopyNew_NeverOverwrites(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, text := range map[string]string{"new": "theirs", "file": "mine"} {
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyNew(root, "new", "file"); !errors.Is(err, errChanged) {
		t.Errorf("copyNew to a file that exists: %v", err)
	}
	if err := root.Remove("file"); err != nil {
		t.Fatal(err)
	}
	if err := copyNew(root, "new", "file"); err != nil {
		t.Fatal(err)
	}
	if got, err := root.ReadFile("file"); err != nil || string(got) != "theirs" {
		t.Errorf("it contains %q, %v", got, err)
	}
}
