package project

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

func renameCommand(a *app.App) *cobra.Command {
	return a.HubFlags(a.EnvFlag(&cobra.Command{
		Use:   "rename <name> <new-name>",
		Short: "Rename a hub project",
		Long: `Rename a hub project within its account. Its former address leads to it until
another project has that name: pages and downloads are redirected, push and pull
work, and tokens that are restricted to the project stay valid. client.json gets
the new name at the next push.

The token needs the scope write:catalog and the role admin.`,
		Example: "  tool project rename @acme/web shop",
		Args:    cmdline.Exactly("<name>", "<new-name>"),

		ValidArgsFunction: app.FirstOnly(a.HubProjects()),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			project, err := named(ctx, a, args[0])
			if err != nil {
				return failure.Doing(err, "", "rename %s", args[0])
			}
			to, err := newName(project, args[1])
			if err != nil {
				return err
			}
			act := app.Action{
				Doing: fmt.Sprintf("rename %s to %s", project, to), Writes: true, Project: project,
				Next: cmdline.Tool("project", "list").With(project.Account()),
			}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				p, err := hub.Project(ctx, project)
				if err != nil {
					return nil, err
				}
				former := p.Project
				if former != to && !a.Strict() {
					err := app.Agreed(a.UI.Confirm(ctx, prompts.YesNo{
						Title: fmt.Sprintf("Rename %s to %s?", former, to),
						Facts: []string{"Its former address leads to it until another project has that name."},
						Yes:   "Rename it",
					}))
					if err != nil {
						return nil, err
					}
				}
				if p, err = hub.EditProject(ctx, former, wire.EditProject{Slug: to.Slug()}); err != nil {
					return nil, explainRename(err, to)
				}
				return &renamed{Project: p, Former: former}, nil
			})
		}),
	}))
}

// newName reads the new name of a project, a slug or @account/slug. The failure is a usage error.
func newName(project ref.Ref, typed string) (ref.Ref, error) {
	if !strings.Contains(typed, "/") {
		to, err := ref.New(project.Account(), typed)
		if err != nil {
			err = cmdline.Usagef("%q is not a slug: a slug is %s", typed, ref.Rule)
		}
		return to, err
	}
	to, err := app.FullArgument(typed, "a project")
	if err == nil && to.Account() != project.Account() {
		err = cmdline.Usagef("a project stays in its account: %s cannot become %s", project, to).
			WithHint("copy it instead: tool project copy %s %s", project, to)
	}
	return to, err
}

func explainRename(err error, to ref.Ref) error {
	f := failure.Of(err)
	if f.Code == wire.CodeProjectExists {
		return f.WithHint("nothing was changed; choose another name").
			WithRecipe(cmdline.Tool("project", "view").With(to.String()))
	}
	return f
}

// renamed is a project with its new name.
type renamed struct {
	*wire.Project `json:",inline"`
	Former        ref.Ref `json:"former"`
	app.OnHub     `json:",inline"`
	app.Noted     `json:",inline"`
}

func (*renamed) Kind() string   { return "renamed" }
func (*renamed) Effect() string { return "the project was renamed" }

func (r *renamed) Text(w *app.Printer) {
	if r.Former == r.Project.Project {
		w.Head("%s has this name already", r.Former)
	} else {
		w.Head("Renamed %s to %s", r.Former, r.Project.Project)
	}
	w.Address("page", r.Origin, r.URL)
}
