package workspace

import (
	"cmp"
	"errors"
	"io/fs"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
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
	env      string            // the project's environment
	byOrigin map[string]Pulled // the key of an environment's is that of pulledKey
	// Earlier versions recorded one base, and not of which hub.
	former *Pulled
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
		if base, ok := b.byOrigin[key]; ok {
			return &base
		}
	}
	return b.former
}

// pulledKey returns the name of the base for a hub in pulled.json. Each environment has its
// own, because several can be on one hub.
func pulledKey(origin, env string) string {
	if env == "" {
		return origin
	}
	return origin + "#" + env
}

// The members of a base in pulled.json.
const (
	pulledProject  = "project"
	pulledRevision = "revision"
	pulledTree     = "tree"
)

// Bases reads the project's pulled.json, which may be absent. The failure is invalid_file.
func (p *Project) Bases() (Bases, error) {
	doc, err := p.Workspace.readDocument(p.file(pulledFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Bases{}, nil
	}
	if err != nil {
		return Bases{}, err
	}
	if hasFormerBase(doc) {
		former, err := doc.pulled(doc.Members(), 0)
		return Bases{former: &former}, err
	}
	b := Bases{env: p.Env, byOrigin: map[string]Pulled{}}
	for _, m := range doc.Members() {
		if m.Value.Text.Kind() != '{' {
			return Bases{}, doc.at(m.Value.Offset).invalid("%s is %s: an object was expected", m.Name, m.Value.Type())
		}
		if b.byOrigin[m.Name], err = doc.pulled(m.Value.Members, m.Value.Offset); err != nil {
			return Bases{}, err
		}
	}
	return b, nil
}

// hasFormerBase reports whether pulled.json has the form of earlier versions.
func hasFormerBase(doc document) bool {
	v, ok := doc.Lookup(pulledProject)
	return ok && v.Text.Kind() == '"'
}

// pulled reads the members of a base, which is at an offset.
func (d document) pulled(members []jsonedit.Member, offset int) (Pulled, error) {
	texts := map[string]Field{}
	for _, m := range members {
		if m.Name != pulledProject && m.Name != pulledRevision && m.Name != pulledTree {
			continue
		}
		text, err := d.text(m.Name, m.Value)
		if err != nil {
			return Pulled{}, err
		}
		texts[m.Name] = text
	}
	project, revision := texts[pulledProject], texts[pulledRevision]
	if !project.Present() || !revision.Present() {
		return Pulled{}, d.at(offset).invalid(`"project" and "revision" were expected`)
	}
	parsed, err := ref.Parse(project.Text)
	if err != nil {
		return Pulled{}, project.At.invalid("project: %w", err)
	}
	return Pulled{parsed, revision.Text, texts[pulledTree].Text}, nil
}

func (b Pulled) object() jsonedit.Value {
	members := []jsonedit.Member{
		{Name: pulledProject, Value: jsonedit.String(b.Project.String())},
		{Name: pulledRevision, Value: jsonedit.String(b.Revision)},
	}
	if b.Tree != "" {
		members = append(members, jsonedit.Member{Name: pulledTree, Value: jsonedit.String(b.Tree)})
	}
	return jsonedit.Object(members)
}

// RecordPulled records in pulled.json the base for the hub at origin, or none for the zero
// Pulled. Of the same project, an empty revision or tree leaves the recorded one. The bases
// of other hubs stay, unless the file is malformed. The failure is not_recorded.
func (p *Project) RecordPulled(origin string, pulled Pulled) error {
	if pulled == (Pulled{}) {
		return p.forgetPulled(origin)
	}
	if bases, err := p.Bases(); err == nil {
		if former := bases.Of(origin, pulled.Project); former != nil {
			pulled.Revision, pulled.Tree = cmp.Or(pulled.Revision, former.Revision), cmp.Or(pulled.Tree, former.Tree)
		}
	}
	if pulled.Revision == "" { // base files alone are no base
		return nil
	}
	_, err := p.Workspace.update(p.file(pulledFile), func(text []byte) ([]byte, error) {
		return p.editPulled(text, func(members []jsonedit.Member) []jsonedit.Member {
			return with(members, pulledKey(origin, p.Env), pulled.object())
		}), nil
	})
	if err != nil {
		return notRecorded(err)
	}
	return nil
}

// forgetPulled removes the base for the hub at origin, and the file with the last base.
func (p *Project) forgetPulled(origin string) error {
	empty := false
	_, err := p.Workspace.update(p.file(pulledFile), func(text []byte) ([]byte, error) {
		edited := p.editPulled(text, func(members []jsonedit.Member) []jsonedit.Member {
			members = without(members, pulledKey(origin, p.Env))
			empty = len(members) == 0
			return members
		})
		if text == nil || empty {
			return text, errNoBase
		}
		return edited, nil
	})
	switch {
	case errors.Is(err, errNoBase):
		return p.removePulled()
	case err != nil:
		return notRecorded(err)
	}
	return nil
}

var errNoBase = errors.New("no base is left")

// editPulled edits the bases by origin of a pulled.json. A text of another form has none.
func (p *Project) editPulled(text []byte, edit func([]jsonedit.Member) []jsonedit.Member) []byte {
	doc, err := parse(p.file(pulledFile), text)
	if err != nil || hasFormerBase(doc) {
		return jsonedit.Format(edit(nil))
	}
	return doc.Edit(edit(doc.Members()))
}

func (p *Project) removePulled() error {
	file, err := p.Workspace.resolve(p.file(pulledFile))
	if err == nil {
		err = p.Workspace.root.Remove(file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return notRecorded(unwritable(p.file(pulledFile), failure.Cause(err)))
	}
	return nil
}
