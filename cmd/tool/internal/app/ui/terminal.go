package ui

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// How often a long transfer is mentioned where nothing is redrawn: in a pipeline, and
// on a plain terminal, where a person waits.
const (
	pipelineInterval = 30 * time.Second
	plainInterval    = 10 * time.Second
)

// terminal is the UI of a person at a terminal.
type terminal struct {
	streams term.Streams
	plain   bool
	say     func(line string) // writes a line to stderr
	status  func() string     // the hub and the identity
	back    bool
	drawing atomic.Bool

	mu       sync.Mutex
	line     *tui.Line // the one line of progress; nil: none yet
	requests int       // that have no answer yet
}

// NewTerminal returns the UI on the program's own streams.
func NewTerminal(streams term.Streams, getenv func(string) string, say func(line string), status func() string) UI {
	return &terminal{streams: streams, plain: getenv("TERM") == "dumb" || getenv("ACCESSIBLE") == "1", say: say, status: status}
}

func (t *terminal) Plain() bool          { return t.plain }
func (t *terminal) Drawing() bool        { return t.drawing.Load() }
func (t *terminal) AllowBack(allow bool) { t.back = allow }

func (t *terminal) terminal() tui.Terminal {
	columns, rows := t.streams.Size()
	return tui.Terminal{In: t.streams.In, Out: t.streams.Out, Columns: columns, Rows: rows, Plain: t.plain}
}

func (t *terminal) prompter() prompts.Prompter {
	return prompts.Prompter{Terminal: t.terminal(), Status: t.status(), CanGoBack: t.back}
}

// draw runs f while a view is on the terminal.
func (t *terminal) draw(f func() error) error {
	t.drawing.Store(!t.plain)
	defer t.drawing.Store(false)
	return interrupted(f())
}

// interrupted turns an interrupted question into the end of the command.
func interrupted(err error) error {
	if errors.Is(err, tui.ErrInterrupted) {
		return context.Canceled
	}
	return err
}

func (t *terminal) Ask(ctx context.Context, steps ...Step) error {
	return t.draw(func() error { return t.prompter().Ask(ctx, steps...) })
}

func (t *terminal) AskProject(ctx context.Context, w Wizard, answers *Answers) error {
	return t.draw(func() error { return t.prompter().AskProject(ctx, w, answers) })
}

func (t *terminal) AskBelow(ctx context.Context, step Step) error {
	return interrupted(t.prompter().AskBelow(ctx, step))
}

func (t *terminal) Confirm(ctx context.Context, q YesNo) (yes bool, err error) {
	err = t.Ask(ctx, Step{
		Question: func() Question {
			return Question{
				Title: q.Title, Facts: q.Facts, Frame: true, Preset: "no",
				Choices: []Choice{{Value: "yes", Text: q.Yes}, {Value: "no", Text: q.No}},
			}
		},
		Take: func(answer string) { yes = answer == "yes" },
	})
	return err == nil && yes, err
}

func (t *terminal) Choose(ctx context.Context, title string, names []string, preset string) (string, error) {
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

func (t *terminal) Overwrite(ctx context.Context, q Overwrite) (bool, error) {
	yes, err := t.prompter().Overwrite(ctx, q)
	return yes && err == nil, interrupted(err)
}

func (t *terminal) Merge(ctx context.Context, q Merge) ([]flat.Side, error) {
	sides, err := t.prompter().Merge(ctx, q)
	return sides, interrupted(err)
}

func (t *terminal) TypeRef(ctx context.Context, title, fact string, r ref.Ref) (bool, error) {
	yes, err := t.prompter().TypeRef(ctx, title, fact, r)
	return yes && err == nil, interrupted(err)
}

func (t *terminal) Home(ctx context.Context, doing string, load func(context.Context) Home, actions []Action, chosen int) (a Action, item int, err error) {
	err = t.draw(func() (err error) {
		a, item, err = t.prompter().Home(ctx, doing, load, actions, chosen)
		return err
	})
	return a, item, err
}

func (t *terminal) Transfer(watched bool) Transfer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progress(watched)
}

// progress returns the line of progress, on stderr: stdout is for results alone.
func (t *terminal) progress(watched bool) *tui.Line {
	switch {
	case t.line != nil:
	case !watched:
		t.line = tui.NewLines(pipelineInterval, t.say)
	case t.plain:
		t.line = tui.NewLines(plainInterval, t.say)
	default:
		t.line = tui.NewLine(t.streams.Err, func() int {
			columns, _ := t.streams.Size()
			return columns
		})
	}
	return t.line
}

// WaitFor may be called by several requests at once.
func (t *terminal) WaitFor(hub string, watched bool) (answered func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests++; t.requests == 1 && !t.drawing.Load() {
		t.progress(watched).Update(Progress{Phase: "waiting for " + hub, Waits: true})
	}
	return t.answer
}

func (t *terminal) answer() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests--; t.requests == 0 && t.line != nil {
		t.line.Answered()
	}
}

// Note may be called by several requests at once.
func (t *terminal) Note(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.line != nil && t.line.Note(text)
}

func (t *terminal) Checklist(names ...string) Checklist {
	t.drawing.Store(!t.plain)
	t.mu.Lock()
	defer t.mu.Unlock()
	return &checklist{tui.NewChecklist(t.progress(true), names...), t}
}

// checklist is a list whose end gives the terminal back.
type checklist struct {
	*tui.Checklist
	terminal *terminal
}

func (c *checklist) End(problem string) {
	c.Checklist.End(problem)
	c.terminal.drawing.Store(false)
}
