package flat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The functions here say the same as the package, slowly and on generic JSON
// trees, so that the two can be compared.

// decode reads JSON with encoding/json; numbers stay literal.
func decode(t testing.TB, text []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", text, err)
	}
	return v
}

func naiveFold(settings map[string]any) map[string]any {
	config := map[string]any{}
	for name, v := range settings {
		key := strings.ReplaceAll(strings.ReplaceAll(name, `\`, `\\`), `.`, `\.`)
		object, ok := v.(map[string]any)
		if !ok || len(object) == 0 || naiveReference(object) {
			config[key] = v
			continue
		}
		for rest, leaf := range naiveFold(object) {
			config[key+"."+rest] = leaf
		}
	}
	return config
}

func naiveReference(object map[string]any) bool {
	name, isText := object["$secret"].(string)
	return isText && len(object) == 1 && regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,127}$`).MatchString(name)
}

func naiveCanonical(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool, json.Number:
		return fmt.Sprint(v)
	case string:
		return naiveQuote(v)
	case []any:
		elements := []string{}
		for _, e := range v {
			elements = append(elements, naiveCanonical(e))
		}
		return "[" + strings.Join(elements, ",") + "]"
	case map[string]any:
		members := []string{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members = append(members, naiveQuote(name)+":"+naiveCanonical(v[name]))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	panic(fmt.Sprintf("%T is not JSON", v))
}

func naiveQuote(s string) string {
	short := map[byte]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}
	quoted := `"`
	for _, c := range []byte(s) {
		switch {
		case short[c] != "":
			quoted += short[c]
		case c < 0x20:
			quoted += fmt.Sprintf(`\u%04x`, c)
		default:
			quoted += string([]byte{c})
		}
	}
	return quoted + `"`
}

func naiveDepth(v any) int {
	var items []any
	switch v := v.(type) {
	case []any:
		items = v
	case map[string]any:
		items = slices.Collect(maps.Values(v))
	default:
		return 0
	}
	deepest := 0
	for _, item := range items {
		deepest = max(deepest, naiveDepth(item))
	}
	return 1 + deepest
}

var validKey = regexp.MustCompile(`(?s)^([^\\]|\\[.\\])*$`)

func naiveValid(config map[string]any) bool {
	for key, v := range config {
		if object, ok := v.(map[string]any); !validKey.MatchString(key) || ok && len(object) > 0 && !naiveReference(object) {
			return false
		}
	}
	return !naiveClash(config)
}

func naiveClash(config map[string]any) bool {
	for above := range config {
		for below := range config {
			if strings.HasPrefix(below, above+".") {
				return true
			}
		}
	}
	return false
}
