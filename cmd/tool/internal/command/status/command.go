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
	c := &cobra.Command{
		Use:   "status [<project>]",
		Short: "Show login, hub and sync status",
		Long: `Show the identity, the hub, and for each local project its destination, whether
you may push to it, how the settings compare with the hub's config, and the
versions of the stack.

The config is same, differs, local-ahead (changed here), hub-ahead (changed on
the hub), both, or none (nothing to compare).`,
		Example:           "  tool status\n  tool status web --json",
		Args:              app.MaybeLocal,
		ValidArgsFunction: a.CompleteLocal,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			name := strings.Join(args, "")
			return failure.Doing(run(ctx, a, name), name, "show the status")
		}),
	}
	return a.HubFlags(c)
}

func run(ctx context.Context, a *app.App, name string) error {
	locals, err := a.Locals(ctx, name)
	if err != nil {
		return err
	}
	r, err := Look(ctx, a, locals)
	if err != nil {
		return err
	}
	return a.Print("status", r, func(w *app.Printer) { statusText(w, r) })
}
