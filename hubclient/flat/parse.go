package flat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/wire"
)

// Parse reads a flat config, a JSON object. The error is a [*wire.SyntaxError]
// or, with a pointer to the first bad member, a [*wire.ShapeError].
func Parse(config []byte) (Config, error) {
	root, err := parseObject(config)
	if err != nil {
		return Config{}, err
	}
	leaves := make([]placed, len(root.items))
	for i, m := range root.items {
		path, err := SplitKey(m.name)
		switch {
		case err != nil:
			return Config{}, badMember(m.name, "%v", err)
		case !m.isLeaf():
			return Config{}, badMember(m.name, "a flat key cannot have an object with members as its value")
		case len(path)+m.depth() > maxDepth:
			return Config{}, badMember(m.name, "nested more than %d levels deep", maxDepth)
		}
		leaves[i] = placed{m, path}
	}
	slices.SortFunc(leaves, func(a, b placed) int { return slices.Compare(a.path, b.path) })
	// In path order whatever is below a path follows it at once.
	for i := 1; i < len(leaves); i++ {
		above, below := leaves[i-1], leaves[i]
		if len(above.path) < len(below.path) && slices.Equal(above.path, below.path[:len(above.path)]) {
			return Config{}, badMember(below.name, "%q holds a value, so no key can be below it", above.name)
		}
	}
	return Config{node{items: nest(leaves, 0)}}, nil
}

// badMember returns the error of the member with this name.
func badMember(name, format string, args ...any) *wire.ShapeError {
	pointer := jsontext.Pointer("").AppendToken(name)
	return &wire.ShapeError{Pointer: string(pointer), Detail: fmt.Sprintf(format, args...)}
}

// placed is a member of a flat config with the path that its key names.
type placed struct {
	node
	path []string
}

// nest builds the members of the object that all leaves have in common, level names down
// their paths, by which they are sorted.
func nest(leaves []placed, level int) []node {
	var items []node
	for len(leaves) > 0 {
		name, count := leaves[0].path[level], 1
		for count < len(leaves) && leaves[count].path[level] == name {
			count++
		}
		item := leaves[0].node
		if len(leaves[0].path) > level+1 {
			item = object(nest(leaves[:count], level+1))
		}
		item.name = name
		items = append(items, item)
		leaves = leaves[count:]
	}
	return items
}

var escaper = strings.NewReplacer(`.`, `\.`, `\`, `\\`)

func escape(name string) string {
	if strings.IndexByte(name, '.') < 0 && strings.IndexByte(name, '\\') < 0 { // as nearly all
		return name
	}
	return escaper.Replace(name)
}

// Key returns the flat key of the setting that the path of member names leads
// to: the names joined by dots, with \ before every dot and \ inside a name. A
// path has at least one name, which may be empty.
func Key(path ...string) string {
	escaped := make([]string, len(path))
	for i, name := range path {
		escaped[i] = escape(name)
	}
	return strings.Join(escaped, ".")
}

// SplitKey returns the path that key names. It fails on a \ that escapes nothing.
func SplitKey(key string) ([]string, error) {
	if !strings.Contains(key, `\`) {
		return strings.Split(key, "."), nil
	}
	var path []string
	var name []byte
	for i := 0; i < len(key); i++ {
		switch c := key[i]; {
		case c == '.':
			path = append(path, string(name))
			name = name[:0]
		case c != '\\':
			name = append(name, c)
		case i+1 < len(key) && (key[i+1] == '.' || key[i+1] == '\\'):
			i++
			name = append(name, key[i])
		default:
			return nil, errors.New(`a \ in a key has to stand before . or \`)
		}
	}
	return append(path, string(name)), nil
}
