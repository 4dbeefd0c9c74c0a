// Package term is what is around the program: the streams that it is connected to, found
// out once and without querying the terminal; and other programs, such as git and the
// browser, which are started without the secrets of this one. It is the only package of
// tool that may import os/exec.
//
// It knows no command, and not what the programs are for.
package term

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/mattn/go-isatty"
	xterm "golang.org/x/term"
)

// Streams are where a command reads and writes.
type Streams struct {
	In                    io.Reader
	Out, Err              io.Writer
	InTTY, OutTTY, ErrTTY bool // a terminal is at the other end
	size                  func() (columns, rows int, err error)
}

// Standard returns the process's own streams.
func Standard() Streams {
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY:  isatty.IsTerminal(os.Stdin.Fd()) || isatty.IsCygwinTerminal(os.Stdin.Fd()),
		OutTTY: isatty.IsTerminal(os.Stdout.Fd()) || isatty.IsCygwinTerminal(os.Stdout.Fd()),
		ErrTTY: isatty.IsTerminal(os.Stderr.Fd()) || isatty.IsCygwinTerminal(os.Stderr.Fd()),
		size:   func() (int, int, error) { return xterm.GetSize(int(os.Stdout.Fd())) },
	}
}

// Interactive reports whether questions can be asked: a person reads and types.
func (s Streams) Interactive() bool { return s.InTTY && s.OutTTY }

// HungUp reports that the terminal which questions were asked on is gone.
func (s Streams) HungUp() bool {
	if !s.Interactive() || s.size == nil {
		return false
	}
	if _, _, err := s.size(); err != nil {
		return true
	}
	f, ok := s.In.(*os.File)
	return ok && hungUp(f)
}

// Size returns the terminal's columns and rows, 80 and 24 if it reports none.
func (s Streams) Size() (columns, rows int) {
	if s.size != nil {
		if columns, rows, err := s.size(); err == nil && columns > 0 && rows > 0 {
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
