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
}

// Member is a member of an object.
type Member struct {
	Name   string // decoded
	Offset int    // of the name's opening quote
	Value  Value

	nameEnd int
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
	p := parser{text: text}
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		p.base = len(byteOrderMark)
	}
	p.dec = jsontext.NewDecoder(bytes.NewBuffer(text[p.base:]))
	v, err := p.value()
	if err != nil {
		return Value{}, p.explain(err)
	}
	if err := p.end(); err != nil {
		return Value{}, err
	}
	return v, nil
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

// String returns the JSON string that means s.
func String(s string) Value { return Value{Text: quote(s)} }

// Format returns the text of a new file that holds an object of members.
func Format(members []Member) []byte {
	text := []byte("{}\n")
	d := Document{text, Value{Text: text[:2]}}
	return d.Edit(members)
}

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
		p := parser{text: v.Text, dec: jsontext.NewDecoder(bytes.NewBuffer(v.Text))}
		if _, err := p.dec.ReadToken(); err != nil {
			return
		}
		for p.dec.PeekKind() != ']' {
			element, err := p.raw()
			if err != nil {
				return
			}
			element.Offset += v.Offset
			if !yield(element) {
				return
			}
		}
	}
}

func (v Value) end() int { return v.Offset + len(v.Text) }

type parser struct {
	dec  *jsontext.Decoder
	text []byte
	base int // offset in text of what dec reads
}

func (p *parser) value() (Value, error) {
	if p.dec.PeekKind() != '{' {
		return p.raw()
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return Value{}, err
	}
	v := Value{Offset: p.offset() - 1}
	for p.dec.PeekKind() != '}' {
		m, err := p.member()
		if err != nil {
			return Value{}, err
		}
		v.Members = append(v.Members, m)
	}
	_, err := p.dec.ReadToken()
	v.Text = p.text[v.Offset:p.offset()]
	return v, err
}

func (p *parser) member() (Member, error) {
	name, err := p.raw()
	if err != nil {
		return Member{}, err
	}
	m := Member{Offset: name.Offset, nameEnd: name.end()}
	decoded, err := jsontext.AppendUnquote(nil, name.Text)
	if err != nil {
		return Member{}, err
	}
	m.Name = string(decoded)
	m.Value, err = p.value()
	return m, err
}

// raw reads a whole value without a look at its members.
func (p *parser) raw() (Value, error) {
	text, err := p.dec.ReadValue()
	if err != nil {
		return Value{}, err
	}
	end := p.offset()
	start := end - len(text)
	return Value{Text: p.text[start:end], Offset: start}, nil
}

func (p *parser) offset() int { return p.base + int(p.dec.InputOffset()) }
