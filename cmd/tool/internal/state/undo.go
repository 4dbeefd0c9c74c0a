package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/hubclient/ref"
)

// Undo is a directory with a copy of each file that a pull replaces, readable by its owner alone,
// and an index. A place has one of the last pull, and a pending one while a pull runs, or after a
// pull was interrupted.
type Undo struct {
	Place  string `json:"place"` // what was pulled into, for a person who looks into the index
	Before Base   `json:"before"`
	Root   string `json:"root,omitzero"` // directory of base files; "": none were replaced
	Files  []File `json:"files"`

	dir     string         // of the copies and the index; "" where nothing can be stored
	earlier map[string]int // of Files, by path: those of a pull that was interrupted
}

// Base is what a local project had in common with a hub project before the pull.
type Base struct {
	Origin   string  `json:"origin"`           // of the hub
	Project  ref.Ref `json:"project,omitzero"` // zero: pulled.json had no base
	Revision string  `json:"revision,omitzero"`
	Tree     string  `json:"tree,omitzero"`
}

// File is a file that the pull replaces. [Undo.Add] sets Size and SHA256.
type File struct {
	Path    string      `json:"path"` // /-separated
	Mode    fs.FileMode `json:"mode"`
	Size    int64       `json:"size"`
	SHA256  string      `json:"sha256"`
	Written []string    `json:"written"` // SHA-256 of what replaced it, last by this pull
}

const (
	pendingDir = "pending"
	lastDir    = "last"

	indexFile = "index.json"
	contents  = "contents"
)

func (d Dir) undoDir(place, name string) string {
	if d == "" {
		return ""
	}
	return filepath.Join(string(d), "pulls", NameOf(place), name)
}

// NewUndo returns an Undo to add files to, which continues that of an interrupted pull. root is
// the directory of base files, "" for none. A nil Undo saves nothing.
func (d Dir) NewUndo(place string, before Base, root string) *Undo {
	u := &Undo{Place: place, Before: before, Root: root, dir: d.undoDir(place, pendingDir)}
	former, err := d.LatestUndo(place)
	if err != nil || former == nil || former.dir != u.dir || root != "" && former.Root != "" && root != former.Root {
		return u
	}
	if former.Root == "" {
		former.Root = root
	}
	former.earlier = map[string]int{}
	for i, f := range former.Files {
		former.earlier[f.Path] = i
	}
	return former
}

// Add copies a file. If an interrupted pull wrote the file, the copy from before that pull stays.
func (u *Undo) Add(file File, content io.Reader) error {
	if u.dir == "" {
		return ErrNoDirectory
	}
	if len(u.Files) == 0 { // the directory may have copies of a pull that was killed before Begin
		err := atomicfile.MakeDir(filepath.Dir(u.dir))
		if err == nil {
			err = os.RemoveAll(u.dir)
		}
		if err == nil {
			err = os.MkdirAll(u.Contents(), 0o700)
		}
		if err != nil {
			return err
		}
	}
	in, err := os.OpenRoot(u.dir)
	if err != nil {
		return err
	}
	defer in.Close()
	const temporary = "copy"
	copied, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	hash := sha256.New()
	file.Size, err = io.Copy(io.MultiWriter(copied, hash), content)
	if err = errors.Join(err, copied.Sync(), copied.Close()); err != nil {
		return err
	}
	file.SHA256 = hex.EncodeToString(hash.Sum(nil))
	i, found := u.earlier[file.Path]
	switch {
	case found && slices.Contains(u.Files[i].Written, file.SHA256):
		u.Files[i].Written = append(u.Files[i].Written, file.Written...)
		return in.Remove(temporary)
	case found:
		u.Files[i] = file
	default:
		u.Files = append(u.Files, file)
	}
	to := path.Join(contents, file.Path)
	if err := in.MkdirAll(path.Dir(to), 0o700); err != nil {
		return err
	}
	return in.Rename(temporary, to)
}

// Begin writes the index once all copies are on the disk. Without an index they do not count.
func (u *Undo) Begin() error {
	if u == nil || len(u.Files) == 0 {
		return nil
	}
	err := filepath.WalkDir(u.Contents(), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			atomicfile.SyncDir(path)
		}
		return err
	})
	if err != nil {
		return err
	}
	index, err := json.Marshal(u, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(u.dir, indexFile), append(index, '\n'))
}

// End makes the copies those of the last pull if it replaced a file, else it removes them. If that
// fails, or if an interrupted pull made some of them, they stay pending.
func (u *Undo) End(replaced bool) {
	switch {
	case u == nil || len(u.Files) == 0:
	case replaced:
		last := filepath.Join(filepath.Dir(u.dir), lastDir)
		if os.RemoveAll(last) == nil && os.Rename(u.dir, last) == nil {
			atomicfile.SyncDir(filepath.Dir(last))
		}
	case u.earlier == nil:
		_ = u.Drop()
	}
}

// Drop removes the copies.
func (u *Undo) Drop() error { return os.RemoveAll(u.dir) }

// Contents is the directory with the copies.
func (u *Undo) Contents() string { return filepath.Join(u.dir, contents) }

// Open opens the copy of a file.
func (u *Undo) Open(name string) (*os.File, error) { return os.OpenInRoot(u.Contents(), name) }

// LatestUndo returns the pending Undo of a place, else that of the last pull, nil if there is none.
func (d Dir) LatestUndo(place string) (*Undo, error) {
	for _, name := range []string{pendingDir, lastDir} {
		u := &Undo{dir: d.undoDir(place, name)}
		file := filepath.Join(u.dir, indexFile)
		index, err := os.ReadFile(file)
		if u.dir == "" || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(index, u)
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", file, err)
		}
		return u, nil
	}
	return nil, nil
}
