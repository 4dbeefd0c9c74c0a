package create

import (
	"context"
	"crypto/sha256"
	"fmt"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/description"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/secret"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// plan is what a create will do: what the local project has, and what the hub says about it.
type plan struct {
	client       *workspace.Client
	config       wire.PutConfig
	configSize   flat.Limits
	files        *app.Files // nil: none are pushed
	stack        ref.Ref
	localVersion string // version in stack.json, "" for none
	project      ref.Ref
	sensitive    app.Sensitive // of all files that will be sent
	notes        []string

	api         ref.Ref           // zero: to be registered, from schema
	schema      *workspace.Schema // a file, or a URL
	description app.Description   // what is in the file; zero for a URL
	digest      string            // of description; "" for a URL
	title       string            // of description; "" without one
	similar     []wire.API        // to the one that is to be registered
}

// prepare makes the plan. It reads the local project, and then asks the hub in a dry run for
// everything that would make the creation fail, so that one that fails leaves nothing behind. It
// runs again after an answer that changes the plan.
func (c *create) prepare(ctx context.Context) error {
	if err := c.read(); err != nil {
		return err
	}
	if err := c.readFiles(ctx); err != nil {
		return failure.At(app.StageRead, err)
	}
	if err := c.readAPI(ctx); err != nil {
		return failure.At(app.StageAPI, err)
	}
	var err error
	if c.hub == nil {
		if c.hub, err = c.app.ConnectTo(ctx, true); err != nil {
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

// read begins a new plan with client.json, stack.json and the project's name. It keeps the files of
// the former plan, because they are chosen once.
func (c *create) read() (err error) {
	c.plan = plan{files: c.files}
	if c.client, err = c.local.Client(); err != nil {
		return failure.At(app.StageRead, err)
	}
	settings, config, err := app.ReadConfig(c.client)
	if err != nil {
		return failure.At(app.StageRead, err)
	}
	c.config, c.configSize = config, settings.Measure()
	if found := secret.InSettings(settings, settings.Canonical()); found != nil && c.answers.Visibility == wire.Public {
		return failure.New(wire.CodeSecretFound, "everyone can read a public project: %s", app.FindingText(found[0])).
			WithHint("let the app read it from its environment: tool help secrets").At(app.StageRead)
	}
	isSlug := ref.ValidName(c.name)
	if c.name != "" && !isSlug {
		if c.project, err = ref.ParseTyped(c.name); err != nil {
			return failure.New(hubclient.CodeInvalidName, "%q is not a valid project name", c.name).
				WithHint("a project's name is SLUG or @ACCOUNT/SLUG, each part of %s", ref.Rule).At(app.StageRead)
		}
	}
	stack, err := c.local.Stack()
	if err == nil {
		c.stack, err = stack.Name()
	}
	if err != nil {
		return failure.At(app.StageStack, err)
	}
	c.localVersion, _ = stack.Version() // publish says what is wrong with it
	if isSlug {
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
		c.files, err = c.app.ChooseFiles(ctx, c.local, c.client, basefiles.Options{}, transfer.Update)
		transfer.Hide()
		if err != nil {
			return err
		}
	}
	found := c.files.Sensitive(ctx, tree.Snapshot{})()
	if c.app.Strict() {
		if found.Ignored, err = c.files.LeaveOut(found.Ignored, c.allowed); err != nil {
			return err
		}
	}
	found.Secrets = c.files.Secrets(tree.Snapshot{}, c.allowed)
	c.notes = append(c.notes, c.files.Notes...)
	return c.addSensitive(found, found.Note("base file", "base files", app.SeeToolignore))
}

// readAPI finds out which API the project will use, without asking the hub, and reads the
// description of one that will be registered.
func (c *create) readAPI(ctx context.Context) (err error) {
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
	if c.schema, err = c.client.Schema(); err != nil || c.schema.URL != "" {
		return err
	}
	if c.description, err = app.ReadDescription(c.schema); err != nil {
		return err
	}
	c.digest = fmt.Sprintf("%x", sha256.Sum256(c.description.Text))
	if api, err := description.Parse(ctx, c.description.Text, nil); err == nil { // else the hub says why not
		c.title = api.Title
	}
	c.notes = append(c.notes, c.description.Notes...)
	found := c.description.Sensitive(ctx, c.local.Workspace.Dir, c.allowed)
	return c.addSensitive(found, found.Note("file of the API description", "files of the API description", ""))
}

// addSensitive adds sensitive files to the plan, and refuses secrets where nobody can be asked.
// note is about them, for a person; "": there is none.
func (c *create) addSensitive(found app.Sensitive, note string) error {
	c.sensitive = c.sensitive.And(found)
	if note != "" {
		c.notes = append(c.notes, note)
	}
	if !c.app.Strict() {
		return nil
	}
	return app.RefuseSecrets(found.Secrets, c.allowed, c.app.FromLine(c.name)(c.local.Name))
}

// checkRecordable fails if the new project could not be recorded in client.json.
func (c *create) checkRecordable() error {
	if c.client.Project.Present() && c.client.API.Present() {
		return nil
	}
	if err := c.client.CheckWritable(); err != nil {
		return failure.Of(err).WithHint("nothing was created: make it writable, because the new project is recorded there")
	}
	return nil
}

// request returns the request that creates a project, with what is written after it in Then. api is
// zero if it is still to be registered.
func (c *create) request(project, api ref.Ref) wire.CreateProject {
	then := &wire.Then{
		ConfigBytes: c.configSize.Bytes,
		ConfigKeys:  c.configSize.Keys,
		ConfigDepth: c.configSize.Depth,
	}
	if api.IsZero() && c.digest != "" {
		then.SHA256, then.Title = c.digest, c.title
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
		Account:      project.Account(),
		Slug:         project.Slug(),
		Stack:        c.stack.Path(),
		StackVersion: c.answers.StackVersion,
		API:          api,
		Visibility:   c.answers.Visibility,
		Then:         then,
	}
}
