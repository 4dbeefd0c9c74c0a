package flat_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

func fold(t testing.TB, settings string) flat.Config {
	t.Helper()
	c, err := flat.Fold([]byte(settings))
	if err != nil {
		t.Fatalf("Fold(%.200s): %v", settings, err)
	}
	return c
}

func parse(t testing.TB, config string) flat.Config {
	t.Helper()
	c, err := flat.Parse([]byte(config))
	if err != nil {
		t.Fatalf("Parse(%.200s): %v", config, err)
	}
	return c
}

func TestConfig_ZeroIsEmpty(t *testing.T) {
	var c flat.Config
	empty := fold(t, "{}")
	for _, c := range []flat.Config{c, empty} {
		if string(c.Canonical()) != "{}" || string(c.Unfold()) != "{}" || c.Len() != 0 || len(c.Keys()) != 0 {
			t.Errorf("%s has %d keys and unfolds to %s", c.Canonical(), c.Len(), c.Unfold())
		}
	}
	if _, ok := c.Get(""); ok {
		t.Error("it has the empty key")
	}
	if !flat.Diff(c, empty).Empty() || c.Revision() != empty.Revision() {
		t.Error("it differs from the config of {}")
	}
}

func TestFoldMember_NamesWhatIsWrong(t *testing.T) {
	for body, want := range map[string]struct {
		found   bool
		pointer string
		detail  string // "": it is right
	}{
		`{"settings":{"a":{"b":1}}}`:       {found: true},
		`{"source":["any"],"settings":{}}`: {found: true},
		`{"source":null}`:                  {},
		`{}`:                               {},
		`[]`:                               {detail: "must be a JSON object"},
		`{"settings":null}`:                {pointer: "/settings", detail: "must be a JSON object"},
		`{"settings":{},"a/b":1}`:          {pointer: "/a~1b", detail: wire.NoSuchMember},
		`{"` + strings.Repeat("x", 1000) + `":1}`: {pointer: "/" + strings.Repeat("x", 149) + "…", detail: wire.NoSuchMember},
	} {
		c, found, err := flat.FoldMember([]byte(body), "settings", "source")
		shape := &wire.ShapeError{}
		if errors.As(err, &shape); found != want.found || (err == nil) != (want.detail == "") ||
			shape.Pointer != want.pointer || shape.Detail != want.detail {
			t.Errorf("%.60s: %t, %v, want %+v", body, found, err, want)
		}
		if _, ok := c.Get("a.b"); ok != (body == `{"settings":{"a":{"b":1}}}`) {
			t.Errorf("%.60s: the config is %s", body, c.Canonical())
		}
	}
}

func TestGet_FindsLeavesOnly(t *testing.T) {
	c := fold(t, `{"a":{"b":[{"y":1,"x":1.0}],"":"","c.d":null},"e":{},"\\":true,"f":[1]}`)
	want := map[string]string{
		"a.b": `[{"x":1.0,"y":1}]`, "a.": `""`, `a.c\.d`: "null", "e": "{}", `\\`: "true", "f": "[1]",
	}
	for key, text := range want {
		if got, ok := c.Get(key); !ok || got != text {
			t.Errorf("Get(%q) = %q, %t, want %q", key, got, ok, text)
		}
	}
	for _, key := range []string{"", "a", "a.b.0", "a.b.", "a.b.y", "a.c.d", "e.", "b", `\`, "a.b.c.d", "f.", "f.0",
		"e.a"} {
		if got, ok := c.Get(key); ok {
			t.Errorf("Get(%q) = %q, want nothing", key, got)
		}
	}
}

func TestKeys_InByteOrder(t *testing.T) {
	c := fold(t, `{"a":{"b":1},"a-":2,"a.":3,"Z":4,"":5,"\ud800\udc00":6,"\uff61":7}`)
	want := []string{"", "Z", "a-", "a.b", `a\.`, "\uff61", "\U00010000"}
	if diff := cmp.Diff(want, c.Keys()); diff != "" {
		t.Error(diff)
	}
	if c.Len() != len(want) {
		t.Errorf("Len = %d, want %d", c.Len(), len(want))
	}
}

func TestEnrichmentCount_CountsRecords(t *testing.T) {
	for config, want := range map[string]int{
		`{}`:                               0,
		`{"enrichments":[]}`:               0,
		`{"enrichments":[{},{"a":1}]}`:     2,
		`{"enrichments":[1,[2,3]]}`:        2,
		`{"enrichments":{}}`:               0,
		`{"enrichments":null}`:             0,
		`{"enrichments":"three"}`:          0,
		`{"enrichments.x":{}}`:             1,
		`{"enrichments.x.a":1}`:            1,
		`{"enrichments.x.a":1,"other":[]}`: 1,
		`{"enrichments.x.a":1,"enrichments.y":{},"enrichments.x.b.c":2}`: 2,
		`{"enrichments.x\\.a":1,"enrichments.x\\.b":2}`:                  2,
		`{"enrichments.x\\.a.b":1,"enrichments.x\\.a.c":2}`:              1,
		`{"enrichments.":1}`:                         1,
		`{"enrichments\\.x":{},"a.enrichments":[1]}`: 0,
	} {
		if got := parse(t, config).EnrichmentCount(); got != want {
			t.Errorf("%s has %d enrichments, want %d", config, got, want)
		}
	}
}

func TestConfig_IsImmutable(t *testing.T) {
	text := []byte(`{"a":{"b":123},"c":"x"}`)
	c, err := flat.Fold(text)
	if err != nil {
		t.Fatal(err)
	}
	copy(text, `{"z":{"y":987},"x":"w"}`)
	const want = `{"a.b":123,"c":"x"}`
	if got := string(c.Canonical()); got != want {
		t.Errorf("after its text was overwritten: %s", got)
	}
	c.Canonical()[2] = 'z'
	c.Keys()[0] = "z"
	if got := string(c.Canonical()); got != want {
		t.Errorf("after what it returned was changed: %s", got)
	}
}

// Lists that are needed for a moment are used again.
func TestCanonical_InParallel(t *testing.T) {
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 200 {
				settings := settingsOf(1+(i*37+n)%300, fmt.Sprint(n))
				want := fold(t, string(settings)).Canonical()
				if got, err := flat.Parse(want); err != nil || !bytes.Equal(got.Canonical(), want) ||
					bytes.Count(want, fmt.Appendf(nil, `"value %d `, n)) != got.Len() {
					t.Errorf("%s, %v", want, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestParse_AReferenceThatIsWrittenAsAKey(t *testing.T) {
	if got, want := string(parse(t, `{"a.$secret":"KEY","b":1}`).Canonical()),
		`{"a":{"$secret":"KEY"},"b":1}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParse_AReferenceHasAtMost128Characters(t *testing.T) {
	for n, want := range map[int]string{128: "a", 129: "a.$secret"} {
		got := fold(t, `{"a": {"$secret": "`+strings.Repeat("K", n)+`"}}`).Keys()
		if len(got) != 1 || got[0] != want {
			t.Errorf("%d characters: %q, want %s", n, got, want)
		}
	}
}

// Of two references, one is chosen.
func TestMerge_AReferenceIsOneValue(t *testing.T) {
	base, mine, theirs := parse(t, `{"a":{"$secret":"A"}}`), parse(t, `{"a":{"$secret":"B"}}`),
		parse(t, `{"a":{"$secret":"C"}}`)
	merged, conflicts := flat.Merge(&base, mine, theirs, nil)
	if len(conflicts) != 1 || conflicts[0].Key != "a" || string(merged.Canonical()) != `{"a":{"$secret":"B"}}` {
		t.Errorf("%s, %v", merged.Canonical(), conflicts)
	}
}
