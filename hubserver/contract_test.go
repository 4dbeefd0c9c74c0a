package hubserver_test

import (
	"bytes"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contract holds exchanges against openapi.json. Its schemas are compiled once,
// by the validator of JSON Schema 2020-12 that kin-openapi too uses for OpenAPI
// 3.1, after every object in them was closed to members that it does not name.
type contract struct {
	root       map[string]any
	operations []*operation

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by JSON pointer
	seen    map[string]bool               // "GET /path 200"
}

type operation struct {
	method, path string
	pattern      *regexp.Regexp
	names        []string // of the path's parameters
	at           string   // JSON pointer
}

const documentName = "hub.json"

var theContract = sync.OnceValue(func() *contract {
	data, err := os.ReadFile("openapi.json")
	if err != nil {
		panic(err)
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		panic(err)
	}
	closeSchemas(root)
	c := &contract{root: root.(map[string]any), schemas: map[string]*jsonschema.Schema{}, seen: map[string]bool{}}
	for path, item := range c.root["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			if method != "parameters" {
				c.operations = append(c.operations, newOperation(method, path))
			}
		}
	}
	return c
})

var placeholder = regexp.MustCompile(`\\\{(\w+)\\\}`)

func newOperation(method, path string) *operation {
	op := &operation{method: strings.ToUpper(method), path: path, at: pointer("paths", path, method)}
	text := placeholder.ReplaceAllStringFunc(regexp.QuoteMeta(path), func(s string) string {
		name := strings.Trim(s, `\{}`)
		op.names = append(op.names, name)
		if name == "file" {
			return "(.*)"
		}
		return "([^/]*)"
	})
	// The router takes an empty part for a parameter, but not at the end.
	if last, ok := strings.CutSuffix(text, "([^/]*)"); ok {
		text = last + "([^/]+)"
	}
	op.pattern = regexp.MustCompile("^" + text + "$")
	return op
}

// closeSchemas forbids every member that a schema does not name, wherever the
// schema is used by itself and not as a part of another.
func closeSchemas(node any) {
	switch node := node.(type) {
	case []any:
		for _, v := range node {
			closeSchemas(v)
		}
	case map[string]any:
		for key, v := range node {
			switch key {
			case "example", "examples", "enum", "const":
				continue
			case "schema", "items":
				closeSchema(v)
			case "oneOf", "anyOf":
				for _, s := range v.([]any) {
					closeSchema(s)
				}
			case "properties":
				for _, s := range v.(map[string]any) {
					closeSchema(s)
				}
			}
			closeSchemas(v)
		}
	}
}

func closeSchema(v any) {
	schema, _ := v.(map[string]any)
	for _, key := range []string{"$ref", "properties", "allOf"} {
		if schema[key] != nil {
			schema["unevaluatedProperties"] = false
		}
	}
}

var escapes, unescapes = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

func pointer(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + escapes.Replace(p))
	}
	return b.String()
}

// node returns the value at a pointer, and where it is defined: references
// are followed at the end.
func (c *contract) node(at string) (any, string) {
	var v any = c.root
	for _, part := range strings.Split(at, "/")[1:] {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[unescapes.Replace(part)]
		case []any:
			i, _ := strconv.Atoi(part)
			v = parent[i]
		}
	}
	if m, ok := v.(map[string]any); ok {
		if to, ok := m["$ref"].(string); ok && !strings.Contains(to, "/schemas/") {
			return c.node(strings.TrimPrefix(to, "#"))
		}
	}
	return v, at
}

func (c *contract) object(at string) (map[string]any, string) {
	v, at := c.node(at)
	m, _ := v.(map[string]any)
	return m, at
}

// validate holds v against the schema at a pointer.
func (c *contract) validate(at string, v any) error {
	c.mu.Lock()
	schema := c.schemas[at]
	if schema == nil {
		compiler := jsonschema.NewCompiler()
		compiler.DefaultDraft(jsonschema.Draft2020)
		compiler.AssertFormat()
		if err := compiler.AddResource(documentName, c.root); err != nil {
			panic(err)
		}
		schema = compiler.MustCompile(
			documentName + "#" + strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D").Replace(at))
		c.schemas[at] = schema
	}
	c.mu.Unlock()
	return schema.Validate(v)
}

func (c *contract) find(method, path string) (op *operation, params map[string]string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, op := range c.operations {
		if found := op.pattern.FindStringSubmatch(path); found != nil && op.method == method {
			params = map[string]string{}
			for i, name := range op.names {
				params[name] = found[i+1]
			}
			return op, params
		}
	}
	return nil, nil
}

// exchange is a request with its answer.
type exchange struct {
	method, path string // path as the hub sees it, decoded
	query        map[string][]string
	header       http.Header
	body         []byte
	status       int
	answerHeader http.Header
	answer       []byte
}

// check returns what the contract has against an exchange.
func (c *contract) check(x *exchange) []error {
	op, params := c.find(x.method, x.path)
	at, accepted := "", false
	switch {
	case op == nil && x.status == http.StatusNotFound && (x.method == http.MethodGet || x.method == http.MethodHead) &&
		(strings.HasPrefix(x.path, "/@") || !strings.HasPrefix(x.path, "/v1/") &&
			strings.Contains(x.header.Get("Accept"), "text/html")):
		at = pointer("paths", "/@{account}/{slug}", "get", "responses", "404")
	case op == nil && x.status == http.StatusNotFound:
		at = "/components/responses/UnknownRoute"
	case op == nil && x.status == http.StatusMethodNotAllowed:
		at = "/components/responses/MethodNotAllowed"
	case op == nil:
		return []error{fmt.Errorf("no operation is documented")}
	default:
		at = op.at + pointer("responses", strconv.Itoa(x.status))
		accepted = x.status < 400 || x.status == http.StatusConflict || x.status == http.StatusPreconditionFailed
		c.mu.Lock()
		c.seen[fmt.Sprintf("%s %s %d", op.method, op.path, x.status)] = true
		c.mu.Unlock()
	}
	response, at := c.object(at)
	if response == nil {
		return []error{fmt.Errorf("status %d is not documented", x.status)}
	}
	errs := append(c.checkHeaders(response, at, x), c.checkAnswer(response, at, x)...)
	if accepted {
		errs = append(errs, c.checkRequest(op, params, x)...)
	}
	return errs
}

// everywhere are the headers that HTTP itself gives to answers, and those that
// concern caches and browsers alone.
var everywhere = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Content-Location", "Date", "Connection", "Transfer-Encoding",
	"Cache-Control", "Vary", "X-Content-Type-Options", "Referrer-Policy", "Strict-Transport-Security",
	"Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Permissions-Policy",
}

func (c *contract) checkHeaders(response map[string]any, at string, x *exchange) (errs []error) {
	documented, _ := response["headers"].(map[string]any)
	known := slices.Clone(everywhere)
	for name := range documented {
		known = append(known, http.CanonicalHeaderKey(name))
		header, headerAt := c.object(at + pointer("headers", name))
		values := x.answerHeader.Values(name)
		if len(values) == 0 {
			if header["required"] == true {
				errs = append(errs, fmt.Errorf("header %s is missing", name))
			}
			continue
		}
		if err := c.validate(headerAt+"/schema", c.plainValue(headerAt+"/schema", values[0])); err != nil {
			errs = append(errs, fmt.Errorf("header %s: %w", name, err))
		}
	}
	for name := range x.answerHeader {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("header %s is not documented", name))
		}
	}
	return errs
}

// plainValue reads a header or a parameter as what its schema asks for.
func (c *contract) plainValue(at, text string) any {
	schema, _ := c.object(at)
	if schema["type"] == "integer" {
		if v, err := jsonschema.UnmarshalJSON(strings.NewReader(text)); err == nil {
			return v
		}
	}
	return text
}

func (c *contract) checkAnswer(response map[string]any, at string, x *exchange) []error {
	content, _ := response["content"].(map[string]any)
	if x.method == http.MethodHead || content == nil {
		if len(x.answer) > 0 {
			return []error{fmt.Errorf("a body where none is documented")}
		}
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(x.answerHeader.Get("Content-Type"))
	if err != nil || content[mediaType] == nil {
		return []error{fmt.Errorf("Content-Type %q is not among %v", x.answerHeader.Get("Content-Type"),
			slices.Sorted(maps.Keys(content)))}
	}
	return c.checkJSON(at+pointer("content", mediaType), x.answer)
}

// checkJSON holds a body against the schema of the media type at a pointer, if there is one.
func (c *contract) checkJSON(at string, body []byte) []error {
	mediaType, at := c.object(at)
	if mediaType["schema"] == nil {
		return nil
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = c.validate(at+"/schema", v)
	}
	if err != nil {
		return []error{err}
	}
	return nil
}

// checkRequest holds a request that the hub took against what is documented.
func (c *contract) checkRequest(op *operation, params map[string]string, x *exchange) (errs []error) {
	known := map[string]bool{}
	for _, at := range c.parameters(op) {
		param, at := c.object(at)
		name := param["name"].(string)
		var values []string
		switch param["in"] {
		case "path":
			values = []string{params[name]}
		case "query":
			values, known[name] = x.query[name], true
		case "header":
			values = x.header.Values(name)
		}
		if len(values) == 0 && param["required"] == true {
			errs = append(errs, fmt.Errorf("the parameter %s is missing, which is required", name))
		}
		for _, v := range values {
			if v == "" && param["in"] == "query" {
				continue // as good as absent
			}
			if err := c.validate(at+"/schema", c.plainValue(at+"/schema", v)); err != nil {
				errs = append(errs, fmt.Errorf("parameter %s: %w", name, err))
			}
		}
	}
	for name := range x.query {
		if !known[name] {
			errs = append(errs, fmt.Errorf("the parameter %s is taken, which is not documented", name))
		}
	}
	if x.header.Get("Authorization") == "" && x.header.Get("Cookie") == "" && !c.open(op) {
		errs = append(errs, fmt.Errorf("it is taken without a token, which is required"))
	}
	return append(errs, c.checkRequestBody(op, x)...)
}

// parameters returns where the parameters of op stand.
func (c *contract) parameters(op *operation) (all []string) {
	for _, at := range []string{pointer("paths", op.path, "parameters"), op.at + "/parameters"} {
		list, _ := c.node(at)
		params, _ := list.([]any)
		for i := range params {
			all = append(all, at+pointer(strconv.Itoa(i)))
		}
	}
	return all
}

// open reports whether op may be called without a token.
func (c *contract) open(op *operation) bool {
	described, _ := c.object(op.at)
	security, own := described["security"].([]any)
	return own && (len(security) == 0 ||
		slices.ContainsFunc(security, func(v any) bool { return len(v.(map[string]any)) == 0 }))
}

func (c *contract) checkRequestBody(op *operation, x *exchange) []error {
	described, _ := c.object(op.at)
	if described["requestBody"] == nil {
		return nil
	}
	request, at := c.object(op.at + "/requestBody")
	if len(x.body) == 0 && request["required"] == false {
		return nil
	}
	if len(x.body) == 0 {
		return []error{fmt.Errorf("the documented body is missing")}
	}
	named := x.header.Get("Content-Type")
	if named == "" {
		return nil // the routes that take none say so in prose
	}
	mediaType, _, _ := mime.ParseMediaType(named)
	if request["content"].(map[string]any)[mediaType] == nil {
		return []error{fmt.Errorf("a body of type %q is taken, which is not documented", named)}
	}
	return c.checkJSON(at+pointer("content", mediaType), x.body)
}
