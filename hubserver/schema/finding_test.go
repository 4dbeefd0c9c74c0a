package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/schema"
)

func TestValidate_SaysWhatIsWantedAndWhatThereIs(t *testing.T) {
	for _, c := range []struct{ rule, value, detail, keyword, want, got string }{
		{`{"maxLength": 3}`, `"abcde"`, "must have at most 3 characters, not 5", "maxLength", "3", "5"},
		{`{"minLength": 1}`, `""`, "must not be empty", "minLength", "1", "0"},
		{`{"minLength": 2}`, `"a"`, "must have at least 2 characters, not 1", "minLength", "2", "1"},
		{`{"maxItems": 1}`, `[1, 2]`, "must have at most 1 item, not 2", "maxItems", "1", "2"},
		{`{"minItems": 3}`, `[1]`, "must have at least 3 items, not 1", "minItems", "3", "1"},
		{`{"minProperties": 1}`, `{}`, "must not be empty", "minProperties", "1", "0"},
		{`{"maxProperties": 0}`, `{"a": 1}`, "must have at most 0 members, not 1", "maxProperties", "0", "1"},
		{`{"contains": {"const": 1}}`, `[]`, "must not be empty", "contains", "", ""},
		{
			`{"contains": {"const": 1}, "maxContains": 1}`, `[1, 1]`,
			"must have at most 1 matching item, not 2", "maxContains", "1", "2",
		},
		{`{"minimum": 1000000}`, `0.5`, "must be at least 1000000, not 0.5", "minimum", "1000000", "0.5"},
		{`{"maximum": 9}`, `1e999`, "must be at most 9, not +Inf", "maximum", "9", ""},
		{`{"exclusiveMinimum": 0}`, `0`, "must be greater than 0, not 0", "exclusiveMinimum", "0", "0"},
		{`{"exclusiveMaximum": 1}`, `1`, "must be less than 1, not 1", "exclusiveMaximum", "1", "1"},
		{`{"multipleOf": 5}`, `7`, "must be a multiple of 5, not 7", "multipleOf", "5", "7"},
		{`{"type": "string"}`, `5`, "must be a string, not a number", "type", `["string"]`, `"number"`},
		{
			`{"type": ["integer", "null", "object"]}`, `"a"`,
			"must be null, an integer or an object, not a string", "type", `["null","integer","object"]`, `"string"`,
		},
		{`{"const": "a<b"}`, `"secret"`, `must be "a<b"`, "const", `"a<b"`, ""},
		{`{"enum": [1, "b", null]}`, `"secret"`, `must be 1, "b" or null`, "enum", `[1,"b",null]`, ""},
		{`{"pattern": "^a+$"}`, `"secret"`, "must match the pattern ^a+$", "pattern", `"^a+$"`, ""},
		{`{"required": ["a"]}`, `{}`, `must have the member "a"`, "required", `["a"]`, ""},
		{`{"required": ["a", "b"]}`, `{}`, `must have the members "a", "b"`, "required", `["a","b"]`, ""},
		{
			`{"dependentRequired": {"a": ["b"]}}`, `{"a": 1}`,
			`must have the member "b" because it has "a"`, "dependentRequired", `["b"]`, "",
		},
		{
			`{"additionalProperties": false}`, `{"a": 1}`,
			`must not have the member "a"`, "additionalProperties", "", `["a"]`,
		},
		{
			`{"uniqueItems": true}`, `[1, 2, 1]`,
			"must not have equal items: items 1 and 3 are equal", "uniqueItems", "", "",
		},
		{`{"oneOf": [true, true]}`, `1`, "must match one alternative of the schema, not 2", "oneOf", "1", "2"},
		{`{"not": {}}`, `1`, "must not match what the schema excludes", "", "", ""},
		{`false`, `1`, "must be absent", "", "", ""},
	} {
		text := `{"properties": {"a": ` + c.rule + `}}`
		findings, err := schema.Validate([]byte(text), []byte(`{"a": `+c.value+`}`))
		want := []wire.FieldError{{
			Pointer: "/a", Detail: c.detail, Keyword: c.keyword, Want: []byte(c.want), Got: []byte(c.got),
		}}
		diff := cmp.Diff(want, findings, cmp.Transformer("text", func(b []byte) string { return string(b) }))
		if diff != "" || err != nil {
			t.Errorf("%s, %s: %v %s", c.rule, c.value, err, diff)
		}
	}
}
