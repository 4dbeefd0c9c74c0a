package prompts

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui/escape"
)

// wrap returns the lines that text takes in a form, escaped. It breaks at spaces alone,
// so that a command stays one to copy; a form breaks what is left at more places.
func (t Terminal) wrap(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(escape.Text(text), "\n") {
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
