// Package token manages the caller's own tokens.
package token

import (
	"context"
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

// created is a token that was created.
type created struct {
	app.OnHub          `json:",inline"`
	*wire.CreatedToken `json:",inline"`
	app.NewToken       `json:",inline"`
}

func (*created) Kind() string { return "token" }

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
			act := app.Action{Doing: "create a token", Writes: true}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				token, err := hub.CreateToken(ctx, request)
				if err != nil {
					return nil, err
				}
				secret, err := app.CheckNewToken(token.Token)
				return &created{CreatedToken: token, NewToken: secret}, err
			})
		}),
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.name, "name", "", "name the token `NAME`, such as laptop")
	fs.StringArrayVar(&f.scopes, "scope", nil, "allow this `SCOPE`; repeatable (default write:config)")
	fs.BoolVar(&f.readOnly, "read-only", false, "allow no scope, so that the token can only read")
	fs.StringVar(&f.account, "account", "", "restrict the token to this `ACCOUNT`")
	fs.StringVar(&f.project, "project", "", "restrict the token to the project `REF`, @account/slug")
	fs.StringVar(&f.expires, "expires", "", app.ExpiresUsage)
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

// list are the valid tokens of the caller.
type list struct {
	app.OnHub `json:",inline"`
	Tokens    []wire.TokenInfo `json:"tokens"`
}

func (*list) Kind() string          { return "tokens" }
func (r *list) Text(w *app.Printer) { w.Tokens(r.Tokens) }

func listCommand(a *app.App) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:     "list",
		Short:   "List your valid tokens without their secrets",
		Example: "  tool token list",
		Args:    cmdline.Exactly(),
		RunE: a.Run(func(ctx context.Context, _ []string) error {
			return a.Call(ctx, app.Action{Doing: "list tokens"}, func(hub *identity.Hub) (app.Result, error) {
				tokens, err := hub.Tokens(ctx)
				return &list{Tokens: tokens}, err
			})
		}),
	})
}

// revoked are tokens that were revoked.
type revoked struct {
	app.OnHub `json:",inline"`
	Tokens    []wire.RevokedToken `json:"tokens"`
	LoggedOut bool                `json:"loggedOut"` // the stored token was one of them
	app.Noted `json:",inline"`
}

func (*revoked) Kind() string   { return "tokensRevoked" }
func (*revoked) Effect() string { return "the tokens were revoked" }

func (r *revoked) Text(w *app.Printer) {
	for _, t := range r.Tokens {
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
	if r.LoggedOut {
		w.Line("Logged out of %s", r.Origin)
	}
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
			act := app.Action{Doing: "revoke tokens", Writes: true, Next: listLine}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) { return revoke(ctx, a, hub, args) })
		}),
	})
}

// listLine is the command that shows the IDs of the caller's tokens.
var listLine = cmdline.Tool("token", "list")

// maxAlsoRevoked bounds how many tokens text mode names that ended with another one.
const maxAlsoRevoked = 10

// revoke revokes tokens one after the other, the one in use last. A failure says which
// ones it has revoked.
func revoke(ctx context.Context, a *app.App, hub *identity.Hub, ids []string) (*revoked, error) {
	r := &revoked{}
	ids = inUseLast(ids, hub)
	for i, id := range ids {
		t, err := hub.RevokeToken(ctx, id)
		if err != nil {
			return nil, app.NotRevoked(err, "the token "+id, ids[:i])
		}
		r.Tokens = append(r.Tokens, *t)
		if id == wire.TokenSelf { // as the token in use is called by now; what the hub says of another one does not matter
			if err := r.logOut(a, hub); err != nil {
				return nil, failure.Doing(err, "", "log out")
			}
		}
	}
	return r, nil
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
func (r *revoked) logOut(a *app.App, hub *identity.Hub) error {
	if hub.Identity.TokenSource != identity.FromLogin {
		r.Note("the token that the %s gives is no longer valid", hub.Identity.TokenSource.Phrase())
		return nil
	}
	logins, err := a.Logins()
	if err != nil {
		return err
	}
	r.LoggedOut = logins.Remove(hub.Origin())
	return logins.Save()
}
