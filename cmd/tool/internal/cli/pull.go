package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/flow/pull"
)

// pullFlags are what a pull was told.
type pullFlags struct {
	project, output    optional
	files, force, undo bool
}

func (a *app) pullCommand() *cobra.Command {
	var f pullFlags
	c := &cobra.Command{
		Use:   "pull [<project>]",
		Short: "Bring a hub project's config back into client.json, and its base files",
		Long: `Bring the config of the hub project back into the settings of .tool/<project>/client.json.
Only what differs is edited; everything else in the file keeps its bytes and place.

In a terminal the difference is shown and taken only after a yes; in a pipeline it
is taken. Commit .tool/<project>/pulled.json: push --no-clobber reads it.

With --base-files the app's files come too. Local files that differ are overwritten
after a yes in a terminal, else only with --force; files that the hub does not have
stay as they are.`,
		Example: `  tool pull web
  tool pull web --base-files --output ../copy
  tool pull web --project @acme/web --no-input`,
		Args:              maybeLocal,
		ValidArgsFunction: a.completeLocal,
		RunE: a.run(func(ctx context.Context, args []string) error {
			switch {
			case f.undo && (f.force || f.files || f.output.given()):
				return usagef("--undo goes with --project alone")
			case f.output.given() && !f.files:
				return usagef("--output goes with --base-files")
			case f.output.given() && f.output.String() == "":
				return usagef("--output needs a directory")
			}
			return a.pull(ctx, strings.Join(args, ""), f)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&f.project, "project", "hub project, `@ACCOUNT/SLUG`, instead of client.json's")
	fl.BoolVar(&f.files, "base-files", false, "bring back the base files too")
	fl.Var(&f.output, "output", "put the base files into `DIR` instead of the app root")
	fl.BoolVar(&f.force, "force", false, "replace settings and files that differ without asking")
	fl.BoolVar(&f.undo, "undo", false, "put back the settings that the last pull replaced, asking no hub")
	c.RegisterFlagCompletionFunc("project", a.hubProjects())
	return a.hubFlags(c)
}

func (a *app) pull(ctx context.Context, name string, f pullFlags) error {
	local, err := a.local(ctx, name, itself)
	if err != nil {
		return doing(err, name, "%s", strings.TrimSpace("pull "+name))
	}
	o := pull.Options{
		Local: local, Destination: f.project.value, Connect: a.connect, Revisions: a.revisions(), Kept: a.kept(), Warn: a.warn,
		BaseFiles: f.files, Force: f.force,
	}
	if f.undo {
		r, err := pull.Undo(o)
		if err != nil {
			return doing(err, local.Name, "undo the pull of %s", local.Name)
		}
		return a.print("pulled", r, func(p *printer) { pulledText(p, r) })
	}
	if f.output.given() {
		o.OutputName = filepath.Join(a.dir, f.output.String())
		if o.Output, err = a.place(f.output.String()); err != nil {
			return doing(err, local.Name, "pull %s", local.Name)
		}
		if local.Workspace.Keeps(o.Output) {
			return usagef("--output leads into .tool, which holds the stacks")
		}
	}
	hide := a.progress(&o.Report)
	if !a.strict() && !f.force {
		o.Confirm, o.ConfirmFiles = a.confirmReplace, a.confirmFiles
	}
	r, no, err := pull.Run(ctx, o)
	hide()
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
	if f := r.FilesResult; f != nil {
		p.field("base files", "%d (%d added, %d changed)", r.BaseFilesPulled, f.Added, f.Changed)
	}
	if r.UpdatedBy != "" {
		p.field("config", "written by %s on %s through %s", r.UpdatedBy, timeText(r.UpdatedAt), viaText(r.UpdatedVia))
	}
	p.notes(r.Notes)
}
