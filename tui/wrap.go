package tui

import (
	"regexp"
	"strings"

	"example.com/projecthub/hubclient/pat"
)

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
