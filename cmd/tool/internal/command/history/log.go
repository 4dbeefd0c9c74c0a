package history

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Log is a part of a history, newest entry first.
type Log struct {
	ProjectName string                `json:"projectName,omitzero"`
	Project     ref.Ref               `json:"project"`
	Env         string                `json:"environment,omitzero"`
	Origin      string                `json:"origin"`
	Config      []wire.ConfigEntry    `json:"config,omitzero"`    // absent with --base-files
	BaseFiles   []wire.BaseFilesEntry `json:"baseFiles,omitzero"` // absent without
	More        bool                  `json:"more"`               // there are older entries
	Notes       []string              `json:"notes"`
}

// defaultEntries is how many entries a log shows unless -n says otherwise.
const defaultEntries = 30

// LogCommand returns the command log.
func LogCommand(a *app.App) *cobra.Command {
	t := &target{app: a}
	n := defaultEntries
	c := &cobra.Command{
		Use:   "log [<project>]",
		Short: "List who changed a hub project's config, or its base files",
		Long: `List the writes that changed a project's config, newest first: the revision,
when, who, through what, and how many keys were + added, ~ changed, - removed.
The first one is the present config. With --base-files it lists the pushes that
changed the base files, with the set's digest.

tool show shows one of them, tool restore restores one. The hub keeps the newest
200 of a project and all of the last 90 days, unless its administrator chose
otherwise, and the last 20 sets of base files.`,
		Example: `  tool log web
  tool log web -n 5 --base-files
  tool log --project @acme/web --json`,
		Args:              app.MaybeLocal,
		ValidArgsFunction: a.CompleteLocal,
		RunE: a.RunReading(func(ctx context.Context, args []string) error {
			if n < 0 {
				return cmdline.Usagef("-n is a number of entries, 0 for all, not %d", n)
			}
			r, err := t.log(ctx, strings.Join(args, ""), n)
			if err != nil {
				return t.fail(err, "list the history")
			}
			return a.Print("log", r, func(w *app.Printer) { t.logText(w, r, n) })
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&t.files, "base-files", false, "list the changes of the base files")
	fl.IntVarP(&n, "entries", "n", n, "list at most `N` entries, 0 for all")
	return t.flags(c)
}

// log returns at most n entries, all for 0.
func (t *target) log(ctx context.Context, name string, n int) (*Log, error) {
	if err := t.find(ctx, name); err != nil {
		return nil, err
	}
	r := &Log{ProjectName: t.name(), Project: t.project, Env: t.env(), Origin: t.hub.Origin(), Notes: []string{}}
	if t.files {
		entries, err := t.hub.BaseFilesHistory(ctx, t.project)
		if n > 0 && len(entries) > n {
			entries, r.More = entries[:n], true
		}
		r.BaseFiles = append([]wire.BaseFilesEntry{}, entries...)
		return r, err
	}
	r.Config = []wire.ConfigEntry{}
	err := t.hub.EachConfigEntry(ctx, t.project, func(entry wire.ConfigEntry) bool {
		if r.More = n > 0 && len(r.Config) == n; !r.More {
			r.Config = append(r.Config, entry)
		}
		return !r.More
	})
	return r, err
}

// logText prints a log, an entry in a line; in two where a terminal is too narrow.
func (t *target) logText(w *app.Printer, r *Log, n int) {
	var rows [][]string
	for _, e := range r.Config {
		rows = append(rows, row(e.Revision, e.UpdatedAt, e.UpdatedBy, e.UpdatedVia, e.Added, e.Changed, e.Removed))
	}
	for _, e := range r.BaseFiles {
		rows = append(rows, append(row(e.Tree, e.UpdatedAt, e.UpdatedBy, e.UpdatedVia, e.Added, e.Changed, e.Removed),
			fmt.Sprintf("%s, %s", app.Count(e.Count, "file", "files"), app.Bytes(e.Bytes))))
	}
	if len(rows) == 0 {
		w.Line("%s has no history yet", r.Project)
		return
	}
	if t.app.Streams.OutTTY {
		w.Line("%s", t.heading())
	}
	if columns, _ := t.app.Streams.Size(); t.app.Streams.OutTTY && tooWide(rows, columns) {
		for _, line := range inTwoLines(rows) {
			w.Line("%s", line)
		}
	} else {
		w.Columns(rows)
	}
	if r.More {
		w.Notes([]string{"there are older entries; to list more: " + w.Command(t.line("log").Flag("-n", fmt.Sprint(2*n)))})
	}
}

// inTwoLines writes each row of a log in two lines, the second one indented.
func inTwoLines(rows [][]string) []string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%s  %s  %s  %s", r[0], r[1], r[3], r[4]),
			"    "+strings.Join(append([]string{r[2]}, r[5:]...), "  "))
	}
	return lines
}

// tooWide reports whether rows in columns do not fit into a line of the terminal.
func tooWide(rows [][]string, columns int) bool {
	widths := map[int]int{}
	total := 0
	for _, row := range rows {
		for i, cell := range row {
			if n := utf8.RuneCountInString(cell) + 2; n > widths[i] {
				total += n - widths[i]
				widths[i] = n
			}
		}
	}
	return total-2 > columns
}

// row is a line of a log.
func row(revision string, at time.Time, by string, via wire.Via, added, changed, removed int) []string {
	return []string{
		app.ShortRevision(revision), app.Ago(at), app.Time(at), app.Cell(by), via.Phrase(), fmt.Sprintf("+%d ~%d -%d", added, changed, removed),
	}
}
