// Package kept keeps, on this machine, what a push or a pull replaced, so that a
// yes can be taken back.
//
// It knows neither the hub nor the workspace: it files values under a name and
// gives the newest one back.
package kept

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Value is a config that was replaced.
type Value struct {
	Name    string         `json:"name"`    // of the place, for a person who looks into the file
	Config  jsontext.Value `json:"config"`  // flat, as it was
	Former  wire.Edit      `json:"former"`  // who had written it
	Written string         `json:"written"` // the revision that took its place
	Pulled  *Pulled        `json:"pulled"`  // nil for a push
	At      time.Time      `json:"at"`
}

// Pulled is what else a pull replaced.
type Pulled struct {
	Origin   string  `json:"origin"`            // of the hub that was pulled from
	Project  ref.Ref `json:"project,omitzero"`  // pulled.json before; zero: there was none
	Revision string  `json:"revision,omitzero"` // pulled.json before
	Common   string  `json:"common,omitzero"`   // the last revision that both sides had before
}

// Store keeps the last values of each place.
type Store struct{ dir string }

// New returns a store in a directory, which need not exist; "" keeps nothing.
func New(dir string) *Store { return &Store{dir} }

// keepMost is how many values are kept of one place.
const keepMost = 20

// Keep files v under its name, readable by its owner alone, and drops the oldest
// ones above the number that is kept.
func (s *Store) Keep(v Value) error {
	if err := s.keep(v); err != nil {
		return fmt.Errorf("what was replaced could not be kept: %w", err)
	}
	return nil
}

func (s *Store) keep(v Value) error {
	if s.dir == "" {
		return errors.New("set TOOL_STATE_DIR to a directory for it")
	}
	if len(v.Config) == 0 {
		return errors.New("it is not known")
	}
	dir := s.place(v.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(v, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	// The name sorts by time; the rest makes it unlike that of another program at the same moment.
	f, err := os.CreateTemp(dir, v.At.UTC().Format("20060102T150405.000000000Z")+"-*.json")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
		return err
	}
	names, err := s.names(v.Name)
	for len(names) > keepMost {
		os.Remove(filepath.Join(dir, names[0]))
		names = names[1:]
	}
	return err
}

// Newest returns the value that was kept last under name, and a function that
// drops it once it is back in its place. Without one it returns nil.
func (s *Store) Newest(name string) (*Value, func() error, error) {
	if s.dir == "" {
		return nil, nil, nil
	}
	names, err := s.names(name)
	if err != nil || len(names) == 0 {
		return nil, nil, err
	}
	path := filepath.Join(s.place(name), names[len(names)-1])
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	v := &Value{}
	if err := wire.Decode(data, v, json.RejectUnknownMembers(false)); err != nil {
		return nil, nil, fmt.Errorf("%s cannot be read: %w; remove it to put back what was kept before it", path, err)
	}
	return v, func() error { return os.Remove(path) }, nil
}

// names lists the files of one place, oldest first.
func (s *Store) names(name string) ([]string, error) {
	entries, err := os.ReadDir(s.place(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

func (s *Store) place(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16]))
}
