// Package create makes a new project on the hub from a local one: it registers
// the API unless one is named, creates the project, and seeds it.
//
// It never updates: a project that is there already ends it, and what it seeds
// goes through the value that only a creation returns.
package create

import (
	"context"
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

// The steps of a create as people read them.
const (
	stepCheck   = "check the project"
	stepAPI     = "register the API"
	stepProject = "create the project"
	stepSeed    = "upload the config"
	stepRecord  = "update client.json"
)

// steps returns the steps that are needed: of an API or a project that client.json names already, none.
func (c *create) steps() []string {
	all := []string{stepCheck, stepAPI, stepProject, stepSeed, stepRecord}
	client, err := c.local.Client()
	if err != nil {
		return all
	}
	hasAPI, givenAPI := client.API.Present(), !c.answers.API.IsZero()
	return slices.DeleteFunc(all, func(step string) bool {
		return step == stepAPI && (hasAPI || givenAPI) || step == stepRecord && client.Project.Present() && (hasAPI || !givenAPI)
	})
}

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
	app       *app.App
	local     *workspace.Project
	name      string // slug, or @account/slug
	answers   prompts.Answers
	allowed   []string // files that are sent although they hold secrets
	checklist prompts.Checklist

	client  *workspace.Client
	body    wire.PutConfig
	files   *app.Files
	stack   ref.Ref
	project ref.Ref
	api     ref.Ref // zero: to be registered
	schema  *workspace.Schema
	spec    app.Description // of a schema in a file
	hub     *identity.Hub
	result  *Result
	created hubclient.Created
	done    failure.Effects
}

func run(ctx context.Context, a *app.App, name string, o options) error {
	from := o.answers.Local
	local, err := a.Local(ctx, from, a.FromLine(name))
	if err != nil {
		return failure.Doing(err, from, "create %s", name)
	}
	c := &create{app: a, local: local, name: name, answers: o.answers, result: &Result{ProjectName: local.Name, Env: local.Env, Notes: []string{}}}
	fail := func(err error) error {
		return o.fail(err, local.Name, fmt.Sprintf("create %s from %s", name, local.Name))
	}
	if err := a.ConfirmHub(ctx); err != nil {
		return fail(err)
	}
	stopped, err := c.offerAPI(ctx)
	if err != nil {
		return fail(err)
	}
	if stopped {
		return a.Aborted(&app.Aborted{ProjectName: local.Name, Done: o.made()})
	}
	c.allowed = o.allowed
	remember, yes, err := c.confirmSensitive(ctx)
	if err != nil {
		return fail(err)
	}
	if !yes {
		return a.Aborted(&app.Aborted{ProjectName: local.Name, Done: o.made()})
	}
	steps := c.steps()
	c.checklist = a.Checklist(steps...)
	err = c.run(ctx, steps)
	c.checklist.End(problem(err))
	if err != nil {
		return fail(c.fail(err))
	}
	if remember {
		if err := a.State().Consent(app.IgnoredConsent(c.result.Origin, c.result.Project)); err != nil {
			c.result.Notes = append(c.result.Notes, "the answer about files that git ignores could not be remembered: "+err.Error())
		}
	}
	return a.Print("created", c.result, func(w *app.Printer) { createdText(w, c.result) })
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

// confirmSensitive lists the files of the API description that will be registered, and asks a
// terminal whether sensitive ones of them, and sensitive base files, are sent. What is wrong
// with them is reported by the creation. It returns whether to remember the answer.
func (c *create) confirmSensitive(ctx context.Context) (remember, yes bool, err error) {
	will := create{app: c.app, local: c.local, answers: c.answers}
	if will.client, err = c.local.Client(); err != nil || will.readAPI(ctx) != nil {
		return false, true, nil
	}
	c.app.ListFiles(will.spec)
	if _, err := c.app.Identity(); err != nil || c.app.Strict() {
		return false, true, nil
	}
	var files app.Sensitive
	if c.answers.BaseFiles {
		if files, err = c.app.SensitiveFiles(ctx, c.local, c.allowed); err != nil {
			return false, true, nil
		}
	}
	remember = len(files.Ignored) > 0
	files = files.And(will.spec.Sensitive(ctx, c.local.Workspace.Dir, c.allowed))
	_, yes, err = c.app.ConfirmSensitive(ctx, c.name, files)
	if yes {
		c.allowed = slices.Concat(c.allowed, files.Secrets)
	}
	return remember, yes, err
}

func (c *create) run(ctx context.Context, steps []string) error {
	at := -1
	for _, part := range []struct {
		stage string
		step  string
		do    func(context.Context) error
	}{
		{app.StageRead, stepCheck, c.read},
		{app.StageStack, stepCheck, c.readStack},
		{app.StageAPI, stepCheck, c.readAPI},
		{app.StageAPI, stepCheck, c.checkDescription},
		{app.StageCreate, stepCheck, c.check},
		{app.StageAPI, stepAPI, c.register},
		{app.StageCreate, stepProject, c.create},
		{app.StageSeed, stepSeed, c.seed},
		{app.StageWrite, stepRecord, c.record},
	} {
		if step := slices.Index(steps, part.step); step >= 0 && step != at {
			at = step
			c.checklist.Start(step)
		}
		if err := part.do(ctx); err != nil {
			return failure.At(part.stage, c.explain(err))
		}
	}
	return nil
}

// fail adds to a failure what had happened by then.
func (c *create) fail(err error) error {
	return app.Explain(c.hub, err).About(c.project, c.done)
}

func (c *create) read(ctx context.Context) (err error) {
	if c.client, err = c.app.ReadClient(c.local); err != nil {
		return err
	}
	if _, c.body, err = app.ReadConfig(c.client); err != nil {
		return err
	}
	if err := checkName(c.name); err != nil {
		return err
	}
	if !c.answers.BaseFiles {
		return nil
	}
	if c.files, err = c.app.ChooseFiles(ctx, c.local, c.client, app.FileOptions{Report: c.checklist.Update}); err == nil {
		err = app.RefuseSecrets(c.files.Secrets(tree.Base{}, c.allowed), c.allowed, c.again())
		c.result.Notes = append(c.result.Notes, c.files.Notes...)
		files := c.files.Sensitive(ctx, tree.Base{})()
		if note := files.Note("base file", "base files", app.SeeToolignore); note != "" {
			c.result.Notes = append(c.result.Notes, note)
		}
	}
	return err
}

// checkName wants a slug or a ref.
func checkName(name string) error {
	if ref.ValidName(name) {
		return nil
	}
	if _, err := ref.ParseTyped(name); err != nil {
		return failure.New(hubclient.CodeInvalidName, "%q cannot name a project", name).
			WithHint("a project's name is SLUG or @ACCOUNT/SLUG, each part of %s", ref.Rule)
	}
	return nil
}

func (c *create) readStack(context.Context) error {
	stack, err := c.local.Stack()
	if err != nil {
		return err
	}
	if c.stack, err = stack.Name(); err != nil {
		return err
	}
	if c.project, err = ref.ParseTyped(c.name); err != nil {
		c.project, err = ref.New(c.stack.Account(), c.name)
	}
	return err
}

// readAPI finds which API the project binds, without asking the hub.
func (c *create) readAPI(context.Context) (err error) {
	if !c.answers.API.IsZero() {
		c.api = c.answers.API
		return nil
	}
	if c.client.API.Present() {
		if c.api, err = ref.Parse(c.client.API.Text); err != nil {
			return failure.New(failure.CodeInvalidFile, "%s: api: %w", c.client.API.At, err)
		}
		return nil
	}
	if !c.client.Source.Present() {
		return failure.New(failure.CodeInvalidFile, "%s names no API: it has neither source nor api", c.local.ClientPath()).
			WithHint("source is the API's description, a file or a URL; api is one that is registered, @account/slug")
	}
	if c.schema, err = c.client.Schema(); err != nil {
		return err
	}
	if c.schema.URL != "" {
		return nil
	}
	c.spec, err = app.ReadDescription(c.schema)
	c.result.note(c.spec.Notes)
	return err
}

// checkDescription refuses secrets in what will be registered.
func (c *create) checkDescription(ctx context.Context) error {
	files := c.spec.Sensitive(ctx, c.local.Workspace.Dir, c.allowed)
	if note := files.Note("file of the API description", "files of the API description", ""); note != "" {
		c.result.note([]string{note})
	}
	return app.RefuseSecrets(files.Secrets, c.allowed, c.again())
}

// again is the command that creates the same project.
func (c *create) again() cmdline.Line {
	line := c.app.Itself(c.name).Flag("--from", c.local.Name)
	if c.answers.BaseFiles {
		line = line.Flag("--base-files")
	}
	return line
}

func (r *Result) note(notes []string) {
	if r != nil { // nil: before the creation
		r.Notes = append(r.Notes, notes...)
	}
}

// register makes sure that there is an API to bind, and records a new one at
// once, so that a second run does not register it again.
func (c *create) register(ctx context.Context) error {
	if !c.api.IsZero() {
		return nil
	}
	registered, err := c.upload(ctx)
	if err != nil {
		return err
	}
	c.api, c.result.APIRegistered = registered.API, true
	c.noteSimilar(ctx, registered)
	return c.fill("api", c.api)
}

// upload registers the API once for this local project and this project of the hub,
// even if the response to an earlier run was lost.
func (c *create) upload(ctx context.Context) (*wire.API, error) {
	purpose := "create " + c.project.String() + " from " + c.local.Name
	if c.schema.URL != "" {
		return c.hub.ImportAPI(ctx, wire.ImportAPI{Account: c.project.Account(), URL: c.schema.URL}, purpose)
	}
	d := hubclient.Description{Document: c.spec.Text, Name: path.Base(c.schema.File)}
	return c.hub.UploadAPI(ctx, c.project.Account(), d, purpose)
}

func (c *create) create(ctx context.Context) (err error) {
	c.created, err = c.hub.CreateProject(ctx, wire.CreateProject{
		Account: c.project.Account(), Slug: c.project.Slug(), Stack: c.stack.Path(), StackVersion: c.answers.StackVersion,
		API: c.api, Visibility: c.answers.Visibility,
	})
	if err != nil {
		return err
	}
	c.done.ProjectCreated = true
	p := c.created.Project()
	r := c.result
	r.Project, r.Origin, r.Stack, r.StackVersion = p.Project, c.hub.Origin(), p.Stack, p.StackVersion
	r.ResolvedVersion = p.ResolvedStackVersion
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
	c.result.note(c.app.WithdrawnNotes(written))
	state := c.app.SyncState()
	state.Save(c.hub.Origin(), c.project, written.Revision)
	if c.files == nil {
		return nil
	}
	files, err := c.files.Send(c.checklist.Update, tree.Base{}, func(files hubclient.FileSet) (*wire.BaseFilesWritten, error) {
		return c.created.SeedBaseFiles(ctx, files)
	})
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
	if err := c.fill("project", c.project); err != nil {
		return err
	}
	if !c.answers.API.IsZero() {
		if err := c.fill("api", c.answers.API); err != nil {
			return err
		}
	}
	c.result.RemoteWritten = c.done.RemoteWritten
	c.result.Notes = append(c.result.Notes, c.app.RecordHub(c.local, c.hub.Origin())...)
	if c.client.Project.Text == c.project.String() {
		base := workspace.Pulled{Project: c.project, Revision: c.result.Revision}
		if c.files != nil {
			base.Tree = c.files.Digest
		}
		if err := c.local.RecordPulled(c.hub.Origin(), base); err != nil {
			c.result.Notes = append(c.result.Notes, "the revision could not be recorded: "+err.Error())
		}
	}
	if kept := c.client.Project.Text; kept != c.project.String() {
		c.result.Notes = append(c.result.Notes, fmt.Sprintf(
			"%s still names %s; push to the new project with: %s",
			c.local.ClientPath(), kept, c.app.CommandText(cmdline.Tool("push").With(c.local.Name).Flag("--project", c.project.String()))))
	}
	return nil
}

func (c *create) fill(field string, value ref.Ref) error {
	written, err := c.client.Fill(field, value.String())
	c.done.RemoteWritten = c.done.RemoteWritten || written
	return err
}

// explain turns the hub's answers into failures with the next command.
func (c *create) explain(err error) error {
	if err == nil || c.hub == nil || failure.Of(err).Stage != "" {
		return err // what has its stage is explained
	}
	e := failure.Of(c.hub.Fault(err))
	switch {
	case e.Code == failure.CodeNotRecorded && c.done.ProjectCreated:
		e.Hint = "the project was created; " + e.Hint // which says the line to add by hand
	case c.done.ProjectCreated && !c.done.ConfigWritten && e.Code == wire.CodeTooLarge: // for a push, too
		e.Hint = "the project was created without settings: make them smaller, then push"
		e.Recipe = []cmdline.Line{c.pushLine()}
	case c.done.ProjectCreated && e.Recipe == nil:
		e.Hint = "the project was created, but its config or base files are incomplete"
		e.Recipe = []cmdline.Line{c.pushLine()}
	case e.Code == wire.CodeProjectExists:
		e.Hint = "push updates an existing project"
		e.Recipe = []cmdline.Line{c.pushLine()}
	case e.Code == wire.CodeStackNotPublished && !c.publishes():
		// what is here is another version, so that publishing it would not help
	case e.Code == wire.CodeStackNotPublished:
		e.Hint = "publish it first"
		e.Recipe = []cmdline.Line{cmdline.Tool("publish").With(c.local.Name)}
	case e.Code == wire.CodeAPINotFound:
		e.Hint = "remove api from " + c.local.ClientPath() + " to register its source anew"
	}
	return e
}

// publishes reports whether publishing the local stack would make the version
// that was asked for.
func (c *create) publishes() bool {
	if c.answers.StackVersion == wire.Latest {
		return true
	}
	stack, err := c.local.Stack()
	if err != nil {
		return false
	}
	version, err := stack.Version()
	return err == nil && version == c.answers.StackVersion
}

// pushLine is the command that pushes the local content to the project.
func (c *create) pushLine() cmdline.Line {
	line := cmdline.Tool("push").With(c.local.Name).Flag("--project", c.project.String())
	if c.answers.BaseFiles {
		line = line.Flag("--base-files")
	}
	return line
}
