package prompts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// Overwrite is the question whether one config, or set of files, replaces another.
type Overwrite struct {
	Title      string   // the question, such as: Overwrite the config of @acme/web?
	Facts      []string // what a user has to know to answer: who wrote what is overwritten
	Notice     string   // what has changed since the question was asked before, "" for nothing
	Yes        string   // what is done, such as: Overwrite it
	Difference flat.Difference
	Files      bool // the difference is one of files: texts by their paths
}

// Overwrite asks q: in a view to scroll through, or in lines where the terminal is
// plain or too small. Only an explicit yes is one; the default is no. The error is
// [tui.ErrInterrupted] or that of ctx.
func (p Prompter) Overwrite(ctx context.Context, q Overwrite) (yes bool, err error) {
	m := newOverwriteView(p, q)
	if p.Terminal.Plain || !m.fits() {
		return p.overwritePlain(ctx, q, m.diff)
	}
	answer, err := p.run(ctx, m, &m.view)
	return answer == yesGiven, err
}

// Of a difference that is asked about in lines: how many keys are shown before all are
// listed, and how many columns of each value.
const (
	plainKeys  = 12
	plainWidth = 60
)

// overwritePlain asks in lines: the counts and the first keys in words, then the answers.
func (p Prompter) overwritePlain(ctx context.Context, q Overwrite, diff []tui.Row) (bool, error) {
	facts := slices.Clone(q.Facts)
	if q.Notice != "" {
		facts = append(facts, q.Notice)
	}
	facts = append(facts, tui.Counts(q.Difference)+".")
	short := tui.Sentences(diff, plainWidth)
	for i, sentence := range short {
		if i == plainKeys {
			facts = append(facts, fmt.Sprintf("and %d more.", len(short)-i))
			break
		}
		facts = append(facts, sentence)
	}
	answer, err := p.choosePlain(ctx, Question{
		Title: q.Title, Facts: facts, Preset: no, Choices: []Choice{{yes, q.Yes}, {no, cancel}},
	}, func() []string { return tui.Sentences(diff, 0) })
	return answer == yes, err
}

// overwriteView is the state of the view. A row that is folded takes one line, so all lines
// are known before any is laid out: only those in sight are.
type overwriteView struct {
	view
	question Overwrite
	diff     []tui.Row
	open     []bool // by row: unfolded
	filter   string // what the rows in the list contain
	typing   bool   // the filter
	keys     int    // in the list
	lines    []listed
	row      int  // of diff, that is selected
	all      int  // how many lines there are without a filter
	spare    int  // lines of the terminal that are left to the list and the empty ones
	ready    bool // it can be answered
}

// listed is a line of the list. That of a row that is folded is laid out when it is in sight.
type listed struct {
	row  int
	line tui.RowLine
}

func newOverwriteView(p Prompter, q Overwrite) *overwriteView {
	m := &overwriteView{view: newView(p), question: q, diff: tui.Rows(q.Difference, q.Files), ready: q.Notice == ""}
	m.open = make([]bool, len(m.diff))
	m.layout()
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
	quit := m.update(msg, m.key)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.layout()
	case ready:
		m.ready = true
	case tea.KeyMsg:
		if msg.Paste && m.typing {
			m.find(m.filter + string(msg.Runes))
		}
	}
	return m, quit
}

// key does what one key does, and returns what ends the view when it does.
func (m *overwriteView) key(name string) tea.Cmd {
	switch {
	case !m.ready:
		return nil
	case m.typing:
		m.edit(name)
		return nil
	case name == "esc" && m.filter != "":
		m.find("")
		return nil
	}
	switch name {
	case "y":
		if m.fits() { // nobody says yes to what is not in sight
			return m.end(yesGiven)
		}
	case "n", "q", "esc":
		return m.end(noGiven)
	case "enter", " ":
		if m.pick() {
			m.open[m.row] = !m.open[m.row]
			m.layout()
		}
	case "a":
		folded := slices.Contains(m.open, false)
		for i := range m.open {
			m.open[i] = folded
		}
		m.layout()
	case "/":
		m.typing = true
		m.find("")
	default:
		m.move(name, len(m.lines), m.height())
		m.pick()
	}
	return nil
}

// pick selects the row of the line that the cursor is at, and reports whether there is one.
func (m *overwriteView) pick() bool {
	if m.at < len(m.lines) {
		m.row = m.lines[m.at].row
	}
	return len(m.lines) > 0
}

// edit does what a key does while the filter is typed.
func (m *overwriteView) edit(name string) {
	switch typed := []rune(m.filter); {
	case name == "enter" || name == "up" || name == "down":
		m.typing = false
		m.pick()
	case name == "esc":
		m.typing = false
		m.find("")
	case name == "ctrl+u":
		m.find("")
	case name == "backspace":
		m.find(string(typed[:max(0, len(typed)-1)]))
	case utf8.RuneCountInString(name) == 1:
		m.find(m.filter + name)
	}
}

// find lists the rows that contain text.
func (m *overwriteView) find(text string) {
	m.filter, m.top = text, 0
	m.layout()
}

// cursorColumns is the width of the cursor's column, before the lines.
const cursorColumns = 2

// layout lists the lines of the rows that the filter finds. The cursor goes to the selected
// row, or to the next key that is found.
func (m *overwriteView) layout() {
	m.spare = m.rows - len(m.above()) - footLines
	found, keys := tui.Find(m.diff, m.filter)
	at, _ := slices.BinarySearch(found, m.row)
	if m.filter != "" && at < len(found) && m.diff[found[at]].Heading {
		at++
	}
	at = min(at, len(found)-1)
	m.lines, m.keys, m.at = m.lines[:0], keys, 0
	end := 0 // of the selected row
	for i, row := range found {
		if i == at {
			m.at = len(m.lines)
		}
		if m.open[row] {
			for _, line := range m.diff[row].Lines(m.columns-cursorColumns, true) {
				m.lines = append(m.lines, listed{row, line})
			}
		} else {
			m.lines = append(m.lines, listed{row: row})
		}
		if i == at {
			end = len(m.lines) - 1
		}
	}
	if m.filter == "" {
		m.all = len(m.lines)
	}
	m.reveal(end, len(m.lines), m.height())
}

// Lines below the list: what is in sight of it, the answers and the keys; how many lines of
// the list there are at least; and how many lines are left where some of them are empty.
const (
	footLines  = 3
	minLines   = 2
	airyLines  = 10
	emptyLines = 3
)

// above returns the lines above the list.
func (m *overwriteView) above() []string {
	columns := width(m.columns)
	lines := m.view.above(m.question.Title, m.question.Facts)
	if m.question.Notice != "" {
		lines = append(lines, paragraph(m.theme.Warning, m.question.Notice, columns)...)
	}
	return append(lines, paragraph(m.theme.Title, tui.Counts(m.question.Difference), columns)...)
}

// fits reports whether the terminal has room for the view.
func (m *overwriteView) fits() bool {
	return m.columns >= lipgloss.Width(m.answers()) && m.spare >= minLines
}

// height is how many lines of the list are in sight.
func (m *overwriteView) height() int {
	if m.spare >= airyLines {
		return m.spare - emptyLines
	}
	return max(1, m.spare)
}

func (m *overwriteView) View() string {
	switch {
	case m.answer != none:
		return ""
	case !m.fits():
		return m.tooSmall()
	}
	columns := width(m.columns)
	lines := m.above()
	empty := func() {
		if m.spare >= airyLines {
			lines = append(lines, "")
		}
	}
	empty()
	end := min(len(m.lines), m.top+m.height())
	for i := m.top; i < end; i++ {
		lines = append(lines, m.line(i))
	}
	for range min(m.all, m.height()) - (end - m.top) { // what is below the list stays in its place
		lines = append(lines, "")
	}
	state := m.state(end)
	lines = append(lines, hints(m.theme, columns, state...)[0])
	if len(state) > 0 {
		empty()
	}
	lines = append(lines, m.answers())
	empty()
	return strings.Join(append(lines, m.help(columns)), "\n")
}

// line draws a line of the list.
func (m *overwriteView) line(i int) string {
	l := m.lines[i]
	if !m.open[l.row] {
		l.line = m.diff[l.row].Lines(m.columns-cursorColumns, false)[0]
	}
	mark := strings.Repeat(" ", cursorColumns)
	if i == m.at {
		mark = m.theme.Accent.Render(">") + " "
	}
	return mark + l.line.Paint(m.theme, m.filter)
}

// state describes the filter, and which lines are in sight where not all of them are.
func (m *overwriteView) state(end int) (parts []string) {
	if m.typing || m.filter != "" {
		filter, what := escape.Line(m.filter), "keys"
		if m.typing {
			filter += "_"
		}
		if m.question.Files {
			what = "files"
		}
		parts = append(parts, fmt.Sprintf("filter: %s  %d of %d %s", filter, m.keys, m.question.Difference.Len(), what))
	}
	if end-m.top < len(m.lines) {
		parts = append(parts, fmt.Sprintf("lines %d to %d of %d", m.top+1, end, len(m.lines)))
	}
	return parts
}

// answers are the two answers with their keys, in brackets while they do something.
func (m *overwriteView) answers() string {
	y, n := " y ", " n "
	if m.ready && !m.typing {
		y, n = m.theme.Accent.Render("[y]"), m.theme.Accent.Render("[n]")
	}
	return fmt.Sprintf("  %s %s   %s %s", y, m.question.Yes, n, cancel)
}

// help names the other keys that do something now, as many as fit in a line.
func (m *overwriteView) help(columns int) string {
	keys := []string{"↑/↓ move", "enter unfold", "/ filter", "a unfold all"}
	switch {
	case m.typing:
		keys = []string{"enter keep the filter", "esc show all"}
	case m.filter != "":
		keys = append([]string{"esc show all"}, keys...)
	}
	return hints(m.theme, columns, keys...)[0]
}
