//go:build unix

package golden_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// edited returns a world whose settings differ from the hub's config.
func edited(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := newWorld(t, before)
	w.date()
	w.setting(after)
	return w
}

// date makes the config of @alice/web one that is 3 hours old in every run.
func (w *world) date() {
	w.t.Helper()
	written := time.Now().Add(-3*time.Hour - 30*time.Minute)
	execute(w.t, w.hub.db, fmt.Sprintf("UPDATE revisions SET at = %d WHERE kind = 'config'", written.UnixMicro()))
}

// show compares a screen with testdata/screen/name.txt.
func (w *world) show(term *terminal, name string) {
	w.t.Helper()
	// An address of the same length keeps lines from breaking elsewhere.
	text := strings.ReplaceAll(term.text(), w.hub.origin, "http://hub.example.com")
	golden(w.t, "screen/"+name+".txt", untilTime.ReplaceAllString(text, "until TIME"))
}

var untilTime = regexp.MustCompile(`until \d{1,2} [A-Z][a-z]+ \d{4} \d\d:\d\d UTC`)

func (w *world) open(s size, args ...string) *terminal {
	w.t.Helper()
	return open(w.t, w.command(args...), s, false)
}

func TestPush_OverwritesOnlyAfterYes(t *testing.T) {
	w := edited(t)
	held := w.config()
	for _, c := range []struct {
		name, keys string
		code       int
	}{
		{"n", "n", 0},
		{"esc", escape, 0},
		{"enter is no answer", enter + "n", 0},
		{"ctrl-c", ctrlC, 130},
		{"end of input", ctrlD, 130},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := w.open(usual, "push", "web")
			term.view("[n] Cancel")
			w.show(term, "push-question")
			term.press(c.keys)
			term.ends(c.code)
			if got := w.config(); got != held {
				t.Errorf("the hub's config changed: %s", got)
			}
			if c.code == 0 {
				w.show(term, "push-no")
			} else {
				w.show(term, "push-interrupted")
			}
		})
	}
	term := w.open(usual, "push", "web")
	term.view("[n] Cancel")
	term.press("y")
	term.ends(0)
	w.show(term, "push-yes")
	if got := w.config(); !strings.Contains(got, "Animals and people") {
		t.Errorf("the hub's config is still %s", got)
	}
}

func TestQuestion_EndsWithSignal(t *testing.T) {
	w := edited(t)
	held := w.config()
	for name, c := range map[string]struct {
		end  func(term *terminal)
		code int
	}{
		"SIGTERM":             {func(term *terminal) { term.cmd.Process.Signal(syscall.SIGTERM) }, 143},
		"SIGHUP":              {func(term *terminal) { term.cmd.Process.Signal(syscall.SIGHUP) }, 129},
		"SIGINT":              {func(term *terminal) { term.cmd.Process.Signal(syscall.SIGINT) }, 130},
		"the terminal closes": {func(term *terminal) { term.pty.Close() }, 129},
	} {
		for _, plain := range []string{"TERM=xterm", "TERM=dumb"} {
			t.Run(name+" "+plain, func(t *testing.T) {
				command := w.command("push", "web")
				command.Env = append(command.Env, plain)
				term := open(t, command, usual, false)
				term.until("asks", func(s string) bool {
					return strings.Contains(s, "[n] Cancel") || strings.HasSuffix(s, "(default 1):\n")
				})
				c.end(term)
				term.ends(c.code)
				if got := w.config(); got != held {
					t.Errorf("the hub's config changed: %s", got)
				}
			})
		}
	}
}

func TestPush_OverwritesOnlyWhatWasShown(t *testing.T) {
	w := edited(t)
	for name, s := range map[string]size{"push-again": usual, "push-again-narrow": narrow} {
		w.patch(`{"set": {"title": "Pets"}}`)
		term := w.open(s, "push", "web")
		term.view("[n] Cancel")
		w.patch(`{"set": {"title": "Mice"}}`)
		w.date()
		term.press("y")
		term.wait("alice changed it while you looked")
		term.view("[n] Cancel")
		w.show(term, name)
		if got := w.config(); !strings.Contains(got, "Mice") {
			t.Errorf("the edit is gone: %s", got)
		}
		term.press("n")
		term.ends(0)
	}

	term := w.open(usual, "push", "web")
	term.view("[n] Cancel")
	w.patch(`{"set": {"title": "Rats"}}`)
	term.press("y")
	term.wait("alice changed it while you looked")
	term.view("[n] Cancel")
	term.press("y")
	term.ends(0)
	if got := w.config(); !strings.Contains(got, "Animals and people") {
		t.Errorf("the hub's config is still %s", got)
	}
}

// What a flag allows is asked about all the same: only --force does without.
func TestPush_AsksWithIfRevisionToo(t *testing.T) {
	w := edited(t)
	held := w.config()
	var config struct{ Revision string }
	if err := json.Unmarshal([]byte(held), &config); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"push", "web", "--no-clobber"}, {"push", "web", "--if-revision", config.Revision}} {
		term := w.open(usual, args...)
		term.wait("[n] Cancel")
		term.press("n")
		term.ends(0)
		if got := w.config(); got != held {
			t.Errorf("%v: the hub's config is now %s", args, got)
		}
	}
}

func TestPush_DoesNotAskWithoutDifference(t *testing.T) {
	w := edited(t)
	for name, c := range map[string]struct {
		prepare func() // after which the settings are those of after
		args    []string
	}{
		"the hub holds it already": {func() { w.must("push", "web") }, []string{"push", "web"}},
		"the hub holds no config":  {func() { w.setting("{}"); w.must("push", "web") }, []string{"push", "web"}},
		"--force":                  {func() { w.patch(`{"set": {"title": "Mice"}}`) }, []string{"push", "web", "--force"}},
		"--no-input":               {func() { w.patch(`{"set": {"title": "Mice"}}`) }, []string{"push", "web", "--no-input"}},
		"--json":                   {func() { w.patch(`{"set": {"title": "Mice"}}`) }, []string{"push", "web", "--json"}},
		"--dry-run":                {func() { w.patch(`{"set": {"title": "Mice"}}`) }, []string{"push", "web", "--dry-run"}},
		"pull the same":            {func() { w.must("push", "web") }, []string{"pull", "web"}},
		"pull --force":             {func() { w.patch(`{"set": {"title": "Mice"}}`) }, []string{"pull", "web", "--force"}},
		"rm --force": {func() { w.must("project", "create", "second") },
			[]string{"project", "rm", "second", "--force"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.setting(after) // whatever the one before left
			c.prepare()
			w.setting(after)
			term := w.open(usual, c.args...)
			term.ends(0)
			colours := regexp.MustCompile(escape + `\[[0-9;]*m`)
			if out := colours.ReplaceAllString(term.output(), ""); strings.Contains(out, escape) {
				t.Errorf("an escape code: %q", out)
			}
		})
	}
}

func TestPush_MarksOtherDestination(t *testing.T) {
	w := edited(t)
	w.must("project", "create", "other")
	w.date()
	w.setting(before)
	term := w.open(usual, "push", "web", "--project", "@alice/other")
	term.view("[n] Cancel")
	w.show(term, "push-other")
	held := w.read(clientJSON)
	term.press("n")
	term.ends(0)
	if got := w.read(clientJSON); got != held {
		t.Errorf("client.json is now %s", got)
	}
}

func TestQuestion_FitsTerminal(t *testing.T) {
	w := edited(t)
	term := w.open(narrow, "push", "web")
	term.view("[n] Cancel")
	w.show(term, "push-question-narrow")
	term.press("n")
	term.ends(0)

	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf(`"key-%02d": %d`, i, i))
	}
	w.setting("{" + strings.Join(many, ", ") + "}")
	for name, s := range map[string]size{"push-many": usual, "push-many-narrow": narrow} {
		term := w.open(s, "push", "web")
		term.view("[n] Cancel")
		w.show(term, name)
		term.press("n")
		term.ends(0)
	}

	// Where no view fits, lines do.
	term = w.open(size{60, 8}, "push", "web")
	term.asked("(default 1):")
	term.press("no" + enter)
	term.ends(0)
}

func TestPull_MergesSettingsOnlyAfterYes(t *testing.T) {
	w := edited(t)
	w.patch(`{"set": {"size": 2}}`)
	w.date()
	mine := w.read(clientJSON)
	for keys, code := range map[string]int{"n": 0, ctrlC: 130} {
		term := w.open(usual, "pull", "web")
		term.view("[n] Cancel")
		w.show(term, "pull-question")
		term.press(keys)
		term.ends(code)
		if got := w.read(clientJSON); got != mine {
			t.Errorf("client.json is now %s", got)
		}
	}
	term := w.open(narrow, "pull", "web")
	term.view("[n] Cancel")
	w.show(term, "pull-question-narrow")
	term.press("y")
	term.ends(0)
	w.show(term, "pull-yes-narrow")
	if got := w.read(clientJSON); !strings.Contains(got, `"size": 2`) {
		t.Errorf("client.json is still %s", got)
	}
}

func TestPull_AsksAboutEachConflict(t *testing.T) {
	w := edited(t)
	mine := w.read(clientJSON)
	w.patch(`{"set": {"title": "Theirs"}}`)
	w.date()
	for _, keys := range []string{enter + "q", "mtTq"} {
		term := w.open(usual, "pull", "web")
		term.view("to choose")
		w.show(term, "pull-conflicts")
		term.press(keys)
		term.ends(0)
		if got := w.read(clientJSON); got != mine {
			t.Errorf("client.json is now %s", got)
		}
	}
	term := w.open(narrow, "pull", "web")
	term.view("to choose")
	w.show(term, "pull-conflicts-narrow")
	term.press("T" + enter)
	term.ends(0)
	if got := w.read(clientJSON); !strings.Contains(got, `"title": "Theirs"`) {
		t.Errorf("client.json is still %s", got)
	}
}

func TestProjectRm_RequiresFullName(t *testing.T) {
	w := edited(t)
	for _, c := range []struct {
		name, keys string
		code       int
	}{{"rm-nothing", enter, 0}, {"rm-nothing", escape, 0}, {"rm-ctrl-c", ctrlC, 130}} {
		term := w.open(usual, "project", "rm", "web")
		term.wait("Esc cancels")
		w.show(term, "rm-question")
		term.press(c.keys)
		term.ends(c.code)
		w.show(term, c.name)
		w.config()
	}
	for name, s := range map[string]size{"rm-typed-narrow": narrow, "rm-typed-narrow-high": {40, 24},
		"rm-typed-short": {50, 15}, "rm-typed-low": {40, 10}} {
		term := w.open(s, "project", "rm", "web")
		term.wait("cancel")
		term.press("@ali")
		term.wait("> @ali")
		w.show(term, name)
		term.press(ctrlC)
		term.ends(130)
	}
	term := w.open(usual, "project", "rm", "web")
	term.wait("Esc cancels")
	term.press("web" + enter)
	term.wait("✗ that is not @alice/web")
	w.show(term, "rm-wrong")
	w.config()
	term.press(ctrlU + "@alice/web" + enter)
	term.ends(0)
	w.show(term, "rm-done")
	if text, status := w.fetch(aliceWeb); status != 404 {
		t.Errorf("%d %s", status, text)
	}
}

func TestQuestion_PlainTerminalUsesLines(t *testing.T) {
	w := edited(t)
	held := w.config()
	ask := func(t *testing.T, env string, args ...string) *terminal {
		command := w.command(args...)
		command.Env = append(command.Env, env)
		return open(t, command, usual, false)
	}
	for _, env := range []string{"TERM=dumb", "ACCESSIBLE=1"} {
		t.Run(env, func(t *testing.T) {
			term := ask(t, env, "push", "web")
			term.asked("(default 1):")
			term.press("maybe\n")
			term.wait("Invalid answer: type a number from 1 to 3.")
			term.asked("(default 1):")
			term.press("no\n")
			term.ends(0)
			w.show(term, "plain-push")
			for keys, code := range map[string]int{ctrlC: 130, ctrlD: 130} {
				term := ask(t, env, "push", "web")
				term.asked("(default 1):")
				term.press(keys)
				term.ends(code)
			}
			if got := w.config(); got != held {
				t.Errorf("the hub's config changed: %s", got)
			}
			term = ask(t, env, "project", "rm", "web")
			term.asked("empty answer cancels:")
			term.press("web\n")
			term.wait("Invalid answer")
			term.asked("empty answer cancels:")
			term.press("\n")
			term.ends(0)
			w.show(term, "plain-rm")
			if out := term.output(); strings.Contains(out, escape) {
				t.Errorf("an escape code: %q", out)
			}
		})
	}
	term := ask(t, "TERM=dumb", "push", "web")
	term.asked("(default 1):")
	term.press("yes\n")
	term.ends(0)
	if got := w.config(); !strings.Contains(got, "Animals and people") {
		t.Errorf("the hub's config is still %s", got)
	}
}

var colour = regexp.MustCompile(`\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m`)

func TestNoColor(t *testing.T) {
	w := edited(t)
	for _, c := range []struct {
		env     string
		colours bool
	}{{"NO_COLOR=1", false}, {"NO_COLOR=", true}} {
		for name, s := range map[string]size{"push-question": usual, "push-question-narrow": narrow} {
			command := w.command("push", "web")
			command.Env = append(command.Env, c.env)
			term := open(t, command, s, false)
			term.view("[n] Cancel")
			w.show(term, name)
			if found := colour.FindString(term.output()); (found != "") != c.colours {
				t.Errorf("%s: colours are %v: %q", c.env, !c.colours, found)
			}
			term.press("n")
			term.ends(0)
		}
	}
}

func TestStart_SilentTerminalIsNotAwaited(t *testing.T) {
	w := edited(t)
	for _, args := range [][]string{{"--version"}, {"push", "--help"}, {"status"}, {"push", "web", "--dry-run"},
		{"project", "view"}} {
		term := open(t, w.command(args...), usual, true)
		term.ends(0)
		if out := term.output(); query.MatchString(out) {
			t.Errorf("tool %s: the terminal is asked: %q", strings.Join(args, " "), out)
		}
	}
	term := open(t, w.command("push", "web"), usual, true)
	term.view("[n] Cancel")
	if out := term.output(); query.MatchString(out) {
		t.Errorf("the terminal is asked: %q", out)
	}
	term.press("n")
	term.ends(0)
}

func TestPipe_HasNoEscapeCodes(t *testing.T) {
	w := edited(t)
	for _, args := range [][]string{{"push", "web"}, {"status"}, {"pull", "web"}, {"project", "rm", "web"}} {
		c := w.command(args...)
		c.Env = append(c.Env, "TERM=xterm-256color", "COLORTERM=truecolor")
		out, err := c.CombinedOutput()
		if code := codeOf(t, err); code != 0 || strings.Contains(string(out), escape) {
			t.Errorf("tool %s: exit %d: %q", strings.Join(args, " "), code, out)
		}
	}
}

// Only one of the two ends of a conversation is a terminal: nobody is asked.
func TestTerminal_NeedsInputAndOutput(t *testing.T) {
	w := edited(t)
	held := "Animals and people"
	for name, redirect := range map[string]string{"stdin": "tool push web < /dev/null",
		"stdout": "tool push web > out.txt"} {
		w.patch(`{"set": {"title": "Mice"}}`)
		c := exec.Command(need(t, "sh", "a shell"), "-c", redirect)
		c.Dir, c.Env = w.dir, w.env
		term := open(t, c, usual, false)
		term.ends(0)
		if got := w.config(); !strings.Contains(got, held) {
			t.Errorf("%s redirected: the hub's config is still %s", name, got)
		}
	}
}

// Others' edits that a push would undo stand apart, with who wrote them, and m merges them first.
func TestPush_OffersToMergeOthersEdits(t *testing.T) {
	for name, s := range map[string]size{"": usual, "-narrow": narrow} {
		t.Run("view"+name, func(t *testing.T) {
			w := edited(t)
			w.patch(`{"set": {"color": "red"}}`)
			w.date()
			term := w.open(s, "push", "web")
			term.view("[m] Merge")
			w.show(term, "push-undoes"+name)
			term.press("m")
			term.view("[y] Push ")
			w.show(term, "push-merged"+name)
			term.press("y")
			term.ends(0)
			if got := w.config(); !strings.Contains(got, `"color":"red"`) || !strings.Contains(got, "Animals and people") {
				t.Errorf("the hub's config is %s", got)
			}
		})
	}
}
