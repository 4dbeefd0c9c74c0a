package identity_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
)

// Tokens and origins of the tests. Each stored token is named by its origin.
var (
	flagToken, envToken            = pat.New(), pat.New()
	tokenA, tokenB, tokenOfDefault = pat.New(), pat.New(), pat.New()
)

const (
	a = "https://a.example.com"
	b = "https://b.example.com:8443"
	c = "http://127.0.0.1:9999"
)

// logins returns a login file with these entries and current origin.
func logins(t testing.TB, current string, entries map[string]string) *identity.Logins {
	t.Helper()
	l, err := identity.LoadLogins(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for origin, token := range entries {
		put(t, l, identity.Login{Origin: origin, Token: token, User: "user of " + origin})
	}
	l.Current = current
	return l
}

// environment returns a lookup in NAME=value pairs.
func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, pair := range pairs {
			if key, value, _ := strings.Cut(pair, "="); key == name {
				return value, true
			}
		}
		return "", false
	}
}

func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func TestResolve_PrefersFlagThenVariableThenLogin(t *testing.T) {
	const (
		flag, env, login, byDefault = identity.FromFlag, identity.FromEnvironment, identity.FromLogin, identity.FromDefault
		envA, envB, envC            = identity.OriginVariable + "=" + a, identity.OriginVariable + "=" + b,
			identity.OriginVariable + "=" + c
		noOrigin = identity.OriginVariable + "="
	)
	envT := identity.TokenVariable + "=" + envToken
	stored := map[string]string{a: tokenA, b: tokenB}
	withDefault := map[string]string{a: tokenA, identity.DefaultOrigin: tokenOfDefault}
	type want struct {
		token        string
		tokenSource  identity.Source
		origin       string
		originSource identity.Source
	}
	for name, test := range map[string]struct {
		token, origin string
		env           []string
		current       string
		stored        map[string]string
		want          want
	}{
		"nothing": {want: want{"", "", identity.DefaultOrigin, byDefault}},

		"login":                {current: a, stored: stored, want: want{tokenA, login, a, login}},
		"login, other current": {current: b, stored: stored, want: want{tokenB, login, b, login}},
		"login, none current":  {stored: stored, want: want{"", "", identity.DefaultOrigin, byDefault}},
		"login of the default, none current": {stored: withDefault,
			want: want{tokenOfDefault, login, identity.DefaultOrigin, login}},
		"login, current one has no entry": {current: c, stored: stored,
			want: want{"", "", identity.DefaultOrigin, byDefault}},
		"login, current one's token is empty": {current: a, stored: map[string]string{a: ""},
			want: want{"", "", identity.DefaultOrigin, byDefault}},

		"login, --origin of the current": {origin: a, current: a, stored: stored, want: want{tokenA, login, a, flag}},
		"login, --origin of another":     {origin: b, current: a, stored: stored, want: want{tokenB, login, b, flag}},
		"login, --origin of none":        {origin: c, current: a, stored: stored, want: want{"", "", c, flag}},
		"login, --origin in another form": {origin: "HTTPS://A.example.com:443/", current: b, stored: stored,
			want: want{tokenA, login, a, flag}},
		"login, variable's origin": {env: []string{envB}, current: a, stored: stored,
			want: want{tokenB, login, b, env}},
		"login, variable's origin of none": {env: []string{envC}, current: a, stored: stored, want: want{"", "", c, env}},
		"login, empty variable": {env: []string{noOrigin}, current: a, stored: stored,
			want: want{tokenA, login, a, login}},
		"login, blank variable": {env: []string{noOrigin + " \r\n"}, current: a, stored: stored,
			want: want{tokenA, login, a, login}},
		"login, variable with a line break": {env: []string{envB + "\r\n"}, current: a, stored: stored,
			want: want{tokenB, login, b, env}},
		"login, --origin over variable": {origin: a, env: []string{envB}, current: b, stored: stored,
			want: want{tokenA, login, a, flag}},

		"--token": {token: flagToken, want: want{flagToken, flag, identity.DefaultOrigin, byDefault}},
		"--token, login": {token: flagToken, current: a, stored: stored,
			want: want{flagToken, flag, identity.DefaultOrigin, byDefault}},
		"--token, --origin": {token: flagToken, origin: c, current: a, stored: stored,
			want: want{flagToken, flag, c, flag}},
		"--token, --origin of login": {token: flagToken, origin: a, current: a, stored: stored,
			want: want{flagToken, flag, a, flag}},
		"--token, variable's origin": {token: flagToken, env: []string{envB}, current: a, stored: stored,
			want: want{flagToken, flag, b, env}},
		"--token over variable": {token: flagToken, env: []string{envT},
			want: want{flagToken, flag, identity.DefaultOrigin, byDefault}},

		"variable's token": {env: []string{envT},
			want: want{envToken, env, identity.DefaultOrigin, byDefault}},
		"variable's token, login": {env: []string{envT}, current: a, stored: stored,
			want: want{envToken, env, identity.DefaultOrigin, byDefault}},
		"variable's token, --origin": {origin: a, env: []string{envT}, current: a, stored: stored,
			want: want{envToken, env, a, flag}},
		"variable's token, variable's origin": {env: []string{envT, envC}, current: a, stored: stored,
			want: want{envToken, env, c, env}},
		"variable's token, --origin over variable's": {origin: b, env: []string{envT, envC},
			want: want{envToken, env, b, flag}},
		"empty variable for the token, login": {env: []string{identity.TokenVariable + "="}, current: a,
			stored: stored, want: want{tokenA, login, a, login}},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := identity.Resolve(identity.Options{
				Token: given(test.token), Origin: given(test.origin), LookupEnv: environment(test.env...),
				Logins: logins(t, test.current, test.stored),
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := (want{id.Token, id.TokenSource, id.Origin, id.OriginSource}); got != test.want {
				t.Errorf("%+v\nwant %+v", got, test.want)
			}
			if wantUser := "user of " + id.Origin; (id.TokenSource == login) != (id.User == wantUser) {
				t.Errorf("the user is %q", id.User)
			}
		})
	}
}

func TestResolve_SendsStoredTokenOnlyToItsOrigin(t *testing.T) {
	stored := map[string]string{a: tokenA, b: tokenB, identity.DefaultOrigin: tokenOfDefault}
	origins := []string{"", a, b, c, identity.DefaultOrigin, "https://a.example.com:8443", "http://a.example.com",
		"https://b.example.com", "https://evil.example.com"}
	for _, current := range origins {
		logins := logins(t, current, stored)
		for _, flag := range origins {
			for _, env := range origins {
				id, err := identity.Resolve(identity.Options{
					Origin: given(flag), LookupEnv: environment(identity.OriginVariable + "=" + env), Logins: logins,
				})
				if err != nil {
					t.Fatal(err)
				}
				if id.Token != "" && id.Token != stored[id.Origin] {
					t.Errorf("--origin %q, variable %q, current %q: the token of another goes to %s", flag, env, current, id.Origin)
				}
			}
		}
	}
}

func TestResolve_TrimsToken(t *testing.T) {
	for _, around := range []string{"%s", " %s ", "%s\n", "%s\r\n", "\t%s", "\ufeff%s\r\n", "\n\n%s\n"} {
		dirty := fmt.Sprintf(around, flagToken)
		for name, o := range map[string]identity.Options{
			"flag":     {Token: &dirty, LookupEnv: environment()},
			"variable": {LookupEnv: environment(identity.TokenVariable + "=" + dirty)},
		} {
			o.Logins = logins(t, "", nil)
			if id, err := identity.Resolve(o); err != nil || id.Token != flagToken {
				t.Errorf("%s %q: %v", name, dirty, err)
			}
		}
	}
}

func TestResolve_RejectsMalformedTokenWithoutQuotingIt(t *testing.T) {
	short := flagToken[:len(flagToken)-1]
	for _, bad := range []string{short, flagToken + "x", "x" + flagToken, strings.ToUpper(flagToken),
		flagToken + " " + envToken, "secret", "Bearer " + flagToken, `"` + flagToken + `"`, short + "\x00", " \n"} {
		for place, o := range map[string]identity.Options{
			"--token":              {Token: &bad, LookupEnv: environment(identity.TokenVariable + "=" + envToken)},
			identity.TokenVariable: {LookupEnv: environment(identity.TokenVariable + "=" + bad)},
		} {
			o.Logins = logins(t, a, map[string]string{a: tokenA})
			_, err := identity.Resolve(o)
			if place != "--token" && strings.TrimSpace(bad) == "" {
				if err != nil {
					t.Errorf("an empty variable is no token: %v", err)
				}
				continue
			}
			e := wantFault(t, err, hubclient.CodeTokenMalformed)
			text := e.Error() + e.Hint
			if !strings.Contains(text, place) || strings.Contains(text, flagToken[:12]) || strings.Contains(text, "secret") {
				t.Errorf("%q of %s: %v", bad, place, e)
			}
		}
	}
	empty := ""
	_, err := identity.Resolve(identity.Options{Token: &empty,
		LookupEnv: environment(identity.TokenVariable + "=" + envToken), Logins: logins(t, "", nil)})
	if e := wantFault(t, err, hubclient.CodeTokenMalformed); e.Error() != "the token of --token is empty" {
		t.Error(e)
	}
}

func TestResolve_RejectsMalformedOriginBySource(t *testing.T) {
	for place, o := range map[string]identity.Options{
		"--origin": {Origin: given("hub.example.com"),
			LookupEnv: environment(identity.OriginVariable + "=" + a)},
		identity.OriginVariable: {LookupEnv: environment(identity.OriginVariable + "=https://user:secret@hub/")},
	} {
		o.Logins = logins(t, "", nil)
		_, err := identity.Resolve(o)
		if e := wantFault(t, err, hubclient.CodeNotAHub); !strings.HasPrefix(e.Error(), place+" is ") ||
			strings.Contains(e.Error(), "secret") {
			t.Error(e)
		}
	}
}

func TestNeedToken_ExplainsMissingToken(t *testing.T) {
	for name, test := range map[string]struct {
		env    []string
		hint   string
		origin string
	}{
		"unset": {nil, "give one with --token or TOOL_HUB_TOKEN, or log in", a},
		"empty": {[]string{"TOOL_HUB_TOKEN="}, "TOOL_HUB_TOKEN is set, but empty", a},
		"blank": {[]string{"TOOL_HUB_TOKEN= \r\n\ufeff"}, "TOOL_HUB_TOKEN is set, but empty", c},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := identity.Resolve(identity.Options{Origin: &test.origin, LookupEnv: environment(test.env...),
				Logins: logins(t, "", nil)})
			if err != nil {
				t.Fatal(err)
			}
			e := wantFault(t, id.NeedToken(), failure.CodeNoToken)
			if e.Error() != "there is no token for "+test.origin || e.Hint != test.hint ||
				fmt.Sprint(e.Recipe) != "[tool login --origin "+test.origin+"]" {
				t.Errorf("%v, hint %q, recipe %q", e, e.Hint, e.Recipe)
			}
		})
	}
	id, err := identity.Resolve(identity.Options{Token: &flagToken, LookupEnv: environment(), Logins: logins(t, "", nil)})
	if err != nil || id.NeedToken() != nil {
		t.Errorf("%v, %v", err, id.NeedToken())
	}
}

// wantFault checks a failure's code.
func wantFault(t testing.TB, err error, code wire.Code) failure.Failure {
	t.Helper()
	if err == nil {
		t.Fatalf("there is no failure, want %s", code)
	}
	e := failure.Of(err)
	if e.Code != code {
		t.Errorf("the code is %s, want %s: %v", e.Code, code, err)
	}
	return e
}
