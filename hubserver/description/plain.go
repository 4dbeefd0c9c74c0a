package description

import (
	"github.com/go-json-experiment/json/jsontext"
)

// withoutReferences writes the description as JSON, with a short valid value instead of
// each reference: the value that it refers to is checked where it is defined. Without
// references, checking a document takes no longer than reading it.
func withoutReferences(root *node, v version) ([]byte, error) {
	w := plainWriter{version: v}
	w.value(root)
	if w.work > maxPlainWork {
		return nil, invalid("the description has too much deeply nested text")
	}
	return w.json, nil
}

// maxPlainWork bounds how many bytes the library reads. It reads an object again for
// every object around it.
const maxPlainWork = 192 << 20

// patched is a version of each edition that the library knows; it does not know all patch numbers.
var patched = map[version]string{v30: "3.0.3", v31: "3.1.1"}

type plainWriter struct {
	version version
	json    []byte
	work    int // the lengths of all objects added up, those in others counted again
}

func (w *plainWriter) value(n *node) {
	switch n.kind {
	case object:
		w.object(n)
	case array:
		w.elements(n)
	case text:
		w.string(n.text)
	case null:
		w.json = append(w.json, "null"...)
	default:
		w.json = append(w.json, n.text...)
	}
}

func (w *plainWriter) string(s string) {
	w.json, _ = jsontext.AppendQuote(w.json, s) // fails on what is not UTF-8, which was refused
}

func (w *plainWriter) elements(n *node) {
	w.json = append(w.json, '[')
	for i, child := range n.children {
		if i > 0 {
			w.json = append(w.json, ',')
		}
		w.value(child)
	}
	w.json = append(w.json, ']')
}

func (w *plainWriter) object(n *node) {
	if n.isReference() && !hasSiblings(n.role, w.version) {
		w.standIn(n)
		return
	}
	start := len(w.json)
	defer func() { w.work += len(w.json) - start }()
	w.json = append(w.json, '{')
	first := true
	for _, child := range n.children {
		if w.left(n, child) {
			continue
		}
		if !first {
			w.json = append(w.json, ',')
		}
		first = false
		w.string(child.name)
		w.json = append(w.json, ':')
		switch {
		case n.role == "document" && child.name == "openapi":
			w.string(patched[w.version])
		case child.role == data:
			w.json = append(w.json, '0') // the library does not check it
		case child.kind == text && (child.name == "description" || child.name == "summary") && child.text != "":
			w.json = append(w.json, `"-"`...) // the text does not matter, and the library would copy a long one often
		default:
			w.value(child)
		}
	}
	w.json = append(w.json, '}')
}

// left reports whether child is left out of n: because it has no meaning in OpenAPI, or
// because the library mishandles it.
func (w *plainWriter) left(n, child *node) bool {
	if grammar[n.role] == nil {
		return false
	}
	_, listed := grammar[n.role][child.name]
	switch {
	case !listed:
		return child.role == "" // an extension, an own keyword, or the $ref of a schema whose other members count
	case child.name == "consumes" || child.name == "produces":
		return w.version == v20 // the conversion would copy them for each operation
	case child.name == "collectionFormat":
		return n.role == "schema" && w.version != v30 // unknown to the library in 2.0; an own keyword in 3.1
	case child.name == "pathItems":
		return w.version == v31 // unknown to the library
	}
	return false
}

// standIns are the shortest valid values of each role.
var standIns = map[string]string{
	"schema":         `{}`,
	"response":       `{"description":""}`,
	"example":        `{"value":0}`,
	"requestBody":    `{"content":{}}`,
	"header":         `{"schema":{}}`,
	"securityScheme": `{"type":"http","scheme":"basic"}`,
	"link":           `{"operationRef":"#"}`,
	"callback":       `{}`,
	"pathItem":       `{}`,
}

func (w *plainWriter) standIn(n *node) {
	if n.role != "parameter" {
		w.json = append(w.json, standIns[n.role]...)
		return
	}
	// A parameter matters where it is referred to: a path has to declare all its parameters.
	w.json = append(w.json, '{')
	for _, name := range []string{"name", "in", "required"} {
		if m := n.target.member(name); m != nil && m.kind != array && m.kind != object {
			w.string(name)
			w.json = append(w.json, ':')
			w.value(m)
			w.json = append(w.json, ',')
		}
	}
	w.json = append(w.json, `"schema":{}}`...)
}
