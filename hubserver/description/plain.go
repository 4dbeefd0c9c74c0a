package description

import (
	"github.com/go-json-experiment/json/jsontext"
)

// withoutReferences writes the description as JSON with something short and valid
// in the place of each reference: what a reference leads to is checked where it
// stands. Without references no document is longer to check than it is to read.
func withoutReferences(root *node, v version) ([]byte, error) {
	w := plainWriter{version: v}
	w.value(root)
	if w.work > maxPlainWork {
		return nil, invalid("the description has too much text that is nested deeply")
	}
	return w.json, nil
}

// maxPlainWork bounds how many bytes the library reads, which reads an object once
// more for every object that it is in.
const maxPlainWork = 192 << 20

// patched is a version of each edition that the library knows; the patch digit means nothing to it.
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
			w.json = append(w.json, '0') // nothing looks at it
		case child.kind == text && (child.name == "description" || child.name == "summary") && child.text != "":
			w.json = append(w.json, `"-"`...) // any text will do, and the library would copy a long one often
		default:
			w.value(child)
		}
	}
	w.json = append(w.json, '}')
}

// left reports whether child is left out of n: what says nothing by OpenAPI, and
// what the library mishandles.
func (w *plainWriter) left(n, child *node) bool {
	if grammar[n.role] == nil {
		return false
	}
	_, listed := grammar[n.role][child.name]
	switch {
	case !listed:
		return child.role == "" // an extension, a keyword of one's own, or the reference whose siblings count
	case child.name == "consumes" || child.name == "produces":
		return w.version == v20 // conversion would multiply them with the operations
	case child.name == "collectionFormat":
		return n.role == "schema" && w.version != v30 // not known in 2.0; in 3.1 anyone's own
	case child.name == "pathItems":
		return w.version == v31 // not known
	}
	return false
}

// standIns are the shortest values that pass for what a reference leads to.
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
	// A parameter counts where it is referred to: a path has to declare its own.
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
