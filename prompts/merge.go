package prompts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/tui"
)

// Merge is the question which side of each conflict to take.
type Merge struct {
	Title     string   // the question, such as: Which values should client.json have?
	Facts     []string // what a user has to know to answer
	Conflicts flat.Conflicts
}

// Merge asks q: in a view to move through, or in lines where the terminal is plain or too
// small. It returns the side of each conflict, nil if the person leaves. The error is
// [tui.ErrInterrupted] or that of ctx.
func (p Prompter) Merge(ctx context.Context, q Merge) ([]flat.Side, error) {
	t := p.Terminal
	m := newMergeView(q, p.Status, tui.NewTheme(t.Out), t.Columns, t.Rows)
	if t.Plain || !m.fits() {
		return p.mergePlain(ctx, q)
	}
	switch err := t.Run(ctx, m, tea.WithAltScreen()); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || m.answer == none:
		return nil, tui.ErrInterrupted
	case m.answer == noGiven:
		return nil, nil
	}
	return m.sides, nil
}

// mergeView is the state of the view.
type mergeView struct {
	question      Merge
	status        string
	theme         *tui.Theme
	columns, rows int
	cursor, top   int // the selected conflict, and the first one in sight
	sides         []flat.Side
	chosen        []bool
	answer        answer
}

func newMergeView(q Merge, status string, th *tui.Theme, columns, rows int) *mergeView {
	n := len(q.Conflicts)
	return &mergeView{question: q, status: status, theme: th, columns: columns, rows: rows, sides: make([]flat.Side, n), chosen: make([]bool, n)}
}

func (m *mergeView) Init() tea.Cmd { return nil }

func (m *mergeView) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
		m.moveTo(m.cursor)
	case tui.BackgroundKnown:
		m.theme.Refresh()
	case tea.KeyMsg:
		if msg.Type != tea.KeyRunes {
			return m, m.key(msg.String())
		}
		if msg.Paste {
			return m, nil
		}
		for _, r := range msg.Runes {
			if quit := m.key(string(r)); quit != nil {
				return m, quit
			}
		}
	}
	return m, nil
}

// key does what one key does, and returns what ends the view when it does.
func (m *mergeView) key(name string) tea.Cmd {
	last := len(m.sides) - 1
	switch name {
	case "ctrl+c", "ctrl+d":
		return tea.Quit
	case "q", "n", "esc":
		m.answer = noGiven
		return tea.Quit
	}
	if !m.fits() {
		return nil // nobody chooses what is not in sight
	}
	switch name {
	case "m":
		m.choose(flat.Mine)
	case "t":
		m.choose(flat.Theirs)
	case "M":
		m.chooseRest(flat.Mine)
	case "T":
		m.chooseRest(flat.Theirs)
	case "up", "k":
		m.moveTo(m.cursor - 1)
	case "down", "j":
		m.moveTo(m.cursor + 1)
	case "pgup":
		m.moveTo(m.cursor - m.shown())
	case "pgdown":
		m.moveTo(m.cursor + m.shown())
	case "home", "g":
		m.moveTo(0)
	case "end", "G":
		m.moveTo(last)
	case "enter":
		if open := slices.Index(m.chosen, false); open >= 0 {
			m.moveTo(open)
			return nil
		}
		m.answer = yesGiven
		return tea.Quit
	}
	return nil
}

// choose chooses a side of the selected conflict, and goes to the next one that is open.
func (m *mergeView) choose(side flat.Side) {
	m.sides[m.cursor], m.chosen[m.cursor] = side, true
	for step := range len(m.chosen) {
		if i := (m.cursor + 1 + step) % len(m.chosen); !m.chosen[i] {
			m.moveTo(i)
			return
		}
	}
}

// chooseRest chooses a side of all conflicts that are open; of all, where none is.
func (m *mergeView) chooseRest(side flat.Side) {
	all := !slices.Contains(m.chosen, false)
	for i := range m.sides {
		if all || !m.chosen[i] {
			m.sides[i], m.chosen[i] = side, true
		}
	}
}

func (m *mergeView) moveTo(i int) {
	m.cursor = max(0, min(i, len(m.sides)-1))
	m.top = min(m.top, m.cursor)
	m.top = max(m.top, m.cursor-m.shown()+1)
}

// Lines that a conflict takes, and those below the list: its status and the keys.
const (
	conflictLines  = 4
	mergeFootLines = 3
)

// shown is how many conflicts are in sight.
func (m *mergeView) shown() int {
	return max(1, (m.rows-len(m.above())-mergeFootLines)/conflictLines)
}

// minMergeColumns is the least width in which values can be compared.
const minMergeColumns = 40

// fits reports whether the terminal has room for the view.
func (m *mergeView) fits() bool {
	return m.columns >= minMergeColumns && m.rows-len(m.above())-mergeFootLines >= conflictLines
}

func (m *mergeView) above() []string {
	columns := width(m.columns)
	lines := slices.Concat(statusLine(m.theme, m.status, columns), paragraph(m.theme.Title, m.question.Title, columns))
	frameRows := 0
	if m.rows >= rowsForFrame {
		frameRows = m.rows
	}
	return append(append(lines, framed(m.theme, m.question.Facts, columns, frameRows)...), "")
}

func (m *mergeView) View() string {
	if m.answer != none {
		return ""
	}
	columns := width(m.columns)
	if !m.fits() {
		return strings.Join(tui.Wrap("The terminal is too small for this question. Enlarge it, or press q to change nothing.", columns), "\n")
	}
	lines := m.above()
	for i := m.top; i < min(len(m.sides), m.top+m.shown()); i++ {
		lines = append(lines, m.conflict(i, columns)...)
	}
	open := 0
	for _, chosen := range m.chosen {
		if !chosen {
			open++
		}
	}
	state := fmt.Sprintf("conflict %d of %d, %d to choose", m.cursor+1, len(m.sides), open)
	keys := []string{"m mine", "t theirs", "M/T the rest", "↑/↓ move", "q change nothing"}
	if open == 0 {
		keys = slices.Concat([]string{"enter merge"}, keys)
	}
	lines = append(lines, tui.Shorten(state, columns), "", hints(m.theme, columns, keys...)[0])
	return strings.Join(lines, "\n")
}

// conflict returns the lines of a conflict: its key, and its values with a mark at the
// one that is chosen.
func (m *mergeView) conflict(i, columns int) []string {
	c := m.question.Conflicts[i]
	mark := "  "
	if i == m.cursor {
		mark = m.theme.Accent.Render(">") + " "
	}
	room := columns - len("      theirs  ")
	base, mine, theirs := tui.ConflictValues(c, room)
	lines := []string{mark + m.theme.Title.Render(tui.Shorten(c.Key, columns-len(mark)))}
	for _, v := range []struct {
		name, text string
		chosen     bool
	}{
		{"base  ", base, false},
		{"mine  ", mine, m.chosen[i] && m.sides[i] == flat.Mine},
		{"theirs", theirs, m.chosen[i] && m.sides[i] == flat.Theirs},
	} {
		text := valueOrNone(v.text)
		if v.chosen {
			lines = append(lines, "    "+m.theme.Accent.Render("* "+v.name)+"  "+text)
		} else {
			lines = append(lines, "      "+v.name+"  "+text)
		}
	}
	return lines
}

func valueOrNone(text string) string {
	if text == "" {
		return "(none)"
	}
	return text
}
