//go:build unix

package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
)

const nobody = 65534

func TestKeepOwner_GivesNewFilesTheOwnerOfTheDirectory(t *testing.T) {
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
	f, err := root.Create("file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := atomicfile.KeepOwnerOf(f, root, "."); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Mkdir(root, "dir"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "dir"} {
		is, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if uid, gid, known := atomicfile.Owner(is); uid != nobody || gid != nobody || !known {
			t.Errorf("%s belongs to %d:%d, %v", name, uid, gid, known)
		}
	}
}

// Who owns a directory can replace what root creates in it, before root changes the owner.
func TestKeepOwnerOf_ChangesNoFileThatReplacedTheNewOne(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change owners")
	}
	dir := t.TempDir()
	ofRoot := filepath.Join(dir, "of root")
	if err := os.WriteFile(ofRoot, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(dir, "theirs")
	if err := errors.Join(os.Mkdir(theirs, 0o700), os.Chown(theirs, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(theirs)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f, err := root.Create("file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(root.Remove("file"), os.Link(ofRoot, filepath.Join(theirs, "file"))); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.KeepOwnerOf(f, root, "."); err != nil {
		t.Fatal(err)
	}
	if is, err := os.Stat(ofRoot); err != nil {
		t.Error(err)
	} else if uid, _, _ := atomicfile.Owner(is); uid != 0 {
		t.Errorf("a file of root belongs to %d", uid)
	}
}

func TestMkdir_RefusesALinkThatReplacedTheDirectory(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, put := range map[string]func(string) error{
		"file": func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"link": func(name string) error { return os.Symlink(".", name) },
	} {
		if err := put(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if f, err := atomicfile.OpenDir(root, name); err == nil {
			f.Close()
			t.Errorf("a %s is opened as a directory", name)
		}
	}
}
