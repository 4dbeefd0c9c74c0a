package tui

import (
	"strings"

	"example.com/projecthub/hubclient/pat"
)

// Wrap returns text in lines of at most width columns, escaped and without tokens.
// Line breaks in it are kept.
func Wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(pat.Redact(text), "\n") {
		lines = append(lines, wrapLine(line, width)...)
	}
	return lines
}

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
