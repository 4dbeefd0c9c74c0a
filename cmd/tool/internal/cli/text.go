package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
)

// bytesText writes a size for people.
func bytesText(n int64) string { return humanize.IBytes(uint64(max(0, n))) }

// countText writes a number with the word that fits it.
func countText(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// timeText writes a moment for people, in their own time zone.
func timeText(t time.Time) string { return t.Local().Format("2 Jan 2006 15:04 MST") }

// editText says who wrote a config, when, and through what.
func editText(e wire.Edit) string {
	if e.UpdatedBy == "" {
		return "never written"
	}
	return fmt.Sprintf("written by %s on %s through %s", e.UpdatedBy, timeText(e.UpdatedAt), viaText(e.UpdatedVia))
}

func viaText(v wire.Via) string {
	switch v {
	case wire.ViaPage:
		return "the project page"
	case wire.ViaAPI:
		return "the API"
	}
	return string(v)
}

// scopesText lists scopes, "read only" for none.
func scopesText(scopes []wire.Scope) string {
	if len(scopes) == 0 {
		return "read only"
	}
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

func expiryText(t *time.Time) string {
	if t == nil {
		return "never expires"
	}
	return "expires " + t.Local().Format("2 Jan 2006")
}

// maxShown bounds how many lines of a difference text mode shows of each kind,
// and maxValue the columns of a value. JSON has all of it.
const (
	maxShown = 50
	maxValue = 60
)

// differenceLines writes a difference key by key: + added, ~ changed, - removed.
func differenceLines(d flat.Difference) []string {
	var lines []string
	more := func(n int) {
		if n > maxShown {
			lines = append(lines, fmt.Sprintf("… and %d more", n-maxShown))
		}
	}
	for _, e := range d.Added[:min(maxShown, len(d.Added))] {
		lines = append(lines, fmt.Sprintf("+ %s: %s", e.Key, tui.Shorten(e.Text, maxValue)))
	}
	more(len(d.Added))
	for _, c := range d.Changed[:min(maxShown, len(d.Changed))] {
		from, to := tui.Values(c.From, c.To, maxValue)
		lines = append(lines, fmt.Sprintf("~ %s: %s → %s", c.Key, from, to))
	}
	more(len(d.Changed))
	for _, e := range d.Removed[:min(maxShown, len(d.Removed))] {
		lines = append(lines, fmt.Sprintf("- %s: %s", e.Key, tui.Shorten(e.Text, maxValue)))
	}
	more(len(d.Removed))
	return lines
}

// differenceSummary counts a difference.
func differenceSummary(d flat.Difference) string {
	if d.Empty() {
		return "no difference"
	}
	return fmt.Sprintf("%d added, %d changed, %d removed", len(d.Added), len(d.Changed), len(d.Removed))
}

// aborted prints that the person said no.
func (a *app) aborted(r *flow.Aborted) error {
	return a.print("aborted", r, func(p *printer) { p.line("Aborted: nothing was changed") })
}

// columns writes rows of cells in columns.
func columns(p *printer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row[:len(row)-1] {
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		p.line("%s", line+row[len(row)-1])
	}
}

// destinationOf returns the hub project that a failure is about, "" for none.
func destinationOf(err error) string { return failure.Of(err).Project.String() }
