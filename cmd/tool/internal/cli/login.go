package cli

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/fault"
	"example.com/projecthub/cmd/tool/internal/flow/login"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/wire"
)

func (a *app) loginCommand() *cobra.Command {
	var withToken bool
	c := &cobra.Command{
		Use:   "login",
		Short: "Store a token for a hub",
		Long: `Check a personal access token with the hub and store it, readable by you alone. From
then on the commands use that hub and token, unless a flag or a variable says otherwise.

A stored token goes only to the hub that it was stored for. A hub whose token is
stored already is only switched to.`,
		Example: "  tool login --origin https://hub.example.com --with-token < token.txt\n  tool login --origin https://hub.example.com",
		Args:    atMost(),
		RunE: a.run(func(ctx context.Context, _ []string) error {
			return doing(a.login(ctx, withToken), "", "log in")
		}),
	}
	c.Flags().BoolVar(&withToken, "with-token", false, "read the token from stdin")
	return a.hubFlags(c)
}

func (a *app) login(ctx context.Context, withToken bool) error {
	if withToken && a.token.value != nil {
		return usagef("--token and --with-token exclude each other")
	}
	logins, err := a.logins()
	if err != nil {
		return err
	}
	if withToken {
		token, err := a.readToken(ctx)
		if err != nil {
			return err
		}
		a.token.value = &token
	}
	id, err := identity.Resolve(identity.Options{
		Token: a.token.value, Origin: a.origin.value, LookupEnv: a.lookupOrigin, Logins: logins,
	})
	if err != nil {
		return err
	}
	if id.Token == "" {
		return usagef("logging in to %s needs a token: none is stored for it", id.Origin).
			try("tool login --origin %s --with-token < FILE", id.Origin)
	}
	r, err := login.Run(ctx, func() (*identity.Hub, error) { return a.reach(id) }, logins)
	if err != nil {
		return err
	}
	return a.print("loggedIn", r, func(p *printer) {
		p.line("Logged in to %s as %s", r.Origin, r.User)
		p.field("scopes", "%s", scopesText(r.Scopes))
		p.field("token", "%s", expiryText(r.ExpiresAt))
		p.notes(r.Notes)
	})
}

// lookupOrigin hides the token's variable: it is not what logging in stores.
func (a *app) lookupOrigin(name string) (string, bool) {
	if name == identity.TokenVariable {
		return "", false
	}
	return a.lookupEnv(name)
}

// readToken reads the first line of stdin.
func (a *app) readToken(ctx context.Context) (string, error) {
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() { // a read cannot be cancelled
		lines := bufio.NewScanner(a.In)
		lines.Scan()
		done <- read{lines.Text(), lines.Err()}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-done:
		token := identity.CleanToken(r.text)
		if r.err != nil || token == "" {
			return "", fault.New(wire.CodeNoToken, "there is no token on stdin")
		}
		return token, nil
	}
}

func (a *app) logoutCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "logout",
		Short:   "Forget the token of a hub",
		Long:    "Forget the stored token of a hub: the current one, or that of --origin. The token itself\nstays valid until it expires or is revoked.",
		Example: "  tool logout\n  tool logout --origin https://hub.example.com",
		Args:    atMost(),
		RunE: a.run(func(context.Context, []string) error {
			return doing(a.logout(), "", "log out")
		}),
	}
	c.Flags().Var(&a.origin, "origin", "hub's `ADDRESS` (default: the current one)")
	return c
}

func (a *app) logout() error {
	logins, err := a.logins()
	if err != nil {
		return err
	}
	id, err := identity.Resolve(identity.Options{Origin: a.origin.value, LookupEnv: a.lookupOrigin, Logins: logins})
	if err != nil {
		return err
	}
	r, err := login.RunOut(id.Origin, logins)
	if err != nil {
		return err
	}
	return a.print("loggedOut", r, func(p *printer) {
		if r.Existed {
			p.line("Logged out of %s", r.Origin)
		} else {
			p.line("No token was stored for %s", r.Origin)
		}
		p.notes(r.Notes)
	})
}
