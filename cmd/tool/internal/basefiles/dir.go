package basefiles

import (
	"errors"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/tree"
)

// A dir is an open directory, made for each kind of platform in a file of its
// own. What it holds is named by one element of a path and never reached
// through a symbolic link, whatever takes a name's place in between:
//
//	openDir(path) opens a directory; path itself may be a link
//	dir.openDir(name) opens a directory in it
//	dir.openFile(name) opens a file in it for reading; it may be a special one
//	dir.list(visit) names all that is in it, in no order, once; a name holds until visit returns
//	dir.stat(name), file.stat() say what something is
//	dir.close(), file.Close()
//
// Opening what is a link, or no directory where one is meant, is errReplaced.

var errReplaced = errors.New("something else has taken its place")

// info is what a file system says of a file.
type info struct {
	kind kind
	mode tree.Mode
	Stamp
}

type kind uint8

const (
	unknown kind = iota // only stat tells
	regular
	directory
	link
	pipe
	socket
	device
)

var kindNames = [...]string{"unknown", "file", "directory", "symbolic link", "named pipe", "socket", "device"}

func (k kind) String() string { return kindNames[k] }

// isKind reports whether something was skipped for what it is, not by a rule.
func isKind(why string) bool { return slices.Contains(kindNames[:], why) }

// opener opens files by their paths below a root. Directories stay open until
// another is needed, because files come in the order of their directories.
type opener struct {
	dirs  []*dir // from the root on
	names []string
}

func newOpener(root *dir) *opener { return &opener{dirs: []*dir{root}} }

// open opens the regular file at path. It is for one goroutine at a time.
func (o *opener) open(path string) (*file, info, error) {
	names := strings.Split(path, "/")
	last := len(names) - 1
	shared := 0
	for shared < min(last, len(o.names)) && names[shared] == o.names[shared] {
		shared++
	}
	o.up(shared)
	for _, name := range names[shared:last] {
		below, err := o.dirs[len(o.dirs)-1].openDir(name)
		if err != nil {
			return nil, info{}, err
		}
		o.dirs, o.names = append(o.dirs, below), append(o.names, name)
	}
	return openRegular(o.dirs[last], names[last])
}

// up closes the directories more than depth levels below the root.
func (o *opener) up(depth int) {
	for _, d := range o.dirs[depth+1:] {
		d.close()
	}
	o.dirs, o.names = o.dirs[:depth+1], o.names[:depth]
}

func (o *opener) close() {
	o.up(0)
	o.dirs[0].close()
}

func openRegular(d *dir, name string) (*file, info, error) {
	f, err := d.openFile(name)
	if err != nil {
		return nil, info{}, err
	}
	is, err := f.stat()
	if err == nil && is.kind != regular {
		err = errReplaced
	}
	if err != nil {
		f.Close()
		return nil, info{}, err
	}
	return f, is, nil
}
