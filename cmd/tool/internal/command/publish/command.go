package publish

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/version"
)

// Options are the flags of publish.
type Options struct {
	DryRun bool   // say what would be published
	Force  bool   // publish without asking, and upload again what is published already
	Bump   string // part of the version to raise first; "": none
}

// parts are the values of --bump.
var parts = []string{string(version.Patch), string(version.Minor), string(version.Major)}

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
			if o.Bump != "" && !slices.Contains(parts, o.Bump) {
				return cmdline.Usagef("--bump is patch, minor or major, not %q", o.Bump)
			}
			return several.Run(ctx, a, args, func(name string) error { return Run(ctx, a, name, o) })
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	several.Flags(a, c)
	fl.StringVar(&o.Bump, "bump", "", "raise this `PART` of the version first: patch, minor or major")
	c.RegisterFlagCompletionFunc("bump", cobra.FixedCompletions(parts, cobra.ShellCompDirectiveNoFileComp))
	fl.BoolVar(&o.DryRun, "dry-run", false, "show what would be published without publishing")
	fl.BoolVar(&o.Force, "force", false, "publish without asking, and upload what is published already again")
	return a.HubFlags(a.EnvFlag(c))
}
