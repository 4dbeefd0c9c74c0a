package description

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/projecthub/hubclient/oas"
)

// checker checks a description against the specification. It visits each value once, and
// follows a reference only to what it refers to, so that its time grows with the length
// of the description.
type checker struct {
	root    *node
	version oas.Version
	step    func() error // called from time to time
	visited int
	err     error // of step
	found   findings

	references []*node
	anchors    map[string]bool  // of schemas since 3.1
	schemes    *node            // the security schemes
	operations map[string]*node // by operation id
}

func (c *checker) run() error {
	place := []string{"components", "securitySchemes"}
	if c.version == oas.V20 {
		place = []string{"securityDefinitions"}
	}
	if at := c.root.down(place...); at.name == place[len(place)-1] {
		c.schemes = at
	}
	c.anchors, c.operations = map[string]bool{}, map[string]*node{}
	c.visit(c.root, oas.Document())
	for i := 0; i < len(c.references) && c.err == nil; i++ { // resolving can visit more
		c.resolve(c.references[i])
	}
	if c.err == nil {
		c.checkPaths()
	}
	return c.err
}

// visit checks that n is a t, and all that it contains.
func (c *checker) visit(n *node, t *oas.Type) {
	if c.visited++; c.visited%growStep == 0 && c.err == nil {
		c.err = c.step()
	}
	if c.err != nil || n.is != nil {
		return
	}
	n.is = t
	switch {
	case t.Kind == oas.Object && n.kind == boolean && (t.Bool || t.Object.Name == "schema" && c.version >= oas.V31):
	case !fits(n, t.Kind):
		c.found.add(n, wrongType, label(n), words(t), n.shown())
		n.is = nil
	case t.Kind == oas.Array:
		for _, child := range n.children {
			c.visit(child, t.Of)
		}
	case t.Kind == oas.Map:
		for _, child := range n.children {
			c.visitMember(child, t.Of)
		}
	case t.Kind == oas.Types:
		c.checkTypes(n)
	case t.Kind == oas.Object:
		c.visitObject(n, t.Object)
	}
}

// visitMember is visit for a member that is absent when it is null.
func (c *checker) visitMember(n *node, t *oas.Type) {
	if n.kind == null && t.Kind != oas.Any {
		c.found.add(n, nullMember, label(n))
		return
	}
	c.visit(n, t)
}

func fits(n *node, k oas.Kind) bool {
	switch k {
	case oas.String:
		return n.kind == text
	case oas.Bool:
		return n.kind == boolean
	case oas.Number:
		return n.kind == number
	case oas.Count:
		return n.kind == number && isCount(n.text)
	case oas.Types:
		return n.kind == text || n.kind == array
	case oas.Array:
		return n.kind == array
	case oas.Object, oas.Map:
		return n.kind == object
	}
	return true
}

// isCount reports whether a number is whole and not negative, such as 3, 3.0 or 1e3.
func isCount(s string) bool {
	if _, err := strconv.ParseUint(s, 10, 64); err == nil {
		return true
	}
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && f >= 0 && f == float64(uint64(f))
}

func label(n *node) string {
	if n.name == "" {
		return "this"
	}
	return quote(n.name)
}

func (c *checker) visitObject(n *node, o *oas.Def) {
	if ref := n.member("$ref"); ref != nil {
		switch {
		case !o.RefIn(c.version):
			c.found.add(ref, refNotAllowed)
			return
		case ref.kind != text:
			c.found.add(ref, refType, ref.shown())
		default:
			c.references = append(c.references, n)
			if o.Name != "pathItem" && (o.Name != "schema" || c.version < oas.V31) {
				return // other members have no effect
			}
		}
	}
	for _, name := range o.Required(c.version) {
		if m := n.member(name); m == nil || m.kind == null {
			c.found.add(n, missing, quote(name))
		} else if m.kind == text && m.text == "" && name != "description" {
			c.found.add(m, emptyText, quote(name))
		}
	}
	var unknown []*node
	for _, child := range n.children {
		switch m := o.Member(child.name, c.version); {
		case m != nil:
			c.visitMember(child, m.Type)
		case strings.HasPrefix(child.name, "x-"), child.name == "$ref":
		case o.Name == "document" && (child.name == "swagger" || child.name == "openapi"): // see readVersion
		case o.Rest != nil:
			c.visitMember(child, o.Rest)
		case o.Open && c.version >= oas.V31:
		default:
			unknown = append(unknown, child)
		}
	}
	c.report(o, unknown)
	if rule := rules[o.Name]; rule != nil {
		rule(c, n)
	}
}

// report adds findings about members that an object does not have in this version.
func (c *checker) report(o *oas.Def, members []*node) {
	var nowhere []string
	var first *node
	for _, m := range members {
		since, known := o.First(m.name)
		switch {
		case known && since > c.version:
			c.found.add(m, laterMember, quote(m.name), c.version, since)
		case known:
			c.found.add(m, formerMember, quote(m.name), c.version)
		default:
			if first == nil {
				first = m
			}
			nowhere = append(nowhere, m.name)
		}
	}
	if first != nil {
		c.found.add(first, unknownMember, quoteAll(nowhere))
	}
}

// schemaTypes are the types of a schema; null is not one in 3.0.
var schemaTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

func (c *checker) checkTypes(n *node) {
	if n.kind == array && c.version == oas.V30 {
		c.found.add(n, severalTypes)
		return
	}
	values := n.children
	if n.kind == text {
		values = []*node{n}
	}
	for _, value := range values {
		switch {
		case value.kind != text:
			c.found.add(value, wrongType, label(value), "a string", value.shown())
		case value.text == "file" && c.version == oas.V20: // of a response
		case value.text == "null" && c.version == oas.V30, !slices.Contains(schemaTypes, value.text):
			c.found.add(value, unknownValue, "type", quote(value.text))
		}
	}
}

var validComponent = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

// objectWords are the names of objects in findings, where they differ from the table's.
var objectWords = map[string]string{
	"document": "the whole description", "info": "an info object", "externalDocs": "an external documentation object",
	"components": "a components object", "paths": "a paths object", "pathItem": "a path item", "operation": "an operation",
	"requestBody": "a request body", "mediaType": "a media type", "encoding": "an encoding", "responses": "a responses object",
	"example": "an example", "securityScheme": "a security scheme", "securityRequirement": "a security requirement",
	"oauthFlows": "an object of OAuth flows", "oauthFlow": "an OAuth flow", "discriminator": "a discriminator object",
	"serverVariable": "a server variable", "items": "an items object", "xml": "an XML object",
}

// words says what a type is.
func words(t *oas.Type) string {
	switch t.Kind {
	case oas.String:
		return "a string"
	case oas.Bool:
		return "a boolean"
	case oas.Number:
		return "a number"
	case oas.Count:
		return "a whole number of 0 or more"
	case oas.Types:
		return "a string or an array of strings"
	case oas.Array:
		return "an array"
	case oas.Map:
		return "an object"
	case oas.Object:
		if known := objectWords[t.Object.Name]; known != "" {
			return known
		}
		return "a " + t.Object.Name
	}
	return "any value"
}
