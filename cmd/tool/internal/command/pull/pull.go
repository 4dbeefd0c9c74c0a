// Package pull downloads a hub project's config into the settings of client.json, and
// its base files into the app.
package pull

import (
	"context"
	"fmt"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// pull is one pull.
type pull struct {
	app.Target
	opts     Options
	asks     bool // before settings or files are replaced
	transfer prompts.Transfer
	output   string          // where base files go; "": the app root
	bases    workspace.Bases // what the local project was last synchronized with
}

// plan is what a pull will do: the questions show it, and apply does it.
type plan struct {
	*Result              // as it will be
	current *wire.Config // nil: no config is pulled
	config  flat.Config  // the hub's
	base    *flat.Config // that both sides come from; nil: not known
	merged  flat.Config  // what client.json is to have
	chosen  bool         // by a person, who has seen the conflicts
	edits   workspace.Edits
	files   *filesPlan // nil: none are pulled
}

// Run pulls into the local project called name, or the only one.
func Run(ctx context.Context, a *app.App, name string, o Options) error {
	local, err := a.Local(ctx, name, a.Itself)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("pull "+name))
	}
	p := &pull{Target: app.Target{App: a, Given: o.Project, Local: local}, opts: o, asks: !a.Strict() && !o.Force}
	doing, do := "pull "+local.Name, p.pull
	if o.Undo {
		doing, do = "undo the pull of "+local.Name, p.undo
	}
	r, err := do(ctx)
	switch from := p.Project.String(); {
	case err == nil:
		return a.Show(r)
	case from != "" && !o.Undo:
		doing += " from " + from
	}
	return p.Fail(err, doing)
}

func (p *pull) pull(ctx context.Context) (*Result, error) {
	if err := p.findOutput(); err != nil {
		return nil, err
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	var err error
	if p.Hub, err = p.App.ConnectTo(ctx, true); err != nil {
		return nil, err
	}
	p.transfer = p.App.Progress()
	defer p.transfer.Hide()
	plan, err := p.plan(ctx)
	if err != nil {
		return nil, err
	}
	if plan.files != nil {
		defer plan.files.Close()
	}
	if err := p.confirm(ctx, plan); err != nil {
		return nil, err
	}
	return p.apply(ctx, plan)
}

// read reads the local side.
func (p *pull) read() (err error) {
	if p.Client, err = p.App.ReadClient(p.Local); err == nil {
		err = p.readSettings()
	}
	if err != nil {
		return failure.At(app.StageRead, err)
	}
	if p.Project, err = app.Destination(p.Local, p.Client, p.Given.Value); err != nil {
		f := failure.Of(err)
		if f.Code == failure.CodeNoDestination {
			f = f.WithHint("name it with --project, as @account/slug").Try(cmdline.Tool("project", "list"))
		}
		return f.At(app.StageDestination)
	}
	p.bases, err = p.App.Bases(p.Local)
	return failure.At(app.StageRead, err)
}

// readSettings reads the settings of client.json, which may have none.
func (p *pull) readSettings() (err error) {
	if p.Settings, err = p.Client.Config(); err != nil && failure.Of(err).Code == failure.CodeNoSettings {
		return nil
	}
	return err
}

// plan finds out what the pull will do: first to the settings, which say where base files go.
func (p *pull) plan(ctx context.Context) (*plan, error) {
	plan := &plan{Result: &Result{About: p.About(), EnrichmentCount: p.Settings.EnrichmentCount()}}
	if !p.opts.FilesOnly {
		if err := p.planSettings(ctx, plan); err != nil {
			return nil, err
		}
	}
	root, err := p.appRoot(plan)
	if err == nil && p.opts.files() {
		err = p.planFiles(ctx, plan, root)
	}
	return plan, err
}

// confirm asks before settings or files are replaced, and before files are added that other
// programs run.
func (p *pull) confirm(ctx context.Context, plan *plan) error {
	if p.asks && !plan.chosen && !plan.Changes.Empty() {
		if err := p.confirmSettings(ctx, plan); err != nil {
			return err
		}
	}
	if plan.files == nil || p.opts.Force {
		return nil
	}
	return p.confirmFiles(ctx, plan.files)
}

// apply saves what is replaced, writes client.json and the base files, and records what was pulled.
func (p *pull) apply(ctx context.Context, plan *plan) (*Result, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, failure.At(app.StageWrite, err)
	}
	undo, err := p.save(plan)
	if err != nil {
		return nil, failure.At(app.StageWrite, err)
	}
	changed, err := p.Client.Apply(plan.edits)
	if err != nil {
		undo.End(false)
		return nil, failure.At(app.StageWrite, err)
	}
	r := plan.Result
	r.SettingsChanged = len(changed) > 0
	p.Done.SettingsChanged = r.SettingsChanged
	base, files := workspace.Pulled{Project: p.Project, Revision: r.Revision}, tree.Tree(nil)
	replaced, filesErr := 0, error(nil)
	if plan.files != nil {
		replaced, filesErr = p.writeFiles(ctx, plan.files)
		if filesErr == nil && p.output == "" {
			base.Tree, files = plan.files.set.Tree, plan.files.set.Files
		}
	}
	undo.End(len(changed)+replaced > 0)
	p.noteSettings(plan, changed)
	notes, err := p.App.Record(p.Local, r.Origin, base, files)
	r.Notes = append(r.Notes, notes...)
	if err = failure.At(app.StageWrite, err); err != nil && p.opts.FilesOnly {
		r.Note("the base files could not be recorded: %v", err)
		err = nil
	}
	pulled := "the settings are pulled"
	if filesErr != nil {
		pulled, err = pulled+", the base files in part at most", filesErr
	}
	if err != nil {
		f := failure.Of(err)
		if r.SettingsChanged {
			f.Hint = strings.TrimSuffix(pulled+"; "+f.Hint, "; ")
		}
		if len(changed)+replaced > 0 && !p.opts.NoUndo {
			f = f.Try(p.undoLine())
		}
		return nil, f
	}
	p.noteFiles(plan, replaced)
	return r, nil
}

// noteSettings notes how to restore the settings, and what the merge did not know. changed are the
// files that were edited.
func (p *pull) noteSettings(plan *plan, changed []string) {
	r := plan.Result
	if r.SettingsChanged && !p.opts.NoUndo {
		r.Note("the previous settings are saved; to restore them: %s", p.App.CommandText(p.undoLine()))
	}
	if r.SettingsChanged && p.Local.Env != "" {
		r.Note("changed: %s", strings.Join(changed, ", "))
	}
	if plan.base == nil && len(r.Conflicts) > 0 {
		r.Note("%s", p.unknownBase())
	}
	if r.Revision != "" && !p.Client.Project.Present() {
		r.Note("%s names no project; a push records it: %s", p.Local.ClientPath(), p.App.CommandText(p.Line("push")))
	}
}

// noteFiles notes how to restore the base files that were replaced, and that added ones stay.
func (p *pull) noteFiles(plan *plan, replaced int) {
	f, leave := plan.FilesResult, ""
	switch {
	case f == nil:
	case replaced > 0 && !p.opts.NoUndo:
		if f.Added > 0 {
			leave = fmt.Sprintf(", and leave the added ones (%d)", f.Added)
		}
		plan.Note("the replaced base files (%d) are saved; to restore them%s: %s",
			replaced, leave, p.App.CommandText(p.undoLine()))
	case f.Added > 0 && p.output == "":
		plan.Note("pull --undo does not remove the added base files (%d)", f.Added)
	}
}
