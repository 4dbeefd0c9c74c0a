package description

import (
	"net/url"
	"strconv"
	"strings"

	"example.com/projecthub/hubclient/wire"
)

// MaxTargets bounds how many operations, schemas and properties [Description.Targets] lists.
const MaxTargets = 20_000

// Targets lists what enrichments can refer to: the operations, the named schemas, and their
// properties, also those that they get by allOf and by references.
func (d *Description) Targets() *wire.Targets {
	l := lister{root: d.root, left: MaxTargets, steps: 10 * MaxTargets, found: wire.Targets{
		Operations: []wire.TargetOperation{}, Schemas: []wire.TargetSchema{}, Complete: true,
	}}
	for _, path := range d.root.member("paths").members() {
		for _, method := range []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"} {
			operation := path.member(method)
			if operation == nil || operation.kind != object {
				continue
			}
			if !l.take() {
				return &l.found
			}
			found := wire.TargetOperation{Method: strings.ToUpper(method), Path: path.name}
			if id := operation.member("operationId"); id != nil && id.kind == text {
				found.OperationID = id.text
			}
			l.found.Operations = append(l.found.Operations, found)
		}
	}
	l.schemas(d.root.member("components").member("schemas"), "#/components/schemas/")
	l.schemas(d.root.member("definitions"), "#/definitions/")
	return &l.found
}

// Segments of JSON pointers.
var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

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

func (l *lister) schemas(all *node, pointer string) {
	for _, schema := range all.members() {
		if !l.take() {
			return
		}
		found := wire.TargetSchema{
			Name: schema.name, Pointer: pointer + escape.Replace(schema.name), Properties: []string{},
		}
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
	for _, property := range schema.member("properties").members() {
		if names[property.name] {
			continue
		}
		if !l.take() {
			return
		}
		names[property.name] = true
		into.Properties = append(into.Properties, property.name)
	}
	if ref := schema.member("$ref"); ref != nil && strings.HasPrefix(ref.text, "#/") {
		l.properties(l.lookUp(ref.text[len("#/"):]), into, names, seen)
	}
	if all := schema.member("allOf"); all != nil {
		for _, part := range all.children {
			l.properties(part, into, names, seen)
		}
	}
}

// lookUp returns the value that a reference into the description names, without its #/, or
// nil.
func (l *lister) lookUp(ref string) *node {
	pointer, err := url.PathUnescape(ref)
	if err != nil {
		return nil
	}
	n := l.root
	for segment := range strings.SplitSeq(pointer, "/") {
		if n == nil || n.kind != array {
			n = n.member(unescape.Replace(segment))
		} else if i, err := strconv.ParseUint(segment, 10, 31); err == nil && int(i) < len(n.children) {
			n = n.children[i]
		} else {
			return nil
		}
	}
	return n
}
