package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// KeepOwner gives f the owner of like, the file that it replaces or the directory that it is
// created in. Only root can, and only root has to.
func KeepOwner(f *os.File, like fs.FileInfo) error {
	uid, gid, known := Owner(like)
	if !known || os.Geteuid() != 0 || uid == 0 && gid == 0 {
		return nil
	}
	return f.Chown(uid, gid)
}

// KeepOwnerOf gives f, a file or directory that was just created in dir, the owner of dir. It
// knows f by its descriptor: another one may have its name by now.
func KeepOwnerOf(f *os.File, in *os.Root, dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	like, err := in.Stat(dir)
	if err != nil {
		return err
	}
	return KeepOwner(f, like)
}

// Mkdir creates a directory with the owner of the one that it is in.
func Mkdir(in *os.Root, name string) error {
	if err := in.Mkdir(name, 0o755); err != nil || os.Geteuid() != 0 {
		return err
	}
	f, err := OpenDir(in, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return KeepOwnerOf(f, in, path.Dir(name))
}

// OpenDir opens a directory, but no link to one.
func OpenDir(in *os.Root, name string) (*os.File, error) {
	before, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	below, err := in.OpenRoot(name) // nothing but a directory, and waits for no FIFO
	if err != nil {
		return nil, err
	}
	defer below.Close()
	f, err := below.Open(".")
	if err != nil {
		return nil, err
	}
	if is, err := f.Stat(); err != nil || !os.SameFile(before, is) {
		return nil, errors.Join(err, f.Close(), errors.New("it was replaced by another kind of file"))
	}
	return f, nil
}
