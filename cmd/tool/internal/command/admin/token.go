package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
)

// Token returns the command token.
func Token(a *app.App) *cobra.Command {
	return cmdline.Group("token", "Manage your tokens", createToken(a), listTokens(a), revokeTokens(a))
}

// tokenFlags are the flags of every new token.
type tokenFlags struct {
	name, expires string
	scopes        []string
}

const expiresUsage = "set the `LIFETIME`, such as 12h, 90d or 52w, or never " +
	"(default 90d, or until your token expires)"

// check refuses flags that make no token. example is a command that does.
func (f *tokenFlags) check(example cmdline.Line) error {
	if f.name == "" {
		return cmdline.Usagef("a token needs --name").Try(example)
	}
	if f.expires == "" {
		return nil
	}
	if _, err := pat.ParseLifetime(f.expires); err != nil {
		return cmdline.Usagef("--expires: %v", err)
	}
	return nil
}

func (f *tokenFlags) wireScopes() (scopes []wire.Scope) {
	for _, scope := range f.scopes {
		scopes = append(scopes, wire.Scope(scope))
	}
	return scopes
}

type createdToken struct {
	app.OnHub          `json:",inline"`
	*wire.CreatedToken `json:",inline"`
	app.NewToken       `json:",inline"`
}

func (*createdToken) Kind() string          { return "token" }
func (r *createdToken) Text(w *app.Printer) { w.Secret(r.Token) }

// createTokenFlags are the flags of token create.
type createTokenFlags struct {
	tokenFlags
	readOnly bool
	account  string // "": every account
	project  string // "": every project
}

// request checks the flags, and returns what they ask the hub for.
func (f *createTokenFlags) request() (request wire.CreateToken, err error) {
	if err := f.check(cmdline.Tool("token", "create").Flag("--name", "laptop")); err != nil {
		return request, err
	}
	if f.readOnly && f.scopes != nil || f.account != "" && f.project != "" {
		return request, cmdline.Usagef("--scope and --read-only exclude each other, and so do --account and --project")
	}
	request = wire.CreateToken{Name: f.name, Scopes: f.wireScopes(), Lifetime: f.expires}
	if f.scopes == nil && !f.readOnly {
		request.Scopes = []wire.Scope{wire.ScopeWriteConfig}
	}
	if f.account != "" {
		if request.Account, err = app.ParseAccount(f.account, "an account"); err != nil {
			return request, err
		}
	}
	if f.project != "" {
		if request.Project, err = ref.Parse(f.project); err != nil {
			return request, cmdline.Usagef("--project: %q is not a project: a project is @account/slug", f.project)
		}
	}
	return request, nil
}

func createToken(a *app.App) *cobra.Command {
	var f createTokenFlags
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
			return a.Call(ctx, app.Action{Doing: "create a token", Writes: true}, func(hub *identity.Hub) (app.Result, error) {
				token, err := hub.CreateToken(ctx, request)
				return &createdToken{CreatedToken: token, NewToken: app.ShownOnce()}, err
			})
		}),
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.name, "name", "", "name the token `NAME`, such as laptop")
	fs.StringArrayVar(&f.scopes, "scope", nil, "allow this `SCOPE`; repeatable (default write:config)")
	c.RegisterFlagCompletionFunc("scope", app.OneOf(wire.Scopes...))
	fs.BoolVar(&f.readOnly, "read-only", false, "allow no scope, so that the token can only read")
	fs.StringVar(&f.account, "account", "", "restrict the token to this `ACCOUNT`")
	fs.StringVar(&f.project, "project", "", "restrict the token to the project `REF`, @account/slug")
	fs.StringVar(&f.expires, "expires", "", expiresUsage)
	return a.HubFlags(c)
}

type tokens struct {
	app.OnHub `json:",inline"`
	Tokens    []wire.TokenInfo `json:"tokens"`
}

func (*tokens) Kind() string          { return "tokens" }
func (r *tokens) Text(w *app.Printer) { writeTokens(w, r.Tokens) }

func listTokens(a *app.App) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:     "list",
		Short:   "List your valid tokens without their secrets",
		Example: "  tool token list",
		Args:    cmdline.Exactly(),
		RunE: a.Run(func(ctx context.Context, _ []string) error {
			return a.Call(ctx, app.Action{Doing: "list tokens"}, func(hub *identity.Hub) (app.Result, error) {
				all, err := hub.Tokens(ctx)
				return &tokens{Tokens: all}, err
			})
		}),
	})
}

// maxTokenName bounds the columns of a token's name, so that a list of tokens fits into 80.
const maxTokenName = 24

// writeTokens writes two lines for each token: its name and times, and what it can do.
func writeTokens(w *app.Printer, tokens []wire.TokenInfo) {
	width := 0
	for _, t := range tokens {
		width = max(width, utf8.RuneCountInString(tui.Shorten(t.Name, maxTokenName)))
	}
	for _, t := range tokens {
		expires, used := "never expires", "never used"
		if t.ExpiresAt != nil {
			expires = "until " + t.ExpiresAt.UTC().Format(time.DateOnly)
		}
		if t.Self {
			used = "in use"
		} else if t.LastUsedAt != nil {
			used = "used " + t.LastUsedAt.UTC().Format(time.DateOnly)
		}
		w.Line("%s  %-*s  %-16s  %s", t.ID, width, tui.Shorten(t.Name, maxTokenName), expires, used)
		// Shorter than elsewhere, for the line to fit into 80 columns.
		allowed := strings.NewReplacer(", ", ",", "read only", "read").Replace(app.Scopes(t.Scopes, t.Restriction))
		if t.Bot != "" {
			allowed += ", bot " + t.Bot
		}
		w.Line("  %s…  %s", t.Shown, allowed)
	}
}

// revokedTokens are tokens of the caller that were revoked.
type revokedTokens struct {
	app.OnHub `json:",inline"`
	Tokens    []*wire.RevokedToken `json:"tokens"`
	LoggedOut bool                 `json:"loggedOut"` // the stored token was one of them
	app.Noted `json:",inline"`
}

func (*revokedTokens) Kind() string   { return "tokensRevoked" }
func (*revokedTokens) Effect() string { return "the tokens were revoked" }

func (r *revokedTokens) Text(w *app.Printer) {
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
			w.Line("Revoked with it: %s", cmdline.Shortlist(also, maxAlsoRevoked, len(also)))
		}
	}
	if r.LoggedOut {
		w.Line("Logged out of %s", r.Origin)
	}
}

// maxAlsoRevoked bounds how many tokens that were revoked with another one text mode names.
const maxAlsoRevoked = 10

func revokeTokens(a *app.App) *cobra.Command {
	list := cmdline.Tool("token", "list")
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
				return cmdline.Usagef("tool token revoke takes IDs of tokens, or self").Try(list)
			}
			if err := checkIDs(args, list, wire.TokenSelf); err != nil {
				return err
			}
			act := app.Action{Doing: "revoke tokens", Writes: true, Next: list}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				return revoke(ctx, a, hub, args)
			})
		}),
	})
}

// revoke revokes tokens of the caller, and forgets the token in use if it was stored. The token
// in use is revoked last, because the hub would accept no request with it afterwards.
func revoke(ctx context.Context, a *app.App, hub *identity.Hub, ids []string) (app.Result, error) {
	inUse := func(id string) bool { return id == wire.TokenSelf || id == pat.ID(hub.Identity.Token) }
	revokesInUse := slices.ContainsFunc(ids, inUse)
	ids = slices.DeleteFunc(ids, inUse)
	if revokesInUse {
		ids = append(ids, wire.TokenSelf)
	}
	revoked, err := revokeEach(ids, "", func(id string) (*wire.RevokedToken, error) {
		return hub.RevokeToken(ctx, id)
	})
	if err != nil {
		return nil, err
	}
	r := &revokedTokens{Tokens: revoked}
	if !revokesInUse {
		return r, nil
	}
	if hub.Identity.TokenSource != identity.FromLogin {
		r.Note("the token that the %s gives is no longer valid", hub.Identity.TokenSource.Phrase())
		return r, nil
	}
	logins, err := a.Logins()
	if err != nil {
		return nil, failure.Doing(err, "", "log out")
	}
	if r.LoggedOut, err = logins.Remove(hub.Origin()); err != nil {
		return nil, failure.Doing(err, "", "log out")
	}
	return r, nil
}

// checkIDs refuses what is not the ID of a token, except the words in except. list is the
// command that shows IDs.
func checkIDs(ids []string, list cmdline.Line, except ...string) error {
	for _, id := range ids {
		if !pat.ValidID(id) && !slices.Contains(except, id) {
			return cmdline.Usagef("%q is not the ID of a token: it has 12 digits of 0-9 and a-f", id).Try(list)
		}
	}
	return nil
}

// revokeEach revokes tokens one after the other. A failure says which ones it has revoked. owner
// follows the ID in its message, such as: of @acme/ci; "": the caller.
func revokeEach[T any](ids []string, owner string, revoke func(id string) (T, error)) (revoked []T, err error) {
	for i, id := range ids {
		t, err := revoke(id)
		if err != nil {
			f := failure.Of(err)
			if i > 0 {
				f = f.WithHint("revoked before this failure: %s", strings.Join(ids[:i], ", "))
			}
			return nil, failure.Doing(f, "", "revoke the token %s%s", id, owner)
		}
		revoked = append(revoked, t)
	}
	return revoked, nil
}
