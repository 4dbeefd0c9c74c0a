package app

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"example.com/projecthub/cmd/tool/internal/app/ui"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// Bytes writes a size for people.
func Bytes(n int64) string { return humanize.IBytes(uint64(max(0, n))) }

// Count writes a number with the word that fits it.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Time writes a moment for people, in their own time zone.
func Time(t time.Time) string { return t.Local().Format("2 Jan 2006 15:04 MST") }

// Edit says who wrote a config, when, and through what.
func Edit(e wire.Edit) string {
	if e.UpdatedBy == "" {
		return "never written"
	}
	return fmt.Sprintf("written by %s on %s through %s", e.UpdatedBy, Time(e.UpdatedAt), Via(e.UpdatedVia))
}

// Via names the way by which a config was written.
func Via(v wire.Via) string {
	switch v {
	case wire.ViaPage:
		return "the project page"
	case wire.ViaAPI:
		return "the API"
	}
	return string(v)
}

// Scopes lists scopes, "read only" for none.
func Scopes(scopes []wire.Scope) string {
	if len(scopes) == 0 {
		return "read only"
	}
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

// Expiry says when a token expires.
func Expiry(t *time.Time) string {
	if t == nil {
		return "never expires"
	}
	return "expires " + t.Local().Format("2 Jan 2006")
}

// MaxShown bounds how many lines of a difference text mode shows of each kind,
// and maxValue the columns of a value. JSON has all of it.
const (
	MaxShown = 50
	maxValue = 60
)

// DifferenceLines writes a difference key by key: + added, ~ changed, - removed.
func DifferenceLines(d flat.Difference) []string {
	var lines []string
	more := func(n int) {
		if n > MaxShown {
			lines = append(lines, fmt.Sprintf("… and %d more", n-MaxShown))
		}
	}
	for _, e := range d.Added[:min(MaxShown, len(d.Added))] {
		lines = append(lines, fmt.Sprintf("+ %s: %s", e.Key, ui.Shorten(e.Text, maxValue)))
	}
	more(len(d.Added))
	for _, c := range d.Changed[:min(MaxShown, len(d.Changed))] {
		from, to := ui.Values(c.From, c.To, maxValue)
		lines = append(lines, fmt.Sprintf("~ %s: %s → %s", c.Key, from, to))
	}
	more(len(d.Changed))
	for _, e := range d.Removed[:min(MaxShown, len(d.Removed))] {
		lines = append(lines, fmt.Sprintf("- %s: %s", e.Key, ui.Shorten(e.Text, maxValue)))
	}
	more(len(d.Removed))
	return lines
}

// DifferenceSummary counts a difference.
func DifferenceSummary(d flat.Difference) string {
	if d.Empty() {
		return "no difference"
	}
	return fmt.Sprintf("%d added, %d changed, %d removed", len(d.Added), len(d.Changed), len(d.Removed))
}

// DestinationOf returns the hub project that a failure is about, "" for none.
func DestinationOf(err error) string { return failure.Of(err).Project.String() }

// Shortened returns lines to show below a question, indented, and says how many more
// there are.
func Shortened(lines []string) []string {
	var shown []string
	for _, line := range lines[:min(MaxShown, len(lines))] {
		shown = append(shown, "  "+line)
	}
	if more := len(lines) - MaxShown; more > 0 {
		shown = append(shown, fmt.Sprintf("  … and %d more", more))
	}
	return shown
}
