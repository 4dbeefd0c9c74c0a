package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

const maxFile = 16 << 20

func invalid(name string, err error) failure.Failure {
	return failure.New(failure.CodeInvalidFile, "%w", &Blamed{Position{File: name}, err})
}

// resolve follows the symlinks in name, a path in the workspace, and returns where
// they lead. What does not exist yet is taken as it is. The failure outside_workspace
// says that they lead out of the workspace.
func (w *Workspace) resolve(name string) (string, error) {
	real, err := resolve(w.Path(name))
	if err != nil {
		return "", invalid(name, err)
	}
	inside, err := filepath.Rel(w.Dir, real)
	if err != nil || !filepath.IsLocal(inside) {
		return "", failure.New(failure.CodeOutsideWorkspace, "%s leads out of the workspace", name).
			WithHint("only files of the workspace are read, wherever a symlink points")
	}
	inside = filepath.ToSlash(inside)
	for segment := range strings.SplitSeq(inside, "/") {
		if reserved := tree.Reserved(segment); reserved != "" && reserved != toolDir {
			return "", failure.New(failure.CodeOutsideWorkspace, "%s leads into %s", name, segment).
				WithHint("no file of version control is read or written, wherever a symlink points")
		}
	}
	return inside, nil
}

// resolve follows the symlinks in an absolute path as far as it exists.
func resolve(path string) (string, error) {
	existing, rest := path, ""
	for {
		real, err := filepath.EvalSymlinks(existing)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", failure.Cause(err)
		}
		if _, err := os.Lstat(existing); err == nil {
			return "", errors.New("a symlink that leads nowhere")
		}
		existing, rest = filepath.Dir(existing), filepath.Join(filepath.Base(existing), rest)
	}
}

// ReadFile returns the content of a regular file of the workspace, and where its symlinks
// lead: paths relative to the workspace, with /.
func (w *Workspace) ReadFile(name string) (data []byte, inside string, err error) {
	if inside, err = w.resolve(name); err != nil {
		return nil, "", err
	}
	data, err = w.readAll(inside)
	return data, inside, err
}

// read returns the content of a regular file of the workspace.
func (w *Workspace) read(name string) (data []byte, err error) {
	inside, err := w.resolve(name)
	if err != nil {
		return nil, err
	}
	if data, err = w.readAll(inside); err != nil {
		return nil, invalid(name, err)
	}
	return data, nil
}

// readAll reads a resolved path. The root refuses a symlink that was put there since.
func (w *Workspace) readAll(inside string) ([]byte, error) {
	info, err := w.root.Stat(inside)
	if err != nil {
		return nil, failure.Cause(err)
	}
	if info.IsDir() {
		return nil, errors.New("is a directory")
	}
	if !info.Mode().IsRegular() { // opening a FIFO would wait for its writer
		return nil, errors.New("not a regular file")
	}
	f, err := w.root.Open(inside)
	if err != nil {
		return nil, failure.Cause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, failure.Cause(err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	return data, nil
}

// The steps of a write that tests make fail.
var (
	syncFile      = (*os.File).Sync
	exchangeFiles = atomicfile.Exchange
)

// attempts is how often an edit is tried, because the file may change meanwhile.
const attempts = 10

// lockTime is how long a writer waits for another one, which may have been stopped, and
// lockDelay how often it looks.
var (
	lockTime  = 30 * time.Second
	lockDelay = 5 * time.Millisecond
)

var errLocked = errors.New("another program has locked its directory")

var errChanged = errors.New("it keeps changing while it is edited")

// update replaces the content of a file by the result of edit, and reports whether that differs. edit is given nil
// when there is no such file, returns nil for no file, and is called again when another program changed the file in
// the meantime.
//
// At every moment the file holds the old content or the new, also after a power failure if
// it is durable. Writers of the same file wait for each other; an editor that does not is
// noticed by what it wrote.
func (w *Workspace) update(name string, durable bool, edit func(old []byte) ([]byte, error)) (changed bool, err error) {
	file, err := w.resolve(name)
	if err != nil {
		return false, err
	}
	// Where there are no locks, as on some network file systems, the comparison
	// before the rename has to do.
	lock := lockOf(filepath.Join(w.Dir, filepath.FromSlash(path.Dir(file))))
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	locked, err := lock.TryLockContext(ctx, lockDelay)
	switch {
	case locked:
		defer lock.Unlock()
		atomicfile.RemoveLeftovers(w.root, file)
	case errors.Is(err, context.DeadlineExceeded):
		return false, unwritable(name, errLocked).
			WithHint("end or continue the other program, which may be a stopped tool")
	}
	for range attempts {
		changed, err = w.edit(name, file, durable, edit)
		if !errors.Is(err, errChanged) {
			break
		}
	}
	return changed, err
}

// lockOf returns the lock of a directory: the directory itself, so that no lock file is among
// the user's files. Windows locks no directory, so there it is a file among the temporary ones.
func lockOf(dir string) *flock.Flock {
	if runtime.GOOS != "windows" {
		return flock.New(dir, flock.SetFlag(os.O_RDONLY))
	}
	name := fmt.Sprintf("tool-%x.lock", sha256.Sum256([]byte(dir)))
	return flock.New(filepath.Join(os.TempDir(), name))
}

// edit makes one attempt at an update of file, which is what name leads to.
func (w *Workspace) edit(name, file string, durable bool, edit func(old []byte) ([]byte, error)) (bool, error) {
	old, err := w.present(file)
	if err != nil {
		return false, invalid(name, err)
	}
	text, err := edit(old)
	switch {
	case err != nil || (old == nil) == (text == nil) && bytes.Equal(old, text):
		return false, err
	case text == nil:
		err = w.root.Remove(file)
	default:
		err = w.write(file, text, durable, func(temporary string) error {
			return w.replace(file, temporary, old)
		})
	}
	if err != nil {
		return false, unwritable(name, err)
	}
	return true, nil
}

// present returns the content of a resolved path, nil when there is no file.
func (w *Workspace) present(file string) ([]byte, error) {
	text, err := w.readAll(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// write writes a new file, unless the one that it replaces is write-protected.
func (w *Workspace) write(file string, text []byte, durable bool, put func(temporary string) error) error {
	options := atomicfile.Options{Put: func(_ *os.Root, temporary, _ string) error { return put(temporary) }}
	if durable {
		options.Sync = syncFile
	}
	old, err := w.root.OpenFile(file, os.O_WRONLY, 0)
	if err == nil {
		err = old.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return atomicfile.Write(w.root, file, text, options)
}

// replace puts a new file in the place of old. If another program changed the file, replace restores that content
// and returns errChanged.
func (w *Workspace) replace(file, temporary string, old []byte) error {
	if err := w.unchanged(file, old); err != nil {
		return err
	}
	err := errors.ErrUnsupported
	if old != nil {
		if err = exchangeFiles(w.root, temporary, file); err == nil {
			if err = w.unchanged(temporary, old); err != nil {
				return errors.Join(err, exchangeFiles(w.root, temporary, file))
			}
		}
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported): // a change since the comparison is lost
		return w.root.Rename(temporary, file)
	case errors.Is(err, fs.ErrNotExist):
		return errChanged
	}
	return err
}

func (w *Workspace) unchanged(file string, old []byte) error {
	now, err := w.present(file)
	if err == nil && ((now == nil) != (old == nil) || !bytes.Equal(now, old)) {
		return errChanged
	}
	return err
}

func unwritable(name string, err error) failure.Failure {
	cause := failure.Cause(err)
	if errors.Is(err, atomicfile.ErrCreate) {
		cause = fmt.Errorf("%w: %w", atomicfile.ErrCreate, cause)
	}
	return invalid(name, fmt.Errorf("cannot be written: %w", cause))
}
