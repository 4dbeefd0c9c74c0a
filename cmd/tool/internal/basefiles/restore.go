package basefiles

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"example.com/projecthub/cmd/tool/internal/fault"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Restore brings files of a set back into a directory, and nothing anywhere else.
type Restore struct {
	dir  string
	root *os.Root // nil: there is no such directory yet

	Added   []tree.Entry // that are not there
	Changed []tree.Entry // that are there, but differ
}

// NewRestore compares files with what is in dir. One that is not there is made when
// the first file is written.
func NewRestore(dir string, files []tree.Entry) (*Restore, error) {
	for _, e := range files {
		if err := restorable(e.Path); err != nil {
			return nil, err
		}
	}
	r := &Restore{dir: dir}
	err := r.open()
	if errors.Is(err, fs.ErrNotExist) {
		r.Added = files
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range files {
		there, same, err := r.compare(e)
		if err != nil {
			r.Close()
			return nil, r.unwritable(e.Path, err)
		}
		switch {
		case !there:
			r.Added = append(r.Added, e)
		case !same:
			r.Changed = append(r.Changed, e)
		}
	}
	return r, nil
}

func (r *Restore) open() (err error) {
	if r.root, err = os.OpenRoot(r.dir); err != nil {
		return fault.New(wire.CodeInvalidFile, "open the directory %s: %w", r.dir, fault.Cause(err))
	}
	return nil
}

// restorable refuses what a version control system would run or obey: no push
// sends that, unless somebody means harm.
func restorable(p string) error {
	for segment := range strings.SplitSeq(p, "/") {
		for _, name := range []string{".git", ".hg", ".svn"} {
			if strings.EqualFold(segment, name) {
				return fault.New(wire.CodeInvalidFile, "the hub's base files hold %q, which is not written", p)
			}
		}
	}
	return nil
}

// compare tells whether something is at e's path, and whether it is e.
func (r *Restore) compare(e tree.Entry) (there, same bool, err error) {
	is, err := r.root.Lstat(filepath.FromSlash(e.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err == nil && is.IsDir() {
		return true, false, errors.New("a directory stands in the file's place")
	}
	if err != nil || !is.Mode().IsRegular() || is.Size() != e.Size {
		return true, false, err
	}
	if KnowsModes && tree.ModeOf(uint32(is.Mode().Perm())) != e.Mode {
		return true, false, nil
	}
	f, err := r.root.Open(filepath.FromSlash(e.Path))
	if err != nil {
		return true, false, err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return true, hex.EncodeToString(hash.Sum(nil)) == e.SHA256, err
}

// Write puts a file in its place, whole or not at all. A directory that stands
// there is a failure; a link is replaced, never followed.
func (r *Restore) Write(e tree.Entry, content io.Reader) error {
	name := filepath.FromSlash(e.Path)
	temporary := filepath.FromSlash(path.Join(path.Dir(e.Path), fmt.Sprintf(".tool-%s.tmp", rand.Text())))
	if r.root == nil {
		if err := os.MkdirAll(r.dir, 0o755); err != nil {
			return fault.New(wire.CodeInvalidFile, "make the directory %s: %w", r.dir, fault.Cause(err))
		}
		if err := r.open(); err != nil {
			return err
		}
	}
	if err := r.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return r.unwritable(e.Path, err)
	}
	perm := fs.FileMode(0o644)
	if e.Mode == tree.Executable {
		perm = 0o755
	}
	f, err := r.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return r.unwritable(e.Path, err)
	}
	_, err = io.Copy(f, content) // what a power failure takes, the next pull brings back
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = r.root.Rename(temporary, name)
	}
	if err != nil {
		r.root.Remove(temporary)
		return r.unwritable(e.Path, err)
	}
	return nil
}

func (r *Restore) unwritable(p string, err error) error {
	return fault.New(wire.CodeInvalidFile, "write %s: %w", filepath.Join(r.dir, filepath.FromSlash(p)), fault.Cause(err))
}

// Close closes the directory.
func (r *Restore) Close() {
	if r.root != nil {
		r.root.Close()
	}
}
