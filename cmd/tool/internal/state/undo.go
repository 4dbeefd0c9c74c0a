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
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Undo is what a pull replaces: a directory with a copy of each file as it was, readable by its
// owner alone, and an index. Of each place there is that of the last pull, and while another pull
// is writing, its own, which is pending.
type Undo struct {
	Place  string    `json:"place"` // what was pulled into, for a person who looks into the index
	At     time.Time `json:"at"`
	Before Base      `json:"before"`
	Root   string    `json:"root,omitzero"` // directory of base files; "": none were replaced
	Files  []File    `json:"files"`

	Pending bool `json:"-"` // whether the pull went through is not known

	parent string // directory of the place; "" where nothing can be stored
	dir    string // of the copies and the index
}

// Base is what a local project had in common with a hub project before the pull.
type Base struct {
	Origin   string  `json:"origin"`            // of the hub
	Project  ref.Ref `json:"project,omitzero"`  // zero: pulled.json had no base
	Revision string  `json:"revision,omitzero"` // in pulled.json
	Tree     string  `json:"tree,omitzero"`     // in pulled.json
	Common   string  `json:"common,omitzero"`   // revision in the sync state
}

// File is a file that the pull replaces. Add sets Size and SHA256.
type File struct {
	Path    string      `json:"path"` // /-separated
	Mode    fs.FileMode `json:"mode"`
	Size    int64       `json:"size"`
	SHA256  string      `json:"sha256"`
	Written string      `json:"written"` // SHA-256 of what replaces it
}

// In the directory of a place there are up to three, each with an index and the copies.
const (
	newDir     = "new"     // until all is copied
	pendingDir = "pending" // until the pull has ended
	lastDir    = "last"

	indexFile = "index.json"
	contents  = "contents"
)

// ErrNoDirectory says that there is no state directory to store anything in.
var ErrNoDirectory = errors.New("set TOOL_STATE_DIR to a directory for it")

func (d Dir) undoParent(place string) string {
	if d == "" {
		return ""
	}
	return filepath.Join(string(d), "pulls", nameOf(place))
}

// NewUndo returns an Undo to add files to. [Undo.Begin] follows the last one.
func (d Dir) NewUndo(place string, before Base) *Undo {
	parent := d.undoParent(place)
	return &Undo{Place: place, At: time.Now(), Before: before, Pending: true, parent: parent,
		dir: filepath.Join(parent, newDir)}
}

// Add copies a file.
func (u *Undo) Add(file File, content io.Reader) (err error) {
	if u.parent == "" {
		return ErrNoDirectory
	}
	if len(u.Files) == 0 {
		if err := u.create(); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(u.Contents())
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(file.Path), 0o700); err != nil {
		return err
	}
	copied, err := root.OpenFile(file.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	hash := sha256.New()
	file.Size, err = io.Copy(io.MultiWriter(copied, hash), content)
	file.SHA256 = hex.EncodeToString(hash.Sum(nil))
	u.Files = append(u.Files, file)
	return errors.Join(err, copied.Close())
}

func (u *Undo) create() error {
	if err := makeDir(u.parent); err != nil {
		return err
	}
	if err := os.RemoveAll(u.dir); err != nil { // of a program that was killed
		return err
	}
	return os.MkdirAll(u.Contents(), 0o700)
}

// Begin makes the copies the pending ones of their place, unless there are none. A power failure
// before it leaves the former ones, and one after it these.
func (u *Undo) Begin() error {
	if len(u.Files) == 0 {
		return nil
	}
	index, err := json.Marshal(u, jsontext.WithIndent("  "))
	if err == nil {
		err = os.WriteFile(filepath.Join(u.dir, indexFile), append(index, '\n'), 0o600)
	}
	if err == nil {
		err = syncAll(u.dir)
	}
	if err != nil {
		return err
	}
	return u.rename(pendingDir)
}

// Commit makes them those of the last pull.
func (u *Undo) Commit() error {
	if len(u.Files) == 0 {
		return nil
	}
	u.Pending = false
	return u.rename(lastDir)
}

func (u *Undo) rename(name string) error {
	to := filepath.Join(u.parent, name)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.Rename(u.dir, to); err != nil {
		return err
	}
	u.dir = to
	syncDir(u.parent)
	return nil
}

// Drop removes the copies: nothing was replaced, or all of it is back in its place.
func (u *Undo) Drop() error {
	if u == nil || u.parent == "" {
		return nil
	}
	return os.RemoveAll(u.dir)
}

// Contents is the directory with the copies.
func (u *Undo) Contents() string { return filepath.Join(u.dir, contents) }

// Open opens a copy.
func (u *Undo) Open(file File) (*os.File, error) { return os.OpenInRoot(u.Contents(), file.Path) }

// LatestUndo returns the pending Undo of a place, else that of the last pull; nil if there is none.
func (d Dir) LatestUndo(place string) (*Undo, error) {
	parent := d.undoParent(place)
	for _, name := range []string{pendingDir, lastDir} {
		u := &Undo{Pending: name == pendingDir, parent: parent, dir: filepath.Join(parent, name)}
		file := filepath.Join(u.dir, indexFile)
		index, err := os.ReadFile(file)
		if parent == "" || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = wire.Decode(index, u, json.RejectUnknownMembers(false))
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", file, err)
		}
		return u, nil
	}
	return nil, nil
}
