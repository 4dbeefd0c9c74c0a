package hubserver_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/api"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// link creates a link to page with a token.
func (c *caller) link(page string) (code string) {
	c.hub.Helper()
	return codeOf(c.post("/v1/links", wire.CreateLink{Page: page}).want(201))
}

// invitation creates an invitation to acme.
func (c *caller) invitation(role wire.Role) (code string) {
	c.hub.Helper()
	return codeOf(c.post("/v1/invitations", wire.CreateInvitation{Account: "acme", Role: role}).want(201))
}

func codeOf(a *answer) string {
	a.t.Helper()
	link, err := url.Parse(decoded[wire.Link](a).URL)
	if err != nil || link.Scheme+"://"+link.Host != publicURL || link.Path != "/link" {
		a.t.Fatalf("%v, %v", link, err)
	}
	return link.Query().Get("code")
}

func TestLink_SignsInOnce(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		token := hub.token("alice", wire.ScopeWriteConfig)
		code := hub.with(token).link("/@acme/web")
		// Whoever looks at it uses nothing up.
		before := hub.dump()
		for range 3 {
			if text := string(hub.with("").get("/link?code=" + code).want(200).body); !strings.Contains(text,
				"Sign in as alice") || !strings.Contains(text, "/@acme/web") {
				t.Errorf("%s", text)
			}
			hub.with("").do("HEAD", "/link?code="+code, nil).want(200)
		}
		if after := hub.dump(); after != before {
			t.Errorf("looking at a link changes something:\n%s\n%s", before, after)
		}
		a := hub.with("").post("/link", form("code", code)).want(303)
		if a.header.Get("Location") != "/@acme/web" {
			t.Errorf("%v", a.header)
		}
		alice := a.signedIn(hub)
		if me := decoded[wire.Whoami](alice.get("/v1/whoami").want(200)); me.User != "alice" || len(me.Scopes) != 1 ||
			me.TokenName != "test" {
			t.Errorf("%+v", me)
		}
		for range 2 {
			if text := string(hub.with("").post("/link", form("code", code)).want(404).body); !strings.Contains(text,
				"was used already") {
				t.Errorf("%s", text)
			}
		}
		hub.with("").get("/link?code=" + code).want(404)
		secret := code
		if strings.Contains(hub.log.String(), secret) || strings.Contains(hub.dump(), secret) {
			t.Error("the secret of the link is stored")
		}
		hub.revoke(token)
		alice.get("/v1/whoami").problem(401, wire.CodeNotSignedIn)
	})
}

func TestLink_OfNoUse(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		old, revoked := hub.as("alice").link("/"), hub.token("alice")
		hub.sql("UPDATE links SET expires_at = created_at")
		void, known := hub.with(revoked).link("/"), hub.as("alice").link("/")
		hub.revoke(revoked)
		for code, why := range map[string]string{
			old: "has expired", void: "no longer valid", known + "x": "no such link", known[:len(known)-1]: "no such link",
			"": "no such link", "sam" + strings.TrimPrefix(known, "alice"): "no such link",
			"alice." + strings.Repeat("x", 43): "no such link", `<script>`: "no such link", "../" + known: "no such link",
		} {
			for _, a := range []*answer{hub.with("").get("/link?code=" + url.QueryEscape(code)),
				hub.with("").post("/link", form("code", code))} {
				if text := string(a.want(404).body); !strings.Contains(text, why) || strings.Contains(text, "<script>") {
					t.Errorf("%q: %s", code, text)
				}
			}
		}
		if n := hub.count("SELECT count(*) FROM sessions"); n != 0 {
			t.Errorf("%d sessions", n)
		}
		hub.write(func(tx *store.Tx) error { _, err := tx.SetDisabled("alice", true); return err })
		hub.with("").post("/link", form("code", known)).want(404)
	})
}

func TestLink_IsUsedOnceAcrossReplicas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		hub := newHub(t, address, nil)
		hubs := []*testHub{hub, newHub(t, address, nil)}
		for range 5 {
			code := hub.as("alice").link("/")
			var in, out atomic.Int32
			var group sync.WaitGroup
			for i := range 10 {
				group.Go(func() {
					a, err := hubs[i%2].with("").try("POST", "/link", form("code", code))
					if err != nil {
						t.Error(err)
						return
					}
					switch a.status {
					case 303:
						in.Add(1)
					case 404:
						out.Add(1)
					}
				})
			}
			group.Wait()
			if in.Load() != 1 || out.Load() != 9 {
				t.Errorf("%d signed in, %d did not", in.Load(), out.Load())
			}
		}
	})
}

func TestLink_CreationIsChecked(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		for _, page := range []string{"//evil.example", `/\evil`, "https://evil.example", "x"} {
			hub.as("alice").post("/v1/links", wire.CreateLink{Page: page}).problem(422, wire.CodeInvalidBody)
		}
		hub.as("alice").post("/v1/links", `{"user": "sam"}`).problem(422, wire.CodeInvalidBody)
		hub.as("alice").post("/v1/links", `{}`).want(201)
		hub.session("alice").post("/v1/links", `{}`).problem(403, wire.CodeNotPermitted)
		hub.with("").post("/v1/links", `{}`).problem(401, wire.CodeUnauthorized)
		for range 99 {
			hub.as("alice").link("/")
		}
		p := hub.as("alice").post("/v1/links", `{}`)
		p.problem(429, wire.CodeRateLimited)
		if p.header.Get("Retry-After") != "60" {
			t.Errorf("%v", p.header)
		}
		for body, pointer := range map[string]string{
			`{"account": "acme", "role": "owner"}`: "/role", `{"account": "acme"}`: "/role",
			`{"account": "ACME", "role": "reader"}`: "/account", `{"account": "anna", "role": "reader"}`: "/account",
		} {
			if p := hub.as("anna").post("/v1/invitations", body).problem(422,
				wire.CodeInvalidBody); p.Errors[0].Pointer != pointer {
				t.Errorf("%s: %+v", body, p)
			}
		}
	})
}

func TestInvitation_CreatesAccountOrJoins(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		anna := hub.as("anna")
		code := anna.invitation(wire.Writer)
		if text := string(hub.with("").get("/link?code=" + code).want(200).body); !strings.Contains(text, "Join @acme") ||
			!strings.Contains(text, `name="name"`) {
			t.Errorf("%s", text)
		}
		// What is not accepted leaves the invitation as it is.
		for _, name := range []string{"", "Nora", "-", "sam", "acme", "a/b", strings.Repeat("x", 65)} {
			a := hub.with("").post("/link", form("code", code, "name", name)).want(422)
			if text := string(a.body); !strings.Contains(text, `role="alert"`) || a.header.Get("Set-Cookie") != "" {
				t.Errorf("%q: %v %s", name, a.header, text)
			}
		}
		a := hub.with("").post("/link", form("code", code, "name", " nora ")).want(303)
		if a.header.Get("Location") != "/@acme" {
			t.Errorf("%v", a.header)
		}
		nora := decoded[wire.Whoami](a.signedIn(hub).get("/v1/whoami").want(200))
		if nora.User != "nora" || len(nora.Scopes) != len(wire.Scopes) ||
			fmt.Sprint(nora.Accounts) != "[{acme writer} {nora admin}]" {
			t.Errorf("%+v", nora)
		}
		hub.with("").post("/link", form("code", code, "name", "other")).want(404)

		// A user of the hub joins, and keeps a higher role.
		sam := hub.session("sam")
		code = anna.invitation(wire.Reader)
		if text := string(sam.get("/link?code=" + code).want(200).body); !strings.Contains(text, "Join as sam") {
			t.Errorf("%s", text)
		}
		if a := sam.post("/link", form("code", code, "name", "ignored")).want(303); a.header.Get("Set-Cookie") != "" {
			t.Errorf("%v", a.header)
		}
		if me := decoded[wire.Whoami](sam.get("/v1/whoami")); fmt.Sprint(me.Accounts) != "[{acme reader} {sam admin}]" {
			t.Errorf("%+v", me)
		}
		code = anna.invitation(wire.Reader)
		hub.session("alice").post("/link", form("code", code)).want(303)
		if me := decoded[wire.Whoami](hub.as("alice").get("/v1/whoami")); me.Accounts[0].Role != wire.Writer {
			t.Errorf("%+v", me)
		}
	})
}

func TestInvitation_EndsWithRightsOfItsCreator(t *testing.T) {
	for name, end := range map[string]func(hub *testHub, token string){
		"the role":    func(hub *testHub, _ string) { hub.demote("anna") },
		"the token":   func(hub *testHub, token string) { hub.revoke(token) },
		"the account": func(hub *testHub, _ string) { hub.disable("anna") },
		"the org":     func(hub *testHub, _ string) { hub.disable("acme") },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, hub *testHub) {
				token := hub.token("anna", wire.ScopeAdminResource)
				code := hub.with(token).invitation(wire.Admin)
				end(hub, token)
				a := hub.with("").post("/link", form("code", code, "name", "nora")).want(404)
				if n := hub.count("SELECT count(*) FROM accounts WHERE name = 'nora'"); n != 0 ||
					!strings.Contains(string(a.body), "no longer valid") {
					t.Errorf("%d accounts, %s", n, a.body)
				}
			})
		})
	}
}

// An invitation is accepted while the rights of the admin who sent it are taken away.
func TestInvitation_EndsWithRightsThatAreTakenAwayMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		code := hub.as("anna").invitation(wire.Admin)
		var accepted sync.WaitGroup
		hub.write(func(tx *store.Tx) error {
			err := tx.SetMember("acme", "anna", "reader")
			accepted.Go(func() {
				a, err := hub.with("").try("POST", "/link", form("code", code, "name", "nora"))
				if err != nil || a.status != 404 {
					t.Errorf("%v, %+v", err, a)
				}
			})
			hub.awaitLock()
			return err
		})
		accepted.Wait()
		if n := hub.count("SELECT count(*) FROM accounts WHERE name = 'nora'"); n != 0 {
			t.Errorf("%d accounts", n)
		}
	})
}

func TestInvitation_EndsWithEverythingOfItsCreator(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		code := hub.session("anna").invitation(wire.Admin) // behind which is no token
		kept := hub.session("sam")
		hub.write(func(tx *store.Tx) error { return tx.SetMember("acme", "sam", "admin") })
		other := kept.invitation(wire.Reader)
		hub.write(func(tx *store.Tx) error { _, err := tx.RevokeTokensOf("anna"); return err })
		hub.with("").post("/link", form("code", code, "name", "nora")).want(404)
		hub.with("").post("/link", form("code", other, "name", "nils")).want(303)
	})
}

func TestNewLink_IsWhatTheHubTakes(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		address, hash := api.NewLink(publicURL)
		hub.write(func(tx *store.Tx) error {
			return tx.CreateLink(&store.Link{Account: "sam", Hash: hash, Kind: store.LinkSignIn, Scopes: "write:config",
				Page: "/"}, store.AccountLinkLife)
		})
		code := strings.TrimPrefix(address, publicURL+"/link?code=")
		if pat.Hash(code) != hash {
			t.Error(address)
		}
		hub.with("").post("/link", form("code", code)).want(303).signedIn(hub).get("/v1/whoami").want(200)
	})
}

func TestForms_RefuseOtherBodies(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	forms := 0
	for _, e := range endpoints {
		if len(e.Accepts) != 1 || e.Accepts[0] != wire.FormType {
			continue
		}
		forms++
		anna, path := hub.session("anna"), strings.NewReplacer("{account}", "acme", "{slug}", "web").Replace(e.Path)
		anna.post(path, `{}`).want(415)
		anna.post(path, form("code", strings.Repeat("x", 20<<10))).want(413)
		anna.post(path, typed{wire.FormType, []byte("code=%zz")}).want(400)
		anna.post(path, typed{wire.FormType, []byte("a=b;c=d")}).want(400)
	}
	if forms < 2 {
		t.Errorf("%d forms", forms)
	}
}

func TestBrowser_UsesLink(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	code := hub.as("alice").link("/@acme/web")
	b := newBrowser(t)
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web"))
	if text := do(t, b, chromedp.Text(chromedp.CSS("main"))); !strings.Contains(text, "private, or it does not exist") {
		t.Errorf("%s", text)
	}
	do(t, b, chromedp.Navigate(hub.url+"/link?code="+code))
	do(t, b, chromedp.Click(chromedp.CSS("main form button")))
	do(t, b, chromedp.WaitVisible(".who summary"))
	if path := do(t, b, chromedp.Evaluate[string](`location.pathname`)); path != "/@acme/web" {
		t.Errorf("it opens %s", path)
	}
}

func TestBrowser_ReturnsToPrivateProjectAfterSigningIn(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	b := newBrowser(t)
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web"))
	do(t, b, chromedp.Click(chromedp.CSS("main a.button.primary")))
	do(t, b, chromedp.SendKeys(chromedp.CSS("#token"), hub.token("rita")+"\r"))
	do(t, b, chromedp.WaitVisible(".who summary"))
	if path := do(t, b, chromedp.Evaluate[string](`location.pathname`)); path != "/@acme/web" {
		t.Errorf("it returns to %s", path)
	}
}
