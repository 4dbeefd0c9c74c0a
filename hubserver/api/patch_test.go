package api

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

func parsed(t testing.TB, text string) flat.Config {
	t.Helper()
	c, err := flat.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The key of what makes an object a reference can be set as any other.
func TestPatch_SetsTheNameOfASecret(t *testing.T) {
	for _, test := range []struct{ stored, set, want string }{
		{`{"a.$secret":"low"}`, `{"a.$secret":"KEY"}`, `{"a":{"$secret":"KEY"}}`},
		{`{"a":{"$secret":"KEY"}}`, `{"a.$secret":"low"}`, `{"a.$secret":"low"}`},
		{`{"a":{"$secret":"KEY"}}`, `{"a.$secret":"OTHER"}`, `{"a":{"$secret":"OTHER"}}`},
	} {
		after, err := applyPatch(parsed(t, test.stored), &wire.PatchConfig{Set: []byte(test.set)})
		if err != nil || string(after.Canonical()) != test.want {
			t.Errorf("%s in %s: %s, %v", test.set, test.stored, after.Canonical(), err)
		}
	}
}

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
			p := wire.PatchConfig{Remove: test.remove}
			if test.set != "" {
				p.Set = []byte(test.set)
			}
			before := parsed(t, stored)
			patched, err := applyPatch(before, &p)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(patched.Canonical()); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			if got := string(before.Canonical()); got != stored {
				t.Errorf("the config before is now %s", got)
			}
			folded, err := flat.Fold(patched.Unfold())
			if err != nil || string(folded.Canonical()) != test.want {
				t.Errorf("unfolded and folded\n got %s, %v\nwant %s", folded.Canonical(), err, test.want)
			}
		})
	}
}

func TestPatch_PointsToWhatIsWrong(t *testing.T) {
	const stored = `{"a.b":1,"a.c":{},"d":[1],"x/y.~":0}`
	for name, test := range map[string]struct {
		set    string
		remove []string
		want   string // ": …" at the end: the text begins so
	}{
		"null":                        {`null`, nil, "/set: must be a JSON object"},
		"a set key with a bad escape": {`{"a\\b":1}`, nil, `/set/a\b: a \ in a key must be followed by . or \`},
		"a bad escape in remove":      {"{}", []string{"a", `a\`}, `/remove/1: a \ in a key must be followed by . or \`},
		"a value with members": {`{"a":{"b":1}}`, nil,
			"/set/a: a flat key cannot have an object with members as its value"},
		"both set and removed":         {`{"a.b":2}`, []string{"a.b"}, "/set/a.b: the key is also in remove"},
		"one set key above the other":  {`{"n.m":1,"n":2}`, nil, `/set/n.m: "n" holds a value, so no key can be below it`},
		"its own fault comes first":    {`{"d.x":1,"n.m":1,"n":2}`, nil, "/set/n.m: …"},
		"below a stored leaf":          {`{"d.x":1}`, nil, `/set/d.x: "d" holds a value, so no key can be below it`},
		"far below an empty object":    {`{"a.c.d.e":1}`, nil, "/set/a.c.d.e: …"},
		"above stored keys":            {`{"a":1}`, []string{"a.b"}, `/set/a: "a.c" is below it, so it cannot hold a value`},
		"an empty object above keys":   {`{"a":{}}`, nil, "/set/a: …"},
		"a pointer that needs escapes": {`{"x/y.~.z":1}`, nil, "/set/x~1y.~0.z: …"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := applyPatch(parsed(t, stored), &wire.PatchConfig{Set: []byte(test.set), Remove: test.remove})
			shape, ok := errors.AsType[*wire.ShapeError](err)
			if start, cut := strings.CutSuffix(test.want, "…"); !ok || cut && !strings.HasPrefix(shape.Error(), start) ||
				!cut && shape.Error() != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	var syntax *wire.SyntaxError
	if _, err := applyPatch(flat.Config{}, &wire.PatchConfig{Set: []byte(`{"a":}`)}); !errors.As(err, &syntax) {
		t.Error(err)
	}
}

// keysNear are such that often one is below another.
var keysNear = []string{"a", "a.a", "a.b", "a.b.a", `a\.b`, "a-", "b", "b.a", `b\\`, `b\\.a`, "c", ""}

// randomConfig returns keys with values, of which none is below another.
func randomConfig(r *rand.Rand) map[string]string {
	c := map[string]string{}
	for range r.IntN(5) {
		key := keysNear[r.IntN(len(keysNear))]
		maps.DeleteFunc(c, func(k, _ string) bool { return isBelow(k, key) || isBelow(key, k) })
		c[key] = []string{"1", "{}", "[1]", `"x"`}[r.IntN(4)]
	}
	return c
}

func isBelow(key, above string) bool { return strings.HasPrefix(key, above+".") }

func textOf(c map[string]string) string {
	var members []string
	for _, key := range slices.Sorted(maps.Keys(c)) {
		members = append(members, fmt.Sprintf("%q:%s", key, c[key]))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestPatch_OfRandomKeys(t *testing.T) {
	fits, clashes := 0, 0
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		stored, set := randomConfig(r), randomConfig(r)
		want, p := maps.Clone(stored), wire.PatchConfig{Set: []byte(textOf(set))}
		for range r.IntN(3) {
			if key := keysNear[r.IntN(len(keysNear))]; set[key] == "" {
				p.Remove = append(p.Remove, key)
				delete(want, key)
			}
		}
		maps.Copy(want, set)
		clash := false
		for key := range want {
			clash = clash || slices.ContainsFunc(keysNear,
				func(above string) bool { return want[above] != "" && isBelow(key, above) })
		}
		got, err := applyPatch(parsed(t, textOf(stored)), &p)
		switch shape, ok := errors.AsType[*wire.ShapeError](err); {
		case !clash && (err != nil || string(got.Canonical()) != textOf(want)):
			t.Fatalf("%s with %s without %q: %s, %v", textOf(stored), p.Set, p.Remove, got.Canonical(), err)
		case clash && (!ok || set[strings.TrimPrefix(shape.Pointer, "/set/")] == ""):
			t.Fatalf("%s with %s without %q: %v", textOf(stored), p.Set, p.Remove, err)
		case clash:
			clashes++
		default:
			fits++
		}
	}
	if fits < 300 || clashes < 300 {
		t.Errorf("%d fit, %d clash", fits, clashes)
	}
}
