package prompts

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

// Lines that the view needs besides those above the list: the place in the list,
// the buttons; and the minKeys of the list with which it can be looked through.
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

// Lines that are left out first where room is scarce.
func (m *overwriteView) helpLines() int  { return min(1, max(0, m.spare()-minKeys)) }
func (m *overwriteView) emptyLines() int { return min(3, max(0, (m.spare()-8)/2)) }

// listLines is the height of the list.
func (m *overwriteView) listLines() int { return m.spare() - m.helpLines() - m.emptyLines() }

// above returns the lines above the list: the question and what it takes to answer.
func (m *overwriteView) above() []string {
	lines := m.paragraph(m.theme.Title, m.question.Title)
	for _, fact := range m.question.Facts {
		lines = append(lines, m.paragraph(lipgloss.NewStyle(), fact)...)
	}
	if m.question.Notice != "" {
		lines = append(lines, m.paragraph(m.theme.Notice, m.question.Notice)...)
	}
	return append(lines, m.paragraph(m.theme.Title, m.counts)...)
}

func (m *overwriteView) paragraph(style lipgloss.Style, text string) []string {
	lines := tui.Wrap(text, m.columns)
	for i := range lines {
		lines[i] = style.Render(lines[i])
	}
	return lines
}

func (m *overwriteView) View() string {
	if m.answer != none {
		return ""
	}
	if m.tooSmall() {
		return strings.Join(tui.Wrap("This terminal is too small to show what the question is about. Make it larger, or press n to change nothing.", m.columns-1), "\n")
	}
	lines := m.above()
	empty := m.emptyLines()
	lines = append(lines, blank(empty, 1)...)
	lines = append(lines, m.diff.Lines(m.focus != onButtons)...)
	status := tui.Shorten(m.diff.Status(m.focus == onSearch), m.columns)
	lines = append(lines, status)
	if status != "" {
		lines = append(lines, blank(empty, 2)...)
	}
	lines = append(lines, m.buttons())
	lines = append(lines, blank(empty, 3)...)
	if m.helpLines() > 0 {
		lines = append(lines, m.theme.Hint.Render(m.help()))
	}
	return strings.Join(lines, "\n")
}

// blank returns the nth of the empty lines, where there are that many.
func blank(empty, nth int) []string {
	if nth <= empty {
		return []string{""}
	}
	return nil
}

// buttons are the two answers; the chosen one is in brackets when it has the focus.
func (m *overwriteView) buttons() string {
	yes, no := " "+m.question.Yes+" ", " "+m.question.No+" "
	switch {
	case m.focus != onButtons || !m.ready:
	case m.yes:
		yes = m.theme.Cursor.Render("[" + m.question.Yes + "]")
	default:
		no = m.theme.Cursor.Render("[" + m.question.No + "]")
	}
	return "  " + yes + "  " + no
}

// help names the keys that do something now, as many as there is room for, those
// that answer first. The last column stays free: what is erased after a shorter
// view than the former one begins there.
func (m *overwriteView) help() string {
	var keys []string
	switch {
	case m.focus == onSearch:
		keys = []string{"enter keep", "esc end search"}
	case m.diff.Query() != "":
		keys = []string{"n/N next, previous", "esc end search", "y yes", "q no"}
	case m.focus == onList:
		keys = []string{"y/n answer", "enter unfold", "/ search", "a unfold all", "↑/↓ scroll", "tab buttons"}
	default:
		keys = []string{"y/n answer", "↑/↓ scroll", "/ search", "a unfold all", "tab choose", "enter do it"}
	}
	line := keys[0]
	for _, key := range keys[1:] {
		if longer := line + " • " + key; lipgloss.Width(longer) < m.columns {
			line = longer
		}
	}
	return line
}
