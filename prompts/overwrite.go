package prompts

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/tui"
)

// Overwrite is the question whether one config, or set of files, replaces another.
type Overwrite struct {
	Title      string   // the question, such as: Overwrite the config of @acme/web?
	Facts      []string // what a user has to know to answer: who wrote what is overwritten
	Notice     string   // what has changed since the question was asked before, "" for nothing
	Yes, No    string   // the answers, such as: Overwrite it
	Difference flat.Difference
	Files      bool // the difference is one of files: texts by their paths
}

// Overwrite asks q: in a view to scroll through, or in lines where the terminal is
// plain or too small. Only an explicit yes is one; the default is no. The error is
// [tui.ErrInterrupted] or that of ctx.
func (p Prompter) Overwrite(ctx context.Context, q Overwrite) (yes bool, err error) {
	t := p.Terminal
	m := newOverwriteView(q, p.Status, tui.NewTheme(t.Out), t.Columns, t.Rows)
	if t.Plain || !m.fits() {
		return p.overwritePlain(ctx, q)
	}
	switch err := t.Run(ctx, m, tea.WithAltScreen()); {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil || m.answer == none:
		return false, tui.ErrInterrupted // a view can end without an answer and without an error
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

// overwriteView is the state of the view.
type overwriteView struct {
	question      Overwrite
	status        string // the hub and the identity
	theme         *tui.Theme
	diff          *tui.DiffView
	counts        string
	columns, rows int
	focus         focus
	former        focus // before the search
	yes           bool  // the selected button
	ready         bool  // it can be answered
	answer        answer
}

func newOverwriteView(q Overwrite, status string, th *tui.Theme, columns, rows int) *overwriteView {
	draw := tui.NewDiffView
	if q.Files {
		draw = tui.NewFilesView
	}
	m := &overwriteView{
		question: q, status: status, theme: th, diff: draw(q.Difference, th),
		ready:  q.Notice == "",
		counts: tui.Counts(q.Difference),
	}
	m.resize(columns, rows)
	return m
}

// readyAfter is how long a repeated question takes no answer. What is typed by then
// was meant for the one before, which had another difference.
const readyAfter = 300 * time.Millisecond

// ready is sent when a repeated question can be answered.
type ready struct{}

func (m *overwriteView) Init() tea.Cmd {
	if m.ready {
		return nil
	}
	return tea.Tick(readyAfter, func(time.Time) tea.Msg { return ready{} })
}

func (m *overwriteView) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case ready:
		m.ready = true
	case tui.BackgroundKnown:
		m.theme.Refresh()
	case tea.KeyMsg:
		return m, m.press(msg)
	}
	return m, nil
}
