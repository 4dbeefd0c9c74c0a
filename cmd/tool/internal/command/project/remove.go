package project

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func removeCommand(a *app.App) *cobra.Command {
	var from app.Optional
	var force bool
	c := &cobra.Command{
		Use:     "rm <name>",
		Aliases: []string{"delete"}, // such commands are often called that
		Short:   "Delete a hub project",
		Long: `Delete a hub project with its config and base files. Local files are kept. It
can be restored for 30 days with tool project restore. One that was created with
--expires is gone at once.

Deleting a project that does not exist succeeds. A terminal asks you to type the
full name, unless --force is given. The token needs the scope admin:resource.`,
		Example: "  tool project rm @acme/web\n  tool project rm web --from web --force",
		Args:    cmdline.Exactly("<name>"),

		ValidArgsFunction: app.FirstOnly(a.HubProjects()),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if from.Given() && from.String() == "" {
				return app.EmptyLocal("--from")
			}
			project, local, err := resolve(ctx, a, args[0], from.String())
			if err != nil {
				return failure.Doing(failure.At(app.StageDestination, err), local, "delete %s", args[0])
			}
			act := app.Action{Doing: "delete " + args[0], Writes: true, Local: local, Project: project}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				found, err := hub.Project(ctx, project)
				// A caller who may not read it may not delete it: the failure of the deletion says so.
				if err != nil && !hubclient.HasCode(err, wire.CodeNotFound, wire.CodeNotPermitted) {
					return nil, err
				}
				existed := err == nil
				if wasRenamed := existed && found.Project != project; wasRenamed {
					if a.Strict() || force {
						return nil, failure.New(wire.CodeRenamed, "%s is %s now: nothing was deleted", project, found.Project).
							WithHint("delete it by its present name").
							Try(cmdline.Tool("project", "rm").With(found.Project.String()).Flag("--force"))
					}
					project = found.Project
				}
				fact := "Its config and base files are deleted, too. It can be restored for 30 days."
				if existed && !found.ExpiresAt.IsZero() {
					fact = "Its config and base files are deleted, too. It expires, so it cannot be restored."
				}
				if err := a.ConfirmRef(ctx, force, fmt.Sprintf("Delete %s?", project), fact, project); err != nil {
					return nil, err
				}
				return remove(ctx, hub, project, existed)
			})
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&from, "from", "look for a bare slug in the account of this local `PROJECT`")
	fl.BoolVar(&force, "force", false, "delete without asking")
	c.RegisterFlagCompletionFunc("from", a.LocalNames)
	return a.HubFlags(a.EnvFlag(c))
}

// removed is a project that is gone.
type removed struct {
	Project   ref.Ref `json:"project"`
	app.OnHub `json:",inline"`
	Existed   bool `json:"existed"` // false: it was gone already

	RestorableUntil time.Time `json:"restorableUntil,omitzero"` // zero: it cannot be restored

	app.Noted `json:",inline"`
}

func (*removed) Kind() string   { return "removed" }
func (*removed) Effect() string { return "the project is gone" }

func (r *removed) Text(w *app.Printer) {
	if r.Existed {
		w.Head("Deleted %s", r.Project)
	} else {
		w.Head("%s was gone already", r.Project)
	}
	if !r.RestorableUntil.IsZero() {
		restore := cmdline.Tool("project", "restore").With(r.Project.String())
		w.Field("restore", "until %s: %s", app.Time(r.RestorableUntil), w.Command(restore))
	}
}

// remove deletes a project. existedBefore says whether it existed before the deletion, because
// the hub no longer knows that when the client repeats a deletion after a lost response.
func remove(ctx context.Context, hub *identity.Hub, project ref.Ref, existedBefore bool) (app.Result, error) {
	deleted, err := hub.DeleteProject(ctx, project)
	if err != nil {
		return nil, err
	}
	r := &removed{
		Project:         project,
		Existed:         deleted.Existed || deleted.Ambiguous && existedBefore,
		RestorableUntil: deleted.RestorableUntil,
	}
	if n := deleted.RevokedTokens; n > 0 {
		r.Note("revoked %s that could use this project alone; a restore does not bring them back",
			app.Count(n, "token", "tokens"))
	}
	if !r.Existed {
		r.Note("%s", nothingToDelete(ctx, hub, project))
	}
	return r, nil
}

// resolve returns the project that a name means, and the name of the local project that --from
// names, or that is the only one; "": none. A bare slug takes the account of its destination if
// that has this slug, else of its stack.
func resolve(ctx context.Context, a *app.App, typed, from string) (target ref.Ref, localName string, err error) {
	if !ref.ValidName(typed) {
		if target, err = parseWhole(typed); err == nil {
			err = a.UseEnvironmentHub(ctx)
		}
		return target, from, err
	}
	local, err := a.Local(ctx, from, a.FromLine(typed))
	if err != nil {
		f := failure.Of(err)
		if f.Code == failure.CodeNoWorkspace || f.Hint == "" { // no local project to take an account from
			f = f.WithHint("in which account is %s? Give its whole name, @account/%s", typed, typed).
				WithRecipe(cmdline.Tool("project", "list"))
		}
		return target, from, f
	}
	if client, err := local.Client(); err == nil {
		if r, err := ref.Parse(client.Project.Text); err == nil && r.Slug() == typed {
			return r, local.Name, nil
		}
	}
	stack, err := local.Stack()
	if err != nil {
		return target, local.Name, err
	}
	stackName, err := stack.Name()
	if err != nil {
		return target, local.Name, err
	}
	target, err = ref.New(stackName.Account(), typed)
	return target, local.Name, err
}

// nothingToDelete says that there is no such project, and which slug is near.
func nothingToDelete(ctx context.Context, hub *identity.Hub, project ref.Ref) string {
	note := fmt.Sprintf("there is no %s on %s", project, hub.Origin())
	var slugs []string
	if others, err := hub.Projects(ctx, project.Account()); err == nil {
		for _, p := range others {
			slugs = append(slugs, p.Project.Slug())
		}
	}
	if near := cmdline.Nearest(project.Slug(), slugs); near != "" {
		note += fmt.Sprintf("; did you mean @%s/%s?", project.Account(), near)
	}
	return note
}

func restoreCommand(a *app.App) *cobra.Command {
	var as string
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
			target, err := a.ProjectArgument(args[0])
			if err != nil {
				return err
			}
			act := app.Action{
				Doing:   "restore " + args[0],
				Writes:  true,
				Project: target,
				Next:    cmdline.Tool("project", "list").With(target.Account()).Flag("--deleted"),
			}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				answer, err := hub.RestoreProject(ctx, target, as)
				if err != nil {
					another := cmp.Or(as, target.Slug()) + "-old"
					return nil, explainRestore(err, cmdline.Tool("project", "restore").With(args[0]).Flag("--as", another))
				}
				return &restored{Project: answer.Project, Existed: answer.Existed}, nil
			})
		}),
	})
	c.Flags().StringVar(&as, "as", "", "restore it under this `SLUG` (default its own)")
	return c
}

// explainRestore adds what to do to why a project was not restored. renamed is the command that
// restores it under another name.
func explainRestore(err error, renamed cmdline.Line) error {
	f := failure.Of(err)
	switch f.Code {
	case wire.CodeProjectExists:
		return f.WithHint("restore it under another name").WithRecipe(renamed)
	case wire.CodeNotFound:
		return f.WithHint("list what can be restored")
	}
	return f
}

// restored is a project that exists again, or still.
type restored struct {
	Project   ref.Ref `json:"project"`
	app.OnHub `json:",inline"`
	Existed   bool `json:"existed"` // it was not deleted
	app.Noted `json:",inline"`
}

func (*restored) Kind() string   { return "restored" }
func (*restored) Effect() string { return "the restore went through" }

func (r *restored) Text(w *app.Printer) {
	if r.Existed {
		w.Head("%s was not deleted", r.Project)
	} else {
		w.Head("Restored %s", r.Project)
	}
}
