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

// accepted parses text, which has to be valid.
func accepted(t *testing.T, text string) *description.Description {
	t.Helper()
	got, err := description.Parse(context.Background(), []byte(text), nil)
	if err != nil {
		t.Fatalf("Parse(%.300s): %v", text, err)
	}
	return got
}

func TestParse_EveryVersionInJSONAndYAML(t *testing.T) {
	for version, format := range map[string]string{"2.0": "openapi-2.0", "3.0.3": "openapi-3.0", "3.1.0": "openapi-3.1"} {
		for mediaType, text := range map[string]string{
			"application/json": toJSON(large(version)),
			"application/yaml": toYAML(large(version)),
		} {
			want := &description.Description{Title: "Large", Version: "1.0.0", Format: format, MediaType: mediaType}
			if diff := cmp.Diff(want, accepted(t, text)); diff != "" {
				t.Errorf("%s, %d bytes: %s", version, len(text), diff)
			}
		}
	}
}

func TestParse_IgnoresPatchNumber(t *testing.T) {
	for version, format := range map[string]string{
		"3.0": "openapi-3.0", "3.0.0": "openapi-3.0", "3.0.4": "openapi-3.0", "3.0.99": "openapi-3.0",
		"3.1": "openapi-3.1", "3.1.0": "openapi-3.1", "3.1.2": "openapi-3.1", "3.1.10": "openapi-3.1",
	} {
		if got := accepted(t, doc(version, `"paths": {}`)).Format; got != format {
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
		if got := accepted(t, text).MediaType; got != want {
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
		"extensions":            doc("3.0.0", `"x-a": {"$ref": "nowhere.json"}, "paths": {"x-b": 5}`),
		"2.0 collection format": doc("2.0", `"paths": {"/a": {"get": {"parameters": [{"name": "a", "in": "query", "type": "array", "collectionFormat": "csv", "items": {"type": "array", "collectionFormat": "ssv", "items": {"type": "string"}}}], "responses": {"200": {"description": "d", "examples": {"a/b": 1}, "headers": {"H": {"type": "string", "default": 1}}}}}}}`),
		"null values":           doc("3.0.0", `"paths": {}, "components": {"examples": {"e": {"value": null}}, "schemas": {"A": {"default": null, "example": null}}}`),
		"closed objects":        schemas("3.0.0", `"A": {"additionalProperties": false}, "B": {"additionalProperties": true}`),
		"2.0 null members":      doc("2.0", `"paths": {"/a": {"get": null, "parameters": null}}, "definitions": {"A": {"items": null, "properties": null}}`),
		"2.0 extensions":        doc("2.0", `"paths": {"x-a": null, "x-b": {"get": {"parameters": [null]}}}`),
		"null members":          doc("3.0.0", `"tags": null, "servers": null, "paths": {"/a": {"get": {"summary": null, "responses": {"200": {"description": "d", "content": null}}}}}`),
		"numbers of all sizes":  schemas("3.0.0", `"A": {"maximum": 1e300, "minimum": -0.0, "multipleOf": 1E-7, "maxLength": 18446744073709551615}`),
		"braces in a parameter": doc("3.0.0", `"paths": {"/a/{b}": {"parameters": [{"name": "b", "in": "path", "required": true, "schema": {}}], "get": {"responses": {"default": {"description": ""}}}}}`),
	} {
		t.Run(name, func(t *testing.T) { accepted(t, text) })
	}
}

func TestParse_RejectsUnknownVersionWithList(t *testing.T) {
	for text, want := range map[string]string{
		`{"openapi": "9"}`:                     `openapi "9" is not accepted`,
		`{"openapi": "3.2.0"}`:                 `openapi "3.2.0" is not accepted`,
		`{"openapi": "3"}`:                     `openapi "3" is not accepted`,
		`{"openapi": "3.1.0-rc0"}`:             `openapi "3.1.0-rc0" is not accepted`,
		`{"openapi": "2.0"}`:                   `openapi "2.0" is not accepted`,
		`{"swagger": "3.0.0"}`:                 `swagger "3.0.0" is not accepted`,
		`{"swagger": "1.2"}`:                   `swagger "1.2" is not accepted`,
		`{"openapi": ""}`:                      `openapi "" is not accepted`,
		`{"openapi": null}`:                    `openapi must be a string, not null`,
		"openapi: 3.1":                         `openapi must be a string, not a number`,
		"swagger: 2.0":                         `swagger must be a string, not a number`,
		`{"swagger": "2.0", "openapi": "3.0"}`: `it has both swagger and openapi`,
		`{"asyncapi": "3.0.0"}`:                `it has neither openapi nor swagger`,
		`{}`:                                   `it has neither openapi nor swagger`,
	} {
		reasons := refused(t, text)
		detail := reasons[0].Detail
		if len(reasons) != 1 || !strings.Contains(detail, want) ||
			!strings.HasSuffix(detail, `accepted are swagger: "2.0", openapi: "3.0.x" and openapi: "3.1.x"`) {
			t.Errorf("%s: %v, want %q and what is accepted", text, reasons, want)
		}
	}
}

func TestParse_AtMost20Reasons(t *testing.T) {
	for name, text := range map[string]string{
		"shape":      schemas("3.0.0", repeat(100, `"A%": 5`)),
		"elements":   doc("3.0.0", `"paths": {}, "tags": [`+strings.Repeat("1,", 400_000)+`1]`),
		"references": schemas("3.0.0", repeat(100, `"A%": {"$ref": "#/nowhere"}`)),
		"rules":      schemas("3.0.0", repeat(100, `"A%": {"type": "thing"}`)),
	} {
		if reasons := refused(t, text); len(reasons) != description.MaxReasons {
			t.Errorf("%s: %d reasons, want %d", name, len(reasons), description.MaxReasons)
		}
	}
}

func TestParse_ErrorSaysFirstReasonAndCount(t *testing.T) {
	_, err := description.Parse(context.Background(), []byte(schemas("3.0.0", `"A": 5, "B": 6, "C": 7`)), nil)
	want := `the API description is not valid: /components/schemas/A: line 2, column 46: "A" must be a schema, not 5 (and 2 more)`
	if err == nil || err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
	_, err = description.Parse(context.Background(), nil, nil)
	if want := "the API description is not valid: the description is empty"; err == nil || err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
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
