package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui/escape"
)

// Lines that the view needs besides those above the list: the place in the list,
// the buttons; and the fewest of the list with which it can be looked through.
const (
	footLines = 2
	fewest    = 3
	margin    = 2 // columns before the list, for the cursor
)

// resize lays the view out for a terminal's size.
func (m *overwrite) resize(columns, rows int) {
	m.columns, m.rows = columns, rows
	m.list.resize(columns-margin, m.listLines())
}

// fits reports whether the terminal has room for the view.
func (m *overwrite) fits() bool {
	return m.columns >= lipgloss.Width(m.buttons()) && m.spare() >= fewest
}

// tooSmall reports that the terminal has become too small for the view.
func (m *overwrite) tooSmall() bool { return !m.fits() }

// spare is how many lines are left to the list, the empty ones and the keys.
func (m *overwrite) spare() int { return m.rows - len(m.above()) - footLines }

// Lines that are left out first where room is scarce.
func (m *overwrite) helpLines() int  { return min(1, max(0, m.spare()-fewest)) }
func (m *overwrite) emptyLines() int { return min(3, max(0, (m.spare()-8)/2)) }

// listLines is the height of the list.
func (m *overwrite) listLines() int { return m.spare() - m.helpLines() - m.emptyLines() }

// above returns the lines above the list: the question and what it takes to answer.
func (m *overwrite) above() []string {
	lines := m.paragraph(m.theme.title, m.Title)
	for _, fact := range m.Facts {
		lines = append(lines, m.paragraph(lipgloss.NewStyle(), fact)...)
	}
	if m.Notice != "" {
		lines = append(lines, m.paragraph(m.theme.notice, m.Notice)...)
	}
	return append(lines, m.paragraph(m.theme.title, m.counts.String())...)
}

func (m *overwrite) paragraph(style lipgloss.Style, text string) []string {
	lines := wrap(text, m.columns)
	for i := range lines {
		lines[i] = style.Render(lines[i])
	}
	return lines
}

func (m *overwrite) View() string {
	if m.answer != none {
		return ""
	}
	if m.tooSmall() {
		return strings.Join(wrap("This terminal is too small to show what the question is about. Make it larger, or press n to change nothing.", m.columns-1), "\n")
	}
	lines := m.above()
	empty := m.emptyLines()
	lines = append(lines, blank(empty, 1)...)
	m.list.visible(func(p place, _ *item, shown line) {
		lines = append(lines, m.listLine(p, shown))
	})
	status, _ := shorten(m.status(), m.columns)
	lines = append(lines, status)
	if status != "" {
		lines = append(lines, blank(empty, 2)...)
	}
	lines = append(lines, m.buttons())
	lines = append(lines, blank(empty, 3)...)
	if m.helpLines() > 0 {
		lines = append(lines, m.theme.help.Render(m.help()))
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

// listLine writes a line of the list.
func (m *overwrite) listLine(p place, shown line) string {
	style := m.theme.kinds[shown.kind]
	if m.list.items[p.item].heading {
		style = m.theme.heading
	}
	mark := strings.Repeat(" ", margin)
	if p == m.list.cursor && m.focus != onButtons {
		mark = m.theme.cursor.Render(">") + " "
	}
	return mark + m.highlight(style, shown.head) + m.highlight(lipgloss.NewStyle(), shown.text)
}

// highlight paints text, and in it what is looked for.
func (m *overwrite) highlight(style lipgloss.Style, text string) string {
	query, lower := m.list.query, strings.ToLower(text)
	if query == "" || len(lower) != len(text) {
		return style.Render(text)
	}
	var b strings.Builder
	for {
		at := strings.Index(lower, query)
		if at < 0 {
			return b.String() + style.Render(text)
		}
		b.WriteString(style.Render(text[:at]) + m.theme.match.Render(text[at:at+len(query)]))
		text, lower = text[at+len(query):], lower[at+len(query):]
	}
}

// status says what is looked for, or else which part of the list is in sight.
func (m *overwrite) status() string {
	l := m.list
	found := "not found"
	if n := len(l.matches); n > 0 {
		found = plural(n, "match", "matches")
		if at := l.matchNumber(); at > 0 {
			found = fmt.Sprintf("match %d of %d", at, n)
		}
	}
	switch first, last := l.keysInSight(); {
	case m.focus == onSearch && m.typed == "":
		return "search: _"
	case m.focus == onSearch:
		return fmt.Sprintf("search: %s_  %s", escape.Line(m.typed), found)
	case l.query != "":
		return fmt.Sprintf("%s: %s", escape.Line(m.typed), found)
	case l.top != place{} || l.advance(l.top, l.height-1) != l.last():
		return fmt.Sprintf("keys %d to %d of %d", first, last, m.counts.total())
	}
	return ""
}

// buttons are the two answers; the chosen one is in brackets when it has the focus.
func (m *overwrite) buttons() string {
	yes, no := " "+m.Yes+" ", " "+m.No+" "
	switch {
	case m.focus != onButtons || !m.asks:
	case m.yes:
		yes = m.theme.cursor.Render("[" + m.Yes + "]")
	default:
		no = m.theme.cursor.Render("[" + m.No + "]")
	}
	return "  " + yes + "  " + no
}

// help names the keys that do something now, as many as there is room for, those
// that answer first. The last column stays free: what is erased after a shorter
// view than the former one begins there.
func (m *overwrite) help() string {
	var keys []string
	switch {
	case m.focus == onSearch:
		keys = []string{"enter keep", "esc end search"}
	case m.list.query != "":
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
