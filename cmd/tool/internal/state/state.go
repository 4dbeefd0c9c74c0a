// Package state is what tool remembers on this machine outside the workspace: copies of what
// the last pull replaced, answers to questions, reminders, and the sync state, a cache of what
// was last pushed or pulled.
//
// It knows neither the hub nor the workspace: what it saves has a name.
package state

import (
	"bytes"
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
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// Dir is the state directory, which is not a cache; "" saves nothing.
type Dir string

// ErrNoDirectory says that there is no state directory to store anything in.
var ErrNoDirectory = errors.New("set TOOL_STATE_DIR to a directory for it")

// Consented reports whether a question about name was answered with yes before.
func (d Dir) Consented(name string) bool {
	_, err := os.Lstat(d.consent(name))
	return d != "" && err == nil
}

// Consent remembers a yes.
func (d Dir) Consent(name string) error {
	if d == "" {
		return ErrNoDirectory
	}
	return atomicfile.WriteFile(d.consent(name), []byte(name+"\n")) // for a person who looks into the file
}

func (d Dir) consent(name string) string { return filepath.Join(string(d), "consents", NameOf(name)) }

// NameOf returns a name of a file for a name of any form.
func NameOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// Due reports whether a reminder with this name is due, and remembers that it was: it is due
// again after the time every. Where nothing can be stored, it is always due.
func Due(dir, name string, every time.Duration) bool {
	path := filepath.Join(dir, "reminders", name)
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()).Abs() < every {
		return false
	}
	if dir != "" {
		_ = atomicfile.WriteCache(path, nil) // at worst the reminder comes again
	}
	return true
}

// Sync is the sync state: which config was last pushed to or pulled from each project
// of each hub, to find out later which side changed, and which base files, so that a
// push need only send what differs. It is a cache: it can be lost, and its failures
// are not reported.
type Sync string // its directory, which need not exist; "" saves nothing

func (s Sync) path(origin string, r ref.Ref) string {
	return filepath.Join(string(s), NameOf(origin+" "+r.String()))
}

// Save remembers revision as the last one pushed to or pulled from a project; "": none.
func (s Sync) Save(origin string, r ref.Ref, revision string) {
	s.save(s.path(origin, r), []byte(revision))
}

// Last returns the revision that was saved for a project, "" when none is known.
func (s Sync) Last(origin string, r ref.Ref) string {
	data, err := os.ReadFile(s.path(origin, r))
	if err != nil || !tree.ValidDigest(string(data)) {
		return ""
	}
	return string(data)
}

// SaveFiles remembers files as the last set pushed to or pulled from a project, after their digest.
func (s Sync) SaveFiles(origin string, r ref.Ref, files tree.Snapshot) {
	s.save(s.filesPath(origin, r), slices.Concat([]byte(files.Digest+"\n"), files.Tree.Canonical()))
}

// Rename gives what was saved for a project to the same one under its new name.
func (s Sync) Rename(origin string, from, to ref.Ref) {
	_ = os.Rename(s.path(origin, from), s.path(origin, to))
	_ = os.Rename(s.filesPath(origin, from), s.filesPath(origin, to))
}

// LastFiles returns the set that was saved for a project, the zero value if none is known. One that is the same as
// present, as mostly, is not read.
func (s Sync) LastFiles(origin string, r ref.Ref, present tree.Snapshot) tree.Snapshot {
	saved, _ := os.ReadFile(s.filesPath(origin, r))
	digest, canonical, _ := bytes.Cut(saved, []byte("\n"))
	if string(digest) == present.Digest {
		return present
	}
	files, err := tree.Read(canonical)
	if err != nil || tree.DigestOf(canonical) != string(digest) {
		return tree.Snapshot{}
	}
	return tree.Snapshot{Tree: files, Digest: string(digest)}
}

func (s Sync) filesPath(origin string, r ref.Ref) string { return s.path(origin, r) + ".files" }

func (s Sync) save(path string, data []byte) {
	if s != "" {
		_ = atomicfile.WriteCache(path, data)
	}
}

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
