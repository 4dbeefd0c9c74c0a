package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/flow/create"
	"example.com/projecthub/cmd/tool/internal/flow/publish"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// createGuided asks for what a project needs and creates it.
func (a *app) createGuided(ctx context.Context, f createFlags) error {
	hub, err := a.connect()
	if err != nil {
		return failure.Doing(failure.At(flow.StageCreate, err), f.from, "create a project")
	}
	g := &guide{app: a, hub: hub}
	w, answers, err := g.wizard(ctx, f)
	if err != nil {
		return failure.Doing(err, f.from, "create a project")
	}
	a.drawing = !a.terminal().Plain
	err = a.prompter().AskProject(ctx, w, answers)
	a.drawing = false
	switch {
	case errors.Is(err, prompts.ErrStop), errors.Is(err, prompts.ErrBack) && len(g.did) > 0:
		return g.stopped(&flow.Aborted{ProjectName: answers.Local, Project: answers.Project, Origin: hub.Origin()})
	case errors.Is(err, tui.ErrInterrupted):
		err = context.Canceled
	}
	if err != nil {
		e := failure.Of(failure.At(flow.StageCreate, err))
		if len(g.did) > 0 && e.Hint == "" {
			e.Hint = strings.Join(g.did, ", ") + "; no project was created"
		}
		return failure.Doing(e, answers.Local, "create a project")
	}
	f.from, f.visibility, f.stackVersion = answers.Local, string(answers.Visibility), answers.StackVersion
	f.api, f.baseFiles = answers.API, answers.BaseFiles
	return a.create(ctx, answers.Project.String(), f)
}

// guide answers what the wizard wants to know.
type guide struct {
	*app
	hub *identity.Hub
	did []string // what was made on the way, such as: published @acme/web 1.0.0
}

// stopped prints that the person decided against a project, and what there is all
// the same.
func (g *guide) stopped(r *flow.Aborted) error {
	if len(g.did) == 0 {
		return g.aborted(r)
	}
	return g.print("aborted", r, func(p *printer) { p.line("Aborted: %s; no project was created", strings.Join(g.did, ", ")) })
}

// wizard returns what the wizard asks with, and the answers that are known before.
func (g *guide) wizard(ctx context.Context, f createFlags) (prompts.Wizard, *prompts.Answers, error) {
	dir, err := filepath.Abs(g.dir)
	if err != nil {
		return prompts.Wizard{}, nil, err
	}
	w := prompts.Wizard{
		Given:    prompts.Given{Local: f.from != "", Visibility: f.given("visibility"), StackVersion: f.given("stack-version"), BaseFiles: f.given("base-files")},
		NewLocal: workspace.SlugOf(filepath.Base(dir)), Hub: g.hub.Origin(),
		Init: g.makeLocal, Check: g.check, Publish: g.publishLocal, IsFree: g.free, HasAPI: g.hasAPI, CountFiles: g.count,
	}
	answers := &prompts.Answers{Visibility: wire.Visibility(f.visibility), StackVersion: f.stackVersion, BaseFiles: f.baseFiles}
	ws, err := g.workspace()
	if failure.Of(err).Code == failure.CodeNoWorkspace && f.from == "" {
		return w, answers, nil
	}
	if err != nil {
		return w, nil, err
	}
	if f.from != "" {
		_, err := ws.Project(f.from)
		w.Locals, answers.Local = []string{f.from}, f.from
		return w, answers, failure.At(flow.StageRead, err)
	}
	if w.Locals, err = ws.Projects(); err != nil {
		return w, nil, failure.At(flow.StageRead, err)
	}
	if len(w.Locals) > 0 {
		answers.Local = nearest(ws, w.Locals, dir)
	}
	return w, answers, nil
}

// makeLocal makes a local project whose stack belongs to the caller.
func (g *guide) makeLocal(ctx context.Context, name string) error {
	me, err := g.hub.Whoami(ctx)
	if err != nil {
		return failure.At(flow.StageCreate, g.hub.Fault(err))
	}
	dir := g.dir
	if ws, err := g.workspace(); err == nil {
		dir = ws.Dir
	}
	start := workspace.Start{Source: findSchema(dir)}
	if me.User != "" {
		start.Stack, _ = ref.New(me.User, name)
	}
	if _, err = workspace.Create(dir, name, start); err == nil {
		g.did = append(g.did, "made .tool/"+name)
	}
	return failure.At("init", err)
}

// findSchema returns the API description that lies in dir under a usual name, ""
// when there is none.
func findSchema(dir string) string {
	for _, name := range []string{"openapi.yaml", "openapi.yml", "openapi.json", "swagger.yaml", "swagger.yml", "swagger.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return name
		}
	}
	return ""
}

func (g *guide) project(name string) (*workspace.Project, error) {
	ws, err := g.workspace()
	if err != nil {
		return nil, err
	}
	p, err := ws.Project(name)
	return p, failure.At(flow.StageRead, err)
}

func (g *guide) check(ctx context.Context, local string) (*prompts.Preflight, error) {
	p, err := g.project(local)
	if err != nil {
		return nil, err
	}
	s, err := create.Look(ctx, create.Options{Local: p, Connect: g.connect, Warn: func(string) {}})
	if err != nil {
		return nil, err
	}
	return &prompts.Preflight{
		Origin: s.Origin, As: s.As, Accounts: s.Accounts, Stack: s.Stack, Here: s.Version,
		Versions: s.Published, Latest: s.Latest, API: s.API, Source: s.Source, Missing: s.Missing,
	}, nil
}

func (g *guide) publishLocal(ctx context.Context, local string) error {
	p, err := g.project(local)
	if err != nil {
		return err
	}
	r, _, err := publish.Run(ctx, publish.Options{Local: p, Connect: g.connect, CacheDir: g.cache("hashes")})
	if err == nil {
		g.did = append(g.did, fmt.Sprintf("published @%s %s", r.Stack, r.Version))
	}
	return err
}

func (g *guide) free(ctx context.Context, r ref.Ref) (bool, error) {
	_, err := g.hub.Project(ctx, r)
	if flow.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

func (g *guide) hasAPI(ctx context.Context, r ref.Ref) (bool, error) {
	_, err := g.hub.API(ctx, r)
	if flow.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

func (g *guide) count(ctx context.Context, local string) (files int, bytes int64, err error) {
	p, err := g.project(local)
	if err != nil {
		return 0, 0, err
	}
	files, bytes, err = flow.CountFiles(ctx, p)
	return files, bytes, failure.At(flow.StageRead, err)
}
