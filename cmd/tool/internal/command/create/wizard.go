package create

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// guided asks for what a project needs, and creates it.
func guided(ctx context.Context, a *app.App, o options) error {
	c := &create{app: a, options: o}
	w, err := c.wizard(ctx)
	if err != nil {
		return c.fail(err)
	}
	answers := c.answers // a copy: planAll, which the wizard calls, sets c.answers
	err = a.UI.AskProject(ctx, w, &answers)
	stopped := errors.Is(err, prompts.ErrStop)
	leftUnfinished := errors.Is(err, prompts.ErrBack) && len(c.made) > 0
	if stopped || leftUnfinished {
		return c.fail(app.ErrDeclined)
	}
	if err != nil {
		return c.fail(err)
	}
	c.warn()
	a.ListFiles(c.description)
	return c.finish(ctx)
}

// wizard returns what the wizard needs to ask, and sets the local project that it suggests.
func (c *create) wizard(ctx context.Context) (w prompts.Wizard, err error) {
	a := c.app
	if a.InEnvironment() { // the environment of the local project names the hub
		if c.local, err = a.Local(ctx, c.answers.Local, a.FromLine("")); err != nil {
			return w, err
		}
		c.answers.Local = c.local.Name
	}
	if c.hub, err = a.ConnectTo(ctx, true); err != nil {
		return w, err
	}
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return w, err
	}
	w = prompts.Wizard{
		Given: prompts.Given{
			Local:        c.answers.Local != "",
			Visibility:   c.given("visibility"),
			StackVersion: c.given("stack-version"),
			BaseFiles:    c.given("base-files"),
		},
		NewLocal: workspace.SlugOf(filepath.Base(dir)),
		Hub:      c.hub.Origin(),
		Init:     c.makeLocal,
		Check:    c.check,
		Publish:  c.publishLocal,
		Ask:      c.dryRun,
		Files:    c.chooseFiles,
		Plan:     c.planAll,
	}
	ws, err := a.Workspace()
	if err != nil {
		if failure.Of(err).Code == failure.CodeNoWorkspace && c.answers.Local == "" {
			err = nil // the wizard creates one
		}
		return w, err
	}
	if c.answers.Local != "" {
		_, err := ws.Project(c.answers.Local)
		w.Locals = []string{c.answers.Local}
		return w, failure.At(app.StageRead, err)
	}
	if w.Locals, err = ws.Projects(); err != nil {
		return w, failure.At(app.StageRead, err)
	}
	c.answers.Local = suggestLocal(ws, w.Locals, dir)
	return w, nil
}

// suggestLocal returns which local project a person in dir probably wants to create from: the
// nearest one that has no destination, else the only one; "": it is not known.
func suggestLocal(ws *workspace.Workspace, locals []string, dir string) string {
	var withoutDestination []string
	for _, name := range locals {
		local, err := ws.Project(name)
		if err != nil {
			continue
		}
		client, err := local.Client()
		if err == nil && !client.Project.Present() {
			withoutDestination = append(withoutDestination, name)
		}
	}
	if len(withoutDestination) > 0 {
		nearest, _ := app.Nearest(ws, withoutDestination, dir)
		return nearest
	}
	if len(locals) == 1 {
		return locals[0]
	}
	return ""
}

// makeLocal makes a local project whose stack belongs to the caller.
func (c *create) makeLocal(ctx context.Context, name string) error {
	me, err := c.hub.Whoami(ctx)
	if err != nil {
		return err
	}
	dir := c.app.Dir
	if ws, err := c.app.Workspace(); err == nil {
		dir = ws.Dir
	}
	start := workspace.Start{Hub: c.hub.Origin()}
	start.Stack, _ = ref.New(me.User, name) // zero for a bot, because it has no account
	if _, err := workspace.Create(dir, name, start); err != nil {
		return failure.At("init", err)
	}
	c.made = append(c.made, "made .tool/"+name)
	return nil
}

// check finds out what a local project and the hub have, and changes neither. It fails if no
// answer could make the creation succeed. The wizard calls it for each local project that a person
// chooses.
func (c *create) check(ctx context.Context, name string) (s *prompts.Preflight, err error) {
	if c.local, err = c.app.Local(ctx, name, c.app.Itself); err != nil {
		return nil, err
	}
	// Forget the answers about another local project.
	c.name, c.answers.API, c.files = "", ref.Ref{}, nil
	if err := c.read(); err != nil {
		return nil, err
	}
	s = &prompts.Preflight{
		Stack:   c.stack,
		Here:    c.localVersion,
		Source:  c.client.Source.Text,
		Project: c.client.Project.Text,
	}
	if err := c.readAPI(ctx); err != nil {
		if c.client.API.Present() {
			return nil, failure.At(app.StageAPI, err)
		}
		s.Missing = err.Error()
	}
	s.API = c.api
	if err := c.checkRecordable(); err != nil {
		return nil, err
	}
	var stack *wire.Stack
	group, both := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		s.Me, err = c.hub.Whoami(both)
		return err
	})
	group.Go(func() (err error) {
		if stack, err = c.hub.Stack(both, c.stack); app.IsNotFound(err) {
			stack, err = &wire.Stack{}, nil
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	s.Latest, s.Versions = stack.Latest, stack.Versions
	return s, nil
}

func (c *create) publishLocal(ctx context.Context, _ string) error {
	published, err := c.publish(ctx, c.app, c.local)
	if err != nil {
		return err
	}
	c.made = append(c.made, "published "+published)
	return nil
}

// dryRun asks the hub whether it would create a project. A refusal is an answer, and not an error.
func (c *create) dryRun(ctx context.Context, project, api ref.Ref) (*prompts.Asked, error) {
	planned, err := c.hub.PlanProject(ctx, c.request(project, api))
	if err != nil {
		f := failure.Of(err)
		refused := f.Status >= http.StatusBadRequest && f.Status < http.StatusInternalServerError
		if !refused {
			return nil, err
		}
		return &prompts.Asked{Refused: f.Error()}, nil
	}
	asked := &prompts.Asked{Similar: c.choices(planned.SimilarAPIs)}
	if len(asked.Similar) > 0 && planned.SimilarAPIs[0].SHA256 == c.digest {
		asked.Same = asked.Similar[0].Value
	}
	return asked, nil
}

// chooseFiles chooses the app's files. A failure is shown as their problem, because the person
// can create the project without them.
func (c *create) chooseFiles(ctx context.Context) (*prompts.Files, error) {
	files, err := c.app.ChooseFiles(ctx, c.local, c.client, basefiles.Options{AllowEmpty: true}, nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return &prompts.Files{Problem: err.Error()}, nil
	}
	c.files = files
	return &prompts.Files{Count: len(files.Tree), Bytes: files.Bytes}, nil
}

// planAll plans with all answers, and returns lines about sensitive files that would be sent.
func (c *create) planAll(ctx context.Context, answers prompts.Answers) ([]string, error) {
	c.answers, c.name = answers, answers.Project.String()
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	c.remember = c.files != nil && len(c.sensitive.Ignored) > 0 // unless the person says no
	return c.sensitive.Facts(), nil
}
