package app

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
)

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

// InEnvironment reports whether an environment is in use.
func (a *App) InEnvironment() bool { return a.env.name != "" }

// UseEnvironmentHub makes the hub of the environment in use, if any, the one that a
// command calls which names what it is about: reading a project in an environment does that.
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
