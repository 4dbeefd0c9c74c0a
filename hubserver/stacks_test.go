package hubserver_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

func TestPublish_BundleRoundTrip(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		first := bundle(t, "1.0.0", file{name: "templates/a", content: "x", mode: 0o755})
		p := decoded[wire.Published](alice.put(site+"/versions/1.0.0", first).want(201))
		files := tree.Tree{entry("stack.json", tree.Regular, manifest("1.0.0").content),
			entry("templates/a", tree.Executable, "x")}
		if p.Digest != files.Digest() || !p.FirstVersion || p.FileCount != 2 || p.SizeBytes != files.Bytes() ||
			p.PublishedBy != "alice" || p.PublishedAt.IsZero() {
			t.Errorf("%+v", p)
		}
		second := typed{"application/zstd", zstded(t, tarOf(t, manifest("1.1.0")))}
		if p := decoded[wire.Published](alice.put(site+"/versions/1.1.0", second).want(201)); p.FirstVersion {
			t.Error("the second version calls itself the first")
		}
		rita := hub.as("rita")
		for version, want := range map[string][]string{"1.0.0": {"stack.json", "templates/a"}, "1.1.0": {"stack.json"}} {
			a := rita.get(site + "/versions/" + version + "/bundle").want(200)
			if got := namesIn(t, a.body); !slices.Equal(got, want) || a.header.Get("Content-Type") != "application/x-tar" {
				t.Errorf("%s came back as %v in %s", version, got, a.header.Get("Content-Type"))
			}
			compressed := rita.get(site+"/versions/"+version+"/bundle", header{"Accept-Encoding": "zstd"}).want(200)
			if compressed.header.Get("Content-Encoding") != "zstd" || !bytes.Equal(inflated(compressed.body), a.body) {
				t.Errorf("%s is another tar in zstd", version)
			}
			rita.get(site+"/versions/"+version+"/bundle", header{"If-None-Match": a.etag()}).want(304)
			v := decoded[wire.StackVersion](rita.get(site + "/versions/" + version).want(200))
			if v.Version != version || a.etag() != `"`+v.Digest+`"` {
				t.Errorf("%+v, ETag %s", v, a.etag())
			}
		}
	})
}

// namesIn returns the names of the files in a tar.
func namesIn(t *testing.T, data []byte) (names []string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
}

func TestPublish_SameFilesAreSameVersion(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		data := tarOf(t, manifest("1.0.0"), file{name: "a", content: "x"})
		alice.put(site+"/versions/1.0.0", typed{"application/gzip", gzipped(t, data)}).want(201)
		before := alice.get(site).body
		other := tarOf(t, file{name: "./a", content: "x", mode: 0o600}, manifest("1.0.0"))
		for name, body := range map[string]typed{
			"the same bytes":      {"application/gzip", gzipped(t, data)},
			"another compression": {"application/zstd", zstded(t, data)},
			"another order":       {"", gzipped(t, other)},
		} {
			if p := decoded[wire.Published](hub.as("anna").put(site+"/versions/1.0.0", body).want(200)); p.FirstVersion ||
				p.PublishedBy != "alice" {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if after := alice.get(site).body; !bytes.Equal(before, after) {
			t.Errorf("the stack was %s, and is %s", before, after)
		}
	})
}

func TestPublish_VersionsAreImmutableAndRise(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		for _, c := range []struct {
			version string
			status  int
			code    wire.Code
		}{
			{"1.0.0", 201, ""},
			{"0.9.0", 409, wire.CodeVersionNotNewer},
			{"1.0.0-rc.1", 409, wire.CodeVersionNotNewer},
			{"1.1.0-rc.2", 201, ""},
			{"1.1.0-rc.1", 409, wire.CodeVersionNotNewer},
			{"1.0.5", 409, wire.CodeVersionNotNewer},
			{"1.1.0-rc.10", 201, ""},
			{"1.1.0", 201, ""},
			{"1.1.99999999999999999999", 201, ""},
			{"1.1.100000000000000000000", 201, ""},
		} {
			a := alice.put(site+"/versions/"+c.version, bundle(t, c.version)).want(c.status)
			if c.code != "" {
				p := a.problem(c.status, c.code)
				if !strings.Contains(p.Hint, "raise version") {
					t.Errorf("%s: no hint in %+v", c.version, p)
				}
			}
		}
		changed := bundle(t, "1.1.0", file{name: "more"})
		p := alice.put(site+"/versions/1.1.0", changed).problem(409, wire.CodeVersionExists)
		if !strings.Contains(p.Detail, "1.1.0") {
			t.Errorf("%q", p.Detail)
		}
	})
}

func TestStack_LatestIsHighestRelease(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		for _, step := range []struct{ version, latest string }{
			{"1.0.0-alpha", "1.0.0-alpha"}, {"1.0.0-beta", "1.0.0-beta"}, {"1.0.0", "1.0.0"}, {"2.0.0-rc.1", "1.0.0"},
			{"2.0.0", "2.0.0"},
		} {
			hub.as("alice").put(site+"/versions/"+step.version, bundle(t, step.version)).want(201)
			s := decoded[wire.Stack](hub.as("rita").get(site).want(200))
			if s.Latest != step.latest || s.Versions[0].Version != step.version {
				t.Errorf("after %s latest is %s and the newest %s", step.version, s.Latest, s.Versions[0].Version)
			}
		}
		var versions []string
		for _, v := range decoded[wire.Stack](hub.as("rita").get(site).want(200)).Versions {
			versions = append(versions, v.Version)
		}
		if diff := cmp.Diff([]string{"2.0.0", "2.0.0-rc.1", "1.0.0", "1.0.0-beta", "1.0.0-alpha"}, versions); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStack_FollowersForWritersOnly(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		pinned := newProject("pinned")
		pinned.StackVersion = "1.0.0"
		hub.as("alice").post("/v1/projects", pinned).want(201)
		hub.publicProject("other")
		for who, want := range map[string]int{"anna": 2, "alice": 2, "rita": -1} {
			got := -1
			if n := decoded[wire.Stack](hub.as(who).get(site).want(200)).Followers; n != nil {
				got = *n
			}
			if got != want {
				t.Errorf("%s sees %d followers, want %d", who, got, want)
			}
		}
	})
}

func TestPublish_RejectsInvalidBundle(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		gz := func(files ...file) typed { return typed{"application/gzip", gzipped(t, tarOf(t, files...))} }
		named := func(content string) typed { return gz(file{name: "stack.json", content: content}) }
		for name, c := range map[string]struct {
			body   typed
			status int
			code   wire.Code
			says   string
		}{
			"another name": {named(`{"name": "@acme/other", "version": "1.0.0"}`), 422, wire.CodeInvalidBody,
				"@acme/other"},
			"another version":  {named(`{"name": "@acme/site", "version": "1.0.1"}`), 422, wire.CodeInvalidBody, "1.0.1"},
			"an unscoped name": {named(`{"name": "site", "version": "1.0.0"}`), 422, wire.CodeInvalidBody, "site"},
			"no name":          {named(`{"version": "1.0.0"}`), 422, wire.CodeInvalidBody, "stack.json"},
			"a name twice": {named(`{"name": "@acme/site", "name": "@acme/site", "version": "1.0.0"}`), 422,
				wire.CodeInvalidBody, "stack.json"},
			"a manifest of null": {named(`null`), 422, wire.CodeInvalidBody, "stack.json"},
			"no JSON":            {named(`name: "@acme/site"`), 422, wire.CodeInvalidBody, "stack.json"},
			"no manifest":        {gz(file{name: "x"}), 422, wire.CodeInvalidBody, "stack.json"},
			"the manifest deeper": {gz(file{name: "a/stack.json", content: manifest("1.0.0").content}), 422,
				wire.CodeInvalidBody, "stack.json"},
			"a bad path": {gz(manifest("1.0.0"), file{name: "../x"}), 422, wire.CodeInvalidBody, `"../x"`},
			"a link": {gz(manifest("1.0.0"), file{name: "l", kind: '2', link: "/etc/passwd"}), 422,
				wire.CodeInvalidBody, `"l"`},
			"garbage":              {typed{"", gzipped(t, []byte(strings.Repeat("x", 600)))}, 422, wire.CodeInvalidBody, ""},
			"cut off":              {typed{"", bundle(t, "1.0.0").data[:40]}, 400, wire.CodeInvalidBody, ""},
			"empty":                {typed{"application/gzip", nil}, 422, wire.CodeInvalidBody, ""},
			"JSON":                 {typed{"application/json", []byte("{}")}, 415, wire.CodeUnsupportedMediaType, ""},
			"called what it isn't": {typed{"application/zstd", bundle(t, "1.0.0").data}, 422, wire.CodeInvalidBody, ""},
		} {
			a := hub.as("alice").put(site+"/versions/1.0.0", c.body)
			if a.status != c.status {
				t.Errorf("%s: status %d, want %d: %s", name, a.status, c.status, a.body)
				continue
			}
			if p := a.problem(c.status, c.code); !strings.Contains(p.Detail, c.says) {
				t.Errorf("%s: %q does not say %q", name, p.Detail, c.says)
			}
		}
		hub.as("alice").get(site).problem(404, wire.CodeNotFound)
	})
}

func TestPublish_AllowsUnknownManifestMembers(t *testing.T) {
	hub := one(t, nil)
	body := typed{"",
		gzipped(t, tarOf(t, file{name: "stack.json",
			content: `{"$schema": "x", "name": "@acme/site", "version": "1.0.0", "tools": {"name": [1]}}`}))}
	hub.as("alice").put(site+"/versions/1.0.0", body).want(201)
}

func TestPublish_TakesAPlainTar(t *testing.T) {
	hub := one(t, nil)
	hub.as("alice").put(site+"/versions/1.0.0", archive(t, manifest("1.0.0"))).want(201)
}

func TestPublish_RefusesBuildMetadata(t *testing.T) {
	hub := one(t, nil)
	p := hub.as("alice").put(site+"/versions/1.0.0+build", bundle(t, "1.0.0+build")).problem(422, wire.CodeInvalidBody)
	if !strings.Contains(p.Detail, "build metadata") || !strings.Contains(p.Hint, "publish it as 1.0.0") {
		t.Errorf("%+v", p)
	}
}

func TestPublish_LimitIsNamed(t *testing.T) {
	hub := one(t, func(cfg *hubserver.Config) { cfg.Limits.BundleBytes = 1000 })
	body := typed{"", append(bundle(t, "1.0.0").data, make([]byte, 1000)...)}
	if p := hub.as("alice").put(site+"/versions/1.0.0", body).problem(413, wire.CodeTooLarge); !strings.Contains(p.Detail,
		"1000 bytes") {
		t.Errorf("%q does not name the limit", p.Detail)
	}
}

func TestVersion_InvalidIsNotFound(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		for _, version := range []string{"v1.0.0", "1.0", "1", "latest", "01.0.0", "1.0.0+build", "1.0.0-01", "%00", "%ff",
			"1.0.0%20", "1.0.0-" + strings.Repeat("a", 64), "2.0.0", ".."} {
			path := site + "/versions/" + version
			hub.as("rita").get(path).problem(404, wire.CodeNotFound)
			hub.as("rita").get(path+"/bundle").problem(404, wire.CodeNotFound)
			if version != "2.0.0" && version != "1.0.0+build" {
				hub.as("alice").put(path, bundle(t, "1.0.0")).problem(404, wire.CodeNotFound)
			}
		}
	})
}

func TestPublish_OneOfManyWins(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice, hubs, tries, versions := hub.as("alice"), hub.replicas(t, 3), rounds(8, 100), rounds(2, 100)
		reads := 0
		for n := range versions {
			version := fmt.Sprintf("1.0.%d", n)
			path := site + "/versions/" + version
			of := func(i int) typed { return bundle(t, version, file{name: "by", content: fmt.Sprint(i)}) }
			count := atOnce(t, tries, func(i int) (*answer, error) {
				for {
					a, err := hubs[i%len(hubs)].with(alice.token).try("PUT", path, of(i))
					if err != nil || a.status != http.StatusTooManyRequests { // one caller may send only so many at once
						return a, err
					}
				}
			})
			if diff := cmp.Diff(map[int]int{201: 1, 409: tries - 1}, count); diff != "" {
				t.Fatal(diff)
			}
			published := alice.get(path + "/bundle").want(200)
			if n%2 == 1 { // the stack keeps another one
				hub.write(func(tx *store.Tx) error {
					stack, err := tx.ResourceByName("acme", store.KindStack, "site")
					if err == nil {
						_, _, err = tx.WithdrawVersion(stack.ID, version, false)
					}
					return err
				})
			}
			alice.put(path, of(tries)).problem(409, wire.CodeVersionExists)
			for i := range rounds(6, 100) { // every later read has the same bytes, from each hub
				a := hubs[i%len(hubs)].with(alice.token).get(path + "/bundle").want(200)
				if reads++; !bytes.Equal(a.body, published.body) || a.etag() != published.etag() {
					t.Fatalf("%s is %s of %d bytes, and was published as %s of %d", version, a.etag(), len(a.body), published.etag(),
						len(published.body))
				}
			}
		}
		t.Logf("%d versions, %d publishers each, %d equal reads", versions, tries, reads)
	})
}
