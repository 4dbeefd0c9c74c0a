package bot

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
)

// createdToken is a token that was created.
type createdToken struct {
	app.OnHub      `json:",inline"`
	*wire.BotToken `json:",inline"`
	app.NewToken   `json:",inline"`
}

func (*createdToken) Kind() string { return "botToken" }

func tokenCommand(a *app.App) *cobra.Command {
	var name, expires string
	var scopes []string
	c := &cobra.Command{
		Use:   "token <@account/slug> --name NAME",
		Short: "Create, list and revoke tokens of a bot",
		Long: `Create a token of a bot and print it once, alone on stdout. The token has no
scope that yours lacks, and expires no later than yours.`,
		Example: `  tool bot token @acme/ci --name pipeline
  tool bot token @acme/gate --name gateway --scope use:limit --expires 52w
  tool bot token list @acme/ci
  tool bot token revoke @acme/ci 1f0c2d9b8a77`,
		Args: cmdline.Exactly("<@account/slug>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			r, err := parse(args[0])
			if err != nil {
				return err
			}
			if name == "" {
				line := cmdline.Tool("bot", "token").With(r.String()).Flag("--name", "pipeline")
				return cmdline.Usagef("a token needs --name").Try(line)
			}
			if expires != "" {
				if _, err := pat.ParseLifetime(expires); err != nil {
					return cmdline.Usagef("--expires: %v", err)
				}
			}
			request := wire.CreateBotToken{Name: name, Lifetime: expires}
			for _, scope := range scopes {
				request.Scopes = append(request.Scopes, wire.Scope(scope))
			}
			act := app.Action{
				Doing: fmt.Sprintf("create a token of %s", r), Writes: true,
				Next: cmdline.Tool("bot", "create").With(r.String()),
			}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				token, err := hub.CreateBotToken(ctx, r, request)
				if err != nil {
					return nil, err
				}
				secret, err := app.CheckNewToken(token.Token)
				return &createdToken{BotToken: token, NewToken: secret}, err
			})
		}),
	}
	f := c.Flags()
	f.StringVar(&name, "name", "", "name the token `NAME`, such as pipeline")
	f.StringArrayVar(&scopes, "scope", []string{string(wire.ScopeWriteConfig)}, "allow this `SCOPE`; repeatable")
	f.StringVar(&expires, "expires", "", app.ExpiresUsage)
	c.AddCommand(listTokensCommand(a), revokeCommand(a))
	return a.HubFlags(c)
}

// tokens are the valid tokens of a bot.
type tokens struct {
	app.OnHub      `json:",inline"`
	wire.BotTokens `json:",inline"`
}

func (*tokens) Kind() string { return "botTokens" }

func (r *tokens) Text(w *app.Printer) {
	if len(r.Tokens) == 0 {
		w.Line("%s has no valid tokens", r.Bot)
	}
	w.Tokens(r.Tokens)
}

func listTokensCommand(a *app.App) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:     "list <@account/slug>",
		Short:   "List the valid tokens of a bot without their secrets",
		Example: "  tool bot token list @acme/ci",
		Args:    cmdline.Exactly("<@account/slug>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			r, err := parse(args[0])
			if err != nil {
				return err
			}
			act := app.Action{Doing: "list the tokens of " + r.String(), Next: cmdline.Tool("bot", "list").With(r.Account())}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				all, err := hub.BotTokens(ctx, r)
				return &tokens{BotTokens: wire.BotTokens{Bot: r.String(), Tokens: all}}, err
			})
		}),
	})
}

// revoked are tokens that were revoked.
type revoked struct {
	app.OnHub `json:",inline"`
	Tokens    []wire.RevokedBotToken `json:"tokens"`
}

func (*revoked) Kind() string   { return "botTokensRevoked" }
func (*revoked) Effect() string { return "the tokens were revoked" }

func (r *revoked) Text(w *app.Printer) {
	for _, t := range r.Tokens {
		w.Line("Revoked %s (%s of %s)", t.ID, t.Name, t.Bot)
	}
}

func revokeCommand(a *app.App) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:     "revoke <@account/slug> <id>…",
		Short:   "Revoke tokens of a bot immediately",
		Example: "  tool bot token revoke @acme/ci 1f0c2d9b8a77",
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if len(args) < 2 {
				return cmdline.Usagef("tool bot token revoke takes a bot and IDs of its tokens: tool bot token list shows them")
			}
			r, err := parse(args[0])
			if err != nil {
				return err
			}
			ids, list := args[1:], cmdline.Tool("bot", "token", "list").With(r.String())
			for _, id := range ids {
				if err := app.CheckTokenID(id, list); err != nil {
					return err
				}
			}
			act := app.Action{Doing: fmt.Sprintf("revoke tokens of %s", r), Writes: true, Next: list}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				result := &revoked{}
				for i, id := range ids {
					t, err := hub.RevokeBotToken(ctx, r, id)
					if err != nil {
						return nil, app.NotRevoked(err, fmt.Sprintf("the token %s of %s", id, r), ids[:i])
					}
					result.Tokens = append(result.Tokens, *t)
				}
				return result, nil
			})
		}),
	})
}
