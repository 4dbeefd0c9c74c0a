package description

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"example.com/projecthub/hubclient/wire"
)

// MaxTargets bounds how many operations, schemas and properties [Targets] lists.
const MaxTargets = 20_000

// Targets lists what enrichments can refer to in a description: its operations, its named
// schemas and their properties, also those that they get by allOf and by references.
// data was accepted by [Parse]; the errors are those of Parse.
func Targets(ctx context.Context, data []byte, reserve Reserve) (t *wire.Targets, err error) {
	defer func() {
		if recover() != nil {
			t, err = nil, invalid("the description cannot be listed")
		}
	}()
	if reserve == nil {
		reserve = func(int64) error { return nil }
	}
	root, _, err := readTree(data, func(values int) error {
		if ctx.Err() != nil {
			return fmt.Errorf("read an API description: %w", context.Cause(ctx))
		}
		return reserve(2*int64(len(data)) + valueCost*int64(values))
	})
	if err != nil {
		return nil, err
	}
	l := lister{root: root, left: MaxTargets, steps: 10 * MaxTargets, found: wire.Targets{Operations: []wire.TargetOperation{}, Schemas: []wire.TargetSchema{}, Complete: true}}
	l.operations(root.member("paths"))
	for _, place := range [][]string{{"components", "schemas"}, {"definitions"}} {
		if at := root.down(place...); at.name == place[len(place)-1] {
			l.schemas(at, "#/"+strings.Join(place, "/"))
		}
	}
	return &l.found, nil
}

// lister collects targets, up to a limit.
type lister struct {
	root  *node
	left  int // targets that can be listed
	steps int // schemas that can be looked at, for they can refer to one another
	found wire.Targets
}

// take reports whether one more target can be listed.
func (l *lister) take() bool {
	if l.left--; l.left < 0 {
		l.found.Complete = false
		return false
	}
	return true
}

var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

func (l *lister) operations(paths *node) {
	if paths == nil || paths.kind != object {
		return
	}
	for _, path := range paths.children {
		for _, method := range methods {
			operation := path.member(method)
			if operation == nil || operation.kind != object {
				continue
			}
			if !l.take() {
				return
			}
			id := ""
			if n := operation.member("operationId"); n != nil && n.kind == text {
				id = n.text
			}
			l.found.Operations = append(l.found.Operations, wire.TargetOperation{OperationID: id, Method: strings.ToUpper(method), Path: path.name})
		}
	}
}

func (l *lister) schemas(place *node, pointer string) {
	if place.kind != object {
		return
	}
	for _, schema := range place.children {
		if !l.take() {
			return
		}
		found := wire.TargetSchema{Name: schema.name, Pointer: pointer + "/" + escapeSegment.Replace(schema.name), Properties: []string{}}
		l.properties(schema, &found, map[string]bool{}, map[*node]bool{})
		l.found.Schemas = append(l.found.Schemas, found)
	}
}

func (l *lister) properties(schema *node, into *wire.TargetSchema, names map[string]bool, seen map[*node]bool) {
	if l.steps--; schema == nil || seen[schema] || l.steps < 0 {
		l.found.Complete = l.found.Complete && l.steps >= 0
		return
	}
	seen[schema] = true
	if properties := schema.member("properties"); properties != nil && properties.kind == object {
		for _, property := range properties.children {
			if names[property.name] {
				continue
			}
			if !l.take() {
				return
			}
			names[property.name] = true
			into.Properties = append(into.Properties, property.name)
		}
	}
	if ref := schema.member("$ref"); ref != nil && strings.HasPrefix(ref.text, "#/") {
		l.properties(l.lookup(ref.text), into, names, seen)
	}
	if all := schema.member("allOf"); all != nil {
		for _, part := range all.children {
			l.properties(part, into, names, seen)
		}
	}
}

// lookup returns the value that a reference into the description names, or nil.
func (l *lister) lookup(ref string) *node {
	pointer, err := url.PathUnescape(ref[len("#"):])
	if err != nil {
		return nil
	}
	n := l.root
	for _, segment := range segments(pointer) {
		if n = n.step(segment); n == nil {
			return nil
		}
	}
	return n
}
