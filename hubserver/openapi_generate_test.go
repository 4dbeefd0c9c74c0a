package hubserver_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
)

// openapi.json is generated from all endpoints, which says what an endpoint needs,
// accepts and returns, and from openapi.source.json, which has the words, the examples,
// the schemas and the responses that are particular to an endpoint.

// source is openapi.source.json.
type source struct {
	OpenAPI    string                   `json:"openapi"`
	Info       jsontext.Value           `json:"info"`
	Tags       jsontext.Value           `json:"tags"`
	Security   jsontext.Value           `json:"security"`
	Operations map[wire.Op]operationDoc `json:"operations"`
	Components map[string]object        `json:"components"`
}

type operationDoc struct {
	Tag         string                 `json:"tag"`
	Summary     string                 `json:"summary"`
	Description string                 `json:"description"`
	ETag        bool                   `json:"etag"` // a GET that answers 304 for If-None-Match
	Parameters  []any                  `json:"parameters"`
	Body        map[string]any         `json:"body"`
	Responses   map[string]responseDoc `json:"responses"` // those that differ from the usual ones
}

// responseDoc is a response without what all responses have. One with codes is a problem.
type responseDoc struct {
	Ref         string      `json:"$ref"`
	Description string      `json:"description"`
	Headers     object      `json:"headers"`
	Codes       []wire.Code `json:"codes"`
	Required    []string    `json:"required"`
	Schema      string      `json:"schema"` // of a success; "": that of the endpoint
	Example     any         `json:"example"`
	HTML        bool        `json:"html"`
}

type object = map[string]any

func refTo(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

// schemaOf returns a reference to the schema of a wire type.
func schemaOf(v any) object { return refTo("schemas", schemaName(reflect.TypeOf(v))) }

// schemaName is the name of the type, but for the one type that the specification names.
func schemaName(t reflect.Type) string {
	if t == reflect.TypeFor[wire.RateLimitConfig]() {
		return "RateLimitConfigRequestDto"
	}
	return t.Name()
}

// response returns a response in full; content is that of a success.
func (d responseDoc) response(content object) object {
	if d.Ref != "" {
		return object{"$ref": d.Ref}
	}
	headers := object{}
	for _, name := range []string{"X-Request-Id", "Hub-Version", "RateLimit", "RateLimit-Policy", "Token-Expires"} {
		headers[name] = refTo("headers", name)
	}
	for name, header := range d.Headers {
		headers[name] = header
	}
	if len(d.Codes) > 0 {
		particular := object{"properties": object{"code": object{"type": "string", "enum": d.Codes}}}
		if d.Required != nil {
			particular["required"] = d.Required
		}
		content = object{"application/problem+json": object{"schema": object{"allOf": []any{refTo("schemas", "Problem"),
			particular}}}}
	}
	if d.HTML {
		content = contentOf(nil, wire.HTML)
	}
	r := object{"description": d.Description, "headers": headers}
	if content != nil {
		r["content"] = content
	}
	for _, media := range content {
		if m := media.(object); d.Example != nil {
			m["example"] = d.Example
		}
	}
	return r
}

// contentOf returns the media types of a body: JSON for a value.
func contentOf(v any, mediaTypes []string) object {
	content := object{}
	for _, t := range mediaTypes {
		content[t] = object{}
	}
	if v != nil {
		content["application/json"] = object{"schema": schemaOf(v)}
	}
	return content
}

// usual returns the responses that follow from what an endpoint needs and accepts.
func usual(e *wire.Endpoint, d operationDoc) object {
	names := map[string]string{"400": "MalformedQuery"}
	if d.ETag {
		names["304"] = "NotModified"
	}
	if e.Account != wire.Anonymous {
		names["401"], names["429"], names["500"], names["503"] = "Unauthorized", "TooManyRequests", "Internal", "Unavailable"
		if strings.Contains(e.Path, "{account}") {
			names["404"] = "NotFound"
		}
	}
	if e.Method == http.MethodGet && e.Kind() == "project" {
		names["308"] = "Renamed"
	}
	switch {
	case e.Scope != "":
		names["403"] = "Forbidden"
	case e.Role != "":
		names["403"] = "NotPermitted"
	}
	if e.Method != http.MethodGet && names["403"] == "" {
		names["403"] = "CrossSite"
	}
	if e.Request != nil || e.Accepts != nil {
		names["400"], names["413"], names["415"], names["422"] = "BrokenBody", "TooLarge", "UnsupportedMediaType",
			"InvalidRequest"
	}
	if e.Request != nil {
		names["400"] = "InvalidJSON"
	}
	if e.Method != http.MethodGet {
		names["507"] = "StorageFull"
	}
	writesNothing := e.Method == http.MethodGet || e.Op == wire.OpPlanBaseFiles || e.Op == wire.OpCheckConfig ||
		e.Op == wire.OpPutPresence
	if !writesNothing && strings.Contains(e.Path, "{slug}") && !strings.HasPrefix(e.Path, "/v1/bots/") {
		names["409"] = "OtherResource"
	}
	if slices.Equal(e.Returns, wire.HTML) {
		for _, status := range append(slices.Collect(maps.Keys(names)), "429", "500", "503") {
			switch names[status] {
			case "Unauthorized", "Renamed":
				names[status] += "Page"
			default:
				names[status] = "FailurePage"
			}
		}
		delete(names, "422") // the form again
	}
	all := object{}
	for status, name := range names {
		all[status] = refTo("responses", name)
	}
	return all
}

func responses(e *wire.Endpoint, d operationDoc) object {
	all := usual(e, d)
	for status, r := range d.Responses {
		var content object
		if status != "304" {
			content = contentOf(e.Response, e.Returns)
		}
		if r.Schema != "" {
			content = object{"application/json": object{"schema": refTo("schemas", r.Schema)}}
		}
		if status < "300" {
			if r.Headers == nil {
				r.Headers = object{}
			}
			if d.ETag {
				r.Headers["ETag"] = refTo("headers", "ETag")
			}
			if e.Keyed && status == "201" {
				r.Headers["Location"] = refTo("headers", "Location")
			}
		}
		all[status] = r.response(content)
	}
	return all
}

// needs says in words what an endpoint needs of its caller.
func needs(e *wire.Endpoint) string {
	switch {
	case e.Role == "":
		return ""
	case e.Scope != "":
		return fmt.Sprintf("Needs the scope `%s` and the role %s. ", e.Scope, e.Role)
	case e.Public:
		return fmt.Sprintf("Needs the role %s, unless the project is public. ", e.Role)
	}
	return fmt.Sprintf("Needs the role %s. ", e.Role)
}

var pathParameter = regexp.MustCompile(`\{(\w)(\w*)\}`)

func parameters(e *wire.Endpoint, d operationDoc) (all []any) {
	for _, name := range pathParameter.FindAllStringSubmatch(e.Path, -1) {
		all = append(all, refTo("parameters", "Path"+strings.ToUpper(name[1])+name[2]))
	}
	all = append(all, d.Parameters...)
	if e.Account == wire.InBot {
		all = append(all, refTo("parameters", "BotRefId"), refTo("parameters", "BotId"), refTo("parameters", "BotAccount"))
	}
	if e.Keyed {
		all = append(all, refTo("parameters", "Idempotency-Key"))
	}
	if d.ETag {
		all = append(all, refTo("parameters", "If-None-Match"))
	}
	return all
}

func operationOf(e *wire.Endpoint, d operationDoc) object {
	o := object{"operationId": e.Op, "tags": []string{d.Tag}, "summary": d.Summary, "responses": responses(e, d)}
	if text := strings.TrimSpace(needs(e) + d.Description); text != "" {
		o["description"] = text
	}
	if p := parameters(e, d); p != nil {
		o["parameters"] = p
	}
	switch {
	case e.Account == wire.Anonymous:
		o["security"] = []any{}
	case e.Public:
		o["security"] = []any{object{"pat": []any{}}, object{"session": []any{}}, object{}}
	}
	if e.Request != nil || e.Accepts != nil {
		content := contentOf(e.Request, e.Accepts)
		if example := d.Body["example"]; example != nil {
			content["application/json"].(object)["example"] = example
		}
		o["requestBody"] = object{"required": d.Body["optional"] != true, "description": d.Body["description"],
			"content": content}
	}
	return o
}

// generate returns openapi.json.
func generate(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("openapi.source.json")
	if err != nil {
		t.Fatal(err)
	}
	var src source
	if err := json.Unmarshal(text, &src, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	paths := map[string]object{}
	for i := range endpoints {
		e := &endpoints[i]
		d, ok := src.Operations[e.Op]
		if !ok {
			t.Errorf("openapi.source.json has no operation %s", e.Op)
		}
		if delete(src.Operations, e.Op); paths[e.Path] == nil {
			paths[e.Path] = object{}
		}
		paths[e.Path][strings.ToLower(e.Method)] = operationOf(e, d)
	}
	for op := range src.Operations {
		t.Errorf("openapi.source.json describes %s, which is not an endpoint", op)
	}
	for name, r := range src.Components["responses"] {
		var d responseDoc
		if again, err := json.Marshal(r); err != nil || json.Unmarshal(again, &d, json.RejectUnknownMembers(true)) != nil {
			t.Errorf("malformed response %s", name)
		}
		src.Components["responses"][name] = d.response(nil)
	}
	generated, err := json.Marshal(struct {
		OpenAPI    string            `json:"openapi"`
		Info       jsontext.Value    `json:"info"`
		Tags       jsontext.Value    `json:"tags"`
		Security   jsontext.Value    `json:"security"`
		Paths      map[string]object `json:"paths"`
		Components map[string]object `json:"components"`
	}{src.OpenAPI, src.Info, src.Tags, src.Security, paths, src.Components}, json.Deterministic(true),
		jsontext.WithIndent(" "))
	if err != nil {
		t.Fatal(err)
	}
	return append(generated, '\n')
}

func TestOpenAPI_IsGenerated(t *testing.T) {
	want := generate(t)
	if *update {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("openapi.json"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("openapi.json is outdated: run go generate ./hubserver (%v)", err)
	}
}

// TestOpenAPI_SchemasMatchTypes compares the members of each wire type with the
// properties of its schema.
func TestOpenAPI_SchemasMatchTypes(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, e := range endpoints {
		for _, v := range []any{e.Request, e.Response} {
			if v != nil && reflect.TypeOf(v) != reflect.TypeFor[wire.Description]() {
				matchSchema(t, reflect.TypeOf(v), seen)
			}
		}
	}
	matchSchema(t, reflect.TypeFor[wire.Problem](), seen)
	matchSchema(t, reflect.TypeFor[wire.ProjectPlan](), seen)
	if t.Logf("%d types", len(seen)); len(seen) < 25 {
		t.Error("some are not seen")
	}
}

func matchSchema(t *testing.T, typ reflect.Type, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || !strings.HasSuffix(typ.PkgPath(), "hubclient/wire") || seen[typ] {
		return
	}
	seen[typ] = true
	at := "/components/schemas/" + schemaName(typ)
	schema, _ := theContract().object(at)
	if schema == nil {
		t.Errorf("%s has no schema", typ)
		return
	}
	described, members := map[string]bool{}, map[string]bool{}
	properties(schema, described)
	for _, f := range reflect.VisibleFields(typ) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			members[name] = true
			matchSchema(t, f.Type, seen)
		}
	}
	if diff := cmp.Diff(members, described); diff != "" {
		t.Errorf("%s: %s", at, diff)
	}
}

// properties adds the properties of a schema, with those of its parts.
func properties(schema object, all map[string]bool) {
	own, _ := schema["properties"].(object)
	for name := range own {
		all[name] = true
	}
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		if to, ok := part.(object)["$ref"].(string); ok {
			base, _ := theContract().object(strings.TrimPrefix(to, "#"))
			properties(base, all)
		}
	}
}
