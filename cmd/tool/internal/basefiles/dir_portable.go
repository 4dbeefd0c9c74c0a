//go:build portable || !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package basefiles

import (
	"io/fs"
	"os"

	"example.com/projecthub/hubclient/tree"
)

type dir struct{ root *os.Root }

func openDir(path string) (*dir, error) {
	root, err := os.OpenRoot(path)
	return &dir{root}, err
}

func (d *dir) openDir(name string) (*dir, error) {
	below, err := openRoot(d.root, name)
	return &dir{below}, err
}

type file struct{ *os.File }

func (d *dir) openFile(name string) (*file, error) {
	f, _, err := openFile(d.root, name)
	return &file{f}, err
}

func (d *dir) close() { d.root.Close() }

func (d *dir) list(visit func(name []byte, kind kind)) error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	for _, name := range names {
		visit([]byte(name), unknown)
	}
	return err
}

func (d *dir) stat(name string) (info, error) { return newInfo(d.root.Lstat(name)) }

func (f *file) stat() (info, error) { return newInfo(f.Stat()) }

func newInfo(is fs.FileInfo, err error) (info, error) {
	if err != nil {
		return info{}, err
	}
	return info{
		kind:  kind(is.Mode().Type()),
		mode:  tree.ModeOf(uint32(is.Mode().Perm())),
		Stamp: Stamp{Size: is.Size(), ModTime: is.ModTime().UnixNano()},
	}, nil
}
