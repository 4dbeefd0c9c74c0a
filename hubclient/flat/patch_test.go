package flat_test

import (
	"testing"
)

func TestPatch_SetsAndRemovesKeys(t *testing.T) {
	const stored = `{"a.b":1,"a.c":{},"d":[1],"e\\.f":"x"}`
	for _, test := range []struct {
		name, set string
		remove    []string
		want      string
	}{
		{"nothing", "", nil, stored},
		{"an empty set", "{}", nil, stored},
		{"a new key next to others", `{"a.d":true}`, nil, `{"a.b":1,"a.c":{},"a.d":true,"d":[1],"e\\.f":"x"}`},
		{"another value", `{"a.b":1.0,"d":{}}`, nil, `{"a.b":1.0,"a.c":{},"d":{},"e\\.f":"x"}`},
		{"a removed key", "", []string{"a.b", `e\.f`}, `{"a.c":{},"d":[1]}`},
		{"every key removed leaves no empty object", "", []string{"a.b", "a.c"}, `{"d":[1],"e\\.f":"x"}`},
		{"removing what is absent", "", []string{"z", "a", "a.b.c", "d.0", ""}, stored},
		{"removing twice", "", []string{"d", "d"}, `{"a.b":1,"a.c":{},"e\\.f":"x"}`},
		{"a leaf in place of keys", `{"a":null}`, []string{"a.b", "a.c"}, `{"a":null,"d":[1],"e\\.f":"x"}`},
		{"keys in place of a leaf", `{"d.x":1,"d.y":2}`, []string{"d"}, `{"a.b":1,"a.c":{},"d.x":1,"d.y":2,"e\\.f":"x"}`},
		{"the empty key", `{"":1}`, nil, `{"":1,"a.b":1,"a.c":{},"d":[1],"e\\.f":"x"}`},
		{"canonical values", ` { "d" : [ {"b":1,"a":2} ] }`, nil, `{"a.b":1,"a.c":{},"d":[{"a":2,"b":1}],"e\\.f":"x"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var set []byte
			if test.set != "" {
				set = []byte(test.set)
			}
			patched, err := parse(t, stored).Patch(set, test.remove)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(patched.Canonical()); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			if got := string(fold(t, string(patched.Unfold())).Canonical()); got != test.want {
				t.Errorf("unfolded and folded\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestPatch_DistinguishesBadRequestFromConflict(t *testing.T) {
	const stored = `{"a.b":1,"a.c":{},"d":[1],"x/y.~":0}`
	for _, test := range []struct {
		name, set     string
		remove        []string
		kind, pointer string
		text          string
	}{
		{"no JSON", `{"a":}`, nil, "syntax", "", ""},
		{"null", `null`, nil, "shape", "/set", "/set: must be a JSON object"},
		{"a set key with a bad escape", `{"a\\b":1}`, nil, "shape", `/set/a\b`, `/set/a\b: a \ in a key has to stand before . or \`},
		{"a removed key with a bad escape", "{}", []string{"a", `a\`}, "shape", "/remove/1", `/remove/1: a \ in a key has to stand before . or \`},
		{"a value with members", `{"a":{"b":1}}`, nil, "shape", "/set/a", "/set/a: a flat key cannot have an object with members as its value"},
		{"both set and removed", `{"a.b":2}`, []string{"a.b"}, "shape", "/set/a.b", "/set/a.b: the key is to be removed too"},
		{"set keys one above the other", `{"n.m":1,"n":2}`, nil, "shape", "/set/n.m", `/set/n.m: "n" holds a value, so no key can be below it`},
		{"the request's own fault comes first", `{"d.x":1,"n.m":1,"n":2}`, nil, "shape", "/set/n.m", ""},
		{"below a stored leaf", `{"d.x":1}`, nil, "conflict", "/set/d.x", `/set/d.x: "d" holds a value, so no key can be below it`},
		{"far below a stored empty object", `{"a.c.d.e":1}`, nil, "conflict", "/set/a.c.d.e", ""},
		{"above stored keys", `{"a":1}`, []string{"a.b"}, "conflict", "/set/a", `/set/a: "a.c" is below it, so it cannot hold a value`},
		{"an empty object above stored keys", `{"a":{}}`, nil, "conflict", "/set/a", ""},
		{"a pointer that needs escapes", `{"x/y.~.z":1}`, nil, "conflict", "/set/x~1y.~0.z", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse(t, stored).Patch([]byte(test.set), test.remove)
			if kind, pointer := classify(err); kind != test.kind || pointer != test.pointer {
				t.Fatalf("error %v: %q at %q, want %q at %q", err, kind, pointer, test.kind, test.pointer)
			}
			if test.text != "" && err.Error() != test.text {
				t.Errorf("error text %q, want %q", err, test.text)
			}
		})
	}
}
