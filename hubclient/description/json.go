package description

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/wire"
)

// readJSON reads a JSON text, and returns where its value begins.
func readJSON(data []byte, b *budget) (*node, position, error) {
	at := positionOf(data, bytes.IndexAny(data, "{["))
	values := bytes.Count(data, []byte(",")) + bytes.Count(data, []byte("[")) + bytes.Count(data, []byte("{"))
	if err := b.expect(values, valueCost); err != nil {
		return nil, at, err
	}
	err := wire.CheckSyntax(data)
	if syntax, ok := errors.AsType[*wire.SyntaxError](err); ok {
		return nil, at, positionOf(data, int(syntax.Offset)).invalid("%v", syntax)
	} else if err != nil {
		return nil, at, invalid("%v", err)
	}
	// CheckSyntax has found no duplicate member.
	decoder := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
	root, err := readValue(data, decoder, "", b)
	return root, at, err
}

func readValue(data []byte, decoder *jsontext.Decoder, name string, b *budget) (*node, error) {
	token, err := decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{name: name}
	switch token.Kind() {
	case '{':
		n.kind = object
	case '[':
		n.kind = array
	case '"':
		n.kind, n.text = text, token.String()
	case '0':
		n.kind, n.text = number, token.String()
	case 't', 'f':
		n.kind, n.text = boolean, token.String()
	}
	if decoder.StackDepth() > maxDepth {
		return nil, positionOf(data, int(decoder.InputOffset())-1).invalid("%s", tooDeep)
	}
	if err := b.spend(n); err != nil || n.kind < array {
		return n, err
	}
	for decoder.PeekKind() != ']' && decoder.PeekKind() != '}' {
		name := ""
		if n.kind == object {
			token, err := decoder.ReadToken()
			if err != nil {
				return nil, err
			}
			name = token.String()
		}
		child, err := readValue(data, decoder, name, b)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	_, err = decoder.ReadToken()
	return n, err
}

// MaxJSON bounds a description as JSON, in bytes: JSON escapes characters and expands aliases.
const MaxJSON = 48 << 20

// JSON returns the description as JSON. Numbers keep their text, and references stay references. A text of more
// than MaxJSON bytes is cut off, but is still longer than that.
func (d *Description) JSON() []byte { return d.root.appendJSON(make([]byte, 0, d.JSONBytes)) }

func (n *node) appendJSON(b []byte) []byte {
	if len(b) > MaxJSON {
		return b
	}
	switch n.kind {
	case null:
		return append(b, "null"...)
	case boolean, number:
		return append(b, n.text...)
	case text:
		b, _ = jsontext.AppendQuote(b, n.text) // fails on what is not UTF-8, which was refused
		return b
	}
	open, end := byte('['), byte(']')
	if n.kind == object {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i, child := range n.children {
		if i > 0 {
			b = append(b, ',')
		}
		if n.kind == object {
			b, _ = jsontext.AppendQuote(b, child.name)
			b = append(b, ':')
		}
		b = child.appendJSON(b)
	}
	return append(b, end)
}
