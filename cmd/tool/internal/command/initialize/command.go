// Package initialize creates a local project, or an environment of one.
package initialize

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/internal/sample"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
)

// Command returns the command init.
func Command(a *app.App) *cobra.Command {
	var start workspace.Start
	var stack, origin string
	var petStore bool
	var env app.Optional
	c := &cobra.Command{
		Use:   "init [<name>]",
		Short: "Create a local project",
		Long: `Create a local project: .tool/<name>/client.json with its settings,
.tool/<name>/stack.json with its stack, and a .toolignore that says which files
are not pushed, with the rules of the app's .gitignore. Nothing is overwritten.

Without <name> the name of the directory is used, for a sample web. Without
--stack the stack belongs to the account that is logged in; if none is, a
terminal asks, and otherwise the first publish adds the name to stack.json.

With --sample, create a small app to try things with: a pet store with its API
description, settings, and a stack with a preview.

With --env, create an environment of a local project instead,
.tool/<name>/client.NAME.json: a destination of its own, on another hub with
--origin, and settings that differ from those in client.json.`,
		Example: `  tool init web --source openapi.yaml --base-path apps/web/src --stack @acme/web
  tool init --sample
  tool init web --env production --origin https://hub.example.com`,
		Args: cmdline.AtMost("<name>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			name := strings.Join(args, "")
			if env.Given() {
				if stack != "" || petStore || start != (workspace.Start{}) {
					return cmdline.Usagef("--env adds an environment to a local project: it goes with --origin alone")
				}
				r, err := createEnvironment(ctx, a, name, env.String(), origin)
				if err != nil {
					return err
				}
				return a.Show(r)
			}
			if origin != "" {
				return cmdline.Usagef("--origin goes with --env: it is the hub of an environment")
			}
			if petStore && (start.Source != "" || start.BasePath != "") {
				return cmdline.Usagef("--sample has an API description and a base path of its own")
			}
			if stack != "" {
				var err error
				if start.Stack, err = ref.ParseTyped(stack); err != nil {
					return cmdline.Usagef("--stack: %v", err)
				}
			}
			if petStore {
				start.Sample = sample.PetStore()
			}
			r, err := createLocal(ctx, a, name, start)
			if err != nil {
				return err
			}
			return a.Show(r)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&start.Source, "source", "",
		"read the API description from `FILE`, or a URL (default openapi.yaml, or openapi.json if only that exists)")
	c.RegisterFlagCompletionFunc("source", app.FileNames)
	fl.StringVar(&start.BasePath, "base-path", "", "generate code into `DIR` (default src)")
	c.RegisterFlagCompletionFunc("base-path", app.Directories)
	fl.StringVar(&stack, "stack", "", "name the stack `@ACCOUNT/SLUG`")
	fl.BoolVar(&petStore, "sample", false, "create a sample app, a pet store")
	fl.Var(&env, "env", "create the environment `NAME` of a local project")
	fl.StringVar(&origin, "origin", "", "set the hub of the environment to `ADDRESS`, scheme://host[:port]")
	c.RegisterFlagCompletionFunc("origin", a.CompleteOrigin)
	return c
}
