package state

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Value is a config that was replaced.
type Value struct {
	Name    string         `json:"name"`    // what was replaced, such as a project of a hub
	Config  jsontext.Value `json:"config"`  // flat, as it was
	Former  wire.Edit      `json:"former"`  // who had written it
	Written string         `json:"written"` // the revision that replaced it
	Pulled  *Pulled        `json:"pulled"`  // nil for a push

	// Files is set for a push of base files, which saves no config.
	Files *PushedFiles `json:"files,omitzero"`

	At time.Time `json:"at"` // for a person; the clock may be wrong
}

// PushedFiles is a set of base files that a push sent. The hub keeps the one that it
// replaced.
type PushedFiles struct {
	Tree     string `json:"tree"`
	Config   string `json:"config,omitzero"`   // ID of the last config saved by a push; "": none
	Together bool   `json:"together,omitzero"` // the same push replaced that config
}

// Pulled is what else a pull replaced.
type Pulled struct {
	Origin   string  `json:"origin"`            // of the hub that was pulled from
	Project  ref.Ref `json:"project,omitzero"`  // pulled.json before; zero: there was none
	Revision string  `json:"revision,omitzero"` // pulled.json before
	Common   string  `json:"common,omitzero"`   // the last revision that both sides had before
}

// Entry is a value in the history.
type Entry struct {
	Value
	// Pending: whether the write that replaces the value took place is not known.
	Pending bool
	path    string
}

// History is the undo history: the last values of each name that a push or a pull
// replaced, as files that are numbered in the order in which they were saved, because
// a clock may be wrong.
type History struct{ dir string }

// PushName names the config of a project in the undo history of pushes.
func PushName(origin string, r ref.Ref) string { return "push " + origin + " " + r.String() }

// NewHistory returns the undo history in a directory, which need not exist; "" saves nothing.
func NewHistory(dir string) *History { return &History{dir} }

const (
	maxKept = 20 // values of one name

	// A file is numberPrefix, a number, "-", something random, and one of the two
	// suffixes. Files of earlier versions start with the digits of a time, and so come
	// before all that are numbered.
	numberPrefix  = "s"
	savedSuffix   = ".json"
	pendingSuffix = ".pending.json"
)

// Save saves a value that was replaced under its name, readable by its owner alone, and
// removes the oldest ones above the number that is kept.
func (h *History) Save(v Value) error {
	_, err := h.save(v, savedSuffix)
	return err
}

// Begin saves a value that is about to be replaced, so that it is not lost if the
// program ends before it knows whether it was. [Entry.Confirm] or [Entry.Drop] follows.
func (h *History) Begin(v Value) (*Entry, error) { return h.save(v, pendingSuffix) }

func (h *History) save(v Value, suffix string) (*Entry, error) {
	path, err := h.write(v, suffix)
	if err != nil {
		return nil, fmt.Errorf("what was replaced could not be kept: %w", err)
	}
	return &Entry{v, suffix == pendingSuffix, path}, nil
}

func (h *History) write(v Value, suffix string) (path string, err error) {
	if h.dir == "" {
		return "", errors.New("set TOOL_STATE_DIR to a directory for it")
	}
	if len(v.Config) == 0 && v.Files == nil {
		return "", errors.New("it is not known")
	}
	dir := h.pathOf(v.Name)
	if err := makeDir(dir); err != nil {
		return "", err
	}
	data, err := json.Marshal(v, jsontext.WithIndent("  "))
	if err != nil {
		return "", err
	}
	names, err := h.names(v.Name)
	if err != nil {
		return "", err
	}
	// The random part tells two programs apart that save at the same moment.
	path = filepath.Join(dir, fmt.Sprintf("%s%016d-%s%s", numberPrefix, next(names), rand.Text(), suffix))
	if err := WriteFile(path, append(data, '\n'), nil); err != nil {
		return "", err
	}
	for len(names) >= maxKept {
		os.Remove(filepath.Join(dir, names[0]))
		names = names[1:]
	}
	return path, nil
}

// next returns the number after those of names, which are sorted.
func next(names []string) (n uint64) {
	if len(names) > 0 {
		number, _, _ := strings.Cut(strings.TrimPrefix(names[len(names)-1], numberPrefix), "-")
		n, _ = strconv.ParseUint(number, 10, 64) // 0 for a time
	}
	return n + 1
}

// ID names the entry among those of its name; "" for none.
func (e *Entry) ID() string {
	if e == nil {
		return ""
	}
	id, _, _ := strings.Cut(filepath.Base(e.path), ".")
	return id
}

// Confirm says that the value was replaced, and reports whether it is saved still: another
// program may have dropped it. If the rest cannot be stored, the entry stays pending,
// which undo copes with.
func (e *Entry) Confirm() (saved bool) {
	path, ok := strings.CutSuffix(e.path, pendingSuffix)
	if !ok {
		return true
	}
	err := os.Rename(e.path, path+savedSuffix)
	if err == nil {
		e.path, e.Pending = path+savedSuffix, false
	}
	return !errors.Is(err, os.ErrNotExist)
}

// Drop removes the entry: the value was not replaced, or is back in its place.
func (e *Entry) Drop() error { return os.Remove(e.path) }

// Latest returns the value that was saved last under name, without those that skip
// leaves out; nil skips none. It returns nil when there is none.
func (h *History) Latest(name string, skip func(*Entry) bool) (*Entry, error) {
	if h.dir == "" {
		return nil, nil
	}
	names, err := h.names(name)
	if err != nil {
		return nil, err
	}
	for _, file := range slices.Backward(names) {
		e, err := read(filepath.Join(h.pathOf(name), file))
		if err != nil || skip == nil || !skip(e) {
			return e, err
		}
	}
	return nil, nil
}

func read(path string) (*Entry, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	e := &Entry{Pending: strings.HasSuffix(path, pendingSuffix), path: path}
	if err := wire.Decode(data, &e.Value, json.RejectUnknownMembers(false)); err != nil {
		return nil, fmt.Errorf("%s is malformed: %w; remove it to put back what was saved before it", path, err)
	}
	return e, nil
}

// names lists the files of one name, oldest first.
func (h *History) names(name string) ([]string, error) {
	entries, err := os.ReadDir(h.pathOf(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), savedSuffix) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

func (h *History) pathOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(h.dir, hex.EncodeToString(sum[:16]))
}
