package workspace

import (
	"errors"
	"io/fs"
	"slices"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
)

// Stack is a local project's stack.json, the stack manifest.
type Stack struct {
	name    ref.Ref // zero: absent
	project *Project
	doc     document
}

// Stack reads the project's stack.json. A name must be @account/slug, but may be
// absent until the first publish. The failure is invalid_file.
func (p *Project) Stack() (*Stack, error) {
	doc, err := p.Workspace.readDocument(p.file(stackFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.Of(err).
			WithHint(`a %s holds {"name": "@account/%s", "version": "0.1.0"}`, stackFile, SlugOf(p.Name))
	}
	if err != nil {
		return nil, err
	}
	name, err := doc.field("name")
	if err != nil {
		return nil, err
	}
	if !name.Present() {
		return &Stack{project: p, doc: doc}, nil
	}
	parsed, err := ref.Parse(name.Text)
	if err != nil {
		return nil, name.At.invalid("name: %w", err).
			WithHint("a stack is named by its account and slug: @account/%s", SlugOf(p.Name))
	}
	return &Stack{name: parsed, project: p, doc: doc}, nil
}

// Named reports whether stack.json has a name.
func (s *Stack) Named() bool { return !s.name.IsZero() }

// Name returns the stack's name. Without one the failure is invalid_file, and says
// that publishing writes it.
func (s *Stack) Name() (ref.Ref, error) {
	if !s.Named() {
		return ref.Ref{}, invalid(s.doc.name, errors.New(`no "name"`)).
			WithHint(`the first publish adds "name": "@account/%s", with the account that is logged in`,
				SlugOf(s.project.Name)).
			Try(cmdline.Tool("publish").With(s.project.Name))
	}
	return s.name, nil
}

// SetName adds the name to stack.json, unless one is there by then. The failure is not_recorded.
func (s *Stack) SetName(name ref.Ref) error {
	err := s.edit(func(doc document) ([]byte, error) {
		if _, ok := doc.Lookup("name"); ok {
			return doc.Source, nil
		}
		return setField(doc, "name", name.String()), nil
	})
	if err != nil {
		return notRecorded(err).WithHint("add this line to %s by hand: %q: %q", s.doc.name, "name", name)
	}
	return nil
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

// SetVersion replaces the version in stack.json, if that is still former. The failure is
// not_recorded.
func (s *Stack) SetVersion(former, version string) error {
	err := s.edit(func(doc document) ([]byte, error) {
		written, err := doc.field("version")
		if err == nil && written.Text != former {
			err = invalid(doc.name, errors.New("its version was edited meanwhile"))
		}
		if err != nil {
			return nil, err
		}
		return setField(doc, "version", version), nil
	})
	if err != nil {
		return notRecorded(err).WithHint("change the line in %s by hand, to: %q: %q", s.doc.name, "version", version)
	}
	return nil
}

func (s *Stack) edit(edit func(latest document) ([]byte, error)) error {
	_, err := s.project.Workspace.update(s.doc.name, true, func(text []byte) ([]byte, error) {
		latest, err := parse(s.doc.name, text)
		if err != nil {
			return nil, err
		}
		return edit(latest)
	})
	return err
}

// Generated returns the paths of the generated files that manifest.json records,
// relative to the workspace, cleaned and sorted. Without the file there are none.
// The failure is invalid_file or outside_workspace.
func (p *Project) Generated() ([]string, error) {
	doc, err := p.Workspace.readDocument(p.file(manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, ok := doc.Lookup("files")
	if !ok {
		return nil, invalid(doc.name, errors.New(`no "files"`))
	}
	names := v.Members
	switch v.Text.Kind() {
	case '{':
	case '[':
		for element := range v.Elements() {
			name, ok := element.Unquote()
			if !ok {
				return nil, doc.at(element.Offset).
					invalid("a file's path is %s: a string was expected", element.Type())
			}
			names = append(names, jsonedit.Member{Name: name, Offset: element.Offset})
		}
	default:
		return nil, doc.at(v.Offset).invalid("files is %s: an object or array of paths was expected", v.Type())
	}
	var paths []string
	for _, m := range names {
		clean, err := localPath(m.Name)
		if err != nil {
			return nil, doc.at(m.Offset).blame("generated file", err)
		}
		if clean == "." {
			return nil, doc.at(m.Offset).invalid("generated file: %q names no file", m.Name)
		}
		paths = append(paths, clean)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}
