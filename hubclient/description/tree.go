package description

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Limits on a description besides its length. Reading it takes time and memory in
// proportion to the number of values.
const (
	maxDepth  = 100      // of nested arrays and objects, the outermost included
	maxValues = 500_000  // counting each use of an alias
	maxText   = 32 << 20 // bytes of all names and scalars, counting each use of an alias
)

var tooDeep = fmt.Sprintf("arrays and objects are nested more than %d deep", maxDepth)

func tooManyValues() error {
	return invalid("the description has more than %d values, counting each use of a YAML alias", maxValues)
}

// node is one value of a description, whether written in JSON or in YAML.
type node struct {
	kind     kind
	name     string           // in the object around it
	text     string           // a string's content; a number or boolean as JSON writes it
	children []*node          // of an array or object, in their order
	index    map[string]*node // of an object with many members, built when needed first
}

type kind byte

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// members returns the members of an object; none of what is not an object.
func (n *node) members() []*node {
	if n == nil || n.kind != object {
		return nil
	}
	return n.children
}

// member returns the member of an object, or nil.
func (n *node) member(name string) *node {
	members := n.members()
	if len(members) > 16 {
		if n.index == nil {
			n.index = make(map[string]*node, len(members))
			for _, m := range members {
				n.index[m.name] = m
			}
		}
		return n.index[name]
	}
	for _, m := range members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// has reports whether n has a member that is not null.
func (n *node) has(name string) bool {
	m := n.member(name)
	return m != nil && m.kind != null
}

// valueCost is how much memory a value of a tree takes, in bytes.
const valueCost = 160

// budget bounds a tree while it grows.
type budget struct {
	bytes  int64                   // of the description
	values int                     // so far
	text   int                     // bytes of their names and scalars
	need   func(bytes int64) error // see Reserve
}

// expect asks for the memory that it takes to read a text of about so many values.
func (b *budget) expect(values int, cost int64) error {
	return b.need(4*b.bytes + cost*int64(min(values, maxValues)))
}

// spend counts one value.
func (b *budget) spend(n *node) error {
	b.values++
	b.text += len(n.name) + len(n.text)
	if b.values > maxValues {
		return tooManyValues()
	}
	if b.text > maxText {
		return invalid("the description has more than %d MiB of text, counting each use of a YAML alias", maxText>>20)
	}
	if b.values%(1<<14) == 0 {
		return b.need(2*b.bytes + valueCost*int64(b.values)) // the description and its tree
	}
	return nil
}

// position is a position in a text, from 1, in characters.
type position struct{ line, column int }

func positionOf(data []byte, offset int) position {
	before := data[:offset]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return position{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(line) + 1}
}

// invalid says what is wrong at a position.
func (p position) invalid(format string, args ...any) *Invalid {
	return &Invalid{Line: p.line, Column: p.column, Detail: fmt.Sprintf(format, args...)}
}
