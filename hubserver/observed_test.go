package hubserver_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

func TestLog_OneLinePerRequest(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").put(baseFiles, archive(t, file{name: "a"})).want(200)
		hub.log.reset()
		answers := []*answer{
			hub.as("alice").get(web), hub.with("").get(web), hub.as("alice").put(clientCfg, `{`), hub.as("sam").get(config),
			hub.as("alice").get("/nothing"), hub.as("alice").post(web, nil),
			hub.as("alice").get("/healthz"), hub.as("alice").get("/@acme/web"),
			hub.as("alice").get("/v1/projects/%0d%0afake=1%1b[31m/%0a"), hub.as("alice").get("/%0d%0a%00%1b"),
			hub.as("alice").do("HEAD", web, nil), hub.as("alice").do("HEAD", baseFiles+"/archive", nil),
			hub.as("alice").do("HEAD", "/nothing", nil),
			hub.as("alice").get(site + "/versions/1.0.0/bundle"), hub.as("alice").get("/v1/apis/acme/pets/document"),
		}
		lines := hub.log.lines(t)
		if len(lines) != len(answers) {
			t.Fatalf("%d lines for %d requests:\n%s", len(lines), len(answers), hub.log)
		}
		for i, a := range answers {
			l := lines[i]
			if l["msg"] != "request" || l["request"] != a.header.Get("X-Request-Id") || l["status"] != float64(a.status) ||
				l["route"] == "" || l["took"] == nil {
				t.Errorf("%s left %v", a.call, l)
			}
		}
		if l := lines[0]; l["user"] != "alice" || l["token"] != hub.as("alice").token[:12] ||
			l["route"] != "/v1/projects/:account/:slug" || l["path"] != web || l["bytes"] != float64(len(answers[0].body)) {
			t.Errorf("%v", l)
		}
	})
}

func TestLog_NeverContainsToken(t *testing.T) {
	target := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(target.Close)
	eachWith(t, importer(target), func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		canary := hub.token("sam")
		in := func(text string) string { return strings.ReplaceAll(text, "CANARY", canary) }
		sam := hub.with(canary)
		sam.get("/v1/whoami").want(200)
		hub.with("").get(in("/v1/whoami?token=CANARY"), header{"Authorization": in("Bearer xCANARY")})
		hub.with("").get("/v1/whoami",
			header{"Authorization": in("Basic CANARY"), "Cookie": in("a=CANARY"), "User-Agent": canary, "Referer": canary,
				"X-Request-Id": canary, "X-Forwarded-For": canary, "Idempotency-Key": canary})
		for _, path := range []string{"/CANARY", "/v1/projects/CANARY/CANARY", "/v1/projects/acme/CANARY", "/@acme/CANARY",
			"/static/CANARY", "/v1/stacks/acme/site/versions/CANARY", "/v1/projects?cursor=CANARY&limit=CANARY&account=CANARY",
			"/v1/rate-limit?botId=CANARY&account=acme", "/v1/projects?a=%zzCANARY"} {
			alice.get(in(path))
			alice.put(in(path), in(`{"CANARY": "CANARY"}`))
			alice.do(canary, in(path), nil)
		}
		alice.put(clientCfg, in(`{"settings": {"CANARY": "CANARY"}}`))
		alice.put(clientCfg, in(`{"settings": {"CANARY": `))
		alice.put(clientCfg, in(`{"CANARY": 1}`), header{"If-Match": canary, "Content-Type": canary})
		alice.patch(config, in(`{"set": {"\\CANARY": 1}}`), header{"If-Match": canary})
		alice.put(baseFiles, archive(t, file{name: in("../CANARY")}))
		alice.put(baseFiles, typed{canary, []byte(canary)}, header{"Content-Encoding": canary})
		alice.post("/v1/projects", in(`{"account": "CANARY"}`), key(canary))
		alice.post("/v1/apis/upload?slug="+canary, canary)
		alice.post("/v1/apis/upload", in(`{"openapi": "CANARY", "info": {"title": "CANARY"}}`))
		for _, url := range []string{target.URL + "/CANARY?token=CANARY", "http://127.0.0.1/CANARY", "http://CANARY.invalid/",
			"http://x:CANARY@127.0.0.1/", "CANARY"} {
			alice.post("/v1/apis/import", wire.ImportAPI{URL: in(url)})
		}
		hub.sql("ALTER TABLE bots RENAME TO hidden")
		alice.post("/v1/rate-limit?botId="+canary, `{}`).problem(500,
			wire.CodeInternal) // the database's error quotes the statement
		if log := hub.log.String(); strings.Contains(log, canary) || strings.Contains(log, canary[7:]) {
			i := strings.Index(log, canary[7:])
			t.Errorf("the log holds a token: …%s…", log[max(0, i-200):min(len(log), i+100)])
		}
		if !strings.Contains(hub.log.String(), canary[:12]+"…") {
			t.Error("the log does not even say that there was one")
		}
		if pat.Index([]byte(hub.log.String())) >= 0 {
			t.Error("the log holds some token")
		}
	})
}

func TestLog_InternalCauseHasRequestID(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	hub.log.reset()
	hub.sql("ALTER TABLE revisions RENAME TO hidden")
	p := hub.as("alice").get(config).problem(500, wire.CodeInternal)
	lines := hub.log.lines(t)
	if len(lines) != 2 || lines[0]["level"] != "ERROR" || lines[0]["request"] != p.RequestID ||
		!strings.Contains(lines[0]["cause"].(string), "revisions") {
		t.Errorf("%v", lines)
	}
	if strings.Contains(p.Detail+p.Hint, "revisions") || p.Hint == "" {
		t.Errorf("the caller is told %q, %q", p.Detail, p.Hint)
	}
	hub.sql("ALTER TABLE hidden RENAME TO revisions")
	hub.log.reset()
	hub.as("alice").put(baseFiles, typed{"", []byte("cut off")}).problem(400, wire.CodeInvalidBody)
	if lines := hub.log.lines(t); len(lines) != 2 || lines[0]["level"] != "INFO" {
		t.Errorf("a caller's fault is logged as %v", lines)
	}
}

func TestServer_SurvivesPanic(t *testing.T) {
	log := &lockedBuffer{}
	broken := hubserver.New(hubserver.Config{PublicURL: publicURL, Version: hubVersion,
		Log: slog.New(slog.NewJSONHandler(log, nil)), Limits: hubserver.DefaultLimits}) // no store
	server := httptest.NewServer(broken)
	t.Cleanup(server.Close)
	somebody := (&testHub{TB: t, url: server.URL,
		client: &http.Client{Transport: &recorder{t, http.DefaultTransport}}}).with(pat.New())
	for range 2 {
		log.reset()
		p := somebody.get("/v1/whoami").problem(500, wire.CodeInternal)
		lines := log.lines(t)
		if len(lines) != 3 || lines[0]["msg"] != "panic" || !strings.Contains(lines[0]["stack"].(string), "authenticate") ||
			lines[0]["request"] != p.RequestID || lines[2]["msg"] != "request" {
			t.Errorf("%v", lines)
		}
		if strings.Contains(p.Detail+p.Hint, "nil") {
			t.Errorf("the caller is told %q, %q", p.Detail, p.Hint)
		}
	}
	somebody.get("/healthz").want(200)
}

func TestResponse_FailureMidwayIsCutOffAndLogged(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").put(baseFiles,
			archive(t, file{name: "a", content: "first"}, file{name: "b", content: "second"})).want(200)
		hub.sql("DELETE FROM blobs WHERE sha256 = '" + sha([]byte("second")) + "'")
		for _, accepted := range []string{"", "zstd"} {
			hub.log.reset()
			if a, err := hub.as("rita").try("GET", baseFiles+"/archive", nil, header{"Accept-Encoding": accepted}); err == nil &&
				a.status == 200 {
				t.Errorf("Accept-Encoding %q: half an archive looks whole", accepted)
			}
		}
		hub.sql("DELETE FROM blobs")
		a := hub.as("rita").get(baseFiles+"/archive", header{"Accept-Encoding": "zstd"})
		if a.problem(500, wire.CodeDamaged); a.etag() != "" || a.header.Get("Content-Encoding") != "" {
			t.Errorf("a problem is marked as the archive: %v", a.header)
		}
	})
}

func TestAudit_RowPerWrite(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice, anna := hub.as("alice"), hub.as("anna")
		type row struct{ Actor, Token, Action, Object, RequestID string }
		var want []row
		by := func(who *caller, name, action, object string, a *answer) {
			t.Helper()
			if a.status >= 300 {
				t.Fatalf("%s: %d %s", action, a.status, a.body)
			}
			want = append(want, row{name, who.token[:12], action, object, a.header.Get("X-Request-Id")})
		}
		by(alice, "alice", "stack.publish", "@acme/site", alice.put(site+"/versions/1.0.0", bundle(t, "1.0.0")))
		by(alice, "alice", "api.register", "@acme/pets", alice.post("/v1/apis/upload?account=acme", pets, key("upload")))
		by(alice, "alice", "project.create", "@acme/web", alice.post("/v1/projects", newProject("web"), key("create")))
		put := alice.put(clientCfg, `{"settings": {"a": 1}}`)
		by(alice, "alice", "config.write", "@acme/web", put)
		by(anna, "anna", "config.write", "@acme/web", anna.patch(config, `{"set": {"b": 2}}`, header{"If-Match": put.etag()}))
		by(anna, "anna", "base-files.write", "@acme/web", anna.put(baseFiles, archive(t, file{name: "a"})))
		by(anna, "anna", "rate-limit.set", "@acme/ci",
			anna.post(rateLimit+"botRefId="+url.QueryEscape("@acme/ci"), `{"dayLimit": 1}`))
		// Reads, repetitions, writes of equal content and refusals leave none.
		for _, path := range []string{web, config, baseFiles, baseFiles + "/archive", site, "/v1/apis/acme/pets/document",
			rateLimit + "botRefId=@acme/ci", "/v1/projects", "/@acme/web"} {
			anna.get(path)
		}
		alice.put(site+"/versions/1.0.0", bundle(t, "1.0.0")).want(200)
		alice.post("/v1/apis/upload?account=acme", pets, key("upload")).want(201)
		alice.post("/v1/projects", newProject("web"), key("create")).want(201)
		anna.put(clientCfg, `{"settings": {"a": 1, "b": 2}}`).want(200)
		alice.put(clientCfg, `{}`).want(200)
		alice.put(baseFiles, archive(t, file{name: "a"})).want(200)
		alice.post("/v1/projects", newProject("web")).want(409)
		alice.put(clientCfg, `{"settings": {"c": 1}}`, header{"If-Match": `"x"`}).want(412)
		hub.as("rita").put(clientCfg, `{"settings": {"c": 1}}`).want(403)
		alice.put(baseFiles, archive(t, file{name: "../a"})).want(422)
		by(alice, "alice", "project.edit", "@acme/web", alice.patch(web, `{"visibility": "public"}`))
		alice.patch(web, `{"visibility": "public"}`).want(200)
		by(alice, "alice", "project.delete", "@acme/web", alice.delete(web))
		alice.delete(web).want(200)

		var found []row
		rows, err := hub.store.View(t.Context()).AuditRows(store.AuditFilter{Account: "acme", Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range slices.Backward(rows) {
			found = append(found, row{r.Actor, r.Token, r.Action, r.Object, r.RequestID})
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHealth_WithoutDatabaseAliveButNotReady(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.with("").get("/healthz").want(200)
		hub.with("").get("/readyz").want(200)
		alice := hub.as("alice")
		hub.store.Close()
		hub.with("").get("/healthz").want(200)
		a := hub.with("").get("/readyz")
		a.problem(503, wire.CodeUnavailable)
		if a.header.Get("Retry-After") == "" {
			t.Error("nothing says when to come back")
		}
		if status := alice.get(web).status; status < 500 {
			t.Errorf("a request is answered %d", status)
		}
	})
}

// reset forgets what was logged so far.
func (l *lockedBuffer) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

// lines reads the log, of which every line has to be one object.
func (l *lockedBuffer) lines(t *testing.T) (all []map[string]any) {
	t.Helper()
	for line := range bytes.Lines([]byte(l.String())) {
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		all = append(all, v)
	}
	return all
}

// What callers send is theirs: the log has their paths, and no body, query or cookie.
func TestLog_NeverContainsBodyQueryOrCookie(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"openapi": "3.0.0", "canary": `)) }))
	t.Cleanup(target.Close)
	eachWith(t, importer(target), func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		page := hub.session("alice")
		hub.log.reset()
		hub.client.Transport = hub.client.Transport.(*recorder).next // most of this is outside of the contract
		send := func() {
			for _, path := range []string{clientCfg, config, baseFiles, baseFiles + "/plan", "/v1/projects", "/v1/apis/upload",
				"/v1/rate-limit?botId=canary", "/v1/device", "/link", "/device", "/tokens", "/sign-in", "/@acme/web/settings",
				site + "/versions/3.0.0"} {
				for _, body := range []string{`{"settings": {"canary": "canary"}}`, `{"canary": `, `{"settings": "canary"}`,
					`canary=canary&token=canary`, "canary\x00", `[canary]`} {
					for _, mediaType := range []string{"application/json", "application/x-www-form-urlencoded", "application/x-tar",
						""} {
						for _, method := range []string{"PUT", "POST", "PATCH"} {
							alice.do(method, path, typed{mediaType, []byte(body)},
								header{"Idempotency-Key": "canary", "If-Match": `"canary"`, "User-Agent": "canary", "Referer": "http://canary",
									"X-Forwarded-For": "canary"})
						}
					}
					page.do("POST", path, typed{"application/x-www-form-urlencoded", []byte(body)},
						header{"Origin": "http://canary", "Sec-Fetch-Site": "cross-site"})
				}
			}
			alice.post("/v1/apis/import", wire.ImportAPI{URL: target.URL + "/a?canary=canary"})
			alice.post("/v1/apis/import", wire.ImportAPI{URL: "http://127.0.0.1:1/a?canary=canary"})
			hub.with("").get("/link?secret=canary", header{"Cookie": hub.server.CookieName() + "=canary"})
			hub.with("").get("/sign-in?next=canary")
		}
		send()
		hub.sql("ALTER TABLE revisions RENAME TO hidden") // the database's errors quote the statement
		send()
		log := hub.log.String()
		if i := strings.Index(log, "canary"); i >= 0 {
			t.Errorf("the log has what was sent: …%s…", log[max(0, i-300):min(len(log), i+100)])
		}
		if secret := strings.Split(page.cookie, "=")[1]; strings.Contains(log, secret) {
			t.Error("the log has the cookie of a session")
		}
		if !strings.Contains(log, "hidden") && !strings.Contains(log, "revisions") {
			t.Error("no request failed for the missing table")
		}
	})
}
