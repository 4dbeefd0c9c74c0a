package tui

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/tui/escape"
)

// ellipsis replaces what did not fit.
const ellipsis = "…"

// clip returns the beginning of s that takes at most width columns, as it is
// shown, and the rest of s. A character that a terminal would act on, or show as
// nothing, is shown as an escape: two values that differ never look the same.
func clip(s string, width int) (head, rest string) {
	var b strings.Builder
	used := 0
	for i, r := range s {
		shown, w := show(r)
		if used += w; used > width && i > 0 {
			return b.String(), s[i:]
		}
		b.WriteString(shown)
	}
	return b.String(), ""
}

// show returns how a character is shown, and the columns that it takes.
func show(r rune) (string, int) {
	if r >= ' ' && r < 0x7f {
		return string(r), 1
	}
	shown := escape.Rune(r)
	return shown, lipgloss.Width(shown)
}

// Shorten returns s in one line of at most width columns, with an ellipsis where it
// was cut.
func Shorten(s string, width int) string {
	s, _ = shorten(s, width)
	return s
}

// shorten returns s in one line of at most width columns, with an ellipsis where
// it was cut, and whether it was.
func shorten(s string, width int) (string, bool) {
	s = pat.Redact(s)
	head, rest := clip(s, width)
	if rest == "" {
		return head, false
	}
	if width <= 1 {
		return ellipsis, true
	}
	head, _ = clip(s, width-1)
	return head + ellipsis, true
}

// Count writes a number with the word that fits it.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
