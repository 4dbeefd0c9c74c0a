package description_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/description"
)

// refused parses text and returns why it is refused.
func refused(t *testing.T, text string) string {
	t.Helper()
	got, err := description.Parse(t.Context(), []byte(text), nil)
	var invalid *description.Invalid
	if !errors.As(err, &invalid) || got != nil {
		t.Fatalf("Parse(%.100q) = %v, %v, want an *Invalid", text, got, err)
	}
	return invalid.Placed()
}

// accepted parses text, which the hub has to accept.
func accepted(t *testing.T, text string) *description.Description {
	t.Helper()
	got, err := description.Parse(t.Context(), []byte(text), nil)
	if err != nil {
		t.Fatalf("Parse(%.300s): %v", text, err)
	}
	return got
}

func TestParse_EveryVersionInJSONAndYAML(t *testing.T) {
	for version, format := range map[string]string{"2.0": "openapi-2.0", "3.0.3": "openapi-3.0", "3.1.0": "openapi-3.1",
		"3.2.0": "openapi-3.2"} {
		for mediaType, text := range map[string]string{
			"application/json": toJSON(large(version)),
			"application/yaml": toYAML(large(version)),
		} {
			got := accepted(t, text)
			if got.Title != "Large" || got.Version != "1.0.0" || got.Format != format || got.MediaType != mediaType {
				t.Errorf("%s: %s %s, %s, %s", version, got.Title, got.Version, got.Format, got.MediaType)
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

// Whether a description is right is for a linter.
func TestParse_AcceptsWhatOpenAPIForbids(t *testing.T) {
	for name, text := range map[string]string{
		"members":       doc("3.0.0", `"paths": [], "unknown": 1, "servers": null`),
		"schemas":       schemas("3.0.0", `"A": 5, "b c": {"type": "thing", "$ref": 7}`),
		"references":    schemas("3.1.0", `"A": {"$ref": "#/nowhere"}, "B": {"$ref": "other.yaml"}, "C": {"$ref": "#"}`),
		"paths":         doc("3.0.0", `"paths": {"pets/{id}": {"get": {}, "x": []}, "pets/{name}": null}`),
		"3.1 in 2.0":    doc("2.0", `"webhooks": {}, "components": {"schemas": []}`),
		"two languages": "openapi: 3.0.0\nswagger: '2.0'\ncomponents: 1",
	} {
		t.Run(name, func(t *testing.T) { accepted(t, text) })
	}
}

func TestParse_ReadsOddVersions(t *testing.T) {
	for text, want := range map[string]string{
		"openapi: '3.3.0'":               "openapi-3.2",
		"openapi: '3.10'":                "openapi-3.2",
		"openapi: '9.0.0'":               "openapi-3.2",
		"openapi: '3'":                   "openapi-3.0",
		"openapi: 3.1.0-rc0":             "openapi-3.1",
		"openapi: '2.0'":                 "openapi-2.0",
		"openapi: ''":                    "openapi-3.0",
		"openapi:":                       "openapi-3.0",
		"openapi: 3.1":                   "openapi-3.1",
		"swagger: 2.0":                   "openapi-2.0",
		"swagger: '1.2'":                 "openapi-2.0",
		"swagger: '2.0.0'":               "openapi-2.0",
		"swagger: '2.0'\nopenapi: 3.0.0": "openapi-3.0",
		"openapi: '3.3." + long + "'":    "openapi-3.2",
		"openapi: [3.0.0]":               "openapi-3.0",
	} {
		if got := accepted(t, text+"\ninfo: {title: t, version: v}\npaths: {}").Format; got != want {
			t.Errorf("%.50s: %s, want %s", text, got, want)
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
		if got := refused(t, text); got != "line 1, column 1: "+want {
			t.Errorf("%s: %q, want %q", text, got, want)
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
		if got.Title != want.Title || got.Version != want.Version {
			t.Errorf("%s: %+v", text, got)
		}
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
