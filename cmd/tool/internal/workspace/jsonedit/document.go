// Package jsonedit changes members of a JSON object that a person wrote and
// leaves every byte that need not change: order, indentation, line endings,
// byte order mark, final newline.
//
// It knows neither files nor what a member means.
package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	byteOrderMark = "\ufeff"
	whitespace    = " \t\r\n"
)

// Document is a JSON object with the text that it was parsed from.
type Document struct {
	Value
	Source []byte
}

// Value is a JSON value and its offset.
type Value struct {
	Text    jsontext.Value // as written, without white space around it
	Offset  int            // bytes into the text that was parsed
	Members []Member       // of an object, in the text's order
}

// Member is a member of an object.
type Member struct {
	Name   string // decoded
	Offset int    // of the name's opening quote
	Value  Value

	nameEnd int // offset
}

// Parse reads a text that is exactly one JSON object, after a byte order mark or
// not. The error is a *SyntaxError. The document keeps text, which must not change.
func Parse(text []byte) (*Document, error) {
	root, err := ParseValue(text)
	if err != nil {
		return nil, err
	}
	if root.Text.Kind() != '{' {
		return nil, syntaxError(text, root.Offset, "a JSON object was expected, not "+root.Type())
	}
	return &Document{root, text}, nil
}

// ParseValue reads a text that is exactly one JSON value, strictly: no comment, no
// trailing comma, no member twice, nothing but UTF-8, at most 10,000 levels. The error is a
// *SyntaxError.
func ParseValue(text []byte) (Value, error) {
	r := reader{text: text, skipped: len(text) - len(bytes.TrimPrefix(text, []byte(byteOrderMark)))}
	r.Decoder = jsontext.NewDecoder(bytes.NewBuffer(text[r.skipped:]))
	root, err := r.value()
	if err != nil {
		return Value{}, r.explain(err)
	}
	rest := bytes.TrimLeft(text[root.end():], whitespace)
	switch {
	case len(rest) == 0:
		return root, nil
	case startsComment(rest):
		return Value{}, syntaxError(text, len(text)-len(rest), "JSON has no comments")
	}
	return Value{}, syntaxError(text, len(text)-len(rest), "the end of the file was expected")
}

type reader struct {
	*jsontext.Decoder
	text    []byte
	skipped int // length of the byte order mark
}

func (r *reader) offset() int { return r.skipped + int(r.InputOffset()) }

// whole reads a value without its members.
func (r *reader) whole() (Value, error) {
	raw, err := r.ReadValue()
	start := r.offset() - len(raw)
	return Value{Text: r.text[start:r.offset()], Offset: start}, err
}

func (r *reader) value() (v Value, err error) {
	if r.PeekKind() != '{' {
		return r.whole()
	}
	if _, err = r.ReadToken(); err != nil {
		return v, err
	}
	v.Offset = r.offset() - 1
	for r.PeekKind() != '}' {
		name, err := r.whole()
		if err != nil {
			return v, err
		}
		m := Member{Offset: name.Offset, nameEnd: r.offset()}
		m.Name, _ = name.Unquote()
		if m.Value, err = r.value(); err != nil {
			return v, err
		}
		v.Members = append(v.Members, m)
	}
	_, err = r.ReadToken()
	v.Text = r.text[v.Offset:r.offset()]
	return v, err
}

// SyntaxError says where a text is not the JSON that was expected, and why.
type SyntaxError struct {
	Line, Column int // of the first character at fault, both from 1
	Reason       string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Reason) }

func syntaxError(text []byte, offset int, reason string) *SyntaxError {
	line, column := position(text, offset)
	return &SyntaxError{line, column, reason}
}

// explain turns an error of the decoder into one that says what to correct.
func (r *reader) explain(err error) *SyntaxError {
	text := r.text
	var e *jsontext.SyntacticError
	if !errors.As(err, &e) { // the decoder found nothing but white space
		return syntaxError(text, 0, "the file is empty: a JSON object was expected")
	}
	offset := min(r.skipped+int(e.ByteOffset), len(text))
	before := bytes.TrimRight(text[:offset], whitespace)
	after := bytes.TrimLeft(bytes.TrimPrefix(text[offset:], []byte(",")), whitespace)
	closes := bytes.HasPrefix(after, []byte("}")) || bytes.HasPrefix(after, []byte("]"))
	afterComma := bytes.HasSuffix(before, []byte(","))
	kind, length := r.StackIndex(r.StackDepth())
	betweenMembers := kind == '{' && length%2 == 0
	reason := e.Err.Error()
	switch {
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		reason = fmt.Sprintf("%q is set twice", e.JSONPointer.LastToken())
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		reason = "the file ends in the middle of a value"
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")): // as PowerShell writes
		reason = "the file is UTF-16: save it as UTF-8"
	case startsComment(text[offset:]):
		reason = "JSON has no comments"
	case closes && afterComma:
		offset, reason = len(before)-1, "a value was expected after the comma"
	case closes && text[offset] == ',':
		reason = "a value was expected after the comma"
	case bytes.HasSuffix(before, []byte("{")), afterComma && betweenMembers:
		reason = "a member's name in double quotes was expected"
	}
	return syntaxError(text, offset, reason)
}

func startsComment(text []byte) bool {
	return bytes.HasPrefix(text, []byte("//")) || bytes.HasPrefix(text, []byte("/*")) ||
		bytes.HasPrefix(text, []byte("#"))
}

func position(text []byte, offset int) (line, column int) {
	before := bytes.TrimPrefix(text[:offset], []byte(byteOrderMark))
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[lineStart(before):])
}

// Object returns the object of members, written on one line.
func Object(members []Member) Value {
	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, quote(m.Name)...), ':'), m.Value.Text...)
	}
	return Value{Text: append(text, '}'), Members: members}
}

// Format returns the text of a new file that holds an object of members.
func Format(members []Member) []byte {
	d, _ := Parse([]byte("{}\n"))
	return d.Edit(members)
}

// String returns the JSON string that means s.
func String(s string) Value { return Value{Text: quote(s)} }

func quote(s string) []byte {
	b, _ := jsontext.AppendQuote(nil, s) // the error only reports that invalid UTF-8 became U+FFFD
	return b
}

// Position returns the position of a byte of the text: its line, and its character
// in that line, both from 1.
func (d *Document) Position(offset int) (line, column int) { return position(d.Source, offset) }

// Lookup returns the value of v's member called name.
func (v Value) Lookup(name string) (Value, bool) {
	for _, m := range v.Members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

var types = map[jsontext.Kind]string{
	'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "a boolean", 'f': "a boolean", 'n': "null",
}

// Type says in words what kind of value v is, with its article.
func (v Value) Type() string { return types[v.Text.Kind()] }

// Unquote returns the text that a string means, and whether v is a string.
func (v Value) Unquote() (text string, ok bool) {
	if v.Text.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v.Text)
	return string(b), err == nil
}

// Elements yields the elements of v, which is an array that was parsed. They are given without
// their members: there can be millions.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		r := reader{text: v.Text, Decoder: jsontext.NewDecoder(bytes.NewBuffer(v.Text))}
		_, err := r.ReadToken()
		for err == nil && r.PeekKind() != ']' {
			var element Value
			element, err = r.whole()
			element.Offset += v.Offset
			if err == nil && !yield(element) {
				return
			}
		}
	}
}

func (v Value) end() int { return v.Offset + len(v.Text) }
