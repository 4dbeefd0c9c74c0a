package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/flow/pull"
)

// pullFlags are what a pull was told.
type pullFlags struct {
	project     optional
	force, undo bool
}

func (a *app) pullCommand() *cobra.Command {
	var f pullFlags
	c := &cobra.Command{
		Use:   "pull [<project>]",
		Short: "Bring a hub project's config back into client.json",
		Long: `Bring the config of the hub project back into the settings of .tool/<project>/client.json.
Only what differs is edited; everything else in the file keeps its bytes and place.

In a terminal the difference is shown and taken only after a yes; in a pipeline it
is taken. Commit .tool/<project>/pulled.json: push --no-clobber reads it.`,
		Example: `  tool pull web
  tool pull web --project @acme/web --no-input`,
		Args:              atMost("<project>"),
		ValidArgsFunction: a.completeLocal,
		RunE: a.run(func(ctx context.Context, args []string) error {
			if f.undo && f.force {
				return usagef("--undo goes with --project alone")
			}
			return a.pull(ctx, strings.Join(args, ""), f)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&f.project, "project", "hub project, `@ACCOUNT/SLUG`, instead of client.json's")
	fl.BoolVar(&f.force, "force", false, "replace settings that differ without asking")
	fl.BoolVar(&f.undo, "undo", false, "put back the settings that the last pull replaced, asking no hub")
	c.RegisterFlagCompletionFunc("project", a.hubProjects())
	return a.hubFlags(c)
}

func (a *app) pull(ctx context.Context, name string, f pullFlags) error {
	local, err := a.local(ctx, name, itself)
	if err != nil {
		return doing(err, name, "%s", strings.TrimSpace("pull "+name))
	}
	o := pull.Options{Local: local, Destination: f.project.value, Connect: a.connect, Revisions: a.revisions(), Kept: a.kept(), Warn: a.warn}
	if f.undo {
		r, err := pull.Undo(o)
		if err != nil {
			return doing(err, local.Name, "undo the pull of %s", local.Name)
		}
		return a.print("pulled", r, func(p *printer) { pulledText(p, r) })
	}
	if !a.strict() && !f.force {
		o.Confirm = a.confirmReplace
	}
	r, no, err := pull.Run(ctx, o)
	switch {
	case err != nil:
		what := "pull " + local.Name
		if from := destinationOf(err); from != "" {
			what += " from " + from
		}
		return doing(err, local.Name, "%s", what)
	case no != nil:
		return a.aborted(no)
	}
	return a.print("pulled", r, func(p *printer) { pulledText(p, r) })
}

func pulledText(p *printer, r *pull.Result) {
	if r.Origin == "" {
		p.line("Put back the settings of %s", r.ProjectName)
	} else {
		p.line("Pulled %s from %s", r.ProjectName, r.Project.Path())
		p.field("origin", "%s", r.Origin)
	}
	p.field("settings", "%s", differenceSummary(r.Changes))
	for _, line := range differenceLines(r.Changes) {
		p.line("    %s", line)
	}
	p.field("enrichments", "%d", r.EnrichmentCount)
	if r.UpdatedBy != "" {
		p.field("config", "written by %s on %s through %s", r.UpdatedBy, timeText(r.UpdatedAt), viaText(r.UpdatedVia))
	}
	p.notes(r.Notes)
}
