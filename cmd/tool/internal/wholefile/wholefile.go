// Package wholefile writes files of a cache, which are there whole or not at all,
// whoever reads or writes them meanwhile; one that is replaced is gone for a moment.
// It knows nothing of what is in them, and does not make them last: what is lost
// with the power can be made again.
package wholefile

import (
	"os"
	"path/filepath"
)

// Replace puts data in the place of the named file, for its owner alone to read. It
// makes the directory, where there is none.
func Replace(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(name)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	// Where a file takes another's place, some file systems begin to write it to the
	// disk, which takes ten times as long. For a cache it is better to be gone for a moment.
	_ = os.Remove(name)
	return os.Rename(f.Name(), name)
}
