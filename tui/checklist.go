package tui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui/escape"
)

// Checklist shows the steps of a command: which are done, which one runs, and how
// long each takes. Its lines stay. On a plain terminal each step is a line once it
// is over.
type Checklist struct {
	w     io.Writer
	plain bool

	mu    sync.Mutex
	state *checklist // of the view, once that has started
	begun bool
	live  *live
}

// NewChecklist returns one of steps by these names, on t's output. Nothing is
// written before the first of them has started.
func NewChecklist(t Terminal, names ...string) *Checklist {
	return &Checklist{w: t.Out, plain: t.Plain, state: newChecklist(NewTheme(t.Out), t.Columns, names)}
}

// Start starts the step of an index. Those before it are done.
func (c *Checklist) Start(step int) { c.send(started{step, time.Now()}) }

// Update shows the progress of a transfer below the running step.
func (c *Checklist) Update(p Progress) { c.send(progressed{p, time.Now()}) }

// Note shows a line below the running step, until there is progress. It returns false if
// nothing is redrawn that could show it.
func (c *Checklist) Note(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live != nil {
		c.live.send(noted(text))
	}
	return c.live != nil
}

// End ends the running step, and the list with it. The problem is a word for why
// the step did not come to its end, such as failed; "" when it did.
func (c *Checklist) End(problem string) {
	c.mu.Lock()
	begun := c.begun
	c.mu.Unlock()
	if !begun {
		return
	}
	last := ended{escape.Line(problem), time.Now()}
	if c.plain {
		c.send(last)
	} else {
		c.live.end(last)
	}
}

func (c *Checklist) send(msg tea.Msg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.begun = true; {
	case c.plain:
		over := c.state.over
		c.state.apply(msg)
		for ; over < c.state.over; over++ {
			fmt.Fprintln(c.w, c.state.sentence(over))
		}
	case c.live == nil:
		c.state.apply(msg)
		c.live = startLive(c.w, c.state)
	default:
		c.live.send(msg)
	}
}

// The messages of a checklist.
type (
	started struct {
		step int
		at   time.Time
	}
	progressed struct {
		Progress
		at time.Time
	}
	ended struct {
		problem string
		at      time.Time
	}
	noted string
)

// checklist is the view's state.
type checklist struct {
	theme   *Theme
	columns int
	names   []string
	took    []time.Duration // by step
	over    int             // how many steps have ended
	running int             // the step that runs, or was the last to
	since   time.Time       // when it started
	meter   meter           // of its transfer, if any
	note    string          // why it does not go on; "" where it does
	ended   bool
	problem string
	hidden  bool
}

func (m *checklist) hide(hidden bool) { m.hidden = hidden }

func newChecklist(th *Theme, columns int, names []string) *checklist {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = escape.Line(name)
	}
	return &checklist{theme: th, columns: columns, names: shown, took: make([]time.Duration, len(names))}
}

// apply applies a message.
func (m *checklist) apply(msg tea.Msg) {
	switch msg := msg.(type) {
	case noted:
		m.note = string(msg)
		return
	case tea.WindowSizeMsg, Tick:
		return
	}
	m.note = ""
	switch msg := msg.(type) {
	case started:
		if m.over < msg.step {
			m.took[m.running] = msg.at.Sub(m.since)
		}
		m.over, m.running, m.since, m.meter = msg.step, msg.step, msg.at, meter{}
	case progressed:
		m.meter.update(msg.Progress, msg.at)
	case ended:
		m.took[m.running] = msg.at.Sub(m.since)
		m.over, m.ended, m.problem = m.running+1, true, msg.problem
	}
}

func (m *checklist) Init() tea.Cmd { return Ticking() }

func (m *checklist) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.apply(msg)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns = msg.Width
	case Tick:
		return m, Ticking()
	case hide:
		m.hidden = true
		return m, tea.Quit
	case ended:
		return m, tea.Quit
	}
	return m, nil
}

// View ends with an empty line: a ctrl-c is echoed there, and taken away.
func (m *checklist) View() string {
	if m.hidden {
		return ""
	}
	width := 0
	for _, name := range m.names {
		width = max(width, lipgloss.Width(name))
	}
	var b strings.Builder
	b.WriteString(fromLeft)
	for i, name := range m.names {
		mark, state := m.mark(i)
		b.WriteString(strings.TrimRight(fmt.Sprintf("%s %-*s  %s", mark, width, name, state), " ") + "\n")
		if i == m.running && !m.ended && m.meter.Phase != "" {
			b.WriteString("  " + m.meter.line(time.Now(), m.columns-2) + "\n")
		}
		if i == m.running && m.note != "" {
			b.WriteString(below(m.note, m.columns) + "\n")
		}
	}
	return b.String()
}

// mark returns the sign before a step, and in words how it is doing.
func (m *checklist) mark(step int) (sign, state string) {
	switch failed := m.problem != ""; {
	case step == m.running && failed:
		return m.theme.Glyph(Failed), m.outcome(step)
	case step < m.over:
		return m.theme.Glyph(Done), m.outcome(step)
	case step == m.running:
		return m.theme.Spinner(), seconds(time.Since(m.since))
	case failed:
		return m.theme.Glyph(None), "not started"
	}
	return m.theme.Glyph(None), ""
}

// outcome says how a step ended.
func (m *checklist) outcome(step int) string {
	if step == m.running && m.problem != "" {
		return m.problem + " after " + seconds(m.took[step])
	}
	return "done in " + seconds(m.took[step])
}

// sentence says how a step ended, for a plain terminal.
func (m *checklist) sentence(step int) string {
	return fmt.Sprintf("Step %d of %d, %s: %s.", step+1, len(m.names), m.names[step], m.outcome(step))
}
