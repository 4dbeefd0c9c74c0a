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

// Drawing reports whether a view is on the terminal.
func (t *Terminal) Drawing() bool { return t.drawing.Load() }

// AllowBack lets the user go back from the first question.
func (t *Terminal) AllowBack(allow bool) { t.back = allow }

// prompter returns what asks the next question. No line of progress is left on the terminal.
func (t *Terminal) prompter() Prompter {
	if line := t.drawn.Load(); line != nil {
		line.Hide()
	}
	columns, rows := t.Size()
	return Prompter{
		Terminal: tui.Terminal{
			In:      t.In,
			Out:     t.Out,
			Plain:   t.IsPlain,
			Columns: columns,
			Rows:    rows,
		},
		Status:    t.Status(),
		CanGoBack: t.back,
	}
}

// draw runs ask, which may load something between its questions. Until it returns, Drawing
// reports true, so that warnings of what is loaded are held back.
func (t *Terminal) draw(ask func(Prompter) error) error {
	t.drawing.Store(!t.IsPlain)
	defer t.drawing.Store(false)
	return ask(t.prompter())
}

// Ask takes steps in turn.
func (t *Terminal) Ask(ctx context.Context, steps ...Step) error {
	return t.draw(func(p Prompter) error { return p.Ask(ctx, steps...) })
}

// AskProject asks for the answers that a new project needs.
func (t *Terminal) AskProject(ctx context.Context, w Wizard, answers *Answers) error {
	return t.draw(func(p Prompter) error { return p.AskProject(ctx, w, answers) })
}

// Home shows the local projects until the user chooses an action.
func (t *Terminal) Home(
	ctx context.Context, doing string, load func(context.Context) Home, actions []Action, chosen int,
) (a Action, item int, err error) {
	err = t.draw(func(p Prompter) (err error) {
		a, item, err = p.Home(ctx, doing, load, actions, chosen)
		return err
	})
	return a, item, err
}

// AskBelow takes one step, and what was printed before stays in sight.
func (t *Terminal) AskBelow(ctx context.Context, step Step) error {
	return t.prompter().AskBelow(ctx, step)
}

// Overwrite shows a difference, and asks whether it is wanted.
func (t *Terminal) Overwrite(ctx context.Context, q Overwrite) (bool, error) {
	return t.prompter().Overwrite(ctx, q)
}

// Merge asks which side of each conflict to take.
func (t *Terminal) Merge(ctx context.Context, q Merge) ([]flat.Side, error) {
	return t.prompter().Merge(ctx, q)
}

// TypeRef asks for r to be typed in full.
func (t *Terminal) TypeRef(ctx context.Context, title, fact string, r ref.Ref) (bool, error) {
	return t.prompter().TypeRef(ctx, title, fact, r)
}

// Confirm asks a question whose preset answer is no.
func (t *Terminal) Confirm(ctx context.Context, q YesNo) (bool, error) {
	answer := no
	err := t.Ask(ctx, Step{
		Question: func() Question {
			return Question{
				Title:   q.Title,
				Facts:   q.Facts,
				Frame:   true,
				Choices: []Choice{{yes, q.Yes}, {no, Cancel}},
				Preset:  no,
			}
		},
		Take: func(taken string) { answer = taken },
	})
	return err == nil && answer == yes, err
}

// Choose asks for one of names.
func (t *Terminal) Choose(ctx context.Context, title string, names []string, preset string) (string, error) {
	answer := ""
	err := t.Ask(ctx, Step{
		Question: func() Question { return Question{Title: title, Choices: nameChoices(names), Preset: preset} },
		Take:     func(taken string) { answer = taken },
	})
	return answer, err
}

// nameChoices returns a choice for each name.
func nameChoices(names []string) []Choice {
	choices := make([]Choice, len(names))
	for i, name := range names {
		choices[i] = Choice{name, name}
	}
	return choices
}

// Transfer shows progress: redrawn if a user watches, else a line at intervals.
func (t *Terminal) Transfer(watched bool) Transfer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progress(watched)
}

// progress returns the line of progress. Its first call decides how it is shown. The caller
// holds t.mu.
func (t *Terminal) progress(watched bool) *tui.Line {
	if t.line != nil {
		return t.line
	}
	switch {
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

// WaitFor shows that the command waits for a hub. Several requests may wait at once: the first
// shows it, and the last that is answered takes it away.
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

// Note shows text below the line of progress. Several requests may call it at once.
func (t *Terminal) Note(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.line != nil && t.line.Note(text)
}

// Checklist shows the steps of a command. A list that is redrawn counts as a view until it ends.
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
