package workspace

import (
	"errors"
	"io/fs"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
)

// Stack is a local project's stack.json, the stack manifest.
type Stack struct {
	Name ref.Ref

	doc document
}

// Stack reads the project's stack.json. It needs a name, @account/slug; the failure
// is invalid_file.
func (p *Project) Stack() (*Stack, error) {
	doc, err := p.Workspace.readDocument(p.file(stackFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.Of(err).WithHint(`a %s holds {"name": "@account/%s", "version": "0.1.0"}`, stackFile, SlugOf(p.Name))
	}
	if err != nil {
		return nil, err
	}
	name, err := doc.field("name")
	if err != nil {
		return nil, err
	}
	if !name.Present() {
		return nil, invalid(doc.name, errors.New(`no "name"`)).
			WithHint(`a stack is named by its account and slug: "name": "@account/%s"`, SlugOf(p.Name))
	}
	parsed, err := ref.Parse(name.Text)
	if err != nil {
		return nil, name.At.invalid("name: %w", err).
			WithHint("a stack is named by its account and slug: @account/%s", SlugOf(p.Name))
	}
	return &Stack{parsed, doc}, nil
}

// Version returns the version to publish, for which stack.json must have a valid
// one. The failure is invalid_file.
func (s *Stack) Version() (string, error) {
	written, err := s.doc.field("version")
	if err != nil {
		return "", err
	}
	if !written.Present() {
		return "", invalid(s.doc.name, errors.New(`no "version"`)).WithHint(`start with "version": "0.1.0"`)
	}
	if !version.Valid(written.Text) {
		return "", written.At.invalid("%q is not a version", written.Text).WithHint("a version is %s", version.Rule)
	}
	return written.Text, nil
}
