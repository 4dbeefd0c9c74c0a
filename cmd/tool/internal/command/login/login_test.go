package login_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/hubclient/pat"
)

// loggedOut returns a World whose token is in nobody's hands yet.
func loggedOut(t *testing.T) *apptest.World {
	t.Helper()
	t.Parallel()
	w := apptest.New(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	return w
}

func TestLogin_StoresTheTokenFromStdin(t *testing.T) {
	w := loggedOut(t)
	w.Stdin = w.Token + "\n"
	w.Run(login.Command, "--with-token").Done().Prints("Logged in to "+w.Origin+" as alice", "write:config")
	w.Run(login.LogoutCommand).Done().Prints("Logged out of " + w.Origin)
	w.Run(login.LogoutCommand).Done().Prints("No token was stored for " + w.Origin)
}

func TestLogin_AsksForTheTokenThatIsMissing(t *testing.T) {
	w := loggedOut(t)
	delete(w.Env, "TOOL_API_ORIGIN")
	w.UI.Answers = []string{w.Origin, w.Token}
	w.Run(login.Command).Done().Prints("Logged in to")
	if len(w.UI.Asked) != 2 || !strings.Contains(w.UI.Asked[0], "Which hub?") || !strings.Contains(w.UI.Asked[1], "Token for "+w.Origin) {
		t.Errorf("asked %q", w.UI.Asked)
	}
	w.UI.Answers = []string{w.Origin}
	w.Run(login.Command).Done() // the stored token is still good
}

func TestLogin_FailsWithoutAGoodToken(t *testing.T) {
	w := loggedOut(t)
	w.Strict = true
	w.Run(login.Command).Exits(2).Prints("needs a token: none is stored for it")
	w.Run(login.Command, "--json", "--token", pat.New()).Fails("unauthorized", "login")
	w.Run(login.Command, "--json", "--token", "hubpat_x").Fails("token_malformed", "login")
	w.Run(login.Command, "--json", "--with-token").Fails("no_token", "login")
	w.Run(login.Command, "--with-token", "--token", "x").Exits(2)
	w.Run(login.Command, w.Token).Exits(2).Prints("takes no token as an argument")
}
