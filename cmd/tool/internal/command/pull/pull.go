// Package pull downloads a hub project's config into the settings of client.json, and
// its base files into the app.
package pull

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
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

// pull is one pull. What it will write is planned in merged, edits and files.
type pull struct {
	app        *app.App
	local      *workspace.Project
	opts       Options
	asks       bool // before settings or files are replaced
	transfer   prompts.Transfer
	output     string // where base files go; "": the app root
	outputName string // output as a person calls it

	client      *workspace.Client
	settings    flat.Config // empty when there are none
	destination ref.Ref
	bases       workspace.Bases
	hub         *identity.Hub

	current     *wire.Config
	config      flat.Config // the hub's
	merged      flat.Config // what client.json is to have
	edits       workspace.Edits
	conflicts   flat.Conflicts
	unknownBase bool   // every difference is a conflict
	files       *files // nil: none are pulled

	done failure.Effects
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
	r, err := p.pull(ctx)
	p.transfer.Hide()
	if err != nil {
		err = p.fail(err)
		what := "pull " + local.Name
		if from := app.DestinationOf(err); from != "" {
			what += " from " + from
		}
		return failure.Doing(err, local.Name, "%s", what)
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

// pull plans, asks, and does what was planned: first the settings, which say where base files go.
func (p *pull) pull(ctx context.Context) (*Result, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	var err error
	if p.hub, err = p.app.ConnectToWrite(ctx); err != nil {
		return nil, err
	}
	p.merged, p.conflicts = p.settings, flat.Conflicts{}
	if !p.opts.FilesOnly {
		if err := p.fetchConfig(ctx); err != nil {
			return nil, err
		}
		if err := p.mergeSettings(ctx); err != nil {
			return nil, err
		}
		if p.edits, err = p.client.Plan(p.merged); err != nil {
			return nil, err
		}
	}
	root, err := p.appRoot()
	if err != nil {
		return nil, err
	}
	if p.opts.files() {
		if err := p.fetchFiles(ctx, root); err != nil {
			return nil, err
		}
		defer p.files.Close()
		if err := p.confirmFiles(ctx); err != nil {
			return nil, err
		}
	}
	return p.apply(ctx)
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

func (p *pull) fetchConfig(ctx context.Context) (err error) {
	if p.current, err = p.hub.Config(ctx, p.destination, ""); err != nil {
		return err
	}
	if !p.current.HasConfig {
		e := failure.New(failure.CodeNoConfig, "%s holds no config on %s", p.destination, p.hub.Origin()).Try(p.line("push"))
		if p.opts.files() {
			e.Recipe = []cmdline.Line{p.line("pull").Flag("--base-files-only")}
		}
		return e
	}
	p.config, err = flat.Parse(p.current.Config)
	if err != nil {
		return failure.New(hubclient.CodeNotAHub, "the config of %s on %s cannot be read: %w", p.destination,
			p.hub.Origin(), err)
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

// line is a command about the local project and the same hub project.
func (p *pull) line(command string) cmdline.Line {
	return app.LineFor(command, p.local, p.opts.Project, p.destination)
}

// apply writes client.json and the base files, and records what was pulled.
func (p *pull) apply(ctx context.Context) (*Result, error) {
	changes := flat.Diff(p.settings, p.merged)
	r := &Result{
		ProjectName: p.local.Name, Env: p.local.Env, Project: p.destination, Origin: p.hub.Origin(),
		EnrichmentCount: p.merged.EnrichmentCount(), Changes: changes, Conflicts: p.conflicts, Notes: []string{},
	}
	if err := context.Cause(ctx); err != nil {
		return nil, failure.At(app.StageWrite, err)
	}
	undo, err := p.saveUndo()
	if err != nil {
		return nil, failure.At(app.StageWrite, err)
	}
	changed, err := p.client.Apply(p.edits)
	if err != nil {
		_ = undo.Drop() // it would be the latest, and restore nothing
		return nil, failure.At(app.StageWrite, err)
	}
	p.done.SettingsChanged = len(changed) > 0
	base, files := workspace.Pulled{Project: p.destination}, tree.Tree(nil)
	if !p.opts.FilesOnly {
		base.Revision = p.current.Revision
		p.noteSettings(r, changed)
	}
	replaced, filesErr := 0, error(nil)
	if p.files != nil {
		replaced, filesErr = p.writeFiles(ctx, r)
		if filesErr == nil && p.output == "" {
			base.Tree, files = p.files.set.Tree, p.files.set.Files
		}
	}
	if len(changed)+replaced > 0 {
		_ = undo.Commit() // else it stays pending, which undo copes with
	} else {
		_ = undo.Drop()
	}
	notes, err := p.app.Record(p.local, r.Origin, base, files)
	r.Notes = append(r.Notes, notes...)
	note := p.undoNote(undo, replaced)
	switch {
	case filesErr != nil:
		f := failure.Of(filesErr)
		hints := []string{f.Hint}
		if r.SettingsChanged {
			hints = []string{"the settings are pulled, the base files in part at most", f.Hint}
		}
		if replaced > 0 {
			hints = append(hints, note)
		}
		f.Hint = strings.Join(slices.DeleteFunc(hints, func(hint string) bool { return hint == "" }), "; ")
		return nil, f
	case err != nil && !p.opts.FilesOnly:
		f := failure.Of(err)
		if len(changed) > 0 {
			f.Hint = strings.TrimSuffix(fmt.Sprintf("the settings in %s are pulled; %s", p.local.ClientPath(), f.Hint), "; ")
			f = f.Try(p.undoLine())
		}
		return nil, f.At(app.StageWrite)
	case err != nil:
		r.Notes = append(r.Notes, "the base files could not be recorded: "+err.Error())
	}
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
	return r, nil
}

// noteSettings notes in the result what was pulled of the config. changed are the files.
func (p *pull) noteSettings(r *Result, changed []string) {
	r.SettingsChanged = len(changed) > 0
	r.KeysTaken, r.KeysKept = r.Changes.Len(), flat.Diff(p.config, p.merged).Len()
	r.Merged = r.KeysKept > 0
	edit := p.current.Edit
	r.Revision, r.UpdatedBy, r.UpdatedAt, r.UpdatedVia = edit.Revision, edit.UpdatedBy, edit.UpdatedAt, edit.UpdatedVia
	if r.SettingsChanged && !p.opts.NoUndo {
		r.Notes = append(r.Notes, "the previous settings are saved; to restore them: "+p.app.CommandText(p.undoLine()))
	}
	if p.local.Env != "" && r.SettingsChanged {
		r.Notes = append(r.Notes, "changed: "+strings.Join(changed, ", "))
	}
	if p.unknownBase && len(p.conflicts) > 0 {
		r.Notes = append(r.Notes, p.unknownBaseText())
	}
	if !p.client.Project.Present() {
		r.Notes = append(r.Notes, fmt.Sprintf("%s names no project; a push records it: %s",
			p.local.ClientPath(), p.app.CommandText(cmdline.Tool("push").With(p.local.Name).Flag("--project",
				p.destination.String()))))
	}
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
