// Package project copies, lists, shows, changes, deletes and restores projects of the hub.
package project

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Command returns the command project. Its first subcommand, create, is another package's.
func Command(a *app.App, create *cobra.Command) *cobra.Command {
	return cmdline.Group("project", "Create, copy, view, edit, rename, delete and restore hub projects",
		create, copyCommand(a), listCommand(a), viewCommand(a), editCommand(a), renameCommand(a), removeCommand(a),
		restoreCommand(a))
}

func listCommand(a *app.App) *cobra.Command {
	var deleted bool
	l := &app.List{
		Name:    "project",
		Heading: "projects",
		Short:   "List your hub projects, or those of an account",
		Find:    findAll,
	}
	c := a.ListCommand(l)
	c.PreRun = func(*cobra.Command, []string) {
		if deleted {
			l.Heading, l.Find = "deleted projects", findDeleted
		}
	}
	c.Flags().BoolVar(&deleted, "deleted", false, "list deleted projects that can be restored instead")
	return c
}

// list is a list of projects, or of deleted ones that can be restored.
type list[T any] struct {
	app.Listing `json:",inline"`
	Deleted     bool `json:"deleted,omitzero"`
	Projects    []T  `json:"projects"`
	app.Noted   `json:",inline"`
}

func (*list[T]) Kind() string { return "projects" }

func findDeleted(ctx context.Context, hub *identity.Hub, l app.Listing) (app.Result, error) {
	all, err := hub.DeletedProjects(ctx, l.Account)
	for _, d := range all {
		l.Row(d.Project.String(), "deleted by "+d.DeletedBy+", "+app.Ago(d.DeletedAt),
			"can be restored until "+app.Time(d.RestorableUntil))
	}
	return &list[wire.DeletedProject]{Listing: l, Deleted: true, Projects: all}, err
}

func findAll(ctx context.Context, hub *identity.Hub, l app.Listing) (app.Result, error) {
	all, err := hub.Projects(ctx, l.Account)
	for _, v := range all {
		state := "no config"
		if v.Config.HasConfig {
			state = "config by " + v.Config.UpdatedBy + ", " + app.Ago(v.Config.UpdatedAt)
		}
		if !v.ExpiresAt.IsZero() {
			state += ", expires " + app.Time(v.ExpiresAt)
		}
		l.Row(v.Project.String(), string(v.Visibility), "@"+v.Stack+" "+v.StackVersion, state)
	}
	return &list[wire.Project]{Listing: l, Projects: all}, err
}

func viewCommand(a *app.App) *cobra.Command {
	var web bool
	c := &cobra.Command{
		Use:   "view [<@account/slug>]",
		Short: "Show a hub project or open its page",
		Long: `Show a hub project or open its page. Without an argument it is the one of the
only local project. In an environment it is that of the environment, or one on
its hub. Here, in the other commands of project and in pull, the argument can
also be the address of the project's page.`,
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
	act, err := actionOn(ctx, a, "view", name)
	if err != nil {
		return err
	}
	act.Anyone = true
	act.Next = cmdline.Tool("project", "list").With(act.Project.Account())
	return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
		p, err := hub.Project(ctx, act.Project)
		if err != nil {
			return nil, err
		}
		if web && !a.Strict() {
			return nil, failure.Doing(a.OpenPage(ctx, hub, p.URL), "", "open %s", p.URL)
		}
		return &viewed{Project: p, web: web}, nil
	})
}

// viewed is one project.
type viewed struct {
	*wire.Project `json:",inline"`
	app.OnHub     `json:",inline"`
	app.Noted     `json:",inline"`

	web    bool   // only the address of the page is printed
	effect string // "": the project was only read
}

func (*viewed) Kind() string     { return "project" }
func (r *viewed) Effect() string { return r.effect }

func (r *viewed) Text(w *app.Printer) {
	if r.web {
		w.Line("%s", r.URL)
		return
	}
	w.Line("%s", r.Project.Project)
	projectFields(w, r.Origin, r.Project)
}

// projectFields writes what the hub at origin says about a project.
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
	if r.BaseFiles != nil {
		w.Field("base files", "%s, %s", app.Count(r.BaseFiles.Count, "file", "files"), app.Bytes(r.BaseFiles.Bytes))
	} else {
		w.Field("base files", "none")
	}
	w.Field("created", "%s by %s", app.Ago(r.CreatedAt), r.CreatedBy)
	if !r.ExpiresAt.IsZero() {
		w.Field("expires", "%s", app.Time(r.ExpiresAt))
	}
}

// actionOn returns what a command does to the hub project that is named, else to that of the
// only local one.
func actionOn(ctx context.Context, a *app.App, doing, name string) (act app.Action, err error) {
	act.Doing = strings.TrimSpace(doing + " " + name)
	if act.Project, err = target(ctx, a, name); err != nil {
		return act, failure.Doing(failure.At(app.StageDestination, err), "", "%s", act.Doing)
	}
	return act, nil
}

// target returns the hub project that is named, else that of the only local one. The command
// then uses the hub of its environment.
func target(ctx context.Context, a *app.App, name string) (ref.Ref, error) {
	if name != "" {
		return named(ctx, a, name)
	}
	local, err := a.Local(ctx, "", func(local string) cmdline.Line {
		if _, err := a.ParseProject(local); err == nil {
			return cmdline.Tool("project", "view").With(local)
		}
		return cmdline.Tool("project", "list")
	})
	if err != nil {
		return ref.Ref{}, err
	}
	client, err := local.Client()
	if err != nil {
		return ref.Ref{}, err
	}
	r, err := a.Destination(local, client, nil)
	if err != nil {
		err = failure.Of(err).WithHint("name a project, as @account/slug").Try(cmdline.Tool("project", "list"))
	}
	return r, err
}

// named returns the hub project of an argument, and has the command use the environment's hub.
func named(ctx context.Context, a *app.App, name string) (ref.Ref, error) {
	if err := a.UseEnvironmentHub(ctx); err != nil {
		return ref.Ref{}, err
	}
	return a.ProjectArgument(name)
}

// parseWhole reads the name of a project where a bare slug would have done, too.
func parseWhole(typed string) (ref.Ref, error) {
	r, err := ref.ParseTyped(typed)
	if err != nil {
		err = failure.New(hubclient.CodeInvalidName, "%q is not a valid project name", typed).
			WithHint("a project's name is SLUG or @ACCOUNT/SLUG, each part of %s", ref.Rule)
	}
	return r, err
}
