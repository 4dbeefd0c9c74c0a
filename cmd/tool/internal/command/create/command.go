package create

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// Publish publishes the stack of a local project, and says what it published, such as
// @acme/web 1.0.0.
type Publish func(ctx context.Context, a *app.App, local *workspace.Project) (string, error)

// options are the flags of a create.
type options struct {
	answers prompts.Answers
	allowed []string               // files that are sent although they hold secrets
	given   func(flag string) bool // reports whether a flag was typed
	publish Publish
}

// Guided asks for what a project needs, and creates it from the local project.
func Guided(ctx context.Context, a *app.App, publish Publish, local string) error {
	return guided(ctx, a, options{
		answers: prompts.Answers{Local: local, StackVersion: wire.Latest, Visibility: wire.Private},
		given:   func(string) bool { return false },
		publish: publish,
	})
}

// Command returns the command project create. Publish is what it offers where the stack
// is not published yet.
func Command(a *app.App, publish Publish) *cobra.Command {
	o := options{publish: publish}
	visibility := ""
	c := &cobra.Command{
		Use:   "create [<name>]",
		Short: "Create a hub project from a local one",
		Long: `Create a project on the hub from a local project: its published stack, its API,
which is registered if client.json names none, and its settings as the first
config. If the account has an API with the same description or title, a terminal
offers to use that, and a pipeline gets a note.

<name> is a slug in the stack's account, or @account/slug. An existing project
is never changed: use push to update it.

Without <name>, a terminal asks for everything that a project needs, step by
step.`,
		Example: `  tool project create web
  tool project create @acme/web --from web --base-files --visibility public`,
		Args: func(c *cobra.Command, args []string) error {
			if a.Strict() {
				return cmdline.Exactly("<name>")(c, args)
			}
			return cmdline.AtMost("<name>")(c, args)
		},
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if o.answers.StackVersion != wire.Latest && !version.Valid(o.answers.StackVersion) {
				return cmdline.Usagef("--stack-version is latest or a version such as 1.2.0, not %q", o.answers.StackVersion)
			}
			if o.answers.Local == "" && o.given("from") {
				return app.EmptyLocal("--from")
			}
			o.answers.Visibility = wire.Visibility(visibility)
			if v := o.answers.Visibility; v != wire.Private && v != wire.Public {
				return cmdline.Usagef("--visibility is private or public, not %q", visibility)
			}
			if len(args) == 0 {
				return guided(ctx, a, o)
			}
			return run(ctx, a, args[0], o)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&o.answers.Local, "from", "", "create from this local `PROJECT` (default: the only one)")
	fl.StringVar(&o.answers.StackVersion, "stack-version", wire.Latest, "pin the stack to this published `VERSION`")
	fl.StringVar(&visibility, "visibility", string(wire.Private), "set who can see the project: `private|public`")
	fl.BoolVar(&o.answers.BaseFiles, "base-files", false, "push the app's files too, for the preview")
	app.AllowSecrets(c, &o.allowed)
	o.given = fl.Changed
	c.RegisterFlagCompletionFunc("from", a.LocalNames)
	for flag, values := range map[string][]string{
		"stack-version": {wire.Latest}, "visibility": {string(wire.Private), string(wire.Public)},
	} {
		c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	return a.HubFlags(a.EnvFlag(c))
}
