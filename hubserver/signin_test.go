package hubserver_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

func TestSignIn_ByToken(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		token := hub.token("alice", wire.ScopeWriteConfig)
		a := hub.with("").post("/sign-in", form("token", " "+token+"\n", "to", "/@acme/web")).want(303)
		if a.header.Get("Location") != "/@acme/web" {
			t.Errorf("it goes to %q", a.header.Get("Location"))
		}
		if cookie := a.header.Get("Set-Cookie"); !strings.Contains(cookie,
			"; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax") || strings.Contains(cookie, token[12:]) {
			t.Errorf("the cookie is %q", cookie)
		}
		alice := a.signedIn(hub)
		me := decoded[wire.Whoami](alice.get("/v1/whoami").want(200))
		if me.User != "alice" || len(me.Scopes) != 1 || me.Scopes[0] != wire.ScopeWriteConfig || me.TokenName != "test" ||
			me.ExpiresAt == nil {
			t.Errorf("%+v", me)
		}
		written := decoded[wire.ConfigWritten](alice.put(clientCfg, `{"settings": {"a": 1}}`).want(200))
		written = decoded[wire.ConfigWritten](
			alice.patch(config, `{"set": {"a": 2}}`, header{"If-Match": `"` + written.Revision + `"`}).want(200))
		if got := decoded[wire.Config](alice.get(config).want(200)); got.UpdatedVia != wire.ViaPage ||
			got.UpdatedBy != "alice" || got.Revision != written.Revision {
			t.Errorf("%+v", got)
		}
		p := alice.delete(web).problem(403, wire.CodeMissingScope)
		if !strings.Contains(p.Detail, "the token behind this session lacks the scope") {
			t.Errorf("%+v", p)
		}
		if n := hub.count(
			"SELECT count(*) FROM sessions WHERE user_id = (SELECT id FROM accounts WHERE name = 'alice') AND length(hash) = 64"); n != 1 {
			t.Errorf("%d sessions", n)
		}
		secret := strings.Split(alice.cookie, "=")[1]
		if strings.Contains(hub.log.String(), secret) || strings.Contains(hub.log.String(), token[12:]) {
			t.Error("the log has a secret")
		}
	})
}

func TestSignIn_WarnsAboutPlainHTTP(t *testing.T) {
	for address, warns := range map[string]bool{
		"http://hub.example.com": true, "http://192.0.2.1:8080": true, "https://hub.example.com": false,
		"http://127.0.0.1:8080": false, "http://localhost:8080": false, "http://[::1]:8080": false,
	} {
		hub := one(t, func(c *hubserver.Config) { c.PublicURL = address })
		if a := hub.with("").get("/sign-in").want(200); strings.Contains(string(a.body), "not encrypted") != warns {
			t.Errorf("%s:\n%s", address, a.body)
		}
	}
}

func TestSignIn_RefusesBadTokens(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		revoked := hub.token("alice")
		hub.revoke(revoked)
		for why, token := range map[string]string{
			"not a whole token": "x", "does not know the token": pat.New(), "was revoked": revoked,
			"expired on": hub.tokenUntil("alice", yesterday()), "It begins with": "",
		} {
			a := hub.with("").post("/sign-in", form("token", token, "to", `/@acme/web?a="b"`)).want(422)
			if text := string(a.body); !strings.Contains(strings.ToLower(text), strings.ToLower(why)) || token != "" &&
				len(token) > 1 && strings.Contains(text, token) {
				t.Errorf("%s: %s", why, text)
			}
			if a.header.Get("Set-Cookie") != "" || !strings.Contains(string(a.body), `value="/@acme/web?a=&#34;b&#34;"`) {
				t.Errorf("%s: %v %s", why, a.header, a.body)
			}
		}
		if n := hub.count("SELECT count(*) FROM sessions"); n != 0 {
			t.Errorf("%d sessions", n)
		}
		hub.with("").post("/sign-in", typed{wire.FormType, []byte("token=%zz")}).want(400)
		hub.with("").post("/sign-in", form("token", strings.Repeat("x", 20<<10))).want(413)
		hub.with("").post("/sign-in", `{}`).want(415)
	})
}

func TestSignIn_StartsNewSession(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		planted := hub.session("sam") // an attacker's, put into the browser
		alice := planted.post("/sign-in", form("token", hub.token("alice"))).want(303).signedIn(hub)
		if alice.cookie == planted.cookie {
			t.Error("the session is the one that was there before")
		}
		planted.get("/v1/whoami").problem(401, wire.CodeNotSignedIn)
		if me := decoded[wire.Whoami](alice.get("/v1/whoami").want(200)); me.User != "alice" {
			t.Errorf("%+v", me)
		}
		// What the browser makes up is no session.
		invented := hub.browsing(strings.Repeat("A", 43))
		invented.post("/sign-in", form("token", hub.token("alice"))).want(303)
		invented.get("/v1/whoami").problem(401, wire.CodeNotSignedIn)
	})
}

func TestSignOut_EndsTheSession(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice, other := hub.session("alice"), hub.session("alice")
		a := alice.post("/sign-out", form()).want(303)
		if cookie := a.header.Get("Set-Cookie"); !strings.Contains(cookie, "Max-Age=0") {
			t.Errorf("the cookie is %q", cookie)
		}
		alice.get("/v1/whoami").problem(401, wire.CodeNotSignedIn)
		alice.post("/sign-out", form()).want(303)
		other.get("/v1/whoami").want(200)
	})
}

func TestSession_EndsWithWhatIsBehindIt(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		etag := hub.settings(`{"a": 1}`)
		edit := func(who *caller) *answer { return who.patch(config, `{"set": {"a": 2}}`, header{"If-Match": etag}) }
		refused := func(who *caller) {
			t.Helper()
			who.get("/v1/whoami").problem(401, wire.CodeNotSignedIn)
			edit(who).problem(401, wire.CodeNotSignedIn)
			who.get(web).problem(401, wire.CodeNotSignedIn)
		}
		token := hub.token("alice", wire.ScopeWriteConfig)
		alice := hub.sessionBehind("alice", token, wire.ScopeWriteConfig)
		alice.get("/v1/whoami").want(200)
		hub.revoke(token)
		refused(alice)

		idle := hub.session("alice")
		hub.sql(fmt.Sprintf("UPDATE sessions SET seen_at = seen_at - %d", (store.SessionIdle + time.Second).Microseconds()))
		refused(idle)

		old := hub.session("alice")
		hub.sql("UPDATE sessions SET expires_at = 1")
		refused(old)

		reader := hub.session("alice")
		hub.demote("alice")
		edit(reader).problem(403, wire.CodeNotPermitted)

		hub.write(func(tx *store.Tx) error { return tx.SetMember("acme", "sam", "writer") })
		sam := hub.session("sam")
		hub.write(func(tx *store.Tx) error { _, err := tx.SetDisabled("sam", true); return err })
		refused(sam)
	})
}

func TestSession_OldCookieSeesPublicProject(t *testing.T) {
	hub := one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	for _, cookie := range []string{strings.Repeat("x", 43), "alice." + strings.Repeat("x", 43), "x", "",
		strings.Repeat("x", 44), "../../x"} {
		who := hub.browsing(cookie)
		who.get(web).want(200)
		who.get("/@acme/web").want(200)
		who.put(clientCfg, `{}`).problem(401, wire.CodeNotSignedIn)
	}
	hub.with("").put(clientCfg, `{}`, header{"Sec-Fetch-Site": "same-origin"}).problem(401, wire.CodeNotSignedIn)
	hub.with("").put(clientCfg, `{}`).problem(401, wire.CodeUnauthorized)
	// A token takes precedence, so that a bad one is not covered up.
	alice := hub.session("alice")
	alice.token = pat.New()
	alice.get("/v1/whoami").problem(401, wire.CodeUnauthorized)
	// Nor does one of two cookies count.
	twice := hub.session("alice")
	twice.cookie += "; " + hub.session("sam").cookie
	twice.get("/v1/whoami").problem(401, wire.CodeNotSignedIn)
}

func TestSession_CookieOfTLSHub(t *testing.T) {
	hub := one(t, func(c *hubserver.Config) { c.PublicURL = "https://hub.test:8443" })
	a := hub.with("").post("/sign-in", form("token", hub.token("alice"))).want(303)
	if cookie := a.header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-hub-session=") ||
		!strings.Contains(cookie, "; Path=/; ") ||
		!strings.HasSuffix(cookie, "; HttpOnly; Secure; SameSite=Lax") || strings.Contains(cookie, "Domain") {
		t.Errorf("the cookie is %q", cookie)
	}
	if got := a.header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
		t.Errorf("Strict-Transport-Security is %q", got)
	}
	local := one(t, func(c *hubserver.Config) { c.PublicURL = "http://127.0.0.1:4680" })
	if local.server.CookieName() != "hub-session-4680" {
		t.Error(local.server.CookieName())
	}
}

func TestSession_UseIsStored(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.session("alice")
		hub.sql(fmt.Sprintf("UPDATE sessions SET seen_at = seen_at - %d", (store.SessionIdle - time.Minute).Microseconds()))
		alice.get("/v1/whoami").want(200)
		if err := hub.server.SaveUses(t.Context()); err != nil {
			t.Fatal(err)
		}
		hub.sql(fmt.Sprintf("UPDATE sessions SET seen_at = seen_at - %d", (2 * time.Minute).Microseconds()))
		alice.get("/v1/whoami").want(200)
	})
}

// TestLocalPath_StaysOnTheHub asks the resolver of addresses where a browser would go.
func TestLocalPath_StaysOnTheHub(t *testing.T) {
	for next, want := range map[string]string{
		"/": "/", "/@acme/web": "/@acme/web", "/tokens?a=b#c": "/tokens?a=b#c",
		"/@acme/web/history?cursor=x": "/@acme/web/history?cursor=x",
		"":                            "/", "x": "/", "//evil.example": "/", `/\evil.example`: "/", `\/evil.example`: "/",
		`\\evil.example`:   "/",
		"/\t/evil.example": "/", "/\n/evil.example": "/",
		"https://evil.example": "/", "https:evil.example": "/", "javascript:alert(1)": "/", "data:text/html,x": "/",
		" //evil.example": "/", "/ /evil.example": "/",
		"///evil.example": "/", "/%zz": "/", "/\x00": "/", "/\u2028": "/", "/é": "/", "?x": "/", "#x": "/",
		"/" + strings.Repeat("x", 3000): "/",
	} {
		if got := request.LocalPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
	pieces := []string{"/", `\`, "\t", "\r", "\n", " ", "@", ":", "evil.example", "https", "?", "#", ".", "..", "%2f",
		"%5c", "%09", "[", "]", "\x00", "\u2028", "／", "a", ";", "javascript", "//", "&", "é", "\xff"}
	base, err := url.Parse("https://hub.test/sign-in")
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for range 100_000 {
		var b strings.Builder
		b.WriteString(strings.Repeat("/", rand.IntN(2)))
		for range 1 + rand.IntN(7) {
			b.WriteString(pieces[rand.IntN(len(pieces))])
		}
		got := request.LocalPath(b.String())
		// As the URL standard has it: control characters and white space around it go, \ is /.
		seen := strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(strings.Trim(got, "\x00 "))
		to, err := base.Parse(seen)
		if err != nil || to.Host != "hub.test" || to.Scheme != "https" || to.User != nil || !strings.HasPrefix(seen, "/") ||
			strings.HasPrefix(seen, "//") {
			t.Fatalf("%q leads to %q", b.String(), got)
		}
		if got != "/" {
			kept++
		}
	}
	if t.Logf("%d of 100000 were kept", kept); kept < 1000 {
		t.Error("too few")
	}
}

func TestSignIn_RedirectsStayOnTheHub(t *testing.T) {
	hub := one(t, nil)
	for _, next := range []string{"//evil.example", `/\evil.example`, "https://evil.example", "/\r\nSet-Cookie: a=b"} {
		a := hub.with("").post("/sign-in", form("token", hub.token("alice"), "to", next)).want(303)
		if a.header.Get("Location") != "/" || len(a.header.Values("Set-Cookie")) != 1 {
			t.Errorf("%q: %v", next, a.header)
		}
		if a := hub.session("alice").get("/sign-in?to=" + url.QueryEscape(next)).want(200); a.header.Get("Location") != "" {
			t.Errorf("%q: %v", next, a.header)
		}
	}
	if a := hub.session("alice").get("/sign-in?to=/@acme/web").want(303); a.header.Get("Location") != "/@acme/web" {
		t.Errorf("%v", a.header)
	}
}

// dump returns all rows of the database.
func (h *testHub) dump() string {
	h.Helper()
	var all strings.Builder
	h.eachTable(func(table string, rows [][]string) { fmt.Fprintln(&all, table, rows) })
	return all.String()
}

// eachTable calls f with the rows of each table.
func (h *testHub) eachTable(f func(table string, rows [][]string)) {
	h.Helper()
	db := h.open()
	defer db.Close()
	tables := "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
	if sqldb.Path(h.address) == "" {
		tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY table_name"
	}
	for _, table := range h.rows(db, tables) {
		f(table[0], h.rows(db, fmt.Sprintf("SELECT * FROM %s ORDER BY 1, 2", table[0])))
	}
}

// crossSite fails the test unless a request was refused for where it came from.
func crossSite(a *answer, e *wire.Endpoint) {
	a.t.Helper()
	if slices.Equal(e.Returns, wire.HTML) {
		if a.want(403); !strings.Contains(string(a.body), "Cross-origin requests are not allowed") {
			a.t.Errorf("%s: %s", a.call, a.body)
		}
		return
	}
	a.problem(403, wire.CodeCrossSite)
}

func TestCrossSite_ChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		m := &matrix{testHub: hub, account: "acme", kind: "private"}
		m.furnish("acme")
		hub.as("anna").post("/v1/projects", m.body("doomed")).want(201)
		anna := hub.session("anna")
		type unsafe struct {
			wire.Endpoint
			path string
			body any
		}
		var all, reads []unsafe
		for _, e := range endpoints {
			m.account, m.kind = "acme", "private"
			path, body := rows[e.Method+" "+e.Path].request(m) // some make what they are about
			if e.Method == http.MethodGet {
				reads = append(reads, unsafe{e, path, body})
			} else {
				all = append(all, unsafe{e, path, body})
			}
		}
		before := hub.dump()
		for _, read := range reads { // reads change nothing, wherever they come from
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				if !strings.HasSuffix(read.path, "/events") || method == http.MethodHead {
					anna.do(method, read.path, nil, header{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"})
				}
			}
		}
		sent := 0
		for _, u := range all {
			for _, from := range []header{
				{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
				{"Sec-Fetch-Site": "same-site", "Origin": "http://app.hub.test"},
				{"Origin": "null"}, {"Origin": "http://hub.test:8080"}, {"Origin": "https://evil.example"},
				{"Sec-Fetch-Site": "cross-site"},
			} {
				sent++
				crossSite(anna.do(u.Method, u.path, u.body, from), &u.Endpoint)
				crossSite(hub.as("anna").do(u.Method, u.path, u.body, from), &u.Endpoint)
			}
		}
		if after := hub.dump(); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
		t.Logf("%d requests", 2*sent)
		for _, from := range []header{{}, {"Sec-Fetch-Site": "same-origin", "Origin": publicURL}, {"Sec-Fetch-Site": "none"},
			{"Origin": publicURL}} {
			anna.put(web[:len(web)-3]+"doomed/client-config", `{}`, from).want(200)
		}
	})
}

func TestBrowser_SignsInByToken(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	b := newBrowser(t)
	do(t, b, chromedp.Navigate(hub.url+"/sign-in?to=/v1/whoami"))
	do(t, b, chromedp.SendKeys(chromedp.CSS("#token"), hub.token("alice")+"\r"))
	if text := do(t, b, chromedp.Text(chromedp.CSS("body > pre"))); !strings.Contains(text, `"user":"alice"`) {
		t.Errorf("after signing in, %s", text)
	}
	if script := do(t, b, chromedp.Evaluate[string](`document.cookie`)); script != "" {
		t.Errorf("a script reads the cookie %q", script)
	}
}

func TestSignIn_BotsCannot(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		for account, admin := range map[string]string{"acme": "anna", "alice": "alice"} {
			hub.as(admin).post("/v1/rate-limit?account="+account+"&botId=ci", `{}`).want(200)
			bot := hub.bot(account, "ci-2", wire.Scopes...)
			a := hub.with("").post("/sign-in", form("token", bot.token)).want(422)
			if text := string(a.body); !strings.Contains(text, "A bot cannot sign in") || a.header.Get("Set-Cookie") != "" {
				t.Errorf("%s: %v %s", account, a.header, text)
			}
			bot.post("/v1/links", `{}`).problem(403, wire.CodeNotPermitted)
			bot.post("/v1/invitations", wire.CreateInvitation{Account: "acme", Role: wire.Admin}).problem(403,
				wire.CodeNotPermitted)
			err := hub.store.Write(t.Context(), func(tx *store.Tx) error {
				token, err := tx.Token(pat.Hash(bot.token))
				if err != nil {
					return err
				}
				return tx.CreateSession(&store.Session{User: "alice", Hash: strings.Repeat("0", 64), TokenID: token.ID})
			})
			if err == nil {
				t.Errorf("a session begins with the token of a bot of %s", account)
			}
		}
	})
}
