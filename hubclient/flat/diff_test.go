package flat_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

func TestDiff_ListsChanges(t *testing.T) {
	from := fold(t,
		`{"same":{"a":[{"x":1,"y":2}]},"gone":{"b":null,"a-":1,"a":{"c":2}},"changed":{"n":1.0,"o":{}},"leaf":1}`)
	to := fold(t, `{"same":{"a":[{"y":2,"x":1}]},"new":[ 1 ],"changed":{"n":1.00,"o":[]},"leaf":{"below":1}}`)
	want := flat.Difference{
		{"changed.n", "1.0", "1.00"}, {"changed.o", "{}", "[]"}, {"gone.a-", "1", ""}, {"gone.a.c", "2", ""},
		{"gone.b", "null", ""}, {"leaf", "1", ""}, {"leaf.below", "", "1"}, {"new", "", "[1]"},
	}
	got := flat.Diff(from, to)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Empty() {
		t.Error("the difference is empty")
	}
}

func TestDiff_KeysInByteOrder(t *testing.T) {
	for _, test := range []struct{ name, from, to, want string }{
		{"none", `{"a":1}`, `{ "a":1 }`, `{"added":{},"changed":{},"removed":{}}`},
		{"one of each", `{"c":{"x":1.0},"r":"\u003c"}`, `{"c":{"x":[{"b":1,"a":"\""}]},"a.b":{"":{}}}`,
			`{"added":{"a\\.b.":{}},"changed":{"c.x":{"from":1.0,"to":[{"a":"\"","b":1}]}},"removed":{"r":"<"}}`},
		{"byte order", `{}`, `{"a":{"b":1},"a-":2,"\ud800\udc00":3,"\uff61":4}`,
			`{"added":{"a-":2,"a.b":1,"` + "\uff61" + `":4,"` + "\U00010000" + `":3},"changed":{},"removed":{}}`},
		{"numbers as they were written", `{"a":1e400,"b":1}`, `{"a":-0,"b":1.0}`,
			`{"added":{},"changed":{"a":{"from":1e400,"to":-0},"b":{"from":1,"to":1.0}},"removed":{}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := flat.Diff(fold(t, test.from), fold(t, test.to))
			if d.Empty() != (test.name == "none") {
				t.Errorf("Empty = %t", d.Empty())
			}
			// Inside a larger result, as commands print it.
			got, err := wire.Encode(map[string]any{"config": d})
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"config":` + test.want + `}`; string(got) != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

func TestDifference_ByRecord(t *testing.T) {
	for name, test := range map[string]struct{ from, to, want string }{
		"members": {
			`[{"target":"Pet.name","placeholder":"Polly","a":{"b":1}},{"target":"Pet.age"}]`,
			`[{"target":"Pet.age","help":"In years"},{"target":"Pet.name","placeholder":"Rex","a":{"b":2}}]`,
			`{"added":{"enrichments[Pet.age].help":"In years"},"changed":{"enrichments[Pet.name].a.b":{"from":1,"to":2},` +
				`"enrichments[Pet.name].placeholder":{"from":"Polly","to":"Rex"}},"removed":{}}`,
		},
		"records": {
			`[{"id":1,"x":1},{"id":2}]`, `[{"id":2},{"id":3}]`,
			`{"added":{"enrichments[3]":{"id":3}},"changed":{},"removed":{"enrichments[1]":{"id":1,"x":1}}}`,
		},
		"another order": {
			`[{"id":1},{"id":2}]`, `[{"id":2},{"id":1}]`,
			`{"added":{},"changed":{"enrichments":{"from":[{"id":1},{"id":2}],"to":[{"id":2},{"id":1}]}},"removed":{}}`,
		},
		"no records": {`[1]`, `[2]`, `{"added":{},"changed":{"enrichments":{"from":[1],"to":[2]}},"removed":{}}`},
	} {
		d := flat.Diff(fold(t, `{"enrichments":`+test.from+`}`), fold(t, `{"enrichments":`+test.to+`}`))
		before := fmt.Sprint(d)
		got, err := d.ByRecord().MarshalJSON()
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, test.want)
		}
		if fmt.Sprint(d) != before {
			t.Errorf("%s: the difference itself changed", name)
		}
	}
}
