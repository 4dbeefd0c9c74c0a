package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow/pull"
)

// pullFlags are what a pull was told.
type pullFlags struct {
	project, output               optional
	files, filesOnly, force, undo bool
}

func (a *app) pullCommand() *cobra.Command {
	var f pullFlags
	c := &cobra.Command{
		Use:   "pull [<project>]",
		Short: "Download the hub's config into client.json, and base files",
		Long: `Bring the config of the hub project back into the settings of
.tool/<project>/client.json. Only what differs is edited; everything else in
the file keeps its bytes and place.

In a terminal the difference is shown and taken only after a yes. In a pipeline
it is taken unless client.json has edits that were neither pushed nor pulled:
those are replaced only with --force. Commit .tool/<project>/pulled.json, which
says what was pulled last.

With --base-files the app's files come too, and with --base-files-only nothing
else. Local files that differ are overwritten after a yes in a terminal, else
only with --force; files that the hub does not have stay as they are.`,
		Example: `  tool pull web
  tool pull web --base-files --output ../copy
  tool pull web --project @acme/web --no-input`,
		Args:              maybeLocal,
		ValidArgsFunction: a.completeLocal,
		RunE: a.run(func(ctx context.Context, args []string) error {
			switch {
			case f.undo && (f.force || f.files || f.filesOnly || f.output.given()):
				return cmdline.Usagef("--undo goes with --project alone")
			case f.files && f.filesOnly:
				return cmdline.Usagef("--base-files and --base-files-only exclude each other")
			case f.output.given() && !f.files && !f.filesOnly:
				return cmdline.Usagef("--output goes with --base-files or --base-files-only")
			case f.output.given() && f.output.String() == "":
				return cmdline.Usagef("--output needs a directory")
			}
			return a.pull(ctx, strings.Join(args, ""), f)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&f.project, "project", "hub project, `@ACCOUNT/SLUG`, instead of client.json's")
	fl.BoolVar(&f.files, "base-files", false, "bring back the base files too")
	fl.BoolVar(&f.filesOnly, "base-files-only", false, "download the base files, and leave client.json alone")
	fl.Var(&f.output, "output", "put the base files into `DIR` instead of the app root")
	fl.BoolVar(&f.force, "force", false, "replace settings and files that differ without asking")
	fl.BoolVar(&f.undo, "undo", false, "put back the settings and base files that the last pull replaced, asking no hub")
	c.RegisterFlagCompletionFunc("output", directories)
	c.RegisterFlagCompletionFunc("project", a.hubProjects())
	return a.hubFlags(c)
}

func (a *app) pull(ctx context.Context, name string, f pullFlags) error {
	local, err := a.local(ctx, name, a.itself)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("pull "+name))
	}
	o := pull.Options{
		Local: local, Destination: f.project.value, Connect: a.connect, Revisions: a.revisions(), Kept: a.kept(), Warn: a.warn, Typed: a.typed,
		BaseFiles: f.files || f.filesOnly, FilesOnly: f.filesOnly, Force: f.force,
	}
	if f.undo {
		r, err := pull.Undo(o)
		if err != nil {
			return failure.Doing(err, local.Name, "undo the pull of %s", local.Name)
		}
		return a.print("pulled", r, func(p *printer) { pulledText(p, r, false) })
	}
	if f.output.given() {
		o.OutputName = filepath.Join(a.dir, f.output.String())
		if o.Output, err = a.place(f.output.String()); err != nil {
			return failure.Doing(err, local.Name, "pull %s", local.Name)
		}
		var reserved string
		if o.Output, reserved, err = local.Workspace.Locate(o.Output); err != nil {
			return cmdline.Usagef("--output %s: %v", f.output.String(), err)
		}
		if reserved != "" {
			return cmdline.Usagef("--output leads into %s, where no base files are written", reserved)
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
		return failure.Doing(err, local.Name, "%s", what)
	case no != nil:
		return a.aborted(no)
	}
	return a.print("pulled", r, func(p *printer) { pulledText(p, r, f.filesOnly) })
}

func pulledText(p *printer, r *pull.Result, filesOnly bool) {
	if r.Origin == "" {
		p.line("Put back the %s of %s", r.Restored(), r.ProjectName)
	} else {
		p.line("Pulled %s from %s", r.ProjectName, r.Project.Path())
		p.field("origin", "%s", r.Origin)
	}
	if !filesOnly && (r.Origin != "" || r.SettingsChanged) {
		p.field("settings", "%s", differenceSummary(r.Changes))
		for _, line := range differenceLines(r.Changes) {
			p.line("    %s", line)
		}
		p.field("enrichments", "%d", r.EnrichmentCount)
	}
	if r.FilesResult != nil {
		p.field("base files", "%s", pulledFiles(r))
	}
	if r.UpdatedBy != "" {
		p.field("config", "written by %s on %s through %s", r.UpdatedBy, timeText(r.UpdatedAt), viaText(r.UpdatedVia))
	}
	p.notes(r.Notes)
}

func pulledFiles(r *pull.Result) string {
	if r.Origin == "" {
		return fmt.Sprintf("%d put back", r.FilesResult.Added+r.FilesResult.Changed)
	}
	return fmt.Sprintf("%d (%d added, %d changed)", r.BaseFilesPulled, r.FilesResult.Added, r.FilesResult.Changed)
}
