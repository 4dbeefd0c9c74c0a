package prompts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"

	"example.com/projecthub/tui"
)

// Question is one question, and what a user has to know to answer it.
type Question struct {
	Title string
	Facts []string // lines above the question

	Choices []Choice // to choose one from; nil: the answer is typed
	Preset  string   // the value that is selected, or typed already; "" for none
	Prompt  string   // the label of the input, such as: Slug
	Secret  bool     // what is typed is not shown
	Suggest bool     // Preset is not typed already, but the answer if nothing is typed

	// Check rejects what is typed, at every key, or with CheckLast only when it is
	// given as the answer. It must not wait for anything.
	Check     func(typed string) error
	CheckLast bool
	// Lookup says something about what is typed that takes time to find out, or rejects it
	// by an error. It runs in the background, again whenever the text has changed.
	Lookup func(ctx context.Context, typed string) (string, error)
}

// Choice is an answer that a question offers.
type Choice struct{ Value, Text string }

// Answers to questions that can be declined.
const (
	yes = "yes"
	no  = "no"
)

// Cancel is the text of the choice that declines.
const Cancel = "Cancel"

// stopChoice is a choice that ends the dialog with ErrStop.
var stopChoice = Choice{"stop", Cancel}

func (q Question) stops(answer string) bool {
	return answer == stopChoice.Value && slices.Contains(q.Choices, stopChoice)
}

func (q Question) offers(value string) bool {
	return slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Value == value })
}

// isYesNo reports whether yes and no can be chosen, and so be typed as y and n.
func (q Question) isYesNo() bool { return q.offers(yes) && q.offers(no) }

// yesOrNo returns yes or no if that is what was typed, in full or by its letter, else "".
func (q Question) yesOrNo(typed string) string {
	if !q.isYesNo() {
		return ""
	}
	switch strings.ToLower(typed) {
	case "y", yes:
		return yes
	case "n", no:
		return no
	}
	return ""
}

// Step is a step of a dialog. What it asks may depend on the answers before. A user who goes
// back takes a step again: all of its functions may be called several times, and Take has to
// replace what it took before.
type Step struct {
	Skip     func() bool                 // whether the step is left out; nil: never
	Load     func(context.Context) error // finds out what Question needs, in the background; nil: nothing
	Doing    string                      // what is shown while Load runs, such as: Counting files
	Question func() Question             // nil, or one without a title: the step asks nothing
	Take     func(answer string)
}

// ErrStop says that the user chose to cancel.
var ErrStop = errors.New("stopped")

// Ask takes the steps in turn; esc goes back to the question before. Its error is
// [tui.ErrInterrupted], ErrStop, ErrBack, or that of a Load.
//
// The questions use the alternate screen. Below other lines they could not be redrawn in
// their place once a resized terminal has wrapped those lines differently.
func (t *Terminal) Ask(ctx context.Context, steps ...Step) error {
	p := t.prompter()
	defer t.draws()()
	if p.Plain || p.Rows < minRows {
		return p.askPlain(ctx, steps)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a Load or a Lookup may still run
	d := newDialog(ctx, p, steps)
	runErr := p.Run(ctx, d)
	if err := cmp.Or(ctx.Err(), d.err, runErr); err != nil {
		return err
	}
	if d.at < len(steps) {
		return tui.ErrInterrupted // the view ended without its last answer
	}
	return nil
}

// minRows is the least height in which a question and its facts can be read.
const minRows = 10

// dialog is the state of an Ask.
type dialog struct {
	ctx      context.Context // of Load and Lookup
	prompter prompter
	screen   tui.Screen
	steps    []Step
	at       int // index of the current step; -1 before the first, len(steps) at the end

	form  *form // shows the current question; nil while its Load runs
	load  load  // that was started last
	shown int   // counts the questions that were shown
	edit  int   // counts changes of the text and of the step, so that outdated results are dropped
	err   error // why the dialog ended early
}

func newDialog(ctx context.Context, p prompter, steps []Step) *dialog {
	return &dialog{ctx: ctx, prompter: p, screen: p.screen(), steps: steps, at: -1}
}

// load is a Load in the background. The next one starts when it has ended, since both may write to the
// same variables.
type load struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// Messages of a dialog to itself. One whose edit is not the dialog's is outdated.
type (
	// begin starts the first step.
	begin struct{}
	// loaded is sent when a Load has ended.
	loaded struct {
		edit int
		err  error
	}
	// paused is sent when typing has paused.
	paused struct{ edit int }
	// found is what a Lookup returned.
	found struct {
		edit   int
		remark string
		err    error
	}
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
		if msg.edit != d.edit {
			return d, nil
		}
		if msg.err != nil {
			d.err = msg.err
			return d, tea.Quit
		}
		return d, d.show()
	case tea.WindowSizeMsg:
		d.screen.Columns, d.screen.Rows = msg.Width, msg.Height
		if d.form == nil {
			return d, nil
		}
		return d, d.form.resize(d.screen)
	case tea.KeyMsg:
		switch msg.String() {
		case "ctrl+c", "ctrl+d":
			d.err = tui.ErrInterrupted
			return d, tea.Quit
		case "esc":
			return d, d.back()
		}
	case paused:
		return d, d.lookup(msg.edit)
	case found:
		if msg.edit == d.edit && d.form != nil {
			d.form.found(msg.remark, msg.err)
		}
		return d, nil
	}
	if d.form == nil {
		return d, nil
	}
	return d, d.answer(msg)
}

// answer passes a message to the form, and takes the answer if the message gives one.
func (d *dialog) answer(msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyMsg); ok && !key.Paste {
		if answer := d.form.yesOrNo(key.String()); answer != "" {
			return d.take(answer)
		}
	}
	before := d.form.value
	cmd := d.form.update(msg)
	if d.form.huh.State == huh.StateCompleted {
		return d.take(d.form.answer(d.form.value))
	}
	if d.form.value != before {
		return tea.Batch(cmd, d.changed())
	}
	return cmd
}

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
	d.edit++
	if !d.form.changed() {
		return nil
	}
	edit := d.edit
	return tea.Tick(lookupDelay, func(time.Time) tea.Msg { return paused{edit} })
}

// lookup looks up what is typed, unless it has changed since edit.
func (d *dialog) lookup(edit int) tea.Cmd {
	if edit != d.edit || d.form == nil || d.form.Lookup == nil {
		return nil
	}
	ctx, lookup, text := d.ctx, d.form.Lookup, d.form.value // the command runs in the background
	return func() tea.Msg {
		remark, err := lookup(ctx, text)
		return found{edit: edit, remark: remark, err: err}
	}
}

func (d *dialog) next() tea.Cmd {
	d.form = nil
	d.edit++
	for d.at++; d.at < len(d.steps); d.at++ {
		if skip := d.steps[d.at].Skip; skip == nil || !skip() {
			return d.start()
		}
	}
	return tea.Quit
}

// previous returns the index of the question before this one, -1 for none.
func (d *dialog) previous() int {
	for i := d.at - 1; i >= 0; i-- {
		step := d.steps[i]
		skipped := step.Skip != nil && step.Skip()
		if !skipped && step.question().Title != "" {
			return i
		}
	}
	return -1
}

// back goes back to the previous question. Without one it ends the dialog, or does nothing.
func (d *dialog) back() tea.Cmd {
	if previous := d.previous(); previous >= 0 {
		d.at, d.form = previous, nil
		d.edit++
		return d.start()
	}
	if d.prompter.canGoBack {
		d.err = ErrBack
		return tea.Quit
	}
	return nil
}

// Shown counts the questions that were shown; see [tui.Terminal.Run].
func (d *dialog) Shown() int { return d.shown }

// start runs the Load of the current step, if it has one, and then shows its question.
func (d *dialog) start() tea.Cmd {
	step, edit := d.steps[d.at], d.edit
	if step.Load == nil {
		return d.show()
	}
	former := d.load
	if former.cancel != nil {
		former.cancel()
	}
	ctx, cancel := context.WithCancel(d.ctx)
	ended := make(chan struct{})
	d.load = load{cancel, ended}
	return tea.Batch(tui.Ticking(), func() tea.Msg {
		if former.ended != nil {
			<-former.ended
		}
		defer close(ended)
		return loaded{edit, step.Load(ctx)}
	})
}

// question returns the step's question, one without a title for none.
func (s Step) question() Question {
	if s.Question == nil {
		return Question{}
	}
	return s.Question()
}

// show shows the question of the current step. A step without one is done.
func (d *dialog) show() tea.Cmd {
	question := d.steps[d.at].question()
	if question.Title == "" {
		return d.next()
	}
	canGoBack := d.prompter.canGoBack || d.previous() >= 0
	d.form = newForm(question, d.screen, d.prompter.status, canGoBack)
	d.shown++
	return tea.Batch(d.form.build(), d.changed())
}

func (d *dialog) View() string {
	switch {
	case d.err != nil || d.at >= len(d.steps):
		return ""
	case d.form != nil:
		return d.form.String()
	case d.at >= 0 && d.steps[d.at].Doing != "":
		return d.screen.Draw(tui.Page{Status: d.prompter.status, Least: 1}, d.screen.Busy(d.steps[d.at].Doing))
	}
	return ""
}
