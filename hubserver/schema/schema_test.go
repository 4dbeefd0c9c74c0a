package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubserver/schema"
)

const theme = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object", "required": ["title"],
	"properties": {
		"title": {"type": "string", "minLength": 1, "pattern": "^[A-Z]"},
		"color": {"enum": ["teal", "red"]},
		"size": {"type": "integer", "minimum": 1, "maximum": 9},
		"child": {"$ref": "#"}
	}
}`

func TestValidate_ListsWhatIsNotAllowed(t *testing.T) {
	for settings, want := range map[string][]string{
		`{"title": "A", "color": "red", "size": 3, "other": [1]}`: nil,
		`{"title": "a", "size": 10, "child": {"color": 1, "title": ""}}`: {"/title", "/size", "/child/color", "/child/title",
			"/child/title"},
		`{}`:                                   {""},
		`{"title": "A", "size": 1e999999999}`:  {"/size"},
		`{"title": "A", "size": -1e999999999}`: {"/size"},
	} {
		findings, err := schema.Validate([]byte(theme), []byte(settings))
		if err != nil {
			t.Errorf("%s: %v", settings, err)
		}
		got := map[string]int{}
		for _, f := range findings {
			if got[f.Pointer]++; f.Detail == "" {
				t.Errorf("%s: %+v", settings, f)
			}
		}
		wanted := map[string]int{}
		for _, p := range want {
			wanted[p]++
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s: %s %+v", settings, diff, findings)
		}
	}
}

func TestValidate_FindingsAreLimited(t *testing.T) {
	many := `{"a": [` + strings.TrimSuffix(strings.Repeat("1,", 5000), ",") + `]}`
	findings, err := schema.Validate(
		[]byte(`{"properties": {"a": {"items": {"const": "`+strings.Repeat("x", 10_000)+`"}}}}`), []byte(many))
	if err != nil || len(findings) != 100 || len(findings[0].Detail) > 400 {
		t.Errorf("%d findings, %v", len(findings), err)
	}
}

func TestCheck_RefusesWhatIsNoSchema(t *testing.T) {
	for text, reason := range map[string]string{
		``:                                "empty",
		`{`:                               "",
		`[]`:                              "",
		`{"type": "string", "type": "x"}`: "",
		`{"type": "strin"}`:               "",
		`{"properties": 1}`:               "",
		`{"pattern": "("}`:                "",
		`{"$ref": "#/$defs/none"}`:        "",
		`{"$ref": "https://example.com/schema.json"}`:                               "nothing is fetched",
		`{"$ref": "file:///etc/passwd"}`:                                            "nothing is fetched",
		`{"$schema": "http://127.0.0.1:1/meta"}`:                                    "nothing is fetched",
		`{"maximum": 1e99999}`:                                                      "out of range",
		`{"pattern": "((a{1,30}){1,30}){1,30}"}`:                                    "",
		`{"patternProperties": {` + list(14_000, `"a{999}%x": true`) + `}}`:         "too complex together",
		strings.Repeat(`{"not":`, 65) + `{}` + strings.Repeat(`}`, 65):              "nested",
		`{"allOf": [` + strings.TrimSuffix(strings.Repeat(`{},`, 6000), ",") + `]}`: "more than 5000",
		`{"title": "` + strings.Repeat("x", schema.MaxBytes) + `"}`:                 "larger than 256 KiB",
	} {
		if err := schema.Check([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) ||
			len(err.Error()) > 1000 {
			t.Errorf("%.60s: %v, want %q", text, err, reason)
		}
	}
	for _, text := range []string{`{}`, `true`, theme,
		`{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {}}, "$ref": "#/definitions/a"}`} {
		if err := schema.Check([]byte(text)); err != nil {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

// Each of these takes far longer than anybody waits, or all memory, where it is not stopped.
func TestValidate_StopsBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	doubling := func(keyword, open, end string) string {
		var defs []string
		for i := range 40 {
			defs = append(defs, fmt.Sprintf(`"d%d": {"%s": %s{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}%s}`, i, keyword,
				open, i+1, i+1, end))
		}
		return `{"$ref": "#/$defs/d0", "$defs": {` + strings.Join(defs, ",") + `, "d40": {"required": ["never"]}}}`
	}
	for name, c := range map[string]struct{ schema, settings string }{
		"allOf": {doubling("allOf", "[", "]"), `{}`},
		"anyOf": {doubling("anyOf", "[", "]"), `{}`},
		"oneOf": {doubling("oneOf", "[", "]"), `{}`},
		"long text": {`{"properties": {"a": {"pattern": "(a|b|c|d|e|f|g|h|ij){1,200}$"}}}`,
			`{"a": "` + strings.Repeat("a", 1<<20) + `"}`},
		"if": {`{"if": ` + strings.ReplaceAll(doubling("anyOf", "[", "]"), "#/$defs", "#/if/$defs") +
			`, "then": false}`, `{}`},
		"dynamic": {dynamic(doubling("allOf", "[", "]")), `{}`},
		"in an array": {`{"properties": {"a": {"contains": ` +
			strings.ReplaceAll(doubling("allOf", "[", "]"), "#/$defs", "#/properties/a/contains/$defs") + `}}}`, `{"a": [{}]}`},
	} {
		if err := schema.Check([]byte(c.schema)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := schema.Validate([]byte(c.schema), []byte(c.settings)); !errors.Is(err, schema.ErrTooExpensive) {
			t.Errorf("%s: %v, want ErrTooExpensive", name, err)
		}
	}
	if _, err := schema.Validate([]byte(`{"$ref": "#"}`), []byte(`{}`)); err != nil {
		t.Errorf("a schema that refers to itself: %v", err)
	}
}

// dynamic returns a schema that nothing refers to but the name of an anchor, which means another one
// where the reference is.
func dynamic(bomb string) string {
	bomb = strings.ReplaceAll(bomb, "#/$defs", "http://x/root#/$defs/bomb/$defs")
	return `{"$id": "http://x/root", "$ref": "http://x/inner", "$defs": {
		"inner": {"$id": "http://x/inner", "$dynamicRef": "#a", "$defs": {"leaf": {"$dynamicAnchor": "a"}}},
		"bomb": {"$dynamicAnchor": "a", ` + bomb[1:] + `}}`
}

// list returns n texts of a format that takes a number.
func list(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

// Each of these would match patterns for hours, or list far more than it is worth.
func TestValidate_StopsPatternsAndLists(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	for name, c := range map[string]struct{ schema, settings string }{
		"many patterns, many names": {`{"patternProperties": {` + list(1500, `"(x+x+)+y%x": true`) + `}}`,
			`{` + list(10_000, `"`+strings.Repeat("x", 80)+`%x": 1`) + `}`},
		"many missing names": {`{"properties": {"a": {"items": {"required": [` + list(25_000, `"%x"`) + `]}}}}`,
			`{"a": [` + strings.TrimSuffix(strings.Repeat("{},", 100_000), ",") + `]}`},
		"many other names": {`{"allOf": [` + list(4000, `{"title": "%d", "additionalProperties": false}`) + `]}`,
			`{` + list(10_000, `"%x": 1`) + `}`},
	} {
		if err := schema.Check([]byte(c.schema)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := schema.Validate([]byte(c.schema), []byte(c.settings)); !errors.Is(err, schema.ErrTooExpensive) {
			t.Errorf("%s: %v, want ErrTooExpensive", name, err)
		}
		runtime.ReadMemStats(&after)
		if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 500 {
			t.Errorf("%s: %d MiB were allocated", name, allocated)
		} else {
			t.Logf("%s: %d MiB", name, allocated)
		}
	}
}

func FuzzValidate(f *testing.F) {
	for _, seed := range []string{theme, `{"allOf": [{"$ref": "#"}]}`,
		`{"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a"}}}`, `{"unevaluatedProperties": false}`,
		`{"dependentSchemas": {"a": false}}`} {
		f.Add(seed, `{"title": "A", "a": [1, 1e99, {"b": null}]}`)
	}
	f.Fuzz(func(t *testing.T, text, settings string) {
		if err := schema.Check([]byte(text)); err != nil {
			return
		}
		if _, err := schema.Validate([]byte(text), []byte(settings)); err != nil && !errors.Is(err, schema.ErrTooExpensive) &&
			json.Valid([]byte(settings)) {
			t.Errorf("%q is a schema, but does not validate %q: %v", text, settings, err)
		}
	})
}
