package state

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/projecthub/hubclient/wire"
)

// What is stored of replaced files at most, apart from those of the newest pull,
// which are stored whatever their size.
const (
	maxFileSets  = 10        // for each name
	maxFileBytes = 512 << 20 // for all names together
)

// FileSet are the files that one pull replaced, as they were.
type FileSet struct {
	Name     string    `json:"name"`              // of the place, for a person who looks into the file
	Settings string    `json:"settings,omitzero"` // revision of the settings that the same pull wrote; "": it changed none
	After    string    `json:"after,omitzero"`    // the settings that were last saved before; see [Entry.ID]
	At       time.Time `json:"at"`

	Files []File `json:"-"`

	parent string   // directory of the sets of this name; "" where nothing can be stored
	dir    string   // "" until the first file is stored; another one since Commit
	index  *os.File // open while files are added
}

// File is one of them.
type File struct {
	Path    string      `json:"path"` // /-separated
	Mode    fs.FileMode `json:"mode"`
	Written string      `json:"written"` // SHA-256 of what replaced it
}

// newPrefix starts the name of the directory of a set that is not complete.
const newPrefix = "new-"

// The set's directory has an index, one JSON value a line: the set, then its files
// in the order of their replacement. The files are stored below contents.
const (
	indexFile = "index.jsonl"
	contents  = "contents"
)

// ErrNoDirectory says that there is no state directory to store anything in.
var ErrNoDirectory = errors.New("set TOOL_STATE_DIR to a directory for it")

// NewFileSet returns a set to add files to. Nothing is stored before the first one.
func (h *History) NewFileSet(name, settings, after string) *FileSet {
	f := &FileSet{Name: name, Settings: settings, After: after, At: time.Now()}
	if h.dir != "" {
		f.parent = h.filesOf(name)
	}
	return f
}

func (h *History) filesOf(name string) string {
	return filepath.Join(h.dir, "files", filepath.Base(h.pathOf(name)))
}

// Add stores a file, readable by the user alone. Commit follows the last one.
func (f *FileSet) Add(file File, content io.Reader) error {
	if f.parent == "" {
		return ErrNoDirectory
	}
	if f.index == nil {
		if err := f.create(); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(filepath.Join(f.dir, contents))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(file.Path), 0o700); err != nil {
		return err
	}
	stored, err := root.OpenFile(file.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(stored, content)
	if err = errors.Join(err, stored.Close()); err != nil {
		return err
	}
	f.Files = append(f.Files, file)
	return f.record(file)
}

// create makes the set's directory, after it has removed old sets.
func (f *FileSet) create() (err error) {
	prune(filepath.Dir(f.parent), f.parent)
	if err := makeDir(f.parent); err != nil {
		return err
	}
	if f.dir, err = os.MkdirTemp(f.parent, newPrefix); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(f.dir, contents), 0o700); err != nil {
		return err
	}
	if f.index, err = os.OpenFile(filepath.Join(f.dir, indexFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	return f.record(f)
}

func (f *FileSet) record(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = f.index.Write(append(line, '\n'))
	return err
}

// Commit makes a set with files the latest of its name. A power failure before it leaves
// no set, and one after it the whole set.
func (f *FileSet) Commit() error {
	if f.index == nil {
		return nil
	}
	err := f.index.Close()
	f.index = nil
	if err = errors.Join(err, syncAll(f.dir)); err != nil {
		return err
	}
	sets, err := setsIn(f.parent)
	if err != nil {
		return err
	}
	next := 1
	if len(sets) > 0 {
		last, _ := strconv.Atoi(sets[len(sets)-1]) // setsIn returns numbers alone
		next = last + 1
	}
	dir := filepath.Join(f.parent, fmt.Sprintf("%010d", next))
	if err := os.Rename(f.dir, dir); err != nil { // exists: another pull of the same files is running
		return err
	}
	f.dir = dir
	syncDir(f.parent)
	return nil
}

// Contents is the directory with the files as they were; "" when none is stored.
func (f *FileSet) Contents() string {
	if f.dir == "" {
		return ""
	}
	return filepath.Join(f.dir, contents)
}

// LatestFileSet returns the set that was stored last under name, nil for none.
func (h *History) LatestFileSet(name string) (*FileSet, error) {
	if h.dir == "" {
		return nil, nil
	}
	parent := h.filesOf(name)
	sets, err := setsIn(parent)
	if err != nil || len(sets) == 0 {
		return nil, err
	}
	f := &FileSet{parent: parent, dir: filepath.Join(parent, sets[len(sets)-1])}
	if err := f.read(); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", f.dir, err)
	}
	return f, nil
}

func (f *FileSet) read() error {
	index, err := os.Open(filepath.Join(f.dir, indexFile))
	if err != nil {
		return err
	}
	defer index.Close()
	lines := bufio.NewScanner(index)
	for first := true; lines.Scan(); first = false {
		var file File
		var into any = &file
		if first {
			into = f
		}
		if err := wire.Decode(lines.Bytes(), into, json.RejectUnknownMembers(false)); err != nil {
			return err
		}
		if !first {
			f.Files = append(f.Files, file)
		}
	}
	return lines.Err()
}

// Open opens a stored file.
func (f *FileSet) Open(file File) (*os.File, error) {
	return os.OpenInRoot(f.Contents(), file.Path)
}

// Remove removes the set, complete or not.
func (f *FileSet) Remove() error {
	if f.index != nil {
		f.index.Close()
	}
	if f.dir == "" {
		return nil
	}
	return os.RemoveAll(f.dir)
}

// setsIn lists the sets of one name, oldest first.
func setsIn(parent string) ([]string, error) {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var sets []string
	for _, e := range entries {
		if e.IsDir() && strings.Trim(e.Name(), "0123456789") == "" {
			sets = append(sets, e.Name())
		}
	}
	slices.Sort(sets)
	return sets, err
}

// prune makes room for one more set of the given name: it removes the oldest sets
// above the limits, and those that a program which was killed did not complete.
func prune(all, parent string) {
	type set struct {
		dir   string
		at    time.Time
		bytes int64
	}
	var sets []set
	own := 0
	names, _ := os.ReadDir(all)
	for _, name := range names {
		dir := filepath.Join(all, name.Name())
		removeIncomplete(dir)
		found, _ := setsIn(dir)
		for _, s := range found {
			at, bytes := measure(filepath.Join(dir, s))
			sets = append(sets, set{filepath.Join(dir, s), at, bytes})
		}
		if dir == parent {
			own = len(found)
		}
	}
	slices.SortFunc(sets, func(a, b set) int { return a.at.Compare(b.at) })
	var total int64
	for _, s := range sets {
		total += s.bytes
	}
	for _, s := range sets {
		isOwn := filepath.Dir(s.dir) == parent
		if total <= maxFileBytes && !(isOwn && own >= maxFileSets) {
			continue
		}
		os.RemoveAll(s.dir)
		if total -= s.bytes; isOwn {
			own--
		}
	}
}

// removeIncomplete removes the sets of one name that no running program completes any more.
func removeIncomplete(parent string) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), newPrefix) && time.Since(info.ModTime()) > 24*time.Hour {
			os.RemoveAll(filepath.Join(parent, e.Name()))
		}
	}
}

// measure returns when a set was made and how large its files are.
func measure(dir string) (at time.Time, bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		if err == nil && e.Name() == indexFile {
			at = info.ModTime()
		}
		return nil
	})
	return at, bytes
}
