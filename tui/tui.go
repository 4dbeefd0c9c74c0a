// Package tui draws what moves on a terminal: a difference that one looks through
// before one answers, the steps of a command, a transfer. Where the terminal cannot
// redraw, or is read aloud, it writes lines instead.
//
// It shows what it is told; it reads no file, calls no hub and decides nothing. An
// answer that was not given is an error, never a default.
package tui

import (
	"context"
	"errors"
	"io"

	tea "github.com/charmbracelet/bubbletea"
)

// ErrInterrupted says that the person ended the program instead of answering.
var ErrInterrupted = errors.New("interrupted")

// Terminal is where a person reads and answers.
type Terminal struct {
	In            io.Reader
	Out           io.Writer
	Plain         bool // lines instead of a view
	Columns, Rows int
}

// run shows a view on a screen of its own until it ends. It knows no signals: ctx
// ends with them.
func (t Terminal) run(ctx context.Context, m tea.Model) error {
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out),
		tea.WithAltScreen(), tea.WithoutSignalHandler()).Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
