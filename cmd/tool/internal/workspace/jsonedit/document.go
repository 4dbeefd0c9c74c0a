// Package jsonedit changes members of a JSON object that a person wrote and
// leaves every byte that need not change: order, indentation, line endings,
// byte order mark, final newline.
//
// It knows neither files nor what a member means.
package jsonedit

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

const byteOrderMark = "\ufeff"

// Document is a JSON object and its text.
type Document struct {
	text []byte
	root Value
}

// Value is a JSON value and its offset.
type Value struct {
	Text    jsontext.Value // as written, without white space around it
	Offset  int            // bytes into the text that was parsed
	Members []Member       // of an object, in the text's order

	tree *hujson.Value // nil unless it was parsed
}

// Member is a member of an object.
type Member struct {
	Name   string // decoded
	Offset int    // of the name's opening quote
	Value  Value

	tree *hujson.ObjectMember // nil unless it was parsed
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
	return &Document{text, root}, nil
}

// ParseValue reads a text that is exactly one JSON value, strictly: no comment, no
// trailing comma, no member twice, nothing but UTF-8. The error is a *SyntaxError.
func ParseValue(text []byte) (Value, error) {
	// hujson bounds no depth, takes comments, and needs 80 bytes for each element of an array,
	// of which none is edited alone.
	blank, err := outline(text)
	if err != nil {
		return Value{}, err
	}
	tree, err := hujson.Parse(blank)
	if err != nil {
		return Value{}, syntaxError(text, 0, err.Error())
	}
	return valueOf(text, &tree), nil
}

func valueOf(text []byte, tree *hujson.Value) Value {
	v := Value{Text: text[tree.StartOffset:tree.EndOffset], Offset: tree.StartOffset, tree: tree}
	object, ok := tree.Value.(*hujson.Object)
	if !ok {
		return v
	}
	v.Members = make([]Member, len(object.Members))
	for i := range object.Members {
		m := &object.Members[i]
		name := valueOf(text, &m.Name)
		v.Members[i] = Member{Offset: name.Offset, Value: valueOf(text, &m.Value), tree: m}
		v.Members[i].Name, _ = name.Unquote()
	}
	return v
}

// Object returns the object of members, written on one line.
func Object(members []Member) Value {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(m.Name))
		b.WriteByte(':')
		b.Write(m.Value.Text)
	}
	b.WriteByte('}')
	return Value{Text: b.Bytes(), Members: members}
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

// Text is what was parsed.
func (d *Document) Text() []byte { return d.text }

// Members lists the object's members in the text's order.
func (d *Document) Members() []Member { return d.root.Members }

// Lookup returns the value of the member called name.
func (d *Document) Lookup(name string) (Value, bool) { return d.root.Lookup(name) }

// Position returns the position of a byte of the text: its line, and its character
// in that line, both from 1.
func (d *Document) Position(offset int) (line, column int) { return position(d.text, offset) }

// Lookup returns the value of v's member called name.
func (v Value) Lookup(name string) (Value, bool) {
	for _, m := range v.Members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// Type says in words what kind of value v is, with its article.
func (v Value) Type() string {
	switch v.Text.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	default:
		return "null"
	}
}

// Unquote returns the text that a string means, and whether v is a string.
func (v Value) Unquote() (text string, ok bool) {
	if v.Text.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v.Text)
	return string(b), err == nil
}

// Elements yields the elements of v, which is an array that was parsed. They are
// given without their members.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		dec := jsontext.NewDecoder(bytes.NewBuffer(v.Text))
		_, err := dec.ReadToken()
		for err == nil && dec.PeekKind() != ']' {
			var element jsontext.Value
			if element, err = dec.ReadValue(); err == nil {
				end := int(dec.InputOffset())
				start := end - len(element)
				if !yield(Value{Text: v.Text[start:end], Offset: v.Offset + start}) {
					return
				}
			}
		}
	}
}

func (v Value) end() int { return v.Offset + len(v.Text) }
