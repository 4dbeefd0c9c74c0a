package prompts

import (
	"context"
	"fmt"
	"slices"

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

// undecided is the side of a conflict that is still to be chosen.
const undecided flat.Side = -1

// Merge asks q, in lines if the terminal is plain or too small for a view. It returns the side
// of each conflict, nil if the user leaves. The error is [tui.ErrInterrupted] or that of ctx.
func (t *Terminal) Merge(ctx context.Context, q Merge) ([]flat.Side, error) {
	p := t.prompter()
	m := newMergeView(p, q)
	if p.Plain || !m.fits() {
		return p.mergePlain(ctx, q)
	}
	answer, err := p.run(ctx, m, &m.view)
	if answer != yesGiven {
		return nil, err
	}
	return m.sides, nil
}

// mergePlain asks in lines: conflict by conflict, each with its values.
func (p prompter) mergePlain(ctx context.Context, q Merge) ([]flat.Side, error) {
	const quit = "q"
	choices := []Choice{
		{"m", "Mine"},
		{"t", "Theirs"},
		{"M", "Mine for all that are left"},
		{"T", "Theirs for all that are left"},
		{quit, Cancel},
	}
	sides := make([]flat.Side, 0, len(q.Conflicts))
	for i, c := range q.Conflicts {
		question := Question{
			Title:   fmt.Sprintf("Conflict %d of %d: %s", i+1, len(q.Conflicts), tui.Shorten(c.Key, plainWidth)),
			Facts:   conflictValues(tui.ConflictValues(c, plainWidth)),
			Choices: choices,
			Preset:  quit,
		}
		if i == 0 {
			question.Facts = slices.Concat(q.Facts, []string{question.Title}, question.Facts)
			question.Title = q.Title
		}
		whole := func() []string { return conflictValues(c.Base, c.Mine, c.Theirs) }
		answer, err := p.choosePlain(ctx, question, whole)
		if err != nil || answer == quit {
			return nil, err
		}
		side := flat.Mine
		if answer == "t" || answer == "T" {
			side = flat.Theirs
		}
		if answer == "M" || answer == "T" {
			rest := len(q.Conflicts) - i
			return append(sides, slices.Repeat([]flat.Side{side}, rest)...), nil
		}
		sides = append(sides, side)
		p.status = "" // shown already
	}
	return sides, nil
}

func conflictValues(base, mine, theirs string) []string {
	return []string{"base: " + valueOrNone(base), "mine: " + valueOrNone(mine), "theirs: " + valueOrNone(theirs)}
}

func valueOrNone(text string) string {
	if text == "" {
		return "(none)"
	}
	return text
}

type mergeView struct {
	view
	question Merge
	sides    []flat.Side // by conflict
}

func newMergeView(p prompter, q Merge) *mergeView {
	return &mergeView{
		view:     newView(p),
		question: q,
		sides:    slices.Repeat([]flat.Side{undecided}, len(q.Conflicts)),
	}
}

func (m *mergeView) Init() tea.Cmd { return nil }

func (m *mergeView) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	quit := m.update(msg, m.key)
	m.reveal(m.at, len(m.sides), m.shown())
	return m, quit
}

func (m *mergeView) key(name string) tea.Cmd {
	leaves := name == "q" || name == "n" || name == "esc"
	if !leaves && !m.fits() {
		return nil // nobody chooses a conflict that is not in sight
	}
	switch name {
	case "q", "n", "esc":
		return m.end(noGiven)
	case "m":
		m.choose(flat.Mine)
	case "t":
		m.choose(flat.Theirs)
	case "M":
		m.chooseRest(flat.Mine)
	case "T":
		m.chooseRest(flat.Theirs)
	case "enter":
		open := slices.Index(m.sides, undecided)
		if open < 0 {
			return m.end(yesGiven)
		}
		m.at = open
	default:
		m.move(name, len(m.sides), m.shown())
	}
	return nil
}

// choose chooses a side of the selected conflict, and selects the next undecided one.
func (m *mergeView) choose(side flat.Side) {
	m.sides[m.at] = side
	for step := range m.sides {
		if i := (m.at + 1 + step) % len(m.sides); m.sides[i] == undecided {
			m.at = i
			return
		}
	}
}

// chooseRest chooses a side of all undecided conflicts, or of all conflicts if none is undecided.
func (m *mergeView) chooseRest(side flat.Side) {
	all := !slices.Contains(m.sides, undecided)
	for i := range m.sides {
		if all || m.sides[i] == undecided {
			m.sides[i] = side
		}
	}
}

// conflictLines is what a conflict takes: its key, three values and an empty line.
const conflictLines = 5

// minMergeColumns is the least width in which values can be compared.
const minMergeColumns = 40

// page is what surrounds the conflicts. The last line of its body says how many are open.
func (m *mergeView) page() tui.Page {
	keys := []string{"m mine", "t theirs", "M/T the rest", "↑/↓ move", "esc cancel"}
	if !slices.Contains(m.sides, undecided) {
		keys = slices.Insert(keys, 0, "enter merge")
	}
	return tui.Page{
		Status: m.status,
		Title:  m.question.Title,
		Facts:  m.question.Facts,
		Keys:   keys,
		Body:   len(m.sides)*conflictLines + 1,
		Least:  conflictLines + 1,
	}
}

// shown is how many conflicts are in sight.
func (m *mergeView) shown() int {
	rows, _ := m.Room(m.page())
	return max(1, (rows-1)/conflictLines)
}

func (m *mergeView) fits() bool {
	_, fits := m.Room(m.page())
	return fits && m.Columns >= minMergeColumns
}

func (m *mergeView) View() string {
	switch {
	case m.answer != unanswered:
		return ""
	case !m.fits():
		return m.tooSmall()
	}
	var lines []string
	for i := m.top; i < min(len(m.sides), m.top+m.shown()); i++ {
		lines = append(lines, m.conflict(i)...)
	}
	open := 0
	for _, side := range m.sides {
		if side == undecided {
			open++
		}
	}
	state := fmt.Sprintf("conflict %d of %d, %d to choose", m.at+1, len(m.sides), open)
	return m.Draw(m.page(), append(lines, m.Paint(tui.Quiet, state))...)
}

// conflict returns a conflict's key, and its values with a mark at the chosen one.
func (m *mergeView) conflict(i int) []string {
	c := m.question.Conflicts[i]
	const head = "    x theirs  "
	columns := m.Width() - len(head)
	lines := []string{m.Pick(i == m.at, m.Paint(tui.Heading, tui.Shorten(c.Key, columns)))}
	value := func(name, text string, chosen bool) {
		mark, role := " ", tui.Quiet
		if chosen {
			mark, role = m.Glyph(tui.Done), tui.Heading
		}
		lines = append(lines, "    "+mark+" "+m.Paint(role, name)+"  "+valueOrNone(text))
	}
	base, mine, theirs := tui.ConflictValues(c, columns)
	value("base  ", base, false)
	value("mine  ", mine, m.sides[i] == flat.Mine)
	value("theirs", theirs, m.sides[i] == flat.Theirs)
	return append(lines, "")
}
