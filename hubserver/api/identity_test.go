package api_test

import (
	"strings"
	"testing"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// with returns user with a token that has these scopes, and the token's ID.
func (h *hub) with(user string, scopes ...wire.Scope) (caller, string) {
	h.Helper()
	token, names := pat.New(), []string{}
	for _, s := range scopes {
		names = append(names, string(s))
	}
	h.write(func(tx *store.Tx) error {
		return tx.CreateToken(&store.Token{
			Hash: pat.Hash(token), Shown: pat.Shown(token), Name: "test", Owner: user, Scopes: strings.Join(names, " "),
		})
	})
	return caller{h, token}, pat.Hash(token)[:12]
}

func TestSetRateLimit_FirstRequestThatNamesABotSaysSo(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.as("alice")
		for i, query := range []string{"botRefId=acme/ci", "botRefId=@acme/ci", "account=acme&botRefId=acme/ci"} {
			got := decoded[wire.RateLimit](alice.do("POST", "/v1/rate-limit?"+query, `{"dayLimit": 5}`).want(200))
			if got.Created != (i == 0) || got.Bot != (wire.Bot{Account: "acme", BotRefID: "@acme/ci"}) {
				t.Errorf("%s: %+v", query, got)
			}
		}
		got := decoded[wire.RateLimit](alice.do("GET", "/v1/rate-limit?botRefId=acme/ci", nil).want(200))
		if got.Created || *got.Limits.DayLimit != 5 {
			t.Errorf("%+v", got)
		}
		// A limit has named it. It is created by the person who creates it, or a token of it.
		h.as("anna").do("POST", "/v1/bots/acme/ci/tokens", `{"name": "ci"}`).want(201)
		acme, err := h.store.View(t.Context()).Account("acme")
		if err != nil {
			t.Fatal(err)
		}
		bot, err := h.store.View(t.Context()).Bot(acme.ID, "", "@acme/ci")
		if err != nil || bot.CreatedBy != "anna" {
			t.Errorf("%+v, %v", bot, err)
		}
	})
}

func TestRemoveMember_NotWithARestrictedToken(t *testing.T) {
	each(t, func(h *hub) {
		acme, err := h.store.View(t.Context()).Account("acme")
		if err != nil {
			t.Fatal(err)
		}
		restricted := h.as("anna", store.Restriction{AccountID: acme.ID})
		restricted.do("DELETE", "/v1/members/acme/rita", nil).problem(403, wire.CodeNotPermitted)
		restricted.do("PUT", "/v1/members/acme/rita", `{"role": "admin"}`).problem(403, wire.CodeNotPermitted)
		h.as("anna").do("DELETE", "/v1/members/acme/rita", nil).want(200)
	})
}

func TestRevokeToken_ByWhoHasItsScopes(t *testing.T) {
	each(t, func(h *hub) {
		reader, readerID := h.with("alice")
		_, otherReader := h.with("alice")
		config, configID := h.with("alice", wire.ScopeWriteConfig)
		catalog, catalogID := h.with("alice", wire.ScopeWriteCatalog)
		_, foreign := h.with("sam")
		for _, c := range []struct {
			who    caller
			id     string
			status int
			code   wire.Code
		}{
			{reader, configID, 403, wire.CodeMissingScope}, {config, catalogID, 403, wire.CodeMissingScope},
			{reader, foreign, 403, wire.CodeMissingScope}, {h.as("alice"), foreign, 404, wire.CodeNotFound},
			{reader, otherReader, 200, ""}, {catalog, configID, 200, ""}, {h.as("alice"), catalogID, 200, ""},
			{reader, readerID, 200, ""},
		} {
			a := c.who.do("DELETE", "/v1/tokens/"+c.id, nil).want(c.status)
			if c.code != "" {
				a.problem(c.status, c.code)
			}
		}
		reader.do("GET", "/v1/whoami", nil).problem(401, wire.CodeTokenRevoked)
	})
}

func TestRevokeToken_IsInTheAuditLogOnce(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.as("alice")
		_, id := h.with("alice")
		for range 2 {
			alice.do("DELETE", "/v1/tokens/"+id, nil).want(200)
		}
		rows, err := h.store.View(t.Context()).AuditRows(store.AuditFilter{Action: "token.revoke", Limit: 10})
		if err != nil || len(rows) != 1 || rows[0].Object != id {
			t.Errorf("%+v, %v", rows, err)
		}
	})
}

func TestTakeRateLimit_IsExactAtOnce(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.as("alice")
		const bot = "account=acme&botId=crawler"
		alice.do("POST", "/v1/rate-limit?"+bot, `{"yearLimit": 3}`).want(200)
		for _, n := range []string{"2", "1"} {
			alice.do("POST", "/v1/rate-limit/take?"+bot+"&n="+n, nil).want(200)
		}
		refused := alice.do("POST", "/v1/rate-limit/take?"+bot, nil)
		if refused.problem(429, wire.CodeRateLimited); refused.Header().Get("Retry-After") == "" {
			t.Error(refused.Header())
		}
		alice.do("POST", "/v1/rate-limit?"+bot, `{"yearLimit": 4}`).want(200)
		alice.do("POST", "/v1/rate-limit/take?"+bot, nil).want(200)
		got := decoded[wire.RateLimit](alice.do("GET", "/v1/rate-limit?"+bot, nil).want(200))
		if got.Usage.Year.Used != 4 || *got.Usage.Year.Limit != 4 {
			t.Errorf("%+v", got.Usage.Year)
		}
	})
}
