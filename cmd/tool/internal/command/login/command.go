package login

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/pat"
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
		Example: "  tool login --origin https://hub.example.com\n  tool login --origin https://hub.example.com --with-token < token.txt",
		Args:    noToken,
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
			e := cmdline.Usagef("%s takes no token as an argument", c.CommandPath()).Try(cmdline.Tool("login").Flag("--with-token"))
			e.Hint = "the token is in the history of the shell now: revoke it, and give another one to stdin"
			return e
		}
	}
	return cmdline.AtMost()(c, args)
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
