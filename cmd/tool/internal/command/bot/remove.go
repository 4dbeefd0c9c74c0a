package bot

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/ref"
)

// Removed is a bot that is gone.
type Removed struct {
	Origin  string `json:"origin"`
	Bot     string `json:"bot"`
	Existed bool   `json:"existed"`
	Revoked int    `json:"revoked"` // valid tokens that were revoked

	// Ambiguous: whether it was gone already, or an attempt without a response has
	// deleted it, is not known. Existed is then false.
	Ambiguous bool `json:"ambiguous,omitzero"`
}

func removeCommand(a *app.App) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "rm <@account/slug>",
		Short: "Delete a bot and revoke its tokens",
		Long: `Delete a bot with its rate limits, and revoke its tokens immediately. The
history of configs keeps its name.

Deleting a bot that does not exist succeeds. A terminal asks you to type the
full name, unless --force is given. The token needs the scope admin:resource.`,
		Example: "  tool bot rm @acme/ci",
		Args:    cmdline.Exactly("<@account/slug>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			r, err := parse(args[0])
			if err != nil {
				return err
			}
			return failure.Doing(remove(ctx, a, r, force), "", "delete the bot %s", r)
		}),
	}
	c.Flags().BoolVar(&force, "force", false, "delete without asking")
	return a.HubFlags(c)
}

func remove(ctx context.Context, a *app.App, r ref.Ref, force bool) error {
	hub, err := a.ConnectToWrite(ctx)
	if err != nil {
		return failure.At(app.StageRemove, err)
	}
	if !a.Strict() && !force {
		yes, err := a.UI.TypeRef(ctx, fmt.Sprintf("Delete the bot %s for good?", r), "Its tokens are revoked, and its rate limits are deleted, too.", r)
		switch {
		case err != nil:
			return failure.At(app.StageRemove, err)
		case !yes:
			return a.Aborted(&app.Aborted{Origin: hub.Origin()})
		}
	}
	deleted, err := hub.DeleteBot(ctx, r)
	if err != nil {
		return app.Explain(hub, err).At(app.StageRemove)
	}
	result := Removed{Origin: hub.Origin(), Bot: r.String(), Existed: deleted.Existed, Revoked: deleted.Revoked, Ambiguous: deleted.Ambiguous}
	return a.Print("botRemoved", result, func(w *app.Printer) { removedText(w, &result) })
}

func removedText(w *app.Printer, r *Removed) {
	switch {
	case r.Existed:
		w.Line("Deleted the bot %s; revoked tokens: %d", r.Bot, r.Revoked)
	case r.Ambiguous:
		w.Line("The bot %s does not exist now", r.Bot)
	default:
		w.Line("The bot %s was gone already", r.Bot)
	}
	w.Field("origin", "%s", r.Origin)
}
