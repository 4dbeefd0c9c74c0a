package hubserver_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/hubserver/page/preview"
	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

func TestPreviewOrigin_IsAnotherHostOfTheSamePort(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{
		"http://127.0.0.1:4680": "http://localhost:4680", "http://localhost:4680": "http://127.0.0.1:4680",
		"http://[::1]:80":  "http://localhost:80",
		"http://localhost": "http://127.0.0.1", "https://hub.example.com": "", "http://192.0.2.1:4680": "",
		"http://localhost.example.com": "",
	} {
		if got := hubserver.PreviewOrigin(public); got != want {
			t.Errorf("%s: %q, want %q", public, got, want)
		}
	}
}

func TestPreviewHost_ServesOnlyTheFrame(t *testing.T) {
	t.Parallel()
	hub := one(t, func(cfg *hubserver.Config) { cfg.PreviewURL = "https://preview.hub.test" })
	hub.catalog()
	hub.publicProject("web")
	on := func(host, method, path string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), method, hub.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Authorization", "Bearer "+hub.as("alice").token)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
	const host = "preview.hub.test"
	want := http.Header{}
	preview.SetHeader(want, publicURL)
	for _, name := range []string{host, "PREVIEW.hub.test:443"} {
		resp := on(name, "GET", "/preview/frame")
		if resp.StatusCode != 200 || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("the frame: %d %v", resp.StatusCode, resp.Header)
		}
		for name := range want {
			if got := resp.Header.Get(name); got != want.Get(name) {
				t.Errorf("the frame's %s is %q", name, got)
			}
		}
		if tag := resp.Header.Get("ETag"); tag == "" || resp.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("the frame: %v", resp.Header)
		}
	}
	for _, e := range endpoints {
		path := strings.NewReplacer("{account}", "acme", "{slug}", "web", "{version}", "1.0.0", "{file}",
			"style.css").Replace(e.Path)
		if resp := on(host, e.Method, path); resp.StatusCode != 421 || len(resp.Header["Set-Cookie"]) > 0 {
			t.Errorf("%s %s on the preview host: %d", e.Method, path, resp.StatusCode)
		}
	}
	for _, path := range []string{"/", "/static/" + preview.Frame.Name, "/static/" + preview.Packages.Name,
		"/preview/frame/", "/preview/frame/../../v1/whoami", "/.well-known/x"} {
		if resp := on(host, "GET", path); resp.StatusCode != 421 {
			t.Errorf("%s on the preview host: %d", path, resp.StatusCode)
		}
	}
	if resp := on(host, "POST", "/preview/frame"); resp.StatusCode != 421 {
		t.Errorf("POST: %d", resp.StatusCode)
	}
	if resp := on("hub.test", "GET", "/preview/frame"); resp.StatusCode != 404 {
		t.Errorf("the frame on the hub's host: %d", resp.StatusCode)
	}
	if policy := hub.with("").get("/@acme/web").header.Get("Content-Security-Policy"); !strings.HasSuffix(policy,
		"frame-src https://"+host) {
		t.Errorf("the page's policy: %s", policy)
	}
}

func TestPreviewHost_ServesPackagesOnTheHub(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	a := hub.with("").get("/static/" + preview.Packages.Name).want(200)
	if !bytes.Equal(a.body, preview.Packages.Content()) || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", a.header)
	}
	zipped := hub.with("").get("/static/"+preview.Packages.Name, header{"Accept-Encoding": "gzip"}).want(200)
	if zipped.header.Get("Content-Encoding") != "gzip" || len(zipped.body) > len(a.body)/2 {
		t.Errorf("%v, %d bytes", zipped.header, len(zipped.body))
	}
}

const yamlPets = "openapi: 3.1.0\ninfo:\n  title: Pets\n  version: '1'\npaths: {}\n"

func TestPreview_ServesStackAndAPI(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.publicProject("web")
		alice, anyone := hub.as("alice"), hub.with("")
		plain := alice.get(web + "/preview/stack").want(200)
		if v := plain.header.Get("Stack-Version"); v != "1.0.0" || plain.header.Get("Content-Encoding") != "" {
			t.Errorf("%v", plain.header)
		}
		header1, err := tar.NewReader(bytes.NewReader(plain.body)).Next()
		if err != nil || header1.Name != "stack.json" {
			t.Errorf("%v %v", header1, err)
		}
		for _, encoding := range []string{"gzip", "zstd"} {
			a := alice.get(web+"/preview/stack", header{"Accept-Encoding": encoding}).want(200)
			body := a.body
			switch a.header.Get("Content-Encoding") {
			case "":
			case "gzip":
				body = gunzipped(t, body)
			case "zstd":
				z, err := zstd.NewReader(bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if body, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(body, plain.body) {
				t.Errorf("%s: another tar", encoding)
			}
			alice.get(web+"/preview/stack", header{"Accept-Encoding": encoding, "If-None-Match": a.etag()}).want(304)
		}
		alice.get(web+"/preview/stack?version=9.9.9").problem(404, wire.CodeNotFound)
		alice.get(web+"/preview/stack?version=..").problem(404, wire.CodeNotFound)
		document := alice.get("/v1/apis/acme/pets/document").want(200)
		if a := alice.get(web + "/preview/api").want(200); !bytes.Equal(a.body, document.body) {
			t.Errorf("%s", a.body)
		}
		// A stranger learns what is missing and whom to ask.
		p := hub.as("sam").get(web+"/preview/stack").problem(403, wire.CodeNotPermitted)
		if !strings.Contains(p.Detail, "the preview needs the stack @acme/site") ||
			!strings.Contains(p.Hint, "ask an admin of acme") {
			t.Errorf("%q %q", p.Detail, p.Hint)
		}
		hub.as("sam").get(web+"/preview/api").problem(403, wire.CodeNotPermitted)
		anyone.get(web+"/preview/api").problem(401, wire.CodeUnauthorized)

		// Only an admin publishes them.
		alice.patch(web, `{"publicPreview": true}`).problem(403, wire.CodeNotPermitted)
		edited := decoded[wire.Project](hub.as("anna").patch(web, `{"publicPreview": true}`).want(200))
		if !edited.PublicPreview {
			t.Error("the preview is not public")
		}
		for _, path := range []string{"/preview/stack", "/preview/stack?version=1.0.0", "/preview/api"} {
			anyone.get(web + path).want(200)
		}
		alice.put(site+"/versions/1.1.0", bundle(t, "1.1.0")).want(201)
		if v := anyone.get(web + "/preview/stack").want(200).header.Get("Stack-Version"); v != "1.1.0" {
			t.Errorf("version %s", v)
		}
		anyone.get(web+"/preview/stack?version=1.0.0").problem(401, wire.CodeUnauthorized) // not the project's
		anyone.get("/v1/stacks/acme/site/versions/1.1.0/bundle").problem(401, wire.CodeUnauthorized)

		// Another API is not published with it.
		alice.post("/v1/apis/upload?account=acme&slug=other", typed{"application/yaml", []byte(yamlPets)}).want(201)
		alice.patch(web, `{"api": {"account": "acme", "slug": "other"}}`).want(200)
		anyone.get(web+"/preview/api").problem(401, wire.CodeUnauthorized)
		if a := alice.get(web + "/preview/api").want(200); string(
			a.body) != `{"openapi":"3.1.0","info":{"title":"Pets","version":"1"},"paths":{}}` {
			t.Errorf("%s", a.body)
		}
		hub.as("anna").patch(web, `{"publicPreview": true}`).want(200)
		hub.as("anna").patch(web, `{"publicPreview": false}`).want(200)
		anyone.get(web+"/preview/api").problem(401, wire.CodeUnauthorized)
		hub.as("anna").patch(web, `{"publicPreview": true}`).want(200)
		hub.as("anna").delete(web).want(200)
	})
}

// Who may read a stack does not thereby publish another version of it.
func TestPublicPreview_EndsWithAnotherStackVersion(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.write(func(tx *store.Tx) error {
			return errors.Join(tx.CreateAccount("vendor", store.KindOrg),
				tx.SetMember("vendor", "anna", "admin"), tx.SetMember("vendor", "alice", "reader"))
		})
		for _, version := range []string{"1.0.0", "2.0.0"} {
			kit := gzipped(t,
				tarOf(t, file{name: "stack.json", content: `{"name": "@vendor/kit", "version": "` + version + `"}`}))
			hub.as("anna").put("/v1/stacks/vendor/kit/versions/"+version, typed{"application/gzip", kit}).want(201)
		}
		p := newProject("web")
		p.Stack, p.StackVersion, p.Visibility = "vendor/kit", "1.0.0", wire.Public
		hub.as("alice").post("/v1/projects", p).want(201)
		hub.as("anna").patch(web, `{"publicPreview": true}`).want(200)
		hub.with("").get(web + "/preview/stack").want(200)

		hub.as("alice").patch(web, `{"stackVersion": "2.0.0"}`).want(200)
		hub.with("").get(web+"/preview/stack").problem(401, wire.CodeUnauthorized)

		hub.as("anna").patch(web, `{"publicPreview": true}`).want(200)
		hub.as("anna").patch(web, `{"stackVersion": "latest"}`).want(200)
		hub.with("").get(web + "/preview/stack").want(200)

		hub.disable("vendor")
		hub.with("").get(web+"/preview/stack").problem(401, wire.CodeUnauthorized)
		hub.as("alice").get(web+"/preview/stack").problem(403, wire.CodeNotPermitted)
		hub.with("").get(web + "/preview/api").want(200)
	})
}

// An admin of the stack edits the project, and is no longer one when the edit takes effect.
func TestPublicPreview_EndsWithAStackVersionOfAFormerAdmin(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for role, stays := range map[string]bool{"admin": true, "writer": false} {
			anna := hub.as("anna")
			anna.patch(web, `{"stackVersion": "latest", "publicPreview": true}`).want(200)
			finish := slow{"PATCH", web, typed{"application/json", []byte(`{"stackVersion": "1.0.0"}`)}, nil}.send(anna)
			hub.write(func(tx *store.Tx) error { return tx.SetMember("acme", "anna", role) })
			if p := finish().want(200).project(); p.StackVersion != "1.0.0" || p.PublicPreview != stays {
				t.Errorf("%s: %+v", role, p)
			}
			hub.write(func(tx *store.Tx) error { return tx.SetMember("acme", "anna", "admin") })
		}
	})
}

// An API is bound while an admin publishes the preview of the former one.
func TestPublicPreview_IsNotOfAnAPIThatIsBoundMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").post("/v1/apis/upload?account=acme&slug=other", pets).want(201)
		var bound sync.WaitGroup
		hub.write(func(tx *store.Tx) error {
			p, err := tx.LockProject(hub.resource("acme", store.KindProject, "web"))
			if err != nil {
				return err
			}
			bound.Go(func() {
				const bind = `{"api": {"account": "acme", "slug": "other"}}`
				a, err := hub.as("alice").try("PATCH", web, bind)
				if err == nil && a.status == 503 && a.header.Get("Retry-After") != "" { // the other edit was first
					a, err = hub.as("alice").try("PATCH", web, bind)
				}
				if err != nil || a.status != 200 {
					t.Errorf("%v, %+v", err, a)
				}
			})
			hub.awaitLock()
			p.Visibility, p.PublicPreview = "public", true
			return tx.EditProject(p)
		})
		bound.Wait()
		hub.with("").get(web+"/preview/api").problem(401, wire.CodeUnauthorized)
		if p := hub.as("alice").get(web).project(); p.PublicPreview || p.API != mustRef("@acme/other") {
			t.Errorf("%+v", p)
		}
	})
}

// awaitLock returns once a transaction waits for a lock that another one holds; at once on SQLite, where it waits for
// its turn.
func (hub *testHub) awaitLock() {
	const waiting = "SELECT count(*) FROM pg_locks WHERE locktype IN ('transactionid', 'tuple') AND NOT granted"
	for sqldb.Path(hub.address) == "" && hub.count(waiting) == 0 && hub.Context().Err() == nil {
	}
}

func gunzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestGetArchive_SendsOnlyWhatChangedSinceBase(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		push := func(files ...file) string {
			return decoded[wire.BaseFilesWritten](alice.put(baseFiles, archive(t, files...)).want(200)).Tree
		}
		names := func(base string) (all []string) {
			r := tar.NewReader(bytes.NewReader(alice.get(baseFiles + "/archive?base=" + base).want(200).body))
			for {
				h, err := r.Next()
				if err == io.EOF {
					return all
				}
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, h.Name)
			}
		}
		first := push(file{name: "a", content: "1"}, file{name: "b", content: "1"}, file{name: "c", content: "1"})
		second := push(file{name: "a", content: "1"}, file{name: "b", content: "2"}, file{name: "d", content: "1"},
			file{name: "e", content: "1", mode: 0o755})
		for base, want := range map[string][]string{
			first: {"b", "d", "e"}, second: nil, strings.Repeat("0", 64): {"a", "b", "d", "e"},
		} {
			got := names(base)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("since %.4s: %q, want %q", base, got, want)
			}
		}
		alice.get(baseFiles+"/archive?base=x").problem(422, wire.CodeInvalidBody)
		hub.as("sam").get(baseFiles+"/archive?base="+first).problem(403, wire.CodeNotPermitted)

		// That a guess at the former files is right is not told to those who cannot see the history.
		alice.patch(web, `{"visibility": "public"}`).want(200)
		for _, stranger := range []*caller{hub.as("sam"), hub.with(""), hub.bot("sam", "ci")} {
			right, wrong := stranger.get(baseFiles+"/archive?base="+first).want(200),
				stranger.get(baseFiles+"/archive?base="+strings.Repeat("0", 64)).want(200)
			if !bytes.Equal(right.body, wrong.body) {
				t.Error("a stranger learns that the project had a set of base files")
			}
		}
	})
}

func TestPutVersion_ChecksThePreviewModule(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	put := func(preview string, more ...file) *answer {
		manifest := file{name: "stack.json",
			content: `{"name": "@acme/site", "version": "1.0.0", "preview": ` + preview + `}`}
		return hub.as("alice").put(site+"/versions/1.0.0",
			typed{"application/gzip", gzipped(t, tarOf(t, append([]file{manifest}, more...)...))})
	}
	for preview, want := range map[string]string{
		`5`:                                    "malformed",
		`{"module": "mod.ts"}`:                 "preview.contract must be 1",
		`{"module": "../x.ts", "contract": 1}`: "preview.module must be",
		`{"module": "mod.ts", "contract": 1}`:  "names mod.ts as preview.module, which it does not contain",
	} {
		if p := put(preview).problem(422, wire.CodeInvalidBody); !strings.Contains(p.Detail, want) {
			t.Errorf("%s: %q", preview, p.Detail)
		}
	}
	put(`{"module": "mod.ts", "contract": 1}`, file{name: "mod.ts", content: "export {}"}).want(201)
}
