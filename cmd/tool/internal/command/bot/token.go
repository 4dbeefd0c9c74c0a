package bot

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Token is a token that was created.
type Token struct {
	Origin        string `json:"origin"`
	wire.BotToken `json:",inline"`
	Notes         []string `json:"notes"`
}

func tokenCommand(a *app.App) *cobra.Command {
	var name, expires string
	var scopes []string
	c := &cobra.Command{
		Use:   "token <@account/slug> --name NAME",
		Short: "Create, list and revoke tokens of a bot",
		Long: `Create a token of a bot and print it once, alone on stdout. The token has no
scope that yours lacks, and expires no later than yours.`,
		Example: "  tool bot token @acme/ci --name pipeline\n  tool bot token @acme/gate --name gateway --scope use:limit --expires 52w\n" +
			"  tool bot token list @acme/ci\n  tool bot token revoke @acme/ci 1f0c2d9b8a77",
		Args: cmdline.Exactly("<@account/slug>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			r, err := parse(args[0])
			if err != nil {
				return err
			}
			if name == "" {
				return cmdline.Usagef("a token needs --name").Try(cmdline.Tool("bot", "token").With(r.String()).Flag("--name", "pipeline"))
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
			return failure.Doing(createToken(ctx, a, r, request), "", "create a token of %s", r)
		}),
	}
	f := c.Flags()
	f.StringVar(&name, "name", "", "name the token `NAME`, such as pipeline")
	f.StringArrayVar(&scopes, "scope", []string{string(wire.ScopeWriteConfig)}, "allow this `SCOPE`; repeatable")
	f.StringVar(&expires, "expires", "", "set the `LIFETIME`, such as 12h, 90d or 52w, or never (default 90d, or until your token expires)")
	c.AddCommand(listTokensCommand(a), revokeCommand(a))
	return a.HubFlags(c)
}

func createToken(ctx context.Context, a *app.App, r ref.Ref, request wire.CreateBotToken) error {
	hub, err := a.ConnectToWrite(ctx)
	if err != nil {
		return failure.At("token", err)
	}
	token, err := hub.CreateBotToken(ctx, r, request)
	if err == nil && !pat.Valid(token.Token) {
		err = errors.New("the hub's response has no valid token")
	}
	if err != nil {
		f := app.Explain(hub, err).At("token")
		if f.Code == wire.CodeNotFound {
			f = f.WithRecipe(cmdline.Tool("bot", "create").With(r.String()))
		}
		return f
	}
	shown := Token{Origin: hub.Origin(), BotToken: *token, Notes: []string{"this token is shown once; the hub keeps only its hash"}}
	return a.PrintToken("botToken", shown, token.Token, shown.Notes[0])
}

// Tokens are the valid tokens of a bot.
type Tokens struct {
	Origin         string `json:"origin"`
	wire.BotTokens `json:",inline"`
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
			hub, err := a.Connect()
			if err != nil {
				return failure.Doing(failure.At("list", err), "", "list the tokens of %s", r)
			}
			tokens, err := hub.BotTokens(ctx, r)
			if err != nil {
				f := app.Explain(hub, err).At("list")
				if f.Code == wire.CodeNotFound {
					f = f.WithRecipe(cmdline.Tool("bot", "list").With(r.Account()))
				}
				return failure.Doing(f, "", "list the tokens of %s", r)
			}
			result := Tokens{Origin: hub.Origin(), BotTokens: wire.BotTokens{Bot: r.String(), Tokens: tokens}}
			return a.Print("botTokens", result, func(w *app.Printer) { tokensText(w, r, tokens) })
		}),
	})
}

func tokensText(w *app.Printer, r ref.Ref, tokens []wire.TokenInfo) {
	if len(tokens) == 0 {
		w.Line("%s has no valid tokens", r)
	}
	w.Tokens(tokens)
}

// Revoked are tokens that were revoked.
type Revoked struct {
	Origin string                 `json:"origin"`
	Tokens []wire.RevokedBotToken `json:"tokens"`
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
			for _, id := range args[1:] {
				if err := app.CheckTokenID(id, listLine(r)); err != nil {
					return err
				}
			}
			return revoke(ctx, a, r, args[1:])
		}),
	})
}

// listLine is the command that shows the IDs of a bot's tokens.
func listLine(r ref.Ref) cmdline.Line { return cmdline.Tool("bot", "token", "list").With(r.String()) }

// revoke revokes tokens one after the other. A failure says which ones it has revoked.
func revoke(ctx context.Context, a *app.App, r ref.Ref, ids []string) error {
	hub, err := a.ConnectToWrite(ctx)
	if err != nil {
		return failure.Doing(failure.At("revoke", err), "", "revoke tokens of %s", r)
	}
	result := Revoked{Origin: hub.Origin()}
	for i, id := range ids {
		revoked, err := hub.RevokeBotToken(ctx, r, id)
		if err != nil {
			return failure.Doing(app.ExplainRevocation(hub, err, ids[:i], listLine(r)), "", "revoke the token %s of %s", id, r)
		}
		result.Tokens = append(result.Tokens, *revoked)
	}
	return a.Print("botTokensRevoked", result, func(w *app.Printer) {
		for _, t := range result.Tokens {
			w.Line("Revoked %s (%s of %s)", t.ID, t.Name, t.Bot)
		}
	})
}
