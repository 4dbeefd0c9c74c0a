package hubserver_test

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

// bot returns the bot @account/slug, which is created, with a token that has these scopes.
func (h *testHub) bot(account, slug string, scopes ...wire.Scope) *caller {
	h.Helper()
	var id int64
	h.write(func(tx *store.Tx) error {
		a, err := tx.Account(account)
		if err != nil {
			return err
		}
		b := &store.Bot{AccountID: a.ID, BotRefID: "@" + account + "/" + slug, CreatedBy: "test"}
		err = tx.AddBot(b)
		id = b.ID
		return err
	})
	return h.with(h.botToken(account, id, scopes...))
}

func (h *testHub) botToken(account string, id int64, scopes ...wire.Scope) string {
	h.Helper()
	token := pat.New()
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	h.write(func(tx *store.Tx) error {
		return tx.CreateToken(&store.Token{
			Hash: pat.Hash(token), Shown: pat.Shown(token), Name: "test", Owner: account, BotID: id,
			Scopes: strings.Join(names, " "),
		})
	})
	return token
}

const (
	ciLimit = "/v1/rate-limit?botRefId=@acme/ci"
	take    = "/v1/rate-limit/take?account=acme&"
)

func (a *answer) usage() wire.Usage {
	a.t.Helper()
	return decoded[wire.RateLimit](a.want(200)).Usage
}

func TestBot_IsWriterInItsOwnAccountOnly(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		ci := hub.bot("acme", "ci", wire.Scopes...)
		me := decoded[wire.Whoami](ci.get("/v1/whoami").want(200))
		if me.Bot != "@acme/ci" || me.User != "" || len(me.Accounts) != 1 ||
			me.Accounts[0] != (wire.AccountRole{Account: "acme", Role: wire.Writer}) {
			t.Errorf("%+v", me)
		}
		ci.put(clientCfg, `{"settings": {"title": "from a bot"}}`).want(200)
		if got := decoded[wire.Config](hub.as("rita").get(config).want(200)); got.UpdatedBy != "@acme/ci" {
			t.Errorf("the config was written by %q", got.UpdatedBy)
		}
		if got := decoded[wire.Projects](ci.get("/v1/projects").want(200)); len(got.Projects) != 1 {
			t.Errorf("the bot sees %+v", got)
		}
		ci.post(ciLimit, `{}`).problem(403, wire.CodeNotPermitted)
		ci.post(rateLimit+"botId=other", `{}`).problem(403, wire.CodeNotPermitted)
		for _, account := range []string{"alice", "sam", "nobody"} {
			ci.get("/v1/apis?account="+account).problem(403, wire.CodeNotPermitted)
			ci.get("/v1/rate-limit?botId=x&account="+account).problem(403, wire.CodeNotPermitted)
			ci.post("/v1/rate-limit/take?botId=x&account="+account, nil).problem(403, wire.CodeNotPermitted)
		}
		ci.delete(web).want(200)
		hub.bot("acme", "reader").put(clientCfg, `{}`).problem(403, wire.CodeMissingScope)
	})
}

// A bot of a user's own account is no admin of it.
func TestBot_OfUserIsNoAdmin(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		ci := hub.bot("alice", "ci", wire.Scopes...)
		me := decoded[wire.Whoami](ci.get("/v1/whoami").want(200))
		if len(me.Accounts) != 1 || me.Accounts[0] != (wire.AccountRole{Account: "alice", Role: wire.Writer}) {
			t.Errorf("%+v", me)
		}
		ci.get("/v1/apis?account=acme").problem(403, wire.CodeNotPermitted) // alice is a writer there
		ci.post("/v1/rate-limit?botId=x", `{}`).problem(403, wire.CodeNotPermitted)
	})
}

func TestBot_TokenEndsWithItsAccount(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		ci, other := hub.bot("acme", "ci"), hub.bot("acme", "other")
		ci.get("/v1/whoami").want(200)
		hub.revoke(other.token)
		other.get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
		hub.write(func(tx *store.Tx) error { _, err := tx.SetDisabled("acme", true); return err })
		ci.get("/v1/whoami").problem(401, wire.CodeUnauthorized)
		if used := hub.as("anna").get("/v1/rate-limit?account=acme&botRefId=@acme/ci"); used.status == 200 &&
			used.usage().Year.Used != 1 {
			t.Errorf("a refused token counts: %s", used.body)
		}
	})
}

func TestBot_CannotSignIn(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		ci := hub.bot("alice", "ci", wire.Scopes...)
		ci.post("/v1/links", `{}`).problem(403, wire.CodeNotPermitted)
		ci.post("/v1/invitations", `{"account": "acme", "role": "reader"}`).problem(403, wire.CodeNotPermitted)
		a := hub.with("").post("/sign-in", form("token", ci.token)).want(422)
		if !strings.Contains(string(a.body), "A bot cannot sign in") || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%v %s", a.header, a.body)
		}
	})
}

func TestBotRequests_CountAndEndAtTheLimit(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		ci := hub.bot("acme", "ci", wire.ScopeWriteConfig)
		hub.as("alice").post(ciLimit, `{"monthLimit": 9, "yearLimit": 6}`).want(200)
		for i, a := range []*answer{
			ci.get("/v1/whoami").want(200), ci.put(clientCfg, `{}`).want(200), ci.get("/@acme/web").want(200),
			ci.do("HEAD", config, nil).want(200), ci.get("/v1/apis?account=sam").want(403), ci.get(ciLimit).want(200),
		} {
			r := regexp.MustCompile(`^"month";r=(\d+);t=\d+, "year";r=(\d+);t=\d+$`).FindStringSubmatch(
				a.header.Get("RateLimit"))
			if r == nil || r[1] != strconv.Itoa(8-i) || r[2] != strconv.Itoa(5-i) ||
				a.header.Get("RateLimit-Policy") != `"month";q=9;w=2592000, "year";q=6;w=31536000` {
				t.Errorf("%s: %v", a.call, a.header)
			}
		}
		for range 2 {
			a := ci.put(clientCfg, `{"settings": {"a": 1}}`)
			p := a.problem(429, wire.CodeRateLimited)
			wait, err := strconv.Atoi(a.header.Get("Retry-After"))
			if left := secondsOf(yearEnd()); err != nil || wait < left-60 || wait > left+60 ||
				!strings.HasSuffix(a.header.Get("RateLimit"), fmt.Sprintf(`"year";r=0;t=%d`, wait)) {
				t.Errorf("%v", a.header)
			}
			if p.Detail != "@acme/ci has used its limit of 6 per year" {
				t.Errorf("%q", p.Detail)
			}
		}
		if page := ci.get("/@acme/web").want(429); !strings.Contains(page.header.Get("Content-Type"), "html") ||
			page.header.Get("Retry-After") == "" {
			t.Errorf("%v", page.header)
		}
		usage := hub.as("rita").get(ciLimit).usage()
		if usage.Month.Used != 6 || *usage.Month.Limit != 9 || usage.Minute.Used > 6 || usage.Minute.Limit != nil ||
			!usage.Year.ResetsAt.Equal(yearEnd()) {
			t.Errorf("%+v: refused requests count in no period", usage)
		}
		hub.as("alice").get("/v1/whoami").want(200) // users have no limits
		// A new configuration takes effect within a second, everywhere.
		hub.as("alice").post(ciLimit, `{}`).want(200)
		eventually(t, func() bool { return ci.get("/v1/whoami").status == 200 })
		if a := ci.get("/v1/whoami").want(200); a.header.Get("RateLimit") != "" || a.header.Get("RateLimit-Policy") != "" {
			t.Errorf("there is no limit, but %v", a.header)
		}
	})
}

func yearEnd() time.Time { return time.Date(time.Now().UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC) }

func secondsOf(end time.Time) int { return int(time.Until(end).Seconds()) }

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
	}
}

func TestTake_CountsForOtherSystems(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice, gateway := hub.as("alice"), hub.with(hub.token("alice", wire.ScopeUseLimit))
		alice.post(rateLimit+"botId=crawler", `{"dayLimit": 100, "yearLimit": 100}`).want(200)
		got := decoded[wire.Taken](gateway.post(take+"botId=crawler", nil).want(200))
		if got.Taken != 1 || *got.Remaining.Year != 99 || got.Remaining.Minute != nil ||
			got.Bot != (wire.Bot{Account: "acme", BotID: "crawler"}) {
			t.Errorf("%+v", got)
		}
		gateway.post(take+"botId=crawler&n=60", nil).want(200)
		p := gateway.post(take+"botId=crawler&n=40", nil).problem(429, wire.CodeRateLimited)
		if p.Detail != "40 more requests would exceed the limit of crawler of 100 per year" {
			t.Errorf("%q", p.Detail)
		}
		gateway.post(take+"botId=crawler&n=39", nil).want(200)
		gateway.post(take+"botId=crawler&n=1", nil).problem(429, wire.CodeRateLimited)
		if usage := alice.get(rateLimit + "botId=crawler").usage(); usage.Year.Used != 100 || usage.Day.Used > 100 {
			t.Errorf("%+v", usage)
		}
		gateway.post(take+"botId=unknown", nil).problem(404, wire.CodeNotFound)
		gateway.post(take+"n=1", nil).problem(422, wire.CodeInvalidBody)
		for _, n := range []string{"0", "-1", "1.5", "1e3", "x", "1000000001", "9223372036854775808", "99999999999999999999",
			"%2B1", "+1", "0x1", "1_0"} {
			gateway.post(take+"botId=crawler&n="+n, nil).problem(422, wire.CodeInvalidBody)
		}
		hub.with(hub.token("alice", wire.ScopeAdminResource, wire.ScopeWriteCatalog)).post(take+"botId=crawler", nil).problem(
			403, wire.CodeMissingScope)
		hub.as("rita").post(take+"botId=crawler", nil).problem(403, wire.CodeNotPermitted)
		hub.as("sam").post(take+"botId=crawler", nil).problem(403, wire.CodeNotPermitted)
	})
}

func TestTake_OfBotItselfNeedsNoScopeAndCountsOnce(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		ci, gate := hub.bot("acme", "ci"), hub.bot("acme", "gate", wire.ScopeUseLimit)
		hub.as("alice").post(ciLimit, `{"yearLimit": 10}`).want(200)
		hub.as("alice").post("/v1/rate-limit?botRefId=@acme/gate", `{"yearLimit": 2}`).want(200)
		if got := decoded[wire.Taken](
			ci.post("/v1/rate-limit/take?botRefId=@acme/ci&n=3", nil).want(200)); *got.Remaining.Year != 7 {
			t.Errorf("%+v", got)
		}
		ci.post("/v1/rate-limit/take?botRefId=@acme/gate", nil).problem(403, wire.CodeMissingScope)
		ci.post("/v1/rate-limit/take?botRefId=@acme/none", nil).problem(403, wire.CodeMissingScope)
		// A bot that takes for another makes a request, too.
		a := gate.post("/v1/rate-limit/take?botRefId=@acme/ci", nil).want(200)
		if !strings.Contains(a.header.Get("RateLimit-Policy"), "q=10;") {
			t.Errorf("the limits are those of the other bot: %v", a.header)
		}
		gate.post("/v1/rate-limit/take?botRefId=@acme/ci", nil).want(200)
		gate.post("/v1/rate-limit/take?botRefId=@acme/ci", nil).problem(429, wire.CodeRateLimited)
		if usage := hub.as("alice").get(ciLimit).usage(); usage.Year.Used != 5 {
			t.Errorf("%+v", usage)
		}
	})
}

func TestTake_CountsToTheHighestLimitWithoutOverflow(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		alice.post(rateLimit+"botId=x", `{}`).want(200)
		hub.sql(fmt.Sprintf("UPDATE bots SET year_used = 999999999999999, year_until = %d WHERE bot_id = 'x'",
			store.Year.End(store.At(time.Now()))))
		for range 3 {
			alice.post(take+"botId=x&n=1000000000", nil).want(200)
		}
		if usage := alice.get(rateLimit + "botId=x").usage(); usage.Year.Used != wire.MaxLimit {
			t.Errorf("%d are counted", usage.Year.Used)
		}
		alice.post(rateLimit+"botId=x", `{"yearLimit": 1000000000000000}`).want(200)
		a := alice.post(take+"botId=x", nil)
		a.problem(429, wire.CodeRateLimited)
		if !strings.Contains(a.header.Get("RateLimit-Policy"), `"year";q=999999999999999;`) {
			t.Errorf("%v", a.header)
		}
	})
}

func TestUsage_IsExactOnEveryReplica(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		other := hub.replica()
		alice := hub.as("alice")
		alice.post(rateLimit+"botId=x", `{"yearLimit": 1000000}`).want(200)
		for range 7 {
			alice.post(take+"botId=x&n=5", nil).want(200)
			other.with(alice.token).post(take+"botId=x&n=2", nil).want(200)
		}
		if usage := alice.get(rateLimit + "botId=x").usage(); usage.Year.Used != 49 {
			t.Errorf("%d are used, want 49", usage.Year.Used)
		}
		for _, h := range []*testHub{hub, other} {
			if usage := h.with(alice.token).get(rateLimit + "botId=x").usage(); usage.Year.Used != 49 {
				t.Errorf("%d are used, want 49", usage.Year.Used)
			}
		}
	})
}

// replica returns another hub on the same database, which shares nothing else with h.
func (h *testHub) replica() *testHub {
	other := *h
	other.server = hubserver.New(h.server.Hub.Config)
	server := httptest.NewServer(other.server)
	h.Cleanup(server.Close)
	other.url = server.URL
	return &other
}
