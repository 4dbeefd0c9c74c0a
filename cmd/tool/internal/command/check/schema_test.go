package check

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"example.com/projecthub/hubserver/schema"
)

// What is reported here, the hub reports too.
func TestViolations_AreWhatTheHubFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := []string{`"a"`, `"abcd"`, `1`, `2.5`, `-7`, `true`, `null`, `[]`, `[1, "a", {}]`, `{}`, `{"a": 1}`, `{"a": {"b": "x"}}`}
	keywords := []string{
		`"type": "string"`, `"type": ["integer", "null"]`, `"type": "object"`, `"enum": [1, "a", [], {"a": 1}]`, `"const": "a"`,
		`"minimum": 2`, `"maximum": 2`, `"exclusiveMinimum": 1`, `"exclusiveMaximum": 1`, `"minLength": 2`, `"maxLength": 2`, `"pattern": "^a.*d$"`,
		`"minItems": 1`, `"maxItems": 2`, `"items": {"type": "number"}`, `"prefixItems": [{"type": "number"}], "items": false`,
		`"required": ["a"]`, `"properties": {"a": {"type": "integer"}}`, `"additionalProperties": false`,
		`"additionalProperties": {"$ref": "#/$defs/d"}`, `"$ref": "#/$defs/d"`, `"allOf": [{"type": "object"}, {"$ref": "#/$defs/d"}]`,
		`"anyOf": [{"type": "string"}, {"type": "null"}]`, `"not": {"type": "null"}`, `"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": false`,
	}
	found := 0
	for range 5000 {
		text := fmt.Sprintf(`{"$defs": {"d": {%s}}, "properties": {"v": {%s, "x": 1}}}`, keywords[r.IntN(len(keywords)-5)], keywords[r.IntN(len(keywords))])
		settings := fmt.Sprintf(`{"v": %s}`, values[r.IntN(len(values))])
		mine := violations([]byte(text), []byte(settings))
		hubs, err := schema.Validate([]byte(text), []byte(settings))
		if err != nil {
			continue // such as one that refers to itself
		}
		if found += len(mine); len(mine) > 0 && len(hubs) == 0 {
			t.Fatalf("%s does not allow %s here: %v", text, settings, mine)
		}
	}
	if found < 500 {
		t.Errorf("only %d were found", found)
	}
}
