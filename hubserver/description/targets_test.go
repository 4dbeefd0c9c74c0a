package description_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/description"
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
			{OperationID: "getPet", Method: "GET", Path: "/pets/{id}"}, {Method: "DELETE", Path: "/pets/{id}"}, {OperationID: "createPet", Method: "POST", Path: "/pets"},
		},
		Schemas: []wire.TargetSchema{
			{Name: "Pet", Pointer: "#/components/schemas/Pet", Properties: []string{"name", "title", "kind"}},
			{Name: "a/b", Pointer: "#/components/schemas/a~1b", Properties: []string{}},
			{Name: "Named", Pointer: "#/components/schemas/Named", Properties: []string{"title"}},
		},
		Complete: true,
	}
	got, err := description.Targets(t.Context(), []byte(yaml), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	swagger, err := description.Targets(t.Context(), []byte(`{"swagger": "2.0", "definitions": {"Dog": {"properties": {"age": {}}}}}`), nil)
	if err != nil || len(swagger.Schemas) != 1 || swagger.Schemas[0].Pointer != "#/definitions/Dog" {
		t.Errorf("%+v, %v", swagger, err)
	}
}

func TestTargets_AreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"components": {"schemas": {"Large": {"properties": {`)
	for i := range description.MaxTargets + 1 {
		fmt.Fprintf(&b, `"p%d": {},`, i)
	}
	b.WriteString(`"last": {}}}}}}`)
	got, err := description.Targets(t.Context(), []byte(b.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Complete || len(got.Schemas[0].Properties) != description.MaxTargets-1 {
		t.Errorf("%d properties, complete %t", len(got.Schemas[0].Properties), got.Complete)
	}
}

func FuzzTargets(f *testing.F) {
	for _, seed := range []string{`{}`, `{"paths": {"/": {"get": {"operationId": 1}}}}`, `{"components": []}`, `{"components": {"schemas": {"a": {"allOf": {"x": 1}}}}}`, "paths:\n  a: b", `{"definitions": 1, "components": {"schemas": null}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := description.Targets(t.Context(), data, nil)
		if (got == nil) == (err == nil) {
			t.Errorf("%v and %v", got, err)
		}
	})
}
