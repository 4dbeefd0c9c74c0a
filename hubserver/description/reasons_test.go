package description_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
)

// wrong are descriptions with a mistake, and what is said of it: pointer and detail.
var wrong = []struct{ name, text, pointer, detail string }{
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
	{"YAML number that is none", "openapi: 3.0.0\nx-a: !!int x", "", `line 2, column 6: "x" is not a number`},
	{"YAML boolean that is none", "openapi: 3.0.0\nx-a: !!bool x", "", `line 2, column 6: "x" is not a boolean`},
	{"YAML tag", "openapi: 3.0.0\nx-a: !secret x", "", `line 2, column 6: the tag "!secret" is not accepted`},
	{"YAML tag directive", "%TAG ! tag:example.com:\n---\nopenapi: 3.0.0", "", "%TAG directives are not accepted"},
	{"YAML merge of a string", "openapi: 3.0.0\ninfo:\n  <<: x", "", "line 3, column 7: << merges objects, not a string"},
	{"YAML merge twice", "openapi: 3.0.0\ninfo:\n  <<: {a: b}\n  <<: {}", "", `line 4, column 3: duplicate member "<<"`},

	{"no info", `{"openapi": "3.0.0", "paths": {}}`, "", "line 1, column 1: info is missing"},
	{"no paths in 3.0", doc("3.0.0", `"x-a": 1`), "", "line 1, column 1: paths is missing"},
	{"no paths in 2.0", doc("2.0", `"paths": null`), "", "line 1, column 1: paths is missing"},
	{"no title", "openapi: 3.0.0\ninfo:\n  version: v\npaths: {}", "/info", `line 3, column 3: "title" is missing or empty`},
	{"version that is a number", "openapi: 3.0.0\ninfo:\n  title: t\n  version: 1.0\npaths: {}", "/info/version", `line 4, column 12: "version" must be a string, not 1.0`},

	{"array for an object", doc("3.0.0", `"paths": []`), "/paths", `line 2, column 10: "paths" must be a paths object, not an array`},
	{"object for an array", doc("3.0.0", `"paths": {}, "servers": {}`), "/servers", `line 2, column 25: "servers" must be an array, not an object`},
	{"string in an array", doc("3.0.0", `"paths": {}, "tags": ["a"]`), "/tags/0", "line 2, column 23: this must be a tag, not a string"},
	{"null schema", schemas("3.0.0", `"A": null`), "/components/schemas/A", `line 2, column 46: "A" must be a schema, not null`},
	{"null path item in 2.0", doc("2.0", `"paths": {"/a": null}`), "/paths/~1a", `line 2, column 17: "/a" must be a path item, not null`},
	{"null parameter", doc("2.0", `"paths": {"/a": {"get": {"parameters": [null]}}}`), "/paths/~1a/get/parameters/0", "line 2, column 41: this must be a parameter, not null"},
	{"negative length", schemas("3.0.0", `"A": {"minLength": -1}`), "/components/schemas/A/minLength", `line 2, column 60: "minLength" must be a whole number of 0 or more, not -1`},
	{"number beyond all", schemas("3.0.0", `"A": {"maximum": 1e400}`), "/components/schemas/A/maximum", `line 2, column 58: "maximum" must be a number, not 1e400`},
	{"string for a bound", schemas("3.1.0", `"A": {"exclusiveMinimum": "1"}`), "/components/schemas/A/exclusiveMinimum", `line 2, column 67: "exclusiveMinimum" must be a number or a boolean, not a string`},
	{"type that is a number", schemas("3.1.0", `"A": {"type": ["string", 1]}`), "/components/schemas/A/type", `line 2, column 55: "type" must be a string or an array of strings, not an array`},
	{"draft-4 required", schemas("3.0.0", `"A": {"required": true}`), "/components/schemas/A/required", `line 2, column 59: "required" must be an array, not true`},
	{"2.0 discriminator in 3.0", schemas("3.0.0", `"A": {"discriminator": "kind"}`), "/components/schemas/A/discriminator", `line 2, column 64: "discriminator" must be a discriminator object, not a string`},
	{"3.0 discriminator in 2.0", schemas("2.0", `"A": {"discriminator": {}}`), "/definitions/A/discriminator", `line 2, column 53: "discriminator" must be a string, not an object`},
	{"boolean schema in 3.0", schemas("3.0.0", `"A": true`), "/components/schemas/A", `line 2, column 46: "A" must be a schema, not true`},
	{"security", doc("3.0.0", `"paths": {}, "security": [{"a": "b"}]`), "/security/0/a", `line 2, column 33: "a" must be an array of strings, not a string`},
	{"a long number", schemas("3.0.0", `"A": {"title": `+strings.Repeat("1", 500)+`}`), "/components/schemas/A/title", `line 2, column 56: "title" must be a string, not ` + strings.Repeat("1", 80) + `…`},

	{"unknown type", schemas("3.0.0", `"A": {"properties": {"b": {"type": "string"}, "c": {"type": "text"}}}`), "/components/schemas/A/properties/c/type", `line 2, column 101: unknown type "text"`},
	{"unknown type in 2.0", schemas("2.0", `"A": {"type": "text"}`), "/definitions/A/type", `line 2, column 44: unknown type "text"`},
	{"unknown type below allOf", schemas("3.0.0", `"A": {"allOf": [{"oneOf": [{"type": "text"}]}]}`), "/components/schemas/A/allOf/0/oneOf/0/type", `line 2, column 77: unknown type "text"`},
	{"3.1 keyword in 3.0", schemas("3.0.0", `"A": {"items": {"const": 1}}`), "/components/schemas/A/items/const", "line 2, column 66: field const is for OpenAPI >=3.1"},
	{"3.1 types in 3.0", schemas("3.0.0", `"A": {"type": ["string", "null"]}`), "/components/schemas/A/type", "line 2, column 55: an array of types is for OpenAPI >=3.1; before that type must be a single string"},
	{"array without items", schemas("3.0.0", `"A": {"type": "array"}`), "/components/schemas/A", `line 2, column 46: "items" is missing or empty`},
	{"unknown member", schemas("3.0.0", `"A": {"propertys": {}}`), "/components/schemas/A/propertys", `line 2, column 60: unknown member "propertys"`},
	{"member in other case", schemas("2.0", `"A": {"Items": {"$ref": "#/nowhere"}}`), "/definitions/A/Items", `line 2, column 45: unknown member "Items"`},
	{"reference in other case", schemas("2.0", `"A": {"$REF": "#/definitions/A"}`), "/definitions/A/$REF", `line 2, column 44: unknown member "$REF"`},
	{"reference where none may be", doc("3.0.0", `"paths": {}, "tags": [{"$ref": "#/x-tag"}]`), "/tags/0/$ref", `line 2, column 32: unknown member "$ref"`},
	{"members of 2.0 in 3.0", doc("3.0.0", `"paths": {}, "definitions": {}, "host": "h", "basePath": "/", "schemes": [], "parameters": {}, "responses": {}`), "/basePath", `line 2, column 58: unknown member "basePath", "definitions", "host", "parameters", "responses", …`},
	{"member of 3.2 in 3.1", doc("3.1.0", `"paths": {"/a": {"query": {}}}`), "/paths/~1a/query", `line 2, column 27: unknown member "query"`},
	{"path without a slash", doc("3.0.0", `"paths": {"a": {}}`), "/paths/a", "line 2, column 16: a path starts with /"},
	{"undeclared parameter", doc("3.0.0", `"paths": {"/a/{b}": {"get": {"responses": {"200": {"description": "d"}}}}}`), "/paths/~1a~1{b}/get", `line 2, column 29: undeclared or unused path parameters: "b"`},
	{"unknown security scheme", doc("3.0.0", `"paths": {}, "security": [{"a": []}]`), "/security/0/a", `line 2, column 33: unknown security scheme "a"`},
	{"operation id twice", doc("3.0.0", `"paths": {"/a": {"get": {"operationId": "o", "responses": {"200": {"description": "d"}}}, "put": {"operationId": "o", "responses": {"200": {"description": "d"}}}}}`), "/paths", `line 2, column 10: operations "GET /a" and "PUT /a" have the same operation id "o"`},
	{"no responses", doc("3.0.0", `"paths": {"/a": {"get": {"responses": {}}}}`), "/paths/~1a/get/responses", "line 2, column 39: the responses object must contain at least one response code"},
	{"response without description", doc("3.0.0", `"paths": {"/a": {"get": {"responses": {"200": {}}}}}`), "/paths/~1a/get/responses/200", `line 2, column 47: "description" is missing or empty`},
	{"one of two arrays", schemas("3.0.0", `"A": {"properties": {"b": {"type": "string"}, "c": {"type": "array"}}}`), "/components/schemas/A/properties/c", `line 2, column 92: "items" is missing or empty`},
	{"one of two responses", doc("3.0.0", `"paths": {"/a": {"get": {"responses": {"200": {"description": ""}, "404": {}}}}}`), "/paths/~1a/get/responses/404", `line 2, column 75: "description" is missing or empty`},
	{"webhook", doc("3.1.0", `"webhooks": {"w": {"post": {"responses": {}}}}`), "/webhooks/w/post/responses", "line 2, column 42: the responses object must contain at least one response code"},
	{"component name", doc("3.0.0", `"paths": {}, "components": {"parameters": {"A b": {}}}`), "/components/parameters/A b", `line 2, column 51: identifier "A b" is not supported by OpenAPIv3 standard (charset: ["a-zA-Z0-9._-"])`},
}

func TestParse_NamesEachMistakeWithPointer(t *testing.T) {
	for _, test := range wrong {
		t.Run(test.name, func(t *testing.T) {
			want := []wire.FieldError{{Pointer: test.pointer, Detail: test.detail}}
			if diff := cmp.Diff(want, refused(t, test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParse_NamesAllMistakes(t *testing.T) {
	got := refused(t, doc("3.0.0", `"paths": {"/a": {"get": {"tags": "t", "responses": {"200": {"description": 5}}}}}, "tags": [7]`))
	want := []wire.FieldError{
		{Pointer: "/paths/~1a/get/tags", Detail: `line 2, column 34: "tags" must be an array, not a string`},
		{Pointer: "/paths/~1a/get/responses/200/description", Detail: `line 2, column 76: "description" must be a string, not 5`},
		{Pointer: "/tags/0", Detail: `line 2, column 93: this must be a tag, not 7`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParse_ReasonsAvoidParserJargon(t *testing.T) {
	jargon := regexp.MustCompile(`json:|yaml:|jsontext|unmarshal|openapi[23]\.|\bGo\b|0x[0-9a-f]{6}|\.$|\n`)
	for _, test := range wrong {
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
		for _, reason := range refused(t, text) {
			if len(reason.Pointer) > 1000 || len(reason.Detail) > 600 {
				t.Errorf("%s: a pointer of %d bytes and a detail of %d", name, len(reason.Pointer), len(reason.Detail))
			}
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
		"xml discriminator type":                                                                 "[{}]",
	} {
		for _, member := range fields(members) {
			reasons := refused(t, schemas("3.0.0", `"A": {"`+member+`": `+value+`}`))
			if want := "/components/schemas/A/" + member; reasons[0].Pointer != want {
				t.Errorf("%s: %v, want a reason at %s", member, reasons, want)
			}
		}
	}
}

var fields = strings.Fields
