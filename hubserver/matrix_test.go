package hubserver_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// The matrix asks every route as everybody, with every scope, about something
// public, private and absent, and holds the answer against what the rows below
// say. A route that has no row fails the test.

// kind is what a request is about.
type kind string

var kinds = []kind{"public", "private", "absent"}

// outcome is a status, with the code of a problem.
type outcome struct {
	status int
	code   wire.Code
}

// row says what a route asks for, as the contract has it.
type row struct {
	open   bool      // for everyone, token or not
	public bool      // a public project is for everyone
	role   wire.Role // "": any good token
	scope  wire.Scope
	page   bool // HTML, which is absent for those who may not read
	some   bool // any scope is enough
	late   bool // the role is looked at after the scope, because the account is in the body

	request       func(m *matrix) (path string, body any)
	there, absent outcome
}

func ok(status int) outcome { return outcome{status: status} }

var gone = outcome{404, wire.CodeNotFound}

var rows = map[string]row{
	"GET /v1/whoami": {request: plainly("/v1/whoami"), there: ok(200), absent: ok(200)},
	"POST /v1/tokens": {some: true, request: func(*matrix) (string, any) { return "/v1/tokens", `{"name": "x"}` },
		there: ok(201), absent: ok(201)},
	"GET /v1/tokens":           {request: plainly("/v1/tokens"), there: ok(200), absent: ok(200)},
	"DELETE /v1/sessions/{id}": {request: plainly("/v1/sessions/0123456789ab"), there: ok(200), absent: ok(200)},
	"DELETE /v1/tokens/{id}": {scope: wire.ScopeAdminResource, request: plainly("/v1/tokens/0123456789ab"), there: gone,
		absent: gone},

	"GET /v1/members": {role: wire.Reader, request: (*matrix).members, there: ok(200), absent: ok(200)},
	"PUT /v1/members/{account}/{user}": {role: wire.Admin, scope: wire.ScopeAdminResource,
		request: func(m *matrix) (string, any) {
			return "/v1/members/" + m.org() + "/nobody", `{"role": "reader"}`
		}, there: gone, absent: gone},
	"DELETE /v1/members/{account}/{user}": {role: wire.Admin, scope: wire.ScopeAdminResource,
		request: func(m *matrix) (string, any) {
			return "/v1/members/" + m.org() + "/nobody", nil
		}, there: ok(200), absent: ok(200)},

	"GET /v1/projects": {request: func(m *matrix) (string, any) { return "/v1/projects?account=" + m.account, nil },
		there: ok(200), absent: ok(200)},
	"POST /v1/projects": {role: wire.Writer, scope: wire.ScopeWriteCatalog, late: true, request: (*matrix).create,
		there: ok(201), absent: outcome{422, wire.CodeStackNotPublished}},

	"GET /v1/projects/{account}/{slug}": {public: true, role: wire.Reader,
		request: project("", nil), there: ok(200), absent: gone},
	"PATCH /v1/projects/{account}/{slug}": {role: wire.Writer, scope: wire.ScopeWriteCatalog,
		request: project("", `{}`), there: ok(200), absent: gone},
	"DELETE /v1/projects/{account}/{slug}": {role: wire.Writer, scope: wire.ScopeAdminResource,
		request: (*matrix).doom, there: ok(200), absent: ok(200)},
	"POST /v1/projects/{account}/{slug}/restore": {role: wire.Writer, scope: wire.ScopeAdminResource,
		request: project("/restore", nil), there: ok(200), absent: gone},
	"GET /v1/deleted-projects": {role: wire.Writer,
		request: func(m *matrix) (string, any) { return "/v1/deleted-projects?account=" + m.account, nil }, there: ok(200),
		absent: ok(200)},
	"GET /v1/projects/{account}/{slug}/config": {public: true, role: wire.Reader,
		request: project("/config", nil), there: ok(200), absent: gone},
	"GET /v1/projects/{account}/{slug}/config/history": {role: wire.Reader,
		request: project("/config/history", nil), there: ok(200), absent: gone},
	"POST /v1/projects/{account}/{slug}/config/restore": {role: wire.Writer, scope: wire.ScopeWriteConfig,
		request: project("/config/restore", `{"revision": "`+strings.Repeat("0", 64)+`"}`),
		there:   outcome{428, wire.CodePreconditionRequired}, absent: gone},
	"PATCH /v1/projects/{account}/{slug}/config": {role: wire.Writer, scope: wire.ScopeWriteConfig,
		request: project("/config", `{}`), there: outcome{428, wire.CodePreconditionRequired}, absent: gone},
	"POST /v1/projects/{account}/{slug}/drafts": {role: wire.Reader, scope: wire.ScopeWriteConfig,
		request: project("/drafts", wire.CreateDraft{Base: store.NoConfig}), there: ok(201), absent: gone},
	"GET /v1/projects/{account}/{slug}/drafts/{draft}": {role: wire.Reader, request: (*matrix).draft,
		there: ok(200), absent: gone},
	"DELETE /v1/projects/{account}/{slug}/drafts/{draft}": {role: wire.Reader, scope: wire.ScopeWriteConfig,
		request: (*matrix).draft, there: ok(200), absent: gone},
	"PUT /v1/projects/{account}/{slug}/client-config": {role: wire.Writer, scope: wire.ScopeWriteConfig,
		request: project("/client-config", `{}`), there: ok(200), absent: gone},
	"POST /v1/projects/{account}/{slug}/client-config": {role: wire.Writer, scope: wire.ScopeWriteConfig,
		request: project("/client-config?dryRun=1", `{}`), there: ok(200), absent: gone},
	"GET /v1/projects/{account}/{slug}/preview/base-files": {public: true, role: wire.Reader,
		request: project("/preview/base-files", nil), there: ok(200), absent: gone},
	"PUT /v1/projects/{account}/{slug}/preview/base-files": {role: wire.Writer, scope: wire.ScopeWriteConfig,
		request: (*matrix).files, there: ok(200), absent: gone},
	"POST /v1/projects/{account}/{slug}/preview/base-files/plan": {role: wire.Writer, scope: wire.ScopeWriteConfig,
		request: project("/preview/base-files/plan", `{"tree": "`+strings.Repeat("0", 64)+`"}`), there: ok(200),
		absent: gone},
	"GET /v1/projects/{account}/{slug}/preview/base-files/archive": {public: true, role: wire.Reader,
		request: project("/preview/base-files/archive", nil), there: ok(200), absent: gone},
	"GET /v1/projects/{account}/{slug}/preview/stack": {role: wire.Reader,
		request: project("/preview/stack", nil), there: ok(200), absent: gone},
	"GET /v1/projects/{account}/{slug}/preview/api": {role: wire.Reader,
		request: project("/preview/api", nil), there: ok(200), absent: gone},
	"POST /v1/apis/upload": {role: wire.Writer, scope: wire.ScopeWriteCatalog,
		request: (*matrix).upload, there: ok(201), absent: ok(201)},
	"POST /v1/apis/import": {role: wire.Writer, scope: wire.ScopeWriteCatalog,
		late: true, request: (*matrix).fetch, there: outcome{422, wire.CodeAddressRefused},
		absent: outcome{422, wire.CodeAddressRefused}},
	"GET /v1/apis": {role: wire.Reader,
		request: func(m *matrix) (string, any) { return "/v1/apis?account=" + m.account, nil }, there: ok(200),
		absent: ok(200)},
	"GET /v1/apis/{account}/{slug}": {role: wire.Reader,
		request: named("/v1/apis", "pets", ""), there: ok(200), absent: gone},
	"GET /v1/apis/{account}/{slug}/document": {role: wire.Reader,
		request: named("/v1/apis", "pets", "/document"), there: ok(200), absent: gone},
	"PUT /v1/apis/{account}/{slug}/document": {role: wire.Writer, scope: wire.ScopeWriteCatalog,
		request: func(m *matrix) (string, any) {
			path, _ := named("/v1/apis", "pets", "/document")(m)
			return path, pets
		}, there: ok(200), absent: gone},
	"DELETE /v1/apis/{account}/{slug}": {role: wire.Writer, scope: wire.ScopeAdminResource,
		request: named("/v1/apis", "pets", ""), there: outcome{409, wire.CodeAPIInUse}, absent: ok(200)},
	"GET /v1/apis/{account}/{slug}/targets": {role: wire.Reader,
		request: named("/v1/apis", "pets", "/targets"), there: ok(200), absent: gone},
	"GET /v1/stacks/{account}/{slug}": {role: wire.Reader,
		request: named("/v1/stacks", "site", ""), there: ok(200), absent: gone},
	"PUT /v1/stacks/{account}/{slug}/versions/{version}": {role: wire.Writer, scope: wire.ScopeWriteCatalog,
		request: (*matrix).publish, there: ok(200), absent: ok(201)},
	"GET /v1/stacks/{account}/{slug}/versions/{version}": {role: wire.Reader,
		request: named("/v1/stacks", "site", "/versions/1.0.0"), there: ok(200), absent: gone},
	"GET /v1/stacks/{account}/{slug}/versions/{version}/bundle": {role: wire.Reader,
		request: named("/v1/stacks", "site", "/versions/1.0.0/bundle"), there: ok(200), absent: gone},
	"POST /v1/rate-limit": {role: wire.Writer, scope: wire.ScopeAdminResource,
		request: bot("new-", `{}`), there: ok(200), absent: ok(200)},
	"GET /v1/rate-limit": {role: wire.Reader, request: bot("none-", nil),
		there: ok(200), absent: gone},
	"POST /v1/rate-limit/take": {role: wire.Writer, scope: wire.ScopeUseLimit,
		request: botTake, there: ok(200), absent: gone},
	"GET /v1/bots": {role: wire.Reader,
		request: func(m *matrix) (string, any) { return "/v1/bots?account=" + m.account, nil }, there: ok(200),
		absent: ok(200)},
	"PUT /v1/bots/{account}/{slug}": {role: wire.Admin, scope: wire.ScopeAdminResource,
		request: (*matrix).bot, there: ok(200), absent: ok(201)},
	"POST /v1/bots/{account}/{slug}/tokens": {role: wire.Admin, scope: wire.ScopeAdminResource,
		request: (*matrix).botToken, there: ok(201), absent: gone},
	"DELETE /v1/bots/{account}/{slug}": {role: wire.Admin, scope: wire.ScopeAdminResource,
		request: (*matrix).doomedBot, there: ok(200), absent: ok(200)},
	"GET /v1/bots/{account}/{slug}/tokens": {role: wire.Admin, request: (*matrix).botTokens,
		there: ok(200), absent: gone},
	"DELETE /v1/bots/{account}/{slug}/tokens/{id}": {role: wire.Admin, scope: wire.ScopeAdminResource,
		request: (*matrix).revokedBotToken, there: ok(200), absent: gone},
	"GET /healthz": {open: true, request: plainly("/healthz"), there: ok(200),
		absent: ok(200)},
	"GET /readyz": {open: true, request: plainly("/readyz"), there: ok(200),
		absent: ok(200)},
	"GET /v1/openapi.json": {open: true, request: plainly("/v1/openapi.json"),
		there: ok(200), absent: ok(200)},
	"POST /v1/links": {request: func(*matrix) (string,
		any) {
		return "/v1/links", `{"page": "/@acme/web"}`
	}, there: ok(201), absent: ok(201)},
	"POST /v1/invitations": {role: wire.Admin, scope: wire.ScopeAdminResource,
		late: true, request: (*matrix).invite, there: ok(201), absent: ok(201)},
	"GET /link": {open: true, request: plainly("/link"), there: ok(404),
		absent: ok(404)},
	"POST /link": {open: true,
		request: func(*matrix) (string, any) { return "/link", form("code", "x") }, there: ok(404), absent: ok(404)},
	"POST /v1/device": {open: true,
		request: func(m *matrix) (string, any) { m.sql("DELETE FROM devices"); return "/v1/device", `{}` }, there: ok(200),
		absent: ok(200)},
	"POST /v1/device/token": {open: true,
		request: func(*matrix) (string, any) { return "/v1/device/token", `{"deviceCode": "x"}` },
		there:   outcome{400, wire.CodeExpiredToken}, absent: outcome{400, wire.CodeExpiredToken}},
	"GET /device": {open: true, request: plainly("/device"), there: ok(303),
		absent: ok(303)},
	"POST /device": {open: true,
		request: func(*matrix) (string, any) { return "/device", form("code", "x") }, there: ok(303), absent: ok(303)},
	"GET /tokens": {open: true, request: plainly("/tokens"), there: ok(303),
		absent: ok(303)},
	"GET /sign-in": {open: true, request: plainly("/sign-in"), there: ok(200),
		absent: ok(200)},
	"POST /sign-in": {open: true,
		request: func(*matrix) (string, any) { return "/sign-in", form("token", "hubpat_x") }, there: ok(422),
		absent: ok(422)},
	"POST /sign-out": {open: true,
		request: func(*matrix) (string, any) { return "/sign-out", form() }, there: ok(303), absent: ok(303)},
	"GET /": {open: true, request: plainly("/"), there: ok(200),
		absent: ok(200)},
	"GET /@{account}": {open: true, request: func(m *matrix) (string, any) {
		if m.kind == "absent" {
			return "/@absent", nil
		}
		return "/@" + m.account, nil
	}, there: ok(200), absent: ok(404)},
	"GET /@{account}/{slug}": {page: true, role: wire.Reader, request: pageOf(""), there: ok(200),
		absent: ok(404)},
	"GET /@{account}/{slug}/preview": {page: true, role: wire.Reader, request: pageOf("/preview"), there: ok(200),
		absent: ok(404)},
	"GET /@{account}/{slug}/files": {page: true, role: wire.Reader, request: pageOf("/files"), there: ok(200),
		absent: ok(404)},
	"GET /@{account}/{slug}/files/{file}": {page: true, role: wire.Reader, request: pageOf("/files/a"), there: ok(200),
		absent: ok(404)},
	"GET /@{account}/{slug}/history": {page: true, role: wire.Reader, request: pageOf("/history"), there: ok(200),
		absent: ok(404)},
	"GET /@{account}/{slug}/settings": {page: true, role: wire.Reader, request: pageOf("/settings"), there: ok(200),
		absent: ok(404)},
	"GET /schema/{name}": {open: true, request: plainly("/schema/client.json"), there: ok(200),
		absent: ok(200)},
	"GET /llms.txt": {open: true, request: plainly("/llms.txt"), there: ok(200), absent: ok(200)},
	"GET /static/{file}": {open: true, request: plainly("/static/dist/style.css"), there: ok(200),
		absent: ok(200)},

	"GET /v1/projects/{account}/{slug}/preview/base-files/history": {role: wire.Reader,
		request: project("/preview/base-files/history", nil), there: ok(200), absent: gone},
	"POST /v1/projects/{account}/{slug}/preview/base-files/restore": {role: wire.Writer, scope: wire.ScopeWriteConfig,
		request: project("/preview/base-files/restore", `{"tree": "`+strings.Repeat("0", 64)+`"}`),
		there:   outcome{428, wire.CodePreconditionRequired}, absent: gone},
}

// visitor is somebody with a token in some state, and a role on the account asked about.
type visitor struct {
	name    string
	account string
	refused wire.Code // why the token is refused
	role    wire.Role
}

var visitors = []visitor{
	{"without token", "acme", wire.CodeUnauthorized, ""},
	{"malformed", "acme", wire.CodeUnauthorized, ""},
	{"unknown", "acme", wire.CodeUnauthorized, ""},
	{"expired", "acme", wire.CodeTokenExpired, ""},
	{"revoked", "acme", wire.CodeTokenRevoked, ""},
	{"disabled", "acme", wire.CodeUnauthorized, ""},
	{"sam", "acme", "", ""},
	{"rita", "acme", "", wire.Reader},
	{"alice", "acme", "", wire.Writer},
	{"anna", "acme", "", wire.Admin},
	{"olga", "olga", "", wire.Admin}, // the owner
}

// expect is the oracle: the order of the contract in the fewest words.
func expect(r row, v visitor, scopes []wire.Scope, k kind) outcome {
	through := r.there
	if k == "absent" {
		through = r.absent
	}
	if r.page && k != "public" && (k == "absent" || v.refused != "" || v.role == "") {
		return r.absent
	}
	anyone := r.open || r.page || r.public && k == "public" && (v.refused == "" || v.name == "without token")
	rank := map[wire.Role]int{"": 0, wire.Reader: 1, wire.Writer: 2, wire.Admin: 3}
	role := outcome{403, wire.CodeNotPermitted}
	scope := outcome{403, wire.CodeMissingScope}
	lacks := r.scope != "" && !slices.Contains(scopes, r.scope) &&
		!(r.scope == wire.ScopeWriteConfig && slices.Contains(scopes, wire.ScopeWriteCatalog)) || r.some && len(scopes) == 0
	switch {
	case anyone:
		return through
	case v.refused != "":
		return outcome{401, v.refused}
	case r.late && lacks:
		return scope
	case rank[v.role] < rank[r.role]:
		return role
	case lacks:
		return scope
	}
	return through
}

// matrix is the hub, and the cell at which the test is.
type matrix struct {
	*testHub
	account string
	kind    kind
	cell    int
}

func (m *matrix) unique(prefix string) string { return fmt.Sprint(prefix, m.cell) }

func plainly(path string) func(*matrix) (string, any) {
	return func(*matrix) (string, any) { return path, nil }
}

func project(below string, body any) func(*matrix) (string, any) {
	return func(m *matrix) (string, any) {
		return "/v1/projects/" + m.account + "/" + string(m.kind) + below, body
	}
}

func pageOf(below string) func(*matrix) (string, any) {
	return func(m *matrix) (string, any) { return "/@" + m.account + "/" + string(m.kind) + below, nil }
}

func named(where, slug, below string) func(*matrix) (string, any) {
	return func(m *matrix) (string, any) {
		if m.kind == "absent" {
			return where + "/" + m.account + "/absent" + below, nil
		}
		return where + "/" + m.account + "/" + slug + below, nil
	}
}

func bot(other string, body any) func(*matrix) (string, any) {
	return func(m *matrix) (string, any) {
		name := "bot"
		if m.kind == "absent" {
			name = m.unique(other)
		}
		return "/v1/rate-limit?account=" + m.account + "&botId=" + name, body
	}
}

// invite invites to the account, or to the org of a user's account.
func (m *matrix) invite() (string, any) {
	m.sql("DELETE FROM links") // there can be only so many
	return "/v1/invitations", wire.CreateInvitation{Account: m.org(), Role: wire.Reader}
}

// org is the account, or the org of a user's account.
func (m *matrix) org() string {
	if m.account == "olga" {
		return "olgas"
	}
	return m.account
}

func (m *matrix) members() (string, any) { return "/v1/members?account=" + m.org(), nil }

func (m *matrix) bot() (string, any) {
	if m.kind == "absent" {
		return "/v1/bots/" + m.account + "/" + m.unique("new-"), nil
	}
	return "/v1/bots/" + m.account + "/ci", nil
}

func (m *matrix) botToken() (string, any) {
	path, _ := m.bot()
	m.sql("DELETE FROM tokens WHERE bot_id IS NOT NULL") // there can be only so many
	return path + "/tokens", `{"name": "pipeline"}`
}

func (m *matrix) botTokens() (string, any) {
	path, _ := m.bot()
	return path + "/tokens", nil
}

// revokedBotToken names a token that the bot has.
func (m *matrix) revokedBotToken() (string, any) {
	path, body := m.botToken()
	if m.kind == "absent" {
		return path + "/0123456789ab", nil
	}
	token := decoded[wire.BotToken](m.as(m.admin()).post(path, body).want(201))
	return path + "/" + token.ID, nil
}

// doomedBot makes sure that there is a bot to delete.
func (m *matrix) doomedBot() (string, any) {
	path := "/v1/bots/" + m.account + "/doomed"
	if m.kind != "absent" {
		m.as(m.admin()).put(path, nil)
	}
	return path, nil
}

func botTake(m *matrix) (string, any) {
	path, _ := bot("none-", nil)(m)
	return strings.Replace(path, "?", "/take?", 1), nil
}

func (m *matrix) create() (string, any) { return "/v1/projects", m.body(m.unique("new-")) }

func (m *matrix) body(slug string) wire.CreateProject {
	p := wire.CreateProject{Account: m.account, Slug: slug, Stack: m.account + "/site",
		API: mustRef("@" + m.account + "/pets"), Visibility: wire.Private}
	if m.kind == "public" {
		p.Visibility = wire.Public
	}
	if m.kind == "absent" {
		p.Stack = m.account + "/absent"
	}
	return p
}

// doom makes sure that there is a project to delete.
func (m *matrix) doom() (string, any) {
	if m.kind != "absent" {
		m.as(m.admin()).post("/v1/projects", m.body("doomed"))
	}
	return "/v1/projects/" + m.account + "/doomed", nil
}

func (m *matrix) admin() string {
	if m.account == "acme" {
		return "anna"
	}
	return m.account
}

// draft names a draft that the project has.
func (m *matrix) draft() (string, any) {
	path, _ := project("/drafts", nil)(m)
	if m.kind == "absent" {
		return path + "/0123456789ab", nil
	}
	created := decoded[wire.CreatedDraft](m.as(m.admin()).post(path, wire.CreateDraft{Base: store.NoConfig}).want(201))
	return path + "/" + created.ID, nil
}

func (m *matrix) files() (string, any) {
	path, _ := project("/preview/base-files", nil)(m)
	return path, archive(m, file{name: "a"})
}

func (m *matrix) upload() (string, any) {
	return "/v1/apis/upload?account=" + m.account + "&slug=" + m.unique("new-"), pets
}

func (m *matrix) fetch() (string, any) {
	return "/v1/apis/import", wire.ImportAPI{Account: m.account, URL: "http://127.0.0.1/"}
}

func (m *matrix) publish() (string, any) {
	slug := "site"
	if m.kind == "absent" {
		slug = m.unique("new-")
	}
	manifest := fmt.Sprintf(`{"name": "@%s/%s", "version": "1.0.0"}`, m.account, slug)
	return "/v1/stacks/" + m.account + "/" + slug + "/versions/1.0.0",
		typed{"application/gzip", gzipped(m, tarOf(m, file{name: "stack.json", content: manifest}))}
}

// furnish makes what is public and private in an account.
func (m *matrix) furnish(account string) {
	m.account = account
	for _, m.kind = range []kind{"public", "private"} {
		m.furnishKind()
	}
}

func (m *matrix) furnishKind() {
	admin := m.as(m.admin())
	path, body := m.publish()
	admin.put(path, body)
	admin.post("/v1/apis/upload?account="+m.account+"&slug=pets", pets)
	admin.post("/v1/projects", m.body(string(m.kind))).want(201)
	path, body = m.files()
	admin.put(path, body).want(200)
	path, body = bot("", `{}`)(m)
	admin.post(path, body).want(200)
	path, body = m.bot()
	admin.put(path, body)
}

// bearer returns v with a token of these scopes, in the state that v names.
func (m *matrix) bearer(v visitor, scopes []wire.Scope) *caller {
	switch v.name {
	case "without token":
		return m.with("")
	case "malformed":
		return m.with("hubpat_0123")
	case "unknown":
		return m.with(pat.New())
	case "expired":
		return m.with(m.tokenUntil("alice", yesterday(), scopes...))
	case "revoked":
		token := m.token("alice", scopes...)
		m.revoke(token)
		return m.with(token)
	case "disabled":
		return m.with(m.token("dora", scopes...))
	}
	return m.with(m.token(v.name, scopes...))
}

func TestAccess_Matrix(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, hub *testHub) {
		m := &matrix{testHub: hub}
		m.write(func(tx *store.Tx) error {
			for _, user := range []string{"olga", "dora"} {
				if err := tx.CreateAccount(user, store.KindUser); err != nil {
					return err
				}
			}
			if err := tx.CreateAccount("olgas", store.KindOrg); err != nil {
				return err
			}
			if err := tx.SetMember("olgas", "olga", "admin"); err != nil {
				return err
			}
			return tx.SetMember("acme", "dora", "admin")
		})
		m.furnish("acme")
		m.furnish("olga")
		m.write(func(tx *store.Tx) error { _, err := tx.SetDisabled("dora", true); return err })
		routes := routes()
		for _, route := range routes {
			if _, ok := rows[route]; !ok {
				t.Errorf("nothing says who may %s", route)
			}
		}
		for route := range rows {
			if !slices.Contains(routes, route) {
				t.Errorf("route %s does not exist", route)
			}
		}
		for _, v := range visitors {
			for _, scopes := range scopesOf(v) {
				m.visit(v, scopes)
			}
		}
		if t.Logf("%d cells", m.cell); m.cell < 3000 {
			t.Errorf("only %d cells", m.cell)
		}
	})
}

// scopesOf lists the sets of scopes with which v asks. Who has no token has no scope.
func scopesOf(v visitor) [][]wire.Scope {
	if slices.Contains([]string{"without token", "malformed", "unknown"}, v.name) {
		return [][]wire.Scope{nil}
	}
	all := [][]wire.Scope{nil}
	for _, s := range wire.Scopes {
		all = append(all, []wire.Scope{s})
	}
	return all
}

// visit asks every route about everything.
func (m *matrix) visit(v visitor, scopes []wire.Scope) {
	who := m.bearer(v, scopes)
	m.account = v.account
	for _, route := range slices.Sorted(maps.Keys(rows)) {
		r := rows[route]
		for _, m.kind = range kinds {
			m.cell++
			method, _, _ := strings.Cut(route, " ")
			path, body := r.request(m)
			want := expect(r, v, scopes, m.kind)
			if strings.HasSuffix(path, "/events") { // a stream does not end
				method, want.code = "HEAD", ""
			}
			a := who.do(method, path, body)
			var p wire.Problem
			if strings.HasPrefix(a.header.Get("Content-Type"), "application/problem") && method != "HEAD" {
				a.into(&p)
			}
			if strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
				want.code = "" // pages say it in words
			}
			if got := (outcome{a.status, p.Code}); got != want {
				m.Errorf("%s with %v asks %s %s (%s): %v, want %v", v.name, scopes, method, path, m.kind, got, want)
			}
			if a.status == 401 != (a.header.Get("WWW-Authenticate") != "") {
				m.Errorf("%s: status %d with WWW-Authenticate %q", path, a.status, a.header.Get("WWW-Authenticate"))
			}
		}
	}
}
