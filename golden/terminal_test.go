//go:build unix

package golden_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"
)

// terminal is a program that runs in a terminal, and what a person sees of it.
type terminal struct {
	t    testing.TB
	pty  *os.File
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended and all of its output is drawn

	mu      sync.Mutex
	screen  vt10x.Terminal
	bytes   bytes.Buffer
	changed chan struct{} // closed at the next output
}

// size is that of a terminal.
type size struct{ columns, rows uint16 }

var (
	usual  = size{80, 24}
	narrow = size{40, 15}
)

// patience is how long a test waits for what has to come. It only ends a test
// that has gone wrong.
const patience = 30 * time.Second

// open runs a command in a terminal of the given size. A silent terminal never
// answers what a program asks of it.
func open(t testing.TB, c *exec.Cmd, s size, silent bool) *terminal {
	t.Helper()
	return openReporting(t, c, s, s, silent)
}

// openReporting runs a command in a terminal that reports another size than it has.
func openReporting(t testing.TB, c *exec.Cmd, s, reported size, silent bool) *terminal {
	t.Helper()
	opened, err := pty.StartWithSize(c, &pty.Winsize{Cols: reported.columns, Rows: reported.rows})
	if err != nil {
		t.Fatal(err)
	}
	file := interruptible(t, opened)
	answers := io.Writer(file)
	if silent {
		answers = io.Discard
	}
	term := &terminal{
		t: t, pty: file, cmd: c, done: make(chan struct{}), changed: make(chan struct{}),
		screen: vt10x.New(vt10x.WithSize(int(s.columns), int(s.rows)), vt10x.WithWriter(answers)),
	}
	go term.draw()
	t.Cleanup(term.close)
	return term
}

// close ends the program, however far it is.
func (term *terminal) close() {
	term.cmd.Process.Kill()
	<-term.done
	term.pty.Close()
}

// interruptible returns a file whose reads end when it is closed, which is how a
// terminal is closed under a program. No other program inherits it: one that a parallel
// test starts would keep the terminal open.
func interruptible(t testing.TB, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(f.Close(), syscall.SetNonblock(fd, true))
	}
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

// draw shows output until the program has ended.
func (term *terminal) draw() {
	defer close(term.done)
	buffer := make([]byte, 4096)
	for {
		n, err := term.pty.Read(buffer)
		term.mu.Lock()
		term.bytes.Write(buffer[:n])
		term.screen.Write(bytes.ReplaceAll(buffer[:n], []byte("\x1b[2m"), []byte("\x1b[3m"))) // it knows no faint text
		close(term.changed)
		term.changed = make(chan struct{})
		term.mu.Unlock()
		if err != nil { // on Linux: nobody has the other end open any more
			term.cmd.Wait()
			return
		}
	}
}

// text returns the screen: its lines without white space at their ends, and
// without the empty ones at the bottom.
func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.lines()
}

func (term *terminal) lines() string {
	var lines []string
	for line := range strings.SplitSeq(term.screen.String(), "\n") {
		lines = append(lines, strings.TrimRight(line, " \x00"))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// output returns all bytes that the program wrote.
func (term *terminal) output() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.bytes.String()
}

// wait waits until the screen shows text, which has to tell what has the focus.
func (term *terminal) wait(text string) {
	term.t.Helper()
	term.until("shows "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

// view waits until a view shows text and is drawn to its end, where the cursor is
// then: a frame can arrive in parts.
func (term *terminal) view(text string) {
	term.t.Helper()
	term.until("shows "+text+" in a whole view", func(screen string) bool {
		cursor := term.screen.Cursor()
		return strings.Contains(screen, text) && cursor.X == 0 && cursor.Y == strings.Count(screen, "\n")-1
	})
}

// resize gives the terminal another size.
func (term *terminal) resize(s size) {
	term.t.Helper()
	term.mu.Lock()
	term.screen.Resize(int(s.columns), int(s.rows))
	term.mu.Unlock()
	term.report(s)
}

// report tells the program another size than the terminal has.
func (term *terminal) report(s size) {
	term.t.Helper()
	if err := pty.Setsize(term.pty, &pty.Winsize{Cols: s.columns, Rows: s.rows}); err != nil {
		term.t.Fatal(err)
	}
}

// asked waits until the cursor stands behind a plain prompt.
func (term *terminal) asked(prompt string) {
	term.t.Helper()
	term.until("ends with "+prompt, func(screen string) bool { return strings.HasSuffix(screen, prompt+"\n") })
}

// until waits until the screen is as it should be.
func (term *terminal) until(what string, holds func(screen string) bool) {
	term.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		term.mu.Lock()
		screen, changed := term.lines(), term.changed
		held := holds(screen)
		term.mu.Unlock()
		if held {
			return
		}
		select {
		case <-changed:
		case <-term.done:
			term.mu.Lock()
			held := holds(term.lines())
			term.mu.Unlock()
			if held {
				return
			}
			term.t.Fatalf("the program ended (%v), and no screen %s:\n%s", term.cmd.ProcessState, what, term.text())
		case <-timer.C:
			term.t.Fatalf("no screen %s:\n%s", what, term.text())
		}
	}
}

// press types keys.
func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := io.WriteString(term.pty, keys); err != nil {
		term.t.Fatal(err)
	}
}

// Keys.
const (
	enter    = "\r"
	up       = "\x1b[A"
	down     = "\x1b[B"
	pageDown = "\x1b[6~"
	home     = "\x1b[H"
	end      = "\x1b[F"
	ctrlC    = "\x03"
	ctrlD    = "\x04"
	ctrlU    = "\x15"
	ctrlZ    = "\x1a"
	escape   = "\x1b"
)

// pasted is text as a terminal sends it when it is pasted.
func pasted(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

// alternate reports whether a screen of the program's own is shown.
func (term *terminal) alternate() bool {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.screen.Mode()&vt10x.ModeAltScreen != 0
}

// end waits for the program's end and returns its exit code.
func (term *terminal) end() int {
	term.t.Helper()
	select {
	case <-term.done:
	case <-time.After(patience):
		term.t.Fatalf("the program does not end:\n%s", term.text())
	}
	return exitCode(term.cmd.ProcessState)
}

func exitCode(state *os.ProcessState) int {
	if state == nil {
		return -1
	}
	return state.ExitCode()
}

// ends waits for the program's end and checks its exit code.
func (term *terminal) ends(code int) {
	term.t.Helper()
	if got := term.end(); got != code {
		term.t.Errorf("exit code %d, want %d:\n%s", got, code, term.text())
	}
	term.mu.Lock()
	defer term.mu.Unlock()
	if closed := code == 129; !closed && (!term.screen.CursorVisible() || term.screen.Mode()&vt10x.ModeAltScreen != 0) {
		term.t.Errorf("the terminal is not as it was:\n%s", term.lines())
	}
}
