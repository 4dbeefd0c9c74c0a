package publish

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
)

// Options are the flags of publish.
type Options struct {
	DryRun bool // say what would be published
	Force  bool // without asking
}

// Command returns the command publish.
func Command(a *app.App) *cobra.Command {
	var o Options
	c := &cobra.Command{
		Use:   "publish [<project>]",
		Short: "Publish a version of the stack",
		Long: `Publish the stack in .tool/<project>/ with the name and version from its
stack.json. A published version never changes: publishing the same content
again succeeds, other content needs a higher version.`,
		Example: `  tool publish web
  tool publish web --dry-run`,
		Args:              app.MaybeLocal,
		ValidArgsFunction: a.CompleteLocal,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			return Run(ctx, a, strings.Join(args, ""), o)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&o.DryRun, "dry-run", false, "show what would be published without publishing")
	fl.BoolVar(&o.Force, "force", false, "publish without asking")
	return a.HubFlags(c)
}
