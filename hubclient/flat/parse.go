package flat

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/wire"
)

// Parse reads a flat config, a JSON object. The error is a [*wire.SyntaxError]
// or, with a pointer to the first bad member, a [*wire.ShapeError].
func Parse(config []byte) (Config, error) { return parseFlat(config, "") }

// parseFlat is Parse of a config at an offset of a larger text.
func parseFlat(config []byte, at jsontext.Pointer) (Config, error) {
	root, err := parseObject(config, at)
	if err != nil {
		return Config{}, err
	}
	leaves, err := placeAll(root.items, at)
	if err != nil {
		return Config{}, err
	}
	c, clash := nest(leaves)
	if clash != nil {
		return Config{}, &wire.ShapeError{Pointer: pointer(at, clash.below), Detail: clash.blameBelow()}
	}
	return c, nil
}

func pointer(at jsontext.Pointer, name string) string { return string(at.AppendToken(name)) }

// placed is a member of a flat config with the path that its key names.
type placed struct {
	node
	path []string
}

// placeAll finds the paths of the members of the object at a pointer.
// The error is a [*wire.ShapeError].
func placeAll(members []node, at jsontext.Pointer) ([]placed, error) {
	leaves := make([]placed, len(members))
	for i, m := range members {
		path, err := place(m)
		if err != nil {
			return nil, &wire.ShapeError{Pointer: pointer(at, m.name), Detail: err.Error()}
		}
		leaves[i] = placed{m, path}
	}
	return leaves, nil
}

func place(member node) ([]string, error) {
	path, err := SplitKey(member.name)
	switch {
	case err != nil:
		return nil, err
	case !member.isLeaf():
		return nil, errors.New("a flat key cannot have an object with members as its value")
	case len(path)+member.depth() > maxDepth:
		return nil, fmt.Errorf("nested more than %d levels deep", maxDepth)
	}
	return path, nil
}

// clash is a key whose path is a prefix of another's.
type clash struct{ above, below string }

func (c clash) blameAbove() string {
	return fmt.Sprintf("%q is below it, so it cannot hold a value", c.below)
}

func (c clash) blameBelow() string {
	return fmt.Sprintf("%q holds a value, so no key can be below it", c.above)
}

// nest builds the config of leaves, which it sorts, or returns the first clash.
func nest(leaves []placed) (Config, *clash) {
	slices.SortFunc(leaves, func(a, b placed) int { return slices.Compare(a.path, b.path) })
	// In path order whatever is below a path follows it at once.
	for i := 1; i < len(leaves); i++ {
		above, below := leaves[i-1], leaves[i]
		if len(above.path) < len(below.path) && slices.Equal(above.path, below.path[:len(above.path)]) {
			return Config{}, &clash{above.name, below.name}
		}
	}
	return Config{node{items: nestItems(leaves, 0)}}, nil
}

// nestItems builds the members of the object that all leaves have in common,
// level names down their paths.
func nestItems(leaves []placed, level int) []node {
	var items []node
	for len(leaves) > 0 {
		name, count := leaves[0].path[level], 1
		for count < len(leaves) && leaves[count].path[level] == name {
			count++
		}
		item := leaves[0].node
		if len(leaves[0].path) > level+1 {
			item = node{items: nestItems(leaves[:count], level+1)}
		}
		item.name = name
		items = append(items, item)
		leaves = leaves[count:]
	}
	return items
}
