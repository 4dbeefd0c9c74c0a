// Package push updates the config and the base files of an existing hub project
// from a local one. It never creates a project.
package push

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// push is one push: prepare fills it from local files, and the methods after that ask the hub.
type push struct {
	app      *app.App
	local    *workspace.Project
	opts     Options
	asks     bool // before something of others is overwritten, and before sensitive files are pushed
	transfer prompts.Transfer

	client      *workspace.Client
	destination ref.Ref
	hub         *identity.Hub
	config      flat.Config
	body        wire.PutConfig
	files       *app.Files
	last        tree.Base            // the base files that were last pushed or pulled
	sensitive   func() app.Sensitive // waits for what is known of the files

	done      failure.Effects
	ambiguous bool // a config may have been replaced
	replaced  bool // a config was replaced
}

// Run pushes the local project called name, or the only one.
func Run(ctx context.Context, a *app.App, name string, o Options) error {
	local, err := a.Local(ctx, name, a.Itself)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("push "+name))
	}
	p := &push{app: a, local: local, opts: o, transfer: a.Progress(),
		asks: !a.Strict() && !o.Force && !o.Undo && !o.DryRun}
	switch {
	case o.Watch:
		return p.watch(ctx)
	case o.DryRun:
		p.transfer = app.NoTransfer{}
		plan, err := p.dryRun(ctx)
		if err != nil {
			return p.doing(p.fail(err), "push")
		}
		return a.Print("planned", plan, plan.text)
	case o.Undo:
		r, err := p.undo(ctx)
		if err != nil {
			return p.doing(p.fail(err), "undo the push of")
		}
		return a.Print("pushed", r, r.text)
	}
	r, err := p.push(ctx)
	p.transfer.Hide()
	if err != nil {
		return p.doing(err, "push")
	}
	return a.Print("pushed", r, r.text)
}

// doing says what failed, such as: push web to @acme/web.
func (p *push) doing(err error, what string) error {
	what += " " + p.local.Name
	if to := app.DestinationOf(err); to != "" {
		what += " to " + to
	}
	return failure.Doing(err, p.local.Name, "%s", what)
}

// push plans, asks, and does what was planned.
func (p *push) push(ctx context.Context) (r *Result, err error) {
	if err = p.prepare(ctx); err != nil {
		return nil, p.fail(err)
	}
	defer p.hub.CloseIdle() // a watch has one for each push
	plan, err := p.plan(ctx)
	if err == nil {
		err = p.confirm(ctx, plan)
	}
	if err == nil {
		r, err = p.apply(ctx, plan)
	}
	if err != nil {
		return nil, p.fail(err)
	}
	return r, nil
}

// prepare does all that needs no answer of the hub. Failures come in the order of
// their stages: read, destination, then the token's.
func (p *push) prepare(ctx context.Context) (err error) {
	if p.client, err = p.app.ReadClient(p.local); err == nil && p.opts.config() {
		p.config, p.body, err = app.ReadConfig(p.client)
	}
	if err != nil {
		return failure.At(app.StageRead, err)
	}
	// Files take their time: a connection to a hub that is far is opened meanwhile.
	hubErr := p.findHub(ctx)
	if p.opts.files() {
		if p.files, err = p.app.ChooseFiles(ctx, p.local, p.client, p.fileOptions()); err != nil {
			return failure.At(app.StageRead, err)
		}
	}
	if hubErr != nil {
		return hubErr
	}
	p.hub.BeginPush()
	if p.files == nil {
		return nil
	}
	p.last = p.app.SyncState().LastFiles(p.hub.Origin(), p.destination)
	known := p.last
	if p.opts.DryRun { // lists all files that git ignores
		known = tree.Base{}
	}
	p.sensitive = p.files.Sensitive(ctx, known)
	if p.asks || p.opts.DryRun {
		return nil
	}
	secrets := p.files.Secrets(p.last, p.opts.AllowSecrets)
	return failure.At(app.StageRead, app.RefuseSecrets(secrets, p.opts.AllowSecrets, p.filesLine()))
}

func (p *push) fileOptions() app.FileOptions {
	return app.FileOptions{AllowEmpty: p.opts.AllowEmpty, ListSkipped: p.opts.DryRun, Report: p.transfer.Update}
}

// findHub resolves the destination of the push and connects to its hub.
func (p *push) findHub(ctx context.Context) (err error) {
	if p.destination, err = app.Destination(p.local, p.client, p.opts.Project.Value); err != nil {
		e := failure.Of(err)
		if e.Code == failure.CodeNoDestination {
			e = e.WithHint("name it with --project, as @account/slug, or create one").
				Try(cmdline.Tool("project", "create").With(p.local.NewSlug()).Flag("--from", p.local.Name))
		}
		return failure.At(app.StageDestination, e)
	}
	p.hub, err = p.app.ConnectTo(ctx, !p.opts.DryRun)
	return failure.At(app.StagePush, err)
}

// apply does what was planned, and records what is in step then.
func (p *push) apply(ctx context.Context, plan *Plan) (*Result, error) {
	r := &Result{ProjectName: plan.ProjectName, Env: plan.Env, Project: plan.Project, Origin: plan.Origin,
		Notes: plan.Notes}
	base := workspace.Pulled{Project: p.destination}
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
			p.app.RecordSync(plan.Origin, base, nil)
			return nil, err
		}
		p.wroteFiles(r, written)
		base.Tree = p.files.Digest
		if note := p.sensitive().Note("added or changed base file", "added or changed base files",
			app.SeeToolignore); note != "" {
			r.Notes = append(r.Notes, note)
		}
	}
	return r, p.record(r, base)
}

// maxReplans bounds how often a push without questions is planned anew because the
// hub's config or base files changed meanwhile.
const maxReplans = 10

// writeConfig replaces the config. If it changed since it was planned, that part is planned and
// asked about again.
func (p *push) writeConfig(ctx context.Context, plan *Plan) (*wire.ConfigWritten, error) {
	refused := "none"
	for replans := 0; ; replans++ {
		written, err := p.hub.PutConfig(ctx, p.destination, p.body, plan.match)
		p.ambiguous = err != nil && !hubclient.NotApplied(err) && plan.current != nil && plan.current.HasConfig
		if !hubclient.HasCode(err, wire.CodeRevisionChanged) || p.opts.IfRevision.Given() {
			return written, err
		}
		if plan.match == refused || !p.asks && replans == maxReplans {
			return nil, failure.Of(p.hub.Fault(err)).
				WithHint("the hub refuses the revision that it says it has, or its config changes all the time: try again later")
		}
		refused = plan.match
		if err := p.planConfig(ctx, plan, ""); err != nil {
			return nil, err
		}
		if err := p.confirmConfig(ctx, plan, true); err != nil {
			return nil, err
		}
	}
}

// wroteConfig notes the hub's answer in the result.
func (p *push) wroteConfig(r *Result, w *wire.ConfigWritten, plan *Plan) {
	p.done.ConfigWritten = true
	if plan.damaged {
		r.Notes = append(r.Notes, "the hub's config was damaged, and was replaced")
	}
	replaced := w.Replaced
	if before := plan.current; lost(w, before) {
		replaced = &wire.Replaced{Config: before.Config, Edit: before.Edit}
	}
	r.EnrichmentCount, r.Revision = w.EnrichmentCount, w.Revision
	r.OverwroteExistingConfig = w.OverwroteExistingConfig || replaced != nil
	r.ConfigChanged = w.Revision != flat.Config{}.Revision()
	if replaced != nil {
		r.Replaced, r.ConfigChanged = &replaced.Edit, replaced.Revision != w.Revision
	}
	switch {
	case !r.ConfigChanged:
		r.Notes = append(r.Notes, "the hub held exactly this config already")
	case r.OverwroteExistingConfig:
		r.Notes = append(r.Notes, "the existing config was replaced")
	}
	r.Notes = append(r.Notes, app.FindingNotes(w.Findings)...)
	r.Notes = append(r.Notes, p.app.WithdrawnNotes(w)...)
	if replaced != nil && r.ConfigChanged && len(replaced.Config) > 0 {
		p.replaced = true
		r.Notes = append(r.Notes, fmt.Sprintf("the previous config (%s) is saved; to restore it: %s",
			editText(replaced.Edit), p.app.CommandText(p.undoLine())))
	}
}

// lost reports that the answer which told what was replaced never came: w is that
// of another attempt, which found what the first had written.
func lost(w *wire.ConfigWritten, before *wire.Config) bool {
	return before != nil && before.HasConfig && before.Revision != w.Revision &&
		(w.Replaced == nil || len(w.Replaced.Config) == 0 || w.Replaced.Revision == w.Revision)
}

// writeFiles replaces the base files. If they are not those any more that were planned for, they
// are planned and asked about again.
func (p *push) writeFiles(ctx context.Context, plan *Plan) (*wire.BaseFilesWritten, error) {
	for replans := 1; ; replans++ {
		w, err := p.files.Send(p.transfer.Update, p.last, func(files hubclient.FileSet) (*wire.BaseFilesWritten, error) {
			if plan.BaseFiles.only {
				return p.hub.ReplaceBaseFiles(ctx, p.destination, files, plan.BaseFiles.Tree)
			}
			files.All = p.opts.Force && !p.opts.Watch
			return p.hub.PutBaseFiles(ctx, p.destination, files)
		})
		if err == nil || replans > maxReplans || !hubclient.HasCode(err, wire.CodeRevisionChanged, wire.CodeSetExists) {
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

// wroteFiles notes the hub's answer in the result.
func (p *push) wroteFiles(r *Result, w *wire.BaseFilesWritten) {
	p.done.BaseFilesWritten = true
	r.BaseFilesPushed = w.BaseFilesPushed
	r.FilesResult = &FilesResult{
		Added: w.Added, Changed: w.Changed, Removed: w.Removed, Uploaded: w.Uploaded,
		Skipped: p.files.Links + p.files.Others, Bytes: w.BytesReceived,
	}
	if w.Changed+w.Removed == 0 {
		return
	}
	note := "the hub keeps the replaced base files; the same command restores them"
	if !p.replaced {
		note = "the hub keeps the replaced base files; to restore them: " + p.app.CommandText(p.undoLine())
	}
	r.Notes = append(r.Notes, note)
}

// record records what is in step now, and in client.json the destination, if it was given.
func (p *push) record(r *Result, base workspace.Pulled) error {
	var files tree.Tree
	if p.files != nil {
		files = p.files.Tree
	}
	if p.opts.NoRecord {
		p.app.RecordSync(r.Origin, base, files)
		return nil
	}
	if p.opts.Project.Given() {
		former := p.client.Project.Text
		changed, err := p.client.Record("project", p.destination.String())
		if err != nil {
			p.app.RecordSync(r.Origin, base, files)
			e := failure.Of(err)
			return e.WithHint("the push went through; %s", e.Hint)
		}
		p.done.RemoteWritten, r.RemoteWritten = changed, changed
		if former != "" {
			former = " (was " + former + ")"
		}
		if changed {
			r.Notes = append(r.Notes, "the destination was recorded in "+p.local.ClientPath()+former)
		}
	}
	notes, err := p.app.Record(p.local, r.Origin, base, files)
	r.Notes = append(r.Notes, notes...)
	if err != nil { // a pipeline may push from files that it cannot write
		r.Notes = append(r.Notes, "the revision could not be recorded: "+err.Error())
	}
	return nil
}

// fail adds to a failure the next command, and what had happened by then.
func (p *push) fail(err error) error {
	e := app.Explain(p.hub, err).At(app.StagePush).About(p.destination, p.done)
	switch {
	case p.hub == nil:
	case e.Code == wire.CodeNotFound:
		e.Reason = fmt.Errorf("there is no project %s on %s", p.destination, p.hub.Origin())
		if !app.IsDeleted(err) {
			e.Hint = "push only updates: create it first"
		}
		create := cmdline.Tool("project", "create").With(p.destination.String()).Flag("--from", p.local.Name)
		e = e.WithRecipe(app.OrRestore(err, p.destination, create))
	case e.Code == wire.CodeRevisionChanged && e.Recipe == nil && p.opts.IfRevision.Given():
		e = e.Try(p.dryRunLine())
	case p.ambiguous:
		e.Hint = fmt.Sprintf("the push may have been applied, see %s; if so, to restore the previous config: %s",
			p.app.CommandText(p.line("log")), p.app.CommandText(p.undoLine()))
	case p.done.ConfigWritten && p.opts.Files && !p.done.BaseFilesWritten:
		e.Hint = "the config was written, the base files were not"
		if hubclient.Unsettled(err) || errors.As(err, new(*hubclient.Error)) && !hubclient.NotApplied(err) {
			e.Hint = "the config was written, and the base files may have been"
		}
		if p.replaced {
			e.Hint += "; to restore the previous config: " + p.app.CommandText(p.undoLine())
		}
		if !app.IsInterrupted(err) {
			e.Recipe = []cmdline.Line{p.line("push").Flag("--base-files-only")}
		}
	}
	return e
}

// line is a command about the local project and the same hub project.
func (p *push) line(command string) cmdline.Line {
	return app.LineFor(command, p.local, p.opts.Project, p.destination)
}

// undoLine is the command that undoes the push.
func (p *push) undoLine() cmdline.Line { return p.line("push").Flag("--undo") }

// dryRunLine is the command that shows what a push would change.
func (p *push) dryRunLine() cmdline.Line { return p.line("push").Flag("--dry-run") }

// filesLine is the command that pushes the same base files.
func (p *push) filesLine() cmdline.Line {
	if p.opts.FilesOnly {
		return p.line("push").Flag("--base-files-only")
	}
	return p.line("push").Flag("--base-files")
}
