// Package api lists, shows, updates and deletes the APIs that are registered at the hub.
package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
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

// updated is an API whose description was replaced.
type updated struct {
	viewed  `json:",inline"`
	Changed bool `json:"changed"`
}

func (*updated) Effect() string { return "the API was updated" }

// update replaces the description of an API by the source of a local project.
type update struct {
	from    app.Optional // name of the local project
	force   bool
	allowed []string // files that are sent although they hold secrets

	// Set by plan.
	api         ref.Ref // set before, if it was named
	local       *workspace.Project
	source      *workspace.Schema // a file, or a URL
	description app.Description   // what is in the file; zero for a URL
}

func updateCommand(a *app.App) *cobra.Command {
	var u update
	c := &cobra.Command{
		Use:   "update [" + argument + "]",
		Short: "Replace the description of a registered API",
		Long: `Replace the description of a registered API by the source of a local project:
a file of the workspace, or a URL, which the hub fetches. Without an argument it
is the API that client.json names. All projects that use the API get the new
description. A terminal asks first, unless --force is given.`,
		Example: "  tool api update\n  tool api update @acme/pets --from web",
		Args:    cmdline.AtMost(argument),

		ValidArgsFunction: app.FirstOnly(completeAPI(a)),
		RunE: a.Run(func(ctx context.Context, args []string) (err error) {
			if u.from.Given() && u.from.String() == "" {
				return app.EmptyLocal("--from")
			}
			act := app.Action{Doing: "update", Writes: true}
			if len(args) > 0 {
				if u.api, err = a.Argument(args[0], "an API"); err != nil {
					return err
				}
				act.Doing = fmt.Sprintf("update %s", u.api)
			}
			if err := u.plan(ctx, a, args); err != nil {
				return failure.Doing(err, "", "%s", act.Doing)
			}
			act.Doing = fmt.Sprintf("update %s", u.api)
			act.Next = cmdline.Tool("api", "list").With(u.api.Account())
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				r, err := u.apply(ctx, a, hub)
				return r, nameMissing(err, hub, u.api)
			})
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&u.from, "from", "take the source of this local `PROJECT` (default: the only one)")
	fl.BoolVar(&u.force, "force", false, "replace without asking")
	app.AllowSecrets(c, &u.allowed)
	c.RegisterFlagCompletionFunc("from", a.LocalNames)
	return a.HubFlags(a.EnvFlag(c))
}

// plan reads the source, and finds the API if none is named.
func (u *update) plan(ctx context.Context, a *app.App, named []string) (err error) {
	again := func(local string) cmdline.Line { return a.Line().With(named...).Flag("--from", local) }
	if u.local, err = a.Local(ctx, u.from.String(), again); err != nil {
		return err
	}
	client, err := a.ReadClient(u.local)
	if err != nil {
		return failure.At(app.StageRead, err)
	}
	if u.source, err = client.Schema(); err != nil {
		return failure.At(app.StageAPI, err)
	}
	if u.source.URL == "" {
		if u.description, err = app.ReadDescription(u.source); err != nil {
			return failure.At(app.StageAPI, err)
		}
	}
	if u.api.IsZero() {
		u.api, err = ofClient(u.local, client)
	}
	return err
}

// apply replaces the description on the hub. It asks first, unless the hub has this description
// already; of a URL only the hub finds that out.
func (u *update) apply(ctx context.Context, a *app.App, hub *identity.Hub) (app.Result, error) {
	former, err := hub.API(ctx, u.api)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(u.description.Text)
	isSame := u.source.URL == "" && former.SHA256 == hex.EncodeToString(sum[:])
	if !isSame {
		if err := u.confirm(ctx, a, former); err != nil {
			return nil, err
		}
	}
	var now *wire.API
	if u.source.URL != "" {
		now, err = hub.UpdateAPIFrom(ctx, u.api, u.source.URL)
	} else {
		now, err = hub.UpdateAPI(ctx, u.api, hubclient.Description{
			Document: u.description.Text,
			Name:     path.Base(u.source.File),
		})
	}
	if err != nil {
		return nil, err
	}
	r := &updated{
		viewed:  viewed{API: now, Noted: app.Noted{Notes: u.description.Notes}},
		Changed: now.SHA256 != former.SHA256,
	}
	if !r.Changed {
		r.Note("the hub had this description already")
	}
	return r, nil
}

// confirm asks before a description is replaced. Where it does not ask, it refuses files that
// hold secrets.
func (u *update) confirm(ctx context.Context, a *app.App, former *wire.API) error {
	a.ListFiles(u.description)
	files := u.description.Sensitive(ctx, u.local.Workspace.Dir, u.allowed)
	if a.Strict() || u.force {
		if note := files.Note("file of the description", "files of the description", ""); note != "" {
			u.description.Notes = append(u.description.Notes, note)
		}
		again := a.Line().With(u.api.String()).Flag("--from", u.local.Name)
		return failure.At(app.StageAPI, app.RefuseSecrets(files.Secrets, u.allowed, again))
	}
	return app.Agreed(a.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Replace the description of %s?", u.api),
		Facts: append([]string{
			fmt.Sprintf("Now   %s %s, registered by %s", former.Title, former.Version, former.CreatedBy),
			"By    " + cmp.Or(u.source.URL, u.source.File),
			"All projects that use the API get the new description.",
		}, files.Facts()...),
		Yes: "Replace it",
	}))
}
