package hubserver_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
)

const rateLimit = "/v1/rate-limit?account=acme&"

func n(v int64) *int64 { return &v }

func TestRateLimit_RoundTrip(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		all := `{"minuteLimit": 0, "hourLimit": 1, "dayLimit": 2, "weekLimit": 3, "monthLimit": 4, "yearLimit": ` +
			`1000000000000000}`
		set := alice.post(rateLimit+"botId=4711", all).want(200)
		got := decoded[wire.RateLimit](set)
		want := wire.RateLimitConfig{MinuteLimit: n(0), HourLimit: n(1), DayLimit: n(2), WeekLimit: n(3), MonthLimit: n(4),
			YearLimit: n(1e15)}
		if diff := cmp.Diff(want, got.Limits); diff != "" || got.Bot != (wire.Bot{Account: "acme", BotID: "4711"}) {
			t.Errorf("%s%+v", diff, got.Bot)
		}
		read := hub.as("rita").get(rateLimit + "botId=4711").want(200)
		if read.etag() != set.etag() {
			t.Errorf("ETags %s and %s", set.etag(), read.etag())
		}
		// What is absent, or null, becomes unlimited again.
		got = decoded[wire.RateLimit](alice.post(rateLimit+"botId=4711", `{"minuteLimit": 5, "hourLimit": null}`).want(200))
		if diff := cmp.Diff(wire.RateLimitConfig{MinuteLimit: n(5)}, got.Limits); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRateLimit_BotHasOneOrTwoNames(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		alice.get(rateLimit+"botId=one").problem(404, wire.CodeNotFound)
		alice.post(rateLimit+"botId=one", `{"dayLimit": 1}`).want(200)
		alice.post(rateLimit+"botRefId=@acme/two", `{"dayLimit": 2}`).want(200)
		alice.post(rateLimit+"botId=three&botRefId=drei", `{"dayLimit": 3}`).want(200)
		for query, day := range map[string]int64{"botId=one": 1, "botRefId=@acme/two": 2, "botId=three": 3,
			"botRefId=drei": 3, "botId=three&botRefId=drei": 3} {
			if got := decoded[wire.RateLimit](alice.get(rateLimit + query).want(200)); *got.Limits.DayLimit != day {
				t.Errorf("%s: %d a day, want %d", query, *got.Limits.DayLimit, day)
			}
		}
		// Two names are those of one bot, or of a new one: a mistyped one is never added.
		for _, query := range []string{"botId=one&botRefId=typo", "botId=typo&botRefId=@acme/two", "botId=one&botRefId=drei",
			"botId=one&botRefId=@acme/two", "botId=three&botRefId=typo", "botId=typo&botRefId=drei"} {
			alice.post(rateLimit+query, `{"dayLimit": 9}`).problem(422, wire.CodeBotMismatch)
			alice.get(rateLimit+query).problem(422, wire.CodeBotMismatch)
		}
		for _, query := range []string{"botId=typo", "botRefId=typo", "botId=typo&botRefId=typo"} {
			alice.get(rateLimit+query).problem(404, wire.CodeNotFound)
		}
		if got := decoded[wire.RateLimit](alice.get(rateLimit + "botId=one").want(200)); *got.Limits.DayLimit != 1 {
			t.Error("a refused request changed a limit")
		}
	})
}

func TestRateLimit_EqualLimitsChangeNothing(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		for _, who := range []string{"alice", "anna"} {
			for _, body := range []string{`{"dayLimit": 1}`, `{"dayLimit": 1, "hourLimit": null}`} {
				hub.as(who).post(rateLimit+"botId=x&botRefId=y", body).want(200)
				hub.as(who).post(rateLimit+"botId=x", body).want(200)
			}
		}
		if n := hub.count("SELECT count(*) FROM bots WHERE updated_by = 'alice'"); n != 1 {
			t.Errorf("alice is the writer of %d configurations, want 1", n)
		}
		if n := hub.count("SELECT count(*) FROM audit WHERE action = 'rate-limit.set'"); n != 1 {
			t.Errorf("%d writes were noted, want 1", n)
		}
		hub.as("anna").post(rateLimit+"botId=x", `{}`).want(200)
		hub.as("anna").post(rateLimit+"botId=x", `{"hourLimit": 1}`).want(200)
		if n := hub.count("SELECT count(*) FROM audit WHERE action = 'rate-limit.set' AND actor = 'anna'"); n != 2 {
			t.Errorf("%d changes were noted, want 2", n)
		}
	})
}

func TestRateLimit_AccountOfBot(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		for query, account := range map[string]string{
			"botId=a": "alice", "botRefId=b": "alice", "botRefId=@acme/c": "acme", "account=alice&botRefId=@acme/d": "alice",
			"account=acme&botId=e": "acme",
		} {
			if got := decoded[wire.RateLimit](alice.post("/v1/rate-limit?"+query, `{}`).want(200)); got.Bot.Account != account {
				t.Errorf("%s: the account is %s, want %s", query, got.Bot.Account, account)
			}
		}
		hub.as("sam").post("/v1/rate-limit?botRefId=@acme/c", `{}`).problem(403, wire.CodeNotPermitted)
		hub.as("sam").get("/v1/rate-limit?botRefId=@acme/c").problem(403, wire.CodeNotPermitted)
		hub.as("sam").get("/v1/rate-limit?botId=a").problem(404, wire.CodeNotFound) // sam's own bot of this name
	})
}

func TestRateLimit_RejectsInvalidLimits(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		for _, value := range []string{`-1`, `1.5`, `1e3`, `1000000000000001`, `99999999999999999999`, `"60"`, `true`, `[]`,
			`{}`, `1.0`} {
			p := alice.post(rateLimit+"botId=x", `{"weekLimit": `+value+`}`).problem(422, wire.CodeInvalidBody)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != "/weekLimit" {
				t.Errorf("%s: %+v", value, p.Errors)
			}
		}
		for _, body := range []string{`[]`, `null`, `{"limit": 1}`, `{"MinuteLimit": 1}`} {
			alice.post(rateLimit+"botId=x", body).problem(422, wire.CodeInvalidBody)
		}
		alice.post(rateLimit+"botId=x", `{"dayLimit": 1, "dayLimit": 1}`).problem(400, wire.CodeInvalidJSON)
		long := strings.Repeat("é", 128)
		for _, name := range []string{"", "a b", "a\tb", "a\nb", "\x00", "\xff", "a\u200bb", "a\u202eb", "\u00a0",
			long + "x"} {
			for _, parameter := range []string{"botId", "botRefId"} {
				query := rateLimit + parameter + "=" + url.QueryEscape(name)
				alice.post(query, `{}`).problem(422, wire.CodeInvalidBody)
				alice.get(query).problem(422, wire.CodeInvalidBody)
			}
		}
		alice.get(rateLimit+"botId=x").problem(404, wire.CodeNotFound)
		alice.post(rateLimit+"botId="+url.QueryEscape(long), `{}`).want(200)
	})
}

func TestRateLimit_ObeysIfMatch(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		alice := hub.as("alice")
		post := func(condition string) *answer {
			return alice.post(rateLimit+"botId=x", `{"dayLimit": 2}`, header{"If-Match": condition})
		}
		for _, condition := range []string{"*", `""`, `"x"`, ""} {
			post(condition).problem(412, wire.CodeRevisionChanged)
		}
		alice.get(rateLimit+"botId=x").problem(404, wire.CodeNotFound)
		first := alice.post(rateLimit+"botId=x", `{"dayLimit": 1}`).want(200).etag()
		second := post(first).want(200).etag()
		if first == second {
			t.Error("other limits have the same ETag")
		}
		post(first).problem(412, wire.CodeRevisionChanged)
		post("*").want(200)
	})
}
