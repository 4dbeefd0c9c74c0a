package create

import (
	"context"
	"path"
	"slices"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// result is a project that was created.
type result struct {
	app.About       `json:",inline"`
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
	app.Noted       `json:",inline"`
}

func (*result) Kind() string   { return "created" }
func (*result) Effect() string { return "the project was created" }

func (r *result) Text(w *app.Printer) {
	w.Line("Created %s from %s", r.Project, r.ProjectName)
	w.Environment(r.Env)
	w.Address("page", r.Origin, r.URL)
	version := r.StackVersion
	if r.ResolvedVersion != version {
		version += ", now " + r.ResolvedVersion
	}
	w.Field("stack", "@%s, version %s", r.Stack, version)
	registered := ""
	if r.APIRegistered {
		registered = ", registered now"
	}
	w.Field("api", "%s%s", r.API, registered)
	w.Field("visibility", "%s", r.Visibility)
	w.NonZero("enrichments", r.EnrichmentCount)
	if r.BaseFilesPushed > 0 {
		w.Field("base files", "%d", r.BaseFilesPushed)
	}
	w.Field("origin", "%s", r.Origin)
}

// apply carries out the plan in the steps that it needs.
func (c *create) apply(ctx context.Context) (err error) {
	c.result = &result{
		About: app.About{ProjectName: c.local.Name, Env: c.local.Env, Origin: c.hub.Origin()},
		Noted: app.Noted{Notes: slices.Clone(c.notes)},
	}
	if c.stack.Account() != c.project.Account() {
		c.result.Note("to see the preview, people need a role on @%s, too: the stack is %s", c.stack.Account(), c.stack)
	}
	type step struct {
		name  string
		stage string // of a failure
		do    func(context.Context) error
	}
	var steps []step
	if c.api.IsZero() {
		steps = append(steps, step{name: "register the API", stage: app.StageAPI, do: c.register})
	}
	steps = append(steps,
		step{name: "create the project", stage: app.StageCreate, do: c.create},
		step{name: "upload the config", stage: app.StageSeed, do: c.seed})
	recordsAPI := !c.answers.API.IsZero() && !c.client.API.Present()
	if !c.client.Project.Present() || recordsAPI {
		steps = append(steps, step{name: "update client.json", stage: app.StageWrite, do: c.record})
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
	c.recordLocally()
	return nil
}

// register registers the API once for this local project and this project of the hub, even if
// the response to an earlier run was lost, and records it at once.
func (c *create) register(ctx context.Context) (err error) {
	var registered *wire.API
	account := c.project.Account()
	purpose := "create " + c.project.String() + " from " + c.local.Name
	if c.schema.URL != "" {
		registered, err = c.hub.ImportAPI(ctx, wire.ImportAPI{Account: account, URL: c.schema.URL}, purpose)
	} else {
		d := hubclient.Description{Document: c.description.Text, Name: path.Base(c.schema.File)}
		registered, err = c.hub.UploadAPI(ctx, account, d, purpose)
	}
	if err != nil {
		return err
	}
	c.api, c.result.APIRegistered = registered.API, true
	if c.app.Strict() { // a person was asked before
		c.noteSimilar(ctx, registered)
	}
	return c.fill("api", c.api)
}

// noteSimilar notes that an API like the registered one existed already.
func (c *create) noteSimilar(ctx context.Context, registered *wire.API) {
	if c.schema.URL != "" { // only now the hub has read the description
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
		c.result.Note("%s has %s; to use it instead of %s: %s",
			c.similar[0].API, alike(c.similar[0], registered.SHA256), registered.API, c.app.CommandText(edit))
	}
}

func (c *create) create(ctx context.Context) (err error) {
	req := c.request(c.project, c.api)
	req.Then = nil
	if c.created, err = c.hub.CreateProject(ctx, req); err != nil {
		return err
	}
	c.effects.ProjectCreated = true
	p, r := c.created.Project(), c.result
	r.Project = p.Project
	r.Stack, r.StackVersion, r.ResolvedVersion = p.Stack, p.StackVersion, p.ResolvedStackVersion
	r.API, r.Visibility, r.URL = p.API, p.Visibility, p.URL
	return nil
}

// seed writes the first config and base files, through [hubclient.Created].
func (c *create) seed(ctx context.Context) error {
	written, err := c.created.SeedConfig(ctx, c.config)
	if err != nil {
		return err
	}
	c.effects.ConfigWritten = true
	c.result.Revision, c.result.EnrichmentCount = written.Revision, written.EnrichmentCount
	c.result.Notes = append(c.result.Notes, c.app.WithdrawnNotes(written)...)
	c.seeded = workspace.Pulled{Project: c.project, Revision: written.Revision}
	c.app.RecordSync(c.result.Origin, c.seeded, nil)
	if c.files == nil {
		return nil
	}
	blobs := c.files.Blobs()
	defer blobs.Close()
	files, err := c.created.SeedBaseFiles(ctx, c.files.Set(blobs, c.checklist.Update, tree.Snapshot{}))
	if err != nil {
		return err
	}
	c.effects.BaseFilesWritten = true
	c.result.BaseFilesPushed, c.seeded.Tree = files.BaseFilesPushed, c.files.Digest
	c.app.RecordSync(c.result.Origin, c.seeded, c.files.Tree)
	return nil
}

// record adds the project to client.json, and an API that was chosen, unless it has them.
func (c *create) record(context.Context) error {
	err := c.fill("project", c.project)
	if err == nil && !c.answers.API.IsZero() {
		err = c.fill("api", c.answers.API)
	}
	return err
}

// fill writes a field of client.json, unless it has a value.
func (c *create) fill(field string, value ref.Ref) error {
	written, err := c.client.Record(field, value.String(), true)
	c.effects.RemoteWritten = c.effects.RemoteWritten || written
	return err
}

// recordLocally records the workspace's hub, what the project was created with, and the answer
// about files that git ignores. What cannot be recorded is noted.
func (c *create) recordLocally() {
	r := c.result
	r.RemoteWritten = c.effects.RemoteWritten
	r.Notes = append(r.Notes, c.app.RecordHub(c.local, r.Origin)...)
	destination := c.client.Project.Text
	if destination != c.project.String() {
		push := cmdline.Tool("push").With(c.local.Name).Flag("--project", c.project.String())
		r.Note("%s still names %s; push to the new project with: %s",
			c.local.ClientPath(), destination, c.app.CommandText(push))
	} else if err := c.local.RecordPulled(r.Origin, c.seeded); err != nil {
		r.Note("the revision could not be recorded: %v", err)
	}
	if c.remember {
		if err := c.app.State().Consent(app.IgnoredConsent(r.Origin, c.project)); err != nil {
			r.Note("the answer about files that git ignores could not be remembered: %v", err)
		}
	}
}
