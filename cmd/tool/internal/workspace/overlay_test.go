package workspace

import (
	"testing"

	"pgregory.net/rapid"

	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
)

func members(t rapid.TB, text string) []jsonedit.Member {
	t.Helper()
	v, err := jsonedit.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.Members
}

func textOf(members []jsonedit.Member) string { return string(jsonedit.Object(members).Text) }

func TestOverlay_MergesObjectsAndReplacesTheRest(t *testing.T) {
	for _, c := range []struct{ base, over, want string }{
		{`{"a":1,"b":2}`, `{"b":3,"c":4}`, `{"a":1,"b":3,"c":4}`},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"y":null,"z":3}}`, `{"a":{"x":1,"z":3}}`},
		{`{"a":[1,2]}`, `{"a":[null]}`, `{"a":[null]}`},
		{`{"a":1}`, `{"a":{"x":null,"y":1}}`, `{"a":{"y":1}}`},
		{`{"a":{"x":1}}`, `{"a":{}}`, `{"a":{"x":1}}`},
		{`{"a":{"x":1}}`, `{"a":null,"b":null}`, `{}`},
		{`{"a":null}`, `{}`, `{"a":null}`},
		{`{}`, `{"a":{"b":{}}}`, `{"a":{"b":{}}}`},
	} {
		if got := textOf(overlay(members(t, c.base), members(t, c.over))); got != c.want {
			t.Errorf("%s with %s is %s, want %s", c.base, c.over, got, c.want)
		}
	}
}

func TestSplit_ChangesTheFileThatHasTheKey(t *testing.T) {
	for _, c := range []struct{ name, base, over, want, newBase, newOver string }{
		{"changed in the overlay", `{"a":1,"b":2}`, `{"b":3}`, `{"a":1,"b":4}`, `{"a":1,"b":2}`, `{"b":4}`},
		{"changed in the base", `{"a":1,"b":2}`, `{"b":3}`, `{"a":5,"b":3}`, `{"a":5,"b":2}`, `{"b":3}`},
		{"added", `{"a":{"x":1}}`, `{"a":{"y":2}}`, `{"a":{"x":1,"y":2,"z":3}}`, `{"a":{"x":1,"z":3}}`, `{"a":{"y":2}}`},
		{"removed from the base", `{"a":1,"b":2}`, `{"b":3}`, `{"b":3}`, `{"b":2}`, `{"b":3}`},
		{"removed from the overlay", `{"a":1}`, `{"b":3}`, `{"a":1}`, `{"a":1}`, `{}`},
		{"removed from both", `{"a":1,"b":2}`, `{"b":3}`, `{"a":1}`, `{"a":1,"b":2}`, `{"b":null}`},
		{"back although removed", `{"a":{"x":1,"y":2}}`, `{"a":null}`, `{"a":{"x":1,"z":3}}`, `{"a":{"x":1,"y":2}}`,
			`{"a":{"y":null,"z":3}}`},
		{"back as in the base", `{"a":1}`, `{"a":null}`, `{"a":1}`, `{"a":1}`, `{}`},
		{"null", `{"a":1}`, `{"a":2}`, `{"a":null}`, `{"a":null}`, `{}`},
		{"object for a value", `{"a":1}`, `{"a":{"x":1}}`, `{"a":{"x":1,"y":2}}`, `{"a":1}`, `{"a":{"x":1,"y":2}}`},
	} {
		base, over := split(members(t, c.base), members(t, c.over), members(t, c.want))
		if textOf(base) != c.newBase || textOf(over) != c.newOver {
			t.Errorf("%s: %s and %s, want %s and %s", c.name, textOf(base), textOf(over), c.newBase, c.newOver)
		}
	}
}

func equal(a, b []jsonedit.Member) bool { return jsonedit.Equal([]byte(textOf(a)), []byte(textOf(b))) }

// anyObject draws an object with few names, so that two of them often have one in common.
func anyObject(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		text := ""
		for _, name := range []string{"a", "b", "c"} {
			value := rapid.SampledFrom([]string{"", "", "null", "1", "1.0", `"x"`, "[1,null]", "{"}).Draw(t, name)
			if value == "" || value == "{" && depth == 0 {
				continue
			}
			if value == "{" {
				value = anyObject(depth-1).Draw(t, "in "+name)
			}
			if text != "" {
				text += ","
			}
			text += `"` + name + `":` + value
		}
		return "{" + text + "}"
	})
}

func TestSplit_OfAnOverlayChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, over := members(t, anyObject(3).Draw(t, "base")), members(t, anyObject(3).Draw(t, "over"))
		newBase, newOver := split(base, over, overlay(base, over))
		if !equal(newBase, base) || !equal(newOver, over) {
			t.Fatalf("%s and %s become %s and %s", textOf(base), textOf(over), textOf(newBase), textOf(newOver))
		}
	})
}

func TestSplit_OverlaysToWhatWasWanted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, over := members(t, anyObject(3).Draw(t, "base")), members(t, anyObject(3).Draw(t, "over"))
		want := anyObject(3).Draw(t, "want")
		newBase, newOver := split(base, over, members(t, want))
		if got := textOf(overlay(newBase, newOver)); !jsonedit.Equal([]byte(got), []byte(want)) {
			t.Fatalf("%s and %s become %s and %s, which are %s, want %s",
				textOf(base), textOf(over), textOf(newBase), textOf(newOver), got, want)
		}
	})
}
