package project

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func viewCommand(a *app.App) *cobra.Command {
	var web bool
	c := &cobra.Command{
		Use:     "view [<@account/slug>]",
		Short:   "Show a hub project or open its page",
		Long:    "Show a hub project or open its page. Without an argument it is the one of the\nonly local project. In an environment it is that of the environment, or one on\nits hub.",
		Example: "  tool project view @acme/web\n  tool project view --web",
		Args:    cmdline.AtMost("<@account/slug>"),

		ValidArgsFunction: app.FirstOnly(a.HubProjects()),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			return View(ctx, a, strings.Join(args, ""), web)
		}),
	}
	c.Flags().BoolVar(&web, "web", false, "open the page in a browser, signed in as you; print its address in a pipeline")
	return a.HubFlags(a.EnvFlag(c))
}

// View shows the hub project that is named, else that of the only local one,
// or opens its page.
func View(ctx context.Context, a *app.App, name string, web bool) error {
	r, hub, err := find(ctx, a, name)
	if err != nil {
		return failure.Doing(err, "", "%s", strings.TrimSpace("view "+name))
	}
	if web && !a.Strict() {
		return failure.Doing(a.OpenPage(ctx, hub, r.URL), "", "open %s", r.URL)
	}
	return a.Print("project", r, func(w *app.Printer) {
		if web {
			w.Line("%s", r.URL)
			return
		}
		viewText(w, r)
	})
}

// viewLine is the command that shows the hub project of a local one, or lists what
// there is to be shown.
func viewLine(a *app.App, local string) cmdline.Line {
	if whole := wholeName(a, local); whole != "" {
		return cmdline.Tool("project", "view").With(whole)
	}
	return cmdline.Tool("project", "list")
}

// wholeName returns the ref that was probably meant by a part of it: the local
// project's of that name, else one of the account that is logged in; "" for neither.
func wholeName(a *app.App, name string) string {
	if ws, err := a.Workspace(); err == nil {
		if local, err := ws.Project(name); err == nil {
			if client, err := local.Client(); err == nil && client.Project.Present() {
				return client.Project.Text
			}
		}
	}
	if own, err := ref.New(a.LoggedIn().User, name); err == nil {
		return own.String()
	}
	return ""
}

func viewText(w *app.Printer, r *Viewed) {
	w.Line("%s", r.Project.Project)
	projectFields(w, r.Origin, &r.Project)
	w.Notes(r.Notes)
}

// projectFields writes what the hub says about a project.
func projectFields(w *app.Printer, origin string, r *wire.Project) {
	w.Address("page", origin, r.URL)
	stack := r.StackVersion
	if r.ResolvedStackVersion != r.StackVersion {
		stack += ", now " + r.ResolvedStackVersion
	}
	if r.UseStackVersion != "" {
		stack += ", which was withdrawn: use " + r.UseStackVersion
	}
	w.Field("stack", "@%s, version %s", r.Stack, stack)
	w.Field("api", "%s", r.API)
	w.Field("visibility", "%s", r.Visibility)
	if r.EnforceSchema {
		w.Field("settings", "refused unless the stack's schema allows them")
	}
	w.Field("config", "%s", app.Edit(r.Config.Edit))
	w.Field("revision", "%s", r.Config.Revision)
	if f := r.BaseFiles; f != nil {
		w.Field("base files", "%s, %s", app.Count(f.Count, "file", "files"), app.Bytes(f.Bytes))
	} else {
		w.Field("base files", "none")
	}
	w.Field("created", "%s by %s", app.Ago(r.CreatedAt), r.CreatedBy)
	if !r.ExpiresAt.IsZero() {
		w.Field("expires", "%s", app.Time(r.ExpiresAt))
	}
}

// Viewed is one project.
type Viewed struct {
	wire.Project `json:",inline"`
	Origin       string   `json:"origin"`
	Notes        []string `json:"notes"`
}

// find returns the hub project that is named, else that of the only local project, and
// the hub that has it.
func find(ctx context.Context, a *app.App, name string) (*Viewed, *identity.Hub, error) {
	target, err := target(ctx, a, name)
	if err != nil {
		return nil, nil, failure.At(app.StageDestination, err)
	}
	hub, err := a.ConnectAnyway()
	if err != nil {
		return nil, nil, failure.At("view", err)
	}
	p, err := hub.Project(ctx, target)
	if err != nil {
		e := app.Explain(hub, err).At("view").About(target, failure.Effects{})
		if e.Code == wire.CodeNotFound {
			e = e.WithRecipe(app.OrRestore(err, target, cmdline.Tool("project", "list").With(target.Account())))
		}
		return nil, nil, e
	}
	return &Viewed{Project: *p, Origin: hub.Origin(), Notes: []string{}}, hub, nil
}

func target(ctx context.Context, a *app.App, name string) (ref.Ref, error) {
	if name != "" {
		r, err := app.ParseArgument(name, "a project")
		if e, ok := errors.AsType[*cmdline.UsageError](err); ok {
			if whole := wholeName(a, name); whole != "" {
				err = e.Try(a.Line().With(whole))
			}
		}
		if err == nil {
			err = a.UseEnvironmentHub(ctx)
		}
		return r, err
	}
	local, err := a.Local(ctx, "", func(local string) cmdline.Line { return viewLine(a, local) })
	if err != nil {
		return ref.Ref{}, err
	}
	client, err := local.Client()
	if err != nil {
		return ref.Ref{}, err
	}
	r, err := app.Destination(local, client, nil)
	if err != nil {
		return r, failure.Of(err).WithHint("name a project, as @account/slug").Try(cmdline.Tool("project", "list"))
	}
	return r, nil
}
