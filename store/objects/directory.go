package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// directory keeps each object in a file. The directory stays open, so that it cannot be
// unmounted meanwhile.
type directory struct {
	root *os.Root
	path string
}

// unfinished ends the name of a file that Put has not written completely.
const unfinished = ".tmp"

func openDirectory(dir string, create bool) (Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if create {
		if err := MakeDirectory(dir); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &directory{root, dir}, nil
}

func (d *directory) String() string { return "file:" + d.path }

// failure says what an error means. One that is left is about this machine.
func failure(err error) error {
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

func (d *directory) Put(_ context.Context, key string, body []byte) error {
	err := d.put(key, body)
	if errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return failure(err)
}

func (d *directory) put(key string, body []byte) error {
	parent := path.Dir(key)
	if err := d.makeDirectory(parent); err != nil {
		return err
	}
	f, err := d.root.OpenFile(key+unfinished, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		d.root.Remove(key + unfinished)
		return err
	}
	if err := d.root.Rename(key+unfinished, key); err != nil {
		return err
	}
	return d.sync(parent)
}

// makeDirectory creates a directory and its parents, durably.
func (d *directory) makeDirectory(name string) error {
	if name == "." {
		return nil
	}
	err := d.root.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.makeDirectory(path.Dir(name)); err != nil {
			return err
		}
		err = d.root.Mkdir(name, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.sync(path.Dir(name)) // also one that another Put has just created
}

// sync waits until a directory's entries are on disk, where the system can say so.
func (d *directory) sync(name string) error {
	dir, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return syncAndClose(dir)
}

// MakeDirectory creates a directory for its owner alone, and its parents, durably.
func MakeDirectory(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		// A process that may not read the parent did not create dir.
		if err := SyncDirectory(filepath.Dir(dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// SyncDirectory waits until a directory's entries are on disk, where the system can say so.
func SyncDirectory(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	return syncAndClose(dir)
}

func syncAndClose(dir *os.File) error {
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

func (d *directory) Get(_ context.Context, key string, size int64) ([]byte, error) {
	f, err := d.root.Open(key)
	if err != nil {
		return nil, failure(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, failure(err)
	}
	if info.Size() != size {
		return nil, fmt.Errorf("%s: %w: %d bytes, not %d", key, ErrSize, info.Size(), size)
	}
	body := make([]byte, size)
	_, err = io.ReadFull(f, body)
	return body, failure(err)
}

func (d *directory) Remove(_ context.Context, key string) error {
	for _, name := range []string{key + unfinished, key} {
		if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failure(err)
		}
	}
	return nil
}

func (d *directory) List(ctx context.Context, each func(key string) error) error {
	return fs.WalkDir(d.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return failure(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if entry.IsDir() || strings.HasSuffix(name, unfinished) {
			return nil
		}
		return each(name)
	})
}
