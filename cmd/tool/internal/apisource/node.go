package apisource

import (
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// copy returns n with a copy of its value for each alias.
func (b *bundler) copy(n *yaml.Node, depth int) (*yaml.Node, error) {
	if b.left--; b.left < 0 {
		return nil, fmt.Errorf("the description has more than %d values, counting each use of a YAML alias", maxValues)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: values are nested more than %d deep, or an alias contains itself", n.Line, maxDepth)
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

// members iterates over the members of a mapping, the first of those with the same name
// last. Any other node, or nil, has none.
func members(n *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := len(n.Content)/2*2 - 2; i >= 0; i -= 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
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
	index := b.indexes[n]
	if index == nil {
		index = maps.Collect(members(n))
		b.indexes[n] = index
	}
	return index[segment]
}

// child returns the mapping that is a member of n, which gets one if it has none.
func child(n *yaml.Node, name string) *yaml.Node {
	c := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != name {
			continue
		}
		if n.Content[i+1].Kind != yaml.MappingNode {
			n.Content[i+1] = c
		}
		return n.Content[i+1]
	}
	add(n, name, c)
	return c
}

func add(n *yaml.Node, name string, value *yaml.Node) {
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, value)
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1").Replace
	unescape = strings.NewReplacer("~1", "/", "~0", "~").Replace
)
