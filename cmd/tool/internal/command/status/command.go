package status

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
)

// Command returns the command status.
func Command(a *app.App) *cobra.Command {
	exitCode := false
	c := &cobra.Command{
		Use:   "status [<project>]",
		Short: "Show login, hub and sync status",
		Long: `Show the identity, the hub, and for each local project its destination, whether
you may push to it, how the settings compare with the hub's config, and the
versions of the stack.

The config is same, differs, local-ahead (changed here), hub-ahead (changed on
the hub), both, or none (nothing to compare). If the hub cannot be queried, what
is known without it is printed on stderr, and the exit code is 1.

With --exit-code it is 3 if the settings of a project or an environment that has
a destination are not the same as the hub's config, or cannot be compared.`,
		Example:           "  tool status\n  tool status web --exit-code",
		Args:              app.MaybeLocal,
		ValidArgsFunction: a.CompleteLocal,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			name := strings.Join(args, "")
			return failure.Doing(run(ctx, a, name, exitCode), name, "show the status")
		}),
	}
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 3 if a project is not the same as on the hub")
	return a.HubFlags(a.EnvFlag(c))
}

func run(ctx context.Context, a *app.App, name string, exitCode bool) error {
	locals, err := a.Locals(ctx, name)
	if err != nil {
		return err
	}
	r, err := Look(ctx, a, locals)
	if err != nil {
		if r != nil && !a.JSON { // stdout has results alone
			statusText(a.PrinterTo(a.Streams.Err), r)
		}
		return err
	}
	if err := a.Print("status", r, func(w *app.Printer) { statusText(w, r) }); err != nil || !exitCode || same(r.Projects) {
		return err
	}
	return app.ErrDiffers
}
