package basefiles

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/tree"
)

// A dir is an open directory, implemented once for Unix and once for other platforms.
// Its methods take names, which are single elements of a path. They never follow a
// symbolic link, even if one replaces a directory or a file at any time:
//
//	openDir(path) opens a directory; path itself may be a link
//	dir.openDir(name) opens a directory in it
//	dir.openFile(name) opens a file in it for reading, which may be a special file
//	dir.list(visit) calls visit for each entry, in no order; a name is valid until visit returns
//	dir.stat(name), file.stat() return the kind, mode and stamp of a file
//	dir.close(), file.Close()
//
// openDir and openFile return errReplaced for a link, or for a file of another kind.
//
// The implementation for Unix, by system calls, selects the files of an app 1.6 to 1.9
// times as fast as the one by os.Root.

var errReplaced = errors.New("it was replaced by another kind of file")

type info struct {
	kind kind
	mode tree.Mode
	Stamp
}

// kind is what a file is, by the bits of [fs.FileMode.Type].
type kind fs.FileMode

const (
	unknown   = kind(fs.ModeIrregular) // stat has to be called
	regular   = kind(0)
	directory = kind(fs.ModeDir)
	link      = kind(fs.ModeSymlink)
)

var kindNames = map[kind]string{
	regular: "file", directory: "directory", link: "symbolic link",
	kind(fs.ModeNamedPipe): "named pipe", kind(fs.ModeSocket): "socket",
}

const device = "device" // or something else

func (k kind) String() string { return cmp.Or(kindNames[k], device) }

// isKind reports whether why is a kind of file, not a rule.
func isKind(why string) bool {
	return why == device || slices.Contains(slices.Collect(maps.Values(kindNames)), why)
}

// opener opens files by their paths below a root. It keeps directories open until
// another is needed, because files are opened in the order of their directories.
type opener struct {
	dirs  []*dir // from the root on
	names []string
}

func (s *Selection) opener() (*opener, error) {
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	return &opener{dirs: []*dir{root}}, nil
}

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
	f, err := o.dirs[last].openFile(names[last])
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

// openRoot opens a directory of in, but no link to one. An os.Root follows the links in
// it, so what was opened is compared with what had the name before.
func openRoot(in *os.Root, name string) (*os.Root, error) {
	before, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() { // on Windows, neither is a junction
		return nil, kindError(fmt.Sprintf("%s is a %v, not a directory", name, kind(before.Mode().Type())))
	}
	below, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := below.Stat(".")
	return below, checkOpened(below, before, opened, err)
}

// checkOpened returns errReplaced, and closes what was opened, unless it is what was there before.
func checkOpened(f io.Closer, before, opened fs.FileInfo, err error) error {
	if err == nil && !os.SameFile(before, opened) {
		err = errReplaced
	}
	if err != nil {
		f.Close()
	}
	return err
}

// openFile opens a regular file of in, but no link to one.
func openFile(in *os.Root, name string) (*os.File, fs.FileInfo, error) {
	before, err := in.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, kindError(fmt.Sprintf("it is a %v, not a file", kind(before.Mode().Type())))
	}
	f, err := in.Open(name)
	if err != nil {
		return nil, nil, err
	}
	opened, err := f.Stat()
	return f, opened, checkOpened(f, before, opened, err)
}

// kindError is an errReplaced that says what a file is.
type kindError string

func (e kindError) Error() string { return string(e) }

func (kindError) Is(target error) bool { return target == errReplaced }
