// Package preview opens the preview of a project in a browser: that of its page on the
// hub or, with --local, one of the working tree, which it serves itself to browsers of
// this machine.
//
// It runs no code of the project: the browser does, in the same frame as on the hub's page.
package preview

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/wire"
)

// Result says where a preview is.
type Result struct {
	ProjectName string `json:"projectName"`
	URL         string `json:"url"`
	Origin      string `json:"origin,omitzero"` // of the hub; absent with --local
	Local       bool   `json:"local"`
}

// Command returns the command preview.
func Command(a *app.App) *cobra.Command {
	var local bool
	c := &cobra.Command{
		Use:   "preview [<project>]",
		Short: "Open the preview of a project in a browser",
		Long: `Open the preview of a local project in a browser: the Preview tab of its page on
the hub, signed in. In a pipeline, print the address.

With --local nothing has to be pushed or published: the app is previewed as it
is in the working tree, with the stack in .tool/<project>, and follows edits of
its files until ctrl-c. The preview is served to browsers of this machine only,
at an address that nobody can guess. The API's description is the file that
source names in client.json, else the one that the hub has for the project.`,
		Example:           "  tool preview web\n  tool preview web --env production\n  tool preview web --local --no-input",
		Args:              app.MaybeLocal,
		ValidArgsFunction: a.CompleteLocal,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if len(args) == 0 && a.Strict() {
				return a.NeedsLocal()
			}
			name := strings.Join(args, "")
			if local {
				return serveLocal(ctx, a, name)
			}
			return openPage(ctx, a, name)
		}),
	}
	c.Flags().BoolVar(&local, "local", false, "serve a preview of the working tree until ctrl-c")
	return a.HubFlags(a.EnvFlag(c))
}

// localLine is the command that previews a local project without its page on the hub.
func localLine(name string) cmdline.Line { return cmdline.Tool("preview").With(name).Flag("--local") }

// openPage opens the Preview tab of the hub project of a local one.
func openPage(ctx context.Context, a *app.App, name string) error {
	r, hub, err := page(ctx, a, name)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("preview "+name))
	}
	if a.Strict() {
		return a.Print("preview", r, func(w *app.Printer) { w.Line("%s", r.URL) })
	}
	return failure.Doing(a.OpenPage(ctx, hub, r.URL), r.ProjectName, "open %s", r.URL)
}

// page returns the address of the Preview tab of a local project.
func page(ctx context.Context, a *app.App, name string) (*Result, *identity.Hub, error) {
	local, err := a.Local(ctx, name, a.Itself)
	if err != nil {
		return nil, nil, err
	}
	client, err := local.Client()
	if err != nil {
		return nil, nil, failure.At(app.StageRead, err)
	}
	target, err := app.Destination(local, client, nil)
	if err != nil {
		e := failure.Of(err)
		if e.Code == failure.CodeNoDestination {
			e = e.WithHint("create it on the hub, or preview the working tree").
				WithRecipe(createLine(local), localLine(local.Name))
		}
		return nil, nil, e.At(app.StageDestination)
	}
	hub, err := a.ConnectAnyway()
	if err != nil {
		return nil, nil, err
	}
	project, err := hub.Project(ctx, target)
	if err != nil {
		e := app.Explain(hub, err).About(target, failure.Effects{})
		if e.Code == wire.CodeNotFound {
			e.Recipe = []cmdline.Line{cmdline.Tool("project", "list").With(target.Account()), localLine(local.Name)}
		}
		return nil, nil, e
	}
	return &Result{ProjectName: local.Name, URL: project.URL + "/preview", Origin: hub.Origin()}, hub, nil
}

// createLine is the command that creates a local project on the hub.
func createLine(local *workspace.Project) cmdline.Line {
	return cmdline.Tool("project", "create").With(workspace.SlugOf(local.Name)).Flag("--from", local.Name)
}
