package tui

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/hubclient/flat"
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

// fromDifference cuts off what two values begin with alike, but for a few
// characters, where they would be cut before they differ. room is the bytes of
// each that are seen in any case.
func fromDifference(a, b string, room int) (string, string) {
	const context = 6
	same := sameStart(a, b)
	start := same - context
	if same < room || start <= 0 {
		return a, b
	}
	for start > 0 && !utf8.RuneStart(a[start]) {
		start--
	}
	return ellipsis + a[start:], ellipsis + b[start:]
}

// Values returns the two sides of a change, each as it is shown in one line of at most
// width columns. Where one has to be cut, both start shortly before the first difference.
func Values(from, to string, width int) (string, string) {
	from, to = pat.Redact(from), pat.Redact(to) // a token that is cut is not recognized
	a, fromCut := shorten(from, width)
	b, toCut := shorten(to, width)
	if !fromCut && !toCut {
		return a, b
	}
	from, to = fromDifference(from, to, width/2)
	a, _ = shorten(from, width)
	b, _ = shorten(to, width)
	return a, b
}

// ConflictValues returns the values of a conflict as Values does: base, too, starts shortly
// before it differs from one of the sides.
func ConflictValues(c flat.Conflict, width int) (base, mine, theirs string) {
	mine, theirs = Values(c.Mine, c.Theirs, width)
	if base = Shorten(c.Base, width); !strings.HasSuffix(base, ellipsis) {
		return base, mine, theirs
	}
	first := c.Mine
	if c.Mine == "" || c.Theirs != "" && sameStart(c.Base, c.Theirs) < sameStart(c.Base, c.Mine) {
		first = c.Theirs
	}
	if first != "" {
		base, _ = Values(c.Base, first, width)
	}
	return base, mine, theirs
}

// sameStart returns how many bytes two values begin with alike.
func sameStart(a, b string) int {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return same
}

// Wrap returns text in lines of at most width columns, escaped and without tokens.
// Line breaks in it are kept. A value behind a label and two or more spaces stays in
// its column.
func Wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(pat.Redact(text), "\n") {
		label := label.FindString(line)
		if len(label) > width/2 {
			label = ""
		}
		for _, part := range wrapLine(line[len(label):], width-len(label)) {
			lines = append(lines, label+part)
			label = strings.Repeat(" ", len(label))
		}
	}
	return lines
}

// label is what is written before a value in a column of its own.
var label = regexp.MustCompile(`^ *[a-zA-Z]+( [a-z]+)?  +`)

// wrap is Wrap for a value, whose line breaks are shown as escapes.
func wrap(value string, width int) []string { return wrapLine(pat.Redact(value), width) }

// wrapLine breaks a line at spaces. A word is only cut where it is longer than a line.
func wrapLine(line string, width int) []string {
	var lines []string
	for {
		head, rest := clip(line, max(width, 1))
		if rest == "" {
			return append(lines, head)
		}
		taken := line[:len(line)-len(rest)]
		at := len(taken)
		if rest[0] != ' ' {
			at = strings.LastIndexByte(taken, ' ')
		}
		if at > 0 && strings.TrimSpace(taken[:at]) != "" {
			head, _ = clip(taken[:at], width)
			rest = line[at+1:]
		}
		lines, line = append(lines, head), rest
	}
}

// Bar returns a bar that is width columns long, and filled as used is to limit. It is
// empty only for nothing, and full only for all.
func Bar(used, limit int64, width int) string {
	filled := width
	if used < limit {
		filled = int(float64(width) * float64(used) / float64(limit))
		filled = min(filled, width-1)
		if used > 0 {
			filled = max(filled, 1)
		}
	}
	return Localize(strings.Repeat("█", filled) + strings.Repeat("░", width-filled))
}
