package app

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
)

// Bytes writes a size for people.
func Bytes(n int64) string { return humanize.IBytes(uint64(max(0, n))) }

// Count writes a number with the word that fits it.
func Count(n int, one, many string) string { return tui.Count(n, one, many) }

// Time writes a moment for people, in their own time zone.
func Time(t time.Time) string { return t.Local().Format("2 Jan 2006 15:04 MST") }

// Ago writes when something was: how long ago within a day, else the moment, as in "on 2 Jan 2026
// 15:04 CET". A time in the future counts as now.
func Ago(t time.Time) string {
	past := time.Since(t)
	switch {
	case past >= 24*time.Hour:
		return "on " + Time(t)
	case past >= time.Hour:
		return fmt.Sprintf("%d h ago", past/time.Hour)
	case past >= time.Minute:
		return fmt.Sprintf("%d min ago", past/time.Minute)
	}
	return "just now"
}

// ShortRevision abbreviates a revision or the digest of a tree.
func ShortRevision(revision string) string { return revision[:min(len(revision), 12)] }

// Edit says who wrote a config, when, and through what.
func Edit(e wire.Edit) string {
	if e.UpdatedBy == "" {
		return "never written"
	}
	return fmt.Sprintf("written by %s %s through %s", Cell(e.UpdatedBy), Ago(e.UpdatedAt), e.UpdatedVia.Phrase())
}

// Scopes lists the scopes of a token, "read only" for none, and what it is restricted to.
func Scopes(scopes []wire.Scope, only wire.Restriction) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	allowed := cmp.Or(strings.Join(names, ", "), "read only")
	switch {
	case only.Account != "":
		return allowed + " on @" + only.Account
	case !only.Project.IsZero():
		return allowed + " on " + only.Project.String()
	}
	return allowed
}

// Expiry says when a token expires.
func Expiry(t *time.Time) string {
	if t == nil {
		return "never expires"
	}
	return "expires " + Time(*t)
}

// MaxShown bounds how many lines of a difference text mode shows of each kind,
// and MaxValue the columns of a value. JSON has all of it.
const (
	MaxShown = 50
	MaxValue = 60
)

// Changes lists a difference: what is added, what is changed, what is removed.
func Changes(d flat.Difference) flat.Difference {
	kind := func(c flat.Change) int { return strings.Index("+~-", c.Sign()) }
	return slices.SortedStableFunc(slices.Values(d), func(a, b flat.Change) int { return kind(a) - kind(b) })
}

// ChangeValues returns the values of a key, of at most width columns each.
func ChangeValues(c flat.Change, width int) (from, to string) {
	if c.Sign() == "~" {
		return tui.Values(c.From, c.To, width)
	}
	return tui.Shorten(c.From, width), tui.Shorten(c.To, width)
}

// changeLine writes a change, with values of at most width columns.
func changeLine(c flat.Change, width int) string {
	key := tui.Shorten(c.Key, max(width, maxCell))
	from, to := ChangeValues(c, width)
	if c.Sign() == "~" {
		return fmt.Sprintf("~ %s: %s → %s", key, from, to)
	}
	return fmt.Sprintf("%s %s: %s", c.Sign(), key, from+to)
}

// DifferenceLines writes a difference key by key: + added, ~ changed, - removed.
func DifferenceLines(d flat.Difference) []string { return differenceLines(d, MaxValue, MaxShown) }

// FullDifferenceLines is DifferenceLines with all keys and whole values.
func FullDifferenceLines(d flat.Difference) []string {
	return differenceLines(d, math.MaxInt, math.MaxInt)
}

// differenceLines writes a difference with values of at most width columns, and at most maxLines
// lines of each kind.
func differenceLines(d flat.Difference, width, maxLines int) (lines []string) {
	changes := Changes(d.ByRecord())
	shown := 0 // of the present kind
	for i, c := range changes {
		shown++
		if shown <= maxLines {
			lines = append(lines, changeLine(c, width))
		}
		if i+1 == len(changes) || changes[i+1].Sign() != c.Sign() {
			if shown > maxLines {
				lines = append(lines, fmt.Sprintf("… and %d more", shown-maxLines))
			}
			shown = 0
		}
	}
	return lines
}

// ConflictLines writes conflicts key by key, each with its values.
func ConflictLines(conflicts flat.Conflicts) []string {
	lines := make([]string, len(conflicts))
	for i, c := range conflicts {
		base, mine, theirs := tui.ConflictValues(c, MaxValue)
		lines[i] = fmt.Sprintf("! %s: mine %s, theirs %s, base %s",
			Cell(c.Key), cmp.Or(mine, "(none)"), cmp.Or(theirs, "(none)"), cmp.Or(base, "(none)"))
	}
	return limited(lines)
}

// DifferenceSummary counts a difference.
func DifferenceSummary(d flat.Difference) string { return tui.Counts(d) }

// Counts writes how much was changed, such as: 2 added, 1 removed.
func Counts(added, changed, removed int) string { return tui.Changes(added, changed, removed) }

// Shortened returns lines to show below a question or a failure, indented, and says how many
// more there are.
func Shortened(lines []string) []string {
	shown := limited(lines)
	for i := range shown {
		shown[i] = "  " + shown[i]
	}
	return shown
}

// limited returns the first lines, and how many more there are.
func limited(lines []string) []string {
	shown := slices.Clone(lines[:min(MaxShown, len(lines))])
	if more := len(lines) - MaxShown; more > 0 {
		shown = append(shown, fmt.Sprintf("… and %d more", more))
	}
	return shown
}

// WithdrawnNotes says that the stack version of a project was withdrawn, if it was.
func (a *App) WithdrawnNotes(w *wire.ConfigWritten) []string {
	if w.UseStackVersion == "" {
		return nil
	}
	return []string{fmt.Sprintf("the stack version %s of %s was withdrawn; to use %s: %s",
		w.StackVersion, w.Project, w.UseStackVersion,
		a.CommandText(cmdline.Tool("project", "edit").With(w.Project.String()).Flag("--stack-version", w.UseStackVersion)))}
}
