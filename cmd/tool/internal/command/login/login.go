// Package login implements the commands login and logout.
package login

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// Command returns the command login.
func Command(a *app.App) *cobra.Command {
	var o Options
	c := &cobra.Command{
		Use:   "login",
		Short: "Log in to a hub",
		Long: `Log in to a hub and store its token, readable by you alone. Later commands use
that hub and token, unless a flag or a variable selects others. In a workspace,
they use the login of the hub that .tool/hub.json names. The first create, push
or pull records it there; --workspace, or a yes in a terminal, changes it.

In a terminal, a page of the hub opens: compare the code that is shown, choose
what the token may do and for how long, and approve. Or paste a personal access
token, or give one with --token or --with-token, which a pipeline needs to.

A stored token is sent only to the hub that it was stored for. If a token is
already stored for the hub, login only switches to it; a terminal asks for
another one from 14 days before it expires, when commands begin to warn.`,
		Example: `  tool login --origin https://hub.example.com
  tool login --origin https://hub.example.com --with-token < token.txt`,
		Args: noToken,
		RunE: a.Run(func(ctx context.Context, _ []string) error {
			return failure.Doing(Run(ctx, a, o), "", "log in")
		}),
	}
	c.Flags().SortFlags = false
	c.Flags().BoolVar(&o.WithToken, "with-token", false, "read the token from stdin")
	c.Flags().BoolVar(&o.Workspace, "workspace", false, "make this hub the workspace's, in .tool/hub.json")
	return a.HubFlags(c)
}

// noToken allows no arguments, and says what to do about a token that is one.
func noToken(c *cobra.Command, args []string) error {
	for _, arg := range args {
		if pat.Redact(arg) != arg {
			return cmdline.Usagef("%s takes no token as an argument", c.CommandPath()).
				WithHint("the token is in the shell's history now: revoke it, and pass a new one on stdin").
				Try(cmdline.Tool("login").Flag("--with-token"))
		}
	}
	if len(args) == 1 && strings.ContainsAny(args[0], ".:") {
		origin, err := hubclient.ParseOrigin(args[0])
		if err != nil {
			origin, _ = hubclient.GuessOrigin(args[0])
		}
		if origin != "" {
			return cmdline.Usagef("%s takes the address of a hub with --origin", c.CommandPath()).
				Try(cmdline.Tool("login").Flag("--origin", origin))
		}
	}
	return cmdline.AtMost()(c, args)
}

// Options say how to log in.
type Options struct {
	WithToken bool // read the token from stdin
	Workspace bool // make the hub the workspace's
}

// Run logs in.
func Run(ctx context.Context, a *app.App, o Options) error {
	if o.WithToken && a.Token.Given() {
		return cmdline.Usagef("--token and --with-token exclude each other")
	}
	if o.Workspace { // fails before a token is created, or stored
		if _, err := a.Workspace(); err != nil {
			return err
		}
	}
	logins, err := a.Logins()
	if err != nil {
		return err
	}
	tokenCreated := false
	if o.WithToken {
		err = readToken(ctx, a)
	} else if !a.Token.Given() && !a.Strict() {
		tokenCreated, err = ask(ctx, a)
	}
	if err != nil {
		return err
	}
	id, err := resolve(a)
	if err != nil {
		return err
	}
	if id.Token == "" {
		return cmdline.Usagef("logging in to %s needs a token: none is stored for it", id.Origin).
			WithHint("--with-token reads it from stdin").
			Try(cmdline.Tool("login").Flag("--origin", id.Origin).Flag("--with-token"))
	}
	r, err := store(ctx, a, id, logins)
	if err != nil && tokenCreated {
		return revokeUnstored(ctx, a, id, err)
	}
	if err != nil {
		return err
	}
	if err := useHere(ctx, a, r, o.Workspace); err != nil {
		return addHint(err, r.Effect())
	}
	return a.Show(r)
}

// addHint adds to a failure, or an interrupt, what was done before it.
func addHint(err error, effect string) failure.Failure {
	f := failure.Of(err)
	f.Hint = strings.TrimPrefix(f.Hint+"; "+effect, "; ")
	return f
}

// resolve returns the hub to log in to, and the token of a flag or of the login file. It
// ignores the token of the variable, because that one is not to be stored.
func resolve(a *app.App) (*identity.Identity, error) {
	logins, err := a.Logins()
	if err != nil {
		return nil, err
	}
	hub, err := a.WorkspaceHub()
	if err != nil {
		return nil, err
	}
	lookup := func(name string) (string, bool) {
		if name == identity.TokenVariable {
			return "", false
		}
		return a.LookupEnv(name)
	}
	return identity.Resolve(identity.Options{
		Token:     a.Token.Value,
		Origin:    a.Origin.Value,
		Workspace: hub,
		LookupEnv: lookup,
		Logins:    logins,
	})
}

// loggedIn is a login.
type loggedIn struct {
	Origin    string       `json:"origin"`
	User      string       `json:"user"`
	Scopes    []wire.Scope `json:"scopes"`
	ExpiresAt *time.Time   `json:"expiresAt"` // null: never
	app.Noted `json:",inline"`

	Restriction wire.Restriction `json:"restriction,omitzero"` // of the token
}

func (*loggedIn) Kind() string   { return "loggedIn" }
func (*loggedIn) Effect() string { return "the login was stored" }

func (r *loggedIn) Text(w *app.Printer) {
	w.Line("Logged in to %s as %s", r.Origin, r.User)
	w.Field("scopes", "%s", app.Scopes(r.Scopes, r.Restriction))
	w.Field("token", "%s", app.Expiry(r.ExpiresAt))
}

// store checks the token of id with the hub, and stores it as the one in use.
func store(ctx context.Context, a *app.App, id *identity.Identity, logins *identity.Logins) (*loggedIn, error) {
	hub, err := a.Reach(id)
	if err != nil {
		return nil, err
	}
	me, err := hub.Whoami(ctx)
	if err != nil {
		f := app.Explain(hub, err).WithRecipe() // the usual advice would be to log in
		if f.Status == http.StatusUnauthorized && id.TokenSource == identity.FromLogin {
			f = f.Try(cmdline.Tool("login").Flag("--origin", hub.Origin()).Flag("--with-token"))
		}
		return nil, f
	}
	r := &loggedIn{
		Origin:      hub.Origin(),
		User:        me.Name(),
		Scopes:      me.Scopes,
		ExpiresAt:   me.ExpiresAt,
		Restriction: me.Restriction,
	}
	err = logins.Put(identity.Login{
		Origin:    r.Origin,
		Token:     id.Token,
		User:      r.User,
		Scopes:    r.Scopes,
		ExpiresAt: r.ExpiresAt,
	})
	if err != nil {
		return nil, err
	}
	if len(me.Scopes) == 0 {
		r.Note("the token has no scopes: it can only read")
	}
	return r, nil
}

// useHere makes the hub of a login the workspace's, if that was asked for, or a person
// agrees. Otherwise a note says which hub commands here use. A workspace without a hub stays
// as it is unless asked: the first create, push or pull records its hub.
func useHere(ctx context.Context, a *app.App, r *loggedIn, asked bool) error {
	former, err := a.WorkspaceHub()
	if err != nil {
		return err
	}
	if former == r.Origin || former == "" && !asked {
		return nil
	}
	agreed := asked
	if !asked && !a.Strict() {
		agreed, err = a.UI.Confirm(ctx, prompts.YesNo{
			Title: "Use this hub in this workspace from now on?",
			Facts: []string{"Hub        " + r.Origin, "Workspace  " + former + " (" + workspace.HubFile + ")"},
			Yes:   "Change " + workspace.HubFile,
		})
		if err != nil {
			return err
		}
	}
	if !agreed {
		r.Note("this workspace belongs to %s, which commands here use; to change that: %s",
			former, a.CommandText(cmdline.Tool("login").Flag("--origin", r.Origin).Flag("--workspace")))
		return nil
	}
	ws, err := a.Workspace()
	if err != nil {
		return err
	}
	if _, err := ws.RecordHub(r.Origin, false); err != nil {
		return err
	}
	was := ""
	if former != "" {
		was = " (was " + former + ")"
	}
	r.Note("%s was recorded in %s as the hub of this workspace%s", r.Origin, workspace.HubFile, was)
	return nil
}

// LogoutCommand returns the command logout.
func LogoutCommand(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "logout",
		Short: "Forget the token of a hub",
		Long: `Forget the stored token of one hub: that of --origin, else the workspace's, else
the current one. No other hub becomes the current one. The token itself stays
valid until it expires or is revoked: tool token revoke self does both.`,
		Example: "  tool logout\n  tool logout --origin https://hub.example.com",
		Args:    cmdline.AtMost(),
		RunE: a.Run(func(context.Context, []string) error {
			return failure.Doing(logout(a), "", "log out")
		}),
	}
	c.Flags().Var(&a.Origin, "origin", "log out of the hub at `ADDRESS` (default: the workspace's, else the current one)")
	c.RegisterFlagCompletionFunc("origin", a.CompleteOrigin)
	return c
}

// loggedOut is a logout.
type loggedOut struct {
	Origin    string `json:"origin"`
	Existed   bool   `json:"existed"`
	Current   string `json:"current"` // origin of the current hub; "": none is
	app.Noted `json:",inline"`
}

func (*loggedOut) Kind() string { return "loggedOut" }

func (r *loggedOut) Effect() string {
	if r.Existed {
		return "the login was removed"
	}
	return ""
}

func (r *loggedOut) Text(w *app.Printer) {
	if r.Existed {
		w.Line("Logged out of %s", r.Origin)
	} else {
		w.Line("No token was stored for %s", r.Origin)
	}
}

// logout forgets a token. No other hub becomes the current one.
func logout(a *app.App) error {
	id, err := resolve(a)
	if err != nil {
		return err
	}
	logins, err := a.Logins()
	if err != nil {
		return err
	}
	login, _ := logins.Find(id.Origin)
	existed, err := logins.Remove(id.Origin)
	if err != nil {
		return err
	}
	r := &loggedOut{Origin: id.Origin, Existed: existed, Current: logins.Current}
	if r.Existed {
		r.Note("logging out does not revoke the token: if it is still valid, %s", revocation(a, login))
	}
	switch {
	case r.Current != "":
		r.Note("the current hub is %s", r.Current)
	case len(logins.Logins) > 0:
		another := cmdline.Tool("login").Flag("--origin", logins.Logins[0].Origin)
		r.Note("no hub is current now; to choose one: %s", a.CommandText(another))
	default:
		r.Note("no hub is current now")
	}
	return a.Show(r)
}

// revocation says how to revoke a token that is not stored any more: on the hub's page of tokens,
// which has only those of users, or by a command if it is a bot's.
func revocation(a *app.App, login identity.Login) string {
	if bot, err := ref.Parse(login.User); err == nil {
		line := cmdline.Tool("bot", "token", "revoke").
			With(bot.String(), pat.ID(login.Token)).
			Flag("--origin", login.Origin)
		return "an admin of @" + bot.Account() + " revokes it with: " + a.CommandText(line)
	}
	return "revoke it at " + login.Origin + "/tokens"
}
