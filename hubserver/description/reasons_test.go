package description_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/description"
)

// unreadable are texts that the hub rejects, and why: pointer and detail.
var unreadable = []struct{ name, text, pointer, detail string }{
	{"nothing", "", "", "the description is empty"},
	{"white space", " \n\t", "", "the description is empty"},
	{"only a comment", "# nothing\n", "", "the description is empty"},
	{"an array", `[1]`, "", "line 1, column 1: a description must be an object, not an array"},
	{"a page", "<!doctype html>", "", "line 1, column 1: a description must be an object, not a string"},
	{"not UTF-8", "{\"openapi\": \"3.0.0\",\n \"ä\xff\": 1}", "", "line 2, column 4: the text is not UTF-8"},
	{"UTF-16", "\xff\xfe{\x00}\x00", "", "line 1, column 1: the text is not UTF-8"},

	{"JSON cut short", `{"openapi": "3.0.0"`, "", "line 1, column 20: unexpected EOF"},
	{"JSON and more", `{"openapi": "3.0.0"} x`, "", "line 1, column 22: invalid character 'x' at start of value"},
	{"two JSON texts", `{"openapi": "3.0.0"} {}`, "", "line 1, column 21: unexpected text after the JSON value"},
	{"JSON member twice", "{\"openapi\": \"3.0.0\",\n\"info\": {\"a\": 1, \"a\": 2}}", "", "line 2, column 18: duplicate object member name at /info/a"},
	{"JSON with a comment", `{"openapi": "3.0.0" /* x */}`, "", "line 1, column 21: invalid character '/' after object value (expecting ',' or '}')"},

	{"YAML tab", "openapi: 3.0.0\n\tinfo: x", "", "line 2: found a tab character that violates indentation"},
	{"YAML member twice", "openapi: 3.0.0\ninfo: {}\n\"info\": {}", "", `line 3, column 1: duplicate member "info"`},
	{"two YAML documents", "openapi: 3.0.0\n---\nopenapi: 3.0.0", "", "line 2: a second YAML document begins, but a description is one document"},
	{"YAML and more", "openapi: 3.0.0\n--- [", "", "line 2: did not find expected node content"},
	{"YAML object as a name", "openapi: 3.0.0\n? {a: b}\n: c", "", "line 2, column 3: the name of a member must be a plain value"},
	{"YAML alias of nothing", "openapi: *v", "", "unknown anchor 'v' referenced"},
	{"YAML alias in itself", "openapi: 3.0.0\ninfo: &i {x: [*i]}", "", "line 2, column 15: the alias *i refers to a value that contains it"},
	{"YAML infinity", "openapi: 3.0.0\nx-a: .inf", "", `line 2, column 6: ".inf" is not a number in JSON`},
	{"YAML invalid number", "openapi: 3.0.0\nx-a: !!int x", "", `line 2, column 6: "x" is not a number`},
	{"YAML invalid boolean", "openapi: 3.0.0\nx-a: !!bool x", "", `line 2, column 6: "x" is not a boolean`},
	{"YAML tag", "openapi: 3.0.0\nx-a: !secret x", "", `line 2, column 6: the tag "!secret" is not accepted`},
	{"YAML tag directive", "%TAG ! tag:example.com:\n---\nopenapi: 3.0.0", "", "%TAG directives are not accepted"},
	{"YAML merge of a string", "openapi: 3.0.0\ninfo:\n  <<: x", "", "line 3, column 7: << merges objects, not a string"},
	{"YAML merge twice", "openapi: 3.0.0\ninfo:\n  <<: {a: b}\n  <<: {}", "", `line 4, column 3: duplicate member "<<"`},
}

// wrong are descriptions with a mistake, and the finding about it.
var wrong = []struct {
	name, text, pointer string
	line                int
	detail              string
}{
	{"no info", `{"openapi": "3.0.0", "paths": {}}`, "", 1, `"info" is missing`},
	{"no paths in 3.0", doc("3.0.0", `"components": {}`), "", 1, `"paths" is missing`},
	{"no title", "openapi: 3.0.0\ninfo:\n  version: v\npaths: {}", "/info", 3, `"title" is missing`},
	{"version that is a number", "openapi: 3.0.0\ninfo:\n  title: t\n  version: 1.0\npaths: {}", "/info/version", 4, `"version" must be a string, not 1.0`},
	{"array for an object", doc("3.0.0", `"paths": []`), "/paths", 2, `"paths" must be a paths object, not an array`},
	{"object for an array", doc("3.0.0", `"paths": {}, "servers": {}`), "/servers", 2, `"servers" must be an array, not an object`},
	{"string in an array", doc("3.0.0", `"paths": {}, "tags": ["a"]`), "/tags/0", 2, "this must be a tag, not a string"},
	{"null parameter", doc("2.0", `"paths": {"/a": {"get": {"parameters": [null], "responses": {"200": {"description": "d"}}}}}`), "/paths/~1a/get/parameters/0", 2, "this must be a parameter, not null"},
	{"negative length", schemas("3.0.0", `"A": {"minLength": -1}`), "/components/schemas/A/minLength", 2, `"minLength" must be a whole number of 0 or more, not -1`},
	{"string for a bound", schemas("3.1.0", `"A": {"exclusiveMinimum": "1"}`), "/components/schemas/A/exclusiveMinimum", 2, `"exclusiveMinimum" must be a number, not a string`},
	{"type that is a number", schemas("3.1.0", `"A": {"type": ["string", 1]}`), "/components/schemas/A/type/1", 2, "this must be a string, not 1"},
	{"draft-4 required", schemas("3.0.0", `"A": {"required": true}`), "/components/schemas/A/required", 2, `"required" must be an array, not true`},
	{"2.0 discriminator in 3.0", schemas("3.0.0", `"A": {"discriminator": "kind"}`), "/components/schemas/A/discriminator", 2, `"discriminator" must be a discriminator object, not a string`},
	{"3.0 discriminator in 2.0", schemas("2.0", `"A": {"discriminator": {}}`), "/definitions/A/discriminator", 2, `"discriminator" must be a string, not an object`},
	{"boolean schema in 3.0", schemas("3.0.0", `"A": true`), "/components/schemas/A", 2, `"A" must be a schema, not true`},
	{"security", doc("3.0.0", `"paths": {}, "security": [{"a": "b"}], "components": {"securitySchemes": {"a": {"type": "http", "scheme": "basic"}}}`), "/security/0/a", 2, `"a" must be an array, not a string`},
	{"a long number", schemas("3.0.0", `"A": {"title": `+strings.Repeat("1", 500)+`}`), "/components/schemas/A/title", 2, `"title" must be a string, not ` + strings.Repeat("1", 80) + `…`},
	{"unknown type", schemas("3.0.0", `"A": {"properties": {"b": {"type": "string"}, "c": {"type": "text"}}}`), "/components/schemas/A/properties/c/type", 2, `unknown type "text"`},
	{"unknown type in 2.0", schemas("2.0", `"A": {"type": "text"}`), "/definitions/A/type", 2, `unknown type "text"`},
	{"unknown type below allOf", schemas("3.0.0", `"A": {"allOf": [{"oneOf": [{"type": "text"}]}]}`), "/components/schemas/A/allOf/0/oneOf/0/type", 2, `unknown type "text"`},
	{"3.1 keyword in 3.0", schemas("3.0.0", `"A": {"items": {"const": 1}}`), "/components/schemas/A/items/const", 2, `"const" is not in OpenAPI 3.0, only since 3.1`},
	{"3.1 types in 3.0", schemas("3.0.0", `"A": {"type": ["string", "null"]}`), "/components/schemas/A/type", 2, "an array of types is for OpenAPI 3.1 and later; in 3.0, type is one string"},
	{"array without items", schemas("3.0.0", `"A": {"type": "array"}`), "/components/schemas/A", 2, "an array needs items"},
	{"unknown member", schemas("3.0.0", `"A": {"propertys": {}}`), "/components/schemas/A/propertys", 2, `unknown member "propertys"`},
	{"member in other case", schemas("2.0", `"A": {"Items": {"$ref": "#/nowhere"}}`), "/definitions/A/Items", 2, `unknown member "Items"`},
	{"reference in other case", schemas("2.0", `"A": {"$REF": "#/definitions/A"}`), "/definitions/A/$REF", 2, `unknown member "$REF"`},
	{"reference where none may be", doc("3.0.0", `"paths": {}, "tags": [{"$ref": "#/x-tag"}]`), "/tags/0/$ref", 2, "a reference is not allowed here"},
	{"unknown members", doc("3.0.0", `"paths": {}, "a": "h", "b": "/", "c": [], "d": {}, "e": {}, "f": 1`), "/a", 2, `unknown member "a", "b", "c", "d", "e", …`},
	{"member of 3.2 in 3.1", doc("3.1.0", `"paths": {"/a": {"query": {}}}`), "/paths/~1a/query", 2, `"query" is not in OpenAPI 3.1, only since 3.2`},
	{"path without a slash", doc("3.0.0", `"paths": {"a": {}}`), "/paths/a", 2, "a path starts with /"},
	{"undeclared parameter", doc("3.0.0", `"paths": {"/a/{b}": {"get": {"responses": {"200": {"description": "d"}}}}}`), "/paths/~1a~1{b}/get", 2, `undeclared or unused path parameters: "b"`},
	{"unknown security scheme", doc("3.0.0", `"paths": {}, "security": [{"a": []}]`), "/security/0/a", 2, `unknown security scheme "a"`},
	{"operation id twice", doc("3.0.0", `"paths": {"/a": {"get": {"operationId": "o", "responses": {"200": {"description": "d"}}}, "put": {"operationId": "o", "responses": {"200": {"description": "d"}}}}}`), "/paths/~1a/put/operationId", 2, `the operation id "o" is also that of line 2`},
	{"no responses", doc("3.0.0", `"paths": {"/a": {"get": {"responses": {}}}}`), "/paths/~1a/get/responses", 2, "at least one response is needed"},
	{"response without description", doc("3.0.0", `"paths": {"/a": {"get": {"responses": {"200": {}}}}}`), "/paths/~1a/get/responses/200", 2, `"description" is missing`},
	{"one of two arrays", schemas("3.0.0", `"A": {"properties": {"b": {"type": "string"}, "c": {"type": "array"}}}`), "/components/schemas/A/properties/c", 2, "an array needs items"},
	{"one of two responses", doc("3.0.0", `"paths": {"/a": {"get": {"responses": {"200": {"description": ""}, "404": {}}}}}`), "/paths/~1a/get/responses/404", 2, `"description" is missing`},
	{"webhook", doc("3.1.0", `"webhooks": {"w": {"post": {"responses": {}}}}`), "/webhooks/w/post/responses", 2, "at least one response is needed"},
	{"component name", doc("3.0.0", `"paths": {}, "components": {"schemas": {"A b": {}}}`), "/components/schemas/A b", 2, `the name "A b" must consist of letters, digits, '.', '_' and '-'`},

	{"example and value elsewhere", doc("3.0.0", `"paths": {}, "components": {"examples": {"e": {"value": 1, "externalValue": "a"}}}`), "/components/examples/e", 2, "value and externalValue exclude each other"},
	{"license by two names", `{"openapi": "3.1.0", "paths": {}, "info": {"title": "t", "version": "v", "license": {"name": "n", "url": "u", "identifier": "i"}}}`, "/info/license", 1, "identifier and url exclude each other"},
	{"link to nothing", doc("3.0.0", `"paths": {}, "components": {"links": {"l": {}}}`), "/components/links/l", 2, "a link needs operationRef or operationId"},
	{"link to two operations", doc("3.0.0", `"paths": {}, "components": {"links": {"l": {"operationRef": "a", "operationId": "b"}}}`), "/components/links/l", 2, "operationRef and operationId exclude each other"},
	{"parameter in nothing", doc("3.0.0", `"paths": {}, "components": {"parameters": {"p": {"name": "p", "in": "body", "schema": {}}}}`), "/components/parameters/p/in", 2, `unknown in "body"`},
	{"parameter without schema", doc("3.0.0", `"paths": {}, "components": {"parameters": {"p": {"name": "p", "in": "query"}}}`), "/components/parameters/p", 2, "a parameter needs a schema or content"},
	{"parameter with schema and content", doc("3.0.0", `"paths": {}, "components": {"parameters": {"p": {"name": "p", "in": "query", "schema": {}, "content": {"a/b": {}}}}}`), "/components/parameters/p", 2, "schema and content exclude each other"},
	{"header with two contents", doc("3.0.0", `"paths": {}, "components": {"headers": {"h": {"content": {"a/b": {}, "a/c": {}}}}}`), "/components/headers/h/content", 2, "the content of a parameter or header has exactly one media type"},
	{"optional path parameter", doc("3.0.0", `"paths": {}, "components": {"parameters": {"p": {"name": "p", "in": "path", "schema": {}}}}`), "/components/parameters/p", 2, "a path parameter needs required: true"},
	{"2.0 body without schema", doc("2.0", `"paths": {}, "parameters": {"p": {"name": "p", "in": "body"}}`), "/parameters/p", 2, "a body parameter needs a schema"},
	{"2.0 parameter without type", doc("2.0", `"paths": {}, "parameters": {"p": {"name": "p", "in": "query"}}`), "/parameters/p", 2, `"type" is missing`},
	{"2.0 array without items", doc("2.0", `"paths": {}, "parameters": {"p": {"name": "p", "in": "query", "type": "array"}}`), "/parameters/p", 2, "an array needs items"},
	{"2.0 file in a query", doc("2.0", `"paths": {}, "parameters": {"p": {"name": "p", "in": "query", "type": "file"}}`), "/parameters/p/type", 2, `unknown type "file"`},
	{"2.0 body and form", doc("2.0", `"paths": {"/a": {"post": {"parameters": [{"name": "p", "in": "body", "schema": {}}, {"name": "q", "in": "formData", "type": "string"}], "responses": {"200": {"description": "d"}}}}}`), "/paths/~1a/post", 2, "an operation has either one body parameter or form parameters"},
	{"2.0 scheme without flow", doc("2.0", `"paths": {}, "securityDefinitions": {"s": {"type": "oauth2", "scopes": {}}}`), "/securityDefinitions/s", 2, `"flow" is missing`},
	{"2.0 scheme without address", doc("2.0", `"paths": {}, "securityDefinitions": {"s": {"type": "oauth2", "flow": "implicit", "scopes": {}}}`), "/securityDefinitions/s", 2, `"authorizationUrl" is missing`},
	{"flow without address", doc("3.0.0", `"paths": {}, "components": {"securitySchemes": {"s": {"type": "oauth2", "flows": {"clientCredentials": {"scopes": {}}}}}}`), "/components/securitySchemes/s/flows/clientCredentials", 2, `"tokenUrl" is missing`},
	{"scheme without its name", doc("3.0.0", `"paths": {}, "components": {"securitySchemes": {"s": {"type": "apiKey", "in": "header"}}}`), "/components/securitySchemes/s", 2, `"name" is missing`},
	{"mutual TLS in 3.0", doc("3.0.0", `"paths": {}, "components": {"securitySchemes": {"s": {"type": "mutualTLS"}}}`), "/components/securitySchemes/s/type", 2, `unknown type "mutualTLS"`},
	{"parameter twice", doc("3.0.0", `"paths": {"/a": {"get": {"parameters": [{"name": "p", "in": "query", "schema": {}}, {"name": "p", "in": "query", "schema": {}}], "responses": {"200": {"description": "d"}}}}}`), "/paths/~1a/get/parameters/1", 2, `the parameter "p" in "query" is given twice`},
	{"path twice", doc("3.0.0", `"paths": {"/a/{b}": {}, "/a/{c}": {}}`), "/paths/~1a~1{c}", 2, `the path is the same as "/a/{b}", except for the names of its parameters`},
	{"status", doc("3.0.0", `"paths": {}, "x-a": {}, "components": {"callbacks": {"c": {"{$url}": {"post": {"responses": {"2xx": {"description": "d"}}}}}}}`), "/components/callbacks/c/{$url}/post/responses/2xx", 2, `"2xx" is not a status such as 200, 2XX or default`},
	{"tag twice", doc("3.0.0", `"paths": {}, "tags": [{"name": "a"}, {"name": "a"}]`), "/tags/1/name", 2, `the tag "a" is given twice`},
	{"read and write only", schemas("3.0.0", `"A": {"readOnly": true, "writeOnly": true}`), "/components/schemas/A", 2, "readOnly and writeOnly exclude each other"},
	{"default outside of enum", doc("3.1.0", `"paths": {}, "servers": [{"url": "/{a}", "variables": {"a": {"default": "b", "enum": ["c"]}}}]`), "/servers/0/variables/a/default", 2, "the default of a server variable must be in its enum"},
	{"reference that is a number", schemas("3.0.0", `"A": {"$ref": 5}`), "/components/schemas/A/$ref", 2, "$ref must be a string, not 5"},
	{"null type in 3.0", schemas("3.0.0", `"A": {"type": "null"}`), "/components/schemas/A/type", 2, `unknown type "null"`},
	{"nullable in 2.0", schemas("2.0", `"A": {"nullable": true}`), "/definitions/A/nullable", 2, `"nullable" is not in OpenAPI 2.0, only since 3.0`},
	{"definitions in 3.0", doc("3.0.0", `"paths": {}, "definitions": {}`), "/definitions", 2, `"definitions" is no longer in OpenAPI 3.0`},
	{"parameters since 3.1", doc("3.1.0", `"paths": {"/a/{b}": {"get": {}}}`), "/paths/~1a~1{b}/get", 2, `undeclared or unused path parameters: "b"`},
}

func TestParse_RejectsWhatCannotBeRead(t *testing.T) {
	for _, test := range unreadable {
		t.Run(test.name, func(t *testing.T) {
			want := []wire.FieldError{{Pointer: test.pointer, Detail: test.detail}}
			if diff := cmp.Diff(want, refused(t, test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParse_NamesEachMistakeWithPointerAndLine(t *testing.T) {
	for _, test := range wrong {
		t.Run(test.name, func(t *testing.T) {
			want := []wire.Finding{{Severity: wire.SeverityError, Pointer: test.pointer, Line: test.line, Detail: test.detail}}
			if diff := cmp.Diff(want, accepted(t, test.text).Findings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParse_NamesAllMistakes(t *testing.T) {
	got := accepted(t, doc("3.0.0", `"paths": {"/a": {"get": {"tags": "t", "responses": {"200": {"description": 5}}}}}, "tags": [7]`)).Findings
	want := []wire.Finding{
		{Severity: wire.SeverityError, Pointer: "/paths/~1a/get/tags", Line: 2, Detail: `"tags" must be an array, not a string`},
		{Severity: wire.SeverityError, Pointer: "/paths/~1a/get/responses/200/description", Line: 2, Detail: `"description" must be a string, not 5`},
		{Severity: wire.SeverityError, Pointer: "/tags/0", Line: 2, Detail: `this must be a tag, not 7`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParse_ReasonsAvoidParserJargon(t *testing.T) {
	jargon := regexp.MustCompile(`json:|yaml:|jsontext|unmarshal|openapi[23]\.|\bGo\b|0x[0-9a-f]{6}|\.$|\n`)
	for _, test := range unreadable {
		for _, reason := range refused(t, test.text) {
			if jargon.MatchString(reason.Detail) || len(reason.Detail) > 300 {
				t.Errorf("%s: %q", test.name, reason.Detail)
			}
		}
	}
}

// However long the names in a description are, what is said of it is short.
func TestParse_ReasonsAreShort(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	operation := `{"operationId": "` + long + `", "responses": {"200": {"description": "d"}}}`
	for name, text := range map[string]string{
		"name":         doc("3.0.0", `"paths": {}, "`+long+`": 1`),
		"names above":  schemas("3.0.0", `"`+long+`": {"properties": {"`+long+`": {"type": "`+long+`"}}}`),
		"operation id": doc("3.0.0", `"paths": {"/a": {"get": `+operation+`, "put": `+operation+`}}`),
		"reference":    schemas("3.0.0", `"A": {"$ref": "#/`+long+`"}`),
		"parameter":    doc("3.0.0", `"paths": {"/{`+long+`}": {"get": {"responses": {"200": {"description": "d"}}}}}`),
		"version":      `{"openapi": "` + long + `"}`,
		"emoji":        doc("3.0.0", `"paths": {}, "`+strings.Repeat("🐕", 1<<18)+`": 1`),
		"JSON":         `{"` + long + `": {"a": tru}}`,
		"anchor":       "a: *" + long,
		"alias":        "a: &" + long + " [*" + long + "]",
		"tag":          "a: !" + long + " b",
		"member twice": "? " + long + "\n: 1\n? " + long + "\n: 2\n",
	} {
		got, err := description.Parse(t.Context(), []byte(text), nil)
		if err != nil && len(err.Error()) > 700 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
		if err == nil {
			checkFindings(t, got)
		}
	}
}

// Every member that has a type in OpenAPI is given a value of another one.
func TestParse_FindsScalarsOfWrongType(t *testing.T) {
	strings := "title format description pattern"
	for members, value := range map[string]string{
		strings: "1", "uniqueItems nullable readOnly writeOnly deprecated allowEmptyValue": `"true"`,
		"minimum maximum multipleOf":                                                             `"1"`,
		"minLength maxLength minItems maxItems minProperties maxProperties":                      "1.5",
		"enum properties required allOf anyOf oneOf not items additionalProperties externalDocs": `"x"`,
		"xml discriminator type":                                                                 "5",
	} {
		for _, member := range fields(members) {
			found := accepted(t, schemas("3.0.0", `"A": {"`+member+`": `+value+`}`)).Findings
			if want := "/components/schemas/A/" + member; len(found) == 0 || found[0].Pointer != want {
				t.Errorf("%s: %+v, want a finding at %s", member, found, want)
			}
		}
	}
}

var fields = strings.Fields
