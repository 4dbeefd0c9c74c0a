package workspace

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/owner"
)

// The steps of a write that tests make fail.
var (
	syncFile      = (*os.File).Sync
	exchangeFiles = atomicfile.Exchange
)

// attempts is how often an edit is made anew because the file changed meanwhile.
const attempts = 10

// lockTime is how long a writer waits for another one, which may have been stopped, and
// lockDelay how often it looks.
var (
	lockTime  = 30 * time.Second
	lockDelay = 5 * time.Millisecond
)

var errLocked = errors.New("another program has locked its directory")

var errChanged = errors.New("it keeps changing while it is edited")

// update replaces the content of a file by what edit makes of it, and reports
// whether that was anything else. edit is given nil when there is no such file, returns nil
// for no file, and is called again when another program changed the file in the meantime.
//
// At every moment the file holds the old content or the new. Writers of the same
// file wait for each other; an editor that does not is noticed by what it wrote.
func (w *Workspace) update(name string, edit func(old []byte) ([]byte, error)) (changed bool, err error) {
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
		w.removeLeftovers(file)
	case errors.Is(err, context.DeadlineExceeded):
		return false, unwritable(name, errLocked).WithHint("end or continue the other program, which may be a stopped tool")
	}
	for range attempts {
		changed, err = w.edit(name, file, edit)
		if !errors.Is(err, errChanged) {
			break
		}
	}
	return changed, err
}

// edit makes one attempt at an update of file, which is what name leads to.
func (w *Workspace) edit(name, file string, edit func(old []byte) ([]byte, error)) (bool, error) {
	old, err := w.present(file)
	if err != nil {
		return false, invalid(name, err)
	}
	text, err := edit(old)
	switch {
	case err != nil || (old == nil) == (text == nil) && bytes.Equal(old, text):
		return false, err
	case text == nil:
		err = failure.Cause(w.root.Remove(file))
	default:
		err = w.replace(file, old, text)
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

// replace puts text in the place of old. What another program saved in the file up to the
// moment of that is back in its place when it returns errChanged.
func (w *Workspace) replace(file string, old, text []byte) error {
	f, temporary, err := w.createTemporary(file)
	if err != nil {
		return err
	}
	defer w.root.Remove(temporary) // which is the former file by then
	if _, err = f.Write(text); err == nil {
		err = syncFile(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return failure.Cause(err)
	}
	if err := w.unchanged(file, old); err != nil {
		return err
	}
	err = errors.ErrUnsupported
	if old != nil {
		if err = exchangeFiles(w.root, temporary, file); err == nil {
			if err = w.unchanged(temporary, old); err != nil {
				return errors.Join(err, exchangeFiles(w.root, temporary, file))
			}
		}
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported): // a change since the comparison is lost
		err = w.root.Rename(temporary, file)
	case errors.Is(err, fs.ErrNotExist):
		return errChanged
	}
	if err != nil {
		return failure.Cause(err)
	}
	w.syncDir(path.Dir(file))
	return nil
}

// unchanged returns errChanged if a file is not what was read.
func (w *Workspace) unchanged(file string, old []byte) error {
	now, err := w.present(file)
	if err == nil && ((now == nil) != (old == nil) || !bytes.Equal(now, old)) {
		return errChanged
	}
	return err
}

// createTemporary makes the file that will replace the given one, next to
// it and with its mode and owner. It fails when that one is write-protected, which a rename
// would pass over.
func (w *Workspace) createTemporary(file string) (f *os.File, name string, err error) {
	old, err := w.writable(file)
	if err != nil {
		return nil, "", err
	}
	mode := fs.FileMode(0o644)
	if old != nil {
		mode = old.Mode().Perm()
	}
	name = temporaryPrefix(file) + rand.Text() + temporarySuffix
	f, err = w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, "", fmt.Errorf("no file can be created next to it: %w", failure.Cause(err))
	}
	if old == nil {
		err = owner.KeepNew(f, w.root, path.Dir(name))
	} else {
		err = errors.Join(f.Chmod(mode), owner.Keep(f, old)) // the umask may have taken something off the mode
	}
	if err != nil {
		f.Close()
		w.root.Remove(name)
		return nil, "", failure.Cause(err)
	}
	return f, name, nil
}

// writable describes a file that may be written, nil when there is none.
func (w *Workspace) writable(file string) (fs.FileInfo, error) {
	f, err := w.root.OpenFile(file, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failure.Cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, failure.Cause(err)
	}
	return info, nil
}

// checkWritable reports whether a file could be replaced now.
func (w *Workspace) checkWritable(name string) error {
	file, err := w.resolve(name)
	if err != nil {
		return err
	}
	f, temporary, err := w.createTemporary(file)
	if err != nil {
		return unwritable(name, err)
	}
	f.Close()
	w.root.Remove(temporary)
	return nil
}

func unwritable(name string, err error) failure.Failure {
	return invalid(name, fmt.Errorf("cannot be written: %w", err))
}

// syncDir makes a rename in dir last through a power failure, where the system can.
// The new content is written by now, so a failure changes nothing.
func (w *Workspace) syncDir(dir string) {
	if f, err := w.root.Open(dir); err == nil {
		_ = syncFile(f)
		f.Close()
	}
}

const temporarySuffix = ".tmp"

// temporaryPrefix is how the paths of a file's temporary files start.
func temporaryPrefix(file string) string {
	return path.Join(path.Dir(file), "."+path.Base(file)+".")
}

// removeLeftovers removes the temporary files of writers that were killed. The
// lock is held, so that none of them is in use.
func (w *Workspace) removeLeftovers(file string) {
	entries, err := fs.ReadDir(w.root.FS(), path.Dir(file))
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := path.Join(path.Dir(file), entry.Name())
		if strings.HasPrefix(name, temporaryPrefix(file)) && strings.HasSuffix(name, temporarySuffix) {
			w.root.Remove(name)
		}
	}
}
