package project

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func restoreCommand(a *app.App) *cobra.Command {
	as := ""
	c := a.HubFlags(&cobra.Command{
		Use:   "restore <@account/slug>",
		Short: "Restore a deleted hub project",
		Long: `Restore a deleted hub project as it was, with its config, its base files and
their history. A project can be restored for 30 days after it was deleted; tool
project list --deleted shows which. One that was created with --expires cannot.
Restoring a project that is not deleted succeeds. Of several deleted projects
with one name, the one that was deleted last is restored. --as restores it under
another name of its account, such as when a new project uses its name.

The token needs the scope admin:resource, as for deleting it.`,
		Example: "  tool project restore @acme/web\n  tool project restore @acme/web --as web-old",
		Args:    cmdline.Exactly("<@account/slug>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if as != "" && !ref.ValidName(as) {
				return cmdline.Usagef("--as: %q is not a slug: a slug is %s", as, ref.Rule)
			}
			return restore(ctx, a, args[0], as)
		}),
	})
	c.Flags().StringVar(&as, "as", "", "restore it under this `SLUG` (default its own)")
	return c
}

// Restored is a project that is there again.
type Restored struct {
	Project ref.Ref  `json:"project"`
	Origin  string   `json:"origin"`
	Existed bool     `json:"existed"` // it was not deleted
	Notes   []string `json:"notes"`
}

func restore(ctx context.Context, a *app.App, name, as string) error {
	target, err := app.ParseArgument(name, "a project")
	if err != nil {
		return err
	}
	hub, err := a.ConnectToWrite(ctx)
	var done *wire.Restored
	if err == nil {
		done, err = hub.RestoreProject(ctx, target, as)
	}
	if err != nil {
		e := app.Explain(hub, err).At(stageRestore).About(target, failure.Effects{})
		switch e.Code {
		case wire.CodeProjectExists:
			e.Hint = "restore it under another name"
			e.Recipe = []cmdline.Line{cmdline.Tool("project", "restore").With(name).Flag("--as", cmp.Or(as, target.Slug())+"-old")}
		case wire.CodeNotFound:
			e.Hint, e.Recipe = "list what can be restored", []cmdline.Line{cmdline.Tool("project", "list").With(target.Account()).Flag("--deleted")}
		}
		return failure.Doing(e, "", "restore %s", name)
	}
	r := &Restored{Project: done.Project, Origin: hub.Origin(), Existed: done.Existed, Notes: []string{}}
	return a.Print("restored", r, func(w *app.Printer) {
		if r.Existed {
			w.Line("%s was not deleted", r.Project)
		} else {
			w.Line("Restored %s", r.Project)
		}
		w.Field("origin", "%s", r.Origin)
	})
}

// stageRestore is where restoring a project fails.
const stageRestore = "restore"
