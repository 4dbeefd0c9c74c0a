package request_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

// fixture is a hub with anna, who is an admin of acme, bob, who reads it, sam, who has nothing, and
// the bot @acme/ci. acme has the projects web and open, which is public, and the API pets.
type fixture struct {
	*testing.T
	hub    *request.Hub
	store  *store.Store
	router *httprouter.Router
	log    bytes.Buffer
	tokens map[string]string
}

func each(t *testing.T, f func(f *fixture)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		t.Parallel()
		s, err := store.Open(t.Context(), address, store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if _, err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		fx := &fixture{T: t, store: s, router: httprouter.New(), tokens: map[string]string{}}
		fx.hub, err = request.New(request.Config{
			Store: s, PublicURL: "https://hub.example", Version: "1.2.3", Limits: request.DefaultLimits,
			Log: slog.New(slog.NewTextHandler(&fx.log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		fx.exec("INSERT INTO accounts (id, name, kind, created_at) VALUES " +
			"(1, 'acme', 'org', 1), (2, 'anna', 'user', 1), (3, 'bob', 'user', 1), (4, 'sam', 'user', 1)")
		fx.exec("INSERT INTO members (account_id, user_id, role) VALUES (1, 2, 'admin'), (1, 3, 'reader')")
		fx.exec("INSERT INTO bots (id, account_id, bot_ref_id, created_at, created_by, updated_at, updated_by) " +
			"VALUES (7, 1, '@acme/ci', 1, 'anna', 1, 'anna')")
		fx.exec("INSERT INTO resources (id, account_id, kind, slug, created_at, created_by) VALUES " +
			"(10, 1, 'project', 'web', 1, 'anna'), (11, 1, 'project', 'open', 1, 'anna'), " +
			"(12, 1, 'stack', 'site', 1, 'anna'), (13, 1, 'api', 'pets', 1, 'anna')")
		fx.exec("INSERT INTO stacks (id, latest, newest) VALUES (12, '', '')")
		fx.exec("INSERT INTO apis (id, title, version, format, media_type, document, json, targets) " +
			"VALUES (13, '', '', '', '', '', '', '')")
		fx.exec("INSERT INTO projects (id, stack_id, stack_version, api_id, visibility) VALUES " +
			"(10, 12, 'latest', 13, 'private'), (11, 12, 'latest', 13, 'public')")
		all := strings.Join([]string{
			string(wire.ScopeWriteConfig), string(wire.ScopeWriteCatalog), string(wire.ScopeAdminResource),
		}, " ")
		fx.token("anna", 2, all)
		fx.token("bob", 3, all)
		fx.token("sam", 4, all)
		fx.token("reading", 2, "")
		fx.token("ci", 1, all)
		fx.exec("UPDATE tokens SET bot_id = 7 WHERE name = 'ci'")
		f(fx)
	})
}

func (f *fixture) exec(text string, args ...any) {
	f.Helper()
	err := f.store.DB.Write(f.Context(), func(tx *sqldb.Tx) error {
		for statement := range strings.SplitSeq(text, "; ") {
			if _, err := tx.Exec(statement, args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		f.Fatal(text, err)
	}
}

func (f *fixture) count(text string) (n int) {
	f.Helper()
	if err := f.store.View(f.Context()).One(sqldb.Row(&n), text); err != nil {
		f.Fatal(text, err)
	}
	return n
}

func (f *fixture) token(name string, account int64, scopes string) {
	token := pat.New()
	f.tokens[name] = token
	f.exec("INSERT INTO tokens (hash, shown, name, account_id, scopes, created_at) VALUES (?, ?, ?, ?, ?, 1)",
		pat.Hash(token), pat.Shown(token), name, account, scopes)
}

// handle serves an endpoint with h.
func (f *fixture) handle(op wire.Op, h request.Handler) {
	e := op.Endpoint()
	f.router.Handle(e.Method, request.Pattern(e), f.hub.Handle(e.Method, e, h))
}

// send sends a request with the token of that name, "" for none.
func (f *fixture) send(who, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if token := f.tokens[who]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.router.ServeHTTP(w, r)
	return w
}

// want checks a response: its status, and for a problem its code and a part of its detail.
func (f *fixture) want(w *httptest.ResponseRecorder, status int, code wire.Code, detail string) {
	f.Helper()
	var p wire.Problem
	if status >= 400 {
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			f.Errorf("%s: %v", w.Body, err)
		}
	}
	if w.Code != status || p.Code != code || !strings.Contains(p.Detail, detail) {
		f.Errorf("got %d %s, want %d %s %q", w.Code, w.Body, status, code, detail)
	}
}

func ok(c *request.Call) error {
	if err := c.NeedResource(); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"id": c.Resource.ID})
}

func TestHandle_AdmitsInOrder(t *testing.T) {
	each(t, func(f *fixture) {
		f.handle(wire.OpGetProject, ok)
		f.handle(wire.OpDeleteProject, ok)
		f.handle(wire.OpGetAPI, ok)
		f.handle(wire.OpListMembers, func(c *request.Call) error {
			return c.JSON(http.StatusOK, map[string]any{"id": c.Access.AccountID, "name": c.AccountInQuery()})
		})
		const web, open, members = "/v1/projects/acme/web", "/v1/projects/acme/open", "/v1/members"
		f.tokens["unknown"], f.tokens["malformed"] = pat.New(), "x"
		for _, c := range []struct {
			who, method, path string
			status            int
			code              wire.Code
			detail            string
		}{
			{"", "GET", web, 401, wire.CodeUnauthorized, "this needs a token"},
			{"malformed", "GET", open, 401, wire.CodeUnauthorized, "has no valid token"},
			{"unknown", "GET", open, 401, wire.CodeUnauthorized, "does not know the token"},
			{"sam", "GET", web, 403, wire.CodeNotPermitted, "sam may not read from acme"},
			{"sam", "GET", "/v1/projects/acme/gone", 403, wire.CodeNotPermitted, "sam may not read from acme"},
			{"sam", "GET", "/v1/projects/none/gone", 403, wire.CodeNotPermitted, "sam may not read from none"},
			{"sam", "GET", "/v1/projects/-/gone", 403, wire.CodeNotPermitted, `sam may not read from "-"`},
			{"bob", "DELETE", web, 403, wire.CodeNotPermitted, "bob is a reader in acme; only writers and admins can do this"},
			{"reading", "DELETE", web, 403, wire.CodeMissingScope, "the token lacks the scope admin:resource"},
			{"anna", "GET", "/v1/projects/acme/-", 404, wire.CodeNotFound, "there is no /v1/projects/acme/-"},
			{"anna", "GET", "/v1/projects/acme/gone", 404, wire.CodeNotFound, "there is no project @acme/gone"},
			{"anna", "GET", "/v1/projects/acme/pets", 404, wire.CodeNotFound, "there is no project @acme/pets"},
			{"anna", "GET", "/v1/apis/acme/web", 404, wire.CodeNotFound, "there is no API @acme/web"},
			{"anna", "GET", "/v1/apis/acme/pets", 200, "", ""},
			{"anna", "DELETE", web, 200, "", ""},
			{"ci", "GET", web, 200, "", ""},
			{"ci", "GET", "/v1/projects/anna/web", 403, wire.CodeNotPermitted, "@acme/ci may not read from anna"},
			{"bob", "GET", web, 200, "", ""},
			{"sam", "GET", open, 200, "", ""},
			{"", "GET", open, 200, "", ""},
			{"anna", "GET", members, 200, "", ""},
			{"anna", "GET", members + "?account=acme", 200, "", ""},
			{"anna", "GET", members + "?account=sam&x=%zz", 403, wire.CodeNotPermitted, "anna may not read from sam"},
			{"anna", "GET", members + "?account=acme&x=%zz", 400, wire.CodeInvalidBody, "malformed query"},
			{"anna", "GET", web + "?x=%zz", 400, wire.CodeInvalidBody, "malformed query"},
		} {
			f.Logf("%s %s %s", c.who, c.method, c.path)
			f.want(f.send(c.who, c.method, c.path, ""), c.status, c.code, c.detail)
		}
		for query, want := range map[string]string{
			"": `{"id":2,"name":"anna"}`, "?account=acme": `{"id":1,"name":"acme"}`,
		} {
			if got := f.send("anna", "GET", members+query, "").Body.String(); strings.TrimSpace(got) != want {
				f.Errorf("members%s: %s, want %s", query, got, want)
			}
		}
		f.want(f.send("anna", "DELETE", web, "", "Sec-Fetch-Site", "cross-site"), 403, wire.CodeCrossSite, "")
	})
}

func TestHandle_RestrictedTokens(t *testing.T) {
	each(t, func(f *fixture) {
		f.handle(wire.OpGetProject, ok)
		f.handle(wire.OpListMembers, ok)
		f.exec("UPDATE tokens SET only_account_id = 1, resource_id = 10 WHERE name = 'anna'")
		f.want(f.send("anna", "GET", "/v1/projects/acme/web", ""), 200, "", "")
		f.want(f.send("anna", "GET", "/v1/projects/acme/open", ""), 200, "", "") // as everybody
		for path, account := range map[string]string{
			"/v1/projects/acme/gone": "acme", "/v1/members?account=acme": "acme", "/v1/members": "anna",
		} {
			f.want(f.send("anna", "GET", path, ""), 403, wire.CodeNotPermitted, "anna may not read from "+account)
		}
	})
}

func TestHandle_Sessions(t *testing.T) {
	each(t, func(f *fixture) {
		f.handle(wire.OpGetProject, ok)
		secret := request.NewSecret()
		f.exec(`INSERT INTO sessions (id, hash, user_id, scopes, agent, address, created_at, expires_at, seen_at)
			VALUES (1, ?, 2, '', '', '', 1, 9000000000000000, 8000000000000000)`, pat.Hash(secret))
		cookie := f.hub.CookieName() + "=" + secret
		const web = "/v1/projects/acme/web"
		f.want(f.send("", "GET", web, "", "Cookie", cookie), 200, "", "")
		f.want(f.send("", "GET", web, "", "Cookie", cookie+"x"), 401, wire.CodeNotSignedIn, "")
		f.want(f.send("", "GET", web, "", "Cookie", cookie+"; "+cookie), 401, wire.CodeNotSignedIn, "")
		f.exec("UPDATE sessions SET seen_at = 1")
		f.want(f.send("", "GET", web, "", "Cookie", cookie), 401, wire.CodeNotSignedIn, "")
	})
}

func TestHandle_CountsRequestsOfBots(t *testing.T) {
	each(t, func(f *fixture) {
		f.handle(wire.OpGetProject, ok)
		f.handle(wire.OpTakeRateLimit, func(c *request.Call) error { return c.JSON(200, "") })
		counted := 0
		f.hub.CountBot = func(c *request.Call) error {
			if counted++; counted > 2 {
				return store.ErrNotFound
			}
			return nil
		}
		for range 2 {
			f.want(f.send("ci", "GET", "/v1/projects/acme/web", ""), 200, "", "")
			f.want(f.send("ci", "POST", "/v1/rate-limit/take", ""), 200, "", "")
			f.want(f.send("anna", "GET", "/v1/projects/acme/web", ""), 200, "", "")
		}
		f.want(f.send("ci", "GET", "/v1/projects/acme/web", ""), 401, wire.CodeUnauthorized, "does not know the token")
	})
}

func TestHandle_PanicIsAProblemAndALogLine(t *testing.T) {
	each(t, func(f *fixture) {
		f.handle(wire.OpHealth, func(*request.Call) error { panic("oh " + f.tokens["anna"]) })
		f.handle(wire.OpReady, func(c *request.Call) error {
			_, _ = c.W.Write([]byte("begun"))
			return fmt.Errorf("it broke")
		})
		f.want(f.send("", "GET", "/healthz", ""), 500, wire.CodeInternal, "internal error")
		func() {
			defer func() {
				if recover() != http.ErrAbortHandler {
					f.Error("a response that was cut looks whole")
				}
			}()
			f.send("", "GET", "/readyz", "")
		}()
		log := f.log.String()
		for _, want := range []string{"msg=panic", "route=/healthz", "status=500", "cause=\"it broke\"", "cut=true"} {
			if !strings.Contains(log, want) {
				f.Errorf("the log lacks %s:\n%s", want, log)
			}
		}
		if strings.Contains(log, f.tokens["anna"]) {
			f.Error("a token was logged")
		}
	})
}

func TestSaveUses_NotesStaleTokens(t *testing.T) {
	each(t, func(f *fixture) {
		f.handle(wire.OpGetProject, ok)
		const used = "SELECT COUNT(*) FROM tokens WHERE used_at <> 0"
		for want := range 2 {
			if err := f.hub.SaveUses(f.Context()); err != nil || f.count(used) != want {
				f.Errorf("%d tokens were used, %v; want %d", f.count(used), err, want)
			}
			f.send("anna", "GET", "/v1/projects/acme/web", "")
		}
	})
}

func TestLook_FindsWhatTheCallerMayRead(t *testing.T) {
	each(t, func(f *fixture) {
		e := &wire.Endpoint{
			Op: "page", Method: http.MethodGet, Path: wire.ProjectPage + "/files", Account: wire.Anonymous, Returns: wire.HTML,
		}
		f.router.Handle(e.Method, request.Pattern(e), f.hub.Handle(e.Method, e, func(c *request.Call) error {
			if err := c.Look(); err != nil {
				return err
			}
			return c.JSON(http.StatusOK, map[string]any{"id": c.Resource.ID, "known": c.Access != nil, "role": c.Role()})
		}))
		f.tokens["unknown"] = pat.New()
		for _, c := range []struct{ who, project, want string }{
			{"anna", "acme/web", `{"id":10,"known":true,"role":"admin"}`},
			{"bob", "acme/web", `{"id":10,"known":true,"role":"reader"}`},
			{"sam", "acme/web", `{"id":0,"known":true,"role":""}`},
			{"sam", "acme/open", `{"id":11,"known":true,"role":""}`},
			{"", "acme/open", `{"id":11,"known":false,"role":""}`},
			{"unknown", "acme/open", `{"id":11,"known":false,"role":""}`},
			{"", "acme/web", `{"id":0,"known":false,"role":""}`},
			{"anna", "acme/gone", `{"id":0,"known":true,"role":"admin"}`},
			{"anna", "-/-", `{"id":0,"known":true,"role":""}`},
		} {
			w := f.send(c.who, "GET", "/@"+c.project+"/files", "")
			if got := strings.TrimSpace(w.Body.String()); w.Code != 200 || got != c.want {
				f.Errorf("%s looks at %s: %d %s, want %s", c.who, c.project, w.Code, got, c.want)
			}
		}
	})
}

func TestRecheck_EndsWithTheRights(t *testing.T) {
	each(t, func(f *fixture) {
		meanwhile := ""
		f.handle(wire.OpGetEvents, func(c *request.Call) error {
			if err := c.Recheck(); err != nil {
				return fmt.Errorf("nothing has changed: %w", err)
			}
			f.exec(meanwhile)
			if err := c.Recheck(); err != nil {
				return err
			}
			return c.JSON(http.StatusOK, "")
		})
		for _, c := range []struct {
			who, project, meanwhile string
			status                  int
			code                    wire.Code
		}{
			{"bob", "open", "DELETE FROM members WHERE user_id = 3", 200, ""}, // it is public
			{"", "open", "UPDATE members SET role = 'reader'", 200, ""},
			{"anna", "web", "UPDATE members SET role = 'writer'", 200, ""},
			{"anna", "web", "DELETE FROM members WHERE user_id = 2", 403, wire.CodeNotPermitted},
			{"ci", "web", "UPDATE tokens SET revoked_at = 1 WHERE name = 'ci'", 401, wire.CodeTokenRevoked},
			{"sam", "open", "UPDATE projects SET visibility = 'private' WHERE id = 11", 403, wire.CodeNotPermitted},
			{"", "open", "UPDATE projects SET visibility = 'public' WHERE id = 11", 401, wire.CodeUnauthorized}, // it was not
		} {
			meanwhile = c.meanwhile
			f.want(f.send(c.who, "GET", "/v1/projects/acme/"+c.project+"/events", ""), c.status, c.code, "")
		}
	})
}

func TestNeedResource_SaysThatAProjectWasDeleted(t *testing.T) {
	each(t, func(f *fixture) {
		f.handle(wire.OpGetProject, ok)
		f.hub.AddDeleted = func(_ *request.Call, project store.AccessQuery, p *request.Problem) {
			_ = p.WithHint("%s/%s was deleted", project.Account, project.Slug)
		}
		for who, want := range map[string]string{"anna": "acme/gone was deleted", "bob": ""} {
			var p wire.Problem
			w := f.send(who, "GET", "/v1/projects/acme/gone", "")
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Hint != want {
				f.Errorf("%s: %s", who, w.Body)
			}
		}
	})
}
