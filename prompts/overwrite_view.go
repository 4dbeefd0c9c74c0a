package prompts

import (
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

// Lines that the view needs below the list: the status of the list and
// the buttons; and how many lines of the list it needs at least.
const (
	footLines = 2
	minKeys   = 3
)

// resize lays the view out for a terminal's size.
func (m *overwriteView) resize(columns, rows int) {
	m.columns, m.rows = columns, rows
	m.diff.Resize(columns, m.listLines())
}

// fits reports whether the terminal has room for the view.
func (m *overwriteView) fits() bool {
	return m.columns >= lipgloss.Width(m.buttons()) && m.spare() >= minKeys
}

// tooSmall reports that the terminal has become too small for the view.
func (m *overwriteView) tooSmall() bool { return !m.fits() }

// spare is how many lines are left to the list, the empty ones and the keys.
func (m *overwriteView) spare() int { return m.rows - len(m.above()) - footLines }

// Lines that are left out first where there are too few rows.
func (m *overwriteView) helpLines() int  { return min(1, max(0, m.spare()-minKeys)) }
func (m *overwriteView) emptyLines() int { return min(3, max(0, (m.spare()-8)/2)) }

// listLines is the height of the list.
func (m *overwriteView) listLines() int { return m.spare() - m.helpLines() - m.emptyLines() }

// Rows that a view needs to have a frame, and an empty line below the status.
const (
	rowsForFrame = 22
	rowsForEmpty = 18
)

// above returns the lines above the list: the question and what it takes to answer.
func (m *overwriteView) above() []string {
	columns := width(m.columns)
	status := statusLine(m.theme, m.status, columns)
	if len(status) > 0 && m.rows >= rowsForEmpty {
		status = append(status, "")
	}
	frameRows := 0
	if m.rows >= rowsForFrame {
		frameRows = m.rows
	}
	lines := append(status, paragraph(m.theme.Title, m.question.Title, columns)...)
	lines = append(lines, framed(m.theme, m.question.Facts, columns, frameRows)...)
	if m.question.Notice != "" {
		lines = append(lines, paragraph(m.theme.Warning, m.question.Notice, columns)...)
	}
	return append(lines, paragraph(m.theme.Title, m.counts, columns)...)
}

func (m *overwriteView) View() string {
	if m.answer != none {
		return ""
	}
	columns := width(m.columns)
	if m.tooSmall() {
		return strings.Join(tui.Wrap("The terminal is too small for this question. Enlarge it, or press n to change nothing.", columns), "\n")
	}
	empty := m.emptyLines()
	list := m.diff.Lines(m.focus != onButtons)
	state := tui.Shorten(m.diff.Status(m.focus == onSearch), columns)
	var below []string
	if state != "" {
		below = blank(empty, 2)
	}
	var help []string
	if m.helpLines() > 0 {
		help = []string{m.help(columns)}
	}
	return strings.Join(slices.Concat(m.above(), blank(empty, 1), list, []string{state}, below, []string{m.buttons()}, blank(empty, 3), help), "\n")
}

// blank returns the nth of the empty lines, where there are that many.
func blank(empty, nth int) []string {
	if nth <= empty {
		return []string{""}
	}
	return nil
}

// buttons are the two answers. The selected one is in brackets when it has the focus.
func (m *overwriteView) buttons() string {
	yes, no := " "+m.question.Yes+" ", " "+m.question.No+" "
	switch {
	case m.focus != onButtons || !m.ready:
	case m.yes:
		yes = m.theme.Accent.Render("[" + m.question.Yes + "]")
	default:
		no = m.theme.Accent.Render("[" + m.question.No + "]")
	}
	return "  " + yes + "  " + no
}

// help names the keys that do something now, as many as fit in a line, those that
// answer first.
func (m *overwriteView) help(columns int) string {
	var keys []string
	switch {
	case m.focus == onSearch:
		keys = []string{"enter keep", "esc end search"}
	case m.diff.Query() != "":
		keys = []string{"n/N next/previous", "esc end search", "y yes", "q no"}
	case m.focus == onList:
		keys = []string{"y/n answer", "enter unfold", "/ search", "a unfold all", "↑/↓ move", "tab buttons"}
	default:
		keys = []string{"y/n answer", "↑/↓ move", "/ search", "a unfold all", "tab choose", "enter select"}
	}
	return hints(m.theme, columns, keys...)[0]
}
