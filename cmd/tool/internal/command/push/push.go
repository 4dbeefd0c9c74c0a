// Package push updates the config and the base files of an existing hub project
// from a local one. It never creates a project.
package push

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// push is one push: prepare reads local files, plan asks the hub, confirm asks the user, and apply writes to the hub.
type push struct {
	app.Target
	opts     Options
	asks     bool // before others' work is overwritten, and before sensitive files are pushed
	transfer prompts.Transfer

	input
	outcome
}

// input is what a push reads locally. Fields of what is not pushed are zero.
type input struct {
	config    flat.Config
	body      wire.PutConfig
	files     *app.Files
	chosen    string // digest of all chosen files, before any was left out
	blobs     *basefiles.Blobs
	last      tree.Snapshot        // the base files that were last pushed or pulled
	sensitive func() app.Sensitive // waits until git has said which files it ignores
}

// outcome is what a failed push has done, in addition to Target.Done.
type outcome struct {
	ambiguous bool // the config may have been written, and may have replaced one
	replaced  bool // a config was replaced
	merged    bool // the hub's config was merged into client.json
}

func newPush(a *app.App, local *workspace.Project, o Options) *push {
	p := &push{
		Target:   app.Target{App: a, Local: local, Given: o.Project, Writes: !o.DryRun},
		opts:     o,
		asks:     !a.Strict() && !o.Force && !o.Undo && !o.DryRun,
		transfer: a.Progress(),
	}
	if o.DryRun {
		p.transfer = app.NoTransfer{}
	}
	return p
}

// Run pushes the local project called name, or the only one.
func Run(ctx context.Context, a *app.App, name string, o Options) error {
	local, err := a.Local(ctx, name, a.Itself)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("push "+name))
	}
	p := newPush(a, local, o)
	var r app.Result
	switch {
	case o.Watch:
		return p.watch(ctx)
	case o.DryRun:
		r, err = p.dryRun(ctx)
	case o.Undo:
		r, err = p.undo(ctx)
	default:
		r, err = p.run(ctx)
	}
	p.transfer.Hide()
	if err != nil {
		return p.fail(err)
	}
	return a.Show(r)
}

// run makes a plan, asks about it, and carries it out.
func (p *push) run(ctx context.Context) (*result, error) {
	defer p.close()
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	plan, err := p.plan(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.confirm(ctx, plan); err != nil {
		return nil, err
	}
	return p.apply(ctx, plan)
}

// prepare reads the local files and finds the hub. It reports an unreadable file before a missing destination or
// token.
func (p *push) prepare(ctx context.Context) error {
	if err := p.read(); err != nil {
		return err
	}
	hubErr := p.findHub(ctx)
	if p.opts.files() {
		var err error
		o := basefiles.Options{AllowEmpty: p.opts.AllowEmpty, ListSkipped: p.opts.DryRun}
		if p.files, err = p.App.ChooseFiles(ctx, p.Local, p.Client, o, p.transfer.Update); err != nil {
			return failure.At(app.StageRead, err)
		}
	}
	if hubErr != nil {
		return hubErr
	}
	p.Hub.BeginPush(p.opts.Message)
	if !p.opts.files() {
		return nil
	}
	return failure.At(app.StageRead, p.screen(ctx))
}

// read reads client.json, and its settings if they are pushed.
func (p *push) read() (err error) {
	p.Client, err = p.App.ReadClient(p.Local)
	if err == nil && p.opts.config() {
		p.config, p.body, err = app.ReadConfig(p.Client)
	}
	return failure.At(app.StageRead, err)
}

// screen finds the files that git ignores and those that hold secrets. In strict mode it leaves out the former,
// unless somebody has agreed to send them. It refuses the latter where nobody is asked about them.
func (p *push) screen(ctx context.Context) (err error) {
	p.chosen = p.files.Digest
	p.last = p.App.SyncState().LastFiles(p.Hub.Origin(), p.Project, p.files.Snapshot)
	known := p.last
	if p.opts.DryRun && !p.App.Strict() { // it lists all files that git ignores, even those pushed before
		known = tree.Snapshot{}
	}
	p.sensitive = p.files.Sensitive(ctx, known)
	if p.App.Strict() && !p.App.State().Consented(app.IgnoredConsent(p.Hub.Origin(), p.Project)) {
		found := p.sensitive()
		if found.Ignored, err = p.files.LeaveOut(found.Ignored, p.opts.AllowSecrets); err != nil {
			return err
		}
		p.sensitive = func() app.Sensitive { return found }
	}
	p.blobs = p.files.Blobs()
	if p.asks || p.opts.DryRun {
		return nil
	}
	return p.refuseSecrets()
}

// findHub resolves the destination of the push and connects to its hub.
func (p *push) findHub(ctx context.Context) (err error) {
	p.Project, err = p.App.Destination(p.Local, p.Client, p.Given.Value)
	if err != nil {
		e := failure.Of(err)
		if e.Code == failure.CodeNoDestination {
			e = e.WithHint("name it with --project, as @account/slug, or create one").
				Try(cmdline.Tool("project", "create").With(p.Local.NewSlug()).Flag("--from", p.Local.Name))
		}
		return failure.At(app.StageDestination, e)
	}
	p.Hub, err = p.App.ConnectTo(ctx, p.Writes)
	return failure.At(app.StagePush, err)
}

// refuseSecrets refuses files that hold secrets, except those that this machine has pushed there before.
func (p *push) refuseSecrets() error {
	again := p.Line("push").Flag("--base-files")
	if p.opts.FilesOnly {
		again = p.Line("push").Flag("--base-files-only")
	}
	return app.RefuseSecrets(p.files.Secrets(p.last, p.opts.AllowSecrets), p.opts.AllowSecrets, again)
}

// close closes connections and files, because a watch makes many pushes.
func (p *push) close() {
	if p.Hub != nil {
		p.Hub.CloseIdle()
	}
	if p.blobs != nil {
		p.blobs.Close()
	}
}

// apply writes the plan to the hub, and records the new base.
func (p *push) apply(ctx context.Context, plan *planned) (*result, error) {
	r := &result{About: plan.About, Noted: plan.Noted}
	base := workspace.Pulled{Project: p.Project}
	if p.opts.config() {
		written, err := p.writeConfig(ctx, plan)
		if err != nil {
			return nil, err
		}
		p.Done.ConfigWritten = true
		p.addConfig(r, written, plan)
		base.Revision = written.Revision
	}
	if p.opts.files() {
		written, err := p.writeFiles(ctx, plan)
		if err != nil {
			p.App.RecordSync(plan.Origin, base, nil)
			return nil, err
		}
		p.Done.BaseFilesWritten = true
		p.addFiles(r, written)
		base.Tree = p.files.Digest
	}
	return r, p.record(r, base)
}

// maxReplans bounds how often a push is planned again.
const maxReplans = 10

// writePlanned calls write. While the hub says that it has changed since the plan, it calls replan, which asks
// again, and tries once more. condition returns what the hub must have for the planned write.
func (p *push) writePlanned(write, replan func() error, condition func() string) error {
	refused := noRevision // the condition that the hub refused last; no plan has this one
	for replans := 0; ; replans++ {
		err := write()
		if !hubclient.HasCode(err, wire.CodeRevisionChanged, wire.CodeSetExists) {
			return err
		}
		if condition() == refused || replans == maxReplans {
			return failure.Of(p.Hub.Fault(err)).
				WithHint("the hub refuses what it says it has, or it changes all the time: try again later")
		}
		refused = condition()
		if err := replan(); err != nil {
			return err
		}
	}
}

// writeConfig replaces the config, unless the plan says that the hub has it already.
func (p *push) writeConfig(ctx context.Context, plan *planned) (written *wire.ConfigWritten, err error) {
	write := func() error {
		if plan.same != nil {
			written = plan.same
			return nil
		}
		var err error
		written, err = p.Hub.PutConfig(ctx, p.Project, p.body, plan.match)
		replaces := plan.current != nil && plan.current.HasConfig
		p.ambiguous = err != nil && !hubclient.NotApplied(err) && replaces
		return err
	}
	replan := func() error {
		if err := p.planConfig(ctx, plan, ""); err != nil {
			return err
		}
		notice := ""
		if plan.current != nil {
			notice = fmt.Sprintf("%s changed it while you looked. This is the difference now:", plan.current.UpdatedBy)
		}
		return p.confirmConfig(ctx, plan, notice)
	}
	err = p.writePlanned(write, replan, func() string { return plan.match })
	return written, err
}

// addConfig adds the written config to the result.
func (p *push) addConfig(r *result, w *wire.ConfigWritten, plan *planned) {
	replaced := plan.replacedBy(w)
	r.EnrichmentCount, r.Revision = w.EnrichmentCount, w.Revision
	r.OverwroteExistingConfig = w.OverwroteExistingConfig || replaced != nil
	if replaced != nil {
		r.Replaced = &replaced.Edit
		r.ConfigChanged = replaced.Revision != w.Revision
	} else {
		r.ConfigChanged = w.Revision != flat.Config{}.Revision()
	}
	if plan.damaged {
		r.Note("the hub's config was damaged, and was replaced")
	}
	if r.ConfigChanged && r.OverwroteExistingConfig {
		undid := ""
		isPlanned := plan.current != nil && replaced != nil && replaced.Revision == plan.current.Revision
		if isPlanned && !p.asks && plan.Theirs != nil && !plan.Theirs.difference.Empty() {
			undid = ", which undid " + plan.Theirs.String()
		}
		r.Note("the existing config was replaced%s", undid)
	}
	r.Notes = slices.Concat(r.Notes, app.FindingNotes(w.Findings), p.App.WithdrawnNotes(w))
	p.replaced = replaced != nil && r.ConfigChanged && len(replaced.Config) > 0
	if p.replaced {
		r.Note("the previous config (%s) is saved; to restore it: %s", editText(replaced.Edit), p.undoText())
	}
}

// replacedBy returns the config that w replaced, nil for none.
func (plan *planned) replacedBy(w *wire.ConfigWritten) *wire.Replaced {
	expected := plan.current
	changes := expected != nil && expected.HasConfig && expected.Revision != w.Revision
	answered := w.Replaced != nil && len(w.Replaced.Config) > 0 && w.Replaced.Revision != w.Revision
	if changes && !answered { // the response that had it was lost, and w is that of another attempt
		return &wire.Replaced{Config: expected.Config, Edit: expected.Edit}
	}
	return w.Replaced
}

// writeFiles replaces the base files.
func (p *push) writeFiles(ctx context.Context, plan *planned) (written *wire.BaseFilesWritten, err error) {
	write := func() error {
		f := plan.BaseFiles
		if f.onlyTree {
			f.upload.Replace(f.Tree)
		}
		var err error
		written, err = f.upload.Put(ctx)
		return err
	}
	replan := func() error {
		if err := p.planFiles(ctx, plan); err != nil {
			return err
		}
		return p.confirmFiles(ctx, plan, true)
	}
	err = p.writePlanned(write, replan, func() string { return plan.BaseFiles.Tree })
	return written, err
}

// addFiles adds the written base files to the result.
func (p *push) addFiles(r *result, w *wire.BaseFilesWritten) {
	r.BaseFilesPushed = w.BaseFilesPushed
	r.FilesResult = &FilesResult{
		Added:    w.Added,
		Changed:  w.Changed,
		Removed:  w.Removed,
		Uploaded: w.Uploaded,
		Skipped:  p.files.Links + p.files.Others,
		Bytes:    w.BytesReceived,
	}
	if w.Changed+w.Removed > 0 {
		how := "to restore them: " + p.undoText()
		if p.replaced { // the note about the config names the command
			how = "the same command restores them"
		}
		r.Note("the hub keeps the replaced base files; %s", how)
	}
	ignored := p.sensitive().Note("added or changed base file", "added or changed base files", app.SeeToolignore)
	if ignored != "" {
		r.Note("%s", ignored)
	}
}

// record records what both sides have in common now. If the destination was given, or the project was
// renamed, it also records its name in client.json.
func (p *push) record(r *result, base workspace.Pulled) error {
	var files tree.Tree
	if p.files != nil {
		files = p.files.Tree
	}
	former, present := p.Project, p.Hub.PresentName(p.Project)
	renamed := former != present
	if renamed {
		r.Note("%s was renamed to %s", former, present)
		p.Project, r.Project, base.Project = present, present, present
		p.App.SyncState().Rename(r.Origin, former, present)
	}
	p.App.RecordSync(r.Origin, base, files)
	if p.opts.NoRecord {
		return nil
	}
	if p.Given.Given() || renamed {
		if err := p.recordDestination(r); err != nil {
			return err
		}
	}
	if bases, err := p.Local.Bases(); err == nil && renamed {
		if known := bases.Of(r.Origin, former); known != nil {
			base.Revision, base.Tree = cmp.Or(base.Revision, known.Revision), cmp.Or(base.Tree, known.Tree)
		}
	}
	err := p.Local.RecordPulled(r.Origin, base)
	r.Notes = append(r.Notes, p.App.RecordHub(p.Local, r.Origin)...)
	if err != nil { // a pipeline may push from files that it cannot write
		r.Note("the revision could not be recorded: %v", err)
	}
	return nil
}

// recordDestination records the project's name in client.json.
func (p *push) recordDestination(r *result) error {
	was := ""
	if recorded := p.Client.Project.Text; recorded != "" {
		was = " (was " + recorded + ")"
	}
	changed, err := p.Client.Record("project", p.Project.String(), false)
	p.Done.RemoteWritten, r.RemoteWritten = changed, changed
	switch {
	case err != nil && p.Given.Given():
		e := failure.Of(err)
		return e.WithHint("the push went through; %s", e.Hint)
	case err != nil: // its former name works, too
		r.Note("the new name could not be recorded: %v", err)
	case changed:
		r.Note("the destination was recorded in %s%s", p.Local.ClientPath(), was)
	}
	return nil
}

// fail says what failed, such as: push web to @acme/web. It adds what was already written, and the
// next command.
func (p *push) fail(err error) error {
	e := app.Explain(p.Hub, err).At(app.StagePush).About(p.Project, p.Done)
	e.Local, e.Action = p.Local.Name, "push "+p.Local.Name
	if p.opts.Undo {
		e.Action = "undo the push of " + p.Local.Name
	}
	if to := p.Project.String(); to != "" {
		e.Action += " to " + to
	}
	if p.Hub == nil {
		return e
	}
	switch {
	case e.Code == wire.CodeNotFound:
		e.Reason = fmt.Errorf("there is no project %s on %s", p.Project, p.Hub.Origin())
		if !app.IsDeleted(err) {
			e.Hint = "push only updates: create it first"
		}
		create := cmdline.Tool("project", "create").With(p.Project.String()).Flag("--from", p.Local.Name)
		e = e.WithRecipe(app.OrRestore(err, p.Project, create))
	case p.ambiguous:
		e = e.WithHint("the push may have been applied, see %s; if so, to restore the previous config: %s",
			p.App.CommandText(p.Line("log")), p.undoText())
	case p.merged && !p.Done.ConfigWritten:
		e = e.WithHint("%s", p.mergedText())
	case p.Done.ConfigWritten && p.opts.Files && !p.Done.BaseFilesWritten:
		e = p.failFiles(e, err)
	}
	return e
}

// failFiles says in e that the config was written, but that writing the base files failed with err.
func (p *push) failFiles(e failure.Failure, err error) failure.Failure {
	e.Hint = "the config was written, the base files were not"
	_, fromHub := errors.AsType[*hubclient.Error](err)
	maybeWritten := hubclient.Unsettled(err) || fromHub && !hubclient.NotApplied(err)
	if maybeWritten {
		e.Hint = "the config was written, and the base files may have been"
	}
	if p.replaced {
		e.Hint += "; to restore the previous config: " + p.undoText()
	}
	if app.IsInterrupted(err) {
		return e
	}
	return e.WithRecipe(p.Line("push").Flag("--base-files-only"))
}

// mergedText says that the hub's edits were merged, and how to undo that.
func (p *push) mergedText() string {
	return fmt.Sprintf("the hub's edits were merged into %s; to undo that: %s", p.Local.ClientPath(),
		p.App.CommandText(p.Line("pull").Flag("--undo")))
}

// undoText is the command that undoes the push.
func (p *push) undoText() string { return p.App.CommandText(p.Line("push").Flag("--undo")) }

// dryRunLine is the command that shows what a push would change.
func (p *push) dryRunLine() cmdline.Line { return p.Line("push").Flag("--dry-run") }
