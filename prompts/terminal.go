package prompts

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/tui"
)

// How often a long transfer is mentioned where nothing is redrawn: in a pipeline, and
// on a plain terminal, where a person waits. A pipeline mentions once that a hub is waited for.
const (
	pipelineInterval = 30 * time.Second
	pipelineWaiting  = 10 * time.Second
	plainInterval    = 10 * time.Second
)

// Terminal is the UI of a person at a terminal.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer // progress is shown on Err: Out is for results alone
	Size     func() (columns, rows int)
	IsPlain  bool
	Say      func(line string) // writes a line to Err
	Status   func() string     // the hub and the identity

	back    bool
	drawing atomic.Bool

	mu       sync.Mutex
	line     *tui.Line                // the one line of progress; nil: none yet
	drawn    atomic.Pointer[tui.Line] // the same, if it is redrawn
	requests int                      // that have no answer yet
}

func (t *Terminal) Drawing() bool        { return t.drawing.Load() }
func (t *Terminal) AllowBack(allow bool) { t.back = allow }

func (t *Terminal) prompter() Prompter {
	if line := t.drawn.Load(); line != nil {
		line.Hide()
	}
	columns, rows := t.Size()
	return Prompter{
		Terminal: tui.Terminal{In: t.In, Out: t.Out, Columns: columns, Rows: rows, Plain: t.IsPlain},
		Status:   t.Status(), CanGoBack: t.back,
	}
}

// draw asks while warnings are held back, which what is loaded meanwhile may cause.
func (t *Terminal) draw(ask func(Prompter) error) error {
	t.drawing.Store(!t.IsPlain)
	defer t.drawing.Store(false)
	return ask(t.prompter())
}

func (t *Terminal) Ask(ctx context.Context, steps ...Step) error {
	return t.draw(func(p Prompter) error { return p.Ask(ctx, steps...) })
}

func (t *Terminal) AskProject(ctx context.Context, w Wizard, answers *Answers) error {
	return t.draw(func(p Prompter) error { return p.AskProject(ctx, w, answers) })
}

func (t *Terminal) Home(
	ctx context.Context, doing string, load func(context.Context) Home, actions []Action, chosen int,
) (a Action, item int, err error) {
	err = t.draw(func(p Prompter) (err error) {
		a, item, err = p.Home(ctx, doing, load, actions, chosen)
		return err
	})
	return a, item, err
}

func (t *Terminal) AskBelow(ctx context.Context, step Step) error {
	return t.prompter().AskBelow(ctx, step)
}

func (t *Terminal) Overwrite(ctx context.Context, q Overwrite) (bool, error) {
	return t.prompter().Overwrite(ctx, q)
}

func (t *Terminal) Merge(ctx context.Context, q Merge) ([]flat.Side, error) {
	return t.prompter().Merge(ctx, q)
}

func (t *Terminal) TypeRef(ctx context.Context, title, fact string, r ref.Ref) (bool, error) {
	return t.prompter().TypeRef(ctx, title, fact, r)
}

func (t *Terminal) Confirm(ctx context.Context, q YesNo) (bool, error) {
	answer := no
	err := t.Ask(ctx, Step{
		Question: func() Question {
			return Question{
				Title: q.Title, Facts: q.Facts, Frame: true, Preset: no,
				Choices: []Choice{{Value: yes, Text: q.Yes}, {Value: no, Text: q.No}},
			}
		},
		Take: func(taken string) { answer = taken },
	})
	return err == nil && answer == yes, err
}

func (t *Terminal) Choose(ctx context.Context, title string, names []string, preset string) (string, error) {
	choices := make([]Choice, len(names))
	for i, name := range names {
		choices[i] = Choice{Value: name, Text: name}
	}
	err := t.Ask(ctx, Step{
		Question: func() Question { return Question{Title: title, Choices: choices, Preset: preset} },
		Take:     func(answer string) { preset = answer },
	})
	return preset, err
}

func (t *Terminal) Transfer(watched bool) Transfer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progress(watched)
}

func (t *Terminal) progress(watched bool) *tui.Line {
	switch {
	case t.line != nil:
	case !watched:
		t.line = tui.NewLog(pipelineInterval, pipelineWaiting, t.Say)
	case t.IsPlain:
		t.line = tui.NewLines(plainInterval, t.Say)
	default:
		t.line = tui.NewLine(t.Err, func() int {
			columns, _ := t.Size()
			return columns
		})
		t.drawn.Store(t.line)
	}
	return t.line
}

// Above returns a writer to w, for whole lines: the line of progress is drawn again below them.
func (t *Terminal) Above(w io.Writer) io.Writer { return above{t, w} }

type above struct {
	terminal *Terminal
	w        io.Writer
}

func (a above) Write(p []byte) (n int, err error) {
	if line := a.terminal.drawn.Load(); line != nil {
		line.Above(func() { n, err = a.w.Write(p) })
		return n, err
	}
	return a.w.Write(p)
}

// WaitFor may be called by several requests at once.
func (t *Terminal) WaitFor(hub string, watched bool) (answered func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests++; t.requests == 1 && !t.drawing.Load() {
		t.progress(watched).Update(tui.Progress{Phase: "waiting for " + hub, Waits: true})
	}
	return t.answered
}

func (t *Terminal) answered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests--; t.requests == 0 && t.line != nil {
		t.line.Answered()
	}
}

// Note may be called by several requests at once.
func (t *Terminal) Note(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.line != nil && t.line.Note(text)
}

func (t *Terminal) Checklist(names ...string) Checklist {
	t.drawing.Store(!t.IsPlain)
	t.mu.Lock()
	defer t.mu.Unlock()
	return &checklist{tui.NewChecklist(t.progress(true), names...), t}
}

// checklist is a list whose end gives the terminal back.
type checklist struct {
	*tui.Checklist
	terminal *Terminal
}

func (c *checklist) End(problem string) {
	c.Checklist.End(problem)
	c.terminal.drawing.Store(false)
}
