package hubserver

import (
	"net/url"
	"testing"
)

func FuzzStorableQuery(f *testing.F) {
	for _, seed := range []string{"", "a=b", "a=%00&b=%bf", "a=%zz&b=%00", "%00=%00", "a=b;c", "a=;\xcc", "a=\x00", "\xff=\xff", "a=+%2B"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, encoded string) {
		before, errBefore := url.ParseQuery(encoded)
		after, errAfter := url.ParseQuery(storableQuery(encoded))
		if (errBefore == nil) != (errAfter == nil) || len(before) != len(after) {
			t.Fatalf("%q: %v %v, after %v %v", encoded, before, errBefore, after, errAfter)
		}
		for name, values := range after {
			for i, value := range values {
				if want := storable(before[name][i]); value != want {
					t.Errorf("%q: %q, want %q", encoded, value, want)
				}
			}
		}
	})
}
