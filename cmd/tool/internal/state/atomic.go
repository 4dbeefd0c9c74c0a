package state

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile replaces the named file by one with data, readable by its owner alone, and
// makes its directory. At every moment the file has the old content or the new, also
// after a power failure. prepare is given the new file before it replaces the old one;
// nil does nothing.
//
// A file of the workspace is written by package workspace, which follows no link out of it.
func WriteFile(name string, data []byte, prepare func(*os.File) error) error {
	return replace(name, data, func(f *os.File) error {
		if err := f.Chmod(0o600); err != nil { // whatever the umask is
			return err
		}
		if prepare != nil {
			if err := prepare(f); err != nil {
				return err
			}
		}
		return f.Sync()
	})
}

// WriteCache is [WriteFile] for a file that can be made again: it does not wait for the
// disk, and the file is missing for a moment.
func WriteCache(name string, data []byte) error {
	return replace(name, data, func(*os.File) error {
		// Some file systems begin to write a file to the disk when it replaces another,
		// which takes ten times as long.
		_ = os.Remove(name)
		return nil
	})
}

// replace writes a temporary file and renames it once finish has returned.
func replace(name string, data []byte, finish func(*os.File) error) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(name)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	if _, err = f.Write(data); err == nil {
		err = finish(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
