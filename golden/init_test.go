//go:build unix

package golden_test

import (
	"strings"
	"testing"
)

func TestInit_AsksForTheAccountWhenNobodyIsLoggedIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, want string }{
		{"alice", "\"name\": \"@alice/web\""}, {"", "\"version\": \"0.1.0\""},
	} {
		w := newEmpty(t)
		term := w.open(usual, "init", "web")
		w.talk(term, []turn{{"Which account does the stack belong to?", "", c.typed + enter}})
		term.wait("Created the local project web")
		term.ends(0)
		if got := w.read(".tool/web/stack.json"); !strings.Contains(got, c.want) || c.typed == "" &&
			strings.Contains(got, "name") {
			t.Errorf("%q: stack.json is %s", c.typed, got)
		}
	}
}

func TestStatus_SaysUnknownWhenNobodyIsLoggedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.must("logout", "--origin", w.origin)
	out := w.must("status", "--origin", w.origin)
	for _, want := range []string{"destination  @alice/web (client.json), unknown until you log in",
		"config       unknown until you log in", "stack        @alice/web, here 1.0.0, unknown until you log in"} {
		if !strings.Contains(out, want) {
			t.Errorf("status does not say %q:\n%s", want, out)
		}
	}
	c := w.command()
	c.Env = append(c.Env, "TOOL_API_ORIGIN="+w.origin)
	term := open(t, c, usual, false)
	term.wait("destination  @alice/web (client.json), unknown until you log in")
	term.press("q")
	term.ends(0)
}
