//go:build unix

package owner_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/projecthub/cmd/tool/internal/owner"
)

const nobody = 65534

func TestKeep_GivesNewFilesTheOwnerOfTheDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change owners")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	is, err := root.Stat(".")
	if err != nil {
		t.Fatal(err)
	}
	f, err := root.Create("file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := owner.Keep(f, is); err != nil {
		t.Fatal(err)
	}
	if err := root.Mkdir("dir", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := owner.KeepNew(root, "dir"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "dir"} {
		is, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if uid, gid, known := owner.Of(is); uid != nobody || gid != nobody || !known {
			t.Errorf("%s belongs to %d:%d, %v", name, uid, gid, known)
		}
	}
}
