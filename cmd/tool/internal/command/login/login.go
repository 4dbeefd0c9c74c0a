package login

import (
	"context"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
)

// Options say how to log in.
type Options struct {
	WithToken bool // read the token from stdin
	Workspace bool // make the hub the workspace's
}

// Run logs in.
func Run(ctx context.Context, a *app.App, o Options) error {
	if o.WithToken && a.Token.Value != nil {
		return cmdline.Usagef("--token and --with-token exclude each other")
	}
	if o.Workspace {
		if _, err := a.Workspace(); err != nil {
			return err
		}
	}
	logins, err := a.Logins()
	if err != nil {
		return err
	}
	if o.WithToken {
		token, err := readToken(ctx, a.Streams.In)
		if err != nil {
			return err
		}
		a.Token.Value = &token
	}
	created := false
	if a.Token.Value == nil && !a.Strict() {
		if created, err = ask(ctx, a, logins); err != nil {
			return err
		}
	}
	id, err := resolve(a, logins)
	if err != nil {
		return err
	}
	if id.Token == "" {
		e := cmdline.Usagef("logging in to %s needs a token: none is stored for it", id.Origin).
			Try(cmdline.Tool("login").Flag("--origin", id.Origin).Flag("--with-token"))
		e.Hint = "--with-token reads it from stdin"
		return e
	}
	r, err := store(ctx, a, id, logins)
	if err != nil && created {
		return revoke(ctx, a, id, err)
	}
	if err != nil {
		return err
	}
	if err := useHere(ctx, a, r, o.Workspace); err != nil {
		return failure.At(stage, err)
	}
	return a.Print("loggedIn", r, func(w *app.Printer) {
		w.Line("Logged in to %s as %s", r.Origin, r.User)
		w.Field("scopes", "%s", app.Scopes(r.Scopes, r.Restriction))
		w.Field("token", "%s", app.Expiry(r.ExpiresAt))
		w.Notes(r.Notes)
	})
}

// resolve returns the hub to log in to and the token, which may be stored.
func resolve(a *app.App, logins *identity.Logins) (*identity.Identity, error) {
	hub, err := a.WorkspaceHub()
	if err != nil {
		return nil, err
	}
	return identity.Resolve(identity.Options{
		Token: a.Token.Value, Origin: a.Origin.Value, Workspace: hub, LookupEnv: lookupOrigin(a), Logins: logins,
	})
}

func logout(a *app.App) error {
	logins, err := a.Logins()
	if err != nil {
		return err
	}
	id, err := resolve(a, logins)
	if err != nil {
		return err
	}
	r, err := forget(a, id.Origin, logins)
	if err != nil {
		return err
	}
	return a.Print("loggedOut", r, func(w *app.Printer) {
		if r.Existed {
			w.Line("Logged out of %s", r.Origin)
		} else {
			w.Line("No token was stored for %s", r.Origin)
		}
		w.Notes(r.Notes)
	})
}
