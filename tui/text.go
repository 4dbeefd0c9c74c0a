package tui

import (
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// ellipsis stands for what there was no room for.
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
	switch {
	case r >= ' ' && r < 0x7f:
		return string(r), 1
	case strconv.IsPrint(r):
		return string(r), lipgloss.Width(string(r))
	}
	escaped := strings.Trim(strconv.QuoteRuneToASCII(r), "'")
	return escaped, len(escaped)
}

// shorten returns s in one line of at most width columns, with an ellipsis where
// it was cut, and whether it was.
func shorten(s string, width int) (string, bool) {
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

// wrap returns s in lines of at most width columns, broken behind spaces where
// there are any in the second half of a line.
func wrap(s string, width int) []string {
	width = max(width, 1)
	var lines []string
	for {
		head, rest := clip(s, width)
		if rest == "" {
			return append(lines, head)
		}
		taken := s[:len(s)-len(rest)]
		if at := strings.LastIndexByte(taken, ' ') + 1; at > len(taken)/2 {
			head, _ = clip(taken[:at], width)
			rest = s[at:]
		}
		lines, s = append(lines, head), rest
	}
}

// plural writes a number with the word that fits it.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// printable returns s as it is shown.
func printable(s string) string {
	text, _ := clip(s, math.MaxInt)
	return text
}
