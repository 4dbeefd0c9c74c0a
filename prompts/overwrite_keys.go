package prompts

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"
)

// press does what keys do. Characters that were typed fast come in one message;
// those that were pasted are no keys.
func (m *overwriteView) press(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes {
		return m.key(msg.String())
	}
	for _, r := range msg.Runes {
		switch {
		case m.focus == onSearch:
			m.diff.Search(m.diff.Query() + string(r))
		case !msg.Paste:
			if quit := m.key(string(r)); quit != nil {
				return quit
			}
		}
	}
	return nil
}

// key does what one key does, and returns what ends the view when it does.
func (m *overwriteView) key(name string) tea.Cmd {
	switch {
	case name == "ctrl+c" || name == "ctrl+d":
		return tea.Quit
	case !m.ready:
		return nil
	case m.focus == onSearch:
		m.keyInSearch(name)
		return nil
	case m.diff.Query() != "" && m.keyAmongMatches(name):
		return nil
	}
	switch name {
	case "y":
		return m.end(yesGiven)
	case "n", "q", "esc":
		return m.end(noGiven)
	case "enter":
		if m.focus == onButtons {
			return m.end(m.chosen())
		}
		m.diff.Toggle()
	case "tab", "shift+tab", "left", "right":
		m.yes = m.yes != (m.focus == onButtons)
		m.focus = onButtons
	case "/":
		m.former, m.focus = m.focus, onSearch
		m.diff.StartSearch()
	default:
		m.keyInList(name)
	}
	return nil
}

func (m *overwriteView) chosen() answer {
	if m.yes {
		return yesGiven
	}
	return noGiven
}

// end ends the view with an answer. Nobody says yes to what is not in sight.
func (m *overwriteView) end(a answer) tea.Cmd {
	if a == yesGiven && m.tooSmall() {
		return nil
	}
	m.answer = a
	return tea.Quit
}

// keyInList does what keys do to the difference, which gets the focus. The first step
// only shows where the cursor is.
func (m *overwriteView) keyInList(name string) {
	if m.focus != onList && slices.Contains([]string{"up", "k", "down", "j"}, name) || m.diff.Press(name) {
		m.focus = onList
	}
}

// keyAmongMatches does what keys do after a search, and reports whether this one
// does anything then.
func (m *overwriteView) keyAmongMatches(name string) bool {
	switch name {
	case "n":
		m.diff.NextMatch(1)
	case "N":
		m.diff.NextMatch(-1)
	case "esc":
		m.diff.EndSearch()
		return true
	default:
		return false
	}
	m.focus = onList
	return true
}

// keyInSearch edits the text of the search.
func (m *overwriteView) keyInSearch(name string) {
	typed := m.diff.Query()
	switch name {
	case " ":
		m.diff.Search(typed + " ")
	case "backspace":
		runes := []rune(typed)
		m.diff.Search(string(runes[:max(0, len(runes)-1)]))
	case "ctrl+u":
		m.diff.Search("")
	case "esc":
		m.diff.Search("")
		m.focus = m.former
	case "enter", "tab", "up", "down":
		m.focus = onList
		if typed == "" {
			m.focus = m.former
		}
	}
}
