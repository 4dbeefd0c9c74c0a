package hubserver_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/store"
)

const petsYAML = "openapi: 3.0.3\ninfo:\n  title: Pet Shop\n  version: \"2\"\npaths: {}\n"

func TestUploadAPI_RoundTrip(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		for _, c := range []struct {
			body           typed
			title, version string
			format         string
			slug           string
		}{
			{typed{"application/json", []byte(pets)}, "Pets", "1.0", "openapi-3.1", "pets"},
			{typed{"application/yaml", []byte(petsYAML)}, "Pet Shop", "2", "openapi-3.0", "pet-shop"},
			{typed{"", []byte(`{"swagger": "2.0", "info": {"title": "Old", "version": "0"}, "paths": {}}`)}, "Old", "0",
				"openapi-2.0", "old"},
			{typed{"application/json", []byte(petsYAML)}, "Pet Shop", "2", "openapi-3.0", "pet-shop-2"}, // the content decides
		} {
			a := alice.post("/v1/apis/upload?account=acme", c.body).want(201)
			got := decoded[wire.API](a)
			want := wire.API{API: mustRef("@acme/" + c.slug), Title: c.title, Version: c.version, Format: c.format,
				SHA256: sha(c.body.data), CreatedBy: "alice", CreatedAt: got.CreatedAt}
			if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b ref.Ref) bool { return a == b })); diff != "" ||
				got.CreatedAt.IsZero() {
				t.Errorf("%s%v", diff, got.CreatedAt)
			}
			path := "/v1/apis/acme/" + c.slug
			if a.header.Get("Location") != path {
				t.Errorf("Location %s", a.header.Get("Location"))
			}
			if read := hub.as("rita").get(path).want(200); !bytes.Equal(read.body, a.body) {
				t.Errorf("a reader sees %s, the uploader got %s", read.body, a.body)
			}
			doc := hub.as("rita").get(path + "/document").want(200)
			if !bytes.Equal(doc.body, c.body.data) || doc.etag() != `"`+got.SHA256+`"` {
				t.Errorf("%s came back as %s with ETag %s", c.body.data, doc.body, doc.etag())
			}
			hub.as("rita").get(path+"/document", header{"If-None-Match": doc.etag()}).want(304)
		}
	})
}

func TestUploadAPI_MediaTypes(t *testing.T) {
	hub := one(t, nil)
	for _, mediaType := range []string{
		"application/json", "application/json; charset=utf-8", "application/yaml", "application/x-yaml", "text/yaml",
		"application/vnd.oai.openapi",
		"application/vnd.oai.openapi+json", "application/vnd.oai.openapi+yaml;version=3.1", "application/octet-stream", "",
	} {
		hub.as("alice").post("/v1/apis/upload", typed{mediaType, []byte(pets)}).want(201)
	}
	for _, mediaType := range []string{"text/plain", "application/xml", "multipart/form-data; boundary=x",
		"application/x-www-form-urlencoded", "json"} {
		hub.as("alice").post("/v1/apis/upload", typed{mediaType, []byte(pets)}).problem(415, wire.CodeUnsupportedMediaType)
	}
	hub.as("alice").post("/v1/apis/upload", typed{"application/json", gzipped(t, []byte(pets))},
		header{"Content-Encoding": "gzip"}).problem(415, wire.CodeUnsupportedMediaType)
}

func TestUploadAPI_DerivedSlugIsUnique(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		upload := func(query string) string {
			return decoded[wire.API](alice.post("/v1/apis/upload"+query, pets).want(201)).API.String()
		}
		for i, c := range []struct{ query, want string }{
			{"?account=acme", "@acme/pets"}, {"?account=acme", "@acme/pets-2"}, {"?account=acme&slug=pets-3", "@acme/pets-3"},
			{"?account=acme", "@acme/pets-4"},
			{"", "@alice/pets"}, {"?account=alice", "@alice/pets-2"}, {"?slug=own", "@alice/own"},
		} {
			if got := upload(c.query); got != c.want {
				t.Errorf("upload %d with %q became %s, want %s", i, c.query, got, c.want)
			}
		}
		alice.post("/v1/apis/upload?account=acme&slug=pets", pets).problem(409, wire.CodeAPIExists)
	})
}

func TestUploadAPI_ConcurrentUploadsGetOwnSlugs(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		const uploads = 6
		slugs := make([]string, uploads)
		var all sync.WaitGroup
		for i := range uploads {
			all.Go(func() {
				a, err := alice.try("POST", "/v1/apis/upload", pets)
				if err != nil {
					t.Error(err)
					return
				}
				slugs[i] = decoded[wire.API](a).API.Slug()
			})
		}
		all.Wait()
		seen := map[string]bool{}
		for _, s := range slugs {
			seen[s] = true
		}
		want := map[string]bool{"pets": true, "pets-2": true, "pets-3": true, "pets-4": true, "pets-5": true, "pets-6": true}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUploadAPI_RejectsInvalidWithReasons(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		for name, body := range map[string]string{
			"nothing":           "",
			"no JSON":           "{",
			"no description":    `{"a": 1}`,
			"nothing described": `{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}}`,
			"a billion laughs": "a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d " +
				"[*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
			"100,000 deep": strings.Repeat("[", 100_000),
			"invalid UTF-8": "{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"\xff\", \"version\": \"1\"}, \"paths\": " +
				"{}}",
			"HTML": "<!doctype html><title>x</title>",
			"a title without end": `{"openapi": "3.1.0", "info": {"title": "` + strings.Repeat("x", 1001) +
				`", "version": "1"}, "paths": {}}`,
		} {
			a := hub.as("alice").post("/v1/apis/upload", typed{"", []byte(body)})
			if a.status != 422 {
				t.Errorf("%s: status %d: %.300s", name, a.status, a.body)
				continue
			}
			p := a.problem(422, wire.CodeInvalidDescription)
			if len(p.Errors) == 0 && !strings.Contains(p.Detail, "longer") || strings.Count(p.Detail, "not valid") > 1 {
				t.Errorf("%s: %+v", name, p)
			}
		}
		for _, slug := range []string{"A", "-a", "a_b", strings.Repeat("a", 65), "%00", "a/b"} {
			hub.as("alice").post("/v1/apis/upload?slug="+slug, pets).problem(422, wire.CodeInvalidBody)
		}
		hub.as("alice").get("/v1/apis/alice/api").problem(404, wire.CodeNotFound)
		hub.as("alice").get("/v1/apis/alice/x/document").problem(404, wire.CodeNotFound)
	})
}

const flawed = `{"openapi": "3.3.0",
 "paths": {"pets": {"get": {"responses": {"200": {"$ref": "#/components/responses/none"}}}}}}`

func TestUploadAPI_AcceptsWhatOpenAPIForbids(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		a := alice.post("/v1/apis/upload?name=pet-shop.v1.json", flawed).want(201)
		got := decoded[wire.API](a)
		if got.API != mustRef("@alice/pet-shop-v1") || got.Title != "pet-shop.v1" || got.Version != "" ||
			got.Format != "openapi-3.2" {
			t.Errorf("%+v", got)
		}
		if read := alice.get("/v1/apis/alice/pet-shop-v1").want(200); !bytes.Equal(read.body, a.body) {
			t.Errorf("it reads as %s, the uploader got %s", read.body, a.body)
		}
	})
}

func TestUploadAPI_TitleFromFileName(t *testing.T) {
	hub := one(t, nil)
	for name, want := range map[string]string{
		"pets.yaml": "pets", "a/b/My API.json": "My API", `c:\x\y.yml`: "y", "": "API", "..": "API", ".yaml": "API",
		"/":                            "API",
		"a\x00\x1b[31m\u202e\xff.json": "a[31m", strings.Repeat("é", 600) + ".json": strings.Repeat("é", 500),
	} {
		got := decoded[wire.API](hub.as("alice").post("/v1/apis/upload?name="+url.QueryEscape(name), flawed).want(201))
		if got.Title != want {
			t.Errorf("the title from %q is %q, want %q", name, got.Title, want)
		}
	}
}

func TestUploadAPI_ControlCharacterInTitle(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		for _, c := range []string{`\u0000`, `\u001b[31m`, `\u202e`, `\ud83d\ude00`, `\n`} {
			a := hub.as("alice").post("/v1/apis/upload",
				`{"openapi": "3.1.0", "info": {"title": "x`+c+`", "version": "1`+c+`"}, "paths": {}}`)
			if a.status != 201 && a.status != 422 {
				t.Errorf("%s: status %d: %s", c, a.status, a.body)
			}
		}
	})
}

func TestUploadAPI_LimitIsNamed(t *testing.T) {
	hub := one(t, func(cfg *hubserver.Config) { cfg.Limits.DescriptionBytes = int64(len(pets)) })
	hub.as("alice").post("/v1/apis/upload", pets).want(201)
	if p := hub.as("alice").post("/v1/apis/upload", pets+" ").problem(413, wire.CodeTooLarge); !strings.Contains(p.Detail,
		"at most 78 bytes") {
		t.Errorf("%q does not name the limit", p.Detail)
	}
}

// importer is a hub that may fetch from a server of the test.
func importer(target *httptest.Server) func(*hubserver.Config) {
	return func(cfg *hubserver.Config) {
		a, err := fetch.ParseAllow("127.0.0.1/32:" + target.URL[strings.LastIndex(target.URL, ":")+1:])
		if err != nil {
			panic(err)
		}
		cfg.Fetch = fetch.New(fetch.Options{Allow: []fetch.Allow{a}, MaxBytes: cfg.Limits.DescriptionBytes})
	}
}

func TestImportAPI_RegistersLikeUpload(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/pets.yaml":
			w.Write([]byte(petsYAML))
		case "/flawed/petstore.json":
			w.Write([]byte(flawed))
		case "/moved":
			http.Redirect(w, r, "/pets.yaml", http.StatusFound)
		case "/html":
			w.Write([]byte("<!doctype html>"))
		case "/large":
			w.Write(make([]byte, 100_000))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(target.Close)
	smaller := func(cfg *hubserver.Config) {
		cfg.Limits.DescriptionBytes = 50_000
		importer(target)(cfg)
	}
	eachWith(t, smaller, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		got := decoded[wire.API](alice.post("/v1/apis/import",
			wire.ImportAPI{Account: "acme", URL: target.URL + "/pets.yaml"}).want(201))
		if got.API != mustRef("@acme/pet-shop") || got.SHA256 != sha([]byte(petsYAML)) || got.Title != "Pet Shop" {
			t.Errorf("%+v", got)
		}
		got = decoded[wire.API](alice.post("/v1/apis/import", wire.ImportAPI{Slug: "mine", URL: target.URL + "/moved"}).want(
			201))
		if got.API != mustRef("@alice/mine") {
			t.Errorf("%+v", got)
		}
		got = decoded[wire.API](alice.post("/v1/apis/import",
			wire.ImportAPI{URL: target.URL + "/flawed/petstore.json?x=1"}).want(201))
		if got.Title != "petstore" {
			t.Errorf("%+v", got)
		}
		alice.post("/v1/apis/import", wire.ImportAPI{Slug: "mine", URL: target.URL + "/pets.yaml"}).problem(409,
			wire.CodeAPIExists)
		alice.post("/v1/apis/import", wire.ImportAPI{URL: target.URL + "/html"}).problem(422, wire.CodeInvalidDescription)
		if p := alice.post("/v1/apis/import", wire.ImportAPI{URL: target.URL + "/large"}).problem(413,
			wire.CodeTooLarge); !strings.Contains(p.Detail, "50000") {
			t.Errorf("%q", p.Detail)
		}
		alice.post("/v1/apis/import", wire.ImportAPI{URL: target.URL + "/none"}).problem(422, wire.CodeAddressRefused)
	})
}

func TestImportAPI_RefusalsReadAlike(t *testing.T) {
	hub := one(t, nil)
	closed := httptest.NewServer(http.NotFoundHandler())
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(pets)) }))
	t.Cleanup(open.Close)
	closed.Close()
	details := map[string]bool{}
	for _, url := range []string{
		open.URL, closed.URL, "http://127.0.0.1/", "http://localhost/", "http://[::1]/", "http://0.0.0.0/",
		"http://[::ffff:7f00:1]/", "http://169.254.169.254/latest/meta-data",
		"http://10.0.0.1/", "https://192.168.1.1/", "http://100.64.0.1/", "http://2130706433/", "http://0x7f000001/",
		"http://[fd00::1]/", "http://[64:ff9b::a9fe:a9fe]/", "http://224.0.0.1/",
		"http://no-such-name.invalid/", "http://127.0.0.1:22/", "http://127.0.0.1:6379/", hub.url,
	} {
		details[hub.as("alice").post("/v1/apis/import", wire.ImportAPI{URL: url}).problem(422,
			wire.CodeAddressRefused).Detail] = true
	}
	if len(details) != 1 {
		t.Errorf("%d wordings: %v", len(details), details)
	}
	for _, url := range []string{"", "x", "ftp://example.com/", "file:///etc/passwd", "http://", "//example.com/",
		"http://user:pw@example.com/", "http://a b/", "http://example.com:0/", "http://example.com:65536/", "gopher://x/",
		"http://" + strings.Repeat("a", 5000)} {
		p := hub.as("alice").post("/v1/apis/import", wire.ImportAPI{URL: url}).problem(422, wire.CodeInvalidBody)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != "/url" {
			t.Errorf("%.50s: %+v", url, p.Errors)
		}
	}
	for body, pointer := range map[string]string{`{"url": "http://example.com", "account": "A"}`: "/account",
		`{"url": "http://example.com", "slug": "A"}`: "/slug", `{"url": 1}`: "/url", `{"uri": "x"}`: "/uri"} {
		p := hub.as("alice").post("/v1/apis/import", body).problem(422, wire.CodeInvalidBody)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p.Errors)
		}
	}
	hub.as("alice").post("/v1/apis/import", wire.ImportAPI{Account: "sam", URL: "http://example.com"}).problem(403,
		wire.CodeNotPermitted)
}

func TestImportAPI_BodyShapeComesBeforeRole(t *testing.T) {
	hub := one(t, nil)
	for body, pointer := range map[string]string{
		`{"account": "acme", "url": "ftp://x/"}`:                       "/url",
		`{"account": "acme", "url": "ftp://x/", "slug": "A"}`:          "/slug",
		`{"account": "acme"}`:                                          "/url",
		`{"account": "acme", "url": "http://x/", "slug": "A"}`:         "/slug",
		`{"account": "acme", "url": "http://x/", "unknown": "member"}`: "/unknown",
	} {
		p := hub.as("sam").post("/v1/apis/import", body).problem(422, wire.CodeInvalidBody)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p.Errors)
		}
	}
	hub.as("sam").post("/v1/apis/import", `{"account": "acme", "url": "http://x/"}`).problem(403, wire.CodeNotPermitted)
}

func TestListAPIs(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project() // with the API @acme/pets
		var all []string
		for _, slug := range []string{"a", "b", "c", "d", "z"} {
			hub.as("anna").post("/v1/apis/upload?account=acme&slug="+slug, pets).want(201)
			all = append(all, "@acme/"+slug)
		}
		all = slices.Insert(all, 4, "@acme/pets")
		hub.as("alice").post("/v1/apis/upload?slug=own", pets).want(201)
		list := func(who *caller, query string) (names []string) {
			for cursor := ""; ; {
				page := decoded[wire.APIs](who.get("/v1/apis?" + query + cursor).want(200))
				for _, a := range page.APIs {
					names = append(names, a.API.String())
				}
				if page.NextCursor == "" {
					return names
				}
				cursor = "&cursor=" + url.QueryEscape(page.NextCursor)
			}
		}
		for limit := 1; limit < 9; limit++ {
			query := fmt.Sprint("limit=", limit)
			if diff := cmp.Diff(append(slices.Clone(all), "@alice/own"), list(hub.as("alice"), query)); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
			if diff := cmp.Diff(all, list(hub.as("rita"), query+"&account=acme")); diff != "" {
				t.Errorf("%s of acme: %s", query, diff)
			}
		}
		if got := list(hub.as("sam"), ""); got != nil {
			t.Errorf("sam sees %v", got)
		}
		hub.as("sam").get("/v1/apis?account=acme").problem(403, wire.CodeNotPermitted)
		for _, query := range []string{"limit=0", "limit=201", "cursor=x", "account=ACME"} {
			hub.as("alice").get("/v1/apis?"+query).problem(422, wire.CodeInvalidBody)
		}
		hub.write(func(tx *store.Tx) error { _, err := tx.SetDisabled("acme", true); return err })
		if diff := cmp.Diff([]string{"@alice/own"}, list(hub.as("alice"), "")); diff != "" {
			t.Errorf("with acme disabled: %s", diff)
		}
	})
}
