package flat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

func TestDiff_ListsChanges(t *testing.T) {
	from := fold(t, `{"same":{"a":[{"x":1,"y":2}]},"gone":{"b":null,"a-":1,"a":{"c":2}},"changed":{"n":1.0,"o":{}},"leaf":1}`)
	to := fold(t, `{"same":{"a":[{"y":2,"x":1}]},"new":[ 1 ],"changed":{"n":1.00,"o":[]},"leaf":{"below":1}}`)
	want := flat.Difference{
		Added:   []flat.Entry{{"leaf.below", "1"}, {"new", "[1]"}},
		Changed: []flat.Change{{"changed.n", "1.0", "1.00"}, {"changed.o", "{}", "[]"}},
		Removed: []flat.Entry{{"gone.a-", "1"}, {"gone.a.c", "2"}, {"gone.b", "null"}, {"leaf", "1"}},
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

func TestCount_ReadsEscapes(t *testing.T) {
	from := parse(t, `{"a\\\\b": "x\"y", "a\"": "\\\\", "a\u0001": ["]", {"k": ","}], "same": "}"}`)
	to := parse(t, `{"a\\\\b": "x\"z", "a\u0001": ["]", {"k": "."}], "same": "}", "new\n": 1}`)
	want := flat.Counts{Added: 1, Changed: 2, Removed: 1}
	if got, err := flat.Count(from.Canonical(), to.Canonical()); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func FuzzCount(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"a":1}`, `{"a":1`, `{"a"}`, `{"a":}`, `{"a\\":"}`, `{"a":[1,{"b":"\""}],"c":null}`, `{"a":1}}`, `{,}`} {
		f.Add(seed, `{"a":2}`)
	}
	f.Fuzz(func(t *testing.T, from, to string) {
		a, errA := flat.Parse([]byte(from))
		b, errB := flat.Parse([]byte(to))
		if errA != nil || errB != nil {
			_, _ = flat.Count([]byte(from), []byte(to)) // it does not panic, and ends
			return
		}
		d := flat.Diff(a, b)
		want := flat.Counts{Added: len(d.Added), Changed: len(d.Changed), Removed: len(d.Removed)}
		if got, err := flat.Count(a.Canonical(), b.Canonical()); err != nil || got != want {
			t.Errorf("Count(%q, %q): %+v, %v, want %+v", from, to, got, err, want)
		}
	})
}
