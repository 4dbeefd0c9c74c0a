package description_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
)

const outside = " refers to another document, which the hub does not read: include it in the description"

func TestReferences_NamesDanglingOnes(t *testing.T) {
	at := func(ref, problem string) []wire.Finding {
		severity := wire.SeverityError
		if problem == outside {
			severity = wire.SeverityWarning
		}
		return []wire.Finding{{
			Severity: severity, Pointer: "/components/schemas/A/properties/b/$ref", Line: 2,
			Detail: `"` + ref + `" ` + strings.TrimSpace(problem),
		}}
	}
	for ref, problem := range map[string]string{
		"#/components/schemas/B":                   "does not exist",
		"#/components/schemas/A/allOf/1":           "does not exist",
		"#/components/schemas/A/allOf/00":          "does not exist",
		"#/components/schemas/A/allOf/-1":          "does not exist",
		"#/components/schemas/A/title/x":           "does not exist",
		"#/components/schemas/A/":                  "does not exist",
		"#A":                                       "is not of the form #/…",
		"#/%zz":                                    "is not of the form #/…",
		"":                                         "is not of the form #/…",
		"components/schemas/A":                     outside,
		"other.yaml#/A":                            outside,
		"//example.com/a.json":                     outside,
		"#":                                        "refers to the whole description, but a schema is needed",
		"#/components/parameters/P":                "refers to a parameter, but a schema is needed",
		"#/components/schemas/A/title":             "refers to a string, but a schema is needed",
		"#/components/schemas":                     "refers to an object, but a schema is needed",
		"#/components/schemas/A/properties":        "refers to an object, but a schema is needed",
		"#/components/schemas/A":                   "",
		"#/components/schemas/A/allOf/0":           "",
		"#/components/schemas/%41/allOf/0":         "",
		"#/paths/%7E1x/get/parameters/0/schema":    "",
		"#/paths/~1x/get/parameters/0/schema":      "",
		"#/x-own/thing":                            "",
		"#/components/schemas/A/properties/b/x-in": "does not exist",
	} {
		text := doc("3.0.0", `"components": {"schemas": {"A": {"title": "t", "properties": {"b": {"$ref": "`+ref+`"}}, "allOf": [{}]}},
			"parameters": {"P": {"name": "p", "in": "query", "schema": {}}}}, "x-own": {"thing": {}}, "paths": {"/x": {"get":
			{"parameters": [{"name": "p", "in": "query", "schema": {}}], "responses": {"200": {"description": "d"}}}}}`)
		if problem == "" {
			valid(t, text)
		} else if diff := cmp.Diff(at(ref, problem), accepted(t, text).Findings); diff != "" {
			t.Error(diff)
		}
	}
}

func TestReferences_FollowsEveryKind(t *testing.T) {
	whole := doc("3.0.0", `"paths": {"/x/{id}": {"parameters": [{"$ref": "#/components/parameters/Id"}], "post": {
			"parameters": [{"$ref": "#/components/parameters/Alias"}],
			"requestBody": {"$ref": "#/components/requestBodies/Body"},
			"responses": {"200": {"description": "d",
				"headers": {"h": {"$ref": "#/components/headers/Header"}},
				"links": {"l": {"$ref": "#/components/links/Link"}},
				"content": {"text/plain": {"schema": {"$ref": "#/components/schemas/Schema"},
					"examples": {"e": {"$ref": "#/components/examples/Example"}}}}},
				"404": {"$ref": "#/components/responses/Response"}},
			"callbacks": {"c": {"$ref": "#/components/callbacks/Callback"}},
			"security": [{"auth": []}]}},
		"/y": {"$ref": "#/paths/~1z"}, "/z": {}},
		"components": {
			"parameters": {"Id": {"name": "id", "in": "path", "required": true, "schema": {}}, "Alias": {"$ref": "#/components/parameters/Q"},
				"Q": {"name": "q", "in": "query", "schema": {}}},
			"requestBodies": {"Body": {"content": {"text/plain": {}}}}, "headers": {"Header": {"schema": {}}},
			"links": {"Link": {"operationId": "o"}}, "schemas": {"Schema": {}}, "examples": {"Example": {"value": 1}},
			"responses": {"Response": {"description": "d"}}, "callbacks": {"Callback": {}},
			"securitySchemes": {"auth": {"$ref": "#/components/securitySchemes/basic"}, "basic": {"type": "http", "scheme": "basic"}}}`)
	valid(t, whole)
	for _, target := range []string{"parameters/Id", "parameters/Q", "requestBodies/Body", "headers/Header", "links/Link",
		"schemas/Schema", "examples/Example", "responses/Response", "callbacks/Callback", "securitySchemes/basic"} {
		broken := strings.Replace(whole, `"#/components/`+target+`"`, `"#/components/`+target+`2"`, 1)
		if found := accepted(t, broken).Findings; len(found) == 0 || !strings.Contains(found[0].Detail, target+`2" does not exist`) {
			t.Errorf("%s: %v", target, found)
		}
	}
}

func TestReferences_PathParametersThroughReferences(t *testing.T) {
	text := func(version, parameter string) string {
		members := `"paths": {"/x/{id}": {"get": {"parameters": [{"$ref": "#/parameters/P"}], "responses": {"200": {"description": "d"}}}}}, "parameters": {"P": ` + parameter + `}`
		if version != "2.0" {
			members = strings.Replace(members, "#/parameters", "#/components/parameters", 1)
			members = strings.Replace(members, `"parameters": {"P": `+parameter+`}`, `"components": {"parameters": {"P": `+parameter+`}}`, 1)
		}
		return doc(version, members)
	}
	valid(t, text("3.0.0", `{"name": "id", "in": "path", "required": true, "schema": {}}`))
	valid(t, text("2.0", `{"name": "id", "in": "path", "required": true, "type": "string"}`))
	faulty(t, text("3.0.0", `{"name": "other", "in": "path", "required": true, "schema": {}}`))
	faulty(t, text("3.1.0", `{"name": "id", "in": "query", "schema": {}}`))
	faulty(t, text("2.0", `{"name": "id", "in": "query", "type": "string"}`))
	faulty(t, text("2.0", `{"name": "id", "in": "body", "schema": {}}`))
	faulty(t, text("2.0", `{"name": "id", "in": "formData", "type": "file"}`))
}

func TestReferences_AllowsCyclesThatReachAValue(t *testing.T) {
	valid(t, schemas("3.0.0", `"A": {"properties": {"a": {"$ref": "#/components/schemas/A"}, "b": {"$ref": "#/components/schemas/B"}}}, "B": {"items": {"$ref": "#/components/schemas/A"}, "type": "array"}`))
	valid(t, schemas("3.0.0", each(32, func(i int) string { return link(i, i+1) })+`, "A32": {}`))
	for name, text := range map[string]string{
		"itself":      schemas("3.0.0", `"A0": {"$ref": "#/components/schemas/A0"}`),
		"a circle":    schemas("3.0.0", link(0, 1)+","+link(1, 2)+","+link(2, 1)),
		"33 in a row": schemas("3.0.0", each(33, func(i int) string { return link(i, i+1) })+`, "A33": {}`),
		"parameters":  doc("3.0.0", `"paths": {}, "components": {"parameters": {"A": {"$ref": "#/components/parameters/B"}, "B": {"$ref": "#/components/parameters/A"}}}`),
	} {
		found := faulty(t, text)
		if want := "refers to itself, or to more than 32 references in a row"; !strings.Contains(found[0].Detail, want) {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// faulty parses text, of which there must be findings.
func faulty(t *testing.T, text string) []wire.Finding {
	t.Helper()
	found := accepted(t, text).Findings
	if len(found) == 0 {
		t.Fatalf("Parse(%.300s): no findings", text)
	}
	return found
}

// link returns a schema A<from> that is a reference to A<to>.
func link(from, to int) string {
	return fmt.Sprintf(`"A%d": {"$ref": "#/components/schemas/A%d"}`, from, to)
}

func TestReferences_SiblingsCountSince31(t *testing.T) {
	siblings := `"A": {"$ref": "#/components/schemas/B", "type": "text", "properties": 5}, "B": {}`
	valid(t, schemas("3.0.0", siblings))
	found := faulty(t, schemas("3.1.0", siblings))
	if len(found) != 2 || found[0].Pointer != "/components/schemas/A/type" || found[1].Pointer != "/components/schemas/A/properties" {
		t.Errorf("3.1: %v", found)
	}
}

func TestReferences_NeverReadOutsideDescription(t *testing.T) {
	var hits atomic.Int32
	canary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Write([]byte(`{}`))
	}))
	defer canary.Close()
	file := filepath.Join(t.TempDir(), "canary.json")
	if err := os.WriteFile(file, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{canary.URL + "/a.json", canary.URL + "/a.json#/b", file, "file://" + file, file + "#/a", "http://" + canary.Listener.Addr().String()} {
		for _, version := range []string{"2.0", "3.0.0", "3.1.0"} {
			r := `{"$ref": "` + ref + `"}`
			faulty(t, schemas(version, `"A": `+r))
			faulty(t, "# YAML\n"+schemas(version, `"A": {"properties": {"b": `+r+`}}`))
			faulty(t, doc(version, `"paths": {"/a": `+r+`}`))
			faulty(t, doc(version, `"paths": {"/a": {"get": {"parameters": [`+r+`], "responses": {"200": `+r+`}}}}`))
			valid(t, schemas(version, `"A": {"example": `+r+`, "default": `+r+`, "enum": [`+r+`], "x-a": `+r+`}`))
		}
		valid(t, schemas("3.1.0", `"A": {"$schema": "`+ref+`", "$id": "`+ref+`", "$dynamicRef": "`+ref+`", "const": {}, "externalDocs": {"url": "`+ref+`"}}`))
		valid(t, schemas("3.0.0", `"A": {"discriminator": {"propertyName": "a", "mapping": {"b": "`+ref+`"}}}`))
		valid(t, doc("3.0.0", `"paths": {}, "components": {"examples": {"e": {"externalValue": "`+ref+`"}}, "links": {"l": {"operationRef": "`+ref+`"}}}`))
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the canary was hit %d times", n)
	}
}
