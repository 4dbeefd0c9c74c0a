package flat

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/wire"
)

// maxDepth is how deep a JSON text can be nested, so that it can be read again.
// It bounds every recursion here.
const maxDepth = 10_000

// node is a JSON value, with the name it has in its object. The zero node is {}.
type node struct {
	name  string
	text  string // canonical text of a string, number, true, false or null
	array bool
	items []node // elements in their order, or members sorted by name
}

func byName(a, b node) int { return strings.Compare(a.name, b.name) }

func (n node) isObject() bool { return n.text == "" && !n.array }

// isLeaf reports whether n is the value of a key: not an object with members.
func (n node) isLeaf() bool { return !n.isObject() || len(n.items) == 0 }

// member returns the member of the object n that has this name.
func (n node) member(name string) (node, bool) {
	if !n.isObject() {
		return node{}, false
	}
	i, ok := slices.BinarySearchFunc(n.items, node{name: name}, byName)
	if !ok {
		return node{}, false
	}
	return n.items[i], true
}

// leaves counts the leaves among the members of the object n, at any depth.
func (n node) leaves() int {
	count := 0
	for _, m := range n.items {
		if m.isLeaf() {
			count++
		} else {
			count += m.leaves()
		}
	}
	return count
}

// depth is how deep n is nested: 0 for a scalar, 1 for {} and [].
func (n node) depth() int {
	if n.text != "" {
		return 0
	}
	deepest := 0
	for _, item := range n.items {
		deepest = max(deepest, item.depth())
	}
	return 1 + deepest
}

// leafText returns n's canonical text.
func (n node) leafText() string {
	if n.text != "" {
		return n.text
	}
	return string(n.appendTo(nil))
}

// appendTo appends n's canonical text to b.
func (n node) appendTo(b []byte) []byte {
	if n.text != "" {
		return append(b, n.text...)
	}
	brackets := "{}"
	if n.array {
		brackets = "[]"
	}
	b = append(b, brackets[0])
	for i, item := range n.items {
		if i > 0 {
			b = append(b, ',')
		}
		if !n.array {
			b = append(appendQuoted(b, item.name), ':')
		}
		b = item.appendTo(b)
	}
	return append(b, brackets[1])
}

// appendQuoted appends s as a JSON string. What was read as JSON is valid UTF-8,
// so it cannot fail.
func appendQuoted(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// parse reads exactly one JSON value. The error is a [*wire.SyntaxError].
func parse(text []byte) (node, error) {
	r := reader{dec: jsontext.NewDecoder(bytes.NewBuffer(text))}
	n, err := r.value()
	if err == nil {
		if _, err = r.dec.ReadToken(); errors.Is(err, io.EOF) {
			return n, nil
		}
	}
	return node{}, cmp.Or(wire.CheckSyntax(text), err)
}

// reader reads nodes from a text.
type reader struct {
	dec *jsontext.Decoder
	// open is a stack of the items of all arrays and objects not yet closed, so
	// that each gets a slice of its exact size.
	open []node
}

func (r *reader) value() (node, error) {
	token, err := r.dec.ReadToken()
	if err != nil {
		return node{}, err
	}
	switch token.Kind() {
	case '"':
		return node{text: string(appendQuoted(nil, token.String()))}, nil
	case '[':
		items, err := r.items(jsontext.KindEndArray)
		return node{array: true, items: items}, err
	case '{':
		items, err := r.items(jsontext.KindEndObject)
		slices.SortFunc(items, byName)
		return node{items: items}, err
	default:
		return node{text: token.String()}, nil
	}
}

// items reads elements, or members, up to and with the closing bracket.
func (r *reader) items(end jsontext.Kind) ([]node, error) {
	start := len(r.open)
	for r.dec.PeekKind() != end {
		var name string
		if end == jsontext.KindEndObject {
			token, err := r.dec.ReadToken()
			if err != nil {
				return nil, err
			}
			name = token.String()
		}
		item, err := r.value()
		if err != nil {
			return nil, err
		}
		item.name = name
		r.open = append(r.open, item)
	}
	items := slices.Clone(r.open[start:])
	r.open = r.open[:start]
	_, err := r.dec.ReadToken()
	return items, err
}
