// Package tui draws on a terminal: the pages of views, the rows of a difference, the steps of a
// command, a transfer. Package prompts asks with it.
//
// It shows what it is given: it reads no file, calls no hub and decides nothing.
//
// # Visual language
//
// A view is one [Page] on the alternate screen, with one focus. From top to bottom it has the
// status, quiet; the title, bold; facts; what a user should notice, red; the body; the keys. There
// is an empty line between these parts and a margin of two columns around them, and no frame. A
// page that does not fit loses the empty lines first, then facts, and says so; a terminal of less
// than 60 columns has no margin. What is selected has > before it and is bold. Where there are 100
// columns, details are to the right of a list, behind a line, else below it. What was done is a
// sentence behind a glyph, see [Screen.Says]: ✓ done, ✗ failed, · neither.
//
// Labels are quiet, and so is what a key does: keys and values are read first. The line of the
// keys begins with the most important ones, as many as fit, and ends with the one that leads out or
// to more. A disabled action keeps its place, is quiet, and says why when its key is pressed.
//
// Text is painted by its [Role], in colours of the terminal's own palette: + added is green, ~
// changed is yellow, - removed is red. Colour never carries information of its own: signs, glyphs
// and words say the same, because a pipe, NO_COLOR and many eyes know no colour. Text that a user
// reads to decide is in the terminal's own colour, set off by bold and reverse, because no other
// colour is legible on every background: bright black, often used for quiet text, is the background
// of Solarized dark, and bold makes all colours too bright on white. Quiet text is faint instead,
// which every terminal derives from its own colours, or shows as plain.
//
// Glyphs are one column wide and have an ASCII form, see [Localize].
package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	_ "example.com/projecthub/tui/quiet" // see there
)

// ErrInterrupted says that the user ended the program instead of answering. It is
// [context.Canceled], as when a signal had ended it.
var ErrInterrupted = fmt.Errorf("interrupted: %w", context.Canceled)

// Terminal is where a user reads and answers.
type Terminal struct {
	In            io.Reader
	Out           io.Writer
	Plain         bool // lines instead of views
	Columns, Rows int
}

// Run shows a view on the alternate screen until it ends. It handles no signals: ctx ends with them.
//
// The view gets no key that was pressed before it was drawn, the size 80x24 from a
// terminal that reports none, and need not handle ctrl-z. A model with a method
// Shown() int shows another question when the number changes; keys that were pressed
// before that was drawn are discarded too.
func (t Terminal) Run(ctx context.Context, m tea.Model) error {
	t.DiscardInput()
	v := &view{Model: m}
	out := t.Out
	if f, ok := t.Out.(*os.File); ok {
		out = canvas{File: f, view: v}
	}
	_, err := tea.NewProgram(v,
		tea.WithContext(ctx),
		tea.WithInput(t.In),
		tea.WithOutput(out),
		tea.WithAltScreen(),
		tea.WithoutSignalHandler(),
		tea.WithFilter(v.filter),
	).Run()
	return err
}

// DiscardInput drops what was typed so far: a question is answered after it was shown.
func (t Terminal) DiscardInput() {
	if f, ok := t.In.(*os.File); ok {
		discardInput(f)
	}
}

// view is a model with the glyphs of the user's locale. It knows whether the model's current
// question was drawn.
type view struct {
	tea.Model
	question int         // what the model's Shown returned last
	since    time.Time   // when the question changed
	drawn    atomic.Bool // something was drawn since then; set while bubbletea writes
}

func (v *view) View() string { return Localize(v.Model.View()) }

func (v *view) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m, cmd := v.Model.Update(msg)
	v.Model = m
	if q, ok := m.(interface{ Shown() int }); ok && q.Shown() != v.question {
		v.question, v.since = q.Shown(), time.Now()
		v.drawn.Store(false)
	}
	return v, cmd
}

// canvas is the terminal of a view: bubbletea writes each frame by one Write, and everything
// else by WriteString.
type canvas struct {
	*os.File
	view *view
}

func (c canvas) Write(p []byte) (int, error) {
	c.view.drawn.Store(true) // before the frame is written: the user may answer it at once
	return c.File.Write(p)
}

// severalFrames is longer than bubbletea waits before it draws. A question that looks
// like the one before is not drawn again.
const severalFrames = 100 * time.Millisecond

// The size of a terminal that reports none.
const (
	defaultColumns = 80
	defaultRows    = 24
)

// filter returns what the model gets instead of a message, nil for nothing.
func (v *view) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width <= 0 || msg.Height <= 0 {
			return tea.WindowSizeMsg{Width: defaultColumns, Height: defaultRows}
		}
	case tea.KeyMsg:
		looksAsBefore := v.question > 1 && time.Since(v.since) > severalFrames
		inSight := v.drawn.Load() || looksAsBefore
		switch {
		case msg.Type == tea.KeyCtrlZ && jobControl():
			return tea.SuspendMsg{}
		case msg.Type == tea.KeyCtrlC || msg.Type == tea.KeyCtrlD:
			return msg // they end a view, whatever it shows
		case !inSight:
			return nil
		}
	}
	return msg
}
