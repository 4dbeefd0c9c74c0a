// Package pull downloads a hub project's config into the settings of client.json, and
// its base files into the app.
package pull

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/ui"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Result is a pull that went through.
type Result struct {
	ProjectName     string          `json:"projectName"`
	Project         ref.Ref         `json:"project"`
	Origin          string          `json:"origin,omitzero"` // "" after an undo, which asks no hub
	EnrichmentCount int             `json:"enrichmentCount"`
	SettingsChanged bool            `json:"settingsChanged"`
	Changes         flat.Difference `json:"changes"`
	Revision        string          `json:"revision,omitzero"` // "": no config was pulled
	UpdatedBy       string          `json:"updatedBy,omitzero"`
	UpdatedAt       time.Time       `json:"updatedAt,omitzero"`
	UpdatedVia      wire.Via        `json:"updatedVia,omitzero"`
	BaseFilesPulled int             `json:"baseFilesPulled"`
	*FilesResult    `json:",inline"`
	Notes           []string `json:"notes"`
}

// pull is one pull.
type pull struct {
	app        *app.App
	local      *workspace.Project
	opts       Options
	asks       bool // before settings or files are replaced
	transfer   ui.Transfer
	output     string // where base files go; "": the app root
	outputName string // output as a person calls it

	client      *workspace.Client
	settings    flat.Config // empty when there are none
	destination ref.Ref
	hub         *identity.Hub
	config      flat.Config
	current     *wire.Config
	base        *workspace.Pulled // what was last pulled; nil: nothing, as far as is known
	files       *files            // nil: none are pulled
	done        failure.Effects
}

// Run pulls into the local project called name, or the only one.
func Run(ctx context.Context, a *app.App, name string, o Options) error {
	local, err := a.Local(ctx, name, a.Itself)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("pull "+name))
	}
	p := &pull{app: a, local: local, opts: o, asks: !a.Strict() && !o.Force}
	if o.Undo {
		r, err := p.undo()
		if err != nil {
			return failure.Doing(p.fail(err), local.Name, "undo the pull of %s", local.Name)
		}
		return a.Print("pulled", r, func(w *app.Printer) { pulledText(w, r, false) })
	}
	if err := p.findOutput(); err != nil {
		return failure.Doing(err, local.Name, "pull %s", local.Name)
	}
	p.transfer = a.Progress()
	r, no, err := p.pull(ctx)
	p.transfer.Hide()
	switch {
	case err != nil:
		what := "pull " + local.Name
		if from := app.DestinationOf(err); from != "" {
			what += " from " + from
		}
		return failure.Doing(err, local.Name, "%s", what)
	case no != nil:
		return a.Aborted(no)
	}
	return a.Print("pulled", r, func(w *app.Printer) { pulledText(w, r, o.FilesOnly) })
}

// findOutput finds the directory of --output.
func (p *pull) findOutput() (err error) {
	if !p.opts.Output.Given() {
		return nil
	}
	typed := p.opts.Output.String()
	p.outputName = filepath.Join(p.app.Dir, typed)
	if p.output, err = p.app.Path(typed); err != nil {
		return err
	}
	var reserved string
	if p.output, reserved, err = p.local.Workspace.Locate(p.output); err != nil {
		return cmdline.Usagef("--output %s: %v", typed, err)
	}
	if reserved != "" {
		return cmdline.Usagef("--output leads into %s, where no base files are written", reserved)
	}
	return nil
}

// pull pulls. It returns how it was aborted when the person said no.
func (p *pull) pull(ctx context.Context) (*Result, *app.Aborted, error) {
	err := p.read()
	if err == nil {
		err = p.fetch(ctx)
	}
	if err != nil {
		return nil, nil, p.fail(err)
	}
	if p.files != nil {
		defer p.files.Close()
	}
	changes := p.changes()
	yes, err := p.confirmSettings(ctx, changes)
	if err == nil && yes {
		yes, err = p.confirmFiles(ctx)
	}
	if err != nil {
		return nil, nil, p.fail(err)
	}
	if !yes {
		return nil, &app.Aborted{ProjectName: p.local.Name, Project: p.destination, Origin: p.hub.Origin()}, nil
	}
	r, err := p.write(changes)
	if err != nil {
		return nil, nil, p.fail(failure.At(app.StageWrite, err))
	}
	if err := p.writeFiles(ctx, r); err != nil {
		f := p.fail(err)
		if !p.opts.FilesOnly {
			f.Hint = strings.TrimSuffix("the settings are pulled, the base files in part at most; "+f.Hint, "; ")
		}
		return nil, nil, f
	}
	return r, nil, nil
}

// changes are what the pull does to the settings.
func (p *pull) changes() flat.Difference {
	if p.opts.FilesOnly {
		return flat.Diff(p.settings, p.settings)
	}
	return flat.Diff(p.settings, p.config)
}

// confirmSettings reports whether the settings may be replaced.
func (p *pull) confirmSettings(ctx context.Context, changes flat.Difference) (bool, error) {
	switch {
	case changes.Empty() || p.opts.Force:
		return true, nil
	case p.asks:
		p.transfer.Hide()
		return p.app.UI.Overwrite(ctx, ui.Overwrite{
			Title: fmt.Sprintf("Replace the settings in %s?", p.local.ClientPath()),
			Facts: []string{"Config  " + p.destination.String() + ", " + app.Edit(p.current.Edit)},
			Yes:   "Replace them", No: "Leave them", Difference: changes,
		})
	case app.HasLocalEdits(p.settings, p.base, p.destination, p.app.SyncState().Last(p.hub.Origin(), p.destination)):
		e := failure.New(failure.CodeWouldLoseEdits, "%s has edits that were neither pushed nor pulled, and the pull would drop them", p.local.ClientPath())
		e.Current, e.Config = &p.current.Edit, &changes
		return false, e.WithHint("add the hub's changes to %s and push with --if-revision %s, or replace the settings with --force", p.local.ClientPath(), p.current.Revision).
			Try(p.pushLine().Flag("--dry-run"))
	}
	return true, nil
}

// read reads the local side.
func (p *pull) read() (err error) {
	if p.client, err = p.app.ReadClient(p.local); err != nil {
		return failure.At(app.StageRead, err)
	}
	if p.settings, err = p.client.Config(); err != nil && failure.Of(err).Code != failure.CodeNoSettings {
		return failure.At(app.StageRead, err)
	}
	if p.destination, err = app.Destination(p.local, p.client, p.opts.Project.Value); err != nil {
		e := failure.Of(err)
		if e.Code == failure.CodeNoDestination {
			e = e.WithHint("name it with --project, as @account/slug").Try(cmdline.Tool("project", "list"))
		}
		return failure.At(app.StageDestination, e)
	}
	if p.base, err = p.app.Base(p.local); err != nil {
		return failure.At(app.StageRead, err)
	}
	return nil
}

// fetch reads the hub's side.
func (p *pull) fetch(ctx context.Context) (err error) {
	if p.hub, err = p.app.Connect(); err != nil {
		return err
	}
	if !p.opts.FilesOnly {
		if err := p.fetchConfig(ctx); err != nil {
			return err
		}
	}
	root, err := p.appRoot()
	if err == nil && p.opts.files() {
		p.files, err = p.fetchFiles(ctx, root)
	}
	return err
}

func (p *pull) fetchConfig(ctx context.Context) (err error) {
	if p.current, err = p.hub.Config(ctx, p.destination, ""); err != nil {
		return err
	}
	if !p.current.HasConfig {
		e := failure.New(failure.CodeNoConfig, "%s holds no config on %s", p.destination, p.hub.Origin()).Try(p.pushLine())
		if p.opts.files() {
			e.Recipe = []cmdline.Line{p.line("pull").Flag("--base-files-only")}
		}
		return e
	}
	p.config, err = flat.Parse(p.current.Config)
	if err != nil {
		return failure.New(hubclient.CodeNotAHub, "the config of %s on %s cannot be read: %w", p.destination, p.hub.Origin(), err)
	}
	return nil
}

// appRoot returns the app root by the config that is pulled, which anybody may have
// written who may write to the project; or by client.json, if that stays as it is.
func (p *pull) appRoot() (string, error) {
	if p.opts.FilesOnly {
		return p.client.AppRoot()
	}
	text, ok := p.config.Get("basePath")
	if !ok {
		return ".", nil
	}
	basePath, err := jsontext.AppendUnquote(nil, text)
	if err != nil { // no string: the next push says so, with its place
		return ".", nil
	}
	root, err := p.local.Workspace.AppRootOf(string(basePath))
	if err != nil {
		f := failure.Of(err)
		return "", f.WithReason("the config of %s cannot be pulled: basePath: %w", p.destination, f.Reason)
	}
	return root, nil
}

// pushLine is the command that gives the project a config.
func (p *pull) pushLine() cmdline.Line { return p.line("push") }

// line is a command about the local project and the same hub project.
func (p *pull) line(command string) cmdline.Line {
	l := cmdline.Tool(command).With(p.local.Name)
	if p.opts.Project.Value != nil {
		l = l.Flag("--project", p.destination.String())
	}
	return l
}

// write writes the config into client.json and records what was pulled.
func (p *pull) write(changes flat.Difference) (*Result, error) {
	if p.opts.FilesOnly {
		return &Result{
			ProjectName: p.local.Name, Project: p.destination, Origin: p.hub.Origin(),
			EnrichmentCount: p.settings.EnrichmentCount(), Changes: changes, Notes: []string{},
		}, nil
	}
	saved, notes := p.saveSettings(changes)
	changed, err := p.client.Replace(p.config)
	if err != nil {
		if saved != nil {
			_ = saved.Drop() // or it stays pending, and undo passes over it
		}
		return nil, err
	}
	if saved != nil {
		saved.Confirm()
	}
	p.done.SettingsChanged = changed
	if err := p.local.RecordPulled(workspace.Pulled{Project: p.destination, Revision: p.current.Revision}); err != nil {
		e := failure.Of(err)
		if changed {
			e.Hint = strings.TrimSuffix(fmt.Sprintf("the settings in %s are pulled; %s", p.local.ClientPath(), e.Hint), "; ")
			e = e.Try(p.undoLine())
		}
		return nil, e
	}
	p.app.SyncState().Save(p.hub.Origin(), p.destination, p.current.Revision)
	r := &Result{
		ProjectName: p.local.Name, Project: p.destination, Origin: p.hub.Origin(),
		EnrichmentCount: p.config.EnrichmentCount(), SettingsChanged: changed, Changes: changes,
		Revision: p.current.Revision, UpdatedBy: p.current.UpdatedBy, UpdatedAt: p.current.UpdatedAt, UpdatedVia: p.current.UpdatedVia,
		Notes: notes,
	}
	if !p.client.Project.Present() {
		r.Notes = append(r.Notes, fmt.Sprintf("%s names no project; a push records it: %s",
			p.local.ClientPath(), p.app.CommandText(cmdline.Tool("push").With(p.local.Name).Flag("--project", p.destination.String()))))
	}
	return r, nil
}

// fail adds to a failure what had happened by then.
func (p *pull) fail(err error) failure.Failure {
	f := app.Explain(p.hub, err).At(app.StagePull).About(p.destination, p.done)
	if p.hub != nil && f.Code == wire.CodeNotFound {
		return f.WithReason("there is no project %s on %s", p.destination, f.Origin).
			WithRecipe(cmdline.Tool("project", "list").With(p.destination.Account()))
	}
	return f
}
