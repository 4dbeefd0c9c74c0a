package create

import (
	"context"
	"errors"
	"net/http"
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
	g := &guide{app: a, hub: hub, options: &o}
	w, err := g.wizard()
	if err != nil {
		return failure.Doing(err, o.answers.Local, "create a project")
	}
	err = a.UI.AskProject(ctx, w, &o.answers)
	if err == nil {
		g.create.warn()
		a.ListFiles(g.create.spec)
		return g.create.finish(ctx, o, nil)
	}
	if errors.Is(err, prompts.ErrStop) || errors.Is(err, prompts.ErrBack) && len(o.did) > 0 {
		return a.Aborted(&app.Aborted{
			ProjectName: o.answers.Local, Project: o.answers.Project, Origin: hub.Origin(), Done: o.made(),
		})
	}
	return o.fail(err, o.answers.Local, "create a project")
}

// guide answers what the wizard wants to know.
type guide struct {
	app     *app.App
	hub     *identity.Hub
	options *options
	create  *create // from the local project that was checked last
}

// wizard returns what the wizard asks with, and presets the local project.
func (g *guide) wizard() (prompts.Wizard, error) {
	dir, err := filepath.Abs(g.app.Dir)
	if err != nil {
		return prompts.Wizard{}, err
	}
	o, answers := g.options, &g.options.answers
	w := prompts.Wizard{
		Given: prompts.Given{
			Local: answers.Local != "", Visibility: o.given("visibility"), StackVersion: o.given("stack-version"),
			BaseFiles: o.given("base-files"),
		},
		NewLocal: workspace.SlugOf(filepath.Base(dir)), Hub: g.hub.Origin(),
		Init: g.makeLocal, Check: g.check, Publish: g.publishLocal, Ask: g.ask, Files: g.files, Plan: g.plan,
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
	onNoHub := slices.DeleteFunc(slices.Clone(w.Locals), func(name string) bool {
		local, err := ws.Project(name)
		if err != nil {
			return true
		}
		client, err := local.Client()
		return err != nil || client.Project.Present()
	})
	switch {
	case len(onNoHub) > 0:
		answers.Local = app.Nearest(ws, onNoHub, dir)
	case len(w.Locals) == 1:
		answers.Local = w.Locals[0]
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
		g.options.did = append(g.options.did, "made .tool/"+name)
	}
	return failure.At("init", err)
}

// check finds out what is known of a local project and its hub, and changes nothing.
// It fails if no answer could make the creation succeed.
func (g *guide) check(ctx context.Context, name string) (*prompts.Preflight, error) {
	local, err := g.app.Local(ctx, name, g.app.Itself)
	if err != nil {
		return nil, err
	}
	c := &create{app: g.app, hub: g.hub, local: local, answers: g.options.answers, allowed: g.options.allowed}
	g.create = c
	s, err := c.preflight(ctx)
	if err != nil {
		return nil, c.explain(err)
	}
	return s, nil
}

func (c *create) preflight(ctx context.Context) (*prompts.Preflight, error) {
	if err := c.read(); err != nil {
		return nil, err
	}
	s := &prompts.Preflight{Stack: c.stack, Here: c.here, Source: c.client.Source.Text, Project: c.client.Project.Text}
	if err := c.readDescription(ctx); err != nil {
		if c.client.API.Present() {
			return nil, failure.At(app.StageAPI, err)
		}
		s.Missing = err.Error()
	}
	s.API = c.api
	if err := c.checkRecordable(); err != nil {
		return nil, err
	}
	me, err := c.hub.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	s.As = me.Name()
	for _, a := range me.Accounts {
		if me.Writes(a.Account) {
			s.Accounts = append(s.Accounts, a.Account)
		}
	}
	stack, err := c.hub.Stack(ctx, c.stack)
	if app.IsNotFound(err) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	s.Latest = stack.Latest
	for _, v := range stack.Versions {
		s.Versions = append(s.Versions, v.Version)
		if !v.WithdrawnAt.IsZero() {
			s.Withdrawn = append(s.Withdrawn, v.Version)
		}
	}
	return s, nil
}

func (g *guide) publishLocal(ctx context.Context, _ string) error {
	published, err := g.options.publish(ctx, g.app, g.create.local)
	if err == nil {
		g.options.did = append(g.options.did, "published "+published)
	}
	return err
}

// ask asks the hub whether it would create a project.
func (g *guide) ask(ctx context.Context, project, api ref.Ref) (*prompts.Asked, error) {
	planned, err := g.hub.PlanProject(ctx, g.create.request(project, api))
	if err != nil {
		f := failure.Of(err)
		if f.Status < http.StatusBadRequest || f.Status >= http.StatusInternalServerError {
			return nil, err
		}
		return &prompts.Asked{Refused: f.Error()}, nil
	}
	similar := g.create.choices(planned.SimilarAPIs)
	asked := &prompts.Asked{Similar: similar}
	if len(similar) > 0 && planned.SimilarAPIs[0].SHA256 == g.create.sum {
		asked.Same = similar[0].Value
	}
	return asked, nil
}

// files chooses the app's files. Why they cannot be pushed is for the person to know, who
// may do without them.
func (g *guide) files(ctx context.Context) (*prompts.Files, error) {
	c := g.create
	files, err := c.app.ChooseFiles(ctx, c.local, c.client, app.FileOptions{AllowEmpty: true})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return &prompts.Files{Problem: err.Error()}, nil
	}
	c.files = files
	return &prompts.Files{Count: len(files.Tree), Bytes: files.Bytes}, nil
}

// plan plans with all answers, and returns lines about sensitive files that would be sent.
func (g *guide) plan(ctx context.Context, answers prompts.Answers) ([]string, error) {
	c := g.create
	c.answers, c.name = answers, answers.Project.String()
	if err := c.prepare(ctx); err != nil {
		return nil, c.explain(err)
	}
	c.remember = c.files != nil && len(c.sensitive.Ignored) > 0 // unless the person says no
	return c.sensitive.Facts(), nil
}
