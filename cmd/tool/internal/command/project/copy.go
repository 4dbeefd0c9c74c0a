package project

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func copyCommand(a *app.App) *cobra.Command {
	var expires, visibility string
	c := &cobra.Command{
		Use:   "copy <@account/slug> <name>",
		Short: "Create a hub project as a copy of another one",
		Long: `Create a hub project with the stack, the API, the config and the base files of
another one. Nothing is uploaded. <name> is a slug in the same account, or
@account/slug. An existing project is never changed.

With --expires the hub deletes the copy after that time: for the preview of a
pull request, to which push --project then pushes.

The token needs the scope write:catalog, the role writer on the account of the
copy, and the role reader on those of the project, its stack and its API.`,
		Example: "  tool project copy @acme/web web-pr-7 --expires 7d\n  tool push web --project @acme/web-pr-7 --no-record",
		Args:    cmdline.Exactly("<@account/slug>", "<name>"),

		ValidArgsFunction: app.FirstOnly(a.HubProjects()),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			create := wire.CreateProject{Visibility: wire.Visibility(visibility)}
			if create.Visibility != wire.Private && create.Visibility != wire.Public {
				return cmdline.Usagef("--visibility is private or public, not %q", visibility)
			}
			lifetime, err := pat.ParseLifetime(expires)
			if err != nil {
				return cmdline.Usagef("--expires: %v", err)
			}
			if lifetime > 0 {
				create.ExpiresAt = time.Now().Add(lifetime).UTC().Truncate(time.Second)
			}
			return copyProject(ctx, a, args[0], args[1], create)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&expires, "expires", "never", "have the hub delete the copy after this `LIFETIME`, such as 12h, 7d or 4w")
	fl.StringVar(&visibility, "visibility", string(wire.Private), "set who can see the copy: `private|public`")
	c.RegisterFlagCompletionFunc("visibility", cobra.FixedCompletions([]string{string(wire.Private), string(wire.Public)}, cobra.ShellCompDirectiveNoFileComp))
	return a.HubFlags(c)
}

// Copied is a project that was created as a copy.
type Copied struct {
	wire.Project `json:",inline"`
	CopyOf       ref.Ref  `json:"copyOf"`
	Origin       string   `json:"origin"`
	Notes        []string `json:"notes"`
}

// copyProject creates a project as a copy of another one.
func copyProject(ctx context.Context, a *app.App, from, name string, create wire.CreateProject) error {
	doing := func(err error) error { return failure.Doing(err, "", "copy %s to %s", from, name) }
	source, err := app.ParseArgument(from, "a project")
	if err != nil {
		return err
	}
	target, err := copyName(source, name)
	if err != nil {
		return doing(failure.At(app.StageDestination, err))
	}
	create.Account, create.Slug, create.CopyOf = target.Account(), target.Slug(), source
	hub, err := a.ConnectToWrite(ctx)
	var created hubclient.Created
	if err == nil {
		created, err = hub.CreateProject(ctx, create)
	}
	if err != nil {
		e := app.Explain(hub, err).At(app.StageCreate).About(target, failure.Effects{})
		if e.Code == wire.CodeProjectExists {
			e.Hint = "nothing was changed; push to it, or delete it first"
			e.Recipe = []cmdline.Line{cmdline.Tool("project", "view").With(target.String())}
		}
		if he, ok := errors.AsType[*hubclient.Error](err); ok && len(he.Errors) == 1 && he.Errors[0].Pointer == "/copyOf" {
			e = e.WithReason("there is no project %s on %s", source, hub.Origin()).
				WithRecipe(app.OrRestore(err, source, cmdline.Tool("project", "list").With(source.Account())))
		}
		return doing(e)
	}
	r := &Copied{Project: created.Project(), CopyOf: source, Origin: hub.Origin(), Notes: []string{}}
	return a.Print("copied", r, func(w *app.Printer) {
		w.Line("Created %s as a copy of %s", r.Project.Project, source)
		projectFields(w, r.Origin, &r.Project)
		w.Field("origin", "%s", r.Origin)
		w.Notes(r.Notes)
	})
}

// copyName returns the project that a name means: a slug is in the account of the source.
func copyName(source ref.Ref, name string) (ref.Ref, error) {
	if ref.ValidName(name) {
		return ref.New(source.Account(), name)
	}
	r, err := ref.ParseTyped(name)
	if err != nil {
		return ref.Ref{}, failure.New(hubclient.CodeInvalidName, "%q cannot name a project", name).
			WithHint("a project's name is SLUG or @ACCOUNT/SLUG, each part of %s", ref.Rule)
	}
	return r, nil
}
