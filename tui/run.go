package tui

import (
	"context"
	"io"
	"os"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Run shows a view until it ends. It handles no signals: ctx ends with them.
//
// The view gets no key that was pressed before it was drawn, the size 80x24 from a
// terminal that reports none, and need not handle ctrl-z. A model with a method
// Shown() int shows another question when the number changes; keys that were pressed
// before that was drawn are discarded too.
func (t Terminal) Run(ctx context.Context, m tea.Model, more ...tea.ProgramOption) error {
	out, s := watchFrames(t.Out)
	t.DiscardInput()
	program := tea.NewProgram(&watched{m, s}, append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithFilter(s.filter),
	}, more...)...)
	_, err := program.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// DiscardInput drops what was typed and not read yet: a question is answered by
// what is typed after it was shown.
func (t Terminal) DiscardInput() {
	if f, ok := t.In.(*os.File); ok {
		discardInput(f)
	}
}

// session is what Run knows of the view that it shows.
type session struct {
	frames   *atomic.Int64 // that were drawn; nil: not known
	question int
	asked    int64     // frames that were drawn when the question came
	since    time.Time // when it came
}

// watched is a model that records each question in its session.
type watched struct {
	tea.Model
	session *session
}

func (w *watched) View() string { return Localize(w.Model.View()) }

func (w *watched) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m, cmd := w.Model.Update(msg)
	w.Model = m
	if q, ok := m.(interface{ Shown() int }); ok && w.session.frames != nil && q.Shown() != w.session.question {
		w.session.question, w.session.asked, w.session.since = q.Shown(), w.session.frames.Load(), time.Now()
	}
	return w, cmd
}

// frameCounter is a terminal that counts frames: bubbletea writes each by one
// Write, and everything else by WriteString.
type frameCounter struct {
	*os.File
	frames atomic.Int64
}

func (f *frameCounter) Write(p []byte) (int, error) {
	f.frames.Add(1) // first: who sees the frame may type at once
	return f.File.Write(p)
}

// watchFrames returns what to draw on in place of w.
func watchFrames(w io.Writer) (io.Writer, *session) {
	f, ok := w.(*os.File)
	if !ok {
		return w, &session{}
	}
	counter := &frameCounter{File: f}
	return counter, &session{frames: &counter.frames}
}

// filter decides what a view gets of the messages.
func (s *session) filter(m tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return knownSize(m, msg)
	case tea.KeyMsg:
		switch {
		case msg.Type == tea.KeyCtrlZ && canSuspend:
			return tea.Exec(suspension{}, nil)()
		case msg.Type == tea.KeyCtrlC || msg.Type == tea.KeyCtrlD:
			return msg // they end a view, whatever it shows
		case !s.drawn():
			return nil
		}
	}
	return msg
}

// severalFrames is longer than bubbletea waits before it draws. A question that looks
// like what is drawn already is not drawn again.
const severalFrames = 100 * time.Millisecond

// drawn reports whether the question was drawn.
func (s *session) drawn() bool {
	return s.frames == nil || s.frames.Load() > s.asked || s.asked > 0 && time.Since(s.since) > severalFrames
}

// The size of a terminal that reports none.
const (
	defaultColumns = 80
	defaultRows    = 24
)

// knownSize is a filter that gives a terminal which reports no size the usual one.
func knownSize(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok && (size.Width <= 0 || size.Height <= 0) {
		return tea.WindowSizeMsg{Width: defaultColumns, Height: defaultRows}
	}
	return msg
}

// suspension stops the program until the shell continues it. bubbletea gives the
// terminal back before, and draws the view anew after.
type suspension struct{}

func (suspension) Run() error          { return suspend() }
func (suspension) SetStdin(io.Reader)  {}
func (suspension) SetStdout(io.Writer) {}
func (suspension) SetStderr(io.Writer) {}
