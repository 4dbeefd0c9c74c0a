package project

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
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
			source, err := app.ParseArgument(args[0], "a project")
			if err != nil {
				return err
			}
			act := app.Action{Doing: fmt.Sprintf("copy %s to %s", args[0], args[1]), Stage: app.StageCreate, Writes: true}
			if act.Project, err = copyName(source, args[1]); err != nil {
				return failure.Doing(failure.At(app.StageDestination, err), "", "%s", act.Doing)
			}
			create.Account, create.Slug, create.CopyOf = act.Project.Account(), act.Project.Slug(), source
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				created, err := hub.CreateProject(ctx, create)
				if err != nil {
					return nil, explainCopy(err, hub, source, act.Project)
				}
				return &copied{Project: created.Project(), CopyOf: source}, nil
			})
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&expires, "expires", "never", "have the hub delete the copy after this `LIFETIME`, such as 12h, 7d or 4w")
	fl.StringVar(&visibility, "visibility", string(wire.Private), "set who can see the copy: `private|public`")
	c.RegisterFlagCompletionFunc("visibility", completeVisibility)
	return a.HubFlags(c)
}

// copied is a project that was created as a copy.
type copied struct {
	wire.Project `json:",inline"`
	CopyOf       ref.Ref `json:"copyOf"`
	app.OnHub    `json:",inline"`
	app.Noted    `json:",inline"`
}

func (*copied) Kind() string   { return "copied" }
func (*copied) Effect() string { return "the project was created" }

func (r *copied) Text(w *app.Printer) {
	w.Head("Created %s as a copy of %s", r.Project.Project, r.CopyOf)
	projectFields(w, r.Origin, &r.Project)
}

// explainCopy adds the next command to why a project was not copied.
func explainCopy(err error, hub *identity.Hub, source, target ref.Ref) error {
	f := failure.Of(err)
	if f.Code == wire.CodeProjectExists {
		return f.WithHint("nothing was changed; push to it, or delete it first").
			WithRecipe(cmdline.Tool("project", "view").With(target.String()))
	}
	if e, ok := errors.AsType[*hubclient.Error](err); ok && len(e.Errors) == 1 && e.Errors[0].Pointer == "/copyOf" {
		return f.WithReason("there is no project %s on %s", source, hub.Origin()).
			WithRecipe(app.OrRestore(err, source, cmdline.Tool("project", "list").With(source.Account())))
	}
	return f
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
