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

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/owner"
	"example.com/projecthub/hubclient/tree"
)

// Restore writes files of a set into a directory, and nothing anywhere else: no
// segment of a path below the directory may be a symbolic link or a reserved name.
type Restore struct {
	// Save stores a file that is about to be replaced, readable by the user alone;
	// nil stores nothing. After a failure the file is not replaced.
	Save func(Former) error

	Added   []tree.Entry // that do not exist yet
	Changed []tree.Entry // that exist, but differ

	dir   string            // may be missing
	root  *os.Root          // of dir; nil when dir is missing
	last  *parent           // the directory that was used last, open
	found map[string]string // SHA-256 of what each changed path held when it was compared
}

// Former is a file that a restore replaces.
type Former struct {
	Path    string // in the set
	Mode    fs.FileMode
	Written string // SHA-256 of what replaces it
	Content io.Reader
}

// NewRestore compares files with those in dir. A missing dir is created with the
// first file that is written.
func NewRestore(dir string, files []tree.Entry) (*Restore, error) {
	if _, err := tree.New(files); err != nil {
		return nil, failure.New(failure.CodeInvalidFile, "the hub's base files cannot be written: %w", err)
	}
	r := &Restore{dir: dir, found: map[string]string{}}
	err := r.open()
	if errors.Is(err, fs.ErrNotExist) {
		r.Added = files
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range files {
		if err := r.compare(e); err != nil {
			r.Close()
			return nil, r.unwritable(e.Path, err)
		}
	}
	return r, nil
}

func (r *Restore) open() (err error) {
	if r.root, err = os.OpenRoot(r.dir); err != nil {
		return failure.New(failure.CodeInvalidFile, "open the directory %s: %w", r.dir, failure.Cause(err))
	}
	return nil
}

// compare adds e to Added or Changed unless the file is the same.
func (r *Restore) compare(e tree.Entry) error {
	in, name, err := r.parent(e.Path, false)
	if errors.Is(err, fs.ErrNotExist) {
		r.Added = append(r.Added, e)
		return nil
	}
	if err != nil {
		return err
	}
	is, digest, err := digestOf(in, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Added = append(r.Added, e)
		return nil
	case err != nil:
		return err
	}
	if digest != e.SHA256 || KnowsModes && tree.ModeOf(uint32(is.Mode().Perm())) != e.Mode {
		r.Changed = append(r.Changed, e)
		r.found[e.Path] = digest
	}
	return nil
}

// Found returns the SHA-256 of what a changed path held when it was compared.
func (r *Restore) Found(path string) string { return r.found[path] }

// digestOf returns the SHA-256 of a regular file, which is not reached through a link.
func digestOf(in *os.Root, name string) (is fs.FileInfo, digest string, err error) {
	f, is, err := openFile(in, name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return is, hex.EncodeToString(hash.Sum(nil)), err
}

// openFile opens a regular file. What was opened is compared with what has the name,
// because a root follows the links in it.
func openFile(in *os.Root, name string) (*os.File, fs.FileInfo, error) {
	before, err := in.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is in its place", typeOf(before))
	}
	f, err := in.Open(name)
	if err != nil {
		return nil, nil, err
	}
	is, err := f.Stat()
	if err == nil && !os.SameFile(before, is) {
		err = errReplaced
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, is, nil
}

func typeOf(is fs.FileInfo) string {
	switch mode := is.Mode(); {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsRegular():
		return "a file"
	}
	return "a special file"
}

// Write puts a file in its place, whole or not at all. One that was created, or
// changed since it was compared, stays as it is: the failure is files_differ.
func (r *Restore) Write(e tree.Entry, content io.Reader) error {
	if r.root == nil {
		if err := os.MkdirAll(r.dir, 0o755); err != nil {
			return failure.New(failure.CodeInvalidFile, "create the directory %s: %w", r.dir, failure.Cause(err))
		}
		if err := r.open(); err != nil {
			return err
		}
	}
	err := r.write(e, content)
	if errors.Is(err, errChanged) {
		return failure.New(failure.CodeFilesDiffer, "%s was not replaced: %w", r.name(e.Path), err).
			WithHint("run the command again, to compare it as it is now")
	}
	if err != nil {
		return r.unwritable(e.Path, err)
	}
	return nil
}

// errChanged says that a file is no longer what it was when it was compared.
var errChanged = errors.New("it changed while the files were pulled")

func (r *Restore) write(e tree.Entry, content io.Reader) error {
	in, name, err := r.parent(e.Path, true)
	if err != nil {
		return err
	}
	temporary := temporaryName()
	own, err := create(in, temporary, name, e.Mode, content)
	if err != nil {
		return err
	}
	if digest, ok := r.found[e.Path]; ok {
		err = r.replace(in, temporary, name, e, digest)
	} else {
		err = linkNew(in, temporary, name)
	}
	// After a failure that name may hold what somebody else has just written.
	if is, lerr := in.Lstat(temporary); lerr == nil && os.SameFile(is, own) && is.ModTime().Equal(own.ModTime()) {
		in.Remove(temporary)
	}
	return err
}

func temporaryName() string { return ".tool-" + rand.Text() + ".tmp" }

// create writes the temporary file that will be called name. It gets the permissions
// and the owner of the file that it replaces, apart from whether it can be run.
func create(in *os.Root, temporary, name string, mode tree.Mode, content io.Reader) (own fs.FileInfo, err error) {
	perm := fs.FileMode(0o644)
	if mode == tree.Executable {
		perm = 0o755
	}
	f, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	if is, lerr := in.Lstat(name); lerr == nil && is.Mode().IsRegular() {
		perm = is.Mode().Perm() &^ 0o111
		if mode == tree.Executable {
			perm |= is.Mode().Perm()&0o444>>2 | 0o100
		}
		err = errors.Join(f.Chmod(perm), owner.Keep(f, is))
	} else {
		err = owner.KeepNew(in, temporary)
	}
	if err == nil {
		_, err = io.Copy(f, content) // what a power failure takes, the next pull brings again
	}
	own, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		in.Remove(temporary)
	}
	return own, err
}

// replace exchanges the temporary file and the one called name, checks that the latter
// is what was compared, and saves it. Otherwise it exchanges them again.
func (r *Restore) replace(in *os.Root, temporary, name string, e tree.Entry, digest string) error {
	if err := exchange(in, temporary, name); err != nil {
		return err
	}
	err := r.save(in, temporary, e, digest)
	if err != nil {
		if back := exchange(in, temporary, name); back != nil {
			return fmt.Errorf("%w; the former file is %s", err, temporary)
		}
		return err
	}
	in.Remove(temporary)
	return nil
}

// save stores the file called name unless it is another than the compared one.
func (r *Restore) save(in *os.Root, name string, e tree.Entry, digest string) error {
	is, now, err := digestOf(in, name)
	if err != nil || now != digest {
		return errChanged
	}
	if r.Save == nil {
		return nil
	}
	f, _, err := openFile(in, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := r.Save(Former{e.Path, is.Mode().Perm(), e.SHA256, f}); err != nil {
		return fmt.Errorf("save the file that it replaces: %w", err)
	}
	return nil
}

// linkNew gives the temporary file a name that nothing may have.
func linkNew(in *os.Root, temporary, name string) error {
	err := in.Link(temporary, name)
	switch {
	case err == nil:
		return in.Remove(temporary)
	case errors.Is(err, fs.ErrExist):
		return errChanged
	}
	return copyNew(in, temporary, name) // a file system without links
}

// copyNew is linkNew for a file system without links.
func copyNew(in *os.Root, temporary, name string) error {
	from, is, err := openFile(in, temporary)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := in.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, is.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return errChanged
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		in.Remove(name)
		return err
	}
	return in.Remove(temporary)
}

// exchangeByName swaps the names of two files where the system cannot do so at once.
// Nothing that appears under either name meanwhile is overwritten.
func exchangeByName(in *os.Root, temporary, name string) error {
	aside := temporaryName()
	if err := in.Rename(name, aside); errors.Is(err, fs.ErrNotExist) {
		return errChanged
	} else if err != nil {
		return err
	}
	if err := linkNew(in, temporary, name); err != nil {
		if back := linkNew(in, aside, name); back != nil {
			return fmt.Errorf("%w; the former file is %s", err, aside)
		}
		return err
	}
	return in.Rename(aside, temporary)
}

func (r *Restore) name(p string) string { return filepath.Join(r.dir, filepath.FromSlash(p)) }

func (r *Restore) unwritable(p string, err error) error {
	return failure.New(failure.CodeInvalidFile, "write %s: %w", r.name(p), failure.Cause(err))
}

// Close closes the directory.
func (r *Restore) Close() {
	r.last.close()
	if r.root != nil {
		r.root.Close()
	}
}
