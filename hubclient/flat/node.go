package flat

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
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
	name      string
	text      string // canonical text of a string, number, true, false or null
	array     bool
	reference bool   // see object; false for the settings as a whole
	items     []node // elements in their order, or members sorted by name
}

// object returns an object with members. One with the member $secret alone, which is the name of an
// environment variable, is a reference: a value, like a text.
func object(members []node) node {
	n := node{items: members}
	if len(members) == 1 && members[0].name == "$secret" {
		text := members[0].text
		n.reference = len(text) <= 128+len(`""`) && secretName.MatchString(text)
	}
	return n
}

// secretName leaves out the bound of the length, because compiling that takes half a millisecond of every start.
var secretName = regexp.MustCompile(`^"[A-Z][A-Z0-9_]*"$`)

func byName(a, b node) int { return strings.Compare(a.name, b.name) }

func (n node) isObject() bool { return n.text == "" && !n.array }

// isLeaf reports whether n is the value of a key: not an object with members, unless that is a reference.
func (n node) isLeaf() bool { return !n.isObject() || len(n.items) == 0 || n.reference }

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

func (n node) leafText() string {
	if n.text != "" {
		return n.text
	}
	return string(n.appendTo(nil))
}

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

// appendQuoted appends s, which is valid UTF-8, as a JSON string.
func appendQuoted(b []byte, s string) []byte {
	if !isPlain(s) {
		b, _ = jsontext.AppendQuote(b, s)
		return b
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func quotedLen(s string) int {
	if isPlain(s) {
		return len(`""`) + len(s)
	}
	return len(appendQuoted(nil, s))
}

// isPlain reports whether s is ASCII of which a JSON string escapes nothing. Nearly all
// names are, and jsontext takes several times as long to quote one.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// parse reads exactly one JSON value. The error is a [*wire.SyntaxError].
func parse(text []byte) (node, error) {
	// Duplicate names are left to sortMembers, which has them next to each other.
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	r := reader{text: string(text), dec: dec}
	n, err := r.value()
	if err == nil {
		if _, err = r.dec.ReadToken(); errors.Is(err, io.EOF) {
			return n, nil
		}
	}
	return node{}, cmp.Or(wire.CheckSyntax(text), err)
}

func parseObject(text []byte) (node, error) {
	n, err := parse(text)
	if err == nil && !n.isObject() {
		return node{}, &wire.ShapeError{Detail: needObject}
	}
	n.reference = false
	return n, err
}

const needObject = "must be a JSON object"

// reader reads nodes from a text, which they share.
type reader struct {
	text string
	dec  *jsontext.Decoder
	// open is a stack of the items of all arrays and objects not yet closed, so
	// that each gets a slice of its exact size.
	open []node
}

func (r *reader) value() (node, error) {
	switch r.dec.PeekKind() {
	case '[':
		items, err := r.items(jsontext.KindEndArray)
		return node{array: true, items: items}, err
	case '{':
		items, err := r.items(jsontext.KindEndObject)
		if err == nil {
			err = sortMembers(items)
		}
		return object(items), err
	}
	text, err := r.scalar()
	if err == nil && text[0] == '"' && strings.IndexByte(text, '\\') >= 0 {
		text = string(appendQuoted(nil, unquote(text)))
	}
	return node{text: text}, err
}

// scalar reads a value that is no object and no array, and returns it as it is written.
func (r *reader) scalar() (string, error) {
	value, err := r.dec.ReadValue()
	end := int(r.dec.InputOffset())
	return r.text[end-len(value) : end], err
}

func unquote(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text[1 : len(text)-1]
	}
	b, _ := jsontext.AppendUnquote(nil, text) // it was read as JSON
	return string(b)
}

var errDuplicate = errors.New("duplicate name")

// sortMembers sorts members by their names, and returns an error if two have the same.
func sortMembers(members []node) error {
	slices.SortFunc(members, byName)
	for i := 1; i < len(members); i++ {
		if members[i-1].name == members[i].name {
			return errDuplicate
		}
	}
	return nil
}

// items reads an array's elements or an object's members, and both brackets.
func (r *reader) items(end jsontext.Kind) ([]node, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return nil, err
	}
	start := len(r.open)
	for r.dec.PeekKind() != end {
		var name string
		if end == jsontext.KindEndObject {
			text, err := r.scalar()
			if err != nil {
				return nil, err
			}
			name = unquote(text)
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
