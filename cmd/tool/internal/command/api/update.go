package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"

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
