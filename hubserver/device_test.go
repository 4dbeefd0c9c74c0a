package hubserver_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// terminal is a program that waits for a token.
type terminal struct {
	hub *testHub
	wire.Device
}

func (h *testHub) terminal() *terminal {
	h.Helper()
	return &terminal{h, decoded[wire.Device](
		h.with("").post("/v1/device", wire.StartDevice{Client: "tool on laptop"}).want(200))}
}

// poll asks for the token.
func (d *terminal) poll() *answer {
	d.hub.Helper()
	return d.hub.with("").post("/v1/device/token", wire.DeviceCode{DeviceCode: d.DeviceCode})
}

// approval is the form that approves a terminal.
func (d *terminal) approval(scopes ...string) typed {
	fields := []string{"code", d.UserCode, "decision", "approve", "lifetime", "30d"}
	for _, s := range scopes {
		fields = append(fields, "scopes", s)
	}
	return form(fields...)
}

func TestDevice_GetsTokenThatIsApproved(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		d := hub.terminal()
		if d.VerificationURI != publicURL+"/device" || d.VerificationURIComplete != publicURL+"/device?code="+d.UserCode ||
			d.ExpiresIn != 600 {
			t.Errorf("%+v", d)
		}
		d.poll().problem(400, wire.CodeAuthorizationPending)
		alice := hub.session("alice")
		if a := hub.with("").get("/device?code=" + d.UserCode).want(303); a.header.Get(
			"Location") != "/sign-in?to=%2Fdevice%3Fcode%3D"+d.UserCode {
			t.Errorf("%v", a.header)
		}
		if text := string(alice.get("/device?code=" + strings.ToLower(d.UserCode)).want(200).body); !strings.Contains(text,
			`value="`+d.UserCode+`"`) || strings.Contains(text, "laptop") {
			t.Errorf("%s", text)
		}
		text := string(alice.post("/device", form("code", strings.ReplaceAll(strings.ToLower(d.UserCode), "-", " "))).want(
			200).body)
		for _, part := range []string{d.UserCode, "tool on laptop", "127.0.0.1", `value="write:catalog" checked`,
			`value="admin:resource" aria-describedby`, `<option value="90d" selected>`, `<option value="never">never expires`} {
			if !strings.Contains(text, part) {
				t.Errorf("the page does not say %q: %s", part, text)
			}
		}
		d.poll().problem(400, wire.CodeAuthorizationPending)
		if text := string(alice.post("/device", d.approval("write:config")).want(200).body); !strings.Contains(text,
			"Approved") {
			t.Errorf("%s", text)
		}
		token := decoded[wire.DeviceToken](d.poll().want(200)).Token
		me := decoded[wire.Whoami](hub.with(token).get("/v1/whoami").want(200))
		if me.User != "alice" || fmt.Sprint(me.Scopes) != "[write:config]" || me.TokenName != "tool on laptop" ||
			me.ExpiresAt == nil || time.Until(*me.ExpiresAt) > 30*24*time.Hour || time.Until(*me.ExpiresAt) < 29*24*time.Hour {
			t.Errorf("%+v", me)
		}
		// The response was lost: the terminal asks again.
		again := decoded[wire.DeviceToken](d.poll().want(200)).Token
		hub.with(token).get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
		hub.with(again).get("/v1/whoami").want(200)
		for what, secret := range map[string]string{"token": again, "code": d.DeviceCode} {
			if strings.Contains(hub.dump(), secret) || strings.Contains(hub.log.String(), secret) {
				t.Errorf("the %s is stored", what)
			}
		}
		hub.sql("UPDATE devices SET expires_at = 1")
		d.poll().problem(400, wire.CodeExpiredToken)
		alice.post("/device", d.approval()).want(422)
	})
}

func TestDevice_GetsNoToken(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.session("alice")
		denied := hub.terminal()
		alice.post("/device", form("code", denied.UserCode, "decision", "deny")).want(200)
		denied.poll().problem(400, wire.CodeAccessDenied)
		alice.post("/device", denied.approval()).want(422)

		// What is behind the approval goes before the terminal has its token.
		behind := hub.token("alice", wire.ScopeWriteConfig)
		orphan := hub.terminal()
		hub.sessionBehind("alice", behind, wire.ScopeWriteConfig).post("/device",
			form("code", orphan.UserCode, "decision", "approve", "lifetime", "7d")).want(200)
		hub.revoke(behind)
		orphan.poll().problem(400, wire.CodeAccessDenied)

		disabled := hub.terminal()
		hub.session("sam").post("/device", disabled.approval()).want(200)
		hub.disable("sam")
		disabled.poll().problem(400, wire.CodeAccessDenied)

		for _, code := range []string{"", "x", denied.UserCode} {
			hub.with("").post("/v1/device/token", wire.DeviceCode{DeviceCode: code}).problem(400, wire.CodeExpiredToken)
		}
	})
}

// Until it expires, a terminal can ask again. What was revoked meanwhile stays so.
func TestDevice_GetsNoTokenAfterRevocation(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.session("alice")
		d := hub.terminal()
		alice.post("/device", d.approval("write:catalog")).want(200)
		token := decoded[wire.DeviceToken](d.poll().want(200)).Token
		alice.delete(tokens + "/" + pat.Hash(token)[:12]).want(200)
		hub.with(token).get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
		d.poll().problem(400, wire.CodeAccessDenied)

		approved, fetched, waiting := hub.terminal(), hub.terminal(), hub.terminal()
		alice.post("/device", approved.approval("write:catalog")).want(200)
		alice.post("/device", fetched.approval("write:catalog")).want(200)
		fetched.poll().want(200)
		hub.write(func(tx *store.Tx) error { _, err := tx.RevokeTokensOf("alice"); return err })
		approved.poll().problem(400, wire.CodeAccessDenied)
		fetched.poll().problem(400, wire.CodeAccessDenied)
		hub.session("alice").post("/device", waiting.approval()).want(200)
		waiting.poll().want(200)
	})
}

func TestDevice_PollWritesNothingUntilItIsApproved(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		d, denied, late := hub.terminal(), hub.terminal(), hub.terminal()
		hub.session("alice").post("/device", form("code", denied.UserCode, "decision", "deny")).want(200)
		hub.sql(fmt.Sprintf("UPDATE devices SET expires_at = 1 WHERE hash = '%s'", pat.Hash(late.DeviceCode)))
		unlock := hub.lockTable("devices")
		for range 2 {
			d.poll().problem(400, wire.CodeAuthorizationPending)
		}
		denied.poll().problem(400, wire.CodeAccessDenied)
		late.poll().problem(400, wire.CodeExpiredToken)
		unlock()
		hub.session("alice").post("/device", d.approval()).want(200)
		d.poll().want(200)
	})
}

func TestDevice_EightWrongCodes(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		d, alice := hub.terminal(), hub.session("alice")
		for i := range 8 {
			decision := []string{"", "approve", "deny"}[i%3]
			if text := string(alice.post("/device", form("code", "BBBB-BBBB", "decision", decision, "lifetime", "7d")).want(
				422).body); !strings.Contains(text, "No terminal waits") {
				t.Fatalf("%d: %s", i, text)
			}
		}
		for _, who := range []*caller{alice, hub.session("alice")} {
			if text := string(who.post("/device", d.approval()).want(422).body); !strings.Contains(text,
				"Too many wrong codes") || strings.Contains(text, "laptop") {
				t.Errorf("%s", text)
			}
		}
		hub.session("rita").post("/device", form("code", d.UserCode)).want(200)
		hub.sql(fmt.Sprintf("UPDATE accounts SET wrong_since = wrong_since - %d", (10 * time.Minute).Microseconds()))
		alice.post("/device", d.approval()).want(200)
		d.poll().want(200)
	})
}

func TestDevice_OneDecisionCounts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		hub := newHub(t, address, nil)
		hubs := []*testHub{hub, newHub(t, address, nil)}
		users := []string{"alice", "rita", "anna", "sam"}
		for range 5 {
			d := hub.terminal()
			var approved atomic.Int32
			var winner atomic.Value
			var group sync.WaitGroup
			for i := range 8 {
				user := users[i%len(users)]
				who := *hub.session(user)
				who.hub = hubs[i%2]
				group.Go(func() {
					a, err := who.try("POST", "/device", d.approval())
					if err != nil {
						t.Error(err)
					} else if a.status == 200 {
						approved.Add(1)
						winner.Store(user)
					}
				})
			}
			group.Wait()
			if approved.Load() != 1 {
				t.Fatalf("%d approvals", approved.Load())
			}
			me := decoded[wire.Whoami](hub.with(decoded[wire.DeviceToken](d.poll().want(200)).Token).get("/v1/whoami").want(200))
			if me.User != winner.Load() {
				t.Errorf("%s approved, the token is of %s", winner.Load(), me.User)
			}
			hub.sql("UPDATE accounts SET wrong_codes = 0")
		}
	})
}

func TestDevice_BoundedPerAddress(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		for range 50 {
			hub.terminal()
		}
		a := hub.with("").post("/v1/device", `{}`)
		if a.problem(429, wire.CodeRateLimited); a.header.Get("Retry-After") != "60" {
			t.Errorf("%v", a.header)
		}
		hub.sql("UPDATE devices SET expires_at = 1 WHERE hash = (SELECT min(hash) FROM devices)")
		hub.terminal()
		hub.sql("UPDATE devices SET network = '192.0.2.1'")
		hub.terminal()
		if n := hub.count("SELECT count(*) FROM devices"); n != 51 {
			t.Errorf("%d devices are stored", n)
		}
		for _, body := range []string{`{"client": "a\u001bb"}`, `{"client": "` + strings.Repeat("x", 101) + `"}`,
			`{"scopes": []}`} {
			hub.with("").post("/v1/device", body).problem(422, wire.CodeInvalidBody)
		}
		long := wire.StartDevice{Client: strings.Repeat("é", 51)}
		p := hub.with("").post("/v1/device", long).problem(422, wire.CodeInvalidBody)
		if !strings.Contains(p.Detail, "100 bytes") {
			t.Errorf("51 characters: %s", p.Detail)
		}
	})
}

func TestDevice_BoundedPerAddressBehindTrustedProxies(t *testing.T) {
	behind := func(c *hubserver.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	eachWith(t, behind, func(t *testing.T, hub *testHub) {
		start := func(forwarded string) *answer {
			return hub.with("").post("/v1/device", `{}`, header{"X-Forwarded-For": forwarded})
		}
		for i := range 50 { // what stands before the proxy's word is the caller's own
			start(fmt.Sprintf("192.0.2.%d, 198.51.100.1", i)).want(200)
		}
		start("192.0.2.99, 198.51.100.1").problem(429, wire.CodeRateLimited)
		start("198.51.100.2").want(200)
		start("").want(200) // of the proxy itself
		for i := range 50 { // of one /56
			start(fmt.Sprintf("2001:db8:1:1%02x::1", i)).want(200)
		}
		start("2001:db8:1:1ff::1").problem(429, wire.CodeRateLimited)
		for i := range 150 { // of one /48
			start(fmt.Sprintf("2001:db8:1:%x00::1", 2+i)).want(200)
		}
		start("2001:db8:1:ff00::1").problem(429, wire.CodeRateLimited)
		start("2001:db8:2::1").want(200)
	})
}

// A stranger with many sites ends no login of others: not of one site, nor of as many sites as can wait.
func TestDevice_StrangersDropTheirOwn(t *testing.T) {
	behind := func(c *hubserver.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	eachWith(t, behind, func(t *testing.T, hub *testHub) {
		start := func(forwarded string) *terminal {
			a := hub.with("").post("/v1/device", `{}`, header{"X-Forwarded-For": forwarded}).want(200)
			return &terminal{hub, decoded[wire.Device](a)}
		}
		fill := func(site string) { // up to the limit
			hub.sql(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
				INSERT INTO devices SELECT 'x' || i, 'x' || i, '', '', 'n' || i, ` + site + `, 'pending', NULL, NULL, NULL,
				'', 0, created_at + i, expires_at FROM devices, n
				WHERE i <= 5000 - (SELECT COUNT(*) FROM devices) AND hash = (SELECT MIN(hash) FROM devices)`)
		}
		person := start("192.0.2.1")
		first, second := start("2001:db8:77:1::1"), start("2001:db8:77:2::1")
		fill("'s' || i")
		start("2001:db8:77:3::1")
		first.poll().problem(400, wire.CodeExpiredToken)
		person.poll().problem(400, wire.CodeAuthorizationPending)
		second.poll().problem(400, wire.CodeAuthorizationPending)

		hub.sql("DELETE FROM devices WHERE hash <> '" + pat.Hash(person.DeviceCode) + "'")
		fill("'zz' || i") // after the person's in any order of names
		for i := range 3 {
			start(fmt.Sprintf("2001:db8:%x::1", 0x100+i))
		}
		person.poll().problem(400, wire.CodeAuthorizationPending)
	})
}

// TestTokens_NeverMoreThanWhatIsBehind tries every pair of scopes and lifetimes, with a session and by
// approving a terminal.
func TestTokens_NeverMoreThanWhatIsBehind(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		includes := func(has, asks wire.Scope) bool {
			return has == asks || has == wire.ScopeWriteCatalog && asks == wire.ScopeWriteConfig
		}
		in60 := at(60 * 24 * time.Hour)
		tried := 0
		for _, behind := range append([]wire.Scope{""}, wire.Scopes...) {
			var scopes []wire.Scope
			if behind != "" {
				scopes = []wire.Scope{behind}
			}
			for _, end := range []bool{false, true} {
				token := hub.token("alice", scopes...)
				if end {
					token = hub.tokenUntil("alice", in60, scopes...)
				}
				who := hub.sessionBehind("alice", token, scopes...)
				for _, asked := range append([]wire.Scope{""}, wire.Scopes...) {
					for _, lifetime := range []string{"7d", "30d", "90d", "never", "-1d", "x", ""} {
						fields, request := []string{"lifetime", lifetime}, wire.CreateToken{Name: "n", Lifetime: lifetime}
						if asked != "" {
							fields, request.Scopes = append(fields, "scopes", string(asked)), []wire.Scope{asked}
						}
						known := lifetime != "-1d" && lifetime != "x"
						fine := !end || lifetime != "90d" && lifetime != "never"
						want := http.StatusCreated
						switch {
						case behind == "" || asked != "" && !includes(behind, asked): // who can only read creates none
							want = http.StatusForbidden
						case !known:
							want = http.StatusUnprocessableEntity
						case !fine:
							want = http.StatusForbidden
						}
						tried++
						a := who.post(tokens, request)
						if a.status != want {
							t.Errorf("behind %q (ends: %v), asking for %q and %q: %d, want %d", behind, end, asked, lifetime, a.status, want)
						}
						if minted := newToken(a); (minted != "") != (want == 201) {
							t.Errorf("behind %q, asking for %q and %q: the token %q", behind, asked, lifetime, minted)
						}
						if lifetime == "7d" && end {
							hub.sql("DELETE FROM devices")
							d := hub.terminal()
							got := who.post("/device", form(append(fields, "code", d.UserCode, "decision", "approve")...)).status
							if got != want && (got != 200 || want != 201) {
								t.Errorf("behind %q, approving %q: %d, want %d", behind, asked, got, want)
							}
						}
					}
				}
				hub.sql("DELETE FROM tokens WHERE name = 'n'")
			}
		}
		t.Logf("%d", tried)
	})
}

// Who can only read creates no tokens: not by the API, and not on the pages.
func TestTokens_SessionThatCanOnlyReadCreatesNone(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		token := hub.token("alice")
		hub.with(token).post("/v1/tokens", wire.CreateToken{Name: "lasting", Lifetime: "never"}).problem(403,
			wire.CodeMissingScope)
		reader := hub.sessionBehind("alice", token)
		if text := string(reader.get("/tokens").want(200).shows(
			"This session can only read: it creates no tokens.").body); strings.Contains(text, "Create token") {
			t.Errorf("the page has the form: %s", text)
		}
		reader.post(tokens, wire.CreateToken{Name: "lasting", Lifetime: "never"}).problem(403, wire.CodeMissingScope)
		d := hub.terminal()
		if text := string(reader.post("/device", form("code", d.UserCode)).want(403).shows(
			"creates no tokens").body); strings.Contains(text, `value="approve"`) {
			t.Errorf("the page offers to approve: %s", text)
		}
		reader.post("/device", d.approval()).want(403).shows("creates no tokens")
		d.poll().problem(400, wire.CodeAuthorizationPending)
	})
}

// Who has stolen a token that can do little must not keep its user from logging in.
func TestDevice_SessionWithoutTokensNeitherDeniesNorCounts(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		only, _ := hub.as("alice").create(
			wire.CreateToken{Name: "ci", Scopes: wire.Scopes, Restriction: onlyProject("acme", "web")})
		for _, token := range []string{hub.token("alice"), only.Token} {
			weak, d := hub.sessionBehind("alice", token), hub.terminal()
			weak.post("/device", form("code", d.UserCode, "decision", "deny")).want(403).shows("creates no tokens")
			for range 8 {
				weak.post("/device", form("code", "BBBB-BBBB")).want(403)
			}
			hub.session("alice").post("/device", d.approval()).want(200)
			d.poll().want(200)
		}
	})
}

// What the page of tokens has for each token and session that its viewer may end.
const (
	revokesToken = `data-action="/v1/tokens/`
	sessions     = "/v1/sessions/"
	endsSession  = `data-action="` + sessions
)

// newToken returns the token in an answer.
func newToken(a *answer) string {
	i := pat.Index(a.body)
	if i < 0 {
		return ""
	}
	return string(a.body[i : i+pat.Length])
}

func TestTokens_ListCreateRevoke(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		behind := hub.token("alice", wire.ScopeWriteConfig)
		alice := hub.sessionBehind("alice", behind, wire.ScopeWriteConfig)
		if a := hub.with("").get("/tokens").want(303); a.header.Get("Location") != "/sign-in?to=%2Ftokens" {
			t.Errorf("%v", a.header)
		}
		a := alice.post(tokens, wire.CreateToken{Name: "<b>ci</b>", Scopes: []wire.Scope{wire.ScopeWriteConfig}}).want(201)
		token := newToken(a)
		if me := decoded[wire.Whoami](hub.with(token).get("/v1/whoami").want(200)); me.TokenName != "<b>ci</b>" ||
			a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%+v %v", me, a.header)
		}
		other, sam := hub.session("alice", wire.ScopeWriteConfig), hub.session("sam")
		text := string(alice.get("/tokens").want(200).body)
		for _, part := range []string{"&lt;b&gt;ci&lt;/b&gt;", token[:12] + "…", behind[:12] + "…", "this session</span>",
			"127.0.0.1"} {
			if !strings.Contains(text, part) && part != "127.0.0.1" {
				t.Errorf("the page does not say %q: %s", part, text)
			}
		}
		if strings.Contains(text, token) || strings.Contains(text, "<b>ci") || strings.Count(text, endsSession) != 2 ||
			strings.Count(text, revokesToken) != 2 {
			t.Errorf("%s", text)
		}
		id := func(token string) string { return pat.Hash(token)[:12] }
		// Other people's tokens and sessions stay.
		sam.delete(tokens+"/"+id(token)).problem(404, wire.CodeNotFound)
		sessionID := func(who *caller) string { return pat.Hash(strings.Split(who.cookie, "=")[1])[:12] }
		for _, id := range []string{sessionID(alice), "%25", "a"} {
			if ended := decoded[wire.EndedSession](sam.delete(sessions + id).want(200)); ended.Existed {
				t.Errorf("%+v", ended)
			}
		}
		hub.with(token).get("/v1/whoami").want(200)
		alice.get("/v1/whoami").want(200)
		for _, existed := range []bool{true, false} {
			ended := decoded[wire.EndedSession](alice.delete(sessions + sessionID(other)).want(200))
			if ended.Existed != existed {
				t.Errorf("%+v", ended)
			}
		}
		if n := hub.count("SELECT count(*) FROM audit WHERE action = 'session.end' AND actor = 'alice'"); n != 1 {
			t.Errorf("%d rows of the audit", n)
		}
		other.get("/v1/whoami").problem(401, wire.CodeNotSignedIn)
		alice.delete(tokens + "/" + id(token)).want(200)
		hub.with(token).get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
		sam.get("/v1/whoami").want(200)

		// What was created with a token ends with it.
		child := newToken(alice.post(tokens, wire.CreateToken{Name: "child"}).want(201))
		alice.delete(tokens + "/" + id(behind)).want(200)
		hub.with(child).get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
		alice.get("/v1/whoami").problem(401, wire.CodeNotSignedIn)
		alice.get("/tokens").want(303)
	})
}

// Who has stolen a token that can only read must not end all others through the page, as the
// API does not let it.
func TestTokens_SessionEndsNothingThatCanDoMore(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		id := func(secret string) string { return pat.Hash(secret)[:12] }
		strong, weak, behind := hub.token("alice", wire.ScopeWriteCatalog), hub.token("alice"), hub.token("alice")
		browser := hub.session("alice", wire.ScopeWriteConfig)
		reader := hub.sessionBehind("alice", behind)
		if text := string(reader.get("/tokens").want(200).body); strings.Count(text, revokesToken) != 2 ||
			strings.Count(text, endsSession) != 1 {
			t.Errorf("the page offers to end what can do more: %s", text)
		}
		reader.delete(tokens+"/"+id(strong)).problem(403, wire.CodeMissingScope)
		reader.delete(sessions+id(strings.Split(browser.cookie, "=")[1])).problem(403, wire.CodeMissingScope)
		hub.with(strong).get("/v1/whoami").want(200)
		browser.get("/v1/whoami").want(200)

		reader.delete(tokens + "/" + id(weak)).want(200)
		hub.with(weak).get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
		hub.session("alice", wire.ScopeAdminResource).delete(tokens + "/" + id(strong)).want(200)
		hub.with(strong).get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
	})
}

func TestCleanCode(t *testing.T) {
	for typed, want := range map[string]string{
		"BCDF-GHJK": "BCDF-GHJK", "bcdfghjk": "BCDF-GHJK", " b-c d-f g h j k ": "BCDF-GHJK", "BCDF-GHJ": "", "BCDF-GHJA": "",
		"": "", "BCDF_GHJK": "", "BCDFGHJKL": "",
	} {
		if got := store.CleanCode(typed); got != want {
			t.Errorf("%q is %q, want %q", typed, got, want)
		}
	}
}

func TestBrowser_ApprovesTerminal(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	d := hub.terminal()
	b := newBrowser(t)
	b.signIn(t, hub.session("alice"))
	do(t, b, chromedp.Navigate(hub.url+"/device?code="+d.UserCode))
	do(t, b, chromedp.Click(chromedp.CSS("main form button.primary")))
	do(t, b, chromedp.Click(chromedp.CSS(`button[value="approve"]`)))
	do(t, b, chromedp.WaitVisible(chromedp.CSS(`main [role="status"]`)))
	me := decoded[wire.Whoami](hub.with(decoded[wire.DeviceToken](d.poll().want(200)).Token).get("/v1/whoami").want(200))
	if me.User != "alice" || fmt.Sprint(me.Scopes) != "[write:catalog write:config]" {
		t.Errorf("%+v", me)
	}
}
