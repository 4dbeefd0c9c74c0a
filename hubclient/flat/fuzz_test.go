package flat_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// small keeps hostile texts, whose flat form is far longer, out of comparisons that write it out.
var small = flat.Limits{Bytes: 1 << 20}

func FuzzFold(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":{"b.c":[1.0,{"z":null,"y":{}}]},"\\":"\u2028"}`, `{"a":1,"a":2}`, `[]`,
		`{"a":"\ud800"}`, ` {"":-0} x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := flat.Fold(data)
		kind, _ := classify(err)
		switch {
		case (wire.CheckSyntax(data) != nil) != (kind == "syntax"):
			t.Errorf("Fold: %v, CheckSyntax: %v", err, wire.CheckSyntax(data))
		case kind == "shape":
			if _, isObject := decode(t, data).(map[string]any); isObject {
				t.Errorf("an object is refused: %v", err)
			}
		case kind == "" && c.Check(small) == nil:
			if err := checkSettings(t, string(data)); err != nil {
				t.Error(err)
			}
		}
		// As the member of an object, it is the same config, or wrong for the same reason.
		object := slices.Concat([]byte(`{"source":1,"settings":`), data, []byte("}"))
		member, found, err := flat.FoldMember(object, "settings", "source")
		got, _ := classify(err)
		switch {
		case (wire.CheckSyntax(object) != nil) != (got == "syntax"):
			t.Errorf("FoldMember: %v, CheckSyntax: %v", err, wire.CheckSyntax(object))
		case kind == "shape" && got != "shape", kind == "" && (err != nil || !found):
			t.Errorf("FoldMember: %t, %v; Fold: %q", found, err, kind)
		case kind == "" && c.Check(small) == nil && !flat.Diff(c, member).Empty():
			t.Error("FoldMember returns another config than Fold")
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a.b":1,"a\\.c":{}}`, `{"a":1,"a.b":2}`, `{"a\\b":1}`, `{"a":{"b":1}}`,
		`{"..":[{"b":1,"a":2}]}`, `null`,
		`{"a":{"$secret":"KEY"}}`, `{"a.$secret":"KEY"}`, `{"a.$secret":"KEY","a.b":1}`, `{"$secret":"KEY"}`,
		`{"a":{"$secret":"key"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := flat.Parse(data)
		kind, _ := classify(err)
		if wire.CheckSyntax(data) != nil {
			if kind != "syntax" {
				t.Errorf("Parse: %v, CheckSyntax: %v", err, wire.CheckSyntax(data))
			}
			return
		}
		config, isObject := decode(t, data).(map[string]any)
		if valid := isObject && naiveValid(config); valid != (err == nil) || !valid && kind != "shape" {
			t.Fatalf("Parse: %v, valid: %t", err, valid)
		}
		if err != nil {
			return
		}
		for key, v := range config { // a reference that is written as a key of its own
			if above, ok := strings.CutSuffix(key, ".$secret"); ok && naiveReference(map[string]any{"$secret": v}) {
				alone := !slices.ContainsFunc(slices.Collect(maps.Keys(config)), func(other string) bool {
					return other != key && strings.HasPrefix(other, above+".")
				})
				if alone {
					delete(config, key)
					config[above] = map[string]any{"$secret": v}
				}
			}
		}
		want := naiveCanonical(config)
		if got := string(c.Canonical()); got != want {
			t.Errorf("Parse(%s) is\n     %s\nwant %s", data, got, want)
		}
		if err := checkSettings(t, string(c.Unfold())); err != nil {
			t.Error(err)
		}
		if got := string(fold(t, string(c.Unfold())).Canonical()); got != want {
			t.Errorf("%s unfolded and folded is %s", want, got)
		}
	})
}
