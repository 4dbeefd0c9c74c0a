package prompts

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"example.com/projecthub/tui"
)

// How often progress is mentioned where nothing is redrawn.
const (
	pipelineInterval = 30 * time.Second // in the log of a pipeline
	pipelineWaiting  = 10 * time.Second // in that log, once, if the command waits for a hub
	plainInterval    = 10 * time.Second // on a plain terminal, where the user waits
)

// Terminal is the UI of a user at a terminal. [UI] describes its methods.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer // progress is shown on Err: Out is for results alone
	Size     func() (columns, rows int)
	IsPlain  bool              // questions are lines, and nothing is redrawn
	Say      func(line string) // writes a line to Err
	Status   func() string     // the hub and the identity, "" when there are none yet

	back    bool        // set by AllowBack, for the questions to come
	drawing atomic.Bool // read by requests in the background

	// line, if it is redrawn, for callers that do not hold mu.
	drawn atomic.Pointer[tui.Line]

	mu       sync.Mutex // guards the fields below
	line     *tui.Line  // all progress is shown on it; nil: none yet
	requests int        // how many have no answer yet
}

var _ UI = (*Terminal)(nil)

func (t *Terminal) Drawing() bool { return t.drawing.Load() }

func (t *Terminal) AllowBack(allow bool) { t.back = allow }

// prompter asks a question at a terminal.
type prompter struct {
	tui.Terminal
	status    string // the hub and the identity, shown in every view; "" when there are none yet
	canGoBack bool   // the user can go back from the first question, too: the error is ErrBack
}

// prompter returns what asks the next question. No line of progress is left on the terminal.
func (t *Terminal) prompter() prompter {
	if line := t.drawn.Load(); line != nil {
		line.Hide()
	}
	columns, rows := t.Size()
	return prompter{
		Terminal: tui.Terminal{
			In:      t.In,
			Out:     t.Out,
			Plain:   t.IsPlain,
			Columns: columns,
			Rows:    rows,
		},
		status:    t.Status(),
		canGoBack: t.back,
	}
}

// draws makes Drawing report true until the function that it returns is called, so that warnings of
// what is loaded between questions are held back.
func (t *Terminal) draws() (ended func()) {
	t.drawing.Store(!t.IsPlain)
	return func() { t.drawing.Store(false) }
}

func (t *Terminal) Confirm(ctx context.Context, q YesNo) (bool, error) {
	answer := no
	err := t.askOrCancel(ctx, Step{
		Question: func() Question {
			return Question{
				Title:   q.Title,
				Facts:   q.Facts,
				Choices: []Choice{{yes, q.Yes}, {no, Cancel}},
				Preset:  no,
			}
		},
		Take: func(taken string) { answer = taken },
	})
	return err == nil && answer == yes, err
}

// askOrCancel asks a question whose answer stays what it is if the user presses esc. Where they may go back from it,
// the error is ErrBack then.
func (t *Terminal) askOrCancel(ctx context.Context, s Step) error {
	goesBack := t.back
	defer t.AllowBack(goesBack)
	t.AllowBack(goesBack || !t.IsPlain) // in lines there is no escape key
	err := t.Ask(ctx, s)
	if errors.Is(err, ErrBack) && !goesBack {
		return nil
	}
	return err
}

func (t *Terminal) Choose(ctx context.Context, title string, names []string, preset string) (string, error) {
	answer := ""
	err := t.Ask(ctx, Step{
		Question: func() Question { return Question{Title: title, Choices: nameChoices(names), Preset: preset} },
		Take:     func(taken string) { answer = taken },
	})
	return answer, err
}

func nameChoices(names []string) []Choice {
	choices := make([]Choice, len(names))
	for i, name := range names {
		choices[i] = Choice{name, name}
	}
	return choices
}

func (t *Terminal) Transfer(watched bool) Transfer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progress(watched)
}

// progress returns the line of progress, as its first call shows it. The caller holds t.mu.
func (t *Terminal) progress(watched bool) *tui.Line {
	if t.line != nil {
		return t.line
	}
	switch {
	case !watched:
		t.line = tui.NewLines(pipelineInterval, pipelineWaiting, t.Say)
	case t.IsPlain:
		t.line = tui.NewLines(plainInterval, 0, t.Say)
	default:
		t.line = tui.NewLine(t.Err, func() int {
			columns, _ := t.Size()
			return columns
		})
		t.drawn.Store(t.line)
	}
	return t.line
}

// Above returns a writer to w, for whole lines. A line of progress is drawn again below them.
func (t *Terminal) Above(w io.Writer) io.Writer { return above{terminal: t, w: w} }

// above writes to w while the line of progress is off the terminal.
type above struct {
	terminal *Terminal
	w        io.Writer
}

func (a above) Write(p []byte) (n int, err error) {
	line := a.terminal.drawn.Load()
	if line == nil {
		return a.w.Write(p)
	}
	line.Above(func() { n, err = a.w.Write(p) })
	return n, err
}

// WaitFor may be called by several requests at once: the first shows that the command waits, and the last
// that is answered takes it away.
func (t *Terminal) WaitFor(hub string, watched bool) (answered func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	if t.requests == 1 && !t.drawing.Load() {
		t.progress(watched).Update(tui.Progress{Phase: "waiting for " + hub, Waits: true})
	}
	return t.answered
}

func (t *Terminal) answered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests--
	if t.requests == 0 && t.line != nil {
		t.line.Answered()
	}
}

func (t *Terminal) Note(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.line != nil && t.line.Note(text)
}

// Checklist returns a list that counts as a view until it ends, if it is redrawn.
func (t *Terminal) Checklist(names ...string) Checklist {
	t.drawing.Store(!t.IsPlain)
	t.mu.Lock()
	defer t.mu.Unlock()
	return &checklist{Checklist: tui.NewChecklist(t.progress(true), names...), terminal: t}
}

// checklist is a list that, at its end, allows other lines on the terminal again.
type checklist struct {
	*tui.Checklist
	terminal *Terminal
}

func (c *checklist) End(problem string) {
	c.Checklist.End(problem)
	c.terminal.drawing.Store(false)
}
