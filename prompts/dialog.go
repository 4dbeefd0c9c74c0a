package prompts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/projecthub/tui"
)

// Question is one question, and what a user has to know to answer it.
type Question struct {
	Title string
	Facts []string // lines above the question
	Frame bool     // around the facts, which are to be reviewed

	Choices []Choice // to choose one from; without any, text is typed
	Preset  string   // the value that is selected, or typed already
	Prompt  string   // the label of the input, such as: Slug
	Secret  bool     // what is typed is not shown
	Suggest bool     // Preset is the answer where nothing is typed, and not typed already

	// Check rejects what is typed, at every key, or with CheckLast only when it is
	// given as the answer. It must not wait for anything.
	Check     func(typed string) error
	CheckLast bool
	// Lookup says something about what is typed that takes time to find out. To reject
	// it, it returns an error. It runs in the background.
	Lookup func(ctx context.Context, typed string) (string, error)
}

// Choice is one of those that a question offers.
type Choice struct{ Value, Text string }

// Answers to questions that can be declined.
const (
	yes    = "yes"
	no     = "no"
	cancel = "Cancel" // what the declining answer is called
)

// stopping is a choice that ends the dialog with ErrStop.
var stopping = Choice{"stop", cancel}

func (q Question) stops(answer string) bool {
	return answer == stopping.Value && slices.Contains(q.Choices, stopping)
}

// letter returns the one of yes and no that a typed y or n means where both can be
// chosen, otherwise "".
func (q Question) letter(typed string) string {
	for _, value := range []string{yes, no} {
		if !slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Value == value }) {
			return ""
		}
	}
	switch strings.ToLower(typed) {
	case "y", yes:
		return yes
	case "n", no:
		return no
	}
	return ""
}

// Step is a step of a dialog. What it asks may depend on the answers before.
type Step struct {
	Skip     func() bool                 // nil: never
	Load     func(context.Context) error // finds out what Question shows; nil: nothing
	Doing    string                      // what is shown while Load runs, such as: Counting files
	Question func() Question             // nil: Load is all there is to do
	Take     func(answer string)
}

// ErrStop says that the user decided against what the questions are for.
var ErrStop = errors.New("stopped")

// Ask takes the steps in turn; esc goes back to the one before. It returns
// [tui.ErrInterrupted], ErrStop, ErrBack, or the error of a Load. The questions use the
// alternate screen: a resized terminal wraps the lines above anew, and the questions
// could not be redrawn in their place.
func (p Prompter) Ask(ctx context.Context, steps ...Step) error {
	return p.ask(ctx, steps, tea.WithAltScreen())
}

// AskBelow takes one step, below what was printed before.
func (p Prompter) AskBelow(ctx context.Context, step Step) error {
	return p.ask(ctx, []Step{step})
}

func (p Prompter) ask(ctx context.Context, steps []Step, options ...tea.ProgramOption) error {
	if p.Terminal.Plain || p.Terminal.Rows < minRows {
		return p.askPlain(ctx, steps)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a Load whose result is not needed any more
	d := newDialog(ctx, p, steps)
	err := p.Terminal.Run(ctx, d, options...)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case d.err != nil:
		return d.err
	case err != nil:
		return err
	case d.at < len(steps):
		return tui.ErrInterrupted // it ended without its last answer
	}
	return nil
}

// minRows is the least height in which a question and its facts can be read.
const minRows = 10

// dialog is the state of an Ask.
type dialog struct {
	ctx      context.Context
	prompter Prompter
	theme    *tui.Theme
	steps    []Step
	at       int // the current step; len(steps) at the end

	form  *form // nil while its Load runs
	shown int   // counts forms
	typed int   // counts the texts that were typed, so that a late result about another one is dropped
	err   error
}

func newDialog(ctx context.Context, p Prompter, steps []Step) *dialog {
	return &dialog{ctx: ctx, prompter: p, theme: tui.NewTheme(p.Terminal.Out), steps: steps, at: -1}
}

type (
	begin  struct{}
	loaded struct {
		at  int
		err error
	}
	found struct {
		typed int
		say   string
		err   error
	}
	pause struct{ typed int } // the typing has paused
)

// lookupDelay is how long typing pauses before Lookup is called.
const lookupDelay = 150 * time.Millisecond

func (d *dialog) Init() tea.Cmd { return func() tea.Msg { return begin{} } }

func (d *dialog) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case begin:
		return d, d.next()
	case tui.Tick:
		if d.form == nil {
			return d, tui.Ticking()
		}
		return d, nil
	case loaded:
		if msg.at != d.at {
			return d, nil
		}
		if d.err = msg.err; d.err != nil {
			return d, tea.Quit
		}
		return d, d.show()
	case tea.WindowSizeMsg:
		d.prompter.Terminal.Columns, d.prompter.Terminal.Rows = msg.Width, msg.Height
		if d.form == nil {
			return d, nil
		}
		return d, d.form.resize(d.prompter.Terminal)
	case tea.KeyMsg:
		switch msg.String() {
		case "ctrl+c", "ctrl+d":
			d.err = tui.ErrInterrupted
			return d, tea.Quit
		case "esc":
			return d, d.back()
		}
	case pause:
		return d, d.lookup(msg.typed)
	case found:
		if msg.typed == d.typed && d.form != nil {
			d.form.found(msg.say, msg.err)
		}
		return d, nil
	}
	if d.form == nil {
		return d, nil
	}
	return d, d.answer(msg)
}

// answer passes a message to the form, and continues when that answers the question.
func (d *dialog) answer(msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyMsg); ok && !key.Paste && d.form.letter(key.String()) != "" {
		return d.take(d.form.letter(key.String()))
	}
	before := d.form.value
	cmd := d.form.update(msg)
	if d.form.done() {
		return d.take(d.form.answer(d.form.value))
	}
	if d.form.value != before {
		return tea.Batch(cmd, d.changed())
	}
	return cmd
}

// take takes the answer to the question, and goes on.
func (d *dialog) take(answer string) tea.Cmd {
	if d.form.stops(answer) {
		d.err = ErrStop
		return tea.Quit
	}
	d.steps[d.at].Take(answer)
	return d.next()
}

// changed schedules a lookup of what is typed.
func (d *dialog) changed() tea.Cmd {
	d.typed++
	if !d.form.changed() {
		return nil
	}
	now := d.typed
	return tea.Tick(lookupDelay, func(time.Time) tea.Msg { return pause{now} })
}

// lookup looks up what is typed, unless it has changed since.
func (d *dialog) lookup(typed int) tea.Cmd {
	if typed != d.typed || d.form == nil || d.form.Lookup == nil {
		return nil
	}
	ctx, lookup, text := d.ctx, d.form.Lookup, d.form.value
	return func() tea.Msg {
		say, err := lookup(ctx, text)
		return found{typed, say, err}
	}
}

// next starts the next step that is not skipped.
func (d *dialog) next() tea.Cmd {
	d.form = nil
	d.typed++
	for d.at++; d.at < len(d.steps); d.at++ {
		if skip := d.steps[d.at].Skip; skip == nil || !skip() {
			return d.load()
		}
	}
	return tea.Quit
}

// before returns the last step before this one that asks a question, -1 for none.
func (d *dialog) before() int {
	for i := d.at - 1; i >= 0; i-- {
		if step := d.steps[i]; step.Question != nil && (step.Skip == nil || !step.Skip()) {
			return i
		}
	}
	return -1
}

func (d *dialog) back() tea.Cmd {
	i := d.before()
	switch {
	case i < 0 && d.prompter.CanGoBack:
		d.err = ErrBack
		return tea.Quit
	case i < 0:
		return nil
	}
	d.at, d.form = i, nil
	d.typed++
	return d.load()
}

// Shown counts the questions that were shown.
func (d *dialog) Shown() int { return d.shown }

func (d *dialog) load() tea.Cmd {
	step, at, ctx := d.steps[d.at], d.at, d.ctx
	if step.Load == nil {
		return d.show()
	}
	return tea.Batch(tui.Ticking(), func() tea.Msg { return loaded{at, step.Load(ctx)} })
}

func (d *dialog) show() tea.Cmd {
	step := d.steps[d.at]
	if step.Question == nil {
		return d.next()
	}
	var cmd tea.Cmd
	d.shown++
	d.form, cmd = newForm(step.Question(), d.prompter, d.theme, d.before() >= 0 || d.prompter.CanGoBack)
	return tea.Batch(cmd, d.changed())
}

func (d *dialog) View() string {
	switch {
	case d.err != nil || d.at >= len(d.steps):
		return ""
	case d.form != nil:
		return d.form.String()
	case d.at >= 0 && d.steps[d.at].Doing != "":
		columns := width(d.prompter.Terminal.Columns)
		doing := d.theme.Spinner() + " " + tui.Shorten(d.steps[d.at].Doing, columns-2)
		return strings.Join(append(statusLine(d.theme, d.prompter.Status, columns), doing), "\n")
	}
	return ""
}
