package jsonedit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
)

func TestEdit_ChangesOnlyDifferences(t *testing.T) {
	for _, c := range []struct{ name, text, want, result string }{
		{"nothing", `{ "a" :1.0 , "b":[ 1,{"y":2,"x":3} ] }`, `{"b":[1,{"x":3,"y":2}],"a":1.0}`,
			`{ "a" :1.0 , "b":[ 1,{"y":2,"x":3} ] }`},
		{"a spelling of the same string", `{"a": "\u0041\/"}`, `{"a":"A/"}`, `{"a": "\u0041\/"}`},
		{"a spelling of the same name", `{"\u0061": 1}`, `{"a":1}`, `{"\u0061": 1}`},
		{"a spelling of a number", `{"a": 1.0}`, `{"a":1.00}`, `{"a": 1.00}`},
		{"a value", "{\n\t\"a\" : 1,\r\n\"b\":2}", `{"a":"x","b":2}`, "{\n\t\"a\" : \"x\",\r\n\"b\":2}"},
		{"a value below", `{"a": {"b": {"c": 1, "d": 2}}}`, `{"a":{"b":{"c":1,"d":3}}}`, `{"a": {"b": {"c": 1, "d": 3}}}`},
		{"after a byte order mark", "\ufeff{\"a\": 1}", `{"a":2}`, "\ufeff{\"a\": 2}"},

		{"a new member", "{\n  \"a\": 1\n}\n", `{"a":1,"b":2}`, "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
		{"a new member before spaces at the end", "{}\n ", `{"a":1}`, "{\n  \"a\": 1\n}\n "},
		{"new members in tabs and CRLF", "{\r\n\t\"a\" : 1\r\n}", `{"a":1,"b":2,"c":{"d":[3]}}`,
			"{\r\n\t\"a\" : 1,\r\n\t\"b\" : 2,\r\n\t\"c\" : {\r\n\t\t\"d\": [\r\n\t\t\t3\r\n\t\t]\r\n\t}\r\n}"},
		{"a new member after a blank line", "{\n  \"a\": 1,\n\n  \"b\": 2\n}", `{"a":1,"b":2,"c":3}`,
			"{\n  \"a\": 1,\n\n  \"b\": 2,\n  \"c\": 3\n}"},
		{"a new member on one line", `{"a": 1}`, `{"a":1,"b":{"c":[2,3]}}`, `{"a": 1, "b": {"c": [2, 3]}}`},
		{"a new member on one narrow line", `{"a":1}`, `{"a":1,"b":{"c":[2,3]}}`, `{"a":1,"b":{"c":[2,3]}}`},
		{"a new member on one wide line", `{ "a": 1, "b": 2 }`, `{"a":1,"b":2,"c":3}`, `{ "a": 1, "b": 2, "c": 3 }`},
		{"a new member where commas lead", "{ \"a\": 1\n, \"b\": 2\n}", `{"a":1,"b":2,"c":3}`,
			"{ \"a\": 1\n, \"b\": 2\n, \"c\": 3\n}"},
		{"a new member in a one-line object of a long file", "{\n  \"a\": {\"b\": 1}\n}", `{"a":{"b":1,"c":{"d":2}}}`,
			"{\n  \"a\": {\"b\": 1, \"c\": {\"d\": 2}}\n}"},
		{"a new member without indentation", "{\n\"a\": 1\n}", `{"a":1,"b":{"c":2}}`,
			"{\n\"a\": 1,\n\"b\": {\n\"c\": 2\n}\n}"},

		{"a new member where only a lower object shows the indentation", "{\"a\": {\n\t\"b\": 1\n}}",
			`{"a":{"b":1,"c":{"d":2}}}`, "{\"a\": {\n\t\"b\": 1,\n\t\"c\": {\n\t\t\"d\": 2\n\t}\n}}"},

		{"the first member of {}", "{}", `{"a":1}`, "{\n  \"a\": 1\n}"},
		{"the first member of { }", "{ }\n", `{"a":1}`, "{ \"a\": 1 }\n"},
		{"the first members of lines", "{\r\n}\r\n", `{"a":1,"b":2}`, "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n"},
		{"the first member below", "{\n    \"a\": {}\n}", `{"a":{"b":1}}`, "{\n    \"a\": {\n        \"b\": 1\n    }\n}"},
		{"the first member of blank lines", "{\n\n\t}", `{"a":1}`, "{\n  \"a\": 1\n\n\t}"},
		{"the first member below on one line", `{"a": {}}`, `{"a":{"b":1,"c":2}}`, `{"a": {"b": 1, "c": 2}}`},

		{"the first member gone", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", `{"b":2,"c":3}`,
			"{\n  \"b\": 2,\n  \"c\": 3\n}"},
		{"a middle member gone", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", `{"a":1,"c":3}`,
			"{\n  \"a\": 1,\n  \"c\": 3\n}"},
		{"the last member gone", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", `{"a":1,"b":2}`,
			"{\n  \"a\": 1,\n  \"b\": 2\n}"},
		{"all but one gone", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", `{"b":2}`, "{\n  \"b\": 2\n}"},
		{"all gone", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", `{}`, "{}\n"},
		{"the first gone from one line", `{"a": 1, "b": 2}`, `{"b":2}`, `{"b": 2}`},
		{"one gone from a shared line", "{\n  \"a\": 1, \"b\": 2,\n  \"c\": 3\n}", `{"a":1,"c":3}`,
			"{\n  \"a\": 1,\n  \"c\": 3\n}"},
		{"the start of a shared line gone", "{\n  \"a\": 1,\n  \"b\": 2, \"c\": 3\n}", `{"a":1,"c":3}`,
			"{\n  \"a\": 1,\n  \"c\": 3\n}"},
		{"the first gone beside the brace", "{\"a\": 1,\n \"b\": 2}", `{"b":2}`, "{\n \"b\": 2}"},
		{"the last gone, one new", "{\n  \"a\": 1,\n  \"b\": 2\n}", `{"a":1,"c":3}`, "{\n  \"a\": 1,\n  \"c\": 3\n}"},
		{"all gone, some new", "{\n  \"a\": 1,\n\n  \"b\": 2\n}", `{"c":3,"d":4}`, "{\n  \"c\": 3,\n  \"d\": 4\n}"},

		{"an array on one line stays on one", "{\n  \"a\": [1, 2]\n}", `{"a":[1,2,{"b":3}]}`,
			"{\n  \"a\": [1, 2, {\"b\": 3}]\n}"},
		{"an array in lines stays in lines", "{\n \"a\": [\n  1\n ]\n}", `{"a":[1,2]}`, "{\n \"a\": [\n  1,\n  2\n ]\n}"},
		{"an empty array gets lines", "{\n \"a\": []\n}", `{"a":[1]}`, "{\n \"a\": [\n  1\n ]\n}"},
		{"a scalar becomes an object", "{\n \"a\": 1\n}", `{"a":{"b":{"c":{}}}}`,
			"{\n \"a\": {\n  \"b\": {\n   \"c\": {}\n  }\n }\n}"},
		{"an object becomes a scalar", "{\n \"a\": {\n  \"b\": 1\n }\n}", `{"a":null}`, "{\n \"a\": null\n}"},
		{"new members where the first has another colon", `{"a":  {"b": 1}, "c": 2}`,
			`{"a":{"b":1,"d":3},"c":2,"e":4}`, `{"a":  {"b": 1, "d": 3}, "c": 2, "e": 4}`},
		{"a colon at a line's end", "{\n  \"a\":\n    1\n}", `{"a":1,"b":2}`, "{\n  \"a\":\n    1,\n  \"b\": 2\n}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := parse(t, c.text).Edit(parse(t, c.want).Members)
			if diff := cmp.Diff(c.result, string(result)); diff != "" {
				t.Errorf("Edit (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEdit_WritesNewValues(t *testing.T) {
	inner := []jsonedit.Member{{Name: "a\n", Value: jsonedit.String("\"é\\")}}
	text := jsonedit.Format([]jsonedit.Member{
		{Name: "o", Value: jsonedit.Object(inner)},
		{Name: "e", Value: jsonedit.Object(nil)},
		{Name: "s", Value: jsonedit.String("")},
	})
	want := "{\n  \"o\": {\n    \"a\\n\": \"\\\"é\\\\\"\n  },\n  \"e\": {},\n  \"s\": \"\"\n}\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("Format (-want +got):\n%s", diff)
	}
}

func TestEdit_DeepAndLongObjects(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 9999) + "1" + strings.Repeat("}", 9999)
	changed := strings.Replace(deep, "1", "2", 1)
	if got := parse(t, deep).Edit(parse(t, changed).Members); string(got) != changed {
		t.Error("a value 9,999 levels deep was not replaced")
	}
	if _, err := jsonedit.Parse([]byte(strings.Repeat(`{"a":`, 1e6))); err == nil {
		t.Error("a million levels were read")
	}

	var long strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&long, `"m%d":%d,`, i, i)
	}
	text := "{" + long.String() + `"z":1}`
	if got := parse(t, text).Edit(parse(t, "{"+long.String()+`"z":2}`).Members); string(got) != strings.Replace(text,
		`"z":1`, `"z":2`, 1) {
		t.Error("the last of 100,001 members was not replaced")
	}
}

// A line that is read again for each of its members takes a quarter of an hour here.
func TestEdit_ReadsALongLineOnce(t *testing.T) {
	var old strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&old, `"member %d":"old",`, i)
	}
	text := "{" + old.String() + `"z":1}`
	want := strings.ReplaceAll(text, `"old"`, `"new"`)
	if got := parse(t, text).Edit(parse(t, want).Members); string(got) != want {
		t.Error("the members were not replaced")
	}
}

func TestEditWithin_StopsAtTheLimit(t *testing.T) {
	const limit = 16 << 20
	deep := `{"a":1,"k":` + strings.Repeat(`{"k":`, 9000) + "1" + strings.Repeat("}", 9001)
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, `"m%d":{"a":1},`, i)
	}
	empty := strings.NewReplacer(`{"a":1}`, "{}").Replace(many.String())
	wide := strings.Repeat(" ", 1<<20)
	for name, c := range map[string]struct{ text, want string }{
		"indentation of many levels":           {"{\n  \"a\": 1\n}", deep},
		"the file's indentation for each":      {"{\n" + wide + `"a": 1` + "\n}", "{" + many.String() + `"z":1}`},
		"the file's separator for each":        {`{"a": 1,` + wide + `"b": 2}`, "{" + many.String() + `"z":1}`},
		"the indentation of each empty object": {"{\n" + wide + empty + "\"z\": {}}", "{" + many.String() + `"z":{}}`},
	} {
		if text, ok := parse(t, c.text).EditWithin(limit, parse(t, c.want).Members); ok || text != nil {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
	text := "{\n \"a\": 1\n}"
	want := "{\n \"a\": {\n  \"b\": [\n   1,\n   \"\\\"{\"\n  ]\n }\n}"
	if got, ok := parse(t, text).EditWithin(2*len(want), parse(t, want).Members); !ok || string(got) != want {
		t.Errorf("it is %q, %t", got, ok)
	}
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte("{\n  \"a\": {\"b\": [1]}, \"c\": 2\n}\n"), []byte(`{"a":{"b":[2],"d":{}}}`))
	f.Add([]byte("\ufeff{\r\n\t\"a\":1\r\n}"), []byte(`{}`))
	f.Add([]byte(`{ }`), []byte(`{"\u0061":"\/","b":1e9}`))
	f.Add([]byte("{\"a\":\r1 ,\n\r\"b\":2}"), []byte(`{"c":[{}]}`))
	f.Fuzz(func(t *testing.T, text, want []byte) {
		d, err := jsonedit.Parse(text)
		if err != nil {
			return
		}
		w, err := jsonedit.Parse(want)
		if err != nil {
			return
		}
		before := bytes.Clone(text)
		result := d.Edit(w.Members)
		if !bytes.Equal(text, before) {
			t.Fatalf("Edit changed its input %q to %q", before, text)
		}
		if got, want := meaning(t, result), meaning(t, want); !cmp.Equal(got, want) {
			t.Fatalf("%q edited to %q is %q:\n%s", text, want, result, cmp.Diff(want, got))
		}
		if again := parse(t, string(result)).Edit(w.Members); !bytes.Equal(again, result) {
			t.Fatalf("%q edited twice is %q, then %q", text, result, again)
		}
		if bytes.HasPrefix(text, []byte("\ufeff")) != bytes.HasPrefix(result, []byte("\ufeff")) {
			t.Fatalf("the byte order mark of %q did not stay", text)
		}
	})
}

// meaning decodes JSON by the standard library, numbers as they are spelled.
func meaning(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}
