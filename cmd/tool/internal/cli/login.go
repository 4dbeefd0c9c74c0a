package cli

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow/login"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

func (a *app) loginCommand() *cobra.Command {
	var withToken bool
	c := &cobra.Command{
		Use:   "login",
		Short: "Store a token for a hub",
		Long: `Check a personal access token with the hub and store it, readable by you alone.
From then on the commands use that hub and token, unless a flag or a variable
says otherwise.

A stored token goes only to the hub that it was stored for. A hub whose token is
stored already is only switched to.`,
		Example: "  tool login --origin https://hub.example.com --with-token < token.txt\n  tool login --origin https://hub.example.com",
		Args:    noToken,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			return failure.Doing(a.login(ctx, withToken), "", "log in")
		}),
	}
	c.Flags().BoolVar(&withToken, "with-token", false, "read the token from stdin")
	return a.hubFlags(c)
}

// noToken allows no arguments, and says what to do about a token that is one.
func noToken(c *cobra.Command, args []string) error {
	for _, arg := range args {
		if pat.Redact(arg) != arg {
			e := cmdline.Usagef("%s takes no token as an argument", c.CommandPath()).Try(cmdline.Tool("login").Flag("--with-token"))
			e.Hint = "the token is in the history of the shell now: revoke it, and give another one to stdin"
			return e
		}
	}
	return cmdline.AtMost()(c, args)
}

func (a *app) login(ctx context.Context, withToken bool) error {
	if withToken && a.token.value != nil {
		return cmdline.Usagef("--token and --with-token exclude each other")
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
	if a.token.value == nil && !a.strict() {
		if err := a.askLogin(ctx, logins); err != nil {
			return err
		}
	}
	id, err := a.resolveLogin(logins)
	if err != nil {
		return err
	}
	if id.Token == "" {
		e := cmdline.Usagef("logging in to %s needs a token: none is stored for it", id.Origin).
			Try(cmdline.Tool("login").Flag("--origin", id.Origin).Flag("--with-token"))
		e.Hint = "--with-token reads it from stdin"
		return e
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

// resolveLogin settles what to log in to, and the token, which may be stored.
func (a *app) resolveLogin(logins *identity.Logins) (*identity.Identity, error) {
	return identity.Resolve(identity.Options{
		Token: a.token.value, Origin: a.origin.value, LookupEnv: a.lookupOrigin, Logins: logins,
	})
}

// askLogin asks for the hub's address and the token, as far as they are not known.
func (a *app) askLogin(ctx context.Context, logins *identity.Logins) error {
	var token string
	given := a.origin.value != nil && *a.origin.value != ""
	known, stored := false, "" // what is wrong with the one that is stored
	err := a.converse(ctx,
		prompts.Step{
			Skip: func() bool { return given },
			Question: func() prompts.Question {
				preset := identity.DefaultOrigin
				if id, err := a.resolveLogin(logins); err == nil {
					preset = id.Origin
				}
				return prompts.Question{
					Title: "Which hub?", Prompt: "Address, scheme://host[:port]", Preset: preset,
					Check: func(typed string) error { _, err := hubclient.ParseOrigin(typed); return err },
				}
			},
			Take: func(answer string) { a.origin.value = &answer },
		},
		prompts.Step{
			Doing: "Looking for a stored token",
			Load: func(ctx context.Context) (err error) {
				known, stored, err = a.checkStored(ctx, logins)
				return err
			},
		},
		prompts.Step{
			Skip: func() bool { return known },
			Question: func() prompts.Question {
				facts := []string{"Whoever runs the hub makes one: hub token create. It is stored here, readable by you alone."}
				if stored != "" {
					facts = append([]string{"The stored one does not do: " + stored + "."}, facts...)
				}
				return prompts.Question{
					Title: "Token for " + *a.origin.value, Prompt: "Personal access token, not shown", Secret: true, Check: checkToken,
					Facts: facts,
				}
			},
			Take: func(answer string) { token = identity.CleanToken(answer) },
		})
	if err == nil && token != "" {
		a.token.value = &token
	}
	return err
}

// checkStored reports whether the hub takes the stored token, and why not. A hub
// that cannot be asked is no reason to ask for another one.
func (a *app) checkStored(ctx context.Context, logins *identity.Logins) (known bool, why string, err error) {
	id, err := a.resolveLogin(logins)
	if err != nil || id.Token == "" {
		return false, "", err
	}
	hub, err := a.reach(id)
	if err != nil {
		return false, err.Error(), nil // it is damaged
	}
	if _, err := hub.Whoami(ctx); hubclient.HasCode(err, wire.CodeUnauthorized, wire.CodeTokenExpired, wire.CodeTokenRevoked) {
		return false, err.Error(), nil
	}
	return true, "", nil
}

// checkToken refuses what cannot be a token, before anybody is asked about it.
func checkToken(typed string) error {
	token := identity.CleanToken(typed)
	switch {
	case pat.Valid(token):
		return nil
	case len(token) < pat.Length:
		return errors.New("not a whole token yet: hubpat_ and 38 letters and digits")
	}
	return errors.New("mistyped: that is not a token as a hub prints it")
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
			return "", failure.New(failure.CodeNoToken, "there is no token on stdin")
		}
		return token, nil
	}
}

func (a *app) logoutCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "logout",
		Short:   "Forget the token of a hub",
		Long:    "Forget the stored token of a hub: the current one, or that of --origin. The\ntoken itself stays valid until it expires or is revoked.",
		Example: "  tool logout\n  tool logout --origin https://hub.example.com",
		Args:    cmdline.AtMost(),
		RunE: a.run(func(context.Context, []string) error {
			return failure.Doing(a.logout(), "", "log out")
		}),
	}
	c.Flags().Var(&a.origin, "origin", "hub's `ADDRESS` (default: the current one)")
	c.RegisterFlagCompletionFunc("origin", a.origins)
	return c
}

func (a *app) logout() error {
	logins, err := a.logins()
	if err != nil {
		return err
	}
	id, err := a.resolveLogin(logins)
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
