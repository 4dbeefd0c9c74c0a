package apisource

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": 1.00}`: `{"a": 1.00}`,
		"\ufeff{}":    `{}`,
		"b: 1.00\na: [yes, true, ~, 0x1f, '1', 2001-01-01, .5]\n200:\n  x: |\n    text\n": `{"b":1.00,"a":["yes",true,null,31,"1","2001-01-01",0.5],"200":{"x":"text\n"}}`,
		"a: &x {b: 1}\nc: *x": `{"a":{"b":1},"c":{"b":1}}`,
	} {
		got, err := JSON([]byte(text))
		if err != nil || string(got) != want && strings.TrimSpace(string(got)) != want {
			t.Errorf("%q: %s %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                          "empty",
		"a: 1\n---\nb: 1":           "more than one document",
		"- a":                       "not an object",
		"null":                      "not an object",
		"a: 1\na: 2":                "twice",
		`{"a": 1, "a": 2}`:          "twice",
		"a: &a [*a]":                "alias",
		"a: .nan":                   "cannot be written as a number in JSON",
		"? [a]\n: b":                "name of a member must be a string",
		"[a: b":                     "malformed YAML",
		"{\n\"a\": 1,\n\"b\": }}":   "malformed JSON in line 3",
		"base: &b {a: 1}\n<<: *b\n": "merge keys",
		"a: " + strings.Repeat("[", 600) + strings.Repeat("]", 600): "nested more than 200 deep",
		"a: &a [x,x,x,x,x,x,x,x,x]\n" + bomb(12):                    "more than 1000000 values",
	} {
		if got, err := JSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %.60q %v, want %q", text, got, err, want)
		}
	}
}

// bomb is YAML that grows ninefold with each of its lines.
func bomb(lines int) string {
	var b strings.Builder
	for i := range lines {
		name, next := string(rune('a'+i)), string(rune('b'+i))
		b.WriteString(next + ": &" + next + " [" + strings.Repeat("*"+name+",", 9) + "]\n")
	}
	return b.String()
}

func FuzzJSON(f *testing.F) {
	for _, text := range []string{"a: 1", `{"a": [1, null]}`, "a: &a {b: *a}", "? [a]\n: b", "a: !!int x",
		"a: !!float inf", "--- {}\n--- {}", "a: !!binary aGk="} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := JSON(text)
		if value := jsontext.Value(got); err == nil && (!value.IsValid() || value.Kind() != '{') {
			t.Errorf("%q became %q", text, got)
		}
	})
}
