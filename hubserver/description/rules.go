package description

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/projecthub/hubclient/oas"
)

// rules check what the types of an object's members do not say.
var rules map[string]func(*checker, *node)

func init() { // the rules visit values, which look up rules
	rules = map[string]func(*checker, *node){
		"document": (*checker).documentRule, "components": (*checker).componentsRule,
		"server": (*checker).serverRule, "serverVariable": (*checker).variableRule,
		"license":   exclusiveRule("identifier", "url"),
		"example":   exclusiveRule("value", "externalValue"),
		"mediaType": exclusiveRule("example", "examples"),
		"link":      (*checker).linkRule, "operation": (*checker).operationRule,
		"parameter": (*checker).parameterRule, "header": (*checker).headerRule,
		"responses": (*checker).responsesRule, "schema": (*checker).schemaRule, "items": (*checker).itemsRule,
		"securityScheme": (*checker).schemeRule, "securityRequirement": (*checker).requirementRule,
	}
}

// has reports whether n has a member that is not null.
func (n *node) has(name string) bool {
	m := n.member(name)
	return m != nil && m.kind != null
}

// says reports whether n is the string s, or an array that has it.
func (n *node) says(s string) bool {
	is := func(n *node) bool { return n.kind == text && n.text == s }
	return n != nil && (is(n) || slices.ContainsFunc(n.children, is))
}

func exclusiveRule(one, other string) func(*checker, *node) {
	return func(c *checker, n *node) {
		if n.has(one) && n.has(other) {
			c.found.add(n, exclusive, one, other)
		}
	}
}

// oneOf adds a finding unless the string n is one of values.
func (c *checker) oneOf(n *node, what string, values ...string) {
	if n != nil && n.kind == text && n.text != "" && !slices.Contains(values, n.text) {
		c.found.add(n, unknownValue, what, quote(n.text))
	}
}

func (c *checker) documentRule(n *node) {
	tags := map[string]bool{}
	if list := n.member("tags"); list != nil && list.kind == array {
		for _, tag := range list.children {
			name := tag.member("name")
			if name == nil || name.kind != text {
				continue
			}
			if tags[name.text] {
				c.found.add(name, tagTwice, quote(name.text))
			}
			tags[name.text] = true
		}
	}
}

func (c *checker) componentsRule(n *node) {
	for _, section := range n.children {
		if strings.HasPrefix(section.name, "x-") || section.kind != object {
			continue
		}
		for _, child := range section.children {
			if !validComponent.MatchString(child.name) {
				c.found.add(child, componentName, quote(child.name))
			}
		}
	}
}

var variable = regexp.MustCompile(`\{([^{}]*)\}`)

func (c *checker) serverRule(n *node) {
	address, variables := n.member("url"), n.member("variables")
	if address == nil || address.kind != text {
		return
	}
	for _, match := range variable.FindAllStringSubmatch(address.text, MaxFindings) {
		if variables.member(match[1]) == nil {
			c.found.add(address, noVariable, quote(match[1]))
		}
	}
}

func (c *checker) variableRule(n *node) {
	values, standard := n.member("enum"), n.member("default")
	if c.version >= oas.V31 && values != nil && values.kind == array && standard != nil && !values.says(standard.text) {
		c.found.add(standard, variableValues)
	}
}

func (c *checker) linkRule(n *node) {
	switch byRef, byID := n.has("operationRef"), n.has("operationId"); {
	case byRef && byID:
		c.found.add(n, exclusive, "operationRef", "operationId")
	case !byRef && !byID:
		c.found.add(n, oneOfMembers, "a link", "operationRef or operationId")
	}
}

func (c *checker) operationRule(n *node) {
	if id := n.member("operationId"); id != nil && id.kind == text {
		if first := c.operations[id.text]; first != nil {
			c.found.add(id, operationIDTwice, quote(id.text), first.line)
		} else {
			c.operations[id.text] = id
		}
	}
}

func (c *checker) parameterRule(n *node) {
	in := n.member("in")
	if in == nil || in.kind != text {
		return
	}
	switch {
	case c.version == oas.V20:
		c.oneOf(in, "in", "query", "header", "path", "formData", "body")
		c.parameter20(n, in.text)
	case c.version == oas.V32:
		c.oneOf(in, "in", "query", "querystring", "header", "path", "cookie")
		c.valueRule(n, "a parameter")
	default:
		c.oneOf(in, "in", "query", "header", "path", "cookie")
		c.valueRule(n, "a parameter")
	}
	if required := n.member("required"); in.text == "path" && (required == nil || required.text != "true") {
		c.found.add(n, pathRequired)
	}
}

func (c *checker) parameter20(n *node, in string) {
	if in == "body" {
		if !n.has("schema") {
			c.found.add(n, oneOfMembers, "a body parameter", "a schema")
		}
		return
	}
	if !n.has("type") {
		c.found.add(n, missing, quote("type"))
	}
	types := []string{"string", "number", "integer", "boolean", "array"}
	if in == "formData" {
		types = append(types, "file")
	}
	c.oneOf(n.member("type"), "type", types...)
	c.arrayRule(n)
}

func (c *checker) headerRule(n *node) {
	if c.version == oas.V20 {
		c.itemsRule(n)
		return
	}
	c.valueRule(n, "a header")
}

func (c *checker) itemsRule(n *node) {
	c.oneOf(n.member("type"), "type", "string", "number", "integer", "boolean", "array")
	c.arrayRule(n)
}

// valueRule checks how a parameter or header since 3.0 says what its value is.
func (c *checker) valueRule(n *node, what string) {
	schema, content := n.has("schema"), n.member("content")
	switch {
	case schema && content != nil:
		c.found.add(n, exclusive, "schema", "content")
	case !schema && content == nil:
		c.found.add(n, oneOfMembers, what, "a schema or content")
	case content != nil && content.kind == object && len(content.children) != 1:
		c.found.add(content, contentOne)
	}
	if n.has("example") && n.has("examples") {
		c.found.add(n, exclusive, "example", "examples")
	}
}

func (c *checker) arrayRule(n *node) {
	if n.member("type").says("array") && !n.has("items") {
		c.found.add(n, arrayNoItems)
	}
}

var (
	status     = regexp.MustCompile(`^[1-9][0-9][0-9]$`)
	statuses30 = regexp.MustCompile(`^[1-5]XX$`)
)

func (c *checker) responsesRule(n *node) {
	some := false
	for _, child := range n.children {
		switch name := child.name; {
		case strings.HasPrefix(name, "x-"):
			continue
		case name != "default" && !status.MatchString(name) && (c.version == oas.V20 || !statuses30.MatchString(name)):
			c.found.add(child, responseStatus, quote(name))
		}
		some = true
	}
	if !some {
		c.found.add(n, noResponse)
	}
}

func (c *checker) schemaRule(n *node) {
	if c.version <= oas.V30 {
		c.arrayRule(n)
	} else {
		for _, name := range []string{"$anchor", "$dynamicAnchor"} {
			if anchor := n.member(name); anchor != nil && anchor.kind == text {
				c.anchors[anchor.text] = true
			}
		}
	}
	is := func(name string) bool {
		m := n.member(name)
		return m != nil && m.kind == boolean && m.text == "true"
	}
	if c.version == oas.V30 && is("readOnly") && is("writeOnly") {
		c.found.add(n, readAndWrite)
	}
}

// schemeNeeds are the members that a security scheme needs besides its type.
var schemeNeeds = map[string][]string{
	"apiKey": {"name", "in"}, "http": {"scheme"}, "oauth2": {"flows"}, "openIdConnect": {"openIdConnectUrl"},
}

func (c *checker) schemeRule(n *node) {
	kind := n.member("type")
	if kind == nil || kind.kind != text {
		return
	}
	if c.version == oas.V20 {
		c.oneOf(kind, "type", "basic", "apiKey", "oauth2")
		switch kind.text {
		case "apiKey":
			c.needs(n, "name", "in")
			c.oneOf(n.member("in"), "in", "query", "header")
		case "oauth2":
			c.needs(n, "flow", "scopes")
			c.flow(n, n.member("flow"))
		}
		return
	}
	types := []string{"apiKey", "http", "oauth2", "openIdConnect"}
	if c.version >= oas.V31 {
		types = append(types, "mutualTLS")
	}
	c.oneOf(kind, "type", types...)
	c.needs(n, schemeNeeds[kind.text]...)
	if kind.text == "apiKey" {
		c.oneOf(n.member("in"), "in", "query", "header", "cookie")
	}
	if flows := n.member("flows"); kind.text == "oauth2" && flows != nil && flows.kind == object {
		for _, flow := range flows.children {
			if flow.kind == object {
				c.flow(flow, &node{kind: text, text: flow.name})
			}
		}
	}
}

func (c *checker) needs(n *node, names ...string) {
	for _, name := range names {
		if !n.has(name) {
			c.found.add(n, missing, quote(name))
		}
	}
}

// flow checks the addresses that a flow of OAuth needs.
func (c *checker) flow(n, kind *node) {
	if kind == nil {
		return
	}
	switch kind.text {
	case "implicit":
		c.needs(n, "authorizationUrl")
	case "password", "application", "clientCredentials":
		c.needs(n, "tokenUrl")
	case "accessCode", "authorizationCode":
		c.needs(n, "authorizationUrl", "tokenUrl")
	case "deviceAuthorization":
		c.needs(n, "deviceAuthorizationUrl", "tokenUrl")
	default:
		if c.version == oas.V20 {
			c.oneOf(kind, "flow")
		}
	}
}

func (c *checker) requirementRule(n *node) {
	for _, child := range n.children {
		if c.schemes.member(child.name) != nil || c.version == oas.V32 && strings.ContainsAny(child.name, "/#:") {
			continue
		}
		c.found.add(child, unknownScheme, quote(child.name))
	}
}

// keyOf distinguishes the parameters of an operation.
func keyOf(in, name string) string { return strconv.Itoa(len(in)) + in + name }
