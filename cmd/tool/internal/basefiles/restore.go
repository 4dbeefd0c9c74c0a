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

	"golang.org/x/text/unicode/norm"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

// Restore writes files of a tree into a directory. It writes nothing outside: no segment
// of a path below the directory may be a symbolic link or a reserved name.
type Restore struct {
	Added   []tree.Entry // files that do not exist yet
	Changed []tree.Entry // files that exist, but differ

	dir   string            // may not exist
	root  *os.Root          // of dir; nil if dir does not exist
	last  string            // the directory of the last path: "" for the root, else it ends in a slash
	in    *os.Root          // of last
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
			return nil, r.fail(e.Path, err)
		}
	}
	return r, nil
}

// CreatesDir reports whether the directory does not exist yet.
func (r *Restore) CreatesDir() bool { return r.root == nil }

func (r *Restore) open() (err error) {
	if r.root, err = os.OpenRoot(r.dir); err != nil {
		return failure.New(failure.CodeInvalidFile, "open the directory %s: %w", r.dir, failure.Cause(err))
	}
	r.in = r.root
	return nil
}

// compare adds e to Added or Changed unless the file is the same.
func (r *Restore) compare(e tree.Entry) error {
	mode, digest, err := r.existing(e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Added = append(r.Added, e)
	case err != nil:
		return err
	case digest != e.SHA256 || KnowsModes && mode != e.Mode:
		r.Changed = append(r.Changed, e)
		r.found[e.Path] = digest
	}
	return nil
}

// existing returns the mode and the SHA-256 of the file at a path. It follows no link.
func (r *Restore) existing(path string) (mode tree.Mode, digest string, err error) {
	f, is, err := r.openFile(path)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return tree.ModeOf(uint32(is.Mode().Perm())), hex.EncodeToString(hash.Sum(nil)), err
}

func (r *Restore) openFile(path string) (*os.File, fs.FileInfo, error) {
	in, name, err := r.parent(path, false)
	if err != nil {
		return nil, nil, err
	}
	return openFile(in, name)
}

// Found returns the SHA-256 that the file of a changed path had when it was compared.
func (r *Restore) Found(path string) string { return r.found[path] }

// Save calls save for each changed file as it is now. It fails with files_differ if one
// changed since it was compared.
func (r *Restore) Save(save func(Former) error) error {
	for _, e := range r.Changed {
		if err := r.saveOne(e, save); err != nil {
			return r.fail(e.Path, err)
		}
	}
	return nil
}

func (r *Restore) saveOne(e tree.Entry, save func(Former) error) error {
	f, is, err := r.openFile(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return errChanged
	}
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	content := io.TeeReader(f, hash)
	former := Former{
		Path:    e.Path,
		Mode:    is.Mode().Perm(),
		Written: e.SHA256,
		Content: content,
	}
	if err := save(former); err != nil {
		return fmt.Errorf("save the existing file: %w", err)
	}
	if _, err := io.Copy(io.Discard, content); err != nil || hex.EncodeToString(hash.Sum(nil)) != r.found[e.Path] {
		return errChanged
	}
	return nil
}

// Open opens the existing file of a changed path, and returns its size.
func (r *Restore) Open(path string) (io.ReadCloser, int64, error) {
	f, is, err := r.openFile(path)
	if err != nil {
		return nil, 0, r.fail(path, err)
	}
	return f, is.Size(), nil
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
		return r.fail(e.Path, err)
	}
	return nil
}

// fail says why a file cannot be written, which may be found when it is compared.
func (r *Restore) fail(path string, err error) error {
	name := filepath.Join(r.dir, filepath.FromSlash(path))
	if errors.Is(err, errChanged) {
		return failure.New(failure.CodeFilesDiffer, "%s was not replaced: %w", name, err).
			WithHint("run the command again to compare the files again")
	}
	return failure.New(failure.CodeInvalidFile, "write %s: %w", name, failure.Cause(err))
}

var errChanged = errors.New("it changed while the files were pulled")

func (r *Restore) write(e tree.Entry, content io.Reader) error {
	in, name, err := r.parent(e.Path, true)
	if err != nil {
		return err
	}
	temporary := ".tool-" + rand.Text() + ".tmp"
	defer in.Remove(temporary) // unless it was renamed
	if err := create(in, temporary, name, e.Mode, content); err != nil {
		return err
	}
	_, digest, err := r.existing(e.Path) // "" of a file that does not exist, as the one that was found then
	if err != nil && !errors.Is(err, fs.ErrNotExist) || digest != r.found[e.Path] {
		return errChanged
	}
	return in.Rename(temporary, name)
}

// create writes the temporary file that will be renamed to name. It gets the owner and
// the permissions of the file that it replaces, except for the executable bits.
func create(in *os.Root, temporary, name string, mode tree.Mode, content io.Reader) error {
	perm := fs.FileMode(0o644)
	if mode == tree.Executable {
		perm = 0o755
	}
	f, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	is, lerr := in.Lstat(name)
	replaces := lerr == nil && is.Mode().IsRegular()
	if replaces {
		perm = is.Mode().Perm() &^ 0o111
		if mode == tree.Executable {
			perm |= is.Mode().Perm()&0o444>>2 | 0o100 // for the owner, and for all who may read it
		}
		err = errors.Join(f.Chmod(perm), atomicfile.KeepOwner(f, is))
	} else {
		err = atomicfile.KeepOwnerOf(f, in, ".")
	}
	if err == nil {
		_, err = io.Copy(f, content)
	}
	if err == nil && replaces { // a new file is written again by the pull after a power failure
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// parent returns the directory of a path, and the path's last element as spelled on
// disk. It keeps the directory open for the next path. It creates missing directories if
// mkdir is set, and fails if a link or a file has the name of a directory.
func (r *Restore) parent(p string, mkdir bool) (in *os.Root, name string, err error) {
	dir, last := path.Split(p)
	if r.last == dir {
		return r.in, spelled(r.in, last), nil
	}
	r.leave()
	for segment := range strings.SplitAfterSeq(dir, "/") {
		if segment == "" { // after the last slash
			break
		}
		name := spelled(r.in, strings.TrimSuffix(segment, "/"))
		if mkdir {
			if err := atomicfile.Mkdir(r.in, name); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, "", err
			}
		}
		below, err := openRoot(r.in, name)
		if err != nil {
			return nil, "", err
		}
		above := r.last
		r.leave()
		r.in, r.last = below, above+segment
	}
	return r.in, spelled(r.in, last), nil
}

// leave closes the directory of the last path, and returns to the root.
func (r *Restore) leave() {
	if r.last != "" {
		r.in.Close()
	}
	r.in, r.last = r.root, ""
}

// spelled returns a name as spelled on disk, which may not be in NFC.
func spelled(in *os.Root, name string) string {
	if isASCII(name) {
		return name
	}
	if _, err := in.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return name
	}
	d, err := in.Open(".")
	if err != nil {
		return name
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, other := range names {
		if norm.NFC.String(other) == name {
			return other
		}
	}
	return name
}

// Close closes the directory.
func (r *Restore) Close() {
	r.leave()
	if r.root != nil {
		r.root.Close()
	}
}
