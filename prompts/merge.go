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

// undecided is the side of a conflict that is still to be chosen.
const undecided flat.Side = -1

// Merge asks q, in lines if the terminal is plain or too small for a view. It returns the side
// of each conflict, nil if the user leaves. The error is [tui.ErrInterrupted] or that of ctx.
func (p Prompter) Merge(ctx context.Context, q Merge) ([]flat.Side, error) {
	m := newMergeView(p, q)
	if p.Terminal.Plain || !m.fits() {
		return p.mergePlain(ctx, q)
	}
	answer, err := p.run(ctx, m, &m.view)
	if answer != yesGiven {
		return nil, err
	}
	return m.sides, nil
}

// mergePlain asks in lines: conflict by conflict, each with its values.
func (p Prompter) mergePlain(ctx context.Context, q Merge) ([]flat.Side, error) {
	const (
		mine       = "m"
		theirs     = "t"
		restMine   = "M"
		restTheirs = "T"
		quit       = "q"
	)
	choices := []Choice{
		{mine, "Mine"},
		{theirs, "Theirs"},
		{restMine, "Mine for all that are left"},
		{restTheirs, "Theirs for all that are left"},
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
		if answer == theirs || answer == restTheirs {
			side = flat.Theirs
		}
		if answer == restMine || answer == restTheirs {
			rest := len(q.Conflicts) - i
			return append(sides, slices.Repeat([]flat.Side{side}, rest)...), nil
		}
		sides = append(sides, side)
		p.Status = "" // shown already
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

// mergeView is the state of the view.
type mergeView struct {
	view
	question Merge
	sides    []flat.Side // by conflict
}

func newMergeView(p Prompter, q Merge) *mergeView {
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

// key does what a key does. It returns the command that ends the view, nil if it goes on.
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

const (
	conflictLines   = 4 // the key and three values
	mergeFrameLines = 4 // an empty line above the list; the state, an empty line and the keys below it
)

// minMergeColumns is the least width in which values can be compared.
const minMergeColumns = 40

// room is how many lines there are for conflicts.
func (m *mergeView) room() int {
	return m.rows - len(m.above(m.question.Title, m.question.Facts)) - mergeFrameLines
}

// shown is how many conflicts are in sight.
func (m *mergeView) shown() int { return max(1, m.room()/conflictLines) }

// fits reports whether the terminal has room for the view.
func (m *mergeView) fits() bool { return m.columns >= minMergeColumns && m.room() >= conflictLines }

func (m *mergeView) View() string {
	switch {
	case m.answer != unanswered:
		return ""
	case !m.fits():
		return m.tooSmall()
	}
	columns := width(m.columns)
	lines := append(m.above(m.question.Title, m.question.Facts), "")
	for i := m.top; i < min(len(m.sides), m.top+m.shown()); i++ {
		lines = append(lines, m.conflict(i, columns)...)
	}
	keys := []string{"m mine", "t theirs", "M/T the rest", "↑/↓ move", "q cancel"}
	open := 0
	for _, side := range m.sides {
		if side == undecided {
			open++
		}
	}
	if open == 0 {
		keys = slices.Concat([]string{"enter merge"}, keys)
	}
	state := fmt.Sprintf("conflict %d of %d, %d to choose", m.at+1, len(m.sides), open)
	lines = append(lines, tui.Shorten(state, columns), "", hints(m.theme, columns, keys...)[0])
	return strings.Join(lines, "\n")
}

// conflict returns the lines of a conflict: its key, and its values with a mark at the chosen
// one.
func (m *mergeView) conflict(i, columns int) []string {
	c := m.question.Conflicts[i]
	mark := "  "
	if i == m.at {
		mark = m.theme.Accent.Render(">") + " "
	}
	lines := []string{mark + m.theme.Title.Render(tui.Shorten(c.Key, columns-len("> ")))}
	value := func(name, text string, chosen bool) {
		head := "      " + name
		if chosen {
			head = "    " + m.theme.Accent.Render("* "+name)
		}
		lines = append(lines, head+"  "+valueOrNone(text))
	}
	base, mine, theirs := tui.ConflictValues(c, columns-len("      theirs  "))
	value("base  ", base, false)
	value("mine  ", mine, m.sides[i] == flat.Mine)
	value("theirs", theirs, m.sides[i] == flat.Theirs)
	return lines
}
