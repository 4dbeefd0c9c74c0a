package description

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"example.com/projecthub/hubclient/wire"
)

// Limits on a description besides its length. Checking it takes time and memory in
// proportion to the number of values.
const (
	maxDepth  = 100      // of nested arrays and objects, the outermost included
	maxValues = 500_000  // counting each use of an alias
	maxText   = 32 << 20 // bytes of all names and scalars, counting each use of an alias
)

const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
)

// How much memory reading a value takes, in bytes. In YAML it is in the library's tree before.
const (
	valueCost     = 160
	jsonValueCost = valueCost
	yamlValueCost = 480
)

// treeMemory bounds the memory that the tree of a description takes.
func treeMemory(data []byte) int64 {
	begin := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	cost, values := int64(yamlValueCost), 0
	if len(begin) > 0 && (begin[0] == '{' || begin[0] == '[') {
		cost = jsonValueCost
		for _, mark := range []byte(",[{") {
			values += bytes.Count(data, []byte{mark})
		}
	} else {
		values = countMarks(data) - bytes.Count(data, []byte("\n")) - bytes.Count(data, []byte("\r")) // a new line alone begins no value
	}
	return 4*int64(len(data)) + cost*int64(min(values, maxValues))
}

// readTree reads a text whose first character is { or [ as JSON, any other as YAML.
func readTree(data []byte, grows func(values int) error) (root *node, mediaType string, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, "", notUTF8(data)
	}
	begin := bytes.TrimLeft(data, " \t\r\n")
	if len(begin) == 0 {
		return nil, "", invalid("the description is empty")
	}
	if begin[0] == '{' || begin[0] == '[' {
		root, err = readJSON(data, grows)
		mediaType = mediaJSON
	} else {
		root, err = readYAML(data, grows)
		mediaType = mediaYAML
	}
	if err != nil {
		return nil, "", err
	}
	if root.kind != object {
		return nil, "", &Invalid{[]wire.FieldError{root.reason("a description must be an object, not %v", root.kind)}}
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

// budget is what remains of the limits while a tree grows.
type budget struct {
	values, text int
	grows        func(values int) error // called from time to time with the number of values
}

func newBudget(grows func(int) error) budget { return budget{maxValues, maxText, grows} }

// growStep is how many values are read between two calls of grows.
const growStep = 1 << 14

// spend counts one value in depth arrays and objects, including itself if it is one.
func (b *budget) spend(n *node, depth int) error {
	b.values--
	b.text -= len(n.text)
	switch {
	case (n.kind == array || n.kind == object) && depth > maxDepth:
		return invalid("%s", at(n.line, n.column, tooDeep))
	case b.values < 0:
		return tooManyValues()
	case b.text < 0:
		return invalid("the description has more than %d MiB of text, counting each use of a YAML alias", maxText>>20)
	}
	if read := maxValues - b.values; read%growStep == 0 {
		return b.grows(read)
	}
	return nil
}

var tooDeep = fmt.Sprintf("arrays and objects are nested more than %d deep", maxDepth)

func tooManyValues() error {
	return invalid("the description has more than %d values, counting each use of a YAML alias", maxValues)
}
