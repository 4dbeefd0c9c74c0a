package prompts

import (
	"strings"

	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"
)

// theme keeps to the colours that every terminal chooses for itself, and marks
// the button that has the focus without any: [No].
func theme() *huh.Theme {
	t := huh.ThemeBase16()
	marked := lipgloss.Border{Left: "[", Right: "]"}
	unmarked := lipgloss.Border{Left: " ", Right: " "}
	button := func(style lipgloss.Style, sides lipgloss.Border) lipgloss.Style {
		return style.Padding(0).Border(sides, false, true, false, true)
	}
	t.Focused.FocusedButton = button(t.Focused.FocusedButton, marked)
	t.Focused.BlurredButton = button(t.Focused.BlurredButton, unmarked)
	return t
}

// What a form takes of the terminal beside its title and body: the bar on the
// left; the buttons, the keys, the empty lines above them, and the cursor's line.
const (
	frameColumns = 2
	frameRows    = 5
	minBody      = 3 // lines; a question with less of its body is none
)

// fit returns the body of q as far as the terminal has room for it, and whether
// that is enough to ask in a form: one that is higher than the terminal loses its
// title or its buttons.
func (t Terminal) fit(q Question) (body string, fits bool) {
	title, lines := t.wrap(q.Title), t.wrap(q.Body)
	room := t.Rows - frameRows - len(title)
	if len(lines) <= room {
		return strings.Join(lines, "\n"), true
	}
	for kept := room - 1; kept >= minBody; kept-- {
		rest := t.wrap(q.Rest(len(lines) - kept))
		if kept+len(rest) <= room {
			return strings.Join(append(lines[:kept:kept], rest...), "\n"), true
		}
	}
	return "", false
}

// wrap returns the lines that text takes in a form. It breaks at spaces alone,
// so that a command stays one to copy; a form breaks what is left at more places.
func (t Terminal) wrap(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		for {
			head, tail := cut(line, max(1, t.Columns-frameColumns))
			lines = append(lines, head)
			if line = tail; tail == "" {
				break
			}
		}
	}
	return lines
}

// cut divides a line so that its head fits into width columns.
func cut(line string, width int) (head, tail string) {
	used, space := 0, -1
	for i, r := range line {
		if used += lipgloss.Width(string(r)); used > width && i > 0 {
			if space < 0 {
				return line[:i], line[i:]
			}
			return line[:space], line[space+1:]
		}
		if r == ' ' && strings.TrimSpace(line[:i]) != "" {
			space = i
		}
	}
	return line, ""
}
