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

// push is one push: prepare reads local files, plan asks the hub, and apply writes to the hub.
type push struct {
	app.Target
	opts     Options
	asks     bool // before others' work is overwritten, and before sensitive files are pushed
	transfer prompts.Transfer

	config    flat.Config
	body      wire.PutConfig
	files     *app.Files
	chosen    string // digest of all chosen files, before any was left out
	blobs     *basefiles.Blobs
	last      tree.Base            // the base files that were last pushed or pulled
	sensitive func() app.Sensitive // waits until git has said which files it ignores

	ambiguous bool // writeConfig failed, but may have replaced a config
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
		r, err = p.push(ctx)
	}
	p.transfer.Hide()
	if err != nil {
		return p.fail(err)
	}
	return a.Show(r)
}

// push makes a plan, asks about it, and carries it out.
func (p *push) push(ctx context.Context) (*result, error) {
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	defer p.close()
	plan, err := p.plan(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.confirm(ctx, plan); err != nil {
		return nil, err
	}
	return p.apply(ctx, plan)
}

// prepare does everything that needs no answer of the hub. Of several failures it returns the one of
// the first stage: read, destination, then that of the token.
func (p *push) prepare(ctx context.Context) (err error) {
	if err := p.read(); err != nil {
		return err
	}
	hubErr := p.findHub(ctx) // returned below: a failure to read files comes first
	if p.opts.files() {
		o := basefiles.Options{AllowEmpty: p.opts.AllowEmpty, ListSkipped: p.opts.DryRun}
		p.files, err = p.App.ChooseFiles(ctx, p.Local, p.Client, o, p.transfer.Update)
		if err != nil {
			return failure.At(app.StageRead, err)
		}
	}
	if hubErr != nil {
		return hubErr
	}
	p.Hub.BeginPush(p.opts.Message)
	if p.files == nil {
		return nil
	}
	p.chosen = p.files.Digest
	p.last = p.App.SyncState().LastFiles(p.Hub.Origin(), p.Project)
	known := p.last
	if p.opts.DryRun && !p.App.Strict() { // it lists all files that git ignores, even those pushed before
		known = tree.Base{}
	}
	p.sensitive = p.files.Sensitive(ctx, known)
	if p.App.Strict() && !p.App.State().Consented(app.IgnoredConsent(p.Hub.Origin(), p.Project)) {
		found := p.sensitive()
		if found.Ignored, err = p.files.LeaveOut(found.Ignored, p.opts.AllowSecrets); err != nil {
			return failure.At(app.StageRead, err)
		}
		p.sensitive = func() app.Sensitive { return found }
	}
	p.blobs = p.files.Blobs()
	if p.asks || p.opts.DryRun {
		return nil
	}
	return failure.At(app.StageRead, p.refuseSecrets())
}

// read reads client.json, and its settings if they are pushed.
func (p *push) read() (err error) {
	p.Client, err = p.App.ReadClient(p.Local)
	if err == nil && p.opts.config() {
		p.config, p.body, err = app.ReadConfig(p.Client)
	}
	return failure.At(app.StageRead, err)
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
	secrets := p.files.Secrets(p.last, p.opts.AllowSecrets)
	return app.RefuseSecrets(secrets, p.opts.AllowSecrets, p.filesLine())
}

// close closes connections and files, because a watch makes many pushes.
func (p *push) close() {
	p.Hub.CloseIdle()
	if p.blobs != nil {
		p.blobs.Close()
	}
}

// apply carries out the plan, and records what both sides have in common after it.
func (p *push) apply(ctx context.Context, plan *planned) (*result, error) {
	r := &result{About: plan.About, Noted: plan.Noted}
	base := workspace.Pulled{Project: p.Project}
	if p.opts.config() {
		written, err := p.writeConfig(ctx, plan)
		if err != nil {
			return nil, err
		}
		p.wroteConfig(r, written, plan)
		base.Revision = written.Revision
	}
	if p.opts.files() {
		written, err := p.writeFiles(ctx, plan)
		if err != nil {
			p.App.RecordSync(plan.Origin, base, nil)
			return nil, err
		}
		p.wroteFiles(r, written)
		base.Tree = p.files.Digest
	}
	return r, p.record(r, base)
}

// maxReplans bounds how often a push that asks nothing is planned again, because the hub's
// config or base files have changed.
const maxReplans = 10

// writeConfig replaces the config, unless the plan says that the hub has it already. If the hub's
// config has changed since the plan, it plans and asks again.
func (p *push) writeConfig(ctx context.Context, plan *planned) (*wire.ConfigWritten, error) {
	refused := noRevision // the revision that the hub refused last; no plan has this one
	for replans := 0; plan.same == nil; replans++ {
		written, err := p.Hub.PutConfig(ctx, p.Project, p.body, plan.match)
		replaces := plan.current != nil && plan.current.HasConfig
		p.ambiguous = err != nil && !hubclient.NotApplied(err) && replaces
		changed := hubclient.HasCode(err, wire.CodeRevisionChanged)
		if !changed || p.opts.IfRevision.Given() {
			return written, err
		}
		tooOften := !p.asks && replans == maxReplans
		if plan.match == refused || tooOften {
			return nil, failure.Of(p.Hub.Fault(err)).
				WithHint("the hub refuses the revision that it says it has, or its config changes all the time: try again later")
		}
		refused = plan.match
		if err := p.planConfig(ctx, plan, ""); err != nil {
			return nil, err
		}
		notice := ""
		if plan.current != nil {
			notice = fmt.Sprintf("%s changed it while you looked. This is the difference now:", plan.current.UpdatedBy)
		}
		if err := p.confirmConfig(ctx, plan, notice); err != nil {
			return nil, err
		}
	}
	return plan.same, nil
}

// wroteConfig adds the hub's answer to the result.
func (p *push) wroteConfig(r *result, w *wire.ConfigWritten, plan *planned) {
	p.Done.ConfigWritten = true
	if plan.damaged {
		r.Note("the hub's config was damaged, and was replaced")
	}
	replaced, planned := w.Replaced, plan.current
	changes := planned != nil && planned.HasConfig && planned.Revision != w.Revision
	answered := replaced != nil && len(replaced.Config) > 0 && replaced.Revision != w.Revision
	if changes && !answered {
		// The response that had it was lost, and w is that of another attempt.
		replaced = &wire.Replaced{Config: planned.Config, Edit: planned.Edit}
	}
	r.EnrichmentCount, r.Revision = w.EnrichmentCount, w.Revision
	r.OverwroteExistingConfig = w.OverwroteExistingConfig || replaced != nil
	if replaced != nil {
		r.Replaced = &replaced.Edit
		r.ConfigChanged = replaced.Revision != w.Revision
	} else {
		r.ConfigChanged = w.Revision != flat.Config{}.Revision()
	}
	if r.ConfigChanged && r.OverwroteExistingConfig {
		r.Note("the existing config was replaced")
	}
	r.Notes = slices.Concat(r.Notes, app.FindingNotes(w.Findings), p.App.WithdrawnNotes(w))
	if replaced != nil && r.ConfigChanged && len(replaced.Config) > 0 {
		p.replaced = true
		r.Note("the previous config (%s) is saved; to restore it: %s", editText(replaced.Edit), p.undoText())
	}
}

// writeFiles replaces the base files. If the hub's have changed since the plan, it plans and asks
// again.
func (p *push) writeFiles(ctx context.Context, plan *planned) (*wire.BaseFilesWritten, error) {
	for replans := 1; ; replans++ {
		f := plan.BaseFiles
		if f.onlyTree {
			f.upload.Replace(f.Tree)
		}
		w, err := f.upload.Put(ctx)
		changed := hubclient.HasCode(err, wire.CodeRevisionChanged, wire.CodeSetExists)
		if !changed || replans > maxReplans {
			return w, err
		}
		if err := p.planFiles(ctx, plan); err != nil {
			return nil, err
		}
		if err := p.confirmFiles(ctx, plan, true); err != nil {
			return nil, err
		}
	}
}

// wroteFiles adds the hub's answer to the result.
func (p *push) wroteFiles(r *result, w *wire.BaseFilesWritten) {
	p.Done.BaseFilesWritten = true
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
		if p.replaced { // the note about the config names the command
			r.Note("the hub keeps the replaced base files; the same command restores them")
		} else {
			r.Note("the hub keeps the replaced base files; to restore them: %s", p.undoText())
		}
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
	if former != present {
		r.Note("%s was renamed to %s", former, present)
		p.Project, r.Project, base.Project = present, present, present
		p.App.SyncState().Rename(r.Origin, former, present)
	}
	p.App.RecordSync(r.Origin, base, files)
	if p.opts.NoRecord {
		return nil
	}
	if p.Given.Given() || former != present {
		was := ""
		if recorded := p.Client.Project.Text; recorded != "" {
			was = " (was " + recorded + ")"
		}
		changed, err := p.Client.Record("project", p.Project.String())
		if err != nil && p.Given.Given() {
			e := failure.Of(err)
			return e.WithHint("the push went through; %s", e.Hint)
		}
		if err != nil { // its former name works, too
			r.Note("the new name could not be recorded: %v", err)
		}
		p.Done.RemoteWritten, r.RemoteWritten = changed, changed
		if changed {
			r.Note("the destination was recorded in %s%s", p.Local.ClientPath(), was)
		}
	}
	if bases, err := p.Local.Bases(); err == nil && former != present {
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
	case e.Code == wire.CodeRevisionChanged && e.Recipe == nil && p.opts.IfRevision.Given():
		e = e.Try(p.dryRunLine())
	case p.ambiguous:
		e = e.WithHint("the push may have been applied, see %s; if so, to restore the previous config: %s",
			p.App.CommandText(p.Line("log")), p.undoText())
	case p.merged && !p.Done.ConfigWritten:
		e = e.WithHint("%s", p.mergedText())
	case p.Done.ConfigWritten && p.opts.Files && !p.Done.BaseFilesWritten:
		e.Hint = "the config was written, the base files were not"
		_, fromHub := errors.AsType[*hubclient.Error](err)
		maybeWritten := hubclient.Unsettled(err) || fromHub && !hubclient.NotApplied(err)
		if maybeWritten {
			e.Hint = "the config was written, and the base files may have been"
		}
		if p.replaced {
			e.Hint += "; to restore the previous config: " + p.undoText()
		}
		if !app.IsInterrupted(err) {
			e = e.WithRecipe(p.Line("push").Flag("--base-files-only"))
		}
	}
	return e
}

// mergedText says that the answer m has merged the hub's edits.
func (p *push) mergedText() string {
	return fmt.Sprintf("the hub's edits were merged into %s; to undo that: %s", p.Local.ClientPath(),
		p.App.CommandText(p.Line("pull").Flag("--undo")))
}

// undoText is the command that undoes the push.
func (p *push) undoText() string { return p.App.CommandText(p.Line("push").Flag("--undo")) }

// dryRunLine is the command that shows what a push would change.
func (p *push) dryRunLine() cmdline.Line { return p.Line("push").Flag("--dry-run") }

// filesLine is the command that pushes the same base files.
func (p *push) filesLine() cmdline.Line {
	if p.opts.FilesOnly {
		return p.Line("push").Flag("--base-files-only")
	}
	return p.Line("push").Flag("--base-files")
}
