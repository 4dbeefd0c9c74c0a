package jsonedit_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
)

func TestParse_SyntaxErrorHasPosition(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
		reason       string
	}{
		{"", 1, 1, "the file is empty: a JSON object was expected"},
		{" \n\t", 1, 1, "the file is empty: a JSON object was expected"},
		{"\ufeff", 1, 1, "the file is empty: a JSON object was expected"},
		{"[1]", 1, 1, "a JSON object was expected, not an array"},
		{"\n null", 2, 2, "a JSON object was expected, not null"},
		{"\ufeff7", 1, 1, "a JSON object was expected, not a number"},
		{"{// c\n}", 1, 2, "JSON has no comments"},
		{"/* c */{}", 1, 1, "JSON has no comments"},
		{"{\n  # c\n}", 2, 3, "JSON has no comments"},
		{"{}\n// c", 2, 1, "JSON has no comments"},
		{"{\n  \"a\": 1,\n}", 2, 9, "a value was expected after the comma"},
		{`{"a": [1,]}`, 1, 9, "a value was expected after the comma"},
		{"{\"é\": 1,\r\n \"é\": 2}", 2, 2, `"é" is set twice`},
		{"{\"é\": 1, \"\\u00e9\": 2}", 1, 10, `"é" is set twice`},
		{`{"a": {"b": 1, "b": 1}}`, 1, 16, `"b" is set twice`},
		{`{"a": [{"b": 1, "b": 1}]}`, 1, 17, `"b" is set twice`},
		{`{"a": 1`, 1, 8, "the file ends in the middle of a value"},
		{`{"a": "x`, 1, 9, "the file ends in the middle of a value"},
		{"{} x", 1, 4, "the end of the file was expected"},
		{"{}{}", 1, 3, "the end of the file was expected"},
		{"{\"é\": \"\xff\"}", 1, 8, "invalid UTF-8"},
		{"\xff\xfe{\x00}\x00", 1, 1, "the file is UTF-16: save it as UTF-8"},
		{"\xfe\xff\x00{\x00}", 1, 1, "the file is UTF-16: save it as UTF-8"},
		{"{\"a\": 1\n \"b\": 2}", 2, 2, `invalid character '"' after object value (expecting ',' or '}')`},
		{`{"a": 01}`, 1, 8, `invalid character '1' after object value (expecting ',' or '}')`},
		{`{"a": "\ud800"}`, 1, 8, "invalid surrogate pair `\\ud800\"}` in string"},
		{`{1: 2}`, 1, 2, "a member's name in double quotes was expected"},
		{`{a: 2}`, 1, 2, "a member's name in double quotes was expected"},
		{`{"a": 1, 'b': 2}`, 1, 10, "a member's name in double quotes was expected"},
		{`{,}`, 1, 2, "a value was expected after the comma"},
		{`{"a": [1,,2]}`, 1, 10, "invalid character ',' at start of value"},
		{`{"a": [1 2]}`, 1, 10, "invalid character '2' after array element (expecting ',' or ']')"},
		{`{"a": [{b: 2}]}`, 1, 9, "a member's name in double quotes was expected"},
	} {
		_, err := jsonedit.Parse([]byte(c.text))
		var e *jsonedit.SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("%q: error %v, want a SyntaxError", c.text, err)
			continue
		}
		if want := (jsonedit.SyntaxError{Line: c.line, Column: c.column, Reason: c.reason}); *e != want {
			t.Errorf("%q: %v, want %v", c.text, e, &want)
		}
	}
}

func TestPosition_CountsCharactersFromOne(t *testing.T) {
	text := "\ufeff{\"é\": 1,\r\n\t\"x😀\": \"y\"}"
	d := parse(t, text)
	for _, c := range []struct {
		of           string
		line, column int
	}{{"{", 1, 1}, {"\"é", 1, 2}, {"1", 1, 7}, {"\"x", 2, 2}, {"\"y", 2, 8}, {"}", 2, 11}} {
		line, column := d.Position(strings.Index(text, c.of))
		if line != c.line || column != c.column {
			t.Errorf("%s stands at %d:%d, want %d:%d", c.of, line, column, c.line, c.column)
		}
	}
}

func TestValue_Kinds(t *testing.T) {
	d := parse(t,
		`{"o": {"i": [1]}, "a": [ {"x": 1}, "é" ,null], "s": "a\nb", "n": -1.50, "t": true, "f": false, "z": null}`)
	for name, want := range map[string]string{
		"o": "an object", "a": "an array", "s": "a string", "n": "a number", "t": "a boolean", "f": "a boolean", "z": "null",
	} {
		v, ok := d.Lookup(name)
		if !ok || v.Type() != want {
			t.Errorf("%s is %s (found %t), want %s", name, v.Type(), ok, want)
		}
		s, isString := v.Unquote()
		if isString != (name == "s") || isString && s != "a\nb" {
			t.Errorf("%s as text is %q, %t", name, s, isString)
		}
	}
	if _, ok := d.Lookup("absent"); ok {
		t.Error("an absent member was found")
	}

	array, _ := d.Lookup("a")
	var elements []string
	for v := range array.Elements() {
		elements = append(elements, string(v.Text))
		if !strings.HasPrefix(string(d.Source[v.Offset:]), string(v.Text)) {
			t.Errorf("%s does not stand at its offset", v.Text)
		}
	}
	if got := strings.Join(elements, " "); got != `{"x": 1} "é" null` {
		t.Errorf("elements are %s", got)
	}
}

// A file of 16 MiB can be an array of eight million numbers, each of which took 80 bytes.
func TestParse_BuildsNoTreeOfAnArray(t *testing.T) {
	text := []byte(`{"a":[` + strings.Repeat("0,", 100_000) + `{"b":[]}]}`)
	allocations := testing.AllocsPerRun(1, func() {
		if _, err := jsonedit.Parse(text); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 1000 {
		t.Errorf("%v allocations", allocations)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, "\ufeff{}", `{"a":[{"b":null}],}`, `{"a":"\ud83d\ude00"}`, "// c",
		"{\"a\"\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := jsonedit.Parse(text)
		var e *jsonedit.SyntaxError
		if err != nil {
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Reason == "" {
				t.Fatalf("%q: error %#v", text, err)
			}
			return
		}
		if !json.Valid([]byte(strings.TrimPrefix(string(text), "\ufeff"))) {
			t.Fatalf("%q is no JSON, but was read", text)
		}
		checkPlaces(t, text, d.Members)
	})
}

// checkPlaces fails unless every member and value stands where it says.
func checkPlaces(t *testing.T, text []byte, members []jsonedit.Member) {
	for _, m := range members {
		var name string
		err := json.NewDecoder(strings.NewReader(string(text[m.Offset:]))).Decode(&name)
		if err != nil || name != m.Name {
			t.Fatalf("%q does not stand at its offset in %q: %v", m.Name, text, err)
		}
		if !strings.HasPrefix(string(text[m.Value.Offset:]), string(m.Value.Text)) {
			t.Fatalf("the value of %q does not stand at its offset in %q", m.Name, text)
		}
		checkPlaces(t, text, m.Value.Members)
	}
}

func parse(t *testing.T, text string) *jsonedit.Document {
	t.Helper()
	d, err := jsonedit.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}
