// Package create makes a new project on the hub from a local one: it registers
// the API where there is none, creates the project, and seeds it.
//
// It never updates: a project that is there already ends it, and what it seeds
// goes through the value that only a creation returns.
package create

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Options are everything that a create needs to know.
type Options struct {
	Local        *workspace.Project
	Name         string // slug, or @account/slug
	StackVersion string // latest, or an exact version
	Visibility   wire.Visibility
	API          ref.Ref // to bind; zero: client.json's, else its source is registered
	BaseFiles    bool
	Files        flow.FileOptions
	Connect      flow.Connect
	Revisions    *state.Sync
	Warn         func(string)
	Typed        flow.Typed
	Step         func(Step) // told when a step starts; nil allowed
}

// Step is one of the steps of a create.
type Step string

const (
	StepStack   Step = "stack"
	StepAPI     Step = "api"
	StepProject Step = "project"
	StepSeed    Step = "seed"
	StepRecord  Step = "record"
)

// Result is a project that was created.
type Result struct {
	ProjectName     string          `json:"projectName"`
	Project         ref.Ref         `json:"project"`
	Origin          string          `json:"origin"`
	Stack           string          `json:"stack"` // account/slug
	StackVersion    string          `json:"stackVersion"`
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

// create is one create on its way.
type create struct {
	Options
	client  *workspace.Client
	body    wire.PutConfig
	files   *flow.Files
	stack   ref.Ref
	project ref.Ref
	api     ref.Ref // zero: to be registered
	schema  *workspace.Schema
	text    []byte // of a schema in a file
	hub     *identity.Hub
	result  *Result
	done    failure.Effects
}

// Run creates.
func Run(ctx context.Context, o Options) (*Result, error) {
	c := &create{Options: o, result: &Result{ProjectName: o.Local.Name, Notes: []string{}}}
	if err := c.run(ctx); err != nil {
		return nil, c.fail(err)
	}
	return c.result, nil
}

func (c *create) run(ctx context.Context) error {
	for _, part := range []struct {
		stage string
		step  Step
		do    func(context.Context) error
	}{
		{flow.StageRead, StepStack, c.read},
		{flow.StageStack, "", c.readStack},
		{flow.StageAPI, "", c.readAPI},
		{flow.StageCreate, "", c.check},
		{flow.StageAPI, StepAPI, c.register},
		{flow.StageCreate, StepProject, c.create},
		{flow.StageWrite, StepRecord, c.record},
	} {
		if part.step != "" && c.Step != nil {
			c.Step(part.step)
		}
		if err := part.do(ctx); err != nil {
			return failure.At(part.stage, c.explain(err))
		}
	}
	return nil
}

// fail adds to a failure what had happened by then.
func (c *create) fail(err error) error {
	e := failure.Of(err)
	e.Project, e.Effects = c.project, c.done
	if c.hub != nil {
		e.Origin = c.hub.Origin()
	}
	return e
}

func (c *create) read(ctx context.Context) (err error) {
	if c.client, err = flow.ReadClient(c.Local, c.Warn); err != nil {
		return err
	}
	if _, c.body, err = flow.ReadConfig(c.client); err != nil {
		return err
	}
	if err := checkName(c.Name); err != nil {
		return err
	}
	if !c.BaseFiles {
		return nil
	}
	if c.files, err = flow.ChooseFiles(ctx, c.Local, c.client, c.Files); err == nil {
		c.result.Notes = append(c.result.Notes, c.files.Notes...)
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
	stack, err := c.Local.Stack()
	if err != nil {
		return err
	}
	if c.stack, err = stack.Name(); err != nil {
		return err
	}
	if c.project, err = ref.ParseTyped(c.Name); err != nil {
		c.project, err = ref.New(c.stack.Account(), c.Name)
	}
	return err
}

// readAPI finds which API the project binds, without asking the hub.
func (c *create) readAPI(context.Context) (err error) {
	if !c.API.IsZero() {
		c.api = c.API
		return nil
	}
	if c.client.API.Present() {
		if c.api, err = ref.Parse(c.client.API.Text); err != nil {
			return failure.New(failure.CodeInvalidFile, "%s: api: %w", c.client.API.At, err)
		}
		return nil
	}
	if !c.client.Source.Present() {
		return failure.New(failure.CodeInvalidFile, "%s names no API: it has neither source nor api", c.Local.ClientPath()).
			WithHint("source is the API's description, a file or a URL; api is one that is registered, @account/slug")
	}
	if c.schema, err = c.client.Schema(); err != nil {
		return err
	}
	if c.schema.URL == "" {
		c.text, err = c.schema.Read()
	}
	return err
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
	return c.fill("api", c.api)
}

// upload registers the API once for this local project and this project of the hub,
// even if the response to an earlier run was lost.
func (c *create) upload(ctx context.Context) (*wire.API, error) {
	purpose := "create " + c.project.String() + " from " + c.Local.Name
	if c.schema.URL != "" {
		return c.hub.ImportAPI(ctx, c.project.Account(), c.schema.URL, purpose)
	}
	return c.hub.UploadAPI(ctx, c.project.Account(), c.text, purpose)
}

// create creates the project and seeds it.
func (c *create) create(ctx context.Context) error {
	created, err := c.hub.CreateProject(ctx, wire.CreateProject{
		Account: c.project.Account(), Slug: c.project.Slug(), Stack: c.stack.Path(), StackVersion: c.StackVersion,
		API: c.api, Visibility: c.Visibility,
	})
	if err != nil {
		return err
	}
	c.done.ProjectCreated = true
	p := created.Project()
	r := c.result
	r.Project, r.Origin, r.Stack, r.StackVersion = p.Project, c.hub.Origin(), p.Stack, p.StackVersion
	r.API, r.Visibility, r.URL = p.API, p.Visibility, p.URL
	if c.Step != nil {
		c.Step(StepSeed)
	}
	return failure.At(flow.StageSeed, c.explain(c.seed(ctx, created)))
}

func (c *create) seed(ctx context.Context, created hubclient.Created) error {
	written, err := created.SeedConfig(ctx, c.body)
	if err != nil {
		return err
	}
	c.done.ConfigWritten = true
	c.result.Revision, c.result.EnrichmentCount = written.Revision, written.EnrichmentCount
	c.Revisions.Save(c.hub.Origin(), c.project, written.Revision)
	if c.files == nil {
		return nil
	}
	files, err := c.files.Send(c.Files.Report, tree.Base{}, func(files hubclient.FileSet) (*wire.BaseFilesWritten, error) {
		return created.SeedBaseFiles(ctx, files)
	})
	if err != nil {
		return err
	}
	c.Revisions.SaveFiles(c.hub.Origin(), c.project, c.files.Snapshot)
	c.done.BaseFilesWritten = true
	c.result.BaseFilesPushed = files.BaseFilesPushed
	return nil
}

// record fills client.json's project where it is absent, and an api that was given.
func (c *create) record(context.Context) error {
	if err := c.fill("project", c.project); err != nil {
		return err
	}
	if !c.API.IsZero() {
		if err := c.fill("api", c.API); err != nil {
			return err
		}
	}
	c.result.RemoteWritten = c.done.RemoteWritten
	if kept := c.client.Project.Text; kept != c.project.String() {
		c.result.Notes = append(c.result.Notes, fmt.Sprintf(
			"%s still names %s; push to the new project with: %s",
			c.Local.ClientPath(), kept, c.Typed.Text(cmdline.Tool("push").With(c.Local.Name).Flag("--project", c.project.String()))))
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
		e.Hint = "the project is made; " + e.Hint // which says the line to add by hand
	case c.done.ProjectCreated && e.Recipe == nil:
		e.Hint = "the project is there, but not all of its content"
		e.Recipe = []cmdline.Line{c.pushLine()}
	case e.Code == wire.CodeProjectExists:
		e.Hint = "nothing was changed; push updates an existing project"
		e.Recipe = []cmdline.Line{c.pushLine()}
	case e.Code == wire.CodeStackNotPublished && !c.publishes():
		// what is here is another version, so that publishing it would not help
	case e.Code == wire.CodeStackNotPublished:
		e.Hint = "publish it first"
		e.Recipe = []cmdline.Line{cmdline.Tool("publish").With(c.Local.Name)}
	case e.Code == wire.CodeAPINotFound:
		e.Hint = "remove api from " + c.Local.ClientPath() + " to register its source anew"
	}
	return e
}

// publishes reports whether publishing the local stack would make the version
// that was asked for.
func (c *create) publishes() bool {
	if c.StackVersion == wire.Latest {
		return true
	}
	stack, err := c.Local.Stack()
	if err != nil {
		return false
	}
	version, err := stack.Version()
	return err == nil && version == c.StackVersion
}

// pushLine is the command that brings the local content to the project.
func (c *create) pushLine() cmdline.Line {
	line := cmdline.Tool("push").With(c.Local.Name).Flag("--project", c.project.String())
	if c.BaseFiles {
		line = line.Flag("--base-files")
	}
	return line
}
