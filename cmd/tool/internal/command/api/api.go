// Package api lists, shows, updates and deletes the APIs that are registered at the hub.
package api

import (
	"context"
	"fmt"
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

// Command returns the command api.
func Command(a *app.App) *cobra.Command {
	list := a.ListCommand(&app.List{
		Name:    "api",
		Heading: "APIs",
		Short:   "List registered APIs: yours, or those of an account",
		Find:    find,
	})
	return cmdline.Group("api", "List, view, update and delete registered APIs",
		list, viewCommand(a), updateCommand(a), removeCommand(a))
}

type list struct {
	app.Listing `json:",inline"`
	APIs        []wire.API `json:"apis"`
}

func (*list) Kind() string { return "apis" }

func find(ctx context.Context, hub *identity.Hub, l app.Listing) (app.Result, error) {
	all, err := hub.APIs(ctx, l.Account)
	for _, v := range all {
		l.Row(v.API.String(), v.Title+" "+v.Version, v.Format, "by "+v.CreatedBy+", "+app.Ago(v.CreatedAt))
	}
	return &list{Listing: l, APIs: all}, err
}

type viewed struct {
	*wire.API `json:",inline"`
	app.OnHub `json:",inline"`
	app.Noted `json:",inline"`
}

func (*viewed) Kind() string { return "api" }

func (r *viewed) Text(w *app.Printer) {
	w.Head("%s", r.API.API)
	w.Field("title", "%s", r.Title)
	if r.Version != "" {
		w.Field("version", "%s", r.Version)
	}
	w.Field("format", "%s", r.Format)
	w.Field("digest", "%s", r.SHA256)
	w.Field("registered", "%s by %s", app.Ago(r.CreatedAt), r.CreatedBy)
	if !r.UpdatedAt.IsZero() {
		w.Field("updated", "%s by %s", app.Ago(r.UpdatedAt), r.UpdatedBy)
	}
}

func viewCommand(a *app.App) *cobra.Command {
	return a.HubFlags(a.EnvFlag(&cobra.Command{
		Use:   "view [" + argument + "]",
		Short: "Show a registered API",
		Long: `Show a registered API. Without an argument it is the one of the only local
project. In an environment it is that of the environment, or one on its hub.`,
		Example: "  tool api view @acme/pets\n  tool api view --json",
		Args:    cmdline.AtMost(argument),

		ValidArgsFunction: app.FirstOnly(completeAPI(a)),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			name := strings.Join(args, "")
			act := app.Action{Doing: strings.TrimSpace("view " + name)}
			api, err := target(ctx, a, name)
			if err != nil {
				return failure.Doing(err, "", "%s", act.Doing)
			}
			act.Next = cmdline.Tool("api", "list").With(api.Account())
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				found, err := hub.API(ctx, api)
				return &viewed{API: found}, nameMissing(err, hub, api)
			})
		}),
	}))
}

// nameMissing names the API in err, if err says that the hub has no such API.
func nameMissing(err error, hub *identity.Hub, api ref.Ref) error {
	if app.IsNotFound(err) {
		return failure.Of(err).WithReason("there is no API %s on %s", api, hub.Origin())
	}
	return err
}

// target returns the API that is named, else that of the only local project. The command then
// uses the hub of its environment.
func target(ctx context.Context, a *app.App, name string) (ref.Ref, error) {
	if name != "" {
		return named(ctx, a, name)
	}
	local, err := a.Local(ctx, "", a.Itself)
	if err != nil {
		return ref.Ref{}, err
	}
	client, err := a.ReadClient(local)
	if err != nil {
		return ref.Ref{}, failure.At(app.StageRead, err)
	}
	return ofClient(local, client)
}

// named returns the API of an argument, and has the command use the environment's hub.
func named(ctx context.Context, a *app.App, name string) (ref.Ref, error) {
	api, err := a.Argument(name, "an API")
	if err == nil {
		err = a.UseEnvironmentHub(ctx)
	}
	return api, err
}

// ofClient returns the API that the client.json of a local project names.
func ofClient(local *workspace.Project, client *workspace.Client) (ref.Ref, error) {
	if !client.API.Present() {
		f := failure.New(failure.CodeInvalidFile, "%s names no API", local.ClientPath())
		return ref.Ref{}, f.At(app.StageAPI).WithHint("name one, as @account/slug").Try(cmdline.Tool("api", "list"))
	}
	r, err := ref.Parse(client.API.Text)
	if err != nil {
		err = failure.New(failure.CodeInvalidFile, "%s: api: %w", client.API.At, err).At(app.StageAPI)
	}
	return r, err
}

// completeAPI completes the name of a registered API.
func completeAPI(a *app.App) app.Completion {
	return a.FromHub(func(ctx context.Context, hub *identity.Hub) ([]string, error) {
		all, err := hub.APIs(ctx, "")
		names := make([]string, len(all))
		for i, v := range all {
			names[i] = v.API.String()
		}
		return names, err
	})
}

type removed struct {
	*wire.DeletedAPI `json:",inline"`
	app.OnHub        `json:",inline"`
}

func (*removed) Kind() string   { return "apiRemoved" }
func (*removed) Effect() string { return "the API is gone" }

func (r *removed) Text(w *app.Printer) {
	if r.Existed {
		w.Head("Deleted the API %s", r.API)
	} else {
		w.Head("The API %s was gone already", r.API)
	}
}

func removeCommand(a *app.App) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "rm " + argument,
		Short: "Delete a registered API",
		Long: `Delete a registered API, unless a project uses it. Deleting an API that does
not exist succeeds. A terminal asks you to type the full name, unless --force is
given. The token needs the scope admin:resource.`,
		Example: "  tool api rm @acme/pets\n  tool api rm @acme/pets --force",
		Args:    cmdline.Exactly(argument),

		ValidArgsFunction: app.FirstOnly(completeAPI(a)),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			api, err := named(ctx, a, args[0])
			if err != nil {
				return err
			}
			act := app.Action{Doing: fmt.Sprintf("delete %s", api), Writes: true}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				title := fmt.Sprintf("Delete the API %s for good?", api)
				if err := a.ConfirmRef(ctx, force, title, "An API that projects use is not deleted.", api); err != nil {
					return nil, err
				}
				deleted, err := hub.DeleteAPI(ctx, api)
				return &removed{DeletedAPI: deleted}, err
			})
		}),
	}
	c.Flags().BoolVar(&force, "force", false, "delete without asking")
	return a.HubFlags(a.EnvFlag(c))
}
