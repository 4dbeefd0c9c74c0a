package description

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/projecthub/hubclient/oas"
	"example.com/projecthub/hubclient/wire"
)

type kind byte

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

var kindNames = [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}

func (k kind) String() string { return kindNames[k] }

// node is one value of a description, whether written in JSON or in YAML.
type node struct {
	kind         kind
	line, column int32  // where it begins, from 1, in characters
	name         string // its name in the object around it
	text         string // a string's content; a number or boolean as JSON writes it
	parent       *node
	children     []*node          // of an array or object, in their order
	index        map[string]*node // of an object with many members, built when needed first

	is       *oas.Type // what the value is by the specification; nil if that is not known
	resolved bool      // of a reference: target is set
	target   *node     // of a reference: what it refers to, nil if that is not known
}

// indexed is how many members an object has before looking one up takes an index.
const indexed = 16

// member returns the member of an object, or nil.
func (n *node) member(name string) *node {
	if n == nil || n.kind != object {
		return nil
	}
	if len(n.children) > indexed {
		if n.index == nil {
			n.index = make(map[string]*node, len(n.children))
			for _, child := range n.children {
				n.index[child.name] = child
			}
		}
		return n.index[name]
	}
	for _, child := range n.children {
		if child.name == name {
			return child
		}
	}
	return nil
}

// step returns the child of n with this segment of a JSON pointer, or nil.
func (n *node) step(segment string) *node {
	if n.kind != array {
		return n.member(segment)
	}
	i, err := strconv.ParseUint(segment, 10, 31)
	if err != nil || int(i) >= len(n.children) || strconv.FormatUint(i, 10) != segment {
		return nil
	}
	return n.children[i]
}

// down follows segments as long as they exist.
func (n *node) down(segments ...string) *node {
	for _, segment := range segments {
		next := n.step(segment)
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// size is the number of values in n, itself included.
func (n *node) size() int {
	size := 1
	for _, child := range n.children {
		size += child.size()
	}
	return size
}

var (
	escapeSegment   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeSegment = strings.NewReplacer("~1", "/", "~0", "~")
)

// segments splits a JSON pointer that is empty or begins with /.
func segments(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(pointer[1:], "/")
	for i, part := range parts {
		parts[i] = unescapeSegment.Replace(part)
	}
	return parts
}

// pointer returns the JSON pointer of n.
func (n *node) pointer() string {
	if n.parent == nil {
		return ""
	}
	segment := escapeSegment.Replace(n.name)
	if n.parent.kind == array {
		for i, child := range n.parent.children {
			if child == n {
				segment = strconv.Itoa(i)
			}
		}
	}
	return n.parent.pointer() + "/" + segment
}

// reason returns why a description is rejected because of n.
func (n *node) reason(format string, args ...any) wire.FieldError {
	return wire.FieldError{Pointer: n.shortPointer(), Detail: at(n.line, n.column, fmt.Sprintf(format, args...))}
}

// shortPointer returns the pointer of n, or of an object around n if that of n would be
// too long.
func (n *node) shortPointer() string {
	pointer := n.pointer()
	for above := n.parent; len(pointer) > pointed; above = above.parent {
		pointer = above.pointer()
	}
	return pointer
}

func at(line, column int32, detail string) string {
	return fmt.Sprintf("line %d, column %d: %s", line, column, detail)
}

// shown describes n: a number or boolean as it is written, else its kind.
func (n *node) shown() string {
	if n.kind == number || n.kind == boolean {
		return clip(n.text, quoted)
	}
	return n.kind.String()
}

// clip truncates s to at most so many characters.
func clip(s string, most int) string {
	if r := []rune(s[:min(len(s), 4*(most+1))]); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

const (
	quoted  = 80   // characters of a description that a reason quotes at most
	spoken  = 300  // characters of what a library says of a description
	pointed = 1000 // bytes of a pointer
)

func quote(s string) string { return strconv.Quote(clip(s, quoted)) }

// quoteAll returns the first few of names in quotes.
func quoteAll(names []string) string {
	const most = 5
	parts := make([]string, 0, most+1)
	for _, name := range names[:min(len(names), most)] {
		parts = append(parts, quote(name))
	}
	if len(names) > most {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}
