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
	"example.com/projecthub/cmd/tool/internal/app/ui"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Updated is an API whose description was replaced.
type Updated struct {
	Viewed  `json:",inline"`
	Changed bool `json:"changed"`
}

// updateOptions are the flags of api update.
type updateOptions struct {
	from    app.Optional
	force   bool
	allowed []string // files that are sent although they hold secrets

	api ref.Ref // once it is known
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
			name := strings.Join(args, "")
			o.api = ref.Ref{}
			if name != "" {
				var err error
				if o.api, err = app.ParseArgument(name, "an API"); err != nil {
					return err
				}
			}
			err := update(ctx, a, name, &o)
			if !o.api.IsZero() {
				name = o.api.String()
			}
			return failure.Doing(failure.At("update", err), "", "%s", strings.TrimSpace("update "+name))
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

// update replaces the description of the API that is named, else that of the local
// project, and asks first where it can.
func update(ctx context.Context, a *app.App, name string, o *updateOptions) error {
	local, err := a.Local(ctx, o.from.String(), func(local string) cmdline.Line {
		if name == "" {
			return a.Line().Flag("--from", local)
		}
		return a.FromLine(name)(local)
	})
	if err != nil {
		return err
	}
	source, err := readSource(a, local)
	if err != nil {
		return err
	}
	if o.api.IsZero() {
		if o.api, err = ofLocal(a, local); err != nil {
			return err
		}
	}
	api := o.api
	hub, err := a.Connect()
	if err != nil {
		return err
	}
	former, err := hub.API(ctx, api)
	if err != nil {
		return explain(hub, err, api)
	}
	if former.SHA256 != source.digest {
		a.ListFiles(source.Description)
		files := source.Sensitive(ctx, local.Workspace.Dir, o.allowed)
		if a.Strict() || o.force {
			again := a.Line().With(api.String()).Flag("--from", local.Name)
			if err := app.RefuseSecrets(files.Secrets, o.allowed, again); err != nil {
				return failure.At(app.StageAPI, err)
			}
			if note := files.Note("file of the description", "files of the description", ""); note != "" {
				source.Notes = append(source.Notes, note)
			}
		} else if yes, err := confirm(ctx, a, former, source, files); err != nil {
			return err
		} else if !yes {
			return a.Aborted(&app.Aborted{ProjectName: local.Name, Origin: hub.Origin()})
		}
	}
	now, err := source.send(ctx, hub, api)
	if err != nil {
		return explain(hub, err, api)
	}
	r := Updated{
		Viewed:  Viewed{API: *now, Origin: hub.Origin(), Notes: append([]string{}, source.Notes...)},
		Changed: now.SHA256 != former.SHA256,
	}
	if !r.Changed {
		r.Notes = append(r.Notes, "the hub had this description already")
	}
	return a.PrintDone("api", "the API was updated", r, func(w *app.Printer) { viewText(w, r.API, r.Origin, r.Notes) })
}

func confirm(ctx context.Context, a *app.App, former *wire.API, s *source, files app.Sensitive) (bool, error) {
	return a.UI.Confirm(ctx, ui.YesNo{
		Title: fmt.Sprintf("Replace the description of %s?", former.API),
		Facts: append([]string{
			fmt.Sprintf("Now   %s %s, registered by %s", former.Title, former.Version, former.CreatedBy),
			"By    " + s.name,
			"All projects that use the API get the new description.",
		}, files.Facts()...),
		Yes: "Replace it", No: "Leave it",
	})
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
