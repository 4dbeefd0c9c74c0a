package tui

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/secret"
	"example.com/projecthub/tui/escape"
)

const ellipsis = "…"

// clip returns the beginning of s that takes at most width columns, as it is shown, and the
// rest of s. It returns at least one character, so that its callers come to an end. A
// character that a terminal would act on, or not show, is shown as an escape: two values that
// differ never look the same.
func clip(s string, width int) (head, rest string) {
	var b strings.Builder
	used := 0
	for i, r := range s {
		shown, columns := show(r)
		used += columns
		if used > width && i > 0 {
			return b.String(), s[i:]
		}
		b.WriteString(shown)
	}
	return b.String(), ""
}

func show(r rune) (string, int) {
	if r >= ' ' && r < 0x7f {
		return string(r), 1
	}
	shown := escape.Rune(r)
	return shown, lipgloss.Width(shown)
}

// Shorten returns s in one line of at most width columns, with an ellipsis if it was cut.
func Shorten(s string, width int) string {
	s, _ = shorten(s, width)
	return s
}

// redact returns s without whole tokens of a hub, and without credentials of other issuers.
func redact(s string) string { return secret.Redact(pat.Redact(s)) }

// shorten is [Shorten], and reports whether s was cut.
func shorten(s string, width int) (string, bool) {
	s = redact(s)
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

// fromDifference cuts off the common beginning of two values, all but a few characters, if
// the first difference is not within the first visible bytes.
func fromDifference(a, b string, visible int) (string, string) {
	const context = 6
	same := commonStart(a, b)
	start := same - context
	if same < visible || start <= 0 {
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
	from, to = redact(from), redact(to) // a token that is cut is not recognized
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

// ConflictValues returns the values of a conflict as Values does. Where base has to be cut, it
// starts shortly before it differs from one of the sides.
func ConflictValues(c flat.Conflict, width int) (base, mine, theirs string) {
	mine, theirs = Values(c.Mine, c.Theirs, width)
	base, cut := shorten(c.Base, width)
	if !cut {
		return base, mine, theirs
	}
	side := c.Mine // the one that differs from base first; "" means that it has no value
	theirsFirst := c.Theirs != "" && commonStart(c.Base, c.Theirs) < commonStart(c.Base, c.Mine)
	if c.Mine == "" || theirsFirst {
		side = c.Theirs
	}
	if side != "" {
		base, _ = Values(c.Base, side, width)
	}
	return base, mine, theirs
}

// commonStart returns the length of the common beginning of two values, in bytes.
func commonStart(a, b string) int {
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
	for line := range strings.SplitSeq(redact(text), "\n") {
		label := valueLabel.FindString(line)
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

// valueLabel matches the label before a value in a column of its own.
var valueLabel = regexp.MustCompile(`^ *[a-zA-Z]+( [a-z]+)?  +`)

// wrap is Wrap for a value. Its line breaks are shown as escapes.
func wrap(value string, width int) []string { return wrapLine(redact(value), width) }

// wrapLine breaks a line at spaces. A word is only cut where it is longer than a line.
func wrapLine(line string, width int) []string {
	var lines []string
	for {
		head, rest := clip(line, max(width, 1))
		if rest == "" {
			return append(lines, head)
		}
		fitting := line[:len(line)-len(rest)]
		space := len(fitting) // the space at which the line breaks
		if rest[0] != ' ' {
			space = strings.LastIndexByte(fitting, ' ')
		}
		if space > 0 && strings.TrimSpace(fitting[:space]) != "" {
			head, _ = clip(fitting[:space], width)
			rest = line[space+1:]
		}
		lines = append(lines, head)
		line = rest
	}
}

// Width returns the columns that a text takes in a terminal.
func Width(text string) int { return lipgloss.Width(text) }

// Fold writes words in lines of at most width columns, indented but for the first. It cuts no word.
func Fold(words []string, width int, indent string) []string {
	lines, empty := []string{""}, true // no word is on the last line
	for _, word := range words {
		line := &lines[len(lines)-1]
		if !empty && lipgloss.Width(*line+strings.TrimRight(word, " ")) > width {
			lines = append(lines, indent)
			line = &lines[len(lines)-1]
		}
		*line += word
		empty = strings.TrimSpace(*line) == ""
	}
	return lines
}

// command matches a text up to the beginning of a command line that ends it. In "error: tool has no
// command" is none.
var command = regexp.MustCompile(`\s.*?: (tool|go install) `)

// Words returns the words of a line, each with the spaces after it. A command at its end is one word.
func Words(line string) []string {
	at := command.FindStringSubmatchIndex(line)
	if at == nil {
		return strings.SplitAfter(line, " ")
	}
	start := at[2]
	return append(strings.SplitAfter(line[:start-1], " "), " ", line[start:])
}

// Bar returns a bar of width columns that shows how much of limit is used. It is empty only
// if nothing is used, and full only if all is.
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
