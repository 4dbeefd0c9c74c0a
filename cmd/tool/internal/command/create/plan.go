package create

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/apisource"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// plan is what a create will do: what is read of the local project, and what the hub said.
type plan struct {
	client    *workspace.Client
	body      wire.PutConfig
	measure   flat.Limits // of the config
	files     *app.Files  // nil: none are pushed
	stack     ref.Ref
	here      string // version in stack.json, "" for none
	project   ref.Ref
	api       ref.Ref           // zero: to be registered
	schema    *workspace.Schema // of the API to be registered
	spec      app.Description   // of a schema in a file
	sum       string            // digest of spec
	similar   []wire.API        // to that API
	sensitive app.Sensitive     // of all that will be sent
	notes     []string
}

// prepare plans. It reads the local project, and then has the hub say in a dry run all that
// would make the create fail, so that a doomed one leaves nothing behind.
func (c *create) prepare(ctx context.Context) error {
	if err := c.read(); err != nil {
		return err
	}
	if err := c.readFiles(ctx); err != nil {
		return failure.At(app.StageRead, err)
	}
	if err := c.readDescription(ctx); err != nil {
		return failure.At(app.StageAPI, err)
	}
	var err error
	if c.hub == nil {
		if c.hub, err = c.app.ConnectToWrite(ctx); err != nil {
			return err
		}
	}
	if err := c.checkRecordable(); err != nil {
		return err
	}
	planned, err := c.hub.PlanProject(ctx, c.request(c.project, c.api))
	if err != nil {
		if failure.Of(err).Code == wire.CodeAPINotFound {
			return failure.At(app.StageAPI, err)
		}
		return err
	}
	c.similar = planned.SimilarAPIs
	return nil
}

// read reads client.json and stack.json, and the project's name.
func (c *create) read() (err error) {
	former := c.files
	c.plan = plan{files: former}
	if c.client, err = c.local.Client(); err != nil {
		return failure.At(app.StageRead, err)
	}
	config, body, err := app.ReadConfig(c.client)
	if err != nil {
		return failure.At(app.StageRead, err)
	}
	c.body, c.measure = body, config.Measure()
	name, nameErr := ref.ParseTyped(c.name)
	if nameErr != nil && c.name != "" && !ref.ValidName(c.name) {
		return failure.New(hubclient.CodeInvalidName, "%q cannot name a project", c.name).
			WithHint("a project's name is SLUG or @ACCOUNT/SLUG, each part of %s", ref.Rule).At(app.StageRead)
	}
	stack, err := c.local.Stack()
	if err != nil {
		return failure.At(app.StageStack, err)
	}
	if c.stack, err = stack.Name(); err != nil {
		return failure.At(app.StageStack, err)
	}
	c.here, _ = stack.Version() // publish says what is wrong with it
	if c.project = name; nameErr != nil && c.name != "" {
		c.project, err = ref.New(c.stack.Account(), c.name)
	}
	return failure.At(app.StageStack, err)
}

// readFiles chooses the base files, once, and refuses secrets where nobody can be asked.
func (c *create) readFiles(ctx context.Context) (err error) {
	if !c.answers.BaseFiles {
		c.files = nil
		return nil
	}
	if c.files == nil {
		transfer := c.app.Progress()
		c.files, err = c.app.ChooseFiles(ctx, c.local, c.client, app.FileOptions{Report: transfer.Update})
		if transfer.Hide(); err != nil {
			return err
		}
	}
	found := c.files.Sensitive(ctx, tree.Base{})()
	found.Secrets = c.files.Secrets(tree.Base{}, c.allowed)
	c.notes = append(c.notes, c.files.Notes...)
	return c.found(found, found.Note("base file", "base files", app.SeeToolignore))
}

// readDescription reads the API's description if it will be registered.
func (c *create) readDescription(ctx context.Context) error {
	if err := c.readAPI(); err != nil || c.spec.Files == nil {
		return err
	}
	digest := sha256.Sum256(c.spec.Text)
	c.sum, c.notes = hex.EncodeToString(digest[:]), append(c.notes, c.spec.Notes...)
	found := c.spec.Sensitive(ctx, c.local.Workspace.Dir, c.allowed)
	return c.found(found, found.Note("file of the API description", "files of the API description", ""))
}

// found remembers sensitive files, and refuses secrets where nobody can be asked.
func (c *create) found(found app.Sensitive, note string) error {
	c.sensitive = c.sensitive.And(found)
	if note != "" {
		c.notes = append(c.notes, note)
	}
	if !c.app.Strict() {
		return nil
	}
	again := c.app.Itself(c.name).Flag("--from", c.local.Name)
	if c.answers.BaseFiles {
		again = again.Flag("--base-files")
	}
	return app.RefuseSecrets(found.Secrets, c.allowed, again)
}

// readAPI finds which API the project binds, without asking the hub.
func (c *create) readAPI() (err error) {
	if c.api = c.answers.API; !c.api.IsZero() {
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
	if c.schema, err = c.client.Schema(); err == nil && c.schema.URL == "" {
		c.spec, err = app.ReadDescription(c.schema)
	}
	return err
}

// checkRecordable reports whether what is to be recorded in client.json could be.
func (c *create) checkRecordable() error {
	if c.client.Project.Present() && c.client.API.Present() {
		return nil
	}
	if err := c.client.CheckWritable(); err != nil {
		return failure.Of(err).WithHint("nothing was created: make it writable, because the new project is recorded there")
	}
	return nil
}

// request is what the hub is asked about in a dry run: a project with an API, or one to be
// registered.
func (c *create) request(project, api ref.Ref) wire.CreateProject {
	then := &wire.Then{ConfigBytes: c.measure.Bytes, ConfigKeys: c.measure.Keys, ConfigDepth: c.measure.Depth}
	if api.IsZero() && c.sum != "" {
		then.SHA256, then.Title = c.sum, apisource.Title(c.spec.Text)
	}
	if c.answers.BaseFiles && c.files != nil {
		then.BaseFiles, then.BaseFilesBytes = len(c.files.Tree), c.files.Bytes
		for _, e := range c.files.Tree {
			if e.Size > then.LargestBytes {
				then.LargestFile, then.LargestBytes = e.Path, e.Size
			}
		}
	}
	return wire.CreateProject{
		Account: project.Account(), Slug: project.Slug(), Stack: c.stack.Path(), StackVersion: c.answers.StackVersion,
		API: api, Visibility: c.answers.Visibility, Then: then,
	}
}

// choices are the APIs that can be used instead of a new one.
func (c *create) choices(similar []wire.API) (choices []prompts.Choice) {
	for _, api := range similar {
		text := "Use " + api.API.String() + ", which has " + alike(api, c.sum)
		choices = append(choices, prompts.Choice{Value: api.API.String(), Text: text})
	}
	return choices
}

// alike says what an API has in common with the description of digest sum.
func alike(api wire.API, sum string) string {
	if api.SHA256 == sum {
		return "the same description"
	}
	return "the same title"
}

// explain adds to a failure what was done by then, and the next command.
func (c *create) explain(err error) failure.Failure {
	e := app.Explain(c.hub, err).About(c.project, c.done)
	push := cmdline.Tool("push").With(c.local.Name).Flag("--project", c.project.String())
	if c.answers.BaseFiles {
		push = push.Flag("--base-files")
	}
	publishes := c.answers.StackVersion == wire.Latest || c.answers.StackVersion == c.here
	switch {
	case e.Code == failure.CodeNotRecorded && c.done.ProjectCreated:
		return e.WithHint("the project was created; %s", e.Hint) // which says the line to add by hand
	case c.done.ProjectCreated && e.Recipe == nil:
		return e.WithHint("the project was created, but its config or base files are incomplete").WithRecipe(push)
	case e.Code == wire.CodeProjectExists:
		return e.WithRecipe(push)
	case e.Code == wire.CodeStackNotPublished && publishes:
		return e.WithHint("publish it first").WithRecipe(cmdline.Tool("publish").With(c.local.Name))
	case e.Code == wire.CodeAPINotFound:
		return e.WithHint("remove api from %s to register its source anew", c.local.ClientPath())
	}
	return e
}
