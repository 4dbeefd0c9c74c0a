package login_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/cmd/tool/internal/command/status"
)

// twoHubs returns a World that is logged in to two hubs, and the second of them, which is
// the current one. No variable selects a hub.
func twoHubs(t *testing.T) (w, other *apptest.World) {
	w = loggedOut(t)
	delete(w.Env, "TOOL_API_ORIGIN")
	other = apptest.New(t)
	w.Strict = true
	for _, hub := range []*apptest.World{w, other} {
		w.Run(login.Command, "--origin", hub.Origin, "--token", hub.Token).Done()
	}
	return w, other
}

func TestLogin_ChangesTheWorkspaceOnlyWhenAsked(t *testing.T) {
	w, other := twoHubs(t)
	belongs := func(origin string) {
		t.Helper()
		if got := w.Read(".tool/hub.json"); !strings.Contains(got, `"`+origin+`"`) {
			t.Errorf("hub.json is %s, want %s", got, origin)
		}
	}
	w.Write(".tool/hub.json", `{"origin": "`+w.Origin+`"}`)
	w.Run(login.Command, "--origin", other.Origin).Done().Prints("this workspace belongs to "+w.Origin,
		"--origin "+other.Origin+" --workspace")
	belongs(w.Origin)
	w.Run(login.Command, "--origin", other.Origin, "--workspace").Done().Prints(
		other.Origin + " was recorded in .tool/hub.json as the hub of this workspace (was " + w.Origin + ")")
	belongs(other.Origin)

	w.Strict = false
	for answer, want := range map[string]string{"no": other.Origin, "yes": w.Origin} {
		w.Write(".tool/hub.json", `{"origin": "`+other.Origin+`"}`)
		w.UI.Answers = []string{answer}
		w.Run(login.Command, "--origin", w.Origin).Done()
		belongs(want)
	}
}

func TestLogin_SaysThatItStoredTheTokenWhenTheQuestionAboutTheWorkspaceIsInterrupted(t *testing.T) {
	w, other := twoHubs(t)
	w.Write(".tool/hub.json", `{"origin": "`+w.Origin+`"}`)
	w.Strict, w.UI.Answers = false, []string{"ctrl-c"}
	w.Run(login.Command, "--origin", other.Origin).Exits(130).Prints("the login was stored")
}

func TestLogin_RecordsNoHubByItself(t *testing.T) {
	w, _ := twoHubs(t)
	w.Write(".tool/web/client.json", `{}`)
	w.Run(login.Command, "--origin", w.Origin).Done()
	if r := w.Run(status.Command, "--json").Done().JSON(); r["originSource"] != "login" || r["origin"] != w.Origin {
		t.Errorf("%v", r)
	}
	w.Run(login.Command, "--origin", w.Origin, "--workspace").Done().Prints("was recorded in .tool/hub.json")
}

func TestLogin_WorkspaceNeedsOne(t *testing.T) {
	w, _ := twoHubs(t)
	w.Run(login.Command, "--origin", w.Origin, "--workspace", "--json").Fails("no_workspace", "read")
}

func TestLogout_RemovesTheLoginOfTheWorkspace(t *testing.T) {
	w, other := twoHubs(t)
	w.Write(".tool/hub.json", `{"origin": "`+w.Origin+`"}`)
	w.Run(login.LogoutCommand).Done().Prints("Logged out of "+w.Origin, "the current hub is "+other.Origin)
	w.Run(login.LogoutCommand).Done().Prints("No token was stored for "+w.Origin, "the current hub is "+other.Origin)
	w.Full = true
	if r := w.Run(login.LogoutCommand).Exits(1); strings.Contains(r.Err, "was removed") {
		t.Errorf("no login was stored: %s", r.Err)
	}
	w.Full = false
	w.Run(status.Command).Done().Prints("Hub "+w.Origin+" (workspace)", "there is no token", "login --origin "+w.Origin)
}

func TestLogout_MakesNoOtherHubTheCurrentOne(t *testing.T) {
	w, other := twoHubs(t)
	w.Run(login.LogoutCommand).Done().Prints("Logged out of "+other.Origin,
		"no hub is current now; to choose one: tool -C "+w.Dir+" login --origin "+w.Origin)
	if r := w.Run(login.LogoutCommand, "--origin", w.Origin, "--json").Done().JSON(); r["existed"] != true ||
		r["current"] != "" {
		t.Errorf("%v", r)
	}
}

func TestHubJSON_MalformedOneIsNamed(t *testing.T) {
	w, _ := twoHubs(t)
	w.Write(".tool/hub.json", "{\n  \"origin\": 1}")
	for _, command := range []apptest.Command{status.Command, login.Command, login.LogoutCommand} {
		r := w.Run(command, "--json").Fails("invalid_file", "read")
		if reason, _ := r["reason"].(string); !strings.Contains(reason, ".tool/hub.json:2:13: origin is a number") {
			t.Error(reason)
		}
	}
}
