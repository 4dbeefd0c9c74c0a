package hubserver_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

// asked is a request about something private.
type asked struct {
	method, path string
	body         any
	header       header
}

// private lists a request to every route that names an account, about what furnishKind has
// made. If all is set, it adds such requests with conditions, and with a malformed body.
func (m *matrix) private(all bool) (list []asked) {
	for _, e := range endpoints {
		inBodyOrQuery := e.Account == wire.InQuery || e.Account == wire.InBot || e.Account == wire.InBody
		if !inBodyOrQuery && !strings.Contains(e.Path, "{account}") && e.Op != wire.OpListProjects &&
			e.Op != wire.OpListDeleted {
			continue
		}
		path, body := rows[e.Method+" "+e.Path].request(m)
		list = append(list, asked{e.Method, path, body, nil})
		switch {
		case e.Method == http.MethodGet:
			list = append(list, asked{http.MethodHead, path, nil, nil})
			if all {
				list = append(list, asked{e.Method, path, nil, header{"If-None-Match": "*"}},
					asked{e.Method, path, nil, header{"Range": "bytes=0-0"}})
			}
		case all:
			for _, h := range []header{{"If-Match": "*"}, {"If-Match": `"x"`}, {"If-None-Match": "*"},
				{"Idempotency-Key": "k"}} {
				list = append(list, asked{e.Method, path, body, h})
			}
			list = append(list, asked{e.Method, path, "{", nil}, asked{e.Method, path, typed{"text/plain", []byte("x")}, nil})
		}
	}
	return append(list,
		asked{"POST", "/v1/projects", m.body("private"), nil},
		asked{"POST", "/v1/apis/upload?account=acme&slug=pets", pets, nil},
		asked{"GET", "/v1/rate-limit?botRefId=@acme/ci", nil, nil},
	)
}

// strangers are callers of every kind who have no right to acme, by what they are. Anna is
// its admin, but her tokens are restricted to something else.
func (h *testHub) strangers() map[string]*caller {
	restricted := func(only wire.Restriction) *caller {
		_, c := h.as("anna").create(wire.CreateToken{Name: "restricted", Scopes: wire.Scopes, Lifetime: "never",
			Restriction: only})
		return c
	}
	path, body := "/v1/stacks/anna/site/versions/1.0.0",
		typed{"application/gzip", gzipped(h,
			tarOf(h, file{name: "stack.json", content: `{"name": "@anna/site", "version": "1.0.0"}`}))}
	h.as("anna").put(path, body).want(201)
	h.as("anna").post("/v1/apis/upload?account=anna&slug=pets", pets).want(201)
	h.as("anna").post("/v1/projects",
		wire.CreateProject{Account: "anna", Slug: "own", Stack: "anna/site", API: mustRef("@anna/pets"),
			Visibility: wire.Private}).want(201)
	return map[string]*caller{
		"nobody": h.with(""), "a malformed token": h.with("x"), "an unknown token": h.with(pat.New()),
		"a stranger": h.with(h.token("sam")), "a stranger with scopes": h.as("sam"), "a stranger's browser": h.session("sam"),
		"a bot of another account":              h.bot("sam", "ci", wire.Scopes...),
		"a token restricted to another account": restricted(wire.Restriction{Account: "anna"}),
		"a token restricted to another project": restricted(onlyProject("anna", "own")),
	}
}

var requestID = regexp.MustCompile(`"requestId":"[0-9a-z]{16}"|request <code>[0-9a-z]{16}</code>`)

// response is all that a caller sees of an answer, but the time and the ID of the request.
func (q asked) response(t *testing.T, c *caller) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // for a stream that begins
	defer cancel()
	a, err := c.tryWithin(ctx, q.method, q.path, q.body, q.header)
	if err != nil {
		t.Fatalf("%s %s: %v", q.method, q.path, err)
	}
	a.header.Del("X-Request-Id")
	a.header.Del("Date")
	return fmt.Sprintf("%d %v %s", a.status, a.header, requestID.ReplaceAll(a.body, nil))
}

// One hub has all that a private account can have, the other one only the account: to
// those without a right, their responses are equal, byte for byte.
func TestAccess_PrivateLooksAbsentToStrangers(t *testing.T) {
	takesLong(t)
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		t.Parallel()
		other := storetest.SQLite
		if sqldb.Path(address) == "" {
			other = storetest.Postgres
		}
		m := &matrix{testHub: newHub(t, address, nil), account: "acme", kind: "private"}
		m.furnishKind()
		hubs := [2]*testHub{m.testHub, newHub(t, other(t), nil)}
		brief, all := m.private(false), m.private(true)
		var callers [2]map[string]*caller
		for i, h := range hubs {
			h.client.Transport = h.client.Transport.(*recorder).next // what the contract says is tested elsewhere
			callers[i] = h.strangers()
		}
		pairs := 0
		for who := range callers[0] {
			list := brief
			if who == "nobody" || who == "a stranger with scopes" {
				list = all
			}
			if who == "a stranger with scopes" { // who binds what is another's
				own := m.body("x")
				own.Account = "sam"
				list = append(list, asked{"POST", "/v1/projects", own, nil},
					asked{"POST", "/v1/projects", wire.CreateProject{Account: "sam", Slug: "y", CopyOf: mustRef("@acme/private")},
						nil},
					asked{"POST", tokens, wire.CreateToken{Name: "x", Restriction: onlyProject("acme", "private")}, nil},
					asked{"POST", tokens, wire.CreateToken{Name: "x", Restriction: wire.Restriction{Account: "acme"}}, nil})
			}
			for _, q := range list {
				pairs++
				private, absent := q.response(t, callers[0][who]), q.response(t, callers[1][who])
				if private != absent || strings.HasPrefix(private, "5") {
					t.Errorf("%s asks %s %s %v\nprivate: %s\nabsent:  %s", who, q.method, q.path, q.header, private, absent)
				}
			}
		}
		if t.Logf("%d pairs, of %d kinds of callers", pairs, len(callers[0])); pairs < 200 {
			t.Error("too few")
		}
	})
}
