package apisource

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// copy returns n with a copy of its value for each alias.
func (b *bundler) copy(n *yaml.Node, depth int) (*yaml.Node, error) {
	if b.left--; b.left < 0 {
		return nil, fmt.Errorf("the description has more than %d values, counting each use of a YAML alias", maxValues)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: values are nested more than %d deep, or an alias contains itself",
			n.Line, maxDepth)
	}
	if n.Kind == yaml.AliasNode {
		return b.copy(n.Alias, depth+1)
	}
	c := *n
	c.Anchor, c.Content = "", make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		var err error
		if c.Content[i], err = b.copy(child, depth+1); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// get returns the member of a mapping, or nil.
func get(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// index returns the members of a mapping by their names, of those with the same one the first.
func index(n *yaml.Node) map[string]*yaml.Node {
	all := map[string]*yaml.Node{}
	for i := len(n.Content)/2*2 - 2; i >= 0 && n.Kind == yaml.MappingNode; i -= 2 {
		all[n.Content[i].Value] = n.Content[i+1]
	}
	return all
}

// step returns the child of n with this segment of a JSON pointer, or nil.
func (b *bundler) step(n *yaml.Node, segment string) *yaml.Node {
	if n.Kind == yaml.SequenceNode {
		i, err := strconv.Atoi(segment)
		if err != nil || i < 0 || i >= len(n.Content) {
			return nil
		}
		return n.Content[i]
	}
	if b.indexes[n] == nil {
		b.indexes[n] = index(n)
	}
	return b.indexes[n][segment]
}

// child returns the mapping that is a member of n, which gets one if it has none.
func child(n *yaml.Node, name string) *yaml.Node {
	c := get(n, name)
	if c == nil {
		c = &yaml.Node{}
		add(n, name, c)
	}
	if c.Kind != yaml.MappingNode {
		*c = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	return c
}

func add(n *yaml.Node, name string, value *yaml.Node) {
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, value)
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1").Replace
	unescape = strings.NewReplacer("~1", "/", "~0", "~").Replace
)

//go:embed objects.txt
var table string

// data is the type of what OpenAPI does not describe.
const data = ""

// objects has the types of the members of each object, by their names. It is read when it is
// needed first: most commands never do.
var objects = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	object := ""
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case line[0] != ' ':
			object = words[0]
			all[object] = map[string]string{}
		default:
			for _, name := range words[1:] {
				all[object][name] = words[0]
			}
		}
	}
	return all
})

func isObject(t string) bool { return objects()[t] != nil }

// memberType returns the type of a member of a value of type t, or of an element.
func memberType(t, name string) string {
	for _, many := range []string{"[]", "{}"} {
		if of, ok := strings.CutPrefix(t, many); ok {
			return strings.TrimPrefix(of, "any")
		}
	}
	members := objects()[t]
	if of, known := members[name]; known || strings.HasPrefix(name, "x-") {
		return of
	}
	return members["*"]
}
