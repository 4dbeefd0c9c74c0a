// Package token manages the caller's own tokens.
package token

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Command returns the command token.
func Command(a *app.App) *cobra.Command {
	return cmdline.Group("token", "Manage your tokens", createCommand(a), listCommand(a), revokeCommand(a))
}

// Created is a token that was created.
type Created struct {
	Origin            string `json:"origin"`
	wire.CreatedToken `json:",inline"`
	Notes             []string `json:"notes"`
}

// flags are those of create.
type flags struct {
	name, account, project, expires string
	scopes                          []string
	readOnly                        bool
}

func createCommand(a *app.App) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "create --name NAME",
		Short: "Create a token that can do no more than yours",
		Long: `Create a token of yours and print it once, alone on stdout. It has no scope that
your present token lacks, expires no later, and is revoked with it.

With --account or --project it works there alone: elsewhere, what is private
does not exist for it. Such a token creates no tokens. For a pipeline, a bot is
better: its tokens do not end with yours.`,
		Example: "  tool token create --name laptop\n  tool token create --name dashboard --read-only --account acme\n" +
			"  tool token create --name helper --project @acme/web --expires 7d",
		Args: cmdline.Exactly(),
		RunE: a.Run(func(ctx context.Context, _ []string) error {
			request, err := f.request()
			if err != nil {
				return err
			}
			return failure.Doing(create(ctx, a, request), "", "create a token")
		}),
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.name, "name", "", "name the token `NAME`, such as laptop")
	fs.StringArrayVar(&f.scopes, "scope", nil, "allow this `SCOPE`; repeatable (default write:config)")
	fs.BoolVar(&f.readOnly, "read-only", false, "allow no scope, so that the token can only read")
	fs.StringVar(&f.account, "account", "", "restrict the token to this `ACCOUNT`")
	fs.StringVar(&f.project, "project", "", "restrict the token to the project `REF`, @account/slug")
	fs.StringVar(&f.expires, "expires", "", "set the `LIFETIME`, such as 12h, 90d or 52w, or never (default 90d, or until your token expires)")
	return a.HubFlags(c)
}

func (f *flags) request() (r wire.CreateToken, err error) {
	if f.name == "" {
		return r, cmdline.Usagef("a token needs --name").Try(cmdline.Tool("token", "create").Flag("--name", "laptop"))
	}
	if f.readOnly && f.scopes != nil || f.account != "" && f.project != "" {
		return r, cmdline.Usagef("--scope and --read-only exclude each other, and so do --account and --project")
	}
	if f.expires != "" {
		if _, err := pat.ParseLifetime(f.expires); err != nil {
			return r, cmdline.Usagef("--expires: %v", err)
		}
	}
	r = wire.CreateToken{Name: f.name, Lifetime: f.expires}
	if f.account != "" {
		if r.Account = strings.TrimPrefix(f.account, "@"); !ref.ValidName(r.Account) {
			return r, cmdline.Usagef("--account: %q is not an account: an account is %s", f.account, ref.Rule)
		}
	}
	if f.project != "" {
		if r.Project, err = ref.Parse(f.project); err != nil {
			return r, cmdline.Usagef("--project: %q is not a project: a project is @account/slug", f.project)
		}
	}
	for _, scope := range f.scopes {
		r.Scopes = append(r.Scopes, wire.Scope(scope))
	}
	if f.scopes == nil && !f.readOnly {
		r.Scopes = []wire.Scope{wire.ScopeWriteConfig}
	}
	return r, nil
}

func create(ctx context.Context, a *app.App, request wire.CreateToken) error {
	hub, err := a.ConnectToWrite(ctx)
	if err != nil {
		return failure.At("create", err)
	}
	token, err := hub.CreateToken(ctx, request)
	if err == nil && !pat.Valid(token.Token) {
		err = errors.New("the hub's response has no valid token")
	}
	if err != nil {
		return app.Explain(hub, err).At("create")
	}
	shown := Created{Origin: hub.Origin(), CreatedToken: *token, Notes: []string{"this token is shown once; the hub keeps only its hash"}}
	return a.PrintToken("token", shown, token.Token, shown.Notes[0])
}

// Listed are the valid tokens of the caller.
type Listed struct {
	Origin string           `json:"origin"`
	Tokens []wire.TokenInfo `json:"tokens"`
}

func listCommand(a *app.App) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:     "list",
		Short:   "List your valid tokens without their secrets",
		Example: "  tool token list",
		Args:    cmdline.Exactly(),
		RunE: a.Run(func(ctx context.Context, _ []string) error {
			hub, err := a.Connect()
			if err != nil {
				return failure.Doing(failure.At("list", err), "", "list tokens")
			}
			tokens, err := hub.Tokens(ctx)
			if err != nil {
				return failure.Doing(app.Explain(hub, err).At("list"), "", "list tokens")
			}
			return a.Print("tokens", Listed{Origin: hub.Origin(), Tokens: tokens}, func(w *app.Printer) { w.Tokens(tokens) })
		}),
	})
}

// Revoked are tokens that were revoked.
type Revoked struct {
	Origin    string              `json:"origin"`
	Tokens    []wire.RevokedToken `json:"tokens"`
	LoggedOut bool                `json:"loggedOut"` // the stored token was one of them
	Notes     []string            `json:"notes"`
}

func revokeCommand(a *app.App) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:   "revoke <id>…|self",
		Short: "Revoke tokens immediately",
		Long: `Revoke tokens of yours immediately, and what was created with them: tokens and
sessions. tool token list shows the IDs; revoking another token than the one in
use needs the scope admin:resource.

self is the token in use. If it is the one that tool login stored, it is
forgotten, too: this machine is logged out.`,
		Example: "  tool token revoke 1f0c2d9b8a77\n  tool token revoke self",
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return cmdline.Usagef("tool token revoke takes IDs of tokens, or self").Try(listLine)
			}
			for _, id := range args {
				if id == wire.TokenSelf {
					continue
				}
				if err := app.CheckTokenID(id, listLine); err != nil {
					return err
				}
			}
			hub, err := a.ConnectToWrite(ctx)
			if err != nil {
				return failure.Doing(failure.At("revoke", err), "", "revoke tokens")
			}
			return revoke(ctx, a, hub, args)
		}),
	})
}

// listLine is the command that shows the IDs of the caller's tokens.
var listLine = cmdline.Tool("token", "list")

// maxAlsoRevoked bounds how many tokens text mode names that ended with another one.
const maxAlsoRevoked = 10

// revoke revokes tokens one after the other, the one in use last. A failure says which
// ones it has revoked.
func revoke(ctx context.Context, a *app.App, hub *identity.Hub, ids []string) error {
	result := Revoked{Origin: hub.Origin(), Notes: []string{}}
	ids = inUseLast(ids, hub)
	for i, id := range ids {
		revoked, err := hub.RevokeToken(ctx, id)
		if err != nil {
			return failure.Doing(app.ExplainRevocation(hub, err, ids[:i], listLine), "", "revoke the token %s", id)
		}
		result.Tokens = append(result.Tokens, *revoked)
		if id == wire.TokenSelf { // as the token in use is called by now; what the hub says of another one does not matter
			if err := result.logOut(a, hub); err != nil {
				return failure.Doing(failure.At("revoke", err), "", "log out")
			}
		}
	}
	return a.Print("tokensRevoked", result, func(w *app.Printer) {
		for _, t := range result.Tokens {
			if t.ID == "" {
				w.Line("The token in use was revoked already")
				continue
			}
			w.Line("Revoked %s (%s)", t.ID, t.Name)
			var also []string
			for _, with := range t.AlsoRevoked {
				also = append(also, fmt.Sprintf("%s (%s)", with.ID, with.Name))
			}
			if also != nil {
				w.Line("Revoked with it: %s", cmdline.Shortlist(also, maxAlsoRevoked))
			}
		}
		if result.LoggedOut {
			w.Line("Logged out of %s", result.Origin)
		}
		w.Notes(result.Notes)
	})
}

// inUseLast puts the token in use behind the others, which it revokes.
func inUseLast(ids []string, hub *identity.Hub) []string {
	own := pat.ID(hub.Identity.Token)
	var others, last []string
	for _, id := range ids {
		if id == wire.TokenSelf || id == own {
			last = []string{wire.TokenSelf}
		} else {
			others = append(others, id)
		}
	}
	return append(others, last...)
}

// logOut forgets the token in use if it is the stored one.
func (r *Revoked) logOut(a *app.App, hub *identity.Hub) error {
	if hub.Identity.TokenSource != identity.FromLogin {
		r.Notes = append(r.Notes, "the token that the "+hub.Identity.TokenSource.Phrase()+" gives is no longer valid")
		return nil
	}
	logins, err := a.Logins()
	if err != nil {
		return err
	}
	r.LoggedOut = logins.Remove(hub.Origin())
	return logins.Save()
}
