// Package history implements the commands log, show and restore.
package history

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
)

// log is a part of a history, newest entry first.
type log struct {
	app.About `json:",inline"`
	Config    []wire.ConfigEntry    `json:"config,omitzero"`    // absent with --base-files
	BaseFiles []wire.BaseFilesEntry `json:"baseFiles,omitzero"` // absent without
	More      bool                  `json:"more"`               // there are older entries
	app.Noted `json:",inline"`

	target     *app.Target
	maxEntries int // limit of -n; 0: none
}

func (*log) Kind() string { return "log" }

// Paged has a long text shown in a pager.
func (*log) Paged() {}

func (r *log) Text(w *app.Printer) {
	var rows [][]string
	for _, e := range r.Config {
		rows = append(rows, row(e))
	}
	for _, e := range r.BaseFiles {
		size := fmt.Sprintf("%s, %s", app.Count(e.Count, "file", "files"), app.Bytes(e.Bytes))
		rows = append(rows, row(e.ConfigEntry(), size))
	}
	if len(rows) == 0 {
		w.Line("%s has no history yet", r.Project)
		return
	}
	if r.target.App.Streams.OutTTY {
		heading := r.Project.String() + " on " + r.Origin
		if r.Env != "" {
			heading += ", environment " + r.Env
		}
		w.Heading("%s", heading)
	}
	w.Fit(rows)
	w.Columns(rows, painted)
	if r.More {
		more := r.target.Line("log").Flag("-n", fmt.Sprint(2*r.maxEntries))
		w.Notes([]string{"there are older entries; to list more: " + w.Command(more)})
	}
}

// painted paints a cell of a row: the revision is quiet, and each count has the colour of its sign.
func painted(th *tui.Theme, column int, cell string) string {
	switch column {
	case 0:
		return th.Paint(tui.Heading, cell)
	case 1, 2, 4:
		return th.Paint(tui.Quiet, cell)
	case 5:
		counts := strings.Fields(cell)
		for i, count := range counts {
			role := tui.RoleOf(count[:1])
			if count[1:] == "0" {
				role = tui.Quiet
			}
			counts[i] = th.Paint(role, count)
		}
		return strings.Join(counts, " ")
	}
	return cell
}

// row is a line of a log, with size before the message, or what an entry without one changed. It starts with
// the number, because a restored revision occurs more than once.
func row(e wire.ConfigEntry, size ...string) []string {
	cells := append([]string{
		fmt.Sprintf("r%d", e.Number), app.ShortRevision(e.Revision), strings.TrimPrefix(app.Ago(e.UpdatedAt), "on "),
		app.Cell(e.UpdatedBy), string(e.UpdatedVia), fmt.Sprintf("+%d ~%d -%d", e.Added, e.Changed, e.Removed),
	}, size...)
	return append(cells, cmp.Or(e.Message, app.KeysText(e, 3)))
}

// defaultEntries is how many entries a log shows unless -n says otherwise.
const defaultEntries = 30

// projectUsage describes the flag --project.
const projectUsage = "use `@ACCOUNT/SLUG` instead of client.json's project; needs no workspace"

// LogCommand returns the command log.
func LogCommand(a *app.App) *cobra.Command {
	t := &app.Target{App: a}
	n := defaultEntries
	c := &cobra.Command{
		Use:   "log [<project>]",
		Short: "List who changed a hub project's config, or its base files",
		Long: `List the writes that changed a project's config, newest first: their number,
the revision, when, who, through what, how many keys were + added, ~ changed,
- removed, and the message, or else the first of these keys. The first one is
the present config. With --base-files it lists the pushes that changed the base
files, with the set's digest.

tool show shows one of them, tool restore restores one. The hub keeps the newest
200 of a project and all of the last 90 days, unless its administrator chose
otherwise, and the last 20 sets of base files.`,
		Example: `  tool log web
  tool log web -n 5 --base-files
  tool log --project @acme/web --json`,
		Args:              app.MaybeLocal,
		ValidArgsFunction: app.FirstOnly(a.LocalNames),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if n < 0 {
				return cmdline.Usagef("-n is a number of entries, 0 for all, not %d", n)
			}
			return run(ctx, t, strings.Join(args, ""), n)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&t.BaseFiles, "base-files", false, "list the changes of the base files")
	fl.IntVarP(&n, "entries", "n", n, "list at most `N` entries, 0 for all")
	t.Flag(c, projectUsage)
	return a.HubFlags(a.EnvFlag(c))
}

// Run shows the newest entries of the history of a local project's config.
func Run(ctx context.Context, a *app.App, name string) error {
	return run(ctx, &app.Target{App: a}, name, defaultEntries)
}

func run(ctx context.Context, t *app.Target, name string, n int) error {
	r, err := list(ctx, t, name, n)
	if err != nil {
		return t.Fail(err, ofProject(t, "list the history"))
	}
	return t.App.Show(r)
}

// ofProject adds the hub project to the name of an action, if it is known.
func ofProject(t *app.Target, doing string) string {
	if t.Project.IsZero() {
		return doing
	}
	return doing + " of " + t.Project.String()
}

// list returns the newest n entries, or all of them if n is 0.
func list(ctx context.Context, t *app.Target, name string, n int) (*log, error) {
	if err := t.Find(ctx, name); err != nil {
		return nil, err
	}
	r := &log{About: t.About(), target: t, maxEntries: n}
	if t.BaseFiles {
		entries, err := t.Hub.BaseFilesHistory(ctx, t.Project)
		if n > 0 && len(entries) > n {
			entries, r.More = entries[:n], true
		}
		r.BaseFiles = append([]wire.BaseFilesEntry{}, entries...)
		return r, err
	}
	r.Config = []wire.ConfigEntry{}
	err := t.Hub.EachConfigEntry(ctx, t.Project, func(entry wire.ConfigEntry) bool {
		if n > 0 && len(r.Config) == n {
			r.More = true
			return false
		}
		r.Config = append(r.Config, entry)
		return true
	})
	return r, err
}

// shown is an entry of a config's history, with what it changed.
type shown struct {
	app.About        `json:",inline"`
	wire.ConfigEntry `json:",inline"`
	Changes          *flat.Difference `json:"changes"` // null: what was there before is not kept
	app.Noted        `json:",inline"`

	full bool // all keys and whole values are printed
}

func (*shown) Kind() string { return "revision" }

// Paged has a long text shown in a pager.
func (*shown) Paged() {}

func (r *shown) Text(w *app.Printer) {
	w.Head("%s at %s", r.Project, r.Revision)
	w.Field("config", "%s", app.Edit(r.Edit))
	if r.Message != "" {
		w.Field("message", "%s", r.Message)
	}
	if r.TokenName != "" {
		w.Field("token", "%s", r.TokenName)
	}
	if r.Parent != "" {
		w.Field("replaced", "%s", r.Parent)
	} else {
		w.Field("replaced", "nothing")
	}
	if r.Changes != nil {
		w.Field("changes", "%s", app.DifferenceSummary(*r.Changes))
		lines := app.DifferenceLines
		if r.full {
			lines = app.FullDifferenceLines
		}
		w.Differences(lines(*r.Changes))
	} else {
		w.Field("changes", "%s", app.Counts(r.Added, r.ConfigEntry.Changed, r.Removed))
	}
}

// ShowCommand returns the command show.
func ShowCommand(a *app.App) *cobra.Command {
	t := &app.Target{App: a}
	full := false
	c := &cobra.Command{
		Use:   "show [<project>] <revision>",
		Short: "Show what a revision of a hub project's config changed",
		Long: `Show an entry of the history of a project's config: who wrote it, when, through
what, and how it differs from the config that it replaced. tool log lists the
revisions; one can be abbreviated, or given by its number, such as r12, or from
the newest one: latest, latest~1. Changes nothing.`,
		Example: `  tool show web 461f583aadb4
  tool show 461f --project @acme/web --json`,
		Args:              projectAndRevision,
		ValidArgsFunction: completeRevision(a),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			name, revision := split(args)
			if err := app.CheckRevision("<revision>", revision); err != nil {
				return err
			}
			r, err := show(ctx, t, name, revision)
			if err != nil {
				return t.Fail(err, ofProject(t, "show revision "+app.ShortRevision(revision)))
			}
			r.full = full
			return a.Show(r)
		}),
	}
	c.Flags().SortFlags = false
	c.Flags().BoolVar(&full, "full", false, "print all keys and whole values, however many and long")
	t.Flag(c, projectUsage)
	return a.HubFlags(a.EnvFlag(c))
}

// projectAndRevision accepts [<project>] <revision>.
func projectAndRevision(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmdline.Usagef("%s needs <revision>", c.CommandPath()).Try(cmdline.Tool("log"))
	}
	if len(args) == 2 && args[0] == "" {
		return app.EmptyLocal("<project>")
	}
	return cmdline.AtMost("<project>", "<revision>")(c, args)
}

// completeRevision completes the local project, and then the newest revisions of its config.
func completeRevision(a *app.App) app.Completion {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return app.FirstOnly(a.LocalNames)(c, args, typed)
		}
		return a.FromHub(func(ctx context.Context, hub *identity.Hub) (found []string, err error) {
			project, err := a.ParseProject(args[0])
			if err != nil {
				return nil, err
			}
			err = hub.EachConfigEntry(ctx, project, func(e wire.ConfigEntry) bool {
				found = append(found, fmt.Sprintf("r%d\t%s, %s", e.Number, app.Cell(e.UpdatedBy), app.Ago(e.UpdatedAt)))
				return len(found) < 20
			})
			return found, err
		})(c, args, typed)
	}
}

// split returns the local project and the revision among the arguments.
func split(args []string) (name, revision string) {
	if len(args) == 2 {
		name = args[0]
	}
	return name, args[len(args)-1]
}

func show(ctx context.Context, t *app.Target, name, revision string) (*shown, error) {
	if err := t.Find(ctx, name); err != nil {
		return nil, err
	}
	entry, err := t.Hub.FindConfigEntry(ctx, t.Project, revision)
	if err != nil {
		return nil, err
	}
	r := &shown{About: t.About(), ConfigEntry: *entry}
	config, err := configOf(ctx, t, entry.Revision)
	if err != nil {
		return nil, err
	}
	var replaced flat.Config
	if entry.Parent != "" {
		replaced, err = configOf(ctx, t, entry.Parent)
		if hubclient.HasCode(err, wire.CodeRevisionNotKept) {
			r.Note("the config that it replaced is no longer kept")
			return r, nil
		}
		if err != nil {
			return nil, err
		}
	}
	changes := flat.Diff(replaced, config)
	r.Changes = &changes
	return r, nil
}

// configOf returns the config as it was with a revision.
func configOf(ctx context.Context, t *app.Target, revision string) (flat.Config, error) {
	kept, err := t.Hub.ConfigRevision(ctx, t.Project, revision)
	if err != nil {
		return flat.Config{}, err
	}
	return t.ParseConfig(kept.Config)
}
