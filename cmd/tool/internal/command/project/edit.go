package project

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
)

func editCommand(a *app.App) *cobra.Command {
	var visibility, stackVersion, api string
	var enforce bool
	var c *cobra.Command
	c = &cobra.Command{
		Use: "edit [<@account/slug>]",
		// What sets the same fields is called set elsewhere.
		Aliases: []string{"set"},
		Short:   "Change who can see a hub project, and what it uses",
		Long: `Change the visibility, the stack version or the API of a hub project. What is
not named by a flag stays as it is. Without an argument it is the project of the
only local one.

A public project shows its config, its base files, its page and the names of its
stack and API to everyone. With --enforce-schema the hub refuses settings that
the stack's schema does not allow; otherwise a push only reports them. The token
needs the scope write:catalog, and --enforce-schema the role admin.`,
		Example: "  tool project edit @acme/web --visibility public\n  tool project edit --stack-version 1.2.0",
		Args:    cmdline.AtMost("<@account/slug>"),

		ValidArgsFunction: app.FirstOnly(a.HubProjects()),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			change := wire.EditProject{Visibility: wire.Visibility(visibility), StackVersion: stackVersion}
			if c.Flags().Changed("enforce-schema") {
				change.EnforceSchema = &enforce
			}
			switch {
			case visibility == "" && stackVersion == "" && api == "" && change.EnforceSchema == nil:
				return cmdline.Usagef("say what to change: --visibility, --stack-version, --api or --enforce-schema")
			case visibility != "" && change.Visibility != wire.Private && change.Visibility != wire.Public:
				return cmdline.Usagef("--visibility is private or public, not %q", visibility)
			case stackVersion != "" && stackVersion != wire.Latest && !version.Valid(stackVersion):
				return cmdline.Usagef("--stack-version is latest or a version such as 1.2.0, not %q", stackVersion)
			}
			if api != "" {
				var err error
				if change.API, err = ref.ParseTyped(api); err != nil {
					return cmdline.Usagef("--api is @account/slug: %v", err)
				}
			}
			name := strings.Join(args, "")
			target, err := target(ctx, a, name)
			if err != nil {
				return failure.Doing(failure.At(app.StageDestination, err), "", "%s", strings.TrimSpace("edit "+name))
			}
			act := app.Action{Doing: fmt.Sprintf("edit %s", target), Project: target, Writes: true}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				p, err := hub.EditProject(ctx, target, change)
				return &viewed{Project: p, effect: "the project was changed"}, err
			})
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&visibility, "visibility", "", "set who can see the project: `private|public`")
	fl.StringVar(&stackVersion, "stack-version", "", "use this published `VERSION` of the stack, or latest")
	fl.StringVar(&api, "api", "", "use the registered API `@ACCOUNT/SLUG`")
	fl.BoolVar(&enforce, "enforce-schema", false,
		"refuse settings that the stack's schema does not allow; =false only reports them")
	c.RegisterFlagCompletionFunc("visibility", completeVisibility)
	return a.HubFlags(a.EnvFlag(c))
}
