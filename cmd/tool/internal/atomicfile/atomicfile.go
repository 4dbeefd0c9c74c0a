// Package atomicfile replaces files: at every moment a file has the old content or the new. Files
// that root writes for another user get that user as their owner.
package atomicfile

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ErrCreate is the error of a new file that cannot be created.
var ErrCreate = errors.New("no file can be created next to it")

// Options say how a file is replaced.
type Options struct {
	// Mode 0 is that of the file which is replaced, and for a new file 0644 less what the umask
	// takes off.
	Mode fs.FileMode
	// Sync makes a file and its directory last through a power failure. nil waits for no disk.
	Sync func(*os.File) error
	// Put puts the new file in the place of the old one. nil renames it.
	Put func(in *os.Root, temporary, name string) error
}

// Write replaces a file of a directory, or of one below, by a file with data. The new one has the
// owner of the old one, or else of its directory.
func Write(in *os.Root, name string, data []byte, o Options) error {
	temporary := prefix(name) + rand.Text() + suffix
	f, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(o.Mode, 0o644))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCreate, err)
	}
	defer in.Remove(temporary) // unless it was renamed
	if err = inherit(f, in, name, o.Mode); err == nil {
		_, err = f.Write(data)
	}
	if err == nil && o.Sync != nil {
		err = o.Sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	put := o.Put
	if put == nil {
		put = (*os.Root).Rename
	}
	if err := put(in, temporary, name); err != nil || o.Sync == nil {
		return err
	}
	if dir, err := in.Open(path.Dir(name)); err == nil {
		_ = o.Sync(dir) // where the system can; the new content is in its place by now
		dir.Close()
	}
	return nil
}

func inherit(f *os.File, in *os.Root, name string, mode fs.FileMode) error {
	like, err := in.Lstat(name)
	if err == nil {
		mode = cmp.Or(mode, like.Mode().Perm())
	} else if errors.Is(err, fs.ErrNotExist) {
		like, err = in.Stat(path.Dir(name))
	}
	if err == nil && mode != 0 {
		err = f.Chmod(mode) // whatever the umask is
	}
	if err != nil {
		return err
	}
	return KeepOwner(f, like)
}

// WriteFile replaces the named file by one that is readable by its owner alone, and makes its
// directory. The new content lasts through a power failure.
//
// A file of the workspace is written by package workspace, which follows no link out of it.
func WriteFile(name string, data []byte) error {
	return write(name, data, Options{Mode: 0o600, Sync: (*os.File).Sync})
}

// WriteCache is [WriteFile] for a file that can be made again: it does not wait for the disk, and
// the file is missing for a moment.
func WriteCache(name string, data []byte) error {
	put := func(in *os.Root, temporary, name string) error {
		// Some file systems begin to write a file to the disk when it replaces another,
		// which takes ten times as long.
		_ = in.Remove(name)
		return in.Rename(temporary, name)
	}
	return write(name, data, Options{Mode: 0o600, Put: put})
}

func write(name string, data []byte, o Options) error {
	dir := filepath.Dir(name)
	if err := MakeDir(dir); err != nil {
		return err
	}
	in, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer in.Close()
	return Write(in, filepath.Base(name), data, o)
}

// MakeDir is [os.MkdirAll] for directories that are the user's alone and are to last through a
// power failure.
func MakeDir(dir string) error {
	var parents []string // of those that are missing
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil {
			break
		}
		parents = append(parents, filepath.Dir(d))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, parent := range parents {
		SyncDir(parent)
	}
	return nil
}

// SyncDir makes what was created, renamed or removed in dir last through a power failure, where
// the system can.
func SyncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// RemoveLeftovers removes what writers of a file that were killed left behind. No other one
// may be writing.
func RemoveLeftovers(in *os.Root, name string) {
	entries, err := fs.ReadDir(in.FS(), path.Dir(name))
	if err != nil {
		return
	}
	for _, entry := range entries {
		other := path.Join(path.Dir(name), entry.Name())
		if strings.HasPrefix(other, prefix(name)) && strings.HasSuffix(other, suffix) {
			in.Remove(other)
		}
	}
}

const suffix = ".tmp"

// prefix is how the paths of a file's temporary files start.
func prefix(name string) string { return path.Join(path.Dir(name), "."+path.Base(name)+".") }

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
