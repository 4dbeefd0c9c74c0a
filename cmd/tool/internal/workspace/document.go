package workspace

import (
	"errors"
	"fmt"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
)

// Position is where something stands in a file of the workspace.
type Position struct {
	File         string // relative to the workspace, with /
	Line, Column int    // from 1, in characters
}

// String returns file:line:column.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

func (p Position) invalid(format string, args ...any) failure.Failure {
	return failure.New(failure.CodeInvalidFile, "%s: %w", p, fmt.Errorf(format, args...))
}

// blame adds to a failure what led to it: what stands at p.
func (p Position) blame(what string, err error) failure.Failure {
	return blame(fmt.Sprintf("%s: %s", p, what), err)
}

// blame adds to a failure what led to it.
func blame(what string, err error) failure.Failure {
	f := failure.Of(err)
	return f.WithReason("%s: %w", what, f.Reason)
}

// Field is a text as it stands in a file. The zero Field stands nowhere.
type Field struct {
	Text string
	At   Position
}

// Present reports whether the field stands in its file.
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
		return document{}, Position{name, syntax.Line, syntax.Column}.invalid("%s", syntax.Reason)
	}
	return document{d, name}, err
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

// text returns v, which is called name in messages, as a text.
func (d document) text(name string, v jsonedit.Value) (Field, error) {
	s, ok := v.Unquote()
	if !ok {
		return Field{}, d.at(v.Offset).invalid("%s is %s: a string was expected", name, v.Type())
	}
	return Field{s, d.at(v.Offset)}, nil
}
