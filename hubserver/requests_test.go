package hubserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

func TestRequest_UnknownRoute(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	alice := hub.as("alice")
	for _, path := range []string{
		"/v1", "/v1/", "/v2/projects", "/V1/projects", "/v1/Projects", "/v1/projects/", "/v1/projects/acme",
		"/v1/projects/acme/", "/v1/projects/acme/web/", "/v1/projects/acme/web/CONFIG",
		"/v1/projects/acme/web/config/", "/v1/projects/acme%2Fweb", "/v1/projects/acme%2Fweb/config/x", "/v1//projects",
		"//v1/projects", "/v1/projects/acme/web/../config/x", "/v1/projects/acme/web/preview", "/v1/apis/",
		"/v1/stacks/acme/site/versions",
		"/healthz/", "/metrics", "/favicon.ico", "/.well-known/x", "/static", "/v1/rate-limit/",
		"/v1/projects/acme/web/config%00", "/v1/whoami%20", "/%ff", "/a\u202eb",
	} {
		for _, method := range []string{"GET", "PUT", "BREW"} {
			p := alice.do(method, path, nil).problem(404, wire.CodeUnknownRoute)
			// Only clients request paths below /v1/.
			if strings.Contains(p.Hint, hubVersion) != strings.HasPrefix(path, "/v1/") {
				t.Errorf("%s: the hint is %q", path, p.Hint)
			}
		}
		hub.with("").get(path).problem(404, wire.CodeUnknownRoute)
		hub.with("bad").get(path).problem(404, wire.CodeUnknownRoute)
	}
}

// A NUL ends the text of a query early, and PostgreSQL takes only UTF-8.
func TestRequest_TextThatNoDatabaseHasIsNotFound(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		for _, odd := range []string{"%00", "a%00", "%bf", "a%BF%00%ff"} {
			alice.delete("/v1/tokens/"+odd).problem(404, wire.CodeNotFound)
			hub.as("anna").delete("/v1/bots/acme/ci/tokens/"+odd).problem(404, wire.CodeNotFound)
			session := hub.session("alice")
			session.get("/?q=" + odd).want(200)
			session.get("/@acme/web/history?to=" + odd).want(404)
			session.post("/device", typed{"application/x-www-form-urlencoded", []byte("code=" + odd)}).want(422)
		}
	})
}

func TestRequest_InvalidPathSegmentIsNotFound(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		odd := []string{"WEB", "w_b", "-web", "web-", "web.", "w%20b", "%00", "%ff", "..", ".", "w%2eb", "é", "%C3%A9",
			"@web", "w;b", "%0d%0a", "%1b[31m", strings.Repeat("a", 65), strings.Repeat("x", 5000), "%E2%80%AE"}
		for _, slug := range odd {
			for _, path := range []string{"/v1/projects/acme/" + slug, "/v1/projects/acme/" + slug + "/config",
				"/v1/apis/acme/" + slug, "/v1/stacks/acme/" + slug + "/versions/1.0.0"} {
				alice.get(path).problem(404, wire.CodeNotFound)
			}
			alice.put("/v1/projects/acme/"+slug+"/client-config", `{}`).problem(404, wire.CodeNotFound)
			alice.put("/v1/projects/acme/"+slug+"/preview/base-files", archive(t)).problem(404, wire.CodeNotFound)
			alice.delete("/v1/projects/acme/"+slug).problem(404, wire.CodeNotFound)
			// No user has a role on an invalid account.
			p := alice.get("/v1/projects/"+slug+"/web/config").problem(403, wire.CodeNotPermitted)
			if p.Hint != "" {
				t.Errorf("%q gives the hint %q", slug, p.Hint)
			}
			query := strings.ReplaceAll(slug, ";", "%3b")
			alice.post("/v1/rate-limit?botId=x&account="+query, `{}`).problem(403, wire.CodeNotPermitted)
			alice.post("/v1/apis/upload?account="+query, pets).problem(403, wire.CodeNotPermitted)
		}
		for _, path := range []string{"/v1/projects//web", "/v1/projects//config", "/v1/projects//web/config",
			"/v1/apis//pets"} {
			alice.get(path).problem(403, wire.CodeNotPermitted)
			hub.with("").get(path).problem(401, wire.CodeUnauthorized)
		}
		alice.get("/v1/projects/acme//config").problem(404, wire.CodeNotFound)
	})
}

func TestRequest_MalformedQueryIsRejected(t *testing.T) {
	hub := one(t, nil)
	for _, query := range []string{"account=a;b", "account=%zz", "account=acme;limit=1", "%"} {
		hub.as("alice").get("/v1/projects?"+query).problem(400, wire.CodeInvalidBody)
		hub.as("alice").post("/v1/apis/upload?"+query, pets).problem(400, wire.CodeInvalidBody)
		hub.as("alice").post("/v1/rate-limit?botId=x&"+query, `{}`).problem(400, wire.CodeInvalidBody)
		hub.with("").post("/v1/rate-limit?botId=x&"+query, `{}`).problem(401, wire.CodeUnauthorized)
	}
	// A caller without a role gets that problem first.
	for _, query := range []string{"botId=%zz", "botId=a;b", "%"} {
		hub.as("sam").get("/v1/rate-limit?account=acme&"+query).problem(403, wire.CodeNotPermitted)
		hub.as("sam").post("/v1/rate-limit?account=acme&"+query, `{}`).problem(403, wire.CodeNotPermitted)
		hub.as("rita").get("/v1/rate-limit?account=acme&"+query).problem(400, wire.CodeInvalidBody)
	}
}

func TestRequest_WrongMethodListsAllowed(t *testing.T) {
	hub := one(t, nil)
	for path, allowed := range map[string]string{
		"/v1/whoami": "GET, HEAD", "/v1/projects": "GET, HEAD, POST", web: "DELETE, GET, HEAD, PATCH",
		config: "GET, HEAD, PATCH", clientCfg: "POST, PUT", baseFiles: "GET, HEAD, PUT", baseFiles + "/archive": "GET, HEAD",
		"/v1/apis/upload": "POST", "/v1/apis/acme/pets": "DELETE, GET, HEAD", site: "GET, HEAD",
		site + "/versions/1.0.0": "GET, HEAD, PUT", "/v1/rate-limit": "GET, HEAD, POST",
		"/healthz": "GET, HEAD", "/readyz": "GET, HEAD", "/v1/openapi.json": "GET, HEAD", "/@acme/web": "GET, HEAD",
		"/static/dist/style.css": "GET, HEAD", "/schema/client.json": "GET, HEAD",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
			if strings.Contains(allowed, method) {
				continue
			}
			a := hub.as("alice").do(method, path, nil, header{"X-Http-Method-Override": "GET", "X-Original-Url": "/v1/whoami"})
			p := a.problem(405, wire.CodeMethodNotAllowed)
			if a.header.Get("Allow") != allowed || !strings.Contains(p.Hint, allowed) {
				t.Errorf("%s %s: Allow %q, hint %q, want %q", method, path, a.header.Get("Allow"), p.Hint, allowed)
			}
		}
	}
}

func TestRequest_HeadIsGetWithoutBody(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").put(baseFiles, archive(t, file{name: "a"})).want(200)
		for _, path := range []string{
			"/v1/whoami", "/v1/projects", web, config, baseFiles, baseFiles + "/archive", "/v1/apis/acme/pets",
			"/v1/apis/acme/pets/document", site, site + "/versions/1.0.0", site + "/versions/1.0.0/bundle",
			"/healthz", "/readyz", "/v1/openapi.json", "/@acme/web", "/static/dist/style.css", "/schema/hub.json",
			"/v1/projects/acme/none", "/nothing",
		} {
			get, head := hub.as("rita").get(path), hub.as("rita").do("HEAD", path, nil)
			if head.status != get.status || len(head.body) != 0 || head.etag() != get.etag() ||
				head.header.Get("Content-Type") != get.header.Get("Content-Type") {
				t.Errorf("HEAD %s: %d %v with %d bytes, GET %d %v", path, head.status, head.header, len(head.body), get.status,
					get.header)
			}
		}
		hub.with("").do("HEAD", web, nil).want(401)
	})
}

func TestResponse_HasRequestIDAndNoStore(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	seen := map[string]bool{}
	for _, a := range []*answer{
		hub.as("alice").get(web), hub.with("").get(web), hub.as("sam").get(web), hub.as("alice").get("/nothing"),
		hub.as("alice").post(web, nil), hub.as("alice").get("/healthz"),
		hub.as("alice").get(config, header{"If-None-Match": "*"}), hub.as("alice").put(clientCfg, `{`),
		hub.as("alice").get("/@acme/web"),
	} {
		id := a.header.Get("X-Request-Id")
		if seen[id] || len(id) != 16 || a.header.Get("Hub-Version") != hubVersion ||
			a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", a.call, a.header)
		}
		if strings.Contains(a.header.Get("Content-Type"), "problem") &&
			!strings.Contains(string(a.body), `"requestId":"`+id+`"`) {
			t.Errorf("%s: %s does not bear the id %s", a.call, a.body, id)
		}
		seen[id] = true
	}
	if id := hub.as("alice").get(web, header{"X-Request-Id": "mine"}).header.Get("X-Request-Id"); id == "mine" {
		t.Error("a caller chose the request's id")
	}
}

func TestRequest_ErrorsComeInDocumentedOrder(t *testing.T) {
	smaller := func(cfg *hubserver.Config) { cfg.Limits.ConfigBytes = 100 }
	eachWith(t, smaller, func(t *testing.T, hub *testHub) {
		hub.project()
		etag := hub.settings(`{"a": 1}`)
		alice := hub.as("alice")
		large := strings.Repeat("{", 100_000)
		text := func(body string) typed { return typed{"text/plain", []byte(body)} }
		for _, c := range []struct {
			who     *caller
			path    string
			body    any
			headers header
			status  int
			code    wire.Code
		}{
			{hub.with(""), clientCfg, text(large), nil, 401, wire.CodeUnauthorized},
			{hub.as("sam"), clientCfg, text(large), nil, 403, wire.CodeNotPermitted},
			{hub.with(hub.token("rita")), clientCfg, text(large), nil, 403, wire.CodeNotPermitted},
			{hub.with(hub.token("alice")), clientCfg, text(large), nil, 403, wire.CodeMissingScope},
			{alice, "/v1/projects/acme/none/client-config", text(large), nil, 404, wire.CodeNotFound},
			{alice, clientCfg, text(large), nil, 415, wire.CodeUnsupportedMediaType},
			{alice, clientCfg, typed{"", []byte(large)}, nil, 415, wire.CodeUnsupportedMediaType},
			{alice, clientCfg, large, header{"Content-Encoding": "gzip"}, 415, wire.CodeUnsupportedMediaType},
			{alice, clientCfg, large, header{"If-Match": `"x"`}, 413, wire.CodeTooLarge},
			{alice, clientCfg, `{`, header{"If-Match": `"x"`}, 400, wire.CodeInvalidJSON},
			{alice, clientCfg, `{"x": 1}`, header{"If-Match": `"x"`}, 422, wire.CodeInvalidBody},
			{alice, clientCfg, `{"settings": {}}`, header{"If-Match": `"x"`}, 412, wire.CodeRevisionChanged},
			{alice, clientCfg, `{"settings": {"a": 1}}`, header{"If-Match": etag}, 200, ""},
			{alice, clientCfg, typed{"application/json; charset=utf-8", []byte(`{}`)}, nil, 200, ""},
		} {
			a := c.who.put(c.path, c.body, c.headers).want(c.status)
			if c.code != "" {
				a.problem(c.status, c.code)
			}
		}
		// Where the account is in the body, the role comes after the body.
		sam := hub.as("sam")
		for _, c := range []struct {
			who    *caller
			body   any
			status int
			code   wire.Code
		}{
			{hub.with(""), text(large), 401, wire.CodeUnauthorized},
			{hub.with(hub.token("sam")), text(large), 403, wire.CodeMissingScope},
			{sam, text(large), 415, wire.CodeUnsupportedMediaType},
			{sam, large, 413, wire.CodeTooLarge},
			{sam, `{`, 400, wire.CodeInvalidJSON},
			{sam, `{}`, 422, wire.CodeInvalidBody},
			{sam, newProject("web"), 403, wire.CodeNotPermitted},
			{alice, newProject("web"), 409, wire.CodeProjectExists},
		} {
			c.who.post("/v1/projects", c.body).problem(c.status, c.code)
		}
	})
}

func TestRequest_JSONBodyRules(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	alice := hub.as("alice")
	for route, limit := range map[string]int{
		"POST /v1/projects": 64 << 10, "POST /v1/apis/import": 64 << 10, "POST /v1/rate-limit?botId=x": 64 << 10,
		"PUT " + clientCfg: 1<<20 + 64<<10, "PATCH " + config: 1<<20 + 64<<10,
	} {
		method, path, _ := strings.Cut(route, " ")
		for _, mediaType := range []string{"", "text/plain", "application/x-www-form-urlencoded",
			"application/merge-patch+json", "application/json, text/plain"} {
			alice.do(method, path, typed{mediaType, []byte(`{}`)}).problem(415, wire.CodeUnsupportedMediaType)
		}
		alice.do(method, path, `{}`, header{"Content-Encoding": "identity"}).problem(415, wire.CodeUnsupportedMediaType)
		p := alice.do(method, path, `{"a": "`+strings.Repeat("x", limit)+`"}`).problem(413, wire.CodeTooLarge)
		if !strings.Contains(p.Detail, fmt.Sprint(limit)) {
			t.Errorf("%s: %q does not name the limit %d", route, p.Detail, limit)
		}
		for _, body := range []string{"", " ", "{", `{"a":1,"a":1}`, `{} {}`, "{\"\xff\":1}", `{"a":01}`, `{'a':1}`, "\x00"} {
			if p := alice.do(method, path, body).problem(400, wire.CodeInvalidJSON); !strings.Contains(p.Detail, "at byte") {
				t.Errorf("%s: %q: %q does not say where", route, body, p.Detail)
			}
		}
		for _, body := range []string{`null`, `[]`, `"{}"`, `1`, `{"no such": 1}`} {
			p := alice.do(method, path, body).problem(422, wire.CodeInvalidBody)
			if len(p.Errors) != 1 {
				t.Errorf("%s: %s: %+v", route, body, p)
			}
		}
	}
}

func TestResponse_IsolatesItsOrigin(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	for path, status := range map[string]int{
		"/": 200, "/@acme/web": 404, "/static/dist/style.css": 200, config: 401, "/nothing": 404, "/v1/openapi.json": 200,
	} {
		a := hub.with("").get(path).want(status)
		for name, want := range map[string]string{
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		for _, feature := range []string{"camera", "microphone", "geolocation", "display-capture", "usb"} {
			if !strings.Contains(a.header.Get("Permissions-Policy"), feature+"=()") {
				t.Errorf("%s: %s is not switched off", path, feature)
			}
		}
	}
}

func TestAuthenticate_AcceptsBearerOnly(t *testing.T) {
	hub := one(t, nil)
	token := hub.token("alice")
	ask := func(authorization string) int {
		return hub.with("").get("/v1/whoami", header{"Authorization": authorization}).status
	}
	for authorization, status := range map[string]int{
		"Bearer " + token: 200, "bearer " + token: 200, "BEARER   " + token + " ": 200,
		token: 401, "Basic " + token: 401, "Bearer": 401, "Bearer ": 401, "Bearer " + token[:len(token)-1]: 401,
		"Bearer " + token + "x": 401, "Bearer " + strings.ToUpper(token): 401,
		"Bearer " + token + "," + token: 401, "Bearer\t" + token: 401, strings.Repeat("B", 15_000): 401,
	} {
		if got := ask(authorization); got != status {
			t.Errorf("Authorization %.60q: status %d, want %d", authorization, got, status)
		}
	}
	for _, path := range []string{"/v1/whoami?token=" + token, "/v1/whoami?access_token=" + token} {
		hub.with("").get(path).problem(401, wire.CodeUnauthorized)
	}
	if a := hub.with("").get("/v1/whoami", header{"Cookie": "token=" + token}); a.status != http.StatusUnauthorized {
		t.Errorf("a cookie: status %d", a.status)
	}
}

func TestAuthenticate_RevocationCountsFromNextRequest(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		alice.put(clientCfg, `{}`).want(200)
		hub.demote("alice")
		alice.put(clientCfg, `{}`).problem(403, wire.CodeNotPermitted)
		alice.get(config).want(200)
		hub.revoke(alice.token)
		alice.get(config).problem(401, wire.CodeTokenRevoked)
	})
}

// A token that was revoked, or a role that was taken away, on one hub is of no use on any
// other, from the next request on.
func TestAuthenticate_RevocationCountsOnEveryReplica(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice, anna, hubs, pairs := hub.as("alice"), hub.as("anna"), hub.replicas(t, 3), rounds(6, 1000)
		sam := hub.as("sam")
		for n := range pairs {
			other := hubs[1+n%2]
			created, user := alice.create(wire.CreateToken{Name: "short"})
			other.with(user.token).get(config).want(200)
			alice.delete(tokens + "/" + created.ID).want(200)
			other.with(user.token).get(config).problem(401, wire.CodeTokenRevoked)

			hub.write(func(tx *store.Tx) error { return tx.SetMember("acme", "sam", "writer") })
			other.with(sam.token).put(clientCfg, `{}`).want(200)
			anna.delete("/v1/members/acme/sam").want(200)
			other.with(sam.token).put(clientCfg, `{}`).problem(403, wire.CodeNotPermitted)
		}
		t.Logf("%d revocations and %d lost roles, each used on another hub: 0 successes", pairs, pairs)
	})
}

// Whether a token has expired is up to the clock of the database, which is at most a second
// behind that of the test.
func TestAuthenticate_RefusesTokenFromTheMomentItExpires(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		end := time.Now().Add(300 * time.Millisecond)
		brief := hub.with(hub.tokenUntil("alice", store.At(end)))
		for {
			start := time.Now()
			a := brief.get("/v1/whoami")
			if a.status == 401 {
				a.problem(401, wire.CodeTokenExpired)
				break
			}
			if a.want(200); start.After(end.Add(time.Second)) {
				t.Fatalf("the token is valid %v after its end", start.Sub(end))
			}
		}
	})
}

// A handler that reads what is left of a malformed query would do something else than was asked.
func TestQuery_MalformedIsRefusedByEveryEndpoint(t *testing.T) {
	t.Parallel()
	m := &matrix{testHub: one(t, nil), account: "acme", kind: "private"}
	m.furnishKind()
	anna, browser := m.as("anna"), m.session("anna")
	for i, e := range endpoints {
		m.cell = i
		path, body := rows[e.Method+" "+e.Path].request(m)
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		caller := anna
		if !strings.HasPrefix(e.Path, "/v1/") {
			caller = browser
		}
		if a := caller.do(e.Method, path+separator+"x=%zz", body); a.status != 400 {
			t.Errorf("%s %s: %d %.200s", e.Method, path, a.status, a.body)
		}
	}
}
