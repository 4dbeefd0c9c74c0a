// Package initialize creates a local project.
package initialize

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
)

// Command returns the command init.
func Command(a *app.App) *cobra.Command {
	var start workspace.Start
	var stack string
	c := &cobra.Command{
		Use:   "init [<name>]",
		Short: "Create a local project",
		Long: `Create a local project: .tool/<name>/client.json with its settings,
.tool/<name>/stack.json with its stack, and a .toolignore that says which files
are not pushed, with the rules of the app's .gitignore. Nothing is overwritten.

Without <name> the name of the directory is used. Without --stack the stack
belongs to the account that is logged in; if none is, a terminal asks, and
otherwise the first publish adds the name to stack.json.`,
		Example: "  tool init web --source openapi.yaml --base-path apps/web/src --stack @acme/web",
		Args:    cmdline.AtMost("<name>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if stack != "" {
				var err error
				if start.Stack, err = ref.ParseTyped(stack); err != nil {
					return cmdline.Usagef("--stack: %v", err)
				}
			}
			return Run(ctx, a, strings.Join(args, ""), start)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&start.Source, "source", "", "read the API description from `FILE`, or a URL (default openapi.yaml)")
	c.RegisterFlagCompletionFunc("source", app.FileNames)
	fl.StringVar(&start.BasePath, "base-path", "", "generate code into `DIR` (default src)")
	c.RegisterFlagCompletionFunc("base-path", app.Directories)
	fl.StringVar(&stack, "stack", "", "name the stack `@ACCOUNT/SLUG`")
	return c
}
