package description

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

func readYAML(data []byte, grows func(int) error) (*node, error) {
	// The library's memory grows with the values, its time with the square of the
	// %TAG directives: both have to be refused before it reads.
	if countMarks(data) > 4*maxValues {
		return nil, tooManyValues()
	}
	if bytes.HasPrefix(data, []byte("%TAG")) || bytes.Contains(data, []byte("\n%TAG")) {
		return nil, invalid("%%TAG directives are not accepted")
	}
	if bytes.HasPrefix(data, []byte("%YAML 1.2")) {
		data = append([]byte("#"), data[1:]...) // the library knows 1.2, but not by its name
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return nil, badYAML(err)
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, invalid("line %d: a second YAML document begins, but a description is one document", max(second.Line, 1))
	} else if !errors.Is(err, io.EOF) {
		return nil, badYAML(err)
	}
	r := yamlReader{budget: newBudget(grows)}
	return r.value(document.Content[0], 1)
}

// countMarks counts the characters that can stand before a value in YAML, so
// that there are at most twice as many values and names as it returns.
func countMarks(data []byte) int {
	n := 0
	for i, c := range data {
		switch c {
		case ',', ':', '[', '{', '?', '\n', '\r':
			n++
		case '-':
			if i+1 == len(data) || data[i+1] <= ' ' || data[i+1] >= 0x80 {
				n++
			}
		}
	}
	return n
}

func badYAML(err error) error {
	if errors.Is(err, io.EOF) {
		return invalid("the description is empty")
	}
	detail := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(detail, "exceeded max depth") {
		detail = tooDeep
	}
	return invalid("%s", clip(detail, spoken))
}

type yamlReader struct {
	budget budget
	open   []*yaml.Node // anchors whose aliases are being replaced, the outermost first
}

// value turns y, in depth arrays and objects, itself included when it is one, into a tree of its own.
func (r *yamlReader) value(y *yaml.Node, depth int) (*node, error) {
	if y.Kind == yaml.AliasNode {
		return r.alias(y, depth)
	}
	n := &node{line: int32(y.Line), column: int32(y.Column)}
	switch y.Kind {
	case yaml.MappingNode:
		n.kind = object
	case yaml.SequenceNode:
		n.kind = array
	case yaml.ScalarNode:
		if err := n.setScalar(y); err != nil {
			return nil, err
		}
	}
	if err := r.budget.spend(n, depth); err != nil {
		return nil, err
	}
	switch n.kind {
	case object:
		return n, r.members(n, y, depth)
	case array:
		return n, r.elements(n, y, depth)
	}
	return n, nil
}

func (r *yamlReader) alias(y *yaml.Node, depth int) (*node, error) {
	if slices.Contains(r.open, y.Alias) {
		return nil, badNode(y, "the alias *%s refers to a value that contains it", clip(y.Value, quoted))
	}
	r.open = append(r.open, y.Alias)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	return r.value(y.Alias, depth)
}

func (r *yamlReader) elements(n *node, y *yaml.Node, depth int) error {
	for _, element := range y.Content {
		child, err := r.value(element, depth+1)
		if err != nil {
			return err
		}
		child.parent = n
		n.children = append(n.children, child)
	}
	return nil
}

func (r *yamlReader) members(n *node, y *yaml.Node, depth int) error {
	names := make(map[string]bool, len(y.Content)/2)
	var merged *yaml.Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		name, err := memberName(key)
		if err != nil {
			return err
		}
		if names[name] {
			return badNode(key, "duplicate member %s", quote(name))
		}
		names[name] = true
		if key.ShortTag() == "!!merge" {
			merged = value
			continue
		}
		r.budget.text -= len(name)
		child, err := r.value(value, depth+1)
		if err != nil {
			return err
		}
		child.name, child.parent = name, n
		n.children = append(n.children, child)
	}
	if merged == nil {
		return nil
	}
	return r.merge(n, merged, names, depth)
}

func memberName(key *yaml.Node) (string, error) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode {
		return "", badNode(key, "the name of a member must be a plain value")
	}
	return key.Value, nil
}

// merge gives n the members of the value of <<: an object, or an array of
// objects, of which the earlier take precedence. The own members of n take precedence over all.
func (r *yamlReader) merge(n *node, y *yaml.Node, names map[string]bool, depth int) error {
	from, err := r.value(y, depth+1)
	if err != nil {
		return err
	}
	sources := []*node{from}
	if from.kind == array {
		sources = from.children
	}
	for _, source := range sources {
		if source.kind != object {
			return badNode(y, "<< merges objects, not %v", source.kind)
		}
		for _, child := range source.children {
			if names[child.name] {
				continue
			}
			names[child.name] = true
			if err := r.budget.spend(child, depth); err != nil {
				return err
			}
			child.parent = n
			n.children = append(n.children, child)
		}
	}
	return nil
}

// jsonNumber matches the numbers that mean the same in JSON and in YAML.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func (n *node) setScalar(y *yaml.Node) error {
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.kind = null
	case "!!str", "!!timestamp", "!!binary": // JSON has no times and no bytes
		n.kind, n.text = text, y.Value
	case "!!bool":
		var b bool
		if y.Decode(&b) != nil {
			return badNode(y, "%s is not a boolean", quote(y.Value))
		}
		n.kind, n.text = boolean, strconv.FormatBool(b)
	case "!!int", "!!float":
		n.kind, n.text = number, y.Value
		if !jsonNumber.MatchString(y.Value) {
			return n.setNumber(y)
		}
	default:
		return badNode(y, "the tag %s is not accepted", quote(tag))
	}
	return nil
}

// setNumber reads a number that is not written as in JSON: 0x1F, 1_000, .5
func (n *node) setNumber(y *yaml.Node) error {
	var v any
	if y.Decode(&v) != nil {
		return badNode(y, "%s is not a number", quote(y.Value))
	}
	switch v := v.(type) {
	case int, int64, uint64:
		n.text = fmt.Sprint(v)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return badNode(y, "%s is not a number in JSON", quote(y.Value))
		}
		n.text = strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return badNode(y, "%s is not a number", quote(y.Value))
	}
	return nil
}

func badNode(y *yaml.Node, format string, args ...any) error {
	return invalid("%s", at(int32(y.Line), int32(y.Column), fmt.Sprintf(format, args...)))
}
