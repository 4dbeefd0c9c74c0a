package api

import (
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

// updated is an API whose description was replaced.
type updated struct {
	viewed  `json:",inline"`
	Changed bool `json:"changed"`
}

func (*updated) Effect() string { return "the API was updated" }

// updateOptions are the flags of api update.
type updateOptions struct {
	from    app.Optional
	force   bool
	allowed []string // files that are sent although they hold secrets
}

func updateCommand(a *app.App) *cobra.Command {
	var o updateOptions
	c := &cobra.Command{
		Use:   "update [" + argument + "]",
		Short: "Replace the description of a registered API",
		Long: `Replace the description of a registered API by the source of a local project:
a file of the workspace, or a URL, which the hub fetches. Without an argument it
is the API that client.json names. All projects that use the API get the new
description. A terminal asks first, unless --force is given.`,
		Example: "  tool api update\n  tool api update @acme/pets --from web",
		Args:    cmdline.AtMost(argument),

		ValidArgsFunction: app.FirstOnly(registered(a)),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if o.from.Given() && o.from.String() == "" {
				return app.EmptyLocal("--from")
			}
			var api ref.Ref
			if name := strings.Join(args, ""); name != "" {
				var err error
				if api, err = app.ParseArgument(name, "an API"); err != nil {
					return err
				}
			}
			return update(ctx, a, api, &o)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&o.from, "from", "take the source of this local `PROJECT` (default: the only one)")
	fl.BoolVar(&o.force, "force", false, "replace without asking")
	app.AllowSecrets(c, &o.allowed)
	c.RegisterFlagCompletionFunc("from", a.LocalNames)
	return a.HubFlags(a.EnvFlag(c))
}

// update replaces the description of an API, which is that of the local project if it is
// zero.
func update(ctx context.Context, a *app.App, api ref.Ref, o *updateOptions) error {
	act := app.Action{Doing: "update"}
	again := a.Line()
	if !api.IsZero() {
		act.Doing, again = fmt.Sprintf("update %s", api), again.With(api.String())
	}
	local, err := a.Local(ctx, o.from.String(), func(local string) cmdline.Line { return again.Flag("--from", local) })
	var s *source
	if err == nil {
		s, err = readSource(a, local)
	}
	if err == nil && api.IsZero() {
		api, err = ofLocal(a, local)
	}
	if err != nil {
		return failure.Doing(err, "", "%s", act.Doing)
	}
	act.Doing, act.Next = fmt.Sprintf("update %s", api), cmdline.Tool("api", "list").With(api.Account())
	return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
		former, err := hub.API(ctx, api)
		if err != nil {
			return nil, missing(err, hub, api)
		}
		if former.SHA256 != s.digest {
			if err := o.confirm(ctx, a, local, former, s); err != nil {
				return nil, err
			}
		}
		now, err := s.send(ctx, hub, api)
		if err != nil {
			return nil, missing(err, hub, api)
		}
		r := &updated{viewed: viewed{API: now, Noted: app.Noted{Notes: s.Notes}}, Changed: now.SHA256 != former.SHA256}
		if !r.Changed {
			r.Note("the hub had this description already")
		}
		return r, nil
	})
}

// confirm asks before a description is replaced. Where it does not ask, it refuses files that
// hold secrets.
func (o *updateOptions) confirm(
	ctx context.Context, a *app.App, local *workspace.Project, former *wire.API, s *source,
) error {
	a.ListFiles(s.Description)
	files := s.Sensitive(ctx, local.Workspace.Dir, o.allowed)
	if a.Strict() || o.force {
		if note := files.Note("file of the description", "files of the description", ""); note != "" {
			s.Notes = append(s.Notes, note)
		}
		again := a.Line().With(former.API.String()).Flag("--from", local.Name)
		return failure.At(app.StageAPI, app.RefuseSecrets(files.Secrets, o.allowed, again))
	}
	return app.Agreed(a.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Replace the description of %s?", former.API),
		Facts: append([]string{
			fmt.Sprintf("Now   %s %s, registered by %s", former.Title, former.Version, former.CreatedBy),
			"By    " + s.name,
			"All projects that use the API get the new description.",
		}, files.Facts()...),
		Yes: "Replace it", No: "Leave it",
	}))
}

// source is the description in a file, or at an address.
type source struct {
	name   string // of the file, or the address
	url    string // "" for a file
	digest string // "" for an address
	app.Description
}

// readSource reads what source of a local project names.
func readSource(a *app.App, local *workspace.Project) (*source, error) {
	client, err := a.ReadClient(local)
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	schema, err := client.Schema()
	if err != nil {
		return nil, failure.At(app.StageAPI, err)
	}
	if schema.URL != "" {
		return &source{name: schema.URL, url: schema.URL}, nil
	}
	read, err := app.ReadDescription(schema)
	if err != nil {
		return nil, failure.At(app.StageAPI, err)
	}
	sum := sha256.Sum256(read.Text)
	return &source{name: schema.File, digest: hex.EncodeToString(sum[:]), Description: read}, nil
}

func (s *source) send(ctx context.Context, hub *identity.Hub, api ref.Ref) (*wire.API, error) {
	if s.url != "" {
		return hub.UpdateAPIFrom(ctx, api, s.url)
	}
	return hub.UpdateAPI(ctx, api, hubclient.Description{Document: s.Text, Name: path.Base(s.name)})
}
