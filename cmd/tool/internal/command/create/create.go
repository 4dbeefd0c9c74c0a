// Package create makes a new project on the hub from a local one: it registers
// the API unless one is named, creates the project, and seeds it. It plans, asks, and applies
// the plan: nothing is asked, and no file is chosen, after the first write.
//
// It never updates: a project that is there already ends it, and what it seeds
// goes through the value that only a creation returns.
package create

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// Result is a project that was created.
type Result struct {
	ProjectName     string          `json:"projectName"`
	Env             string          `json:"environment,omitzero"`
	Project         ref.Ref         `json:"project"`
	Origin          string          `json:"origin"`
	Stack           string          `json:"stack"` // account/slug
	StackVersion    string          `json:"stackVersion"`
	ResolvedVersion string          `json:"resolvedStackVersion"` // the version that StackVersion is today
	API             ref.Ref         `json:"api"`
	APIRegistered   bool            `json:"apiRegistered"`
	Visibility      wire.Visibility `json:"visibility"`
	EnrichmentCount int             `json:"enrichmentCount"`
	RemoteWritten   bool            `json:"remoteWritten"`
	URL             string          `json:"url"`
	Revision        string          `json:"revision"`
	BaseFilesPushed int             `json:"baseFilesPushed"`
	Notes           []string        `json:"notes"`
}

// create is one create.
type create struct {
	app     *app.App
	local   *workspace.Project
	name    string // slug, or @account/slug
	answers prompts.Answers
	allowed []string // files that are sent although they hold secrets
	hub     *identity.Hub
	plan

	remember  bool // the answer about files that git ignores
	checklist prompts.Checklist
	created   hubclient.Created
	done      failure.Effects
	result    *Result
}

func run(ctx context.Context, a *app.App, name string, o options) error {
	from := o.answers.Local
	local, err := a.Local(ctx, from, a.FromLine(name))
	if err != nil {
		return failure.Doing(err, from, "create %s", name)
	}
	c := &create{app: a, local: local, name: name, answers: o.answers, allowed: o.allowed}
	check := a.Checklist("check the project")
	check.Start(0)
	err = c.prepare(ctx)
	check.End(problem(err))
	c.warn()
	if err == nil {
		err = c.offerAPI(ctx)
	}
	if err == nil {
		c.app.ListFiles(c.spec)
		err = c.confirmSensitive(ctx)
	}
	return c.finish(ctx, o, err)
}

// finish applies the plan, unless the answer was no, or there was an error, and prints what
// came of it.
func (c *create) finish(ctx context.Context, o options, err error) error {
	if err == nil {
		err = c.apply(ctx)
	}
	if errors.Is(err, prompts.ErrStop) || errors.Is(err, prompts.ErrBack) {
		return c.app.Aborted(&app.Aborted{
			ProjectName: c.local.Name, Project: c.project, Origin: c.hub.Origin(), Done: o.made(),
		})
	}
	if err != nil {
		return o.fail(c.explain(err), c.local.Name, fmt.Sprintf("create %s from %s", c.name, c.local.Name))
	}
	return c.app.Print("created", c.result, c.result.text)
}

// warn warns of what is probably a slip in client.json.
func (c *create) warn() {
	if c.client == nil {
		return
	}
	for _, w := range c.client.Warnings {
		c.app.Warn(w.Error())
	}
}

// offerAPI asks a terminal whether to use an API that is like the one to be registered. The
// error is ErrStop for neither.
func (c *create) offerAPI(ctx context.Context) error {
	if c.app.Strict() || len(c.similar) == 0 {
		return nil
	}
	const registerAnew = "register"
	q := prompts.Question{Title: fmt.Sprintf("Register %s as a new API?", c.schema.File), Preset: registerAnew}
	if c.similar[0].SHA256 == c.sum {
		q.Preset = c.similar[0].API.String()
	}
	anew := prompts.Choice{Value: registerAnew, Text: "Register a new API in " + c.project.Account()}
	q.Choices = append(c.choices(c.similar), anew)
	return c.app.UI.Ask(ctx, prompts.Step{
		Question: func() prompts.Question { return q },
		Take: func(answer string) {
			if answer != registerAnew {
				c.answers.API, _ = ref.Parse(answer)
				c.api, c.spec = c.answers.API, app.Description{}
			}
		},
	})
}

// confirmSensitive asks a terminal whether sensitive files are sent. The error is ErrStop for
// no.
func (c *create) confirmSensitive(ctx context.Context) error {
	if c.app.Strict() {
		return nil
	}
	asked, yes, err := c.app.ConfirmSensitive(ctx, c.name, c.sensitive)
	if err == nil && !yes {
		err = prompts.ErrStop
	}
	c.remember = asked && yes && c.files != nil && len(c.sensitive.Ignored) > 0
	return err
}

// problem is a word for an error, "" for none.
func problem(err error) string {
	switch {
	case err == nil:
		return ""
	case app.IsInterrupted(err):
		return "interrupted"
	}
	return "failed"
}

// apply carries out the plan, in steps of which some may not be needed.
func (c *create) apply(ctx context.Context) (err error) {
	type step struct {
		name, stage string
		do          func(context.Context) error
	}
	c.result = &Result{
		ProjectName: c.local.Name, Env: c.local.Env, Origin: c.hub.Origin(), Notes: append([]string{}, c.notes...),
	}
	steps := []step{{"create the project", app.StageCreate, c.create}, {"upload the config", app.StageSeed, c.seed}}
	if c.api.IsZero() {
		steps = slices.Insert(steps, 0, step{"register the API", app.StageAPI, c.register})
	}
	if !c.client.Project.Present() || !c.answers.API.IsZero() && !c.client.API.Present() {
		steps = append(steps, step{"update client.json", app.StageWrite, c.record})
	}
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	c.checklist = c.app.Checklist(names...)
	defer func() { c.checklist.End(problem(err)) }()
	for i, s := range steps {
		c.checklist.Start(i)
		if err := s.do(ctx); err != nil {
			return failure.At(s.stage, err)
		}
	}
	c.recordSync()
	return nil
}

// register registers the API once for this local project and this project of the hub, even if
// the response to an earlier run was lost, and records it at once.
func (c *create) register(ctx context.Context) error {
	purpose := "create " + c.project.String() + " from " + c.local.Name
	var registered *wire.API
	var err error
	if c.schema.URL != "" {
		registered, err = c.hub.ImportAPI(ctx, wire.ImportAPI{Account: c.project.Account(), URL: c.schema.URL}, purpose)
	} else {
		d := hubclient.Description{Document: c.spec.Text, Name: path.Base(c.schema.File)}
		registered, err = c.hub.UploadAPI(ctx, c.project.Account(), d, purpose)
	}
	if err != nil {
		return err
	}
	c.api, c.result.APIRegistered = registered.API, true
	c.noteSimilar(ctx, registered)
	return c.fill("api", c.api)
}

// noteSimilar notes in a pipeline, where nothing is asked, that an API like the registered
// one existed already.
func (c *create) noteSimilar(ctx context.Context, registered *wire.API) {
	if !c.app.Strict() {
		return
	}
	if c.schema.URL != "" { // which only the hub has read
		req := c.request(c.project, c.api)
		req.Then.SHA256, req.Then.Title = registered.SHA256, registered.Title
		planned, err := c.hub.PlanProject(ctx, req)
		if err != nil {
			return
		}
		c.similar = slices.DeleteFunc(planned.SimilarAPIs, func(a wire.API) bool { return a.API == registered.API })
	}
	if len(c.similar) > 0 {
		edit := cmdline.Tool("project", "edit").With(c.project.String()).Flag("--api", c.similar[0].API.String())
		c.note("%s has %s; to use it instead of %s: %s",
			c.similar[0].API, alike(c.similar[0], registered.SHA256), registered.API, c.app.CommandText(edit))
	}
}

func (c *create) create(ctx context.Context) (err error) {
	req := c.request(c.project, c.api)
	req.Then = nil
	if c.created, err = c.hub.CreateProject(ctx, req); err != nil {
		return err
	}
	c.done.ProjectCreated = true
	p, r := c.created.Project(), c.result
	r.Project, r.Stack, r.StackVersion, r.ResolvedVersion = p.Project, p.Stack, p.StackVersion, p.ResolvedStackVersion
	r.API, r.Visibility, r.URL = p.API, p.Visibility, p.URL
	return nil
}

// seed writes the first config and base files, through the value that only a creation
// returns.
func (c *create) seed(ctx context.Context) error {
	written, err := c.created.SeedConfig(ctx, c.body)
	if err != nil {
		return err
	}
	c.done.ConfigWritten = true
	c.result.Revision, c.result.EnrichmentCount = written.Revision, written.EnrichmentCount
	c.result.Notes = append(c.result.Notes, c.app.WithdrawnNotes(written)...)
	state := c.app.SyncState()
	state.Save(c.hub.Origin(), c.project, written.Revision)
	if c.files == nil {
		return nil
	}
	send := func(files hubclient.FileSet) (*wire.BaseFilesWritten, error) {
		return c.created.SeedBaseFiles(ctx, files)
	}
	files, err := c.files.Send(c.checklist.Update, tree.Base{}, send)
	if err != nil {
		return err
	}
	state.SaveFiles(c.hub.Origin(), c.project, c.files.Snapshot)
	c.done.BaseFilesWritten = true
	c.result.BaseFilesPushed = files.BaseFilesPushed
	return nil
}

// record fills client.json's project where it is absent, and an api that was given.
func (c *create) record(context.Context) error {
	err := c.fill("project", c.project)
	if err == nil && !c.answers.API.IsZero() {
		err = c.fill("api", c.answers.API)
	}
	return err
}

func (c *create) fill(field string, value ref.Ref) error {
	written, err := c.client.Fill(field, value.String())
	c.done.RemoteWritten = c.done.RemoteWritten || written
	return err
}

// recordSync records the workspace's hub, what the project was created with, and the answer
// about files that git ignores. What cannot be recorded is noted.
func (c *create) recordSync() {
	c.result.RemoteWritten = c.done.RemoteWritten
	c.result.Notes = append(c.result.Notes, c.app.RecordHub(c.local, c.hub.Origin())...)
	if kept := c.client.Project.Text; kept != c.project.String() {
		push := cmdline.Tool("push").With(c.local.Name).Flag("--project", c.project.String())
		c.note("%s still names %s; push to the new project with: %s", c.local.ClientPath(), kept, c.app.CommandText(push))
	} else {
		base := workspace.Pulled{Project: c.project, Revision: c.result.Revision}
		if c.files != nil {
			base.Tree = c.files.Digest
		}
		if err := c.local.RecordPulled(c.hub.Origin(), base); err != nil {
			c.note("the revision could not be recorded: %v", err)
		}
	}
	if c.remember {
		if err := c.app.State().Consent(app.IgnoredConsent(c.hub.Origin(), c.project)); err != nil {
			c.note("the answer about files that git ignores could not be remembered: %v", err)
		}
	}
}

func (c *create) note(format string, args ...any) {
	c.result.Notes = append(c.result.Notes, fmt.Sprintf(format, args...))
}
