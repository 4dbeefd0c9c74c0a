package workspace

import (
	"bytes"
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
	stored storedBases
	theirs storedBases // of the other side, in a file that git merged with conflicts; nil: there are none
}

type storedBases = map[string]storedBase

// storedBase is a [Pulled] in pulled.json, where its name is that of pulledKey.
type storedBase struct {
	Project  string `json:"project"`
	Revision string `json:"revision"`
	Tree     string `json:"tree,omitzero"`
}

// Of returns the base of the project r of the hub at origin, nil for none. After a merge with conflicts, fields
// that differ between the sides are empty.
func (b Bases) Of(origin string, r ref.Ref) *Pulled {
	sides := b.Sides(origin, r)
	if len(sides) == 0 {
		return nil
	}
	base := sides[0]
	for _, other := range sides[1:] {
		if other.Revision != base.Revision {
			base.Revision = ""
		}
		if other.Tree != base.Tree {
			base.Tree = ""
		}
	}
	return &base
}

// Sides returns the bases of the project r of the hub at origin: two if git merged pulled.json with conflicts
// and both sides have one.
func (b Bases) Sides(origin string, r ref.Ref) (sides []Pulled) {
	all := []storedBases{b.stored}
	if b.Merged() {
		all = append(all, b.theirs)
	}
	for _, stored := range all {
		if base := b.at(stored, origin); base != nil && base.Project == r {
			sides = append(sides, *base)
		}
	}
	return sides
}

// Merged reports whether the bases are those of both sides of a merge of git with conflicts.
func (b Bases) Merged() bool { return b.theirs != nil }

// At returns the base of the hub at origin, whichever project it is of: nil for none, and after a merge
// with conflicts.
func (b Bases) At(origin string) *Pulled {
	if b.Merged() {
		return nil
	}
	return b.at(b.stored, origin)
}

func (b Bases) at(stored storedBases, origin string) *Pulled {
	for _, key := range []string{pulledKey(origin, b.env), origin} {
		if base, ok := stored[key]; ok {
			project, _ := ref.Parse(base.Project) // it was checked
			return &Pulled{Project: project, Revision: base.Revision, Tree: base.Tree}
		}
	}
	return nil
}

// pulledKey names a base in pulled.json: several environments can be on one hub.
func pulledKey(origin, env string) string {
	if env == "" {
		return origin
	}
	return origin + "#" + env
}

// Bases reads the project's pulled.json, which may be absent. The failure is invalid_file; after a
// merge of git with conflicts, it comes with the bases of both sides.
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
	var err error
	if b.stored, err = p.parseStored(text); err == nil || ConflictMarker(text) == 0 {
		return b, err
	}
	ours, theirs := conflictSides(text)
	stored, errOurs := p.parseStored(ours)
	other, errTheirs := p.parseStored(theirs)
	if errOurs == nil && errTheirs == nil {
		b.stored, b.theirs = stored, other
	}
	return b, err
}

func (p *Project) parseStored(text []byte) (stored storedBases, err error) {
	name := p.file(pulledFile)
	if _, err := parse(name, text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, invalid(name, errors.New("it is not as tool writes it"))
	}
	for origin, base := range stored {
		_, err := ref.Parse(base.Project)
		if err == nil && base.Revision == "" {
			err = errors.New(`no "revision"`)
		}
		if err != nil {
			return nil, invalid(name, fmt.Errorf("%s: %w", origin, err))
		}
	}
	return stored, nil
}

// conflictSides returns the two texts that git merged into one with conflict markers. The base that
// the styles diff3 and zdiff3 add is left out.
func conflictSides(text []byte) (ours, theirs []byte) {
	inOurs, inTheirs := true, true
	for line := range bytes.Lines(text) {
		marker, _, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(" "))
		switch string(marker) {
		case "<<<<<<<":
			inOurs, inTheirs = true, false
		case "|||||||":
			inOurs, inTheirs = false, false
		case "=======":
			inOurs, inTheirs = false, true
		case ">>>>>>>":
			inOurs, inTheirs = true, true
		default:
			if inOurs {
				ours = append(ours, line...)
			}
			if inTheirs {
				theirs = append(theirs, line...)
			}
		}
	}
	return ours, theirs
}

// RecordPulled records in pulled.json the base for the hub at origin, or none for the zero
// Pulled. Of the same project, an empty revision or tree leaves the recorded one. The bases
// of other hubs stay, unless the file is malformed; after a merge with conflicts, those that do not
// differ between its sides. Without any base, the file is deleted.
// The failure is not_recorded.
func (p *Project) RecordPulled(origin string, pulled Pulled) error {
	// It is not synced: a base that a power failure loses only costs a question.
	_, err := p.Workspace.update(p.file(pulledFile), false, func(text []byte) ([]byte, error) {
		bases, _ := p.parseBases(text)
		if bases.stored == nil {
			bases.stored = storedBases{}
		}
		base := storedBase{
			Project:  pulled.Project.String(),
			Revision: pulled.Revision,
			Tree:     pulled.Tree,
		}
		if former := bases.Of(origin, pulled.Project); former != nil {
			base.Revision, base.Tree = cmp.Or(base.Revision, former.Revision), cmp.Or(base.Tree, former.Tree)
		}
		for key, other := range bases.theirs {
			if ours, ok := bases.stored[key]; ok && ours != other {
				delete(bases.stored, key)
			} else {
				bases.stored[key] = other
			}
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
		text, err := json.Marshal(bases.stored, json.Deterministic(true), jsontext.WithIndent("  "))
		return append(text, '\n'), err
	})
	if err != nil {
		return notRecorded(err)
	}
	return nil
}
