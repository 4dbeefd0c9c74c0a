package description

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"example.com/projecthub/hubclient/wire"
)

// Limits on a description besides its length. Checking it costs time in proportion
// to the depths of all values added up, and memory in proportion to their number.
const (
	maxDepth  = 100        // of nested arrays and objects, the outermost included
	maxValues = 500_000    // with what aliases stand for counted each time
	maxWork   = 10_000_000 // the depths of all values added up
	maxText   = 32 << 20   // bytes of all names and scalars, again with what aliases stand for
)

const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
)

// readTree reads a text whose first character is { or [ as JSON, any other as YAML.
func readTree(data []byte) (root *node, mediaType string, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, "", notUTF8(data)
	}
	begin := bytes.TrimLeft(data, " \t\r\n")
	if len(begin) == 0 {
		return nil, "", invalid("the description is empty")
	}
	if begin[0] == '{' || begin[0] == '[' {
		root, err = readJSON(data)
		mediaType = mediaJSON
	} else {
		root, err = readYAML(data)
		mediaType = mediaYAML
	}
	if err != nil {
		return nil, "", err
	}
	if root.kind != object {
		return nil, "", &Invalid{[]wire.FieldError{root.reason("a description is an object, and this is %v", root.kind)}}
	}
	return root, mediaType, nil
}

func notUTF8(data []byte) error {
	place := cursor{data: data, line: 1, column: 1}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			place.advance(i)
			break
		}
		i += size
	}
	return invalid("%s", at(place.line, place.column, "the text is not UTF-8"))
}

// cursor turns offsets, which must not decrease, into lines and columns.
type cursor struct {
	data         []byte
	offset       int
	line, column int32
}

func (c *cursor) advance(offset int) {
	passed := c.data[c.offset:offset]
	c.offset = offset
	if newline := bytes.LastIndexByte(passed, '\n'); newline >= 0 {
		c.line += int32(bytes.Count(passed, []byte{'\n'}))
		c.column = 1
		passed = passed[newline+1:]
	}
	c.column += int32(utf8.RuneCount(passed))
}

// budget is what is left of the limits while a tree grows.
type budget struct{ values, work, text int }

func newBudget() budget { return budget{maxValues, maxWork, maxText} }

// spend pays for one value in depth arrays and objects, itself included when it is one.
func (b *budget) spend(n *node, depth int) error {
	b.values--
	b.work -= depth
	b.text -= len(n.text)
	switch {
	case (n.kind == array || n.kind == object) && depth > maxDepth:
		return invalid("%s", at(n.line, n.column, tooDeep))
	case b.values < 0:
		return tooManyValues()
	case b.text < 0:
		return invalid("the description has more than %d MiB of text, with what YAML aliases stand for counted each time", maxText>>20)
	case b.work < 0:
		return invalid("the description has too many values that are nested deeply")
	}
	return nil
}

var tooDeep = fmt.Sprintf("arrays and objects are nested more than %d deep", maxDepth)

func tooManyValues() error {
	return invalid("the description has more than %d values, with what YAML aliases stand for counted each time", maxValues)
}
