// Package bot manages the bots of an account.
package bot

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Command returns the command bot.
func Command(a *app.App) *cobra.Command {
	return cmdline.Group("bot", "Manage bots", createCommand(a), a.ListCommand(&app.List{
		Name: "bot", Heading: "bots", Short: "List bots: those of your account, or of another one", Find: find,
	}), tokenCommand(a), removeCommand(a))
}

// list is a list of bots.
type list struct {
	app.Listing `json:",inline"`
	Bots        []wire.Bot `json:"bots"`
}

func (*list) Kind() string { return "bots" }

func find(ctx context.Context, hub *identity.Hub, l app.Listing) (app.Result, error) {
	all, err := hub.Bots(ctx, l.Account)
	for _, b := range all {
		l.Row("@"+b.Account, b.BotRefID, b.BotID)
	}
	return &list{l, all}, err
}

func parse(text string) (ref.Ref, error) { return app.ParseArgument(text, "a bot") }

// created is a bot.
type created struct {
	app.OnHub `json:",inline"`
	Bot       *wire.Bot `json:"bot"`
	Existed   bool      `json:"existed"`
}

func (*created) Kind() string   { return "bot" }
func (*created) Effect() string { return "the bot exists" }

func (r *created) Text(w *app.Printer) {
	if r.Existed {
		w.Head("The bot %s exists already", r.Bot.BotRefID)
	} else {
		w.Head("Created the bot %s", r.Bot.BotRefID)
	}
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
			act := app.Action{Doing: fmt.Sprintf("create the bot %s", r), Writes: true}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				bot, isNew, err := hub.CreateBot(ctx, r)
				return &created{Bot: bot, Existed: !isNew}, err
			})
		}),
	})
}

// removed is a bot that is gone.
type removed struct {
	app.OnHub `json:",inline"`
	Bot       string `json:"bot"`
	Existed   bool   `json:"existed"`
	Revoked   int    `json:"revoked"` // valid tokens that were revoked
}

func (*removed) Kind() string   { return "botRemoved" }
func (*removed) Effect() string { return "the bot is gone" }

func (r *removed) Text(w *app.Printer) {
	if r.Existed {
		w.Head("Deleted the bot %s; revoked tokens: %d", r.Bot, r.Revoked)
	} else {
		w.Head("The bot %s was gone already", r.Bot)
	}
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
			act := app.Action{Doing: fmt.Sprintf("delete the bot %s", r), Writes: true}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				title := fmt.Sprintf("Delete the bot %s for good?", r)
				fact := "Its tokens are revoked, and its rate limits are deleted, too."
				if err := a.ConfirmRef(ctx, force, title, fact, r); err != nil {
					return nil, err
				}
				d, err := hub.DeleteBot(ctx, r)
				if err != nil {
					return nil, err
				}
				return &removed{Bot: r.String(), Existed: d.Existed, Revoked: d.Revoked}, nil
			})
		}),
	}
	c.Flags().BoolVar(&force, "force", false, "delete without asking")
	return a.HubFlags(c)
}
