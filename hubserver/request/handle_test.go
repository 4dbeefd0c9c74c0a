package request

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"example.com/projecthub/hubclient/wire"
)

func FuzzStorableQuery(f *testing.F) {
	for _, seed := range []string{
		"", "a=b", "a=%00&b=%bf", "a=%zz&b=%00", "%00=%00", "a=b;c",
		"a=;\xcc", "a=\x00", "\xff=\xff", "a=+%2B",
	} {
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

func TestUnknownRoute_HasAHint(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/later": "the client may be newer than the hub (version 1.2.3)",
		"/later":    "the routes of this hub: https://hub.example/v1/openapi.json",
	} {
		hub := &Hub{Config: Config{Version: "1.2.3", PublicURL: "https://hub.example"}}
		c := &Call{Hub: hub, R: httptest.NewRequest("GET", path, nil)}
		p := ToProblem(UnknownRoute(c))
		if p.Status != http.StatusNotFound || p.Code != wire.CodeUnknownRoute || p.Hint != want {
			t.Errorf("%s: %d %s, hint %q", path, p.Status, p.Code, p.Hint)
		}
	}
}
