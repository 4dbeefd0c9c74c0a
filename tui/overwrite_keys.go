package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// press does what keys do. Characters that were typed fast come in one message;
// those that were pasted are no keys.
func (m *overwrite) press(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes {
		return m.key(msg.String())
	}
	for _, r := range msg.Runes {
		switch {
		case m.focus == onSearch:
			m.search(m.typed + string(r))
		case !msg.Paste:
			if quit := m.key(string(r)); quit != nil {
				return quit
			}
		}
	}
	return nil
}

// key does what one key does, and returns what ends the view when it does.
func (m *overwrite) key(name string) tea.Cmd {
	switch {
	case name == "ctrl+c" || name == "ctrl+d":
		return tea.Quit
	case !m.asks:
		return nil
	case m.focus == onSearch:
		m.keyInSearch(name)
		return nil
	case m.list.query != "" && m.keyAmongMatches(name):
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
		m.list.toggle()
	case "tab", "shift+tab", "left", "right":
		m.yes = m.yes != (m.focus == onButtons)
		m.focus = onButtons
	case "/":
		m.former, m.origin, m.focus = m.focus, m.list.cursor, onSearch
		m.search("")
	default:
		m.keyInList(name)
	}
	return nil
}

func (m *overwrite) chosen() answer {
	if m.yes {
		return yesGiven
	}
	return noGiven
}

// end ends the view with an answer. Nobody says yes to what is not in sight.
func (m *overwrite) end(a answer) tea.Cmd {
	if a == yesGiven && m.tooSmall() {
		return nil
	}
	m.answer = a
	return tea.Quit
}

// keyInList does what keys do to the list, which gets the focus.
func (m *overwrite) keyInList(name string) {
	l := m.list
	switch name {
	case "up", "k":
		m.step(-1)
	case "down", "j":
		m.step(1)
	case "pgup":
		l.page(-1)
	case "pgdown":
		l.page(1)
	case "home", "g":
		l.moveTo(place{})
	case "end", "G":
		l.moveTo(l.last())
	case " ":
		l.toggle()
	case "a":
		l.toggleAll()
	default:
		return
	}
	m.focus = onList
}

// step moves the cursor by a line; the first time it only shows where it is.
func (m *overwrite) step(n int) {
	if m.focus == onList {
		m.list.move(n)
	}
}

// keyAmongMatches does what keys do after a search, and reports whether this one
// does anything then.
func (m *overwrite) keyAmongMatches(name string) bool {
	switch name {
	case "n":
		m.list.match(1)
	case "N":
		m.list.match(-1)
	case "esc":
		m.search("")
		return true
	default:
		return false
	}
	m.focus = onList
	return true
}

// keyInSearch edits what is looked for.
func (m *overwrite) keyInSearch(name string) {
	switch name {
	case " ":
		m.search(m.typed + " ")
	case "backspace":
		typed := []rune(m.typed)
		m.search(string(typed[:max(0, len(typed)-1)]))
	case "ctrl+u":
		m.search("")
	case "esc":
		m.search("")
		m.focus = m.former
	case "enter", "tab", "up", "down":
		m.focus = onList
		if m.typed == "" {
			m.focus = m.former
		}
	}
}

// search looks for text from where the cursor was when the search began.
func (m *overwrite) search(text string) {
	from := m.list.cursor
	if m.focus == onSearch {
		from = m.origin
	}
	m.typed = text
	m.list.find(text, from)
}
