// Package flat turns nested settings into a flat config and back, and compares and merges
// configs. Both sides use it, so that they mean the same config by
// the same revision.
//
// A flat config has one member for each leaf of the settings. A leaf is
// anything but an object with members, or a reference to a secret of the app's
// environment, {"$secret": "NAME"}; its key is the path of member names that
// leads to it (see [Key]). A number is its literal text, so 1.0 is not 1.00.
//
// The package knows what enrichments are, and no other setting; it knows no
// project, file or network.
package flat

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/wire"
)

// Config is a flat config: keys, each with the canonical text of a leaf. It
// never changes. The zero Config is empty.
//
// What writes out keys (Canonical, Revision, Keys, [Diff]) takes time and
// memory in proportion to their length. Below a long name that can be far more
// than the settings had, so a caller that folds foreign settings calls [Config.Check] first.
type Config struct{ settings node }

// Fold turns settings, a JSON object, into a config, or fails as [Parse] does.
func Fold(settings []byte) (Config, error) {
	root, err := parseObject(settings)
	return Config{root}, err
}

// FoldMember is [Fold] of the settings that a member of a JSON object holds, and reads the
// text once. found is false if there is no such member; the object may have those with the
// names in ignored, and no others.
func FoldMember(object []byte, name string, ignored ...string) (c Config, found bool, err error) {
	root, err := parseObject(object)
	if err != nil {
		return Config{}, false, err
	}
	for _, m := range root.items {
		if m.name != name && !slices.Contains(ignored, m.name) {
			return Config{}, false, wire.UnknownMember(m.name)
		}
	}
	m, found := root.member(name)
	if !found {
		return Config{}, false, nil
	}
	if !m.isObject() {
		return Config{}, false, badMember(name, needObject)
	}
	return Config{node{items: m.items}}, true, nil
}

// Unfold returns the settings: one nested JSON object in canonical form.
func (c Config) Unfold() []byte { return c.settings.appendTo(nil) }

// Canonical returns the flat config as one JSON object in canonical form: no
// white space, members in the byte order of their UTF-8 names at every depth,
// strings with nothing escaped that need not be, numbers as they were written.
// Two configs are equal when their canonical forms are.
func (c Config) Canonical() []byte {
	members := c.flat()
	size := len("{}")
	for _, m := range members {
		size += len(`"":,`) + len(m.name) + max(len(m.text), len("{}")) // most need no more
	}
	return node{items: members}.appendTo(make([]byte, 0, size))
}

// Revision is the SHA-256 of the canonical form, as 64 lower-case hex digits.
func (c Config) Revision() string {
	sum := sha256.Sum256(c.Canonical())
	return hex.EncodeToString(sum[:])
}

// Len is the number of keys.
func (c Config) Len() int { return c.settings.leaves() }

// Keys returns the keys in byte order.
func (c Config) Keys() []string {
	members := c.flat()
	keys := make([]string, len(members))
	for i, m := range members {
		keys[i] = m.name
	}
	return keys
}

// Get returns the canonical text of key's value, and whether there is such a key.
func (c Config) Get(key string) (text string, ok bool) {
	path, err := SplitKey(key)
	n := c.settings
	for _, name := range path {
		if n, ok = n.member(name); !ok {
			return "", false
		}
	}
	if err != nil || !n.isLeaf() {
		return "", false
	}
	return n.leafText(), true
}

// EnrichmentCount is the number of records in the setting enrichments, an array
// of records or an object of records. Anything else holds none.
func (c Config) EnrichmentCount() int {
	list, _ := c.settings.member(enrichments)
	return len(list.items)
}

// enrichments is the setting whose value is a list of records.
const enrichments = "enrichments"

// flat returns the members of the flat config, named by their keys, in key
// order. It differs from the order of names: a is before a-, but a- before a.b.
func (c Config) flat() []node {
	l := leaves{nodes: make([]node, 0, c.Len())}
	l.add(c.settings, make([]byte, 0, 128))
	keys, start := string(l.keys), 0 // one text for all, since they are short
	for i, end := range l.ends {
		l.nodes[i].name, start = keys[start:end], end
	}
	slices.SortFunc(l.nodes, byName)
	return l.nodes
}

// leaves are nodes with their keys.
type leaves struct {
	nodes []node
	keys  []byte // of the nodes, one after the other
	ends  []int  // in keys
}

func (l *leaves) add(object node, prefix []byte) {
	for _, n := range object.items {
		key := append(prefix, escape(n.name)...)
		if n.isLeaf() {
			l.nodes, l.keys = append(l.nodes, n), append(l.keys, key...)
			l.ends = append(l.ends, len(l.keys))
		} else {
			l.add(n, append(key, '.'))
		}
	}
}

// Limits is how large a config may be. A limit of 0 limits nothing.
type Limits struct {
	Bytes int64 // of the flat config's canonical form
	Keys  int
	Depth int // nesting of the settings: {"a":1} is 1 deep, {"a":{"b":[1]}} 3
}

// LimitError says which limit a config is above.
type LimitError struct {
	What       string // "size in bytes", "number of keys" or "depth"
	Found, Max int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the config's %s is %d, above the limit of %d", e.What, e.Found, e.Max)
}

// Check returns a [*LimitError] when c is above one of the limits.
func (c Config) Check(limits Limits) error { return c.Measure().Check(limits) }

// Measure returns the least limits that allow c. It writes no keys out: its time is in
// proportion to the settings, however long the keys are.
func (c Config) Measure() Limits {
	commas := max(0, c.Len()-1)
	size := int64(len("{}")+commas) + flatSize(c.settings, 0)
	return Limits{size, c.Len(), c.settings.depth()}
}

// Check returns a [*LimitError] when a config of these measures is above one of the limits.
func (l Limits) Check(limits Limits) error {
	for _, e := range []LimitError{
		{"size in bytes", l.Bytes, limits.Bytes},
		{"number of keys", int64(l.Keys), int64(limits.Keys)},
		{"depth", int64(l.Depth), int64(limits.Depth)},
	} {
		if e.Max > 0 && e.Found > e.Max {
			return &e
		}
	}
	return nil
}

// flatSize is the length of the members that object's leaves become, without
// commas, when the quoted text of their keys has prefix bytes before object's own.
func flatSize(object node, prefix int64) int64 {
	var size int64
	for _, n := range object.items {
		quoted := quotedLen(escape(n.name))
		if n.isLeaf() {
			size += prefix + int64(quoted+len(":")+len(n.leafText()))
		} else {
			size += flatSize(n, prefix+int64(quoted-len(`""`)+len(".")))
		}
	}
	return size
}

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
	// In path order, what is below a path follows immediately.
	for i := 1; i < len(leaves); i++ {
		above, below := leaves[i-1], leaves[i]
		if len(above.path) < len(below.path) && slices.Equal(above.path, below.path[:len(above.path)]) {
			return Config{}, badMember(below.name, "%q holds a value, so no key can be below it", above.name)
		}
	}
	return Config{node{items: nest(leaves, 0)}}, nil
}

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
			return nil, errors.New(`a \ in a key must be followed by . or \`)
		}
	}
	return append(path, string(name)), nil
}
