package check

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// violation is what a JSON Schema does not allow.
type violation struct {
	pointer string // of the value
	detail  string
}

const (
	maxViolations = 100
	maxRefs       = 64 // on the way to a value
)

// violations returns what a schema does not allow in settings. It knows the usual keywords
// of JSON Schema and passes over all others, so that it reports nothing that is allowed;
// the hub checks them all, with a library that would make this program start slower.
func violations(schema, settings []byte) []violation {
	var root, value any
	if json.Unmarshal(schema, &root) != nil || json.Unmarshal(settings, &value) != nil {
		return nil // reported where they are read
	}
	v := &validator{root: root}
	v.check(root, value, "", 0)
	return v.found
}

type validator struct {
	root  any
	found []violation
}

func (v *validator) report(pointer, format string, args ...any) {
	if len(v.found) < maxViolations {
		v.found = append(v.found, violation{pointer, fmt.Sprintf(format, args...)})
	}
}

func (v *validator) check(schema, value any, pointer string, refs int) {
	if schema == false {
		v.report(pointer, "%s is not allowed", name(pointer))
	}
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if target, ok := s["$ref"].(string); ok && refs < maxRefs {
		v.check(v.resolve(target), value, pointer, refs+1)
	}
	if all, ok := s["allOf"].([]any); ok {
		for _, part := range all {
			v.check(part, value, pointer, refs+1)
		}
	}
	if !isOf(s["type"], value) {
		v.report(pointer, "%s is %s: the stack's schema allows %s", name(pointer), articles[typeOf(value)], allowed(s["type"]))
		return
	}
	v.values(s, value, pointer)
	switch value := value.(type) {
	case map[string]any:
		v.object(s, value, pointer, refs)
	case []any:
		v.array(s, value, pointer, refs)
	case string:
		v.text(s, value, pointer)
	case float64:
		v.number(s, value, pointer)
	}
}

func (v *validator) values(s map[string]any, value any, pointer string) {
	if options, ok := s["enum"].([]any); ok && !slices.ContainsFunc(options, func(o any) bool { return reflect.DeepEqual(o, value) }) {
		v.report(pointer, "%s is not one of the values that the stack's schema allows", name(pointer))
	}
	if want, ok := s["const"]; ok && !reflect.DeepEqual(want, value) {
		v.report(pointer, "%s is not the value that the stack's schema allows", name(pointer))
	}
}

func (v *validator) object(s map[string]any, value map[string]any, pointer string, refs int) {
	required, _ := s["required"].([]any)
	for _, member := range required {
		if text, ok := member.(string); ok {
			if _, ok := value[text]; !ok {
				v.report(pointer, "%q is required by the stack's schema", text)
			}
		}
	}
	properties, _ := s["properties"].(map[string]any)
	others, limited := s["additionalProperties"]
	_, patterns := s["patternProperties"]
	for _, member := range slices.Sorted(maps.Keys(value)) {
		at := pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(member)
		if schema, ok := properties[member]; ok {
			v.check(schema, value[member], at, 0)
		} else if limited && !patterns {
			v.check(others, value[member], at, refs)
		}
	}
}

func (v *validator) array(s map[string]any, value []any, pointer string, refs int) {
	n := float64(len(value))
	if least, ok := s["minItems"].(float64); ok && n < least {
		v.report(pointer, "%s has fewer than %v elements", name(pointer), least)
	}
	if most, ok := s["maxItems"].(float64); ok && n > most {
		v.report(pointer, "%s has more than %v elements", name(pointer), most)
	}
	if _, tuple := s["prefixItems"]; tuple {
		return
	}
	if items, ok := s["items"]; ok {
		if _, tuple := items.([]any); tuple {
			return
		}
		for i, element := range value {
			v.check(items, element, pointer+"/"+strconv.Itoa(i), refs)
		}
	}
}

func (v *validator) text(s map[string]any, value, pointer string) {
	n := float64(utf8.RuneCountInString(value))
	if least, ok := s["minLength"].(float64); ok && n < least {
		v.report(pointer, "%s is shorter than %v characters", name(pointer), least)
	}
	if most, ok := s["maxLength"].(float64); ok && n > most {
		v.report(pointer, "%s is longer than %v characters", name(pointer), most)
	}
	if pattern, ok := s["pattern"].(string); ok {
		if re, err := regexp.Compile(pattern); err == nil && !re.MatchString(value) {
			v.report(pointer, "%s does not match %s", name(pointer), pattern)
		}
	}
}

func (v *validator) number(s map[string]any, value float64, pointer string) {
	for _, limit := range []struct {
		keyword, words string
		ok             func(limit float64) bool
	}{
		{"minimum", "at least", func(l float64) bool { return value >= l }},
		{"maximum", "at most", func(l float64) bool { return value <= l }},
		{"exclusiveMinimum", "more than", func(l float64) bool { return value > l }},
		{"exclusiveMaximum", "less than", func(l float64) bool { return value < l }},
	} {
		if l, ok := s[limit.keyword].(float64); ok && !limit.ok(l) {
			v.report(pointer, "%s must be %s %v", name(pointer), limit.words, l)
		}
	}
}

// resolve returns the part of the schema that a local reference names, nil for any other.
func (v *validator) resolve(target string) any {
	path, local := strings.CutPrefix(target, "#")
	if !local {
		return nil
	}
	at := v.root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			break
		}
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return at
}

// isOf reports whether a value is of a type, or of one of several; nil is any.
func isOf(types, value any) bool {
	switch t := types.(type) {
	case string:
		f, number := value.(float64)
		return typeOf(value) == t || t == "integer" && number && f == math.Trunc(f)
	case []any:
		return len(t) == 0 || slices.ContainsFunc(t, func(one any) bool { return isOf(one, value) })
	}
	return true
}

func typeOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	}
	return "null"
}

// articles are the names of types in a sentence.
var articles = map[string]string{
	"object": "an object", "array": "an array", "string": "a string", "number": "a number", "boolean": "a boolean", "null": "null",
}

func allowed(types any) string {
	if list, ok := types.([]any); ok {
		return strings.Trim(fmt.Sprint(list), "[]")
	}
	return fmt.Sprint(types)
}

// name is how a message names the value at a pointer.
func name(pointer string) string {
	if pointer == "" {
		return "settings"
	}
	return strings.ReplaceAll(pointer[1:], "/", ".")
}
