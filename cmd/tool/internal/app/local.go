package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Workspace returns the workspace that the command works in.
func (a *App) Workspace() (*workspace.Workspace, error) {
	ws, err := workspace.Find(a.Dir)
	if err != nil {
		return nil, failure.At(StageRead, err)
	}
	if uid := ws.OtherOwner(); uid != "" && uid != a.Getenv("SUDO_UID") && !a.warnedOfOwner {
		a.warnedOfOwner = true
		a.Warn(fmt.Sprintf("%s belongs to another user (id %s), whose files decide what tool does as root: "+
			"run it as that user", ws.Dir, uid))
	}
	return ws, nil
}

// Path returns the absolute path that was typed, relative to the directory of -C. If that directory
// is a symbolic link, .. is above the directory that the link leads to.
func (a *App) Path(typed string) (string, error) {
	if filepath.IsAbs(typed) {
		return filepath.Clean(typed), nil
	}
	dir, err := filepath.Abs(a.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	return filepath.Join(dir, typed), err
}

// Local returns the local project called name, or with the destination name, or when no name was given, the
// only one or the one whose app the current directory is in. Else a person chooses one of several; elsewhere
// the failure says the command line to type, which names one of them.
func (a *App) Local(
	ctx context.Context, name string, line func(local string) cmdline.Line,
) (*workspace.Project, error) {
	if r, err := ref.ParseTyped(name); err == nil {
		if name = a.LocalOf(r); name == "" {
			return nil, failure.New(failure.CodeNoLocalProject, "no local project has the destination %s", r).
				At(StageRead).Try(cmdline.Tool("pull").With(r.String()))
		}
	}
	ws, err := a.Workspace()
	if err != nil {
		return nil, err
	}
	names := []string{name}
	if name == "" {
		if names, err = localNames(ws); err != nil {
			return nil, err
		}
	}
	name = names[0]
	isOnly := len(names) == 1
	if !isOnly {
		dir, err := filepath.Abs(a.Dir)
		if err != nil {
			return nil, err
		}
		name, isOnly = Nearest(ws, names, dir)
	}
	switch {
	case isOnly:
	case a.Strict():
		return nil, cmdline.Usagef("there are several local projects: %s", strings.Join(names, ", ")).
			Try(line(names[0]))
	default:
		if name, err = a.UI.Choose(ctx, "Which local project?", names, name); err != nil {
			return nil, err
		}
	}
	p, others, err := a.project(ws, name)
	if err == nil && p == nil {
		err = a.noEnvironment(name, others)
	}
	return p, err
}

// localNames returns the names of the local projects, and fails if there is none.
func localNames(ws *workspace.Workspace) ([]string, error) {
	names, err := ws.Projects()
	if err == nil && len(names) == 0 {
		err = failure.New(failure.CodeNoLocalProject, "there is no local project under %s", filepath.Join(ws.Dir, ".tool")).
			Try(cmdline.Tool("init"))
	}
	return names, failure.At(StageRead, err)
}

// project returns a local project in the environment in use, and makes the environment's hub the
// one in use. If the project does not have that environment, project returns nil and those that
// it has.
func (a *App) project(ws *workspace.Workspace, name string) (p *workspace.Project, environments []string, err error) {
	if p, err = ws.Project(name); err != nil {
		return nil, nil, failure.At(StageRead, err)
	}
	if !a.InEnvironment() {
		return p, nil, nil
	}
	if environments, err = p.Environments(); err != nil {
		return nil, nil, failure.At(StageRead, err)
	}
	if !slices.Contains(environments, a.env.name) {
		return nil, environments, nil
	}
	p = p.In(a.env.name)
	origin, err := p.Origin()
	if err != nil {
		return nil, nil, failure.At(StageRead, err)
	}
	return p, environments, a.useOrigin(origin)
}

// Locals returns the local project called name, or all of them; none outside a workspace.
// In an environment these are the projects that have it, which must be on one hub.
func (a *App) Locals(ctx context.Context, name string) ([]*workspace.Project, error) {
	if name != "" {
		p, err := a.Local(ctx, name, a.Itself)
		return []*workspace.Project{p}, err
	}
	ws, err := a.Workspace()
	if err != nil {
		if failure.Of(err).Code == failure.CodeNoWorkspace {
			return nil, nil
		}
		return nil, err
	}
	names, err := ws.Projects()
	if err != nil {
		return nil, failure.At(StageRead, err)
	}
	var all []*workspace.Project
	var known []string
	for _, name := range names {
		former := a.env.origin
		p, environments, err := a.project(ws, name) // sets a.env.origin
		if err != nil {
			return nil, err
		}
		known = append(known, environments...)
		if p == nil { // it does not have this environment
			continue
		}
		if len(all) > 0 && a.env.origin != former {
			return nil, cmdline.Usagef("the environment %s is on different hubs for %s and %s: name one project",
				a.env.name, all[0].Name, p.Name).Try(a.Itself(p.Name))
		}
		all = append(all, p)
	}
	if len(all) == 0 && len(names) > 0 {
		slices.Sort(known)
		return nil, a.noEnvironment(names[0], slices.Compact(known))
	}
	return all, nil
}

// Line is the running command, without arguments and flags.
func (a *App) Line() cmdline.Line { return cmdline.Tool(strings.Fields(a.Command)...) }

// Itself is the running command for a local project, with the flags that were typed.
func (a *App) Itself(local string) cmdline.Line { return a.typed(a.Line().With(local)) }

// FromLine returns the running command for name, whose --from is the local project, with the flags that were typed.
func (a *App) FromLine(name string) func(local string) cmdline.Line {
	return func(local string) cmdline.Line { return a.typed(a.Line().With(name)).Flag("--from", local) }
}

// typed adds the flags of the running command to l: without --dry-run or --undo, it would do something else.
// Those of every command, and those that [App.CommandText] and callers add, are left out.
func (a *App) typed(l cmdline.Line) cmdline.Line {
	added := []string{"from", "allow-secrets", "env", "origin", "token"}
	a.running.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed || slices.Contains(added, f.Name):
		case f.Value.Type() != "bool":
			l = l.Flag("--"+f.Name, f.Value.String())
		case f.Value.String() == "true":
			l = l.Flag("--" + f.Name)
		}
	})
	return l
}

// NeedsLocal is the usage error of the running command without a local project. It
// advises one that exists, or to create one.
func (a *App) NeedsLocal() error {
	e := cmdline.Usagef("tool %s needs <project>: a directory under .tool", a.Command)
	if ws, err := a.Workspace(); err == nil {
		if names, _ := ws.Projects(); len(names) > 0 {
			return e.Try(a.Itself(names[0]))
		}
	}
	return e.Try(cmdline.Tool("init"))
}

// Nearest returns the local project whose app holds dir, the innermost where apps are nested; without
// one, the first. isOnly is false if no app, or several of the same directory, hold dir.
func Nearest(ws *workspace.Workspace, names []string, dir string) (found string, isOnly bool) {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	found = names[0]
	depth := -1
	for _, name := range names {
		p, err := ws.Project(name)
		if err != nil {
			continue
		}
		client, err := p.Client()
		if err != nil {
			continue
		}
		root, err := client.AppRoot()
		if err != nil {
			continue
		}
		root = ws.Path(root)
		rel, err := filepath.Rel(root, dir)
		if err != nil || !filepath.IsLocal(rel) || len(root) < depth {
			continue
		}
		isOnly = len(root) > depth
		if isOnly {
			found, depth = name, len(root)
		}
	}
	return found, isOnly
}

// Destination returns where a local project goes: flag, when it was given, else
// client.json's project. The failure is no_destination or invalid_name.
func (a *App) Destination(local *workspace.Project, client *workspace.Client, flag *string) (r ref.Ref, err error) {
	place := "--project"
	switch {
	case flag != nil:
		r, err = a.ParseProject(*flag)
	case client.Project.Present():
		place = client.Project.At.String()
		r, err = ref.Parse(client.Project.Text)
	default:
		return r, failure.New(failure.CodeNoDestination,
			"%s does not say which project of the hub it belongs to", local.ClientPath())
	}
	if err != nil {
		err = failure.New(hubclient.CodeInvalidName, "%s: %w", place, err).
			WithHint("a destination is @account/slug; each part is %s", ref.Rule)
	}
	return r, err
}

// ReadClient reads a local project's client.json and warns of probable mistakes in it.
func (a *App) ReadClient(local *workspace.Project) (*workspace.Client, error) {
	client, err := local.Client()
	if err != nil {
		return nil, err
	}
	for _, w := range client.Warnings {
		a.Warn(w.Error())
	}
	return client, nil
}

// ReadConfig returns the config of a local project, and what a push or a seed
// sends of it.
func ReadConfig(client *workspace.Client) (config flat.Config, body wire.PutConfig, err error) {
	if config, err = client.Config(); err != nil {
		return config, body, err
	}
	if err := client.CheckSecrets(config); err != nil {
		return config, body, err
	}
	if client.Source.Present() {
		if body.Source, err = jsontext.AppendQuote(nil, client.Source.Text); err != nil {
			return config, body, err
		}
	}
	body.Settings, err = client.Settings()
	return config, body, err
}

// Bases returns what a local project was last synchronized with. A pulled.json that is malformed
// counts as absent, and is rewritten. After a merge of git with conflicts, both sides count.
func (a *App) Bases(local *workspace.Project) (workspace.Bases, error) {
	bases, err := local.Bases()
	if err == nil || failure.Of(err).Code != failure.CodeInvalidFile {
		return bases, err
	}
	if bases.Merged() {
		a.Warn(err.Error() + "; both sides count until a pull or push rewrites it")
	} else {
		a.Warn(err.Error() + "; it counts as absent until a pull or push rewrites it")
	}
	return bases, nil
}

// envVariable is the variable of --env.
const envVariable = "TOOL_ENV"

// environment is the environment that a command works in.
type environment struct {
	name   string // "": none
	origin string // of its hub; "": no project in it was read yet, or its file names no hub
}

// EnvFlag adds the flag of a command that can work in an environment of a local project.
// [App.Local] and [App.Locals] then return projects in that environment.
func (a *App) EnvFlag(c *cobra.Command) *cobra.Command {
	c.Flags().Var(&a.Env, "env", "use the environment `NAME`, .tool/<project>/client.NAME.json ("+envVariable+")")
	c.RegisterFlagCompletionFunc("env", a.completeEnv)
	return c
}

// Environments lists the environments of local projects, sorted: those that are named, or all.
func (a *App) Environments(projects ...string) []string {
	ws, err := workspace.Find(a.Dir)
	if err != nil {
		return nil
	}
	if len(projects) == 0 {
		projects, _ = ws.Projects()
	}
	var all []string
	for _, name := range projects {
		if p, err := ws.Project(name); err == nil {
			names, _ := p.Environments()
			all = append(all, names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// NextEnvironment uses the next one of all environments, and none after the last one.
func (a *App) NextEnvironment() {
	all := append([]string{""}, a.Environments()...)
	at := slices.Index(all, a.env.name)
	a.env = environment{name: all[(at+1)%len(all)]}
}

// InEnvironment reports whether an environment is in use.
func (a *App) InEnvironment() bool { return a.env.name != "" }

// UseEnvironmentHub makes the hub of the environment in use, if any, the one that is called, for a
// command whose argument names a hub project. Reading the local projects does that.
func (a *App) UseEnvironmentHub(ctx context.Context) error {
	if !a.InEnvironment() {
		return nil
	}
	_, err := a.Locals(ctx, "")
	return err
}

// EnvironmentFact returns a line for a question about a project that is in an environment.
func (a *App) EnvironmentFact(p *workspace.Project, origin string) []string {
	if p.Env == "" {
		return nil
	}
	return []string{"Env     " + p.Env + " on " + origin}
}

// readEnv finds the environment that a command is to work in: that of --env, else that of the
// variable. The home view, which has no flag for it, takes it from the variable.
func (a *App) readEnv(c *cobra.Command) error {
	a.env = environment{}
	isHome := !c.HasParent()
	switch {
	case !isHome && !a.takes(c, &a.Env):
		return nil
	case !a.Env.Given():
		a.env.name = strings.TrimSpace(a.Getenv(envVariable))
	case a.Env.String() == "":
		return cmdline.Usagef("--env is empty: it names a file .tool/<project>/client.NAME.json")
	default:
		a.env.name = a.Env.String()
	}
	return nil
}

// takes reports whether a command has the flag that sets value, which is &a.Env or &a.Origin. A
// flag of the same name that sets something else does not count.
func (a *App) takes(c *cobra.Command, value *Optional) bool {
	for _, name := range []string{"env", "origin"} {
		if f := c.Flags().Lookup(name); f != nil && f.Value == value {
			return true
		}
	}
	return false
}

// useOrigin makes the hub at origin, that of an environment, the one in use.
func (a *App) useOrigin(origin string) error {
	if origin != "" && a.Origin.Given() {
		if given, err := hubclient.ParseOrigin(a.Origin.String()); err == nil && given != origin {
			return cmdline.Usagef("--origin %s is not the hub of the environment %s, which is %s", given, a.env.name, origin).
				WithHint("leave out --origin, or change the environment's file")
		}
	}
	if a.env.origin != origin {
		a.env.origin = origin
		a.id = nil // it is another one on another hub
	}
	return nil
}

// noEnvironment is the usage error of a local project that has only the environments names.
func (a *App) noEnvironment(project string, names []string) error {
	e := cmdline.Usagef("%s has no environment %q", project, a.env.name)
	if near := cmdline.Nearest(a.env.name, names); near != "" {
		return e.WithHint("did you mean %s? its environments: %s", near, strings.Join(names, ", "))
	}
	e = e.WithHint("it has none yet")
	if len(names) > 0 {
		e = e.WithHint("its environments: %s", strings.Join(names, ", "))
	}
	if workspace.ValidEnvironment(a.env.name) {
		e = e.Try(cmdline.Tool("init").With(project).Flag("--env", a.env.name))
	}
	return e
}
