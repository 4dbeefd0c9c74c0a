// Package term is what is around the program: the streams that it is connected to, found
// out once and without querying the terminal; and other programs, such as git and the
// browser, which are started without the secrets of this one. It is the only package of
// tool that may import os/exec.
//
// It knows no command, and not what the programs are for.
package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	xterm "golang.org/x/term"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
)

// Streams are where a command reads and writes.
type Streams struct {
	In                    io.Reader
	Out, Err              io.Writer
	InTTY, OutTTY, ErrTTY bool // a terminal is at the other end

	Screen  io.Writer                             // the terminal itself, which a pager draws on; nil: there is none
	Measure func() (columns, rows int, err error) // its size; nil: see Size
}

// Standard returns the process's own streams.
func Standard() Streams {
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY:   isatty.IsTerminal(os.Stdin.Fd()) || isatty.IsCygwinTerminal(os.Stdin.Fd()),
		OutTTY:  isatty.IsTerminal(os.Stdout.Fd()) || isatty.IsCygwinTerminal(os.Stdout.Fd()),
		ErrTTY:  isatty.IsTerminal(os.Stderr.Fd()) || isatty.IsCygwinTerminal(os.Stderr.Fd()),
		Screen:  os.Stdout,
		Measure: func() (int, int, error) { return xterm.GetSize(int(os.Stdout.Fd())) },
	}
}

// Interactive reports whether questions can be asked: a person reads and types.
func (s Streams) Interactive() bool { return s.InTTY && s.OutTTY }

// HungUp reports that the terminal which questions were asked on is gone.
func (s Streams) HungUp() bool {
	if !s.Interactive() || s.Measure == nil {
		return false
	}
	if _, _, err := s.Measure(); err != nil {
		return true
	}
	f, ok := s.In.(*os.File)
	return ok && hungUp(f)
}

// Size returns the terminal's columns and rows, 80 and 24 if it reports none.
func (s Streams) Size() (columns, rows int) {
	if s.Measure != nil {
		if columns, rows, err := s.Measure(); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// Links reports whether the terminal of stdout says, by its environment, that it
// shows hyperlinks (OSC 8). FORCE_HYPERLINK=1 says so for one that does not, 0
// denies it.
func (s Streams) Links(getenv func(string) string) bool {
	if !s.OutTTY || getenv("TERM") == "dumb" {
		return false
	}
	if forced := getenv("FORCE_HYPERLINK"); forced != "" {
		return forced != "0"
	}
	if vte, err := strconv.Atoi(getenv("VTE_VERSION")); err == nil && vte >= 5000 {
		return true
	}
	for _, sign := range []string{"WT_SESSION", "KITTY_WINDOW_ID", "DOMTERM", "KONSOLE_VERSION"} {
		if getenv(sign) != "" {
			return true
		}
	}
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby", "WarpTerminal":
		return true
	}
	return strings.HasPrefix(getenv("TERM"), "alacritty") || strings.HasPrefix(getenv("TERM"), "foot")
}

// Command returns a command that can be started with an environment without
// secrets. The program is looked up in PATH, never in the current directory.
func Command(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Env = Environment(os.Environ())
	return c, nil
}

// Installed reports whether a program is in PATH.
func Installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// Page shows a text in a pager until a person leaves it. As git does, it has a shell read the pager's command
// line, and less leave a text that fits on the screen, unless LESS says otherwise. The pager alone acts on
// ctrl-c. An error means that nothing was shown.
func (s Streams) Page(pager, text string) error {
	words := []string{"sh", "-c", pager}
	if runtime.GOOS == "windows" {
		words = strings.Fields(pager)
	}
	c, err := Command(context.Background(), words[0], words[1:]...)
	if err != nil {
		return err
	}
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), s.Screen, s.Err
	c.Env = append([]string{"LESS=FRX"}, c.Env...) // of two values, the last counts
	if err := c.Start(); err != nil {
		return err
	}
	signal.Ignore(os.Interrupt)
	defer signal.Reset(os.Interrupt)
	err = c.Wait()
	if code := c.ProcessState.ExitCode(); code == 126 || code == 127 { // the shell did not find it, or may not run it
		return err
	}
	return nil // the text was shown, as far as the person wanted to read it
}

// Environment returns env without the variables that hold secrets: tool's token,
// the hub's settings, which may hold the password of its database, and every
// variable with a token in its value. Nothing that tool starts needs them.
func Environment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		name = strings.ToUpper(name) // Windows does not distinguish them
		return name == "TOOL_HUB_TOKEN" || strings.HasPrefix(name, "HUB_") || pat.Index([]byte(value)) >= 0
	})
}

// ErrNoBrowser says that a browser has to be opened by hand, elsewhere.
var ErrNoBrowser = errors.New("no browser could be started")

// openWithin is how long to wait for the opener, which may run as long as the browser.
const openWithin = time.Second

// OpenBrowser opens a page of a hub, which must be of its origin. opened is true if the opener
// ended well; one that still runs after openWithin may have opened the page or not. Over SSH no
// browser is started, because nobody would see it.
func OpenBrowser(getenv func(string) string, origin, address string) (opened bool, err error) {
	if err := hubclient.CheckPage(origin, address); err != nil {
		return false, err
	}
	if getenv("SSH_CONNECTION") != "" && getenv("DISPLAY")+getenv("WAYLAND_DISPLAY")+getenv("BROWSER") == "" {
		return false, fmt.Errorf("%w: this is a terminal over SSH", ErrNoBrowser)
	}
	opener := []string{"xdg-open"}
	switch runtime.GOOS {
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case "darwin":
		opener = []string{"open"}
	}
	command, err := Command(context.Background(), opener[0], append(opener[1:], address)...)
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrNoBrowser, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return false, fmt.Errorf("%w: %s: %w", ErrNoBrowser, opener[0], err)
		}
		return true, nil
	case <-time.After(openWithin):
		return false, nil
	}
}
