package flat_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
)

func TestCheck_NamesLimitAndValue(t *testing.T) {
	const settings = `{"a":{"b":[1]},"c.d":"\u0001\u00e9","e":{"f":{},"g":{"h":null}}}`
	// {"a.b":[1],"c\\.d":"\u0001é","e.f":{},"e.g.h":null} has 52 bytes.
	c := fold(t, settings)
	for _, test := range []struct {
		name   string
		limits flat.Limits
		want   *flat.LimitError
	}{
		{"exactly enough", flat.Limits{Bytes: 52, Keys: 4, Depth: 3}, nil},
		{"no limit", flat.Limits{}, nil},
		{"bytes", flat.Limits{Bytes: 51, Keys: 4, Depth: 3}, &flat.LimitError{What: "size in bytes", Found: 52, Max: 51}},
		{"keys", flat.Limits{Bytes: 52, Keys: 3, Depth: 3}, &flat.LimitError{What: "number of keys", Found: 4, Max: 3}},
		{"depth", flat.Limits{Bytes: 52, Keys: 4, Depth: 2}, &flat.LimitError{What: "depth", Found: 3, Max: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := c.Check(test.limits)
			var got *flat.LimitError
			if err != nil && !errors.As(err, &got) {
				t.Fatalf("%T: %v", err, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	const want = "the config's depth is 3, above the limit of 1"
	if err := c.Check(flat.Limits{Depth: 1}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestCheck_DepthIsThatOfSettings(t *testing.T) {
	for settings, depth := range map[string]int{
		`{}`: 1, `{"a":1}`: 1, `{"a":{}}`: 2, `{"a":[]}`: 2, `{"a":{"b":1}}`: 2, `{"a":{"b":[1]}}`: 3,
		`{"a":[{"b":[]}],"c":1}`: 4, `{"a.b.c":1}`: 1,
	} {
		c := fold(t, settings)
		if err := c.Check(flat.Limits{Depth: depth}); err != nil {
			t.Errorf("%s: %v", settings, err)
		}
		if err := c.Check(flat.Limits{Depth: depth - 1}); depth > 1 && err == nil {
			t.Errorf("%s is at most %d deep", settings, depth-1)
		}
	}
}

// hostile returns settings of about size bytes whose flat form is far longer,
// or which are nested as deep as JSON can be.
func hostile(size int) map[string]string {
	members := make([]string, size/20)
	for i := range members {
		members[i] = fmt.Sprintf(`"%06d":0`, i)
	}
	nest := func(open, bottom, shut string, depth int) string {
		return strings.Repeat(open, depth) + bottom + strings.Repeat(shut, depth)
	}
	name := strings.Repeat("n", size/20_000)
	payload := `"` + strings.Repeat("x", size/2) + `"`
	return map[string]string{
		"many keys under a long name": `{"` + strings.Repeat("n", size/2) + `":{` +
			strings.Join(members, ",") + `}}`,
		"a key at every depth":                         nest(`{"k":{"":0},"`+name+`":`, "0", "}", 9_998),
		"unsorted members at every depth, in an array": `{"a":[` + nest(`{"b":0,"a":`, payload, "}", 9_997) + `]}`,
		"nested arrays":                                `{"a":` + nest("[", "", "]", 9_999) + `}`,
	}
}

func TestFold_HostileSettingsUseLittleMemory(t *testing.T) {
	limits := flat.Limits{Bytes: 1 << 20, Keys: 10_000, Depth: 32}
	for name, settings := range hostile(1 << 20) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := fold(t, settings)
			err := c.Check(limits)
			runtime.ReadMemStats(&after)

			var limit *flat.LimitError
			if !errors.As(err, &limit) {
				t.Errorf("Check: %v", err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 100<<20 {
				t.Errorf("%d bytes of settings took %d bytes of memory", len(settings), got)
			}
		})
	}
}

func TestCheck_MeasuresHugeSizeWithoutWritingIt(t *testing.T) {
	const keys, long = 50_000, 500_000
	members := make([]string, keys)
	for i := range members {
		members[i] = fmt.Sprintf(`"%05d":0`, i)
	}
	c := fold(t, `{"`+strings.Repeat(".", long)+`":{`+strings.Join(members, ",")+`}}`)
	// Each key is the long name with two \ before each dot, a dot and five digits,
	// in quotes, with a colon, the value and a comma; braces for all but the last comma.
	want := int64(keys*(3*long+1+5+2+1+1+1) + 1)
	var limit *flat.LimitError
	if err := c.Check(flat.Limits{Bytes: 1}); !errors.As(err, &limit) || limit.Found != want {
		t.Errorf("Check: %v, want %d bytes", err, want)
	}
}

func TestFold_RejectsTooDeepNesting(t *testing.T) {
	const deepest = 10_000
	nested := func(depth int) string { return strings.Repeat(`{"":`, depth) + "1" + strings.Repeat("}", depth) }
	key := func(names int) string { return strings.Repeat(".", names-1) }
	brackets := strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000)

	c := fold(t, nested(deepest))
	if got := c.Keys(); len(got) != 1 || got[0] != key(deepest) {
		t.Error("Fold loses depth")
	}
	if got := string(parse(t, string(c.Canonical())).Unfold()); got != nested(deepest) {
		t.Error("Parse loses depth")
	}
	if _, err := flat.Fold([]byte(nested(deepest + 1))); err == nil {
		t.Error("Fold accepts more")
	}
	parse(t, `{"`+key(5_000)+`":`+brackets+`}`)
	for _, config := range []string{`{"` + key(deepest+1) + `":1}`, `{"` + key(5_001) + `":` + brackets + `}`} {
		if _, err := flat.Parse([]byte(config)); err == nil {
			t.Errorf("Parse accepts more in a config of %d bytes", len(config))
		} else if kind, _ := classify(err); kind != "shape" {
			t.Errorf("Parse: %q error", kind)
		}
	}
}
