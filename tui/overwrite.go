package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/projecthub/hubclient/flat"
)

// Overwrite is the question whether one config takes the place of another.
type Overwrite struct {
	Title      string   // the question, such as: Overwrite the config of @acme/web?
	Facts      []string // what it takes to answer: the hub, who wrote what is overwritten
	Notice     string   // what has changed since the question was asked before, "" for nothing
	Yes, No    string   // what they do, such as: Overwrite it
	Difference flat.Difference
}

// Overwrite asks q: in a view to scroll through, or in lines where the terminal is
// a plain one or too small. Only a yes that was given is one; no is preset. The
// error is [ErrInterrupted] or that of ctx.
func (t Terminal) Overwrite(ctx context.Context, q Overwrite) (yes bool, err error) {
	m := newOverwrite(q, newTheme(t.Out), t.Columns, t.Rows)
	if t.Plain || !m.fits() {
		return t.overwritePlain(ctx, q)
	}
	switch err := t.Run(ctx, m, tea.WithAltScreen()); {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil || m.answer == none:
		return false, ErrInterrupted // a view can end without an answer and without an error
	}
	return m.answer == yesGiven, nil
}

// answer is how a question ended.
type answer int

const (
	none answer = iota
	noGiven
	yesGiven
)

// focus is what the keys go to.
type focus int

const (
	onButtons focus = iota
	onList
	onSearch
)

// overwrite is the view's state.
type overwrite struct {
	Overwrite
	theme         theme
	counts        counts
	list          *list
	columns, rows int
	focus         focus
	former        focus // before the search
	yes           bool  // the button that is chosen
	typed         string
	origin        place // of the cursor before the search
	asks          bool  // it can be answered
	answer        answer
}

func newOverwrite(q Overwrite, th theme, columns, rows int) *overwrite {
	m := &overwrite{
		Overwrite: q, theme: th, list: newList(items(q.Difference)),
		asks:   q.Notice == "",
		counts: countsOf(q.Difference),
	}
	m.resize(columns, rows)
	return m
}

// again is how long a question that comes back takes no answer. What is typed by
// then was meant for the one before, which had another difference.
const again = 300 * time.Millisecond

// looked is when a question that has come back can be answered.
type looked struct{}

func (m *overwrite) Init() tea.Cmd {
	if m.asks {
		return nil
	}
	return tea.Tick(again, func(time.Time) tea.Msg { return looked{} })
}

func (m *overwrite) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case looked:
		m.asks = true
	case tea.KeyMsg:
		return m, m.press(msg)
	}
	return m, nil
}
