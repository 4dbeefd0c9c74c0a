package prompts

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Screen is one question, and what a person has to know to answer it.
type Screen struct {
	Title string
	Facts []string // lines above the question

	Choices []Choice // to choose one from; without any, text is typed
	Preset  string   // the value that is marked, or typed already
	Prompt  string   // what is asked for, such as: Slug
	Secret  bool     // what is typed is not shown

	// Check refuses what is typed, at every key, or with Late only when it is given
	// as the answer. It must not wait for anything.
	Check func(typed string) error
	Late  bool
	// Look says something about what is typed that takes time to find out. A
	// refusal is an error. It runs beside the keys and holds none up.
	Look func(ctx context.Context, typed string) (string, error)
}

// Choice is one that can be made.
type Choice struct{ Value, Text string }

// Step is a turn of a conversation. What it asks may depend on the answers before.
type Step struct {
	Skip   func() bool                 // nil: never
	Load   func(context.Context) error // finds out what Screen shows; nil: nothing
	Doing  string                      // what is shown while Load runs, such as: Counting files
	Screen func() Screen               // nil: Load is all there is to do
	Take   func(answer string)
}

// ErrStop is returned from Load to end a conversation without a failure.
var ErrStop = errors.New("stopped")

// Converse takes the steps in turn; esc goes back to the one before. It returns
// ErrInterrupted, ErrStop, ErrBack, or the error of a Load. The questions have a screen of
// their own: lines below others, which a resized terminal wraps anew, could not be
// redrawn in their place.
func (t Terminal) Converse(ctx context.Context, steps []Step) error {
	return t.converse(ctx, steps, tea.WithAltScreen())
}

// AskBelow takes one step, and leaves in sight what was printed before.
func (t Terminal) AskBelow(ctx context.Context, step Step) error {
	return t.converse(ctx, []Step{step})
}

func (t Terminal) converse(ctx context.Context, steps []Step, options ...tea.ProgramOption) error {
	if t.Plain || t.Rows < minRows {
		return t.conversePlain(ctx, steps)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a Load that nobody waits for any more
	m := &conversation{ctx: ctx, steps: steps, at: -1, terminal: t}
	err := t.view().Run(ctx, m, options...)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case m.err != nil:
		return m.err
	case err != nil:
		return err
	case m.at < len(steps):
		return ErrInterrupted // it ended without its last answer
	}
	return nil
}

// minRows is the least height in which a question and its facts can be read.
const minRows = 10

// conversation is the state of a Converse.
type conversation struct {
	ctx      context.Context
	steps    []Step
	at       int // the step that is on; len(steps) at the end
	terminal Terminal

	screen *view // nil while its Load runs
	shown  int   // counts screens
	typed  int   // counts the texts that were typed, so that a late finding about another one is dropped
	err    error
}

type (
	begin  struct{}
	loaded struct {
		at  int
		err error
	}
	looked struct {
		typed int
		say   string
		err   error
	}
	pause struct{ typed int } // the typing has paused
)

// lookAfter is how long nobody types before the hub is asked about it.
const lookAfter = 150 * time.Millisecond

func (c *conversation) Init() tea.Cmd { return func() tea.Msg { return begin{} } }

func (c *conversation) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case begin:
		return c, c.next()
	case loaded:
		if msg.at != c.at {
			return c, nil
		}
		if c.err = msg.err; c.err != nil {
			return c, tea.Quit
		}
		return c, c.show()
	case tea.WindowSizeMsg:
		c.terminal.Columns, c.terminal.Rows = msg.Width, msg.Height
		if c.screen == nil {
			return c, nil
		}
		return c, c.screen.resize(c.terminal)
	case tea.KeyMsg:
		switch msg.String() {
		case "ctrl+c", "ctrl+d":
			c.err = ErrInterrupted
			return c, tea.Quit
		case "esc":
			return c, c.back()
		}
	case pause:
		return c, c.look(msg.typed)
	case looked:
		if msg.typed == c.typed && c.screen != nil {
			c.screen.found(msg.say, msg.err)
		}
		return c, nil
	}
	if c.screen == nil {
		return c, nil
	}
	return c, c.answer(msg)
}

// answer gives the screen a message, and goes on when that answers it.
func (c *conversation) answer(msg tea.Msg) tea.Cmd {
	before := c.screen.value
	cmd := c.screen.update(msg)
	if c.screen.done() {
		c.steps[c.at].Take(c.screen.value)
		return c.next()
	}
	if c.screen.value != before {
		return tea.Batch(cmd, c.changed())
	}
	return cmd
}

// changed plans a look at what is typed.
func (c *conversation) changed() tea.Cmd {
	c.typed++
	if !c.screen.changed() {
		return nil
	}
	now := c.typed
	return tea.Tick(lookAfter, func(time.Time) tea.Msg { return pause{now} })
}

// look asks about what is typed, unless it is another text by now.
func (c *conversation) look(typed int) tea.Cmd {
	if typed != c.typed || c.screen == nil || c.screen.Look == nil {
		return nil
	}
	ctx, look, text := c.ctx, c.screen.Look, c.screen.value
	return func() tea.Msg {
		say, err := look(ctx, text)
		return looked{typed, say, err}
	}
}

// next begins the next step that is not skipped.
func (c *conversation) next() tea.Cmd {
	c.screen = nil
	c.typed++
	for c.at++; c.at < len(c.steps); c.at++ {
		if skip := c.steps[c.at].Skip; skip == nil || !skip() {
			return c.load()
		}
	}
	return tea.Quit
}

// before returns the last step before this one that asks something, -1 for none.
func (c *conversation) before() int {
	for i := c.at - 1; i >= 0; i-- {
		if step := c.steps[i]; step.Screen != nil && (step.Skip == nil || !step.Skip()) {
			return i
		}
	}
	return -1
}

func (c *conversation) back() tea.Cmd {
	i := c.before()
	switch {
	case i < 0 && c.terminal.CanGoBack:
		c.err = ErrBack
		return tea.Quit
	case i < 0:
		return nil
	}
	c.at, c.screen = i, nil
	c.typed++
	return c.load()
}

// Question tells which screen is shown.
func (c *conversation) Question() int { return c.shown }

func (c *conversation) load() tea.Cmd {
	step, at, ctx := c.steps[c.at], c.at, c.ctx
	if step.Load == nil {
		return c.show()
	}
	return func() tea.Msg { return loaded{at, step.Load(ctx)} }
}

func (c *conversation) show() tea.Cmd {
	step := c.steps[c.at]
	if step.Screen == nil {
		return c.next()
	}
	var cmd tea.Cmd
	c.shown++
	c.screen, cmd = newView(step.Screen(), c.terminal, c.before() >= 0 || c.terminal.CanGoBack)
	return tea.Batch(cmd, c.changed())
}

func (c *conversation) View() string {
	switch {
	case c.err != nil || c.at >= len(c.steps):
		return ""
	case c.screen != nil:
		return c.screen.String()
	case c.at >= 0:
		return strings.Join(c.terminal.wrap(c.steps[c.at].Doing+" …"), "\n")
	}
	return ""
}
