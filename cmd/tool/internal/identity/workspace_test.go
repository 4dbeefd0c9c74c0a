package identity_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/wire"
)

func TestResolve_WorkspaceChoosesTheLogin(t *testing.T) {
	def := identity.DefaultOrigin
	stored := map[string]string{a: tokenA, b: tokenB}
	for _, test := range []struct {
		name                                string
		token, origin, variable, env, where string // where is the workspace's hub
		wantToken, wantOrigin               string
		source                              identity.Source
		other                               bool
	}{
		{name: "its entry, not the current one", where: b, wantToken: tokenB, wantOrigin: b, source: identity.FromLogin},
		{name: "no workspace", wantToken: tokenA, wantOrigin: a, source: identity.FromLogin},
		{name: "no entry", where: c, wantOrigin: c, source: identity.FromWorkspace},
		{name: "flag", where: b, origin: a, wantToken: tokenA, wantOrigin: a, source: identity.FromFlag, other: true},
		{name: "variable", where: b, variable: a, wantToken: tokenA, wantOrigin: a, source: identity.FromEnvironment,
			other: true},
		{name: "same flag", where: b, origin: b, wantToken: tokenB, wantOrigin: b, source: identity.FromFlag},
		{name: "given token for the default", where: def, token: flagToken, wantToken: flagToken, wantOrigin: def,
			source: identity.FromDefault},
		{name: "environment file", where: b, env: a, wantToken: tokenA, wantOrigin: a, source: identity.FromEnvFile},
		{name: "environment file before variable", env: a, variable: b, wantToken: tokenA, wantOrigin: a,
			source: identity.FromEnvFile},
		{name: "given token for an environment file", token: flagToken, env: a, variable: a, wantToken: flagToken,
			wantOrigin: a, source: identity.FromEnvFile},
	} {
		t.Run(test.name, func(t *testing.T) {
			id, err := identity.Resolve(identity.Options{
				Token: given(test.token), Origin: given(test.origin), EnvFile: test.env, Workspace: test.where,
				LookupEnv: environment(identity.OriginVariable + "=" + test.variable), Logins: logins(t, a, stored),
			})
			if err != nil {
				t.Fatal(err)
			}
			if id.Token != test.wantToken || id.Origin != test.wantOrigin || id.OriginSource != test.source ||
				id.UsesOtherHub() != test.other {
				t.Errorf("%+v, other hub: %v", id, id.UsesOtherHub())
			}
		})
	}
}

func TestResolve_SendsAGivenTokenToNoHubThatWasNotNamed(t *testing.T) {
	for want, o := range map[string]identity.Options{
		"http://127.0.0.1:4680, the default: the hub of this workspace is " + a: {Workspace: a},
		a + ", which only the environment's file names":                         {EnvFile: a},
	} {
		o.LookupEnv, o.Logins = environment(identity.TokenVariable+"="+flagToken), logins(t, a, map[string]string{a: tokenA})
		_, err := identity.Resolve(o)
		f := failure.Of(err)
		if f.Code != failure.CodeNoToken || f.Error() != "the token of TOOL_HUB_TOKEN is not sent to "+want ||
			!strings.Contains(f.Hint, "--origin") {
			t.Errorf("%+v", f)
		}
	}
}

func TestNeedToken_SaysToLogInToTheHubOfTheWorkspace(t *testing.T) {
	for code, o := range map[wire.Code]identity.Options{
		failure.CodeNotLoggedIn: {Workspace: c},
		failure.CodeNoToken:     {Origin: given(c), Workspace: a},
	} {
		o.LookupEnv, o.Logins = environment(), logins(t, a, map[string]string{a: tokenA})
		id, err := identity.Resolve(o)
		if err != nil {
			t.Fatal(err)
		}
		f := failure.Of(id.NeedToken())
		if f.Code != code || len(f.Recipe) != 1 || f.Recipe[0].String() != "tool login --origin "+c {
			t.Errorf("%s: %+v", code, f)
		}
	}
}
