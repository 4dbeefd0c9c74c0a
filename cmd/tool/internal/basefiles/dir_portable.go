//go:build portable || !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package basefiles

import (
	"io/fs"
	"os"

	"example.com/projecthub/hubclient/tree"
)

// An os.Root stays below its directory, but follows symbolic links in it. So each
// opened file is compared with the one that had the name before.
type dir struct{ root *os.Root }

func openDir(path string) (*dir, error) {
	root, err := os.OpenRoot(path)
	return &dir{root}, err
}

func (d *dir) openDir(name string) (*dir, error) {
	before, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, errReplaced
	}
	below, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := below.Stat(".")
	if err = same(before, opened, err); err != nil {
		below.Close()
		return nil, err
	}
	return &dir{below}, nil
}

type file struct{ *os.File }

func (d *dir) openFile(name string) (*file, error) {
	before, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, errReplaced
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err = same(before, opened, err); err != nil {
		f.Close()
		return nil, err
	}
	return &file{f}, nil
}

func same(before, opened fs.FileInfo, err error) error {
	if err == nil && !os.SameFile(before, opened) {
		return errReplaced
	}
	return err
}

func (d *dir) close() { d.root.Close() }

func (d *dir) list(visit func(name []byte, kind kind)) error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return listNames(f, visit)
}

func (d *dir) stat(name string) (info, error) { return newInfo(d.root.Lstat(name)) }

func (f *file) stat() (info, error) { return newInfo(f.Stat()) }

func newInfo(is fs.FileInfo, err error) (info, error) {
	if err != nil {
		return info{}, err
	}
	return info{
		kind:  kindOf(is.Mode().Type()),
		mode:  tree.ModeOf(uint32(is.Mode().Perm())),
		Stamp: Stamp{Size: is.Size(), ModTime: is.ModTime().UnixNano()},
	}, nil
}

func kindOf(format fs.FileMode) kind {
	switch format {
	case 0:
		return regular
	case fs.ModeDir:
		return directory
	case fs.ModeSymlink:
		return link
	case fs.ModeNamedPipe:
		return pipe
	case fs.ModeSocket:
		return socket
	}
	return device
}
