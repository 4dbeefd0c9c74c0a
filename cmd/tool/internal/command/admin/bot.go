package admin

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

// Bot returns the command bot.
func Bot(a *app.App) *cobra.Command {
	list := a.ListCommand(&app.List{
		Name:    "bot",
		Heading: "bots",
		Short:   "List bots: those of your account, or of another one",
		Find:    findBots,
	})
	return cmdline.Group("bot", "Manage bots", createBot(a), list, createBotToken(a), removeBot(a))
}

// aboutBot completes a command about the bot that its first argument names.
func aboutBot(
	a *app.App, c *cobra.Command, do func(ctx context.Context, bot ref.Ref, args []string) error,
) *cobra.Command {
	if c.Args == nil {
		c.Args = cmdline.Exactly("<@account/slug>")
	}
	c.RunE = a.Run(func(ctx context.Context, args []string) error {
		bot, err := app.FullArgument(args[0], "a bot")
		if err != nil {
			return err
		}
		return do(ctx, bot, args[1:])
	})
	return a.HubFlags(c)
}

type bots struct {
	app.Listing `json:",inline"`
	Bots        []wire.Bot `json:"bots"`
}

func (*bots) Kind() string { return "bots" }

func findBots(ctx context.Context, hub *identity.Hub, l app.Listing) (app.Result, error) {
	all, err := hub.Bots(ctx, l.Account)
	for _, b := range all {
		l.Row("@"+b.Account, b.BotRefID, b.BotID)
	}
	return &bots{Listing: l, Bots: all}, err
}

type createdBot struct {
	app.OnHub `json:",inline"`
	Bot       *wire.Bot `json:"bot"`
	Existed   bool      `json:"existed"`
}

func (*createdBot) Kind() string   { return "bot" }
func (*createdBot) Effect() string { return "the bot exists" }

func (r *createdBot) Text(w *app.Printer) {
	if r.Existed {
		w.Head("The bot %s exists already", r.Bot.BotRefID)
	} else {
		w.Head("Created the bot %s", r.Bot.BotRefID)
	}
}

func createBot(a *app.App) *cobra.Command {
	return aboutBot(a, &cobra.Command{
		Use:     "create <@account/slug>",
		Short:   "Create a bot, which can have tokens and rate limits",
		Example: "  tool bot create @acme/ci",
	}, func(ctx context.Context, bot ref.Ref, _ []string) error {
		act := app.Action{Doing: fmt.Sprintf("create the bot %s", bot), Writes: true}
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
			created, isNew, err := hub.CreateBot(ctx, bot)
			return &createdBot{Bot: created, Existed: !isNew}, err
		})
	})
}

type removedBot struct {
	app.OnHub        `json:",inline"`
	*wire.DeletedBot `json:",inline"`
}

func (*removedBot) Kind() string   { return "botRemoved" }
func (*removedBot) Effect() string { return "the bot is gone" }

func (r *removedBot) Text(w *app.Printer) {
	if r.Existed {
		w.Head("Deleted the bot %s; revoked tokens: %d", r.Bot, r.Revoked)
	} else {
		w.Head("The bot %s was gone already", r.Bot)
	}
}

func removeBot(a *app.App) *cobra.Command {
	var force bool
	c := aboutBot(a, &cobra.Command{
		Use:   "rm <@account/slug>",
		Short: "Delete a bot and revoke its tokens",
		Long: `Delete a bot with its rate limits, and revoke its tokens immediately. The
history of configs keeps its name.

Deleting a bot that does not exist succeeds. A terminal asks you to type the
full name, unless --force is given. The token needs the scope admin:resource.`,
		Example: "  tool bot rm @acme/ci",
	}, func(ctx context.Context, bot ref.Ref, _ []string) error {
		act := app.Action{Doing: fmt.Sprintf("delete the bot %s", bot), Writes: true}
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
			title := fmt.Sprintf("Delete the bot %s for good?", bot)
			fact := "Its tokens are revoked, and its rate limits are deleted, too."
			if err := a.ConfirmRef(ctx, force, title, fact, bot); err != nil {
				return nil, err
			}
			deleted, err := hub.DeleteBot(ctx, bot)
			return &removedBot{DeletedBot: deleted}, err
		})
	})
	c.Flags().BoolVar(&force, "force", false, "delete without asking")
	return c
}

type createdBotToken struct {
	app.OnHub      `json:",inline"`
	*wire.BotToken `json:",inline"`
	app.NewToken   `json:",inline"`
}

func (*createdBotToken) Kind() string          { return "botToken" }
func (r *createdBotToken) Text(w *app.Printer) { w.Secret(r.Token) }

func createBotToken(a *app.App) *cobra.Command {
	var f tokenFlags
	c := aboutBot(a, &cobra.Command{
		Use:   "token <@account/slug> --name NAME",
		Short: "Create, list and revoke tokens of a bot",
		Long: `Create a token of a bot and print it once, alone on stdout. The token has no
scope that yours lacks, and expires no later than yours.`,
		Example: `  tool bot token @acme/ci --name pipeline
  tool bot token @acme/gate --name gateway --scope use:limit --expires 52w
  tool bot token list @acme/ci
  tool bot token revoke @acme/ci 1f0c2d9b8a77`,
	}, func(ctx context.Context, bot ref.Ref, _ []string) error {
		if err := f.check(cmdline.Tool("bot", "token").With(bot.String()).Flag("--name", "pipeline")); err != nil {
			return err
		}
		request := wire.CreateBotToken{Name: f.name, Scopes: f.wireScopes(), Lifetime: f.expires}
		act := app.Action{
			Doing:  fmt.Sprintf("create a token of %s", bot),
			Writes: true,
			Next:   cmdline.Tool("bot", "create").With(bot.String()),
		}
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
			token, err := hub.CreateBotToken(ctx, bot, request)
			return &createdBotToken{BotToken: token, NewToken: app.ShownOnce()}, err
		})
	})
	fs := c.Flags()
	fs.StringVar(&f.name, "name", "", "name the token `NAME`, such as pipeline")
	fs.StringArrayVar(&f.scopes, "scope", []string{string(wire.ScopeWriteConfig)}, "allow this `SCOPE`; repeatable")
	c.RegisterFlagCompletionFunc("scope", app.OneOf(wire.Scopes...))
	fs.StringVar(&f.expires, "expires", "", expiresUsage)
	c.AddCommand(listBotTokens(a), revokeBotTokens(a))
	return c
}

type botTokens struct {
	app.OnHub      `json:",inline"`
	wire.BotTokens `json:",inline"`
}

func (*botTokens) Kind() string { return "botTokens" }

func (r *botTokens) Text(w *app.Printer) {
	if len(r.Tokens) == 0 {
		w.Line("%s has no valid tokens", r.Bot)
	}
	writeTokens(w, r.Tokens)
}

func listBotTokens(a *app.App) *cobra.Command {
	return aboutBot(a, &cobra.Command{
		Use:     "list <@account/slug>",
		Short:   "List the valid tokens of a bot without their secrets",
		Example: "  tool bot token list @acme/ci",
	}, func(ctx context.Context, bot ref.Ref, _ []string) error {
		act := app.Action{
			Doing: "list the tokens of " + bot.String(),
			Next:  cmdline.Tool("bot", "list").With(bot.Account()),
		}
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
			all, err := hub.BotTokens(ctx, bot)
			return &botTokens{BotTokens: wire.BotTokens{Bot: bot.String(), Tokens: all}}, err
		})
	})
}

type revokedBotTokens struct {
	app.OnHub `json:",inline"`
	Tokens    []*wire.RevokedBotToken `json:"tokens"`
}

func (*revokedBotTokens) Kind() string   { return "botTokensRevoked" }
func (*revokedBotTokens) Effect() string { return "the tokens were revoked" }

func (r *revokedBotTokens) Text(w *app.Printer) {
	for _, t := range r.Tokens {
		w.Line("Revoked %s (%s of %s)", t.ID, t.Name, t.Bot)
	}
}

func revokeBotTokens(a *app.App) *cobra.Command {
	return aboutBot(a, &cobra.Command{
		Use:     "revoke <@account/slug> <id>…",
		Short:   "Revoke tokens of a bot immediately",
		Example: "  tool bot token revoke @acme/ci 1f0c2d9b8a77",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cmdline.Usagef("%s takes a bot and IDs of its tokens: tool bot token list shows them", c.CommandPath())
			}
			return nil
		},
	}, func(ctx context.Context, bot ref.Ref, ids []string) error {
		list := cmdline.Tool("bot", "token", "list").With(bot.String())
		if err := checkIDs(ids, list); err != nil {
			return err
		}
		act := app.Action{Doing: fmt.Sprintf("revoke tokens of %s", bot), Writes: true, Next: list}
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
			revoked, err := revokeEach(ids, " of "+bot.String(), func(id string) (*wire.RevokedBotToken, error) {
				return hub.RevokeBotToken(ctx, bot, id)
			})
			return &revokedBotTokens{Tokens: revoked}, err
		})
	})
}
