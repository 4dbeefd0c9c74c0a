package publish

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
)

// Options are the flags of publish.
type Options struct {
	DryRun bool // say what would be published
	Force  bool // without asking, and also what is published already
	Bump   string
	Format string // of a dry run: text or markdown
}

// Command returns the command publish.
func Command(a *app.App) *cobra.Command {
	var o Options
	var several app.Several
	c := &cobra.Command{
		Use:   "publish [<project>...]",
		Short: "Publish a version of the stack",
		Long: `Publish the stack in .tool/<project>/ with the name and version from its
stack.json. A published version never changes: publishing the same content
again succeeds, other content needs a higher version. With --force the same
content is uploaded again, and replaces what is damaged on the hub. An
environment says which hub it is published to; its settings are not part of a
stack.

--bump raises the version in stack.json first. When publishing fails, the
version is restored if it is certain that nothing was published; otherwise it
stays, and publishing again without --bump is safe.`,
		Example: `  tool publish web
  tool publish web --bump minor
  tool publish web --dry-run`,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if err := a.CheckFormat(o.Format); err != nil {
				return err
			}
			if o.Format == app.FormatMarkdown && !o.DryRun {
				return cmdline.Usagef("--format markdown goes with --dry-run")
			}
			return several.Run(ctx, a, args, func(name string) error { return Run(ctx, a, name, o) })
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	several.Flags(a, c)
	o.bumpFlag(c)
	fl.BoolVar(&o.DryRun, "dry-run", false, "show what would be published without publishing")
	fl.BoolVar(&o.Force, "force", false, "publish without asking, and upload what is published already again")
	app.FormatFlag(c, &o.Format)
	return a.HubFlags(a.EnvFlag(c))
}
