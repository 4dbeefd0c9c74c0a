package prompts

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

// width is how many columns views use: the last one stays free, because what is erased
// after a shorter line begins there.
func width(columns int) int { return max(1, columns-1) }

// paragraph wraps text and paints it.
func paragraph(style lipgloss.Style, text string, columns int) []string {
	lines := tui.Wrap(text, columns)
	for i, line := range lines {
		lines[i] = style.Render(line)
	}
	return lines
}

// marked starts a status line that a person should notice.
const marked = "! "

// statusLine returns the line with the hub and the identity, no line without them.
func statusLine(th *tui.Theme, status string, columns int) []string {
	if status == "" {
		return nil
	}
	style := th.Hint
	if strings.HasPrefix(status, marked) {
		style = th.Warning
	}
	return []string{style.Render(tui.Shorten(status, columns))}
}

// loading shows that something is being found out.
func loading(th *tui.Theme, p Prompter, doing string) []string {
	columns := width(p.Terminal.Columns)
	return append(statusLine(th, p.Status, columns), th.Spinner()+" "+tui.Shorten(doing, columns-2))
}

// separator is between the keys in a line of hints.
const separator = " • "

// hints returns the keys that do something, in lines that break between them.
func hints(th *tui.Theme, columns int, keys ...string) []string {
	var lines []string
	line := ""
	for _, key := range keys {
		switch {
		case line == "":
			line = key
		case lipgloss.Width(line+separator+key) <= columns:
			line += separator + key
		default:
			lines, line = append(lines, line), key
		}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = th.Hint.Render(tui.Shorten(lines[i], columns))
	}
	return lines
}

// framed puts a frame around facts, where there is room for it.
func framed(th *tui.Theme, facts []string, columns, rows int) []string {
	lines := wrapped(facts, columns-th.Frame.GetHorizontalFrameSize())
	if len(lines) == 0 || len(lines)+th.Frame.GetVerticalFrameSize() > rows {
		return wrapped(facts, columns)
	}
	return strings.Split(th.Frame.Render(strings.Join(lines, "\n")), "\n")
}

func wrapped(facts []string, columns int) []string {
	var lines []string
	for _, fact := range facts {
		lines = append(lines, tui.Wrap(fact, columns)...)
	}
	return lines
}
