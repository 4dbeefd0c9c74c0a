package diff

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
)

// Options say what is compared, and how the difference is shown.
type Options struct {
	Project app.Optional // compared with; not given: client.json's
	To      app.Optional // revision to compare with; not given: the present config

	ExitCode, NameOnly, Full bool

	Format string
}

// Command returns the command diff.
func Command(a *app.App) *cobra.Command {
	var o Options
	var several app.Several
	c := &cobra.Command{
		Use:   "diff [<project>...]",
		Short: "Compare local settings with the hub's config",
		Long: `Compare the settings of a local project with its config on the hub, key by key:
+ only here, ~ different here, - only on the hub. This is what a push would
change. Changes nothing.

--to compares with an earlier config: tool log lists them, and a revision can be
abbreviated.`,
		Example: `  tool diff web
  tool diff web --to 461f583aadb4
  tool diff web --exit-code --name-only`,
		RunE: a.RunReading(func(ctx context.Context, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if err := a.CheckFormat(o.Format); err != nil {
				return err
			}
			return several.Run(ctx, a, args, func(name string) error { return run(ctx, a, name, o) })
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	several.Flags(a, c, "project", "to", "name-only")
	fl.Var(&o.Project, "project", "compare with `@ACCOUNT/SLUG` instead of client.json's project")
	fl.Var(&o.To, "to", "compare with this `REVISION` of the config instead of the present one")
	fl.BoolVar(&o.ExitCode, "exit-code", false, "exit with 3 if there is a difference")
	fl.BoolVar(&o.NameOnly, "name-only", false, "print only the keys, one on a line")
	fl.BoolVar(&o.Full, "full", false, "print all keys and whole values, however many and long")
	app.FormatFlag(c, &o.Format)
	c.RegisterFlagCompletionFunc("project", a.HubProjects())
	return a.HubFlags(a.EnvFlag(c))
}

// check refuses flags that make no sense, alone or together.
func (o *Options) check() error {
	if o.NameOnly && o.Full {
		return cmdline.Usagef("--name-only and --full exclude each other")
	}
	if o.To.Given() {
		return app.CheckRevision("--to", o.To.String())
	}
	return nil
}
