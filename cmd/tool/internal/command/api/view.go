package api

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

const argument = "<@account/slug>"

// Viewed is one API.
type Viewed struct {
	wire.API `json:",inline"`
	Origin   string   `json:"origin"`
	Notes    []string `json:"notes"`
}

func viewCommand(a *app.App) *cobra.Command {
	return a.HubFlags(a.EnvFlag(&cobra.Command{
		Use:     "view [" + argument + "]",
		Short:   "Show a registered API",
		Long:    "Show a registered API. Without an argument it is the one of the only local\nproject. In an environment it is that of the environment, or one on its hub.",
		Example: "  tool api view @acme/pets\n  tool api view --json",
		Args:    cmdline.AtMost(argument),

		ValidArgsFunction: app.FirstOnly(registered(a)),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			name := strings.Join(args, "")
			r, err := view(ctx, a, name)
			if err != nil {
				return failure.Doing(failure.At("view", err), "", "%s", strings.TrimSpace("view "+name))
			}
			return a.Print("api", r, func(w *app.Printer) { viewText(w, r.API, r.Origin, r.Notes) })
		}),
	}))
}

func view(ctx context.Context, a *app.App, name string) (*Viewed, error) {
	target, err := target(ctx, a, name)
	if err != nil {
		return nil, err
	}
	hub, err := a.Connect()
	if err != nil {
		return nil, err
	}
	found, err := hub.API(ctx, target)
	if err != nil {
		return nil, explain(hub, err, target)
	}
	return &Viewed{API: *found, Origin: hub.Origin(), Notes: []string{}}, nil
}

func viewText(w *app.Printer, api wire.API, origin string, notes []string) {
	w.Line("%s", api.API)
	w.Field("title", "%s", api.Title)
	if api.Version != "" {
		w.Field("version", "%s", api.Version)
	}
	w.Field("format", "%s", api.Format)
	w.Field("digest", "%s", api.SHA256)
	w.Field("registered", "%s by %s", app.Ago(api.CreatedAt), api.CreatedBy)
	if !api.UpdatedAt.IsZero() {
		w.Field("updated", "%s by %s", app.Ago(api.UpdatedAt), api.UpdatedBy)
	}
	w.Field("origin", "%s", origin)
	w.Notes(notes)
}

// explain adds the next command to what the hub said of an API.
func explain(hub *identity.Hub, err error, target ref.Ref) failure.Failure {
	f := app.Explain(hub, err)
	if f.Code == wire.CodeNotFound {
		f = f.WithReason("there is no API %s on %s", target, hub.Origin()).WithRecipe(cmdline.Tool("api", "list").With(target.Account()))
	}
	return f
}

// target returns the API that is named, else that of the only local project.
func target(ctx context.Context, a *app.App, name string) (ref.Ref, error) {
	if name == "" {
		local, err := a.Local(ctx, "", a.Itself)
		if err != nil {
			return ref.Ref{}, err
		}
		return ofLocal(a, local)
	}
	return named(ctx, a, name)
}

// named returns the API of an argument, which is on the hub of the environment in use.
func named(ctx context.Context, a *app.App, name string) (ref.Ref, error) {
	r, err := app.ParseArgument(name, "an API")
	if err != nil {
		return r, err
	}
	return r, a.UseEnvironmentHub(ctx)
}

// ofLocal returns the API that a local project's client.json names.
func ofLocal(a *app.App, local *workspace.Project) (ref.Ref, error) {
	client, err := a.ReadClient(local)
	if err != nil {
		return ref.Ref{}, failure.At(app.StageRead, err)
	}
	if !client.API.Present() {
		return ref.Ref{}, failure.At(app.StageAPI, failure.New(failure.CodeInvalidFile, "%s names no API", local.ClientPath()).
			WithHint("name one, as @account/slug").Try(cmdline.Tool("api", "list")))
	}
	r, err := ref.Parse(client.API.Text)
	if err != nil {
		return r, failure.At(app.StageAPI, failure.New(failure.CodeInvalidFile, "%s: api: %w", client.API.At, err))
	}
	return r, nil
}

// registered completes the name of a registered API.
func registered(a *app.App) app.Completion {
	return a.FromHub(func(ctx context.Context, hub *identity.Hub) ([]string, error) {
		all, err := hub.APIs(ctx, "")
		names := make([]string, len(all))
		for i, v := range all {
			names[i] = v.API.String()
		}
		return names, err
	})
}
