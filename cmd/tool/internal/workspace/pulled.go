package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/ref"
)

// Pulled is the base: the config of a hub project that client.json was last
// synchronized with, and the base files.
type Pulled struct {
	Project  ref.Ref
	Revision string
	Tree     string // of the base files, "" where it is not known
}

// Bases is what pulled.json records: a base for each hub.
type Bases struct {
	env    string // the project's environment
	stored map[string]storedBase
}

// storedBase is a [Pulled] in pulled.json, where its name is that of pulledKey.
type storedBase struct {
	Project  string `json:"project"`
	Revision string `json:"revision"`
	Tree     string `json:"tree,omitzero"`
}

// Of returns the base of the project r of the hub at origin, nil for none.
func (b Bases) Of(origin string, r ref.Ref) *Pulled {
	if base := b.At(origin); base != nil && base.Project == r {
		return base
	}
	return nil
}

// At returns the base of the hub at origin, of whatever project, nil for none.
func (b Bases) At(origin string) *Pulled {
	for _, key := range []string{pulledKey(origin, b.env), origin} {
		if base, ok := b.stored[key]; ok {
			project, _ := ref.Parse(base.Project) // it was checked
			return &Pulled{Project: project, Revision: base.Revision, Tree: base.Tree}
		}
	}
	return nil
}

// pulledKey returns the name of the base for a hub in pulled.json. Each environment has its
// own, because several can be on one hub.
func pulledKey(origin, env string) string {
	if env == "" {
		return origin
	}
	return origin + "#" + env
}

// Bases reads the project's pulled.json, which may be absent. The failure is invalid_file.
func (p *Project) Bases() (Bases, error) {
	text, err := p.Workspace.read(p.file(pulledFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Bases{}, nil
	}
	if err != nil {
		return Bases{}, err
	}
	return p.parseBases(text)
}

func (p *Project) parseBases(text []byte) (Bases, error) {
	b := Bases{env: p.Env}
	name := p.file(pulledFile)
	if _, err := parse(name, text); err != nil {
		return b, err
	}
	if err := json.Unmarshal(text, &b.stored); err != nil {
		return b, invalid(name, errors.New("it is not as tool writes it"))
	}
	for origin, base := range b.stored {
		_, err := ref.Parse(base.Project)
		if err == nil && base.Revision == "" {
			err = errors.New(`no "revision"`)
		}
		if err != nil {
			return b, invalid(name, fmt.Errorf("%s: %w", origin, err))
		}
	}
	return b, nil
}

// RecordPulled records in pulled.json the base for the hub at origin, or none for the zero
// Pulled. Of the same project, an empty revision or tree leaves the recorded one. The bases
// of other hubs stay, unless the file is malformed. Without any base, the file is deleted.
// The failure is not_recorded.
func (p *Project) RecordPulled(origin string, pulled Pulled) error {
	// A base that is lost in a power failure costs a question.
	_, err := p.Workspace.update(p.file(pulledFile), false, func(text []byte) ([]byte, error) {
		bases, err := p.parseBases(text)
		if err != nil || bases.stored == nil {
			bases.stored = map[string]storedBase{}
		}
		base := storedBase{
			Project:  pulled.Project.String(),
			Revision: pulled.Revision,
			Tree:     pulled.Tree,
		}
		if former := bases.Of(origin, pulled.Project); former != nil {
			base.Revision, base.Tree = cmp.Or(base.Revision, former.Revision), cmp.Or(base.Tree, former.Tree)
		}
		switch {
		case pulled == (Pulled{}):
			delete(bases.stored, pulledKey(origin, p.Env))
		case base.Revision == "": // base files alone are no base
			return text, nil
		default:
			bases.stored[pulledKey(origin, p.Env)] = base
		}
		if len(bases.stored) == 0 {
			return nil, nil
		}
		text, err = json.Marshal(bases.stored, json.Deterministic(true), jsontext.WithIndent("  "))
		return append(text, '\n'), err
	})
	if err != nil {
		return notRecorded(err)
	}
	return nil
}
