package history

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Shown is an entry of a config's history, with what it changed.
type Shown struct {
	ProjectName      string  `json:"projectName,omitzero"`
	Project          ref.Ref `json:"project"`
	Env              string  `json:"environment,omitzero"`
	Origin           string  `json:"origin"`
	wire.ConfigEntry `json:",inline"`
	Changes          *flat.Difference `json:"changes"` // null: what was there before is not kept
	Notes            []string         `json:"notes"`
}

// ShowCommand returns the command show.
func ShowCommand(a *app.App) *cobra.Command {
	t := &target{app: a}
	full := false
	c := &cobra.Command{
		Use:   "show [<project>] <revision>",
		Short: "Show what a revision of a hub project's config changed",
		Long: `Show an entry of the history of a project's config: who wrote it, when, through
what, and how it differs from the config that it replaced. tool log lists the
revisions; one can be abbreviated. Changes nothing.`,
		Example: `  tool show web 461f583aadb4
  tool show 461f --project @acme/web --json`,
		Args:              projectAndRevision,
		ValidArgsFunction: a.CompleteLocal,
		RunE: a.RunReading(func(ctx context.Context, args []string) error {
			name, revision := split(args)
			if err := app.CheckRevision("<revision>", revision); err != nil {
				return err
			}
			r, err := t.show(ctx, name, revision)
			if err != nil {
				return t.fail(err, "show revision "+app.ShortRevision(revision))
			}
			return a.Print("revision", r, func(w *app.Printer) { shownText(w, r, full) })
		}),
	}
	c.Flags().SortFlags = false
	c.Flags().BoolVar(&full, "full", false, "print all keys and whole values, however many and long")
	return t.flags(c)
}

// projectAndRevision wants a revision, and before it the name of a local project or none.
func projectAndRevision(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmdline.Usagef("%s needs <revision>", c.CommandPath()).Try(cmdline.Tool("log"))
	}
	if len(args) == 2 && args[0] == "" {
		return app.EmptyLocal("<project>")
	}
	return cmdline.AtMost("<project>", "<revision>")(c, args)
}

// split returns the local project and the revision among the arguments.
func split(args []string) (name, revision string) {
	if len(args) == 2 {
		name = args[0]
	}
	return name, args[len(args)-1]
}

func (t *target) show(ctx context.Context, name, revision string) (*Shown, error) {
	if err := t.find(ctx, name); err != nil {
		return nil, err
	}
	entry, err := t.hub.FindConfigEntry(ctx, t.project, revision)
	if err != nil {
		return nil, err
	}
	r := &Shown{ProjectName: t.name(), Project: t.project, Env: t.env(), Origin: t.hub.Origin(), ConfigEntry: *entry, Notes: []string{}}
	is, err := t.configOf(ctx, entry.Revision)
	if err != nil {
		return nil, err
	}
	was := flat.Config{}
	if entry.Parent != "" {
		was, err = t.configOf(ctx, entry.Parent)
	}
	switch {
	case hubclient.HasCode(err, wire.CodeRevisionNotKept):
		r.Notes = append(r.Notes, "the config that it replaced is no longer kept")
		return r, nil
	case err != nil:
		return nil, err
	}
	changes := flat.Diff(was, is)
	r.Changes = &changes
	return r, nil
}

// configOf returns the config as it was with a revision.
func (t *target) configOf(ctx context.Context, revision string) (flat.Config, error) {
	kept, err := t.hub.ConfigRevision(ctx, t.project, revision)
	if err != nil {
		return flat.Config{}, err
	}
	config, err := flat.Parse(kept.Config)
	if err != nil {
		err = failure.New(hubclient.CodeNotAHub, "revision %s of the config of %s cannot be read: %w", revision, t.project, err)
	}
	return config, err
}

func shownText(w *app.Printer, r *Shown, full bool) {
	w.Line("%s at %s", r.Project, r.Revision)
	w.Environment(r.Env)
	w.Field("origin", "%s", r.Origin)
	w.Field("config", "%s (%s)", app.Edit(r.Edit), app.Time(r.UpdatedAt))
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
		if full {
			lines = app.FullDifferenceLines
		}
		for _, line := range lines(*r.Changes) {
			w.Whole("    " + line)
		}
	} else {
		w.Field("changes", "%d added, %d changed, %d removed", r.Added, r.ConfigEntry.Changed, r.Removed)
	}
	w.Notes(r.Notes)
}
