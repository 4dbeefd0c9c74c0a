package api

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Removed is an API that is gone.
type Removed struct {
	wire.DeletedAPI `json:",inline"`
	Origin          string `json:"origin"`
}

func removeCommand(a *app.App) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "rm " + argument,
		Short: "Delete a registered API",
		Long: `Delete a registered API, unless a project uses it. Deleting an API that does
not exist succeeds. A terminal asks you to type the full name, unless --force is
given. The token needs the scope admin:resource.`,
		Example: "  tool api rm @acme/pets\n  tool api rm @acme/pets --force",
		Args:    cmdline.Exactly(argument),

		ValidArgsFunction: app.FirstOnly(registered(a)),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			target, err := named(ctx, a, args[0])
			if err != nil {
				return err
			}
			return failure.Doing(failure.At(app.StageRemove, remove(ctx, a, target, force)), "", "delete %s", target)
		}),
	}
	c.Flags().BoolVar(&force, "force", false, "delete without asking")
	return a.HubFlags(a.EnvFlag(c))
}

// remove deletes an API, and asks first where it can.
func remove(ctx context.Context, a *app.App, target ref.Ref, force bool) error {
	hub, err := a.Connect()
	if err != nil {
		return err
	}
	if !a.Strict() && !force {
		yes, err := a.UI.TypeRef(ctx, fmt.Sprintf("Delete the API %s for good?", target), "An API that projects use is not deleted.", target)
		if err != nil {
			return err
		}
		if !yes {
			return a.Aborted(&app.Aborted{Origin: hub.Origin()})
		}
	}
	deleted, err := hub.DeleteAPI(ctx, target)
	if err != nil {
		return app.Explain(hub, err)
	}
	r := Removed{DeletedAPI: *deleted, Origin: hub.Origin()}
	return a.Print("apiRemoved", r, func(w *app.Printer) {
		if r.Existed {
			w.Line("Deleted the API %s", r.API)
		} else {
			w.Line("The API %s was gone already", r.API)
		}
		w.Field("origin", "%s", r.Origin)
	})
}
