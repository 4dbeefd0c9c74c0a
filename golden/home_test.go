//go:build unix

package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// household returns a world with three local projects that stand differently.
func household(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, before)
	w.write(".tool/shop/client.json", `{"source": "openapi.json", "settings": {"basePath": "shop/src"}}`+"\n")
	w.write(".tool/shop/stack.json", `{"name": "@alice/web", "version": "1.1.0"}`+"\n")
	w.date()
	w.write(".tool/gone/client.json", `{"settings": {}, "project": "@alice/gone"}`+"\n")
	return w
}

func TestHome_ShowsStatus(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]size{"": usual, "-narrow": narrow} {
		w := household(t)
		term := w.open(s)
		term.wait("> gone")
		w.show(term, "home-gone"+name)
		term.press(down)
		term.wait("> shop")
		w.show(term, "home-shop"+name)
		term.press("j")
		term.wait("> web")
		term.wait("same")
		w.show(term, "home-same"+name)

		// An edit here, one on the hub, and both, as they are looked at again.
		w.setting(after)
		term.press("r")
		term.wait("changed here")
		w.patch(`{"set": {"title": "Mice"}}`)
		term.press("r")
		term.wait("changed here and on the hub")
		w.setting(before)
		term.press("r")
		term.wait("changed on the hub")
		w.show(term, "home-ahead"+name)
		term.press("q")
		term.ends(0)
	}
}

func TestHome_ActionsAreCommands(t *testing.T) {
	t.Parallel()
	w := household(t)
	opened := filepath.Join(filepath.Dir(w.dir), "opened")
	w.write("../bin/xdg-open", "#!/bin/sh\necho \"$1\" > "+opened+"\n")
	if err := os.Chmod(filepath.Join(w.dir, "../bin/xdg-open"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "PATH="+filepath.Join(w.dir, "../bin")+":"+programs()+":"+os.Getenv("PATH"))
	w.setting(after)
	term := w.open(usual)
	w.talk(term, []turn{
		{"> gone", "", down + down}, {"> web", "", "p"},
		{"[n] Cancel", "", "y"}, {"✓ Pushed web to @alice/web", "home-pushed", "p"}, // a disabled action says why
		{"· web is the same on the hub: there is nothing to push", "home-disabled", "?"},
		{"f  push with files", "home-help", "f"},
		{"> Cancel", "home-files", enter}, {"· Aborted: nothing was changed", "", "f"},
		{"> Cancel", "", up}, {"> Push them", "", enter}, {"✓ Pushed web to @alice/web", "", "o"},
		{"✓ The page of web is " + w.origin + "/@alice/web", "", up}, {"> shop", "", "u"}, {"> Cancel", "", up},
		{"> Publish it", "", enter},
		{"✓ Published @alice/web 1.1.0", "", "c"}, {"> Continue", "", enter}, {"@alice/shop is available", "", enter},
		{"> Private", "", enter}, {"> latest", "", enter},
		{"> Use @alice/pets", "", enter}, {"> Create", "", enter},
		{"✓ Created @alice/shop", "", up}, {"> gone", "", "p"},
		{"✗ push gone", "home-failed", down + down}, // a failure ends nothing
		{"> web", "", "h"}, {"History of web", "", "q"}, {"> web", "", ""},
	})
	w.patch(`{"set": {"title": "Mice"}}`)
	w.talk(term, []turn{
		{"> web", "", "r"}, {"changed on the hub", "", "d"}, {"Difference of web", "home-difference", escape},
		{"> web", "", "l"}, {"[n] Cancel", "", "y"}, {"✓ Pulled web", "", "q"},
	})
	term.ends(0)
	if got := w.read(clientJSON); !strings.Contains(got, "Mice") {
		t.Errorf("client.json is %s", got)
	}
	if got := w.config(); !strings.Contains(got, "Mice") || !strings.Contains(got, "accent") {
		t.Errorf("the config is %s", got)
	}
	if page, err := os.ReadFile(opened); err != nil || !strings.HasPrefix(string(page), w.hub.origin+"/link?code=") {
		t.Errorf("the page that was opened is %q, %v", page, err)
	}
	w.get("/v1/stacks/alice/web/versions/1.1.0")
	w.get("/v1/projects/alice/shop")
}

func TestHome_WithoutHubOrProject(t *testing.T) {
	t.Parallel()
	w := newEmpty(t)
	term := w.open(usual)
	term.wait("There is no local project here")
	w.show(term, "home-nothing")
	term.press("p") // there is nothing to push
	term.press("q")
	term.ends(0)

	w = household(t)
	w.hub.stop(t)
	term = w.open(usual)
	term.wait("cannot be reached")
	w.show(term, "home-unreachable")
	term.press(ctrlC)
	term.ends(130)
}

func TestHome_PlainTerminalUsesLines(t *testing.T) {
	t.Parallel()
	w := household(t)
	c := w.command()
	c.Env = append(c.Env, "ACCESSIBLE=1")
	term := open(t, c, size{80, 60}, false)
	term.askedTimes(1, "(default", "(default 11):")
	term.press("2\r") // pull
	term.askedTimes(2, "(default", "(default 1; < goes back):")
	term.press("3\r") // web
	term.askedTimes(3, "(default", "(default 11):")
	term.press("\r") // leave
	term.ends(0)
	w.show(term, "home-plain")
	if out := term.output(); strings.Contains(out, escape) {
		t.Errorf("an escape code: %q", out)
	}
}

func TestHome_ShowsHelpInPipeline(t *testing.T) {
	help := output(t, "tool", "--help")
	if got := output(t, "tool"); got != help {
		t.Errorf("tool alone prints\n%s", got)
	}
}

func TestHome_AsksBeforeTheFirstPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "{}")
	w.setting(before)
	term := w.open(usual)
	w.talk(term, []turn{{"> web", "", "p"}, {"[n] Cancel", "home-first", "n"}, {"· Aborted", "", "q"}})
	term.ends(0)
	if got := w.config(); strings.Contains(got, "Pets") {
		t.Errorf("the config is %s", got)
	}
}

func TestHome_AsksForEachLoginAnew(t *testing.T) {
	t.Parallel()
	w := newEmpty(t)
	w.hub.admin(t, "account", "create", "bob")
	revoked := w.hub.token(t, "bob")
	w.hub.admin(t, "token", "revoke", "--user", "bob", "--all")
	taken := func(token string) turn { return turn{strings.Repeat("*", len(token)), "", enter} }
	term := w.open(usual)
	w.talk(term, []turn{
		{"You are not logged in", "", "i"}, {"Which hub?", "", ctrlU + w.origin + enter},
		{"> In a browser", "", down + enter}, {"Token for", "", revoked}, taken(revoked),
		{"✗ log in:", "", "i"}, {"Which hub?", "", ctrlU + w.origin + enter}, {"> In a browser", "", down + enter},
		{"Token for", "", w.token}, taken(w.token),
		{"✓ Logged in to", "", "i"}, {"Which hub?", "", ctrlC},
	})
	term.ends(130)
}

func TestHome_ActionsCanBeLeft(t *testing.T) {
	t.Parallel()
	w := household(t)
	w.setting(after)
	w.patch(`{"set": {"fromTheHub": true}}`) // a pull takes it
	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.1.0"}`+"\n")
	for _, c := range []struct{ key, asks, stage string }{
		{"p", "[n] Cancel", "push"}, {"f", "> Cancel", "push"}, {"l", "[n] Cancel", "pull"}, {"u", "> Cancel", "publish"},
		{"c", "> Continue", "create"}, {"i", "Which hub?", "login"},
	} {
		t.Run(c.key, func(t *testing.T) {
			term := w.open(usual)
			w.talk(term, []turn{{"> gone", "", down + down}, {"> web", "", c.key}, {c.asks, "", escape}})
			if strings.HasPrefix(c.asks, "[") { // it has an answer by escape: no
				w.talk(term, []turn{{"· Aborted", "", ""}})
			}
			w.talk(term, []turn{{"> web", "", c.key}, {c.asks, "", ctrlC}})
			term.ends(130)
			if text := strings.ReplaceAll(term.text(), "\n", " "); !strings.Contains(text, "interrupted (stage "+c.stage+")") {
				t.Errorf("it says\n%s", text)
			}
		})
	}
	term := w.open(usual)
	w.talk(term, []turn{{"> gone", "", ctrlC}})
	term.ends(130)
	if text := term.text(); text != "error: show the overview: interrupted (stage home)\n  hint: nothing was changed\n" {
		t.Errorf("it says\n%s", text)
	}
}

func TestHome_SaysThatAProjectIsUnknownWithoutALogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.must("logout", "--origin", w.origin)
	c := w.command()
	c.Env = append(c.Env, "TOOL_API_ORIGIN="+w.origin)
	term := open(t, c, usual, false)
	term.wait("> web  · unknown until you log in")
	term.press("q")
	term.ends(0)
}
