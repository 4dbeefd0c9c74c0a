package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/ref"
)

// Position is a line and column in a file of the workspace.
type Position struct {
	File         string // relative to the workspace, with /
	Line, Column int    // from 1, in characters
}

// String returns file:line:column, or the file alone where the line is not known.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Blamed is an error at a position of a file.
type Blamed struct {
	At  Position
	Err error
}

func (e *Blamed) Error() string { return e.At.String() + ": " + e.Err.Error() }

func (e *Blamed) Unwrap() error { return e.Err }

func (p Position) invalid(format string, args ...any) failure.Failure {
	return failure.New(failure.CodeInvalidFile, "%w", &Blamed{p, fmt.Errorf(format, args...)})
}

// blame adds the position and what is at it to a failure.
func (p Position) blame(what string, err error) failure.Failure {
	f := blame(what, err)
	return f.WithReason("%w", &Blamed{p, f.Reason})
}

// blame begins the reason of a failure with what.
func blame(what string, err error) failure.Failure {
	f := failure.Of(err)
	return f.WithReason("%s: %w", what, f.Reason)
}

// Field is a text in a file. The zero Field is absent.
type Field struct {
	Text string
	At   Position
}

// Present reports whether the file has the field.
func (f Field) Present() bool { return f.At != Position{} }

// document is a file of the workspace that holds one JSON object.
type document struct {
	*jsonedit.Document
	name string
}

func (w *Workspace) readDocument(name string) (document, error) {
	text, err := w.read(name)
	if err != nil {
		return document{}, err
	}
	return parse(name, text)
}

func parse(name string, text []byte) (document, error) {
	d, err := jsonedit.Parse(text)
	var syntax *jsonedit.SyntaxError
	if errors.As(err, &syntax) {
		if line := ConflictMarker(text); line > 0 {
			return document{}, Position{name, line, 1}.
				invalid(Conflict)
		}
		return document{}, Position{name, syntax.Line, syntax.Column}.invalid("%s", syntax.Reason)
	}
	return document{d, name}, err
}

// Conflict says what is wrong with a file that has a conflict marker.
const Conflict = "git conflict markers: the file was merged with conflicts"

// ConflictMarker returns the first line that git starts a conflict with, 0 for none.
func ConflictMarker(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) {
			return n
		}
	}
	return 0
}

// position counts the lines up to an offset. Tests count its calls.
var position = (*jsonedit.Document).Position

// at returns the position of the byte at offset. It reads the text up to there, so it
// is not for every member of a long list.
func (d document) at(offset int) Position {
	line, column := position(d.Document, offset)
	return Position{d.name, line, column}
}

// field returns the text member called name. It may be absent.
func (d document) field(name string) (Field, error) {
	v, ok := d.Lookup(name)
	if !ok {
		return Field{}, nil
	}
	return d.text(name, v)
}

// object returns the object member called name, nil if it is absent.
func (d document) object(name string) (*jsonedit.Value, error) {
	v, ok := d.Lookup(name)
	if !ok {
		return nil, nil
	}
	if v.Text.Kind() != '{' {
		return nil, d.at(v.Offset).invalid("%s is %s: an object was expected", name, v.Type())
	}
	return &v, nil
}

const maxWarnings = 10

// warnings are about members that are not used: those whose name is probably a misspelling of
// a known one, and those for which insteadOf says what to do.
func (d document) warnings(known []string, insteadOf map[string]string) []*Blamed {
	var all []*Blamed
	for _, m := range d.Members {
		if len(all) == maxWarnings {
			break
		}
		var err error
		if hint := insteadOf[m.Name]; hint != "" {
			err = fmt.Errorf("%q is not used in an environment: %s", m.Name, hint)
		} else if near := cmdline.Nearest(m.Name, known); near != "" && !slices.Contains(known, m.Name) {
			err = fmt.Errorf("%q is not used: did you mean %q?", m.Name, near)
		}
		if err != nil {
			all = append(all, &Blamed{d.at(m.Offset), err})
		}
	}
	return all
}

// ref is field for the name of something on a hub, with or without its @, as in a command line.
func (d document) ref(name string) (Field, error) {
	f, err := d.field(name)
	if r, invalid := ref.ParseTyped(f.Text); invalid == nil {
		f.Text = r.String()
	}
	return f, err
}

// text returns v, which is called name in messages, as a text.
func (d document) text(name string, v jsonedit.Value) (Field, error) {
	s, ok := v.Unquote()
	if !ok {
		return Field{}, d.at(v.Offset).invalid("%s is %s: a string was expected", name, v.Type())
	}
	return Field{s, d.at(v.Offset)}, nil
}
