package hubserver_test

import (
	"fmt"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func TestBots_CreateListAndPages(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		anna := hub.as("anna")
		anna.put("/v1/bots/acme/ci", nil).want(201)
		got := decoded[wire.Bot](anna.put("/v1/bots/acme/ci", nil).want(200))
		if got != (wire.Bot{Account: "acme", BotRefID: "@acme/ci"}) {
			t.Errorf("%+v", got)
		}
		anna.post(rateLimit+"botId=crawler", `{}`).want(200)
		anna.post(rateLimit+"botId=b&botRefId=@acme/both", `{}`).want(200)
		anna.put("/v1/bots/acme/both", nil).want(200) // it was registered by its limits
		var names []string
		for cursor := ""; ; {
			page := decoded[wire.Bots](hub.as("rita").get("/v1/bots?account=acme&limit=1" + cursor).want(200))
			for _, b := range page.Bots {
				names = append(names, b.BotRefID+" "+b.BotID)
			}
			if page.NextCursor == "" {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(page.NextCursor)
		}
		if want := []string{" crawler", "@acme/both b", "@acme/ci "}; !slices.Equal(names, want) {
			t.Errorf("%q, want %q", names, want)
		}
		hub.as("rita").get("/v1/bots?account=acme&cursor=x").problem(422, wire.CodeInvalidBody)
		hub.as("alice").put("/v1/bots/acme/other", nil).problem(403, wire.CodeNotPermitted)
		anna.put("/v1/bots/anna/own", nil).want(201)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if a, err := anna.try("PUT", "/v1/bots/acme/at-once", nil); err != nil || a.status != 200 && a.status != 201 {
					t.Errorf("%v %+v", err, a)
				}
			})
		}
		all.Wait()
	})
}

// A token creates no token with more scopes than it has, or with a longer life.
func TestBotToken_HasNoMoreThanTheCallersToken(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.as("anna").put("/v1/bots/acme/ci", nil).want(201)
		const path = "/v1/bots/acme/ci/tokens"
		pairs := 0
		for _, own := range wire.Scopes {
			caller := hub.with(hub.token("anna", own, wire.ScopeAdminResource))
			for _, asked := range wire.Scopes {
				a := caller.post(path, wire.CreateBotToken{Name: "ci", Scopes: []wire.Scope{asked}})
				has := wire.HasScope([]wire.Scope{own, wire.ScopeAdminResource}, asked)
				if pairs++; has != (a.status == 201) || !has && a.problem(403, wire.CodeMissingScope).Detail == "" {
					t.Errorf("a token with %s creates one with %s: %d", own, asked, a.status)
				}
			}
		}
		t.Logf("%d pairs", pairs)

		end := time.Now().Add(10 * 24 * time.Hour)
		brief := hub.with(hub.tokenUntil("anna", store.At(end), wire.Scopes...))
		for _, lifetime := range []string{"never", "11d", "100w"} {
			brief.post(path, wire.CreateBotToken{Name: "ci", Lifetime: lifetime}).problem(403, wire.CodeNotPermitted)
		}
		for _, lifetime := range []string{"", "9d", "1h"} {
			got := decoded[wire.BotToken](brief.post(path, wire.CreateBotToken{Name: "ci", Lifetime: lifetime}).want(201))
			if got.ExpiresAt == nil || got.ExpiresAt.After(end) {
				t.Errorf("%q: %+v", lifetime, got)
			}
		}
		got := decoded[wire.BotToken](
			hub.as("anna").post(path, wire.CreateBotToken{Name: "ci", Lifetime: "never",
				Scopes: []wire.Scope{wire.ScopeWriteConfig}}).want(201))
		if got.ExpiresAt != nil || !pat.Valid(got.Token) || got.Bot != "@acme/ci" ||
			!slices.Equal(got.Scopes, []wire.Scope{wire.ScopeWriteConfig}) {
			t.Errorf("%+v", got)
		}
		me := decoded[wire.Whoami](hub.with(got.Token).get("/v1/whoami").want(200))
		if me.Bot != "@acme/ci" || me.TokenName != "ci" {
			t.Errorf("%+v", me)
		}
		// A bot creates neither bots nor tokens, not even its own.
		all := hub.with(decoded[wire.BotToken](
			hub.as("anna").post(path, wire.CreateBotToken{Name: "all", Scopes: wire.Scopes}).want(201)).Token)
		all.post(path, wire.CreateBotToken{Name: "x"}).problem(403, wire.CodeNotPermitted)
		all.put("/v1/bots/acme/other", nil).problem(403, wire.CodeNotPermitted)

		for _, body := range []string{`{}`, `{"name": ""}`, `{"name": "a\u0007"}`, `{"name": "a", "scopes": ["root"]}`,
			`{"name": "a", "lifetime": "x"}`, `{"name": "a", "lifetime": "-1d"}`, `{"name": "a", "lifetime": "99999999999w"}`} {
			hub.as("anna").post(path, body).problem(422, wire.CodeInvalidBody)
		}
		hub.as("anna").post("/v1/bots/acme/none/tokens", `{"name": "a"}`).problem(404, wire.CodeNotFound)
	})
}

func TestBotToken_HasABound(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		anna := hub.as("anna")
		anna.put("/v1/bots/acme/ci", nil).want(201)
		created := 0
		for ; created <= 1000; created++ {
			if a := anna.post("/v1/bots/acme/ci/tokens", fmt.Sprintf(`{"name": "t%d"}`, created)); a.status != 201 {
				a.problem(422, wire.CodeInvalidBody)
				break
			}
		}
		if created != 200 {
			t.Errorf("%d tokens were created", created)
		}
	})
}

func TestBotTokens_ListAndRevoke(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		anna := hub.as("anna")
		anna.put("/v1/bots/acme/ci", nil).want(201)
		anna.put("/v1/bots/acme/other", nil).want(201)
		const path = "/v1/bots/acme/ci/tokens"
		if got := decoded[wire.BotTokens](anna.get(path).want(200)); got.Bot != "@acme/ci" || got.Tokens == nil ||
			len(got.Tokens) > 0 {
			t.Errorf("%+v", got)
		}
		first := decoded[wire.BotToken](
			anna.post(path, wire.CreateBotToken{Name: "first", Scopes: []wire.Scope{wire.ScopeWriteConfig}}).want(201))
		second := decoded[wire.BotToken](anna.post(path, wire.CreateBotToken{Name: "second", Lifetime: "never"}).want(201))
		foreign := decoded[wire.BotToken](anna.post("/v1/bots/acme/other/tokens", wire.CreateBotToken{Name: "x"}).want(201))

		listed := decoded[wire.BotTokens](anna.get(path).want(200)).Tokens
		if len(listed) != 2 || listed[0].ID != first.ID || listed[0].Shown != pat.Shown(first.Token) ||
			listed[0].ExpiresAt == nil ||
			!slices.Equal(listed[0].Scopes, []wire.Scope{wire.ScopeWriteConfig}) || listed[1].ExpiresAt != nil ||
			listed[1].LastUsedAt != nil {
			t.Errorf("%+v", listed)
		}
		hub.with(first.Token).get("/v1/whoami").want(200)
		for range 2 { // revoking it again is no failure
			got := decoded[wire.RevokedBotToken](anna.delete(path + "/" + first.ID).want(200))
			if got != (wire.RevokedBotToken{Bot: "@acme/ci", ID: first.ID, Name: "first"}) {
				t.Errorf("%+v", got)
			}
		}
		hub.with(first.Token).get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
		hub.with(second.Token).get("/v1/whoami").want(200)
		if listed := decoded[wire.BotTokens](anna.get(path).want(200)).Tokens; len(listed) != 1 || listed[0].ID != second.ID {
			t.Errorf("%+v", listed)
		}
		anna.delete(path+"/"+foreign.ID).problem(404, wire.CodeNotFound) // a token of another bot
		anna.delete(path+"/"+first.ID[:6]).problem(404, wire.CodeNotFound)
		hub.with(foreign.Token).get("/v1/whoami").want(200)
		anna.get("/v1/bots/acme/none/tokens").problem(404, wire.CodeNotFound)
	})
}

func TestBotDelete_EndsTokensAndKeepsName(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		anna := hub.as("anna")
		anna.put("/v1/bots/acme/ci", nil).want(201)
		anna.post(rateLimit+"botRefId=@acme/ci", `{"minuteLimit": 1000}`).want(200)
		token := decoded[wire.BotToken](
			anna.post("/v1/bots/acme/ci/tokens",
				wire.CreateBotToken{Name: "ci", Scopes: []wire.Scope{wire.ScopeWriteConfig}}).want(201))
		bot := hub.with(token.Token)
		bot.put(clientCfg, `{"settings": {"a": 1}}`).want(200)

		deleted := decoded[wire.DeletedBot](anna.delete("/v1/bots/acme/ci").want(200))
		if deleted != (wire.DeletedBot{Bot: "@acme/ci", Existed: true, Revoked: 1}) {
			t.Errorf("%+v", deleted)
		}
		bot.put(clientCfg, `{"settings": {"a": 2}}`).problem(401, wire.CodeUnauthorized)
		anna.get(rateLimit+"botRefId=@acme/ci").problem(404, wire.CodeNotFound)
		history := decoded[wire.ConfigHistory](anna.get(config + "/history").want(200))
		if len(history.Entries) != 1 || history.Entries[0].UpdatedBy != "@acme/ci" {
			t.Errorf("%+v", history)
		}
		if got := decoded[wire.DeletedBot](anna.delete("/v1/bots/acme/ci").want(200)); got.Existed {
			t.Errorf("%+v", got)
		}
		anna.delete("/v1/bots/acme/NO").problem(404, wire.CodeNotFound)
		anna.put("/v1/bots/acme/ci", nil).want(201) // another bot of the same name
		bot.get("/v1/whoami").problem(401, wire.CodeUnauthorized)
		usage := decoded[wire.RateLimit](anna.get(rateLimit + "botRefId=@acme/ci").want(200)).Usage
		if usage.Minute.Used != 0 || usage.Minute.Limit != nil {
			t.Errorf("%+v", usage.Minute)
		}
	})
}
