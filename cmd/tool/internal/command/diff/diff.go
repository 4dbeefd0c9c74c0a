// Package diff compares the settings of local projects with configs on the hub.
package diff

import (
	"context"
	"errors"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Result is how the settings of a local project differ from a config. [app.Changes] lists
// its changes.
type Result struct {
	ProjectName string           `json:"projectName"`
	Env         string           `json:"environment,omitzero"`
	Project     ref.Ref          `json:"project"`
	Origin      string           `json:"origin"`
	Same        bool             `json:"same"`
	Changes     flat.Difference  `json:"changes"` // from the config to the settings
	wire.Edit   `json:",inline"` // of the config
	HasConfig   bool             `json:"hasConfig"`
	Notes       []string         `json:"notes"`

	former bool // the config is that of --to
}

func run(ctx context.Context, a *app.App, name string, o Options) error {
	local, err := a.Local(ctx, name, a.Itself)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("compare "+name))
	}
	r, err := Compare(ctx, a, local, o)
	if err != nil {
		return failure.Doing(err, local.Name, "compare %s with the hub", local.Name)
	}
	if err := a.Print("diff", r, func(w *app.Printer) { Text(w, r, o) }); err != nil || r.Same || !o.ExitCode {
		return err
	}
	return app.ErrDiffers
}

// comparison is the comparison of one local project.
type comparison struct {
	app         *app.App
	local       *workspace.Project
	opts        Options
	destination ref.Ref
	hub         *identity.Hub
}

// Compare compares one local project with a config on the hub.
func Compare(ctx context.Context, a *app.App, local *workspace.Project, o Options) (*Result, error) {
	c := &comparison{app: a, local: local, opts: o}
	r, err := c.compare(ctx)
	if err != nil {
		return nil, c.fail(err)
	}
	return r, nil
}

func (c *comparison) compare(ctx context.Context) (*Result, error) {
	client, err := c.app.ReadClient(c.local)
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	settings, err := client.Config()
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	if c.destination, err = app.Destination(c.local, client, c.opts.Project.Value); err != nil {
		return nil, failure.At(app.StageDestination, err)
	}
	if c.hub, err = c.app.Connect(); err != nil {
		return nil, err
	}
	there, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	config, err := flat.Parse(there.Config)
	if err != nil {
		return nil, failure.New(hubclient.CodeNotAHub, "the config of %s on %s cannot be read: %w", c.destination, c.hub.Origin(), err)
	}
	changes := flat.Diff(config, settings)
	notes := []string{}
	if !c.opts.To.Given() && !changes.Empty() {
		notes = append(notes, c.findings(ctx, client)...)
	}
	return &Result{
		ProjectName: c.local.Name, Env: c.local.Env, Project: c.destination, Origin: c.hub.Origin(), Same: changes.Empty(), Changes: changes,
		Edit: there.Edit, HasConfig: there.HasConfig, Notes: notes, former: c.opts.To.Given(),
	}, nil
}

// findings returns notes about settings that the schema of the stack does not allow, for a caller who
// may push them.
func (c *comparison) findings(ctx context.Context, client *workspace.Client) []string {
	_, body, err := app.ReadConfig(client)
	if err != nil {
		return nil
	}
	checked, err := c.hub.CheckConfig(ctx, c.destination, body, "")
	if refused, ok := errors.AsType[*hubclient.Error](err); ok && refused.Code == wire.CodeSettingsInvalid {
		return app.FindingNotes(refused.Errors)
	}
	if err != nil {
		return nil
	}
	return app.FindingNotes(checked.Findings)
}

// config returns the config to compare with.
func (c *comparison) config(ctx context.Context) (*wire.Config, error) {
	if !c.opts.To.Given() {
		return c.hub.Config(ctx, c.destination, "")
	}
	entry, err := c.hub.FindConfigEntry(ctx, c.destination, c.opts.To.String())
	if err != nil {
		return nil, err
	}
	return c.hub.ConfigRevision(ctx, c.destination, entry.Revision)
}

// fail adds the next command to a failure.
func (c *comparison) fail(err error) error {
	f := app.Explain(c.hub, err).At(app.StageDiff).About(c.destination, failure.Effects{})
	if c.hub == nil {
		return f
	}
	switch f.Code {
	case wire.CodeNotFound:
		return f.WithReason("there is no project %s on %s", c.destination, f.Origin).
			WithRecipe(app.OrRestore(err, c.destination, cmdline.Tool("project", "list").With(c.destination.Account())))
	case wire.CodeRevisionNotKept:
		return f.WithHint("list the kept revisions").WithRecipe(app.LineFor("log", c.local, c.opts.Project, c.destination))
	}
	return f
}
