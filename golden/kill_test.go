//go:build unix

package golden_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	xterm "golang.org/x/term"
)

// endings are all the ways in which a person or a system ends a question.
var endings = []struct {
	name string
	end  func(*terminal)
	code int
}{
	{"ctrl-c", func(term *terminal) { term.press(ctrlC) }, 130},
	{"end of input", func(term *terminal) { term.press(ctrlD) }, 130},
	{"SIGTERM", func(term *terminal) { term.cmd.Process.Signal(syscall.SIGTERM) }, 143},
	{"SIGHUP", func(term *terminal) { term.cmd.Process.Signal(syscall.SIGHUP) }, 129},
	{"the terminal closes", func(term *terminal) { term.pty.Close() }, 129},
}

// question is one that can be led to, in a form and in lines.
type question struct {
	name string
	args []string
	form []turn   // the turns before it, and in the last what tells that it is there
	line []string // the same in lines: prompts, with a tab what is typed
}

// wizardQuestions are the steps of the wizard, each led to through those before.
func wizardQuestions() []question {
	form := []turn{
		{"> Continue", "", enter}, {"@alice/second is available", "", enter}, {"> Private", "", enter},
		{"> latest", "", enter},
		{"> Use @alice/pets", "", down + down}, {"> Use a registered", "", enter},
		{"Which registered API?", "", "@alice/pets" + enter},
		{"> Not now", "", enter}, {"> Create", "", ""},
	}
	line := []string{
		"(default 1):\t", "(default second; < goes back):\t", "(default 1; < goes back):\t", "(default 1; < goes back):\t",
		"(default 1; < goes back):\t3", "@account/slug (< goes back):\t@alice/pets", "(default 2; < goes back):\t",
		"(default 1; < goes back):\t",
	}
	names := []string{"start", "slug", "visibility", "version", "api", "api ref", "files", "review"}
	ends := []int{1, 2, 3, 4, 5, 7, 8, 9} // one question more takes two turns
	var all []question
	for i, name := range names {
		turns := append([]turn{}, form[:ends[i]]...)
		turns[len(turns)-1].keys = ""
		all = append(all, question{"wizard: " + name, []string{"project", "create", "--from", "second"}, turns, line[:i+1]})
	}
	return all
}

func questions() []question {
	return append(wizardQuestions(),
		question{"push: overwrite", []string{"push", "web"}, []turn{{"[n] Cancel", "", ""}}, []string{"):\t"}},
		question{"pull: merge", []string{"pull", "web"}, []turn{{"[n] Cancel", "", ""}}, []string{"):\t"}},
		question{"pull: files", []string{"pull", "web", "--base-files"},
			[]turn{{"[n] Cancel", "", "y"}, {"> Cancel", "", ""}}, []string{"):\ty", "):\t"}},
		question{"publish", []string{"publish", "second"}, []turn{{"> Cancel", "", ""}}, []string{"(default 2):\t"}},
		question{"rm: name", []string{"project", "rm", "@alice/web"},
			[]turn{{"Esc cancels", "", "@alice/w"}, {"> @alice/w", "", ""}}, []string{"cancels:\t"}},
		question{"which local project", []string{"push"}, []turn{{"> second", "", ""}}, []string{"(default 1):\t"}},
		question{"create: which local project", []string{"project", "create"}, []turn{{"Which local project?", "", ""}},
			[]string{"(default 1):\t"}},
		question{"login: hub", []string{"login"}, []turn{{"Which hub?", "", ""}}, []string{"):\t"}},
		question{"login: token", []string{"login"},
			[]turn{{"Which hub?", "", ctrlU + "http://localhost:1" + enter}, {"> In a browser", "", down + enter},
				{"Token for", "", "hubpat_"}, {"*******", "", ""}},
			[]string{"):\thttp://localhost:1", "(default 1; < goes back):\t2", "not shown (< goes back):\t"}},
	)
}

// Whatever question stands on the screen, and however it ends there: nothing was
// changed, the terminal is as it was, and the exit code says what happened.
func TestQuestion_EndedChangesNothing(t *testing.T) {
	w := edited(t)
	w.write("index.html", "<p>theirs</p>\n")
	w.must("push", "web", "--base-files-only")
	w.patch(`{"set": {"size": 2}}`)
	w.write("index.html", "<p>mine</p>\n")
	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.1.0"}`)
	w.must("publish", "web", "--force") // a second version to choose
	w.write(".tool/second/client.json", `{"source": "openapi.json", "settings": {"a": 1}}`)
	w.write(".tool/second/stack.json", `{"name": "@alice/web", "version": "2.0.0"}`)
	files, hub, fresh := w.files(), w.state(), freshMode(t)
	count := 0
	for _, q := range questions() {
		for _, end := range endings {
			for _, variable := range []string{"TERM=xterm-256color", "TERM=dumb"} {
				t.Run(q.name+"/"+end.name+"/"+variable, func(t *testing.T) {
					c := w.command(q.args...)
					c.Env = append(c.Env, variable)
					term := open(t, c, size{80, 100}, false) // so that no prompt is scrolled away
					term.leadTo(q, variable == "TERM=dumb")
					end.end(term)
					term.ends(end.code)
					term.leftInOrder(fresh)
					if got := w.files(); got != files {
						t.Errorf("files were\n%s\nand are\n%s", files, got)
					}
				})
				count++
			}
		}
	}
	if got := w.state(); got != hub {
		t.Errorf("the hub had\n%s\nand has\n%s", hub, got)
	}
	t.Logf("%d questions ended", count)
}

// A program that another test starts meanwhile does not keep a terminal open: the test
// of a closed terminal would wait for its end.
func TestTerminal_IsNotInherited(t *testing.T) {
	t.Parallel()
	w := newEmpty(t)
	c := w.command("login")
	c.Env = append(c.Env, "TERM=dumb")
	term := open(t, c, usual, false)
	term.asked("):")
	other := exec.Command(need(t, "cat", "a program that waits"))
	input, err := other.StdinPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { input.Close(); other.Wait() }()
	term.pty.Close()
	term.ends(129)
}

// leadTo answers what comes before a question.
func (term *terminal) leadTo(q question, plain bool) {
	term.t.Helper()
	if !plain {
		for _, turn := range q.form {
			term.wait(turn.wait)
			if turn.keys != "" {
				term.press(turn.keys)
			}
		}
		return
	}
	for i, line := range q.line {
		prompt, keys, _ := strings.Cut(line, "\t")
		term.until(fmt.Sprintf("asks for the %d. time, with %s", i+1, prompt), func(screen string) bool {
			return len(plainPrompt.FindAllString(screen, -1)) == i+1 && strings.HasSuffix(screen, prompt+"\n")
		})
		if i < len(q.line)-1 {
			term.press(keys + "\r")
		}
	}
}

// plainPrompt is how every question in lines ends.
var plainPrompt = regexp.MustCompile(`(\(default [^)\n]*\)|\(< goes back\)|cancels|not shown):( |\n)`)

// freshMode returns how a terminal treats what is typed before any program runs.
func freshMode(t *testing.T) *xterm.State {
	t.Helper()
	control, program, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	defer program.Close()
	state, err := xterm.GetState(int(control.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// mode returns how the terminal treats what is typed; nil when it is closed.
func (term *terminal) mode() *xterm.State {
	state, err := xterm.GetState(int(term.pty.Fd()))
	if err != nil {
		return nil
	}
	return state
}

// leftInOrder checks that the program left the terminal as it found it.
func (term *terminal) leftInOrder(before *xterm.State) {
	term.t.Helper()
	if now := term.mode(); now != nil && !reflect.DeepEqual(now, before) {
		term.t.Errorf("the terminal was %+v and is %+v", before, now)
	}
	out := term.output()
	for show, hide := range map[string]string{"\x1b[?25h": "\x1b[?25l", "\x1b[?1049l": "\x1b[?1049h",
		"\x1b[?2004l": "\x1b[?2004h"} {
		if term.mode() != nil && strings.LastIndex(out, hide) > strings.LastIndex(out, show) {
			term.t.Errorf("%q was not taken back: %q", hide, out)
		}
	}
}

// files returns the names and digests of all files of the workspace.
func (w *world) files() string {
	w.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", path, sha256.Sum256(text))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

// state returns what alice has on the hub.
func (w *world) state() string {
	w.t.Helper()
	return w.get("/v1/projects?account=alice") + w.config() + w.get(aliceWeb+"/preview/base-files") +
		w.get("/v1/stacks/alice/web")
}
