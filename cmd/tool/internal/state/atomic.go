package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
)

// WriteFile replaces the named file by one with data, readable by its owner alone, and
// makes its directory. At every moment the file has the old content or the new, also
// after a power failure, and the new one once WriteFile has returned. prepare is given the
// new file before it replaces the old one; nil does nothing.
//
// A file of the workspace is written by package workspace, which follows no link out of it.
func WriteFile(name string, data []byte, prepare func(*os.File) error) error {
	private := func(f *os.File) error {
		if err := f.Chmod(0o600); err != nil || prepare == nil { // whatever the umask is
			return err
		}
		return prepare(f)
	}
	return write(name, data, atomicfile.Options{Mode: 0o600, Prepare: private, Sync: syncFile})
}

// WriteCache is [WriteFile] for a file that can be made again: it does not wait for the
// disk, and the file is missing for a moment.
func WriteCache(name string, data []byte) error {
	put := func(in *os.Root, temporary, name string) error {
		// Some file systems begin to write a file to the disk when it replaces another,
		// which takes ten times as long.
		_ = in.Remove(name)
		return in.Rename(temporary, name)
	}
	return write(name, data, atomicfile.Options{Mode: 0o600, Put: put})
}

func write(name string, data []byte, options atomicfile.Options) error {
	dir := filepath.Dir(name)
	if err := makeDir(dir); err != nil {
		return err
	}
	in, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Write(in, filepath.Base(name), data, options)
}

// makeDir is [os.MkdirAll] for directories that are the user's alone and are to last
// through a power failure.
func makeDir(dir string) error {
	var parents []string // of those that are missing
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil {
			break
		}
		parents = append(parents, filepath.Dir(d))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, parent := range parents {
		syncDir(parent)
	}
	return nil
}

// syncDir makes what was created, renamed or removed in dir last through a power failure,
// where the system can.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = syncFile(d)
		d.Close()
	}
}

// syncFile is what tests watch.
var syncFile = (*os.File).Sync

// syncAll makes a directory with all that is in it last through a power failure. It
// syncs files at the same time, which a disk writes together.
func syncAll(dir string) error {
	var group errgroup.Group
	group.SetLimit(16)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil {
			group.Go(func() error { return syncPath(path, e.IsDir()) })
		}
		return err
	})
	return errors.Join(err, group.Wait())
}

func syncPath(path string, dir bool) error {
	if dir {
		syncDir(path)
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // Windows syncs no file that was opened to be read
	if err != nil {
		return err
	}
	return errors.Join(syncFile(f), f.Close())
}
