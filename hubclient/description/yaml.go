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
	"sync"

	"gopkg.in/yaml.v3"
)

// readYAML reads a YAML text, and returns where its value begins.
func readYAML(data []byte, b *budget) (root *node, at position, err error) {
	// The library's memory grows with the values, its time with the square of the
	// %TAG directives: both have to be refused before it reads.
	marks := countMarks(data)
	if marks > 4*maxValues {
		return nil, at, tooManyValues()
	}
	// A new line alone begins no value. The library reads all values into a tree of its own first.
	values := marks - bytes.Count(data, []byte("\n")) - bytes.Count(data, []byte("\r"))
	if err := b.expect(values, 3*valueCost); err != nil {
		return nil, at, err
	}
	if bytes.HasPrefix(data, []byte("%TAG")) || bytes.Contains(data, []byte("\n%TAG")) {
		return nil, at, invalid("%%TAG directives are not accepted")
	}
	if bytes.HasPrefix(data, []byte("%YAML 1.2")) {
		data = append([]byte("#"), data[1:]...) // the library knows 1.2, but not by its name
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	err = decoder.Decode(&document)
	if errors.Is(err, io.EOF) || len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return nil, at, invalid("the description is empty")
	}
	if err == nil {
		if err = decoder.Decode(&second); err == nil {
			return nil, at, &Invalid{Line: max(second.Line, 1),
				Detail: "a second YAML document begins, but a description is one document"}
		}
	}
	if !errors.Is(err, io.EOF) {
		why := Malformed(err)
		if strings.HasPrefix(why.Detail, "exceeded max depth") {
			why.Detail = tooDeep
		}
		why.Detail = clip(why.Detail, 300)
		return nil, at, why
	}
	r := yamlReader{budget: b}
	root, err = r.value(document.Content[0], "", 1)
	return root, positionIn(document.Content[0]), err
}

// Malformed says what an error of the YAML library says, and in which line.
func Malformed(err error) *Invalid {
	e := invalid("%s", strings.TrimPrefix(err.Error(), "yaml: "))
	if line, rest, found := strings.Cut(e.Detail, ": "); found {
		if _, err := fmt.Sscanf(line, "line %d", &e.Line); err == nil {
			e.Detail = rest
		}
	}
	return e
}

// countMarks counts the characters that can precede a value in YAML, so that there are at
// most twice as many values and names as it returns.
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

type yamlReader struct {
	budget *budget
	open   []*yaml.Node // anchors whose aliases are being replaced, the outermost first
}

// value turns y into a tree of its own, which has this name in the object around it. It is in
// depth arrays and objects, itself included when it is one.
func (r *yamlReader) value(y *yaml.Node, name string, depth int) (*node, error) {
	if y.Kind == yaml.AliasNode {
		if slices.Contains(r.open, y.Alias) {
			return nil, positionIn(y).invalid("the alias *%s refers to a value that contains it", clip(y.Value, 80))
		}
		r.open = append(r.open, y.Alias)
		defer func() { r.open = r.open[:len(r.open)-1] }()
		return r.value(y.Alias, name, depth)
	}
	n := &node{kind: object, name: name}
	switch y.Kind {
	case yaml.ScalarNode:
		if err := n.setScalar(y); err != nil {
			return nil, err
		}
	case yaml.SequenceNode:
		n.kind = array
	}
	if n.kind >= array && depth > maxDepth {
		return nil, positionIn(y).invalid("%s", tooDeep)
	}
	if err := r.budget.spend(n); err != nil {
		return nil, err
	}
	if n.kind == object {
		return n, r.members(n, y, depth)
	}
	for _, element := range y.Content {
		child, err := r.value(element, "", depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	return n, nil
}

// members reads the members of an object. Those of the value of <<, which is an object or
// an array of objects, come last: the object's own precede them, and earlier objects later.
func (r *yamlReader) members(n *node, y *yaml.Node, depth int) error {
	names := make(map[string]bool, len(y.Content)/2)
	var merge *yaml.Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		name := key
		if key.Kind == yaml.AliasNode {
			name = key.Alias
		}
		if name.Kind != yaml.ScalarNode {
			return positionIn(name).invalid("the name of a member must be a plain value")
		}
		if names[name.Value] {
			return positionIn(key).invalid("duplicate member %s", quote(name.Value))
		}
		names[name.Value] = true
		if key.ShortTag() == "!!merge" {
			merge = value
			continue
		}
		child, err := r.value(value, name.Value, depth+1)
		if err != nil {
			return err
		}
		n.children = append(n.children, child)
	}
	if merge == nil {
		return nil
	}
	from, err := r.value(merge, "", depth+1)
	if err != nil {
		return err
	}
	sources := []*node{from}
	if from.kind == array {
		sources = from.children
	}
	for _, source := range sources {
		if source.kind != object {
			return positionIn(merge).invalid("<< merges objects, not %v", source.kind)
		}
		for _, child := range source.children {
			if names[child.name] {
				continue
			}
			names[child.name] = true
			if err := r.budget.spend(child); err != nil {
				return err
			}
			n.children = append(n.children, child)
		}
	}
	return nil
}

// jsonNumber matches the numbers that mean the same in JSON and in YAML.
var jsonNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
})

func (n *node) setScalar(y *yaml.Node) error {
	n.text = y.Value
	wanted := "a number"
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.kind, n.text = null, ""
		return nil
	case "!!str", "!!timestamp", "!!binary": // JSON has no times and no bytes
		n.kind = text
		return nil
	case "!!bool":
		n.kind, wanted = boolean, "a boolean"
	case "!!int", "!!float":
		n.kind = number
		if jsonNumber().MatchString(y.Value) {
			return nil
		}
	default:
		return positionIn(y).invalid("the tag %s is not accepted", quote(tag))
	}
	var v any
	if y.Decode(&v) == nil {
		switch v := v.(type) {
		case bool, int, int64, uint64: // True, 0x1F, 1_000
			n.text = fmt.Sprint(v)
			return nil
		case float64: // .5
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				n.text = strconv.FormatFloat(v, 'g', -1, 64)
				return nil
			}
			wanted = "a number in JSON"
		}
	}
	return positionIn(y).invalid("%s is not %s", quote(y.Value), wanted)
}

func positionIn(y *yaml.Node) position { return position{y.Line, y.Column} }

func quote(s string) string { return strconv.Quote(clip(s, 80)) }

// clip truncates s to at most so many characters.
func clip(s string, most int) string {
	if r := []rune(s[:min(len(s), 4*(most+1))]); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
