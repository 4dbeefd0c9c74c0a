// Package bot manages the bots of an account.
package bot

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Command returns the command bot.
func Command(a *app.App) *cobra.Command {
	return cmdline.Group("bot", "Manage bots", createCommand(a), a.ListCommand(&app.List{
		Name: "bot", Kind: "bots", Heading: "bots", Short: "List bots: those of your account, or of another one", Find: find,
	}), tokenCommand(a), removeCommand(a))
}

// Listed is a list of bots.
type Listed struct {
	Origin  string     `json:"origin"`
	Account string     `json:"account,omitzero"`
	Bots    []wire.Bot `json:"bots"`
}

func find(ctx context.Context, hub *identity.Hub, account string) (any, [][]string, error) {
	all, err := hub.Bots(ctx, account)
	var rows [][]string
	for _, b := range all {
		rows = append(rows, []string{"@" + b.Account, b.BotRefID, b.BotID})
	}
	return Listed{Origin: hub.Origin(), Account: account, Bots: all}, rows, err
}

func parse(text string) (ref.Ref, error) { return app.ParseArgument(text, "a bot") }

// Created is a bot.
type Created struct {
	Origin  string   `json:"origin"`
	Bot     wire.Bot `json:"bot"`
	Existed bool     `json:"existed"`
}

func createCommand(a *app.App) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:     "create <@account/slug>",
		Short:   "Create a bot, which can have tokens and rate limits",
		Example: "  tool bot create @acme/ci",
		Args:    cmdline.Exactly("<@account/slug>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			r, err := parse(args[0])
			if err != nil {
				return err
			}
			hub, err := a.ConnectToWrite(ctx)
			if err != nil {
				return failure.Doing(failure.At("create", err), "", "create the bot %s", r)
			}
			bot, created, err := hub.CreateBot(ctx, r)
			if err != nil {
				return failure.Doing(app.Explain(hub, err).At("create"), "", "create the bot %s", r)
			}
			return a.Print("bot", Created{Origin: hub.Origin(), Bot: *bot, Existed: !created}, func(w *app.Printer) {
				if created {
					w.Line("Created the bot %s", r)
				} else {
					w.Line("The bot %s exists already", r)
				}
				w.Field("origin", "%s", hub.Origin())
			})
		}),
	})
}
