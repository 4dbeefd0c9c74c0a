package tui_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/tui"
)

func TestElements_FindArrayDifferences(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     []tui.Element
	}{
		{`[]`, `[]`, nil},
		{`[1,2,3]`, `[1,2,3]`, nil},
		{`[1]`, `[1.0]`, []tui.Element{{"changed", 0, "1", "1.0"}}},
		{`[1,2]`, `[0,1,2]`, []tui.Element{{"added", 0, "", "0"}}},
		{`[1,2,3]`, `[1,3]`, []tui.Element{{"removed", 1, "2", ""}}},
		{`[{"a":1},[2]]`, `[{"a":2},[2]]`, []tui.Element{{"changed", 0, `{"a":1}`, `{"a":2}`}}},
		{`[1,1,1]`, `[1]`, []tui.Element{{"removed", 1, "1", ""}, {"removed", 2, "1", ""}}},
		{`["a","b","c","d"]`, `["b","x","d","a"]`,
			[]tui.Element{{"removed", 0, `"a"`, ""}, {"changed", 1, `"c"`, `"x"`}, {"added", 3, "", `"a"`}}},
	} {
		got, ok := tui.Elements(c.from, c.to)
		if d := cmp.Diff(c.want, got); d != "" || !ok {
			t.Errorf("%s to %s: %v %s", c.from, c.to, ok, d)
		}
	}
	for _, c := range [][2]string{{`[1]`, `1`}, {`"x"`, `[1]`}, {`{}`, `{}`}, {``, `[]`}, {`[`, `[]`}} {
		if _, ok := tui.Elements(c[0], c[1]); ok {
			t.Errorf("%s and %s are two arrays", c[0], c[1])
		}
	}
}

func TestElements_CompareLongArraysByIndex(t *testing.T) {
	var a, b []string
	for i := range 3000 {
		a, b = append(a, fmt.Sprint(i)), append(b, fmt.Sprint(i+1))
	}
	a[0], b[2999] = `"first"`, `"last"`
	got := check(t, "["+strings.Join(a, ",")+"]", "["+strings.Join(b, ",")+"]")
	if len(got) != 3000 || got[7].Kind != "changed" {
		t.Errorf("%d elements", len(got))
	}
}

// check holds the difference of two arrays against what it is for: it leads from
// the one to the other.
func check(t *testing.T, from, to string) []tui.Element {
	t.Helper()
	found, ok := tui.Elements(from, to)
	if !ok {
		return nil
	}
	var a, b []json.RawMessage
	if json.Unmarshal([]byte(from), &a) != nil || json.Unmarshal([]byte(to), &b) != nil {
		t.Fatalf("%s and %s are no arrays", from, to)
	}
	left := map[int]bool{}
	at := map[int]tui.Element{}
	for _, e := range found {
		if e.Kind == "removed" {
			left[e.Index] = true
			if string(a[e.Index]) != e.From {
				t.Errorf("%+v is no element of %s", e, from)
			}
		} else {
			at[e.Index] = e
		}
	}
	var kept, made []string
	for i, text := range a {
		if !left[i] {
			kept = append(kept, string(text))
		}
	}
	for j := range b {
		e, differs := at[j]
		switch {
		case differs && e.Kind == "added":
			made = append(made, e.To)
			continue
		case len(kept) == 0:
			t.Fatalf("%s to %s: %+v leave nothing for place %d", from, to, found, j)
		case differs && e.From == kept[0]:
			made = append(made, e.To)
		default:
			made = append(made, kept[0])
		}
		kept = kept[1:]
	}
	want := []string{}
	for _, text := range b {
		want = append(want, string(text))
	}
	if !slices.Equal(want, made) || len(kept) > 0 {
		t.Errorf("%s to %s: %+v lead to %v, and leave %v", from, to, found, made, kept)
	}
	return found
}

func FuzzElements(f *testing.F) {
	f.Add(`[1,2,3]`, `[2,3,4]`)
	f.Add(`["a",{"b":[1]},null]`, `[null,"a"]`)
	f.Add(`[1,1,2,1]`, `[1,2,2]`)
	f.Fuzz(func(t *testing.T, from, to string) { check(t, from, to) })
}

func FuzzWrap(f *testing.F) {
	f.Add("a value that goes on and on", 10)
	f.Add("\x1b[31m長い\u202e値\xff", 3)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 1 + max(width, -width)%100
		if short, cut := tui.ShortenValue(text, width); !cut && strings.Contains(short, "\n") {
			t.Errorf("%q becomes %q", text, short)
		}
		for _, line := range tui.WrapValue(text, width) {
			if strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f }) >= 0 {
				t.Errorf("a control character in %q of %q", line, text)
			}
		}
	})
}
