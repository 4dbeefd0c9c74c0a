package initialize

import (
	"cmp"
	"context"
	"fmt"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
)

// environment is the result of an init that created an environment.
type environment struct {
	ProjectName string   `json:"projectName"`
	Env         string   `json:"environment"`
	Origin      string   `json:"origin,omitzero"` // of its hub; absent: the workspace's
	Workspace   string   `json:"workspace"`
	Files       []string `json:"files"` // relative to the workspace
	Notes       []string `json:"notes"`
}

// AddEnvironment creates an environment of the local project called name, or the only one.
func AddEnvironment(ctx context.Context, a *app.App, name, env, origin string) (err error) {
	if !workspace.ValidEnvironment(env) {
		return cmdline.Usagef("--env: %q cannot name an environment: a name is %s", env, ref.Rule)
	}
	if origin != "" {
		if origin, err = hubclient.ParseOrigin(origin); err != nil {
			return cmdline.Usagef("--origin: %v", err)
		}
	}
	local, err := a.Local(ctx, name, func(local string) cmdline.Line { return a.Itself(local).Flag("--env", env) })
	if err == nil {
		err = local.In(env).CreateEnvironment(origin, cmp.Or(origin, a.KnownHub()))
	}
	if err != nil {
		return failure.Doing(failure.At("init", err), name, "create the environment %s", env)
	}
	local = local.In(env)
	r := environment{
		ProjectName: local.Name, Env: env, Origin: origin, Workspace: local.Workspace.Dir,
		Files: []string{local.ClientPath()}, Notes: []string{},
	}
	if origin == "" {
		r.Notes = append(r.Notes, fmt.Sprintf("it uses the workspace's hub; to use another, add its \"origin\" to %s", local.ClientPath()))
	}
	return a.Print("initialized", r, func(w *app.Printer) {
		w.Line("Created the environment %s of %s in %s", env, local.Name, r.Workspace)
		w.Line("  %s", r.Files[0])
		w.Notes(r.Notes)
		w.Line("Next:")
		w.Line("  %s", w.Command(cmdline.Tool("project", "create").With(local.NewSlug()).Flag("--from", local.Name).Flag("--env", env)))
	})
}
