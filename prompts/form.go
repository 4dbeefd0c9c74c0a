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
)

// fit returns the body of q in lines, and whether the terminal has room to ask in
// a form: one that is higher than the terminal loses its title or its buttons.
func (t Terminal) fit(q Question) (body string, fits bool) {
	title, lines := t.wrap(q.Title), t.wrap(q.Body)
	return strings.Join(lines, "\n"), len(title)+len(lines)+frameRows <= t.Rows
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
