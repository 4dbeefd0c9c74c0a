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
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

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

// onDisk returns a path of the set as the file system spells it: names there need not
// be in NFC.
func (r *Restore) onDisk(p string) string {
	dir := "."
	for name := range strings.SplitSeq(p, "/") {
		dir = filepath.Join(dir, r.spelled(dir, name))
	}
	return dir
}

func (r *Restore) spelled(dir, name string) string {
	if strings.IndexFunc(name, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 {
		return name
	}
	if _, err := r.root.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
		return name
	}
	d, err := r.root.Open(dir)
	if err != nil {
		return name
	}
	defer d.Close()
	there, _ := d.Readdirnames(-1)
	for _, other := range there {
		if norm.NFC.String(other) == name {
			return other
		}
	}
	return name
}

// compare tells whether something is at e's path, and whether it is e.
func (r *Restore) compare(e tree.Entry) (there, same bool, err error) {
	name := r.onDisk(e.Path)
	is, err := r.root.Lstat(name)
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
	f, err := r.root.Open(name)
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
	if r.root == nil {
		if err := os.MkdirAll(r.dir, 0o755); err != nil {
			return fault.New(wire.CodeInvalidFile, "make the directory %s: %w", r.dir, fault.Cause(err))
		}
		if err := r.open(); err != nil {
			return err
		}
	}
	name := r.onDisk(e.Path)
	temporary := filepath.Join(filepath.Dir(name), fmt.Sprintf(".tool-%s.tmp", rand.Text()))
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
