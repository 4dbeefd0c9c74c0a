//go:build unix

package golden_test

import (
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestHome_IgnoresPastedText(t *testing.T) {
	t.Parallel()
	w := household(t)
	term := w.open(usual)
	term.wait("> gone")
	for _, text := range []string{"q", "jpfq", "f", "\r", "q\rq"} {
		term.press(pasted(text))
	}
	term.press(down)
	term.wait("> shop")
	term.press("q")
	term.ends(0)
}

func TestQuestion_IgnoresPastedText(t *testing.T) {
	w := edited(t)
	held := w.config()
	term := w.open(usual, "push", "web")
	term.view("[n] Cancel")
	term.press(pasted("y") + pasted("y\r"))
	term.press(down)
	term.view("> - old")
	term.press("n")
	term.ends(0)

	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.1.0"}`+"\n")
	term = w.open(usual, "publish", "web")
	term.wait("> Cancel")
	term.press(pasted("k\r") + enter)
	term.ends(0)
	term = w.open(usual, "publish", "web")
	term.wait("esc cancel")
	term.press(escape)
	term.ends(0)
	if got := w.config(); got != held {
		t.Errorf("the hub's config changed: %s", got)
	}
	if !strings.Contains(term.text(), "Aborted") {
		t.Errorf("it says\n%s", term.text())
	}
}

// What is typed while the hub is asked was not meant for a question that nobody
// has seen.
func TestQuestion_DiscardsInputTypedAhead(t *testing.T) {
	w := edited(t)
	held := w.config()
	var holding atomic.Bool
	asked, release := make(chan bool), make(chan bool)
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if holding.Load() && strings.HasSuffix(r.URL.Path, "/web/config") {
			asked <- true
			<-release
		}
		hub.ServeHTTP(rw, r)
	})
	holding.Store(true)
	for _, c := range []struct{ env, keys, echo, shown string }{
		{"TERM=xterm", "y", "y", "[n] Cancel"},
		{"TERM=dumb", "y\n", "y\n", "(default 2):\n"},
	} {
		command := w.command("push", "web")
		command.Env = append(command.Env, c.env)
		term := open(t, command, usual, false)
		<-asked
		term.press(c.keys)
		term.until("echoes "+c.keys, func(s string) bool { return strings.Contains(s, c.echo) })
		release <- true
		term.until("shows "+c.shown, func(s string) bool { return strings.Contains(s, c.shown) })
		term.press("n" + enter)
		term.ends(0)
		if got := w.config(); got != held {
			t.Errorf("%s: the hub's config changed: %s", c.env, got)
		}
	}
}

func TestTerminal_WithoutASizeIsTakenFor80x24(t *testing.T) {
	w := household(t)
	term := openReporting(t, w.command(), usual, size{}, false)
	term.wait("> gone")
	w.show(term, "home-gone")
	term.report(size{40, 15})
	term.wait("\n             not on the hub or not for\n") // which is wrapped there
	term.report(size{0, 0})
	term.wait("destination  @alice/gone (client.json), not on the hub")
	w.show(term, "home-gone")
	term.press("q")
	term.ends(0)

	term = openReporting(t, w.command("project", "create", "--from", "web"), usual, size{}, false)
	term.wait("> Continue")
	w.show(term, "wizard-no-size")
	term.press(ctrlC)
	term.ends(130)
}

func TestTerminal_InCIIsAskedNothing(t *testing.T) {
	w := edited(t)
	for value, asks := range map[string]bool{"true": false, "1": false, "woodpecker": false, "": true, "0": true,
		"false": true} {
		w.patch(`{"set": {"title": "Mice"}}`)
		c := w.command("push", "web")
		c.Env = append(c.Env, "CI="+value)
		term := open(t, c, usual, false)
		if asks {
			term.wait("[n] Cancel")
			term.press("n")
		}
		term.ends(0)
		if pushed := strings.Contains(w.config(), "Animals and people"); pushed == asks {
			t.Errorf("CI=%s: pushed: %t", value, pushed)
		}
		if !asks && strings.Contains(term.output(), escape) {
			t.Errorf("CI=%s: an escape code: %q", value, term.output())
		}
	}
	c := w.command()
	c.Env = append(c.Env, "CI=true")
	term := open(t, c, usual, false)
	term.ends(0)
	if !strings.Contains(term.output(), "Usage:") {
		t.Errorf("tool alone says\n%s", term.output())
	}
}

func TestView_IsSuspendedByCtrlZAndRedrawn(t *testing.T) {
	w := edited(t)
	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.1.0"}`+"\n")
	bash := need(t, "bash", "job control")
	for _, c := range []struct {
		command, shown, keys string
		code                 int
	}{
		{"tool push web", "[n] Cancel", "n", 0},
		{"tool publish web", "> Cancel", enter, 0},
		{"tool project create --from web", "> Continue", ctrlC, 130},
		{"tool", "> web", "q", 0},
	} {
		t.Run(c.command, func(t *testing.T) {
			w.suspended(bash, c.command, c.shown, c.keys).ends(c.code)
		})
	}
	// Which of several, and a text that was begun.
	w.write(".tool/shop/client.json", `{"settings": {}}`+"\n")
	t.Run("choose", func(t *testing.T) {
		w.suspended(bash, "tool publish", "Which local project?", ctrlC).ends(130)
	})
	t.Run("type", func(t *testing.T) {
		term := w.jobs(bash, "tool project create --from web")
		term.view("> Continue")
		term.press(enter)
		term.view("Slug")
		term.press("er")
		term.wait("er is available")
		term.suspend()
		term.press("y")
		term.wait("ery is available")
		term.press(ctrlC)
		term.ends(130)
	})
}

func TestChecklist_IsSuspendedByCtrlZAndRedrawn(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	held, released := make(chan bool), make(chan bool)
	hold, release := sync.OnceFunc(func() { close(held) }), sync.OnceFunc(func() { close(released) })
	defer release()
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if r.Method == http.MethodPost && r.URL.String() == "/v1/projects" { // and no dry run
			hold()
			<-released
		}
		hub.ServeHTTP(rw, r)
	})
	term := w.jobs(need(t, "bash", "job control"), "tool project create web")
	<-held
	term.wait("create the project")
	term.suspend()
	release()
	term.wait("Created @alice/web")
	term.ends(0)
	if n := strings.Count(term.text(), "create the project"); n != 1 {
		t.Errorf("%d copies of the list remain:\n%s", n, term.text())
	}
}

func TestPull_ConflictsAreSuspendedByCtrlZAndRedrawn(t *testing.T) {
	w := edited(t)
	w.patch(`{"set": {"title": "Theirs"}}`)
	w.suspended(need(t, "bash", "job control"), "tool pull web", "to choose", "q").ends(0)
}

// suspended returns a terminal in which a view was suspended, continued and sent keys.
func (w *world) suspended(bash, line, shown, keys string) *terminal {
	w.t.Helper()
	term := w.jobs(bash, line)
	term.wait(shown)
	before := term.text()
	term.suspend()
	term.until("shows what it showed", func(s string) bool { return strings.Contains(s, strings.TrimSpace(before)) })
	term.press(keys)
	return term
}

// jobs returns a terminal with a shell that runs a line and, once that is suspended and a
// line was read, continues it on a clear screen.
func (w *world) jobs(bash, line string) *terminal {
	w.t.Helper()
	command := exec.Command(bash, "-c", "set -m; "+line+"; echo status $?; read line; clear; fg")
	command.Dir, command.Env = w.dir, w.env
	return open(w.t, command, usual, false)
}

// suspend suspends what runs in a terminal of jobs, and has it continued.
func (term *terminal) suspend() {
	term.t.Helper()
	term.press(ctrlZ)
	term.wait("status 148") // by SIGTSTP
	term.press("\n")
}

// Without a shell that controls jobs nothing would continue a stopped program.
func TestView_GoesOnAfterCtrlZWithoutJobControl(t *testing.T) {
	w := edited(t)
	term := w.open(usual, "push", "web")
	term.view("[n] Cancel")
	term.press(ctrlZ)
	term.press(down)
	term.view("> - old")
	term.press("n")
	term.ends(0)
}

// Lines above a view would be wrapped anew when the terminal is resized, and copies
// of the view would stay among them.
func TestWizard_HasAScreenOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	for _, c := range []struct {
		args  []string
		shown string
	}{{[]string{"project", "create"}, "> Continue"},
		{[]string{"login", "--origin", "http://127.0.0.1:1"}, "> In a browser"}} {
		term := w.open(usual, c.args...)
		term.wait(c.shown)
		if !term.alternate() {
			t.Errorf("tool %s draws among other lines", strings.Join(c.args, " "))
		}
		term.press(ctrlC)
		term.ends(130)
		if text := term.text(); !strings.HasPrefix(text, "error:") {
			t.Errorf("it leaves behind\n%s", text)
		}
	}
}
