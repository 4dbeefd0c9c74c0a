package hubserver_test

import "testing"

func TestArchive_HasAnETagForEachEncoding(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		alice.put(baseFiles, archive(t, file{name: "a", content: "alpha"})).want(200)
		get := func(accept, known string) *answer {
			h := header{"Accept-Encoding": accept}
			if known != "" {
				h["If-None-Match"] = known
			}
			return alice.get(baseFiles+"/archive", h)
		}
		plain, compressed := get("identity", "").want(200), get("zstd", "").want(200)
		if plain.etag() == compressed.etag() || plain.etag() == "" || compressed.etag() == "" {
			t.Fatalf("the ETags are %s and %s", plain.etag(), compressed.etag())
		}
		for _, c := range []struct {
			accept, known string
			status        int
			etag          string
		}{
			{"identity", plain.etag(), 304, plain.etag()},
			{"zstd", compressed.etag(), 304, compressed.etag()},
			{"zstd", plain.etag(), 304, plain.etag()},
			{"zstd", plain.etag() + ", " + compressed.etag(), 304, plain.etag()},
			{"identity", compressed.etag(), 200, plain.etag()}, // it could not read that one
			{"identity", `"other"`, 200, plain.etag()},
			{"zstd", `"other"`, 200, compressed.etag()},
			{"zstd", "*", 304, compressed.etag()},
		} {
			a := get(c.accept, c.known).want(c.status)
			if a.etag() != c.etag || a.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%+v: ETag %s, Vary %q", c, a.etag(), a.header.Get("Vary"))
			}
		}
	})
}
