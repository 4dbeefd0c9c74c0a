package workspace

import (
	"errors"
	"io/fs"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/ref"
)

// Pulled is what pulled.json says of the last pull.
type Pulled struct {
	Project  ref.Ref
	Revision string // of the config that was pulled
}

// Pulled reads the project's pulled.json. Without it nothing was pulled: nil. The
// failure is invalid_file.
func (p *Project) Pulled() (*Pulled, error) {
	doc, err := p.Workspace.readDocument(p.file(pulledFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	project, err := doc.field("project")
	if err != nil {
		return nil, err
	}
	revision, err := doc.field("revision")
	if err != nil {
		return nil, err
	}
	if !project.Present() || !revision.Present() {
		return nil, invalid(doc.name, errors.New(`"project" and "revision" were expected`))
	}
	parsed, err := ref.Parse(project.Text)
	if err != nil {
		return nil, project.At.invalid("project: %w", err)
	}
	return &Pulled{parsed, revision.Text}, nil
}

// RecordPulled writes pulled.json, or removes it where there was no pull. The
// failure is not_recorded.
func (p *Project) RecordPulled(pulled Pulled) error {
	if pulled == (Pulled{}) {
		return p.removePulled()
	}
	text := jsonedit.Format([]jsonedit.Member{
		{Name: "project", Value: jsonedit.String(pulled.Project.String())},
		{Name: "revision", Value: jsonedit.String(pulled.Revision)},
	})
	_, err := p.Workspace.update(p.file(pulledFile), func([]byte) ([]byte, error) { return text, nil })
	if err != nil {
		return notRecorded(err)
	}
	return nil
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
