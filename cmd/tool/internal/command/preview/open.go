package preview

import (
	"context"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/wire"
)

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
				WithRecipe(cmdline.Tool("project", "create").With(workspace.SlugOf(local.Name)).Flag("--from", local.Name), localLine(local.Name))
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
