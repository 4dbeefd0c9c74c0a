package description

import (
	"net/url"
	"strings"

	"example.com/projecthub/hubclient/oas"
)

// maxHops is how many references may refer to one another before a value.
const maxHops = 32

// isReference reports whether n is a reference that was found in its place.
func (n *node) isReference() bool {
	if n.is == nil || n.is.Kind != oas.Object || !n.is.Object.Ref {
		return false
	}
	ref := n.member("$ref")
	return ref != nil && ref.kind == text
}

// resolve checks what the reference n refers to.
func (c *checker) resolve(n *node) {
	target := c.next(n)
	if target == nil || c.version >= oas.V31 && n.is.Object.Name == "schema" {
		return // such a schema can refer to itself, next to its other members
	}
	for range maxHops - 1 {
		if !target.isReference() {
			return
		}
		if target = c.next(target); target == nil {
			return // which has its own finding
		}
	}
	if target.isReference() {
		ref := n.member("$ref")
		c.found.add(ref, refCircle, quote(ref.text), maxHops)
	}
}

// next returns what the reference n refers to, nil where that is not known, and reports
// once what is wrong with it.
func (c *checker) next(n *node) *node {
	if n.resolved {
		return n.target
	}
	n.resolved = true
	ref := n.member("$ref")
	target, wrong := c.lookup(ref)
	switch {
	case wrong != nil:
		c.found.add(ref, *wrong, quote(ref.text))
		return nil
	case target == nil:
		return nil
	}
	if target.is == nil && target.kind == object { // in an extension, for example
		c.visit(target, n.is)
	}
	boolSchema := target.kind == boolean && n.is.Object.Name == "schema" && c.version >= oas.V31
	if !boolSchema && (target.is == nil || target.is.Kind != oas.Object || target.is.Object != n.is.Object) {
		c.found.add(ref, refKind, quote(ref.text), target.what(), words(n.is))
		return nil
	}
	n.target = target
	return target
}

// what describes n in words.
func (n *node) what() string {
	if n.is == nil || n.is.Kind == oas.Any {
		return n.kind.String()
	}
	return words(n.is)
}

// end returns the value that n refers to if it is a reference, nil where it is not known.
func (n *node) end() *node {
	for range maxHops {
		if !n.isReference() {
			return n
		}
		if n = n.target; n == nil {
			return nil
		}
	}
	return nil
}

// lookup returns the value that ref refers to, or what is wrong with ref. It returns
// neither where a schema has its own rules for references.
func (c *checker) lookup(ref *node) (target *node, wrong *check) {
	if c.version >= oas.V31 {
		if c.anchors[strings.TrimPrefix(ref.text, "#")] || ref.hasID() {
			return nil, nil
		}
	}
	pointer, local := strings.CutPrefix(ref.text, "#")
	if !local && ref.text != "" {
		return nil, &refOutside
	}
	pointer, err := url.PathUnescape(pointer)
	if !local || err != nil || pointer != "" && pointer[0] != '/' {
		return nil, &refForm
	}
	target = c.root
	for _, segment := range segments(pointer) {
		if target = target.step(segment); target == nil {
			return nil, &refMissing
		}
	}
	return target, nil
}

// hasID reports whether n is in a schema with an address of its own, to which references
// in it are relative.
func (n *node) hasID() bool {
	for ; n != nil; n = n.parent {
		if n.is != nil && n.is.Kind == oas.Object && n.is.Object.Name == "schema" && n.member("$id") != nil {
			return true
		}
	}
	return false
}
