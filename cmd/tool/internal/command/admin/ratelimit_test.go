package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/admin"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func TestRateLimit_SetsAndShows(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(admin.RateLimit, "crawler", "--json").Fails("not_found", "rate-limit")
	missing := w.Run(admin.RateLimit, "@alice/none", "--json").Fails("not_found", "rate-limit")
	if recipe, _ := missing["recipe"].([]any); len(recipe) != 1 ||
		!strings.HasSuffix(recipe[0].(string), " bot list alice") {
		t.Errorf("the recipe is %v, want tool bot list alice", missing["recipe"])
	}
	w.Run(admin.RateLimit, "crawler", "--minute", "60", "--day", "0").Done().Prints(
		"crawler of @alice\n  origin       "+w.Origin, "0 of 60 used", "0 of 0 used", "0 used, unlimited")
	w.Run(admin.RateLimit, "crawler", "--hour", "5", "--unlimited", "day").Done().Prints("0 of 60 used", "0 of 5 used")
	v := w.Run(admin.RateLimit, "crawler", "--account", "@alice", "--json").Done().JSON()
	limits, _ := v["limits"].(map[string]any)
	if v["type"] != "rateLimit" || len(limits) != 2 || limits["minuteLimit"] != 60.0 || limits["hourLimit"] != 5.0 ||
		v["changed"] != false {
		t.Errorf("%v", v)
	}
	w.Run(admin.RateLimit, "@bob/ci", "--minute", "1", "--json").Fails("not_permitted", "rate-limit")
	w.Run(admin.RateLimit, "x", "--minute", "ten").Exits(2).Prints(`--minute is a whole number, not "ten"`)
	for _, args := range [][]string{
		{}, {"x", "--minute", "-1"}, {"x", "--minute", "1.5"}, {"x", "--minute", "1000000000000001"},
		{"x", "--minute", "99999999999999999999"},
		{"x", "--unlimited", "second"}, {"x", "--minute", "1", "--unlimited", "minute"}, {"@alice/x", "--account", "bob"},
		{"x", "--account", "NO"},
	} {
		w.Run(admin.RateLimit, args...).Exits(2)
	}
}

func TestRateLimit_SaysThatTheLimitsWereSetWhenItCannotPrintThem(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Unprinted("the limits were set", admin.RateLimit, "crawler", "--minute", "60")
	w.Full = true
	if r := w.Run(admin.RateLimit, "crawler").Exits(1); strings.Contains(r.Err, "were set") {
		t.Errorf("limits that were only shown: %s", r.Err)
	}
}

func TestRateLimit_RefusesSlugOfBotAsBotID(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	r, err := ref.New("alice", "ci")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Client().CreateBot(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		" rate-limit @alice/ci":                             {"ci"},
		" rate-limit @alice/ci --minute 60 --unlimited day": {"ci", "--unlimited", "day", "--minute", "60"},
		" rate-limit @alice/ci --minute 60 --hour 5":        {"ci", "--account", "alice", "--hour", "5", "--minute", "60"},
	} {
		refused := w.Run(admin.RateLimit, append(args, "--json")...).Fails("not_found", "rate-limit")
		if recipe, _ := refused["recipe"].([]any); len(recipe) != 1 ||
			!strings.Contains(recipe[0].(string), want+" --origin ") {
			t.Errorf("%q: the recipe is %v, want tool%s", args, refused["recipe"], want)
		}
	}
	w.Run(admin.RateLimit, "@alice/ci").Done().Prints("0 used, unlimited")
}

func TestRateLimit_SetsNothingWhenTheHubDoesNotSayWhetherTheBotIDIsASlug(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"account": "/v1/whoami", "bot": "/v1/rate-limit"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t)
			w.Intercept(func(answer http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					t.Error("limits were set")
				}
				asksForSlug := path == "/v1/whoami" || strings.Contains(r.URL.RawQuery, "botRefId")
				if r.URL.Path != path || !asksForSlug {
					return false
				}
				return apptest.Refuse(answer, http.StatusForbidden, wire.CodeNotPermitted, "not for you")
			})
			w.Run(admin.RateLimit, "crawler", "--minute", "60", "--json").Fails("not_permitted", "rate-limit")
		})
	}
}
