package create

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/prompts"
)

// guided asks for what a project needs and creates it.
func guided(ctx context.Context, a *app.App, o options) error {
	if a.InEnvironment() { // which names the hub
		local, err := a.Local(ctx, o.answers.Local, a.FromLine(""))
		if err != nil {
			return failure.Doing(err, o.answers.Local, "create a project")
		}
		o.answers.Local = local.Name
	}
	hub, err := a.ConnectToWrite(ctx)
	if err != nil {
		return failure.Doing(failure.At(app.StageCreate, err), o.answers.Local, "create a project")
	}
	g := &guide{app: a, hub: hub, publish: o.publish, did: &o.did}
	w, err := g.wizard(&o)
	if err != nil {
		return failure.Doing(err, o.answers.Local, "create a project")
	}
	err = a.UI.AskProject(ctx, w, &o.answers)
	if errors.Is(err, prompts.ErrStop) || errors.Is(err, prompts.ErrBack) && len(o.did) > 0 {
		return a.Aborted(&app.Aborted{
			ProjectName: o.answers.Local, Project: o.answers.Project, Origin: hub.Origin(), Done: o.made(),
		})
	}
	if err != nil {
		return o.fail(err, o.answers.Local, "create a project")
	}
	return run(ctx, a, o.answers.Project.String(), o)
}

// guide answers what the wizard wants to know.
type guide struct {
	app     *app.App
	hub     *identity.Hub
	publish Publish
	did     *[]string // see options
}

// wizard returns what the wizard asks with, and fills in the local project where it is known.
func (g *guide) wizard(o *options) (prompts.Wizard, error) {
	dir, err := filepath.Abs(g.app.Dir)
	if err != nil {
		return prompts.Wizard{}, err
	}
	answers := &o.answers
	w := prompts.Wizard{
		Given:    prompts.Given{Local: answers.Local != "", Visibility: o.given("visibility"), StackVersion: o.given("stack-version"), BaseFiles: o.given("base-files")},
		NewLocal: workspace.SlugOf(filepath.Base(dir)), Hub: g.hub.Origin(),
		Init: g.makeLocal, Check: g.check, Publish: g.publishLocal, IsFree: g.free, HasAPI: g.hasAPI, CountFiles: g.count,
	}
	ws, err := g.app.Workspace()
	if err != nil && failure.Of(err).Code == failure.CodeNoWorkspace && answers.Local == "" {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	if answers.Local != "" {
		_, err := ws.Project(answers.Local)
		w.Locals = []string{answers.Local}
		return w, failure.At(app.StageRead, err)
	}
	if w.Locals, err = ws.Projects(); err != nil {
		return w, failure.At(app.StageRead, err)
	}
	if len(w.Locals) > 0 { // rather one that is on no hub yet
		unnamed := slices.DeleteFunc(slices.Clone(w.Locals), func(name string) bool {
			local, err := ws.Project(name)
			if err != nil {
				return true
			}
			client, err := local.Client()
			return err != nil || client.Project.Present()
		})
		if len(unnamed) == 0 {
			unnamed = w.Locals
		}
		answers.Local = app.Nearest(ws, unnamed, dir)
	}
	return w, nil
}

// makeLocal makes a local project whose stack belongs to the caller.
func (g *guide) makeLocal(ctx context.Context, name string) error {
	me, err := g.hub.Whoami(ctx)
	if err != nil {
		return failure.At(app.StageCreate, g.hub.Fault(err))
	}
	dir := g.app.Dir
	if ws, err := g.app.Workspace(); err == nil {
		dir = ws.Dir
	}
	start := workspace.Start{Hub: g.hub.Origin()}
	if me.User != "" {
		start.Stack, _ = ref.New(me.User, name)
	}
	if _, err = workspace.Create(dir, name, start); err == nil {
		*g.did = append(*g.did, "made .tool/"+name)
	}
	return failure.At("init", err)
}

func (g *guide) check(ctx context.Context, local string) (*prompts.Preflight, error) {
	p, err := g.app.Local(ctx, local, g.app.Itself)
	if err != nil {
		return nil, err
	}
	return (&create{app: g.app, local: p}).preflight(ctx)
}

func (g *guide) publishLocal(ctx context.Context, local string) error {
	p, err := g.app.Local(ctx, local, g.app.Itself)
	if err != nil {
		return err
	}
	published, err := g.publish(ctx, g.app, p)
	if err == nil {
		*g.did = append(*g.did, "published "+published)
	}
	return err
}

func (g *guide) free(ctx context.Context, r ref.Ref) (bool, error) {
	_, err := g.hub.Project(ctx, r)
	if app.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

func (g *guide) hasAPI(ctx context.Context, r ref.Ref) (bool, error) {
	_, err := g.hub.API(ctx, r)
	if app.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

func (g *guide) count(ctx context.Context, local string) (files int, bytes int64, err error) {
	p, err := g.app.Local(ctx, local, g.app.Itself)
	if err != nil {
		return 0, 0, err
	}
	files, bytes, err = g.app.CountFiles(ctx, p)
	return files, bytes, failure.At(app.StageRead, err)
}
