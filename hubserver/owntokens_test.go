package hubserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

const tokens = "/v1/tokens"

// create returns a new token of c, and c's user with it.
func (c *caller) create(request wire.CreateToken) (wire.CreatedToken, *caller) {
	c.hub.Helper()
	created := decoded[wire.CreatedToken](c.post(tokens, request).want(201))
	return created, c.hub.with(created.Token)
}

func onlyProject(account, slug string) wire.Restriction {
	r, _ := ref.New(account, slug)
	return wire.Restriction{Project: r}
}

func TestOwnTokens_CreateListRevoke(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.with(hub.token("alice", wire.Scopes...))
		created, mine := alice.create(wire.CreateToken{Name: "laptop", Scopes: []wire.Scope{wire.ScopeWriteConfig}})
		if !pat.Valid(created.Token) || created.ExpiresAt == nil || created.Self ||
			!slices.Equal(created.Scopes, []wire.Scope{wire.ScopeWriteConfig}) {
			t.Errorf("%+v", created)
		}
		mine.get("/v1/whoami").want(200)
		list := func(c *caller) (names []string) {
			for _, info := range decoded[wire.Tokens](c.get(tokens).want(200)).Tokens {
				name := info.Name
				if info.Self {
					name += " self"
				}
				names = append(names, name)
			}
			return names
		}
		if got := list(mine); !slices.Contains(got, "laptop self") || len(got) != 2 {
			t.Errorf("%q", got)
		}
		mine.delete(tokens+"/0123456789ab").problem(403, wire.CodeMissingScope)
		alice.delete(tokens+"/0123456789ab").problem(404, wire.CodeNotFound)
		hub.as("anna").delete(tokens+"/"+created.ID).problem(404, wire.CodeNotFound)
		_, other := alice.create(wire.CreateToken{Name: "other", Scopes: []wire.Scope{wire.ScopeWriteConfig}})
		childInfo, child := other.create(wire.CreateToken{Name: "child", Scopes: []wire.Scope{wire.ScopeWriteConfig}})
		grandchild, _ := child.create(wire.CreateToken{Name: "grandchild"})
		born := []wire.TokenName{{ID: childInfo.ID, Name: "child"}, {ID: grandchild.ID, Name: "grandchild"}}
		for range 2 {
			if got := decoded[wire.RevokedToken](alice.delete(tokens + "/" + created.ID).want(200)); got.AlsoRevoked != nil {
				t.Errorf("%+v", got)
			}
		}
		mine.get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
		if got := decoded[wire.RevokedToken](other.delete(tokens + "/self").want(200)); !got.Self || got.Name != "other" ||
			!slices.Equal(got.AlsoRevoked, born) {
			t.Errorf("%+v", got)
		}
		child.get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
		if got := list(alice); len(got) != 1 || !strings.HasSuffix(got[0], " self") {
			t.Errorf("%q", got)
		}
		if n := hub.count(
			"SELECT count(*) FROM audit WHERE action = 'token.revoke'"); n != 4 { // not again for one that was revoked before
			t.Errorf("%d rows of the audit", n)
		}
		for _, token := range born {
			if n := hub.count(fmt.Sprintf(
				"SELECT count(*) FROM audit WHERE action = 'token.revoke' AND object = '%s' AND actor = 'alice' AND account = 'alice' AND detail = 'revoked with %s'", token.ID, pat.ID(other.token))); n != 1 {
				t.Errorf("%d rows of the audit about %s", n, token.Name)
			}
		}
	})
}

func TestOwnTokens_HaveNoMoreThanTheCallersToken(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		for _, own := range wire.Scopes {
			caller := hub.with(hub.token("anna", own))
			for _, asked := range wire.Scopes {
				a := caller.post(tokens, wire.CreateToken{Name: "x", Scopes: []wire.Scope{asked}})
				if has := wire.HasScope([]wire.Scope{own}, asked); has != (a.status == 201) {
					t.Errorf("a token with %s creates one with %s: %d", own, asked, a.status)
				}
			}
		}
		hub.with(hub.token("anna")).post(tokens, wire.CreateToken{Name: "x"}).problem(403, wire.CodeMissingScope)
		end := time.Now().Add(10 * 24 * time.Hour)
		brief := hub.with(hub.tokenUntil("anna", store.At(end), wire.Scopes...))
		for _, lifetime := range []string{"never", "11d"} {
			brief.post(tokens, wire.CreateToken{Name: "x", Lifetime: lifetime}).problem(403, wire.CodeNotPermitted)
		}
		if got, _ := brief.create(wire.CreateToken{Name: "x"}); got.ExpiresAt == nil || got.ExpiresAt.After(end) {
			t.Errorf("%+v", got)
		}
		for name, body := range map[string]string{"/name": `{"name": ""}`, "/scopes": `{"name": "x", "scopes": ["all"]}`,
			"/lifetime": `{"name": "x", "lifetime": "soon"}`, "/account": `{"name": "x", "account": "ACME"}`} {
			if got := brief.post(tokens, body).problem(422, wire.CodeInvalidBody); got.Errors[0].Pointer != name {
				t.Errorf("%s: %+v", body, got)
			}
		}
	})
}

func TestOwnTokens_OfBotsCreateNone(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.as("anna").put("/v1/bots/acme/ci", nil).want(201)
		bot := hub.with(decoded[wire.BotToken](
			hub.as("anna").post("/v1/bots/acme/ci/tokens", `{"name": "ci", "scopes": ["write:config"]}`).want(201)).Token)
		bot.post(tokens, wire.CreateToken{Name: "x"}).problem(403, wire.CodeNotPermitted)
		bot.get(tokens).problem(403, wire.CodeNotPermitted)
		bot.delete(tokens+"/0123456789ab").problem(403, wire.CodeNotPermitted)
		bot.delete("/v1/sessions/0123456789ab").problem(403, wire.CodeNotPermitted)
		bot.delete(tokens + "/self").want(200)
		bot.get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
	})
}

// A restricted token is answered as that of sam, who has no role, on every route that
// the matrix knows, unless the route is about what the token is restricted to.
func TestRestrictedToken_IsAStrangerElsewhere(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		m := &matrix{testHub: hub}
		m.furnish("acme") // of which anna is admin
		m.furnish("anna")
		all := wire.Scopes
		_, toAccount := hub.as("anna").create(
			wire.CreateToken{Name: "a", Scopes: all, Restriction: wire.Restriction{Account: "anna"}})
		_, toProject := hub.as("anna").create(
			wire.CreateToken{Name: "p", Scopes: all, Restriction: onlyProject("anna", "private")})
		m.account = "acme"
		stranger := hub.as("sam")
		n := 0
		for route, r := range rows {
			method, _, _ := strings.Cut(route, " ")
			if r.open || r.role == "" {
				continue
			}
			if strings.HasSuffix(route, "/events") {
				method = "HEAD"
			}
			for _, m.kind = range kinds {
				m.cell++
				path, body := r.request(m)
				want := outcomeOf(stranger.do(method, path, body))
				for name, c := range map[string]*caller{"account": toAccount, "project": toProject} {
					if n++; outcomeOf(c.do(method, path, body)) != want {
						t.Errorf("%s of acme (%s) with a token restricted to another %s: not %v", route, m.kind, name, want)
					}
				}
			}
		}
		t.Logf("%d cells", n)
	})
}

func outcomeOf(a *answer) outcome {
	var p wire.Problem
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/problem") && len(a.body) > 0 {
		a.into(&p)
	}
	return outcome{a.status, p.Code}
}

func TestRestrictedToken_WorksOnItsProjectAlone(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		etag := hub.settings(`{"a": 1}`)
		hub.as("alice").post("/v1/projects", newProject("other")).want(201)
		created, c := hub.as("alice").create(
			wire.CreateToken{Name: "ci", Scopes: wire.Scopes, Restriction: onlyProject("acme", "web")})
		if created.Project != mustRef("@acme/web") {
			t.Errorf("%+v", created)
		}
		c.get(web).want(200)
		c.get(config + "/history").want(200)
		c.patch(config, `{"set": {"a": 2}}`, header{"If-Match": etag}).want(200)
		c.put(clientCfg, `{"settings": {"a": 3}}`).want(200)
		c.get("/@acme/web").want(200)
		c.get("/@acme/web/settings").want(200)
		c.get("/@acme/web/history").want(200)
		c.get(baseFiles + "/history").want(200)
		for _, path := range []string{"/v1/projects/acme/other", "/v1/projects/acme/none", "/v1/apis/acme/pets",
			"/v1/stacks/acme/site", "/v1/apis?account=acme", "/v1/bots?account=acme", "/v1/bots"} {
			c.get(path).problem(403, wire.CodeNotPermitted)
		}
		c.get("/@acme/other").want(404)
		c.patch(web, `{"api": {"account": "acme", "slug": "other"}}`).problem(403, wire.CodeNotPermitted)
		c.patch(web, `{"enforceSchema": true}`).problem(403, wire.CodeNotPermitted) // alice is a writer
		c.post("/v1/projects", newProject("new")).problem(403, wire.CodeNotPermitted)
		me := decoded[wire.Whoami](c.get("/v1/whoami").want(200))
		if len(me.Accounts) != 0 || !me.WritesTo(mustRef("@acme/web")) || me.WritesTo(mustRef("@acme/other")) {
			t.Errorf("%+v", me)
		}
		c.delete(web).want(200)
	})
}

// Two that hold a lock which both want to have alone would wait for each other.
func TestRevokeToken_ManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.with(hub.token("alice", wire.Scopes...))
		var ids []string
		for range 150 {
			created, _ := alice.create(wire.CreateToken{Name: "x"})
			ids = append(ids, created.ID)
		}
		var all sync.WaitGroup
		for _, id := range ids {
			all.Go(func() {
				if a, err := alice.try("DELETE", tokens+"/"+id, nil); err != nil || a.status != 200 {
					t.Errorf("%v %+v", err, a)
				}
			})
		}
		all.Wait()
	})
}

// A token that is to do little could use up its owner's tokens, and its bot's tokens would
// outlast it.
func TestRestrictedToken_CreatesNoTokens(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("anna").put("/v1/bots/acme/ci", nil).want(201)
		created, c := hub.as("anna").create(
			wire.CreateToken{Name: "ci", Scopes: wire.Scopes, Restriction: wire.Restriction{Account: "acme"}})
		_, narrow := hub.as("anna").create(
			wire.CreateToken{Name: "narrow", Scopes: wire.Scopes, Restriction: onlyProject("acme", "web")})
		for _, restricted := range []*caller{c, narrow} {
			restricted.post(tokens, wire.CreateToken{Name: "x", Restriction: onlyProject("acme", "web")}).problem(403,
				wire.CodeNotPermitted)
			restricted.post("/v1/bots/acme/ci/tokens", wire.CreateBotToken{Name: "x"}).problem(403, wire.CodeNotPermitted)
			restricted.post("/v1/invitations", wire.CreateInvitation{Account: "acme", Role: wire.Admin}).problem(403,
				wire.CodeNotPermitted)
			restricted.put("/v1/members/acme/rita", wire.SetMember{Role: wire.Admin}).problem(403, wire.CodeNotPermitted)
		}
		if got := decoded[wire.Tokens](narrow.get(tokens).want(200)).Tokens; len(got) != 1 || !got[0].Self {
			t.Errorf("%+v", got)
		}
		narrow.delete(tokens+"/"+created.ID).problem(404, wire.CodeNotFound)

		link := decoded[wire.Link](narrow.post("/v1/links", `{}`).want(201))
		_, code, _ := strings.Cut(link.URL, "code=")
		session := hub.browsing("").post("/link", form("code", code)).want(303).signedIn(hub)
		session.get(web).want(200)
		session.get("/v1/projects/acme/other").problem(403, wire.CodeNotPermitted)
		session.get("/v1/apis/acme/pets").problem(403, wire.CodeNotPermitted)
		page := string(session.get("/tokens").want(200).shows(
			"This session is restricted to @acme/web: it creates no tokens.").body)
		if !strings.Contains(page, "only @acme/web") || strings.Contains(page, "only @acme<") ||
			strings.Contains(page, "Create token") {
			t.Error(page)
		}
		session.delete(tokens+"/"+created.ID).problem(404, wire.CodeNotFound)
		other := hub.session("anna")
		narrow.delete(sessions + pat.Hash(strings.Split(other.cookie, "=")[1])[:12]).want(200)
		other.get("/v1/whoami").want(200)
		c.get("/v1/whoami").want(200)
		session.post(tokens, wire.CreateToken{Name: "minted"}).problem(403, wire.CodeNotPermitted)
		session.post("/device", hub.terminal().approval("write:config")).want(403).shows("creates no tokens")
		if n := hub.count("SELECT count(*) FROM tokens WHERE name NOT IN ('test', 'ci', 'narrow')"); n != 0 {
			t.Errorf("%d tokens were created", n)
		}
	})
}

// A former project of the name is another one.
func TestRestrictedToken_RestoresNothing(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").delete(web).want(200)
		hub.as("alice").post("/v1/projects", newProject("web")).want(201)
		_, only := hub.as("alice").create(
			wire.CreateToken{Name: "p", Scopes: wire.Scopes, Restriction: onlyProject("acme", "web")})
		only.post(web+"/restore", `{"as": "former"}`).problem(403, wire.CodeNotPermitted)
		only.post(web+"/restore", nil).problem(403, wire.CodeNotPermitted)
		_, whole := hub.as("alice").create(
			wire.CreateToken{Name: "a", Scopes: wire.Scopes, Restriction: wire.Restriction{Account: "acme"}})
		whole.post(web+"/restore", `{"as": "former"}`).want(200)
	})
}

func TestRestrictedToken_ListsItsProject(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").post("/v1/projects", newProject("other")).want(201)
		hub.as("alice").post("/v1/projects", newProject("public")).want(201)
		hub.as("alice").patch("/v1/projects/acme/public", `{"visibility": "public"}`).want(200)
		_, c := hub.as("alice").create(wire.CreateToken{Name: "ci", Restriction: onlyProject("acme", "web")})
		for _, query := range []string{"", "?account=acme", "?limit=1&cursor=@acme/public"} {
			list := decoded[wire.Projects](c.get("/v1/projects" + query).want(200)).Projects
			var slugs []string
			for _, p := range list {
				slugs = append(slugs, p.Project.Slug())
			}
			if !slices.Contains(slugs, "web") || slices.Contains(slugs, "other") {
				t.Errorf("%q: %q", query, slugs)
			}
		}
		if list := decoded[wire.Projects](c.get("/v1/projects?account=alice").want(200)).Projects; len(list) != 0 {
			t.Errorf("%+v", list)
		}
		c.get("/").want(200).shows("/@acme/web")
		c.get("/@acme").want(200).shows("/@acme/web")
	})
}

func TestTokenExpires_IsOnEveryResponseToATokenThatExpires(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		end := time.Now().Add(time.Hour)
		brief := hub.with(hub.tokenUntil("alice", store.At(end), wire.Scopes...))
		for _, a := range []*answer{brief.get("/v1/whoami").want(200), brief.get("/v1/projects/acme/none").want(404),
			brief.get("/v1/bots?account=sam").want(403), brief.get("/v1/projects?limit=x").want(422)} {
			if got, err := http.ParseTime(a.header.Get(wire.TokenExpires)); err != nil || !got.Equal(end.Truncate(time.Second)) {
				t.Errorf("%s: %v, %v", a.call, got, err)
			}
		}
		expired := hub.with(hub.tokenUntil("alice", yesterday()))
		if got := expired.get("/v1/whoami").want(401).header.Get(wire.TokenExpires); got == "" {
			t.Error("an expired token has no such field")
		}
		for _, c := range []*caller{hub.as("alice"), hub.with("")} {
			if got := c.get("/v1/whoami").header.Get(wire.TokenExpires); got != "" {
				t.Errorf("%q", got)
			}
		}
	})
}
