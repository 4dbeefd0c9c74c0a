package description_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/description"
	"example.com/projecthub/hubclient/wire"
)

func TestTargets_ListsOperationsSchemasAndProperties(t *testing.T) {
	t.Parallel()
	const yaml = `
openapi: 3.1.0
info: {title: Pets, version: "1"}
paths:
  /pets/{id}:
    parameters: []
    get: {operationId: getPet, responses: {}}
    delete: {responses: {}}
  /pets:
    post: {operationId: createPet, responses: {}}
components:
  schemas:
    Pet:
      allOf:
        - $ref: "#/components/schemas/Named"
        - {properties: {kind: {}, name: {}}}
      properties: {name: {}}
    a/b: {type: string}
    Named: {properties: {title: {}}}
`
	want := &wire.Targets{
		Operations: []wire.TargetOperation{
			{OperationID: "getPet", Method: "GET", Path: "/pets/{id}"}, {Method: "DELETE", Path: "/pets/{id}"},
			{OperationID: "createPet", Method: "POST", Path: "/pets"},
		},
		Schemas: []wire.TargetSchema{
			{Name: "Pet", Pointer: "#/components/schemas/Pet", Properties: []string{"name", "title", "kind"}},
			{Name: "a/b", Pointer: "#/components/schemas/a~1b", Properties: []string{}},
			{Name: "Named", Pointer: "#/components/schemas/Named", Properties: []string{"title"}},
		},
		Complete: true,
	}
	if diff := cmp.Diff(want, accepted(t, yaml).Targets()); diff != "" {
		t.Error(diff)
	}
	swagger := accepted(t,
		`{"swagger": "2.0", "paths": {}, "definitions": {"Dog": {"properties": {"age": {}}}}}`).Targets()
	if len(swagger.Schemas) != 1 || swagger.Schemas[0].Pointer != "#/definitions/Dog" {
		t.Errorf("%+v", swagger)
	}
}

func TestTargets_AreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"openapi": "3.1.0", "components": {"schemas": {"Large": {"properties": {`)
	for i := range description.MaxTargets + 1 {
		fmt.Fprintf(&b, `"p%d": {},`, i)
	}
	b.WriteString(`"last": {}}}}}}`)
	got := accepted(t, b.String()).Targets()
	if got.Complete || len(got.Schemas[0].Properties) != description.MaxTargets-1 {
		t.Errorf("%d properties, complete %t", len(got.Schemas[0].Properties), got.Complete)
	}
}

// Each schema of these gets all properties of those after it.
func TestTargets_ReferencesDoNotMultiply(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a circle": schemas("3.0.0", each(20_000, func(i int) string {
			return fmt.Sprintf(`"A%d": {"properties": {"p%d": {}}, "$ref": "#/components/schemas/A%d"}`, i, i, (i+1)%20_000)
		})),
		"two ways": schemas("3.0.0", each(40, func(i int) string {
			next := fmt.Sprintf(`{"$ref": "#/components/schemas/A%d"}`, i+1)
			return fmt.Sprintf(`"A%d": {"allOf": [%s, %s]}`, i, next, next)
		})+`, "A40": {"properties": {"a": {}}}`),
		"many links": schemas("3.0.0", each(80_000, func(i int) string {
			return fmt.Sprintf(`"A%d": {"$ref": "#/components/schemas/A%d"}`, i, i+1)
		})+`, "A80000": {}`),
	} {
		if got := accepted(t, text).Targets(); got.Complete != (name == "two ways") {
			t.Errorf("%s: complete %t", name, got.Complete)
		}
	}
}

func TestTargets_SkipWhatIsOfAnotherKind(t *testing.T) {
	t.Parallel()
	for _, members := range []string{
		`"paths": {"/": {"get": {"operationId": 1}}}`, `"paths": {"/": "b"}`, `"components": []`,
		`"components": {"schemas": null}`, `"components": {}, "definitions": 1`,
		`"components": {"schemas": {"a": {"allOf": {"x": 1}}}}`,
		`"components": {"schemas": {"a": {"$ref": "#/paths/0/%zz"}}}`,
	} {
		if got := accepted(t, doc("3.1.0", members)).Targets(); !got.Complete || len(got.Operations)+len(got.Schemas) > 1 {
			t.Errorf("%s: %+v", members, got)
		}
	}
}
