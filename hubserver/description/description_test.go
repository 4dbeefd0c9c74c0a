package description_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/description"
)

// refused parses text and returns the reasons why it is refused.
func refused(t *testing.T, text string) []wire.FieldError {
	t.Helper()
	got, err := description.Parse(context.Background(), []byte(text), nil)
	var invalid *description.Invalid
	if !errors.As(err, &invalid) || got != nil {
		t.Fatalf("Parse(%.100q) = %v, %v, want an *Invalid", text, got, err)
	}
	return invalid.Reasons
}

// accepted parses text, which the hub has to accept.
func accepted(t *testing.T, text string) *description.Description {
	t.Helper()
	got, err := description.Parse(context.Background(), []byte(text), nil)
	if err != nil {
		t.Fatalf("Parse(%.300s): %v", text, err)
	}
	return got
}

// valid parses text, of which there must be no findings.
func valid(t *testing.T, text string) *description.Description {
	t.Helper()
	got := accepted(t, text)
	if len(got.Findings) > 0 {
		t.Fatalf("Parse(%.300s): %+v", text, got.Findings)
	}
	return got
}

func TestParse_EveryVersionInJSONAndYAML(t *testing.T) {
	for version, format := range map[string]string{"2.0": "openapi-2.0", "3.0.3": "openapi-3.0", "3.1.0": "openapi-3.1", "3.2.0": "openapi-3.2"} {
		for mediaType, text := range map[string]string{
			"application/json": toJSON(large(version)),
			"application/yaml": toYAML(large(version)),
		} {
			want := &description.Description{Title: "Large", Version: "1.0.0", Format: format, MediaType: mediaType}
			if diff := cmp.Diff(want, valid(t, text)); diff != "" {
				t.Errorf("%s, %d bytes: %s", version, len(text), diff)
			}
		}
	}
}

func TestParse_IgnoresPatchNumber(t *testing.T) {
	for version, format := range map[string]string{
		"3.0": "openapi-3.0", "3.0.0": "openapi-3.0", "3.0.4": "openapi-3.0", "3.0.99": "openapi-3.0",
		"3.1": "openapi-3.1", "3.1.0": "openapi-3.1", "3.1.2": "openapi-3.1", "3.1.10": "openapi-3.1",
		"3.2": "openapi-3.2", "3.2.1": "openapi-3.2",
	} {
		if got := valid(t, doc(version, `"paths": {}`)).Format; got != format {
			t.Errorf("the format of %s is %q, want %q", version, got, format)
		}
	}
}

func TestParse_DetectsJSONAndYAML(t *testing.T) {
	for text, want := range map[string]string{
		doc("3.1.0", `"paths": {}`):                                                           "application/json",
		"\ufeff \r\n\t" + doc("3.1.0", `"paths": {}`):                                         "application/json",
		"# " + "\n" + doc("3.1.0", `"paths": {}`):                                             "application/yaml",
		"\ufeffopenapi: 3.1.0\ninfo: {title: t, version: v}\npaths: {}":                       "application/yaml",
		"%YAML 1.2\n---\nopenapi: 3.1.0\ninfo: {title: t, version: v}\npaths: {}\n...\n":      "application/yaml",
		"openapi: 3.1.0\r\ninfo: {title: t, version: v}\r\npaths: {}\r\n":                     "application/yaml",
		"info:\n  title: 'it''s'\n  version: !!str 1.0\nswagger: '2.0'\npaths: {}\nhost: h\n": "application/yaml",
	} {
		if got := valid(t, text).MediaType; got != want {
			t.Errorf("the media type of %q is %q, want %q", text, got, want)
		}
	}
}

// The members below are of kinds that are easily got wrong: they have to pass.
func TestParse_AcceptsWhatOpenAPIAllows(t *testing.T) {
	for name, text := range map[string]string{
		"2.0 file":              doc("2.0", `"paths": {"/f": {"post": {"consumes": ["multipart/form-data"], "parameters": [{"in": "formData", "name": "f", "type": "file"}], "responses": {"200": {"description": "d", "schema": {"type": "file"}}}}}}`),
		"2.0 no paths":          doc("2.0", `"paths": {}`),
		"2.0 string discr.":     schemas("2.0", `"A": {"discriminator": "kind", "required": ["kind"], "properties": {"kind": {"type": "string"}}}`),
		"3.1 no paths":          doc("3.1.0", `"components": {}`),
		"3.1 webhooks":          doc("3.1.0", `"webhooks": {"w": {"post": {"responses": {"200": {"description": "d"}}}}}`),
		"3.1 path items":        doc("3.1.0", `"paths": {"/a": {"$ref": "#/components/pathItems/p"}}, "components": {"pathItems": {"p": {"get": {"responses": {"200": {"description": "d"}}}}}}`),
		"3.1 mutual TLS":        doc("3.1.0", `"components": {"securitySchemes": {"m": {"type": "mutualTLS"}}}, "security": [{"m": []}]`),
		"3.1 types":             schemas("3.1.0", `"A": {"type": ["string", "null"], "exclusiveMinimum": 3, "const": null, "examples": [1], "items": true, "$defs": {"a": false}}`),
		"3.1 own keywords":      schemas("3.1.0", `"A": {"tsType": "X", "nullable": true, "$vocabulary": {}, "definitions": {"a": {}}, "collectionFormat": "csv"}`),
		"pattern not for Go":    schemas("3.0.0", `"A": {"type": "string", "pattern": "^(?=.*[a-z])(?!x).+$"}`),
		"own format":            schemas("3.0.0", `"A": {"type": "string", "format": "iban"}`),
		"default does not fit":  schemas("3.0.0", `"A": {"type": "string", "default": 3, "example": {"a": 1}}`),
		"3.2":                   doc("3.2.0", `"$self": "https://a.example/d", "tags": [{"name": "t", "parent": "u"}], "paths": {"/a": {"query": {"responses": {"200": {"content": {"a/b": {"itemSchema": {}}}}}}, "additionalOperations": {"COPY": {}}}}, "components": {"mediaTypes": {"m": {"$ref": "#/components/mediaTypes/n"}, "n": {}}}`),
		"3.1 anchors and ids":   schemas("3.1.0", `"A": {"$ref": "#here"}, "B": {"$anchor": "here", "properties": {"a": {"$id": "https://a.example/a", "items": {"$ref": "other"}}}}`),
		"2.0 types":             schemas("2.0", `"A": {"type": ["string", "null"]}`),
		"extensions":            doc("3.0.0", `"x-a": {"$ref": "nowhere.json"}, "paths": {"x-b": 5}`),
		"2.0 collection format": doc("2.0", `"paths": {"/a": {"get": {"parameters": [{"name": "a", "in": "query", "type": "array", "collectionFormat": "csv", "items": {"type": "array", "collectionFormat": "ssv", "items": {"type": "string"}}}], "responses": {"200": {"description": "d", "examples": {"a/b": 1}, "headers": {"H": {"type": "string", "default": 1}}}}}}}`),
		"null values":           doc("3.0.0", `"paths": {}, "components": {"examples": {"e": {"value": null}}, "schemas": {"A": {"default": null, "example": null}}}`),
		"closed objects":        schemas("3.0.0", `"A": {"additionalProperties": false}, "B": {"additionalProperties": true}`),
		"2.0 extensions":        doc("2.0", `"paths": {"x-a": null, "x-b": {"get": {"parameters": [null]}}}`),
		"numbers of all sizes":  schemas("3.0.0", `"A": {"maximum": 1e300, "minimum": -0.0, "multipleOf": 1E-7, "maxLength": 18446744073709551615}`),
		"braces in a parameter": doc("3.0.0", `"paths": {"/a/{b}": {"parameters": [{"name": "b", "in": "path", "required": true, "schema": {}}], "get": {"responses": {"default": {"description": ""}}}}}`),
	} {
		t.Run(name, func(t *testing.T) { valid(t, text) })
	}
}

func TestParse_ReadsOddVersionsWithFinding(t *testing.T) {
	const other = "is not a version of OpenAPI: it is read as "
	for text, want := range map[string]string{
		"openapi: '3.3.0'":               "openapi-3.2 warning OpenAPI 3.3.0 is newer than 3.2: it is read as 3.2",
		"openapi: '3.10'":                "openapi-3.2 warning OpenAPI 3.10 is newer than 3.2: it is read as 3.2",
		"openapi: '9.0.0'":               `openapi-3.2 error "9.0.0" ` + other + "3.2",
		"openapi: '3'":                   `openapi-3.0 error "3" ` + other + "3.0",
		"openapi: 3.1.0-rc0":             `openapi-3.1 error "3.1.0-rc0" ` + other + "3.1",
		"openapi: '2.0'":                 `openapi-2.0 error "2.0" ` + other + "2.0",
		"openapi: ''":                    `openapi-3.0 error "" ` + other + "3.0",
		"openapi:":                       "openapi-3.0 error openapi must be a string, not null",
		"openapi: 3.1":                   "openapi-3.1 error openapi must be a string, not 3.1",
		"swagger: 2.0":                   "openapi-2.0 error swagger must be a string, not 2.0",
		"swagger: '1.2'":                 `openapi-2.0 error "1.2" ` + other + "2.0",
		"swagger: '2.0.0'":               `openapi-2.0 error "2.0.0" ` + other + "2.0",
		"swagger: '2.0'\nopenapi: 3.0.0": "openapi-3.0 error it has both swagger and openapi: it is read as OpenAPI 3.0",
		"openapi: '3.3." + long + "'":    `openapi-3.2 error "3.3.` + strings.Repeat("9", 76) + "…\" " + other + "3.2",
		"openapi: [3.0.0]":               "openapi-3.0 error openapi must be a string, not an array",
	} {
		got := accepted(t, text+"\ninfo: {title: t, version: v}\npaths: {}")
		if len(got.Findings) != 1 {
			t.Errorf("%.50s: %+v", text, got.Findings)
			continue
		}
		if f := got.Findings[0]; got.Format+" "+string(f.Severity)+" "+f.Detail != want {
			t.Errorf("%.50s: %s %+v, want %s", text, got.Format, f, want)
		}
	}
}

var long = strings.Repeat("9", 1000)

func TestParse_RejectsWhatDescribesNoAPI(t *testing.T) {
	for text, want := range map[string]string{
		`{"asyncapi": "3.0.0", "paths": {}}`:  "it has neither openapi nor swagger, so it is not an API description",
		`{}`:                                  "it has neither openapi nor swagger, so it is not an API description",
		`{"openapi": "3.1.0"}`:                "it has none of paths, webhooks and components, so it describes no API",
		`{"openapi": "3.1.0", "paths": null}`: "it has none of paths, webhooks and components, so it describes no API",
		`{"swagger": "1.2", "apis": []}`:      "it has none of paths, webhooks and components, so it describes no API",
	} {
		reasons := refused(t, text)
		if len(reasons) != 1 || reasons[0].Detail != "line 1, column 1: "+want {
			t.Errorf("%s: %v, want %q", text, reasons, want)
		}
	}
	for _, member := range []string{"paths", "webhooks", "components"} {
		accepted(t, `{"openapi": "3.1.0", "`+member+`": {}}`)
	}
}

func TestParse_WithoutInfo(t *testing.T) {
	for text, want := range map[string]description.Description{
		`{"openapi": "3.0.0", "paths": {}}`:                                                 {},
		`{"openapi": "3.0.0", "info": null, "paths": {}}`:                                   {},
		`{"openapi": "3.0.0", "info": [], "paths": {}}`:                                     {},
		`{"openapi": "3.0.0", "info": {"title": 5, "version": 1.10}, "paths": {}}`:          {Title: "5", Version: "1.10"},
		`{"openapi": "3.0.0", "info": {"title": " a\u0000b ", "version": {}}, "paths": {}}`: {Title: "ab"},
	} {
		got := accepted(t, text)
		if got.Title != want.Title || got.Version != want.Version || len(got.Findings) == 0 {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestParse_AtMost100Findings(t *testing.T) {
	for name, text := range map[string]string{
		"shape":      schemas("3.0.0", repeat(300, `"A%": 5`)),
		"elements":   doc("3.0.0", `"paths": {}, "tags": [`+strings.Repeat("1,", 400_000)+`1]`),
		"references": schemas("3.0.0", repeat(300, `"A%": {"$ref": "#/nowhere"}`)),
		"rules":      schemas("3.0.0", repeat(300, `"A%": {"type": "thing"}`)),
		"warnings":   schemas("3.0.0", repeat(300, `"A%": {"$ref": "other.yaml"}`)),
	} {
		if got := accepted(t, text).Findings; len(got) != description.MaxFindings {
			t.Errorf("%s: %d findings, want %d", name, len(got), description.MaxFindings)
		}
	}
}

// Warnings must not hide the errors for which a strict upload is rejected.
func TestParse_ErrorsBeforeWarnings(t *testing.T) {
	got := accepted(t, schemas("3.0.0", repeat(300, `"A%": {"$ref": "other.yaml"}`)+`,"B": 5`))
	if f := got.Findings[0]; f.Severity != wire.SeverityError || f.Pointer != "/components/schemas/B" || len(got.Findings) != description.MaxFindings {
		t.Errorf("the first of %d is %+v", len(got.Findings), f)
	}
	want := `the API description is not valid: /components/schemas/B: line 2: "B" must be a schema, not 5`
	if err := got.Strict(); err == nil || err.Error() != want {
		t.Errorf("Strict() = %v, want %s", err, want)
	}
	if err := accepted(t, schemas("3.0.0", `"A": {"$ref": "other.yaml"}`)).Strict(); err != nil {
		t.Errorf("a warning: %v", err)
	}
}

func TestParse_NullIsAbsent(t *testing.T) {
	got := accepted(t, "openapi: 3.0.0\ninfo: {title: t, version: v}\npaths:\n  /a:\n    get:\n")
	want := []wire.Finding{{Severity: wire.SeverityWarning, Pointer: "/paths/~1a/get", Line: 5, Detail: `"get" is null: it is read as absent`}}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Error(diff)
	}
}

func TestParse_EndsWithContext(t *testing.T) {
	data := []byte(toJSON(large("3.0.0")))
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(context.DeadlineExceeded)
	got, err := description.Parse(ctx, data, nil)
	if got != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Parse = %v, %v after its context had ended", got, err)
	}
}
