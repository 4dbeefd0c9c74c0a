package project

import (
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
		Use:   "rm <name>",
		Short: "Delete a hub project",
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
			return remove(ctx, a, args[0], from.String(), force)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&from, "from", "look for a bare slug in the account of this local `PROJECT`")
	fl.BoolVar(&force, "force", false, "delete without asking")
	c.RegisterFlagCompletionFunc("from", a.LocalNames)
	return a.HubFlags(a.EnvFlag(c))
}

// Removed is a project that is gone.
type Removed struct {
	Project ref.Ref `json:"project"`
	Origin  string  `json:"origin"`
	Existed bool    `json:"existed"` // false: it was gone already

	RestorableUntil time.Time `json:"restorableUntil,omitzero"` // zero: it cannot be restored

	Notes []string `json:"notes"`

	// Ambiguous: whether it was gone already, or an attempt without a response has
	// deleted it, is not known. Existed is then false.
	Ambiguous bool `json:"ambiguous,omitzero"`
}

// remove deletes a project, and asks first where it can.
func remove(ctx context.Context, a *app.App, name, from string, force bool) error {
	target, local, err := resolve(ctx, a, name, from)
	if err != nil {
		return failure.Doing(failure.At(app.StageDestination, err), local, "delete %s", name)
	}
	hub, err := a.ConnectToWrite(ctx)
	fail := func(err error) error {
		return failure.Doing(app.Explain(hub, err).At(app.StageRemove).About(target, failure.Effects{}), local, "delete %s", name)
	}
	if err != nil {
		return fail(err)
	}
	if !a.Strict() && !force {
		yes, err := a.UI.TypeRef(ctx, fmt.Sprintf("Delete %s?", target), "Its config and base files are deleted, too. It can be restored for 30 days.", target)
		switch {
		case err != nil:
			return fail(err)
		case !yes:
			return a.Aborted(&app.Aborted{ProjectName: local, Project: target, Origin: hub.Origin()})
		}
	}
	r, err := removeFrom(ctx, hub, target)
	if err != nil {
		return fail(err)
	}
	return a.Print("removed", r, func(w *app.Printer) { removedText(a, w, r) })
}

func removedText(a *app.App, w *app.Printer, r *Removed) {
	switch {
	case r.Existed:
		w.Line("Deleted %s", r.Project)
	case r.Ambiguous:
		w.Line("%s does not exist now", r.Project)
	default:
		w.Line("%s was gone already", r.Project)
	}
	w.Field("origin", "%s", r.Origin)
	if !r.RestorableUntil.IsZero() {
		w.Field("restore", "until %s: %s", app.Time(r.RestorableUntil), a.CommandText(cmdline.Tool("project", "restore").With(r.Project.String())))
	}
	w.Notes(r.Notes)
}

// removeFrom deletes a project of a hub, and finds out whether it existed.
func removeFrom(ctx context.Context, hub *identity.Hub, target ref.Ref) (*Removed, error) {
	before, err := look(ctx, hub, target)
	if err != nil {
		return nil, err
	}
	deleted, err := hub.DeleteProject(ctx, target)
	if err != nil {
		return nil, err
	}
	r := &Removed{Project: target, Origin: hub.Origin(), Existed: deleted.Existed || deleted.Ambiguous && before == present,
		RestorableUntil: deleted.RestorableUntil, Notes: []string{}}
	switch {
	case deleted.Ambiguous && before == hidden:
		r.Ambiguous = true
		r.Notes = append(r.Notes, fmt.Sprintf("%s does not exist: it was deleted by this command, in an attempt without a response, or did not exist before", target))
	case !r.Existed:
		r.Notes = append(r.Notes, missing(ctx, hub, target))
	}
	return r, nil
}

// existence is what is known of a project before it is deleted.
type existence int

const (
	absent existence = iota
	present
	hidden // from this token
)

// look finds out whether the project exists, because the hub's answer to a deletion
// whose first response was lost no longer says so.
func look(ctx context.Context, hub *identity.Hub, target ref.Ref) (existence, error) {
	_, err := hub.Project(ctx, target)
	switch {
	case err == nil:
		return present, nil
	case app.IsNotFound(err):
		return absent, nil
	case hubclient.HasCode(err, wire.CodeNotPermitted):
		return hidden, nil
	}
	return hidden, err
}

// resolve returns the project that a name means. A bare slug takes the account of
// the local project, whose name is returned, too: of its destination when that has this slug,
// else of its stack.
func resolve(ctx context.Context, a *app.App, typed, from string) (target ref.Ref, name string, err error) {
	if !ref.ValidName(typed) {
		r, err := ref.ParseTyped(typed)
		if err != nil {
			return r, from, failure.New(hubclient.CodeInvalidName, "%q names no project", typed).
				WithHint("a project's name is SLUG or @ACCOUNT/SLUG, each part of %s", ref.Rule)
		}
		return r, from, a.UseEnvironmentHub(ctx)
	}
	local, err := a.Local(ctx, from, a.FromLine(typed))
	if err != nil {
		e := failure.Of(err)
		if e.Code == failure.CodeNoWorkspace || e.Hint == "" { // no local project to take an account from
			e = e.WithHint("in which account is %s? Give its whole name, @account/%s", typed, typed)
			e.Recipe = []cmdline.Line{cmdline.Tool("project", "list")}
		}
		return target, from, e
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
	of, err := stack.Name()
	if err != nil {
		return target, local.Name, err
	}
	target, err = ref.New(of.Account(), typed)
	return target, local.Name, err
}

// missing says that there was nothing to delete, and which slug is near.
func missing(ctx context.Context, hub *identity.Hub, target ref.Ref) string {
	note := fmt.Sprintf("there is no %s on %s", target, hub.Origin())
	projects, err := hub.Projects(ctx, target.Account())
	if err != nil {
		return note
	}
	var slugs []string
	for _, p := range projects {
		slugs = append(slugs, p.Project.Slug())
	}
	if near := cmdline.Nearest(target.Slug(), slugs); near != "" {
		note += fmt.Sprintf("; did you mean @%s/%s?", target.Account(), near)
	}
	return note
}
