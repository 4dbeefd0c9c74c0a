// Package atomicfile replaces files: at every moment a file has the old content or the new.
// It knows nothing of what is in them.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// ErrCreate is the error of a new file that cannot be created.
var ErrCreate = errors.New("no file can be created next to it")

// Options say how a file is replaced.
type Options struct {
	Mode    fs.FileMode          // of the new file, less what the umask takes off
	Prepare func(*os.File) error // given the new file before it has content; nil does nothing
	// Sync makes a file and its directory last through a power failure. nil waits for no disk.
	Sync func(*os.File) error
	// Put puts the new file in the place of the old one. nil renames it.
	Put func(in *os.Root, temporary, name string) error
}

// Write replaces a file of a directory, or of one below, by a file with data.
func Write(in *os.Root, name string, data []byte, o Options) error {
	temporary := prefix(name) + rand.Text() + suffix
	f, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, o.Mode)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCreate, err)
	}
	defer in.Remove(temporary) // unless it was renamed
	if o.Prepare != nil {
		err = o.Prepare(f)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil && o.Sync != nil {
		err = o.Sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	put := o.Put
	if put == nil {
		put = func(in *os.Root, temporary, name string) error { return in.Rename(temporary, name) }
	}
	if err := put(in, temporary, name); err != nil || o.Sync == nil {
		return err
	}
	if dir, err := in.Open(path.Dir(name)); err == nil {
		_ = o.Sync(dir) // where the system can; the new content is in its place by now
		dir.Close()
	}
	return nil
}

// RemoveLeftovers removes what writers of a file that were killed left behind. No other one
// may be writing.
func RemoveLeftovers(in *os.Root, name string) {
	entries, err := fs.ReadDir(in.FS(), path.Dir(name))
	if err != nil {
		return
	}
	for _, entry := range entries {
		other := path.Join(path.Dir(name), entry.Name())
		if strings.HasPrefix(other, prefix(name)) && strings.HasSuffix(other, suffix) {
			in.Remove(other)
		}
	}
}

const suffix = ".tmp"

// prefix is how the paths of a file's temporary files start.
func prefix(name string) string { return path.Join(path.Dir(name), "."+path.Base(name)+".") }
