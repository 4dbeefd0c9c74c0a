package basefiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"example.com/projecthub/cmd/tool/internal/owner"
)

// parent is an open directory below the root of a restore.
type parent struct {
	path string // in the tree, "" for the root
	root *os.Root
}

func (p *parent) close() {
	if p != nil && p.path != "" {
		p.root.Close()
	}
}

// parent returns the directory of a path, and the path's last element as spelled on
// disk. It keeps the directory open for the next path. It creates missing directories if
// create is set, and fails if a link or a file has the name of a directory.
func (r *Restore) parent(p string, create bool) (in *os.Root, name string, err error) {
	dir, last := path.Split(p)
	if r.last == nil || r.last.path != dir {
		r.last.close()
		r.last = nil
		if r.last, err = r.descend(dir, create); err != nil {
			return nil, "", err
		}
	}
	return r.last.root, spelled(r.last.root, last), nil
}

// descend opens the directory dir, which is "" or ends in a slash.
func (r *Restore) descend(dir string, create bool) (*parent, error) {
	at := &parent{root: r.root}
	for at.path != dir {
		name, _, _ := strings.Cut(dir[len(at.path):], "/")
		below, err := openBelow(at.root, spelled(at.root, name), create)
		at.close()
		if err != nil {
			return nil, err
		}
		at = &parent{dir[:len(at.path)+len(name)+1], below}
	}
	return at, nil
}

func openBelow(in *os.Root, name string, create bool) (*os.Root, error) {
	before, err := in.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = owner.Mkdir(in, name); err == nil || errors.Is(err, fs.ErrExist) {
			before, err = in.Lstat(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if !before.IsDir() { // on Windows, neither is a junction
		return nil, fmt.Errorf("%s is %s, not a directory", name, typeOf(before))
	}
	below, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := below.Stat(".")
	if err == nil && !os.SameFile(before, opened) {
		err = errReplaced
	}
	if err != nil {
		below.Close()
		return nil, err
	}
	return below, nil
}

// spelled returns a name as spelled on disk, which may not be in NFC.
func spelled(in *os.Root, name string) string {
	if strings.IndexFunc(name, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 {
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
