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

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/owner"
	"example.com/projecthub/hubclient/tree"
)

// Restore writes files of a tree into a directory. It writes nothing outside: no segment
// of a path below the directory may be a symbolic link or a reserved name.
type Restore struct {
	Added   []tree.Entry // files that do not exist yet
	Changed []tree.Entry // files that exist, but differ

	dir   string            // may not exist
	root  *os.Root          // of dir; nil if dir does not exist
	last  *parent           // the directory of the last path
	found map[string]string // SHA-256 of the existing file for each changed path
}

// Former is a file that a restore is about to replace.
type Former struct {
	Path    string // in the tree
	Mode    fs.FileMode
	Written string // SHA-256 of the new file
	Content io.Reader
}

// NewRestore compares files with those in dir. Write creates dir if it does not exist.
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

// Found returns the SHA-256 that the existing file of a changed path had when it was
// compared.
func (r *Restore) Found(path string) string { return r.found[path] }

// Save calls save for each changed file as it is now. It fails with files_differ if one
// changed since it was compared.
func (r *Restore) Save(save func(Former) error) error {
	for _, e := range r.Changed {
		if err := r.saveOne(e, save); err != nil {
			return r.unwritten(e, err)
		}
	}
	return nil
}

func (r *Restore) saveOne(e tree.Entry, save func(Former) error) error {
	in, name, err := r.parent(e.Path, false)
	if err != nil {
		return err
	}
	f, is, err := openFile(in, name)
	if err != nil {
		return errChanged
	}
	defer f.Close()
	hash := sha256.New()
	content := io.TeeReader(f, hash)
	if err := save(Former{e.Path, is.Mode().Perm(), e.SHA256, content}); err != nil {
		return fmt.Errorf("save the existing file: %w", err)
	}
	if _, err := io.Copy(io.Discard, content); err != nil || hex.EncodeToString(hash.Sum(nil)) != r.found[e.Path] {
		return errChanged
	}
	return nil
}

// Open opens the existing file of a changed path, and returns its size.
func (r *Restore) Open(path string) (io.ReadCloser, int64, error) {
	in, name, err := r.parent(path, false)
	if err != nil {
		return nil, 0, r.unwritable(path, err)
	}
	f, is, err := openFile(in, name)
	if err != nil {
		return nil, 0, r.unwritable(path, err)
	}
	return f, is.Size(), nil
}

// digestOf returns the SHA-256 of a regular file. It follows no link.
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

// openFile opens a regular file. It compares the opened file with the one that had the
// name before, because an os.Root follows the links in it.
func openFile(in *os.Root, name string) (*os.File, fs.FileInfo, error) {
	before, err := in.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("it is %s, not a file", typeOf(before))
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

// Write writes a file completely or not at all. It fails with files_differ, and changes
// nothing, if the existing file was created or changed since it was compared.
func (r *Restore) Write(e tree.Entry, content io.Reader) error {
	if r.root == nil {
		if err := os.MkdirAll(r.dir, 0o755); err != nil {
			return failure.New(failure.CodeInvalidFile, "create the directory %s: %w", r.dir, failure.Cause(err))
		}
		if err := r.open(); err != nil {
			return err
		}
	}
	if err := r.write(e, content); err != nil {
		return r.unwritten(e, err)
	}
	return nil
}

func (r *Restore) unwritten(e tree.Entry, err error) error {
	if errors.Is(err, errChanged) {
		return failure.New(failure.CodeFilesDiffer, "%s was not replaced: %w", r.name(e.Path), err).
			WithHint("run the command again to compare the files again")
	}
	return r.unwritable(e.Path, err)
}

// errChanged means that a file changed since it was compared.
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
		err = replace(in, temporary, name, digest)
	} else {
		err = linkNew(in, temporary, name)
	}
	// After a failure, the temporary name may belong to a file of somebody else.
	if is, lerr := in.Lstat(temporary); lerr == nil && os.SameFile(is, own) && is.ModTime().Equal(own.ModTime()) {
		in.Remove(temporary)
	}
	return err
}

func temporaryName() string { return ".tool-" + rand.Text() + ".tmp" }

// create writes the temporary file that will be renamed to name. It gets the owner and
// the permissions of the file that it replaces, except for the executable bits.
func create(in *os.Root, temporary, name string, mode tree.Mode, content io.Reader) (own fs.FileInfo, err error) {
	perm := fs.FileMode(0o644)
	if mode == tree.Executable {
		perm = 0o755
	}
	f, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	is, lerr := in.Lstat(name)
	replaces := lerr == nil && is.Mode().IsRegular()
	if replaces {
		perm = is.Mode().Perm() &^ 0o111
		if mode == tree.Executable {
			perm |= is.Mode().Perm()&0o444>>2 | 0o100
		}
		err = errors.Join(f.Chmod(perm), owner.Keep(f, is))
	} else {
		err = owner.KeepNew(f, in, ".")
	}
	if err == nil {
		_, err = io.Copy(f, content)
	}
	if err == nil && replaces { // a new file is written again by the pull after a power failure
		err = f.Sync()
	}
	own, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		in.Remove(temporary)
	}
	return own, err
}

// replace exchanges the temporary file with the existing one, and exchanges them back if
// the existing one is not what was compared.
func replace(in *os.Root, temporary, name, digest string) error {
	if err := exchange(in, temporary, name); err != nil {
		return err
	}
	if _, now, err := digestOf(in, temporary); err != nil || now != digest {
		if back := exchange(in, temporary, name); back != nil {
			return fmt.Errorf("%w; the previous file is %s", errChanged, temporary)
		}
		return errChanged
	}
	return in.Remove(temporary)
}

// linkNew renames the temporary file to a name that must not exist.
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

// exchange exchanges two files, atomically if the system can.
func exchange(in *os.Root, temporary, name string) error {
	switch err := atomicfile.Exchange(in, temporary, name); {
	case errors.Is(err, errors.ErrUnsupported):
		return exchangeByName(in, temporary, name)
	case errors.Is(err, fs.ErrNotExist):
		return errChanged
	default:
		return err
	}
}

// exchangeByName exchanges two files where the system cannot do so atomically. It
// never overwrites a file that somebody else creates under one of the names.
func exchangeByName(in *os.Root, temporary, name string) error {
	aside := temporaryName()
	if err := in.Rename(name, aside); errors.Is(err, fs.ErrNotExist) {
		return errChanged
	} else if err != nil {
		return err
	}
	if err := linkNew(in, temporary, name); err != nil {
		if back := linkNew(in, aside, name); back != nil {
			return fmt.Errorf("%w; the previous file is %s", err, aside)
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
