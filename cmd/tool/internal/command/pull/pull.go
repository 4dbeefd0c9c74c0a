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
	Env             string          `json:"environment,omitzero"`
	Project         ref.Ref         `json:"project"`
	Origin          string          `json:"origin,omitzero"` // "" after an undo, which asks no hub
	EnrichmentCount int             `json:"enrichmentCount"`
	SettingsChanged bool            `json:"settingsChanged"`
	Changes         flat.Difference `json:"changes"`
	Merged          bool            `json:"merged"` // settings that the hub does not have were kept
	Conflicts       flat.Conflicts  `json:"conflicts"`
	KeysTaken       int             `json:"keysTaken"`         // from the hub
	KeysKept        int             `json:"keysKept"`          // that differ from the hub's
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
	config      flat.Config // the hub's
	merged      flat.Config // what client.json is to have
	edits       workspace.Edits
	conflicts   flat.Conflicts
	unknownBase bool // every difference is a conflict
	current     *wire.Config
	bases       workspace.Bases
	files       *files // nil: none are pulled
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
	yes, err := p.prepare(ctx)
	if p.files != nil {
		defer p.files.Close()
	}
	if err == nil && yes {
		yes, err = p.confirmFiles(ctx)
	}
	if err != nil {
		return nil, nil, p.fail(err)
	}
	if !yes {
		return nil, &app.Aborted{ProjectName: p.local.Name, Project: p.destination, Origin: p.hub.Origin()}, nil
	}
	former, err := p.saveFormer()
	if err != nil {
		return nil, nil, p.fail(failure.At(app.StageWrite, err))
	}
	r, err := p.write(ctx)
	if err != nil {
		_ = former.Remove() // it would be the latest, and restore nothing
		return nil, nil, p.fail(failure.At(app.StageWrite, err))
	}
	r.Notes = append(r.Notes, p.app.RecordHub(p.local, p.hub.Origin())...)
	if err := p.writeFiles(ctx, former, r); err != nil {
		f := p.fail(err)
		if r.SettingsChanged {
			f.Hint = strings.TrimSuffix("the settings are pulled, the base files in part at most; "+f.Hint, "; ")
		}
		return nil, nil, f
	}
	return r, nil, nil
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
	if p.bases, err = p.app.Bases(p.local); err != nil {
		return failure.At(app.StageRead, err)
	}
	return nil
}

// prepare reads both sides and merges the settings. It returns false when the person said no.
func (p *pull) prepare(ctx context.Context) (yes bool, err error) {
	if err := p.read(); err != nil {
		return false, err
	}
	if p.hub, err = p.app.ConnectToWrite(ctx); err != nil {
		return false, err
	}
	p.merged = p.settings
	if !p.opts.FilesOnly {
		if err := p.fetchConfig(ctx); err != nil {
			return false, err
		}
		if yes, err := p.mergeSettings(ctx); err != nil || !yes {
			return false, err
		}
		if p.edits, err = p.client.Plan(p.merged); err != nil {
			return false, err
		}
	}
	root, err := p.appRoot()
	if err == nil && p.opts.files() {
		if p.files, err = p.fetchFiles(ctx, root); err == nil {
			return p.confirmSize(ctx)
		}
	}
	return err == nil, err
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
	if err := p.config.Check(workspace.ConfigLimits); err != nil {
		f := failure.New(wire.CodeTooLarge, "the config of %s on %s cannot be pulled: %w", p.destination, p.hub.Origin(), err)
		return f.WithHint("nothing was changed; make the config smaller on the project's page")
	}
	return nil
}

// appRoot returns the app root by the settings that are written, which anybody may have
// written who may write to the project; or by client.json, if that stays as it is.
func (p *pull) appRoot() (string, error) {
	if p.opts.FilesOnly {
		return p.client.AppRoot()
	}
	text, ok := p.merged.Get("basePath")
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
	return app.LineFor(command, p.local, p.opts.Project, p.destination)
}

// write writes the config into client.json and records what was pulled.
func (p *pull) write(ctx context.Context) (*Result, error) {
	changes := flat.Diff(p.settings, p.merged)
	if p.opts.FilesOnly {
		return &Result{
			ProjectName: p.local.Name, Env: p.local.Env, Project: p.destination, Origin: p.hub.Origin(),
			EnrichmentCount: p.settings.EnrichmentCount(), Changes: changes, Conflicts: flat.Conflicts{}, Notes: []string{},
		}, nil
	}
	if err := context.Cause(ctx); err != nil { // all that follows is local, and ends soon
		return nil, err
	}
	saved, notes, err := p.saveSettings(changes)
	if err != nil {
		return nil, err
	}
	changed, err := p.client.Apply(p.edits)
	if err != nil {
		if saved != nil {
			_ = saved.Drop() // or it stays pending, and undo passes over it
		}
		return nil, err
	}
	if saved != nil {
		saved.Confirm()
	}
	p.done.SettingsChanged = len(changed) > 0
	if err := p.local.RecordPulled(p.hub.Origin(), workspace.Pulled{Project: p.destination, Revision: p.current.Revision}); err != nil {
		e := failure.Of(err)
		if len(changed) > 0 {
			e.Hint = strings.TrimSuffix(fmt.Sprintf("the settings in %s are pulled; %s", p.local.ClientPath(), e.Hint), "; ")
			e = e.Try(p.undoLine())
		}
		return nil, e
	}
	p.app.SyncState().Save(p.hub.Origin(), p.destination, p.current.Revision)
	r := &Result{
		ProjectName: p.local.Name, Env: p.local.Env, Project: p.destination, Origin: p.hub.Origin(),
		EnrichmentCount: p.merged.EnrichmentCount(), SettingsChanged: len(changed) > 0, Changes: changes,
		Conflicts: p.conflicts, KeysTaken: changes.Len(), KeysKept: flat.Diff(p.config, p.merged).Len(),
		Revision: p.current.Revision, UpdatedBy: p.current.UpdatedBy, UpdatedAt: p.current.UpdatedAt, UpdatedVia: p.current.UpdatedVia,
		Notes: notes,
	}
	r.Merged = r.KeysKept > 0
	if p.local.Env != "" && len(changed) > 0 {
		r.Notes = append(r.Notes, "changed: "+strings.Join(changed, ", "))
	}
	if p.unknownBase && len(p.conflicts) > 0 {
		r.Notes = append(r.Notes, p.unknownBaseText())
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
			WithRecipe(app.OrRestore(err, p.destination, cmdline.Tool("project", "list").With(p.destination.Account())))
	}
	return f
}
