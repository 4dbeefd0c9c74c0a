package project

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

func checkVisibility(typed string) error {
	if v := wire.Visibility(typed); v != wire.Private && v != wire.Public {
		return cmdline.Usagef("--visibility is private or public, not %q", typed)
	}
	return nil
}

// editFlags are the flags of project edit.
type editFlags struct {
	visibility, stackVersion, api string // "": not to be changed

	enforceSchema      bool
	enforceSchemaGiven bool
}

// change checks the flags, and returns what they change.
func (f *editFlags) change(a *app.App) (change wire.EditProject, err error) {
	if f.visibility == "" && f.stackVersion == "" && f.api == "" && !f.enforceSchemaGiven {
		return change, cmdline.Usagef("say what to change: --visibility, --stack-version, --api or --enforce-schema")
	}
	change = wire.EditProject{Visibility: wire.Visibility(f.visibility), StackVersion: f.stackVersion}
	if f.enforceSchemaGiven {
		change.EnforceSchema = &f.enforceSchema
	}
	if f.visibility != "" {
		if err := checkVisibility(f.visibility); err != nil {
			return change, err
		}
	}
	if f.stackVersion != "" && f.stackVersion != wire.Latest && !version.Valid(f.stackVersion) {
		return change, cmdline.Usagef("--stack-version is latest or a version such as 1.2.0, not %q", f.stackVersion)
	}
	if f.api != "" {
		if change.API, err = a.ParseRef(f.api); err != nil {
			return change, cmdline.Usagef("--api is @account/slug: %v", err)
		}
	}
	return change, nil
}

func editCommand(a *app.App) *cobra.Command {
	var f editFlags
	c := &cobra.Command{
		Use:     "edit [<@account/slug>]",
		Aliases: []string{"set"}, // such commands are often called that
		Short:   "Change who can see a hub project, and what it uses",
		Long: `Change the visibility, the stack version or the API of a hub project. What is
not named by a flag stays as it is. Without an argument it is the project of the
only local one.

A public project shows its config, its base files, its page and the names of its
stack and API to everyone; a terminal asks first. With --enforce-schema the hub
refuses settings that the stack's schema does not allow; otherwise a push only
reports them. The token needs the scope write:catalog, and --enforce-schema the
role admin.`,
		Example: "  tool project edit @acme/web --visibility public\n  tool project edit --stack-version 1.2.0",
		Args:    cmdline.AtMost("<@account/slug>"),

		ValidArgsFunction: app.FirstOnly(a.HubProjects()),
	}
	fl := c.Flags()
	c.RunE = a.Run(func(ctx context.Context, args []string) error {
		f.enforceSchemaGiven = fl.Changed("enforce-schema")
		change, err := f.change(a)
		if err != nil {
			return err
		}
		act, err := actionOn(ctx, a, "edit", strings.Join(args, ""))
		if err != nil {
			return err
		}
		act.Doing = fmt.Sprintf("edit %s", act.Project)
		act.Writes = true
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
			if change.Visibility == wire.Public && !a.Strict() {
				if err := confirmPublic(ctx, a, hub, act.Project); err != nil {
					return nil, err
				}
			}
			p, err := hub.EditProject(ctx, act.Project, change)
			return &viewed{Project: p, effect: "the project was changed"}, err
		})
	})
	fl.SortFlags = false
	fl.StringVar(&f.visibility, "visibility", "", "set who can see the project: `private|public`")
	fl.StringVar(&f.stackVersion, "stack-version", "", "use this published `VERSION` of the stack, or latest")
	fl.StringVar(&f.api, "api", "", "use the registered API `@ACCOUNT/SLUG`")
	fl.BoolVar(&f.enforceSchema, "enforce-schema", false,
		"refuse settings that the stack's schema does not allow; =false only reports them")
	c.RegisterFlagCompletionFunc("visibility", app.OneOf(wire.Private, wire.Public))
	return a.HubFlags(a.EnvFlag(c))
}

// confirmPublic asks whether everyone may see a project, unless everyone can already.
func confirmPublic(ctx context.Context, a *app.App, hub *identity.Hub, project ref.Ref) error {
	p, err := hub.Project(ctx, project)
	if err != nil || p.Visibility == wire.Public {
		return err
	}
	return app.Agreed(a.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Make %s public?", p.Project),
		Facts: []string{"Everyone will see its config, its base files, its page and the names of its stack and API."},
		Yes:   "Make it public",
	}))
}

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
		Example: "  tool project copy @acme/web web-pr-7 --expires 7d\n" +
			"  tool push web --project @acme/web-pr-7 --no-record",
		Args: cmdline.Exactly("<@account/slug>", "<name>"),

		ValidArgsFunction: app.FirstOnly(a.HubProjects()),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if err := checkVisibility(visibility); err != nil {
				return err
			}
			lifetime, err := pat.ParseLifetime(expires)
			if err != nil {
				return cmdline.Usagef("--expires: %v", err)
			}
			source, err := a.ProjectArgument(args[0])
			if err != nil {
				return err
			}
			act := app.Action{
				Doing:  fmt.Sprintf("copy %s to %s", args[0], args[1]),
				Stage:  app.StageCreate,
				Writes: true,
			}
			if ref.ValidName(args[1]) {
				act.Project, err = ref.New(source.Account(), args[1])
			} else {
				act.Project, err = parseWhole(args[1])
			}
			if err != nil {
				return failure.Doing(failure.At(app.StageDestination, err), "", "%s", act.Doing)
			}
			create := wire.CreateProject{
				Account:    act.Project.Account(),
				Slug:       act.Project.Slug(),
				CopyOf:     source,
				Visibility: wire.Visibility(visibility),
			}
			if lifetime > 0 {
				create.ExpiresAt = time.Now().Add(lifetime).UTC().Truncate(time.Second)
			}
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
	c.RegisterFlagCompletionFunc("visibility", app.OneOf(wire.Private, wire.Public))
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
	e, ok := errors.AsType[*hubclient.Error](err)
	sourceIsMissing := ok && len(e.Errors) == 1 && e.Errors[0].Pointer == "/copyOf"
	if sourceIsMissing {
		return f.WithReason("there is no project %s on %s", source, hub.Origin()).
			WithRecipe(app.OrRestore(err, source, cmdline.Tool("project", "list").With(source.Account())))
	}
	return f
}
