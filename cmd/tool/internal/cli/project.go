package cli

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/child"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/flow/create"
	"example.com/projecthub/cmd/tool/internal/flow/projects"
	"example.com/projecthub/cmd/tool/internal/flow/remove"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
)

func (a *app) projectCommand() *cobra.Command {
	return cmdline.Group("project", "Create, list, view and delete hub projects",
		a.projectCreateCommand(), a.projectListCommand(), a.projectViewCommand(), a.projectRemoveCommand())
}

// createFlags are what a create was told.
type createFlags struct {
	from, stackVersion, visibility string
	baseFiles                      bool
	api                            ref.Ref
	given                          func(flag string) bool
}

func (a *app) projectCreateCommand() *cobra.Command {
	var f createFlags
	c := &cobra.Command{
		Use:   "create [<name>]",
		Short: "Create a hub project from a local one",
		Long: `Create a project on the hub from a local project: its published stack, its API,
which is registered when client.json names none, and its settings as the first
config.

<name> is a slug, which takes the stack's account, or @account/slug. A project
that exists already is never changed: that is what push is for.

In a terminal <name> may be left out: then what a project needs is asked, step
by step.`,
		Example: `  tool project create web
  tool project create @acme/web --from web --base-files --visibility public`,
		Args: func(c *cobra.Command, args []string) error {
			if a.strict() {
				return cmdline.Exactly("<name>")(c, args)
			}
			return cmdline.AtMost("<name>")(c, args)
		},
		RunE: a.run(func(ctx context.Context, args []string) error {
			if f.stackVersion != wire.Latest && !version.Valid(f.stackVersion) {
				return cmdline.Usagef("--stack-version is latest or a version such as 1.2.0, not %q", f.stackVersion)
			}
			if f.from == "" && f.given("from") {
				return emptyLocal("--from")
			}
			if v := wire.Visibility(f.visibility); v != wire.Private && v != wire.Public {
				return cmdline.Usagef("--visibility is private or public, not %q", f.visibility)
			}
			if len(args) == 0 {
				return a.createGuided(ctx, f)
			}
			return a.create(ctx, args[0], f)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.from, "from", "", "local `PROJECT` to create from (default: the only one)")
	fl.StringVar(&f.stackVersion, "stack-version", wire.Latest, "pin the stack to this published `VERSION`")
	fl.StringVar(&f.visibility, "visibility", string(wire.Private), "who sees it: `private|public`")
	fl.BoolVar(&f.baseFiles, "base-files", false, "push the app's files too, for the preview")
	f.given = fl.Changed
	c.RegisterFlagCompletionFunc("from", a.localNames)
	c.RegisterFlagCompletionFunc("stack-version", a.stackVersions(&f.from))
	c.RegisterFlagCompletionFunc("visibility", cobra.FixedCompletions([]string{string(wire.Private), string(wire.Public)}, cobra.ShellCompDirectiveNoFileComp))
	return a.hubFlags(c)
}

// ignoredFiles asks a terminal whether a new project gets the base files that git
// ignores, where there are any. What is wrong with them is reported by the creation.
func (a *app) ignoredFiles(ctx context.Context, local *workspace.Project, name string, baseFiles bool) (asked, yes bool, err error) {
	if !baseFiles || a.strict() {
		return false, true, nil
	}
	id, err := a.resolve()
	if err != nil {
		return false, true, nil
	}
	paths, err := flow.IgnoredFiles(ctx, local)
	if err != nil || len(paths) == 0 {
		return false, true, nil
	}
	yes, err = a.confirmIgnored(ctx, name, id.Origin, paths)
	return true, yes, err
}

func (a *app) create(ctx context.Context, name string, f createFlags) error {
	local, err := a.local(ctx, f.from, a.from(name))
	if err != nil {
		return failure.Doing(err, f.from, "create %s", name)
	}
	o := create.Options{
		Local: local, Name: name, StackVersion: f.stackVersion, Visibility: wire.Visibility(f.visibility),
		API: f.api, BaseFiles: f.baseFiles, Files: flow.FileOptions{CacheDir: a.cache("hashes")}, Connect: a.connect, Revisions: a.revisions(), Warn: a.warn, Typed: a.typed,
	}
	ignored, yes, err := a.ignoredFiles(ctx, local, name, f.baseFiles)
	if err != nil {
		return failure.Doing(err, local.Name, "create %s from %s", name, local.Name)
	}
	if !yes {
		return a.aborted(&flow.Aborted{ProjectName: local.Name})
	}
	end := a.checklist(&o)
	r, err := create.Run(ctx, o)
	end(err)
	if err != nil {
		return failure.Doing(err, local.Name, "create %s from %s", name, local.Name)
	}
	if ignored {
		if err := a.kept().Consent(flow.IgnoredConsent(r.Origin, r.Project)); err != nil {
			r.Notes = append(r.Notes, "the answer about files that git ignores could not be remembered: "+err.Error())
		}
	}
	return a.print("created", r, func(p *printer) { createdText(p, r) })
}

func createdText(p *printer, r *create.Result) {
	p.line("Created %s from %s", r.Project.Path(), r.ProjectName)
	p.address("page", r.URL)
	p.field("stack", "%s, version %s", r.Stack, r.StackVersion)
	registered := ""
	if r.APIRegistered {
		registered = ", registered now"
	}
	p.field("api", "%s%s", r.API.Path(), registered)
	p.field("visibility", "%s", r.Visibility)
	p.field("enrichments", "%d", r.EnrichmentCount)
	if r.BaseFilesPushed > 0 {
		p.field("base files", "%d", r.BaseFilesPushed)
	}
	p.field("origin", "%s", r.Origin)
	p.notes(r.Notes)
}

func (a *app) projectListCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "list [<account>]",
		Short:   "List hub projects: yours, or those of an account",
		Example: "  tool project list\n  tool project list acme",
		Args:    cmdline.AtMost("<account>"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			account := strings.TrimPrefix(strings.Join(args, ""), "@")
			if account != "" && !ref.ValidName(account) {
				return cmdline.Usagef("%q is not an account: an account is %s", account, ref.Rule)
			}
			r, err := projects.List(ctx, a.connect, account)
			if err != nil {
				return failure.Doing(err, "", "list projects")
			}
			return a.print("projects", r, func(p *printer) { listText(p, r) })
		}),
	}
	return a.hubFlags(c)
}

func listText(p *printer, r *projects.Listed) {
	if len(r.Projects) == 0 {
		of := ""
		if r.Account != "" {
			of = " of " + r.Account
		}
		p.line("No projects%s that you can see on %s", of, r.Origin)
	}
	rows := [][]string{}
	for _, v := range r.Projects {
		state := "no config"
		if v.Config.HasConfig {
			state = "config by " + v.Config.UpdatedBy + ", " + timeText(v.Config.UpdatedAt)
		}
		rows = append(rows, []string{v.Project.String(), string(v.Visibility), v.Stack + " " + v.StackVersion, state})
	}
	columns(p, rows)
	p.notes(r.Notes)
}

func (a *app) projectViewCommand() *cobra.Command {
	var web bool
	c := &cobra.Command{
		Use:     "view [<@account/slug>]",
		Short:   "Show a hub project, or open its page",
		Long:    "Show a hub project, or open its page: the one that is named, else that of the\nonly local project.",
		Example: "  tool project view @acme/web\n  tool project view --web",
		Args:    cmdline.AtMost("<@account/slug>"),

		ValidArgsFunction: firstOnly(a.hubProjects()),
		RunE: a.run(func(ctx context.Context, args []string) error {
			return a.viewProject(ctx, strings.Join(args, ""), web)
		}),
	}
	c.Flags().BoolVar(&web, "web", false, "open the page in a browser; in a pipeline, print its address")
	return a.hubFlags(c)
}

// viewProject shows the hub project that is named, else that of the only local one,
// or opens its page.
func (a *app) viewProject(ctx context.Context, name string, web bool) error {
	r, err := projects.View(ctx, projects.ViewOptions{
		Name: name, Connect: a.connectAnyway,
		Local: func() (*workspace.Project, error) {
			return a.local(ctx, "", a.viewLine)
		},
	})
	if err != nil {
		if e := failure.Of(err); e.Code == hubclient.CodeInvalidName {
			if whole := a.wholeName(name); whole != "" {
				err = e.Try(cmdline.Tool("project", "view").With(whole))
			}
		}
		return failure.Doing(err, "", "%s", strings.TrimSpace("view "+name))
	}
	if web && !a.strict() {
		// What opens pages may fail later, or do nothing, without saying so.
		(&printer{w: a.Out}).line("Opening %s", r.URL)
		return failure.Doing(openBrowser(r.URL), "", "open %s", r.URL)
	}
	return a.print("project", r, func(p *printer) {
		if web {
			p.line("%s", r.URL)
			return
		}
		viewText(p, r)
	})
}

// viewLine is the command that shows the hub project of a local one, or lists what
// there is to be shown.
func (a *app) viewLine(local string) cmdline.Line {
	if whole := a.wholeName(local); whole != "" {
		return cmdline.Tool("project", "view").With(whole)
	}
	return cmdline.Tool("project", "list")
}

// wholeName returns the ref that was probably meant by a part of it: the local
// project's of that name, else one of the account that is logged in; "" for neither.
func (a *app) wholeName(name string) string {
	if ws, err := a.workspace(); err == nil {
		if local, err := ws.Project(name); err == nil {
			if client, err := local.Client(); err == nil && client.Project.Present() {
				return client.Project.Text
			}
		}
	}
	if own, err := ref.New(a.loggedIn(), name); err == nil {
		return own.String()
	}
	return ""
}

func viewText(p *printer, r *projects.Viewed) {
	p.line("%s", r.Project.Project)
	p.address("page", r.URL)
	stack := r.StackVersion
	if r.ResolvedStackVersion != r.StackVersion {
		stack += ", now " + r.ResolvedStackVersion
	}
	p.field("stack", "%s, version %s", r.Stack, stack)
	p.field("api", "%s", r.API.Path())
	p.field("visibility", "%s", r.Visibility)
	p.field("config", "%s", editText(r.Config.Edit))
	p.field("revision", "%s", r.Config.Revision)
	if f := r.BaseFiles; f != nil {
		p.field("base files", "%s, %s", countText(f.Count, "file", "files"), bytesText(f.Bytes))
	} else {
		p.field("base files", "none")
	}
	p.field("created", "%s by %s", timeText(r.CreatedAt), r.CreatedBy)
	p.notes(r.Notes)
}

// openBrowser opens an address that a hub gave: only a web page's.
func openBrowser(address string) error {
	if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
		return fmt.Errorf("%q is not the address of a web page", address)
	}
	opener := []string{"xdg-open"}
	switch runtime.GOOS {
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case "darwin":
		opener = []string{"open"}
	}
	command, err := child.Command(context.Background(), opener[0], append(opener[1:], address)...)
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return fmt.Errorf("no browser could be started: %w", err)
	}
	return command.Process.Release()
}

func (a *app) projectRemoveCommand() *cobra.Command {
	var from optional
	var force bool
	c := &cobra.Command{
		Use:   "rm <name>",
		Short: "Delete a hub project",
		Long: `Delete a project of the hub with its config and base files. Local files stay.

A project that is gone already is no failure. In a terminal the whole name has
to be typed, unless --force is given. The token needs the scope admin:resource.`,
		Example: "  tool project rm @acme/web\n  tool project rm web --from web --force",
		Args:    cmdline.Exactly("<name>"),

		ValidArgsFunction: firstOnly(a.hubProjects()),
		RunE: a.run(func(ctx context.Context, args []string) error {
			if from.given() && from.String() == "" {
				return emptyLocal("--from")
			}
			o := remove.Options{
				Name: args[0], Connect: a.connect,
				Local: func() (*workspace.Project, error) { return a.local(ctx, from.String(), a.from(args[0])) },
			}
			if !a.strict() && !force {
				o.Confirm = a.confirmRemove
			}
			r, no, err := remove.Run(ctx, o)
			switch {
			case err != nil:
				return failure.Doing(err, "", "delete %s", args[0])
			case no != nil:
				return a.aborted(no)
			}
			return a.print("removed", r, func(p *printer) {
				switch {
				case r.Existed:
					p.line("Deleted %s", r.Project.Path())
				case r.Ambiguous:
					p.line("%s does not exist now", r.Project.Path())
				default:
					p.line("%s was gone already", r.Project.Path())
				}
				p.field("origin", "%s", r.Origin)
				p.notes(r.Notes)
			})
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&from, "from", "local `PROJECT` whose account a bare slug is in")
	fl.BoolVar(&force, "force", false, "delete without asking")
	c.RegisterFlagCompletionFunc("from", a.localNames)
	return a.hubFlags(c)
}
