// Package push updates the config and the base files of an existing hub project
// from a local one. It never creates a project.
package push

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// noRevision is the --if-revision of a project whose config is empty.
const noRevision = "none"

// Result is a push that went through.
type Result struct {
	ProjectName             string     `json:"projectName"`
	Env                     string     `json:"environment,omitzero"`
	Project                 ref.Ref    `json:"project"`
	Origin                  string     `json:"origin"`
	EnrichmentCount         int        `json:"enrichmentCount"`
	OverwroteExistingConfig bool       `json:"overwroteExistingConfig"`
	RemoteWritten           bool       `json:"remoteWritten"`
	Revision                string     `json:"revision,omitzero"`
	ConfigChanged           bool       `json:"configChanged"`
	Replaced                *wire.Edit `json:"replaced"`
	BaseFilesPushed         int        `json:"baseFilesPushed"`
	*FilesResult            `json:",inline"`
	Notes                   []string `json:"notes"`
}

// FilesResult is what a push did to the base files.
type FilesResult struct {
	Added    int   `json:"baseFilesAdded"`
	Changed  int   `json:"baseFilesChanged"`
	Removed  int   `json:"baseFilesRemoved"`
	Uploaded int   `json:"baseFilesUploaded"`
	Skipped  int   `json:"baseFilesSkipped"` // symbolic links and special files
	Bytes    int64 `json:"baseFilesBytesSent"`
}

// push is one push.
type push struct {
	app      *app.App
	local    *workspace.Project
	opts     Options
	asks     bool // before a config is overwritten, and before sensitive files are pushed
	transfer ui.Transfer

	client      *workspace.Client
	destination ref.Ref
	hub         *identity.Hub
	config      flat.Config
	body        wire.PutConfig
	files       *app.Files
	last        tree.Base // the base files that were last pushed or pulled
	stored      stored
	replans     int                  // of the base files
	sensitive   func() app.Sensitive // waits for what is known of the files
	result      *Result
	done        failure.Effects

	ambiguous bool // the config may have been written
	undoable  bool // a config was replaced
}

// Run pushes the local project called name, or the only one.
func Run(ctx context.Context, a *app.App, name string, o Options) error {
	local, err := a.Local(ctx, name, a.Itself)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("push "+name))
	}
	p := &push{app: a, local: local, opts: o, transfer: a.Progress(), asks: !a.Strict() && !o.Force && !o.Undo}
	if o.Watch {
		return p.watch(ctx)
	}
	switch {
	case o.Undo:
		if err := p.undo(ctx); err != nil {
			return p.doing(err, "undo the push of")
		}
		return a.Print("pushed", p.result, p.restoredText)
	case o.DryRun:
		return p.dryRun(ctx)
	}
	no, err := p.push(ctx)
	p.transfer.Hide()
	switch {
	case err != nil:
		return p.doing(err, "push")
	case no != nil:
		return a.Aborted(no)
	}
	return a.Print("pushed", p.result, p.pushedText)
}

// doing says what failed, such as: push web to @acme/web.
func (p *push) doing(err error, what string) error {
	what += " " + p.local.Name
	if to := app.DestinationOf(err); to != "" {
		what += " to " + to
	}
	return failure.Doing(err, p.local.Name, "%s", what)
}

// dryRun prints what a push would do.
func (p *push) dryRun(ctx context.Context) error {
	p.transfer.Hide()
	planned, err := p.planAll(ctx)
	if err != nil {
		return p.doing(p.fail(err), "push")
	}
	return p.app.Print("planned", planned, func(w *app.Printer) {
		if p.opts.Format == app.FormatMarkdown {
			plannedMarkdown(w, planned)
		} else {
			plannedText(w, planned)
		}
	})
}

// push pushes. It returns how it was aborted when the person said no.
func (p *push) push(ctx context.Context) (*app.Aborted, error) {
	yes, err := p.pushParts(ctx)
	if p.hub != nil {
		p.hub.CloseIdle() // a watch has one for each push
	}
	switch {
	case err != nil:
		return nil, p.fail(err)
	case !yes:
		r := &app.Aborted{ProjectName: p.local.Name, Project: p.destination, Origin: p.hub.Origin()}
		if p.done.ConfigWritten {
			r.Done = p.halfHint(nil)
		}
		return r, nil
	}
	return nil, nil
}

// pushParts asks and pushes part by part, until the person says no.
func (p *push) pushParts(ctx context.Context) (yes bool, err error) {
	if err := p.prepare(ctx); err != nil {
		return false, err
	}
	parts := []func(context.Context) (bool, error){p.confirmSensitive, p.checkStored}
	if p.opts.config() {
		parts = append(parts, p.pushConfig)
	}
	if p.opts.files() {
		parts = append(parts, p.pushFiles)
	}
	for _, part := range parts {
		if yes, err := part(ctx); err != nil || !yes {
			return false, err
		}
	}
	p.noteIgnored("added or changed base file", "added or changed base files")
	return true, p.record()
}

// noteIgnored adds a note about files that git ignores.
func (p *push) noteIgnored(one, many string) {
	if p.files == nil {
		return
	}
	if note := p.sensitive().Note(one, many, app.SeeToolignore); note != "" {
		p.result.Notes = append(p.result.Notes, note)
	}
}

// confirmSensitive asks whether files that hold secrets are pushed, and once for each
// destination about those that git ignores. Files that this machine has already pushed there
// are not asked about. Where it does not ask, it refuses secrets that no flag allows.
func (p *push) confirmSensitive(ctx context.Context) (bool, error) {
	if p.files == nil {
		return true, nil
	}
	secrets := p.files.Secrets(p.last, p.opts.AllowSecrets)
	if !p.asks {
		return true, failure.At(app.StageRead, app.RefuseSecrets(secrets, p.opts.AllowSecrets, p.filesLine()))
	}
	question := app.IgnoredConsent(p.hub.Origin(), p.destination)
	var files app.Sensitive
	if !p.app.History().Consented(question) {
		files = p.sensitive()
	}
	files.Secrets = secrets
	p.transfer.Hide()
	asked, yes, err := p.app.ConfirmSensitive(ctx, p.destination.String(), files)
	if yes {
		p.opts.AllowSecrets = slices.Concat(p.opts.AllowSecrets, secrets) // in a watch
	}
	if asked && yes && len(files.Ignored) > 0 {
		if err := p.app.History().Consent(question); err != nil {
			p.result.Notes = append(p.result.Notes, "the answer could not be remembered: "+err.Error())
		}
	}
	return yes, err
}

// filesLine is the command that pushes the same base files.
func (p *push) filesLine() cmdline.Line {
	if p.opts.FilesOnly {
		return p.line("push").Flag("--base-files-only")
	}
	return p.line("push").Flag("--base-files")
}

// prepare does all that needs no answer of the hub. Failures come in the order of
// their stages: read, destination, then the token's.
func (p *push) prepare(ctx context.Context) error {
	if err := p.read(); err != nil {
		return failure.At(app.StageRead, err)
	}
	// Files take their time: a connection to a hub that is far is opened meanwhile.
	hubErr := p.findHub(ctx)
	if p.opts.files() {
		var err error
		if p.files, err = p.app.ChooseFiles(ctx, p.local, p.client, p.fileOptions()); err != nil {
			return failure.At(app.StageRead, err)
		}
	}
	if hubErr != nil {
		return hubErr
	}
	p.result = &Result{
		ProjectName: p.local.Name, Env: p.local.Env, Project: p.destination, Origin: p.hub.Origin(), Notes: []string{},
	}
	if p.files != nil {
		p.result.Notes = append(p.result.Notes, p.files.Notes...)
		p.last = p.app.SyncState().LastFiles(p.hub.Origin(), p.destination)
		known := p.last
		if p.opts.DryRun { // lists all files that git ignores
			known = tree.Base{}
		}
		p.sensitive = p.files.Sensitive(ctx, known)
	}
	return nil
}

func (p *push) fileOptions() app.FileOptions {
	return app.FileOptions{AllowEmpty: p.opts.AllowEmpty, ListSkipped: p.opts.DryRun, Report: p.report()}
}

func (p *push) read() (err error) {
	if p.client, err = p.app.ReadClient(p.local); err != nil {
		return err
	}
	if p.opts.config() {
		p.config, p.body, err = app.ReadConfig(p.client)
	}
	return err
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
	if p.hub, err = p.app.ConnectTo(ctx, !p.opts.DryRun); err != nil {
		return failure.At(app.StagePush, err)
	}
	p.hub.BeginPush()
	return nil
}

// fail adds to a failure what had happened by then.
func (p *push) fail(err error) error {
	if p.hub != nil {
		err = p.explain(err)
	}
	return app.Explain(p.hub, err).At(app.StagePush).About(p.destination, p.done)
}

// explain adds the next command to what the hub said.
func (p *push) explain(err error) error {
	e := failure.Of(p.hub.Fault(err))
	switch {
	case e.Code == wire.CodeNotFound:
		e.Reason = fmt.Errorf("there is no project %s on %s", p.destination, p.hub.Origin())
		if !app.IsDeleted(err) {
			e.Hint = "push only updates: create it first"
		}
		e = e.WithRecipe(app.OrRestore(err, p.destination, cmdline.Tool("project", "create").With(p.destination.String()).Flag("--from", p.local.Name)))
	case e.Code == wire.CodeRevisionChanged && e.Recipe == nil && p.opts.IfRevision.String() != "":
		e.Recipe = []cmdline.Line{p.dryRunLine()}
	case p.ambiguous:
		e.Hint = fmt.Sprintf("the push may have been applied, see %s; if so, to restore the previous config: %s",
			p.app.CommandText(p.line("log")), p.app.CommandText(p.undoLine()))
	case p.done.ConfigWritten && p.opts.Files && !p.done.BaseFilesWritten:
		e.Hint = p.halfHint(err)
		if !app.IsInterrupted(err) {
			e.Recipe = []cmdline.Line{p.line("push").Flag("--base-files-only")}
		}
	}
	return e
}

// halfHint says what a push wrote whose base files ended in err, and how to undo that.
func (p *push) halfHint(err error) string {
	hint := "the config was written, the base files were not"
	if hubclient.Unsettled(err) || errors.As(err, new(*hubclient.Error)) && !hubclient.NotApplied(err) {
		hint = "the config was written, and the base files may have been"
	}
	if p.undoable {
		hint += "; to restore the previous config: " + p.app.CommandText(p.undoLine())
	}
	return hint
}

// undoLine is the command that undoes the push.
func (p *push) undoLine() cmdline.Line { return p.line("push").Flag("--undo") }

// line is a command about the local project and the same hub project.
func (p *push) line(command string) cmdline.Line {
	return app.LineFor(command, p.local, p.opts.Project, p.destination)
}

// record writes the destination into client.json, when it was given and all went through,
// and the revision into pulled.json.
func (p *push) record() error {
	if p.opts.NoRecord {
		return nil
	}
	if p.opts.Project.Given() {
		if err := p.recordDestination(); err != nil {
			return err
		}
	}
	p.result.Notes = append(p.result.Notes, p.app.RecordHub(p.local, p.hub.Origin())...)
	base := workspace.Pulled{Project: p.destination, Revision: p.result.Revision}
	if p.files != nil {
		base.Tree = p.files.Digest
	}
	if err := p.local.RecordPulled(p.hub.Origin(), base); err != nil {
		// A pipeline may push from files that it cannot write.
		p.result.Notes = append(p.result.Notes, "the revision could not be recorded: "+err.Error())
	}
	return nil
}

// recordDestination writes the destination into client.json.
func (p *push) recordDestination() error {
	former := p.client.Project.Text
	changed, err := p.client.Record("project", p.destination.String())
	if err != nil {
		e := failure.Of(err)
		return e.WithHint("the push went through; %s", e.Hint)
	}
	p.done.RemoteWritten, p.result.RemoteWritten = changed, changed
	if changed {
		note := "the destination was recorded in " + p.local.ClientPath()
		if former != "" {
			note += " (was " + former + ")"
		}
		p.result.Notes = append(p.result.Notes, note)
	}
	return nil
}

// diff compares the hub's config with the local one.
func (p *push) diff(current jsontext.Value) (flat.Difference, error) {
	config, err := flat.Parse(current)
	if err != nil {
		return flat.Difference{}, p.unreadable(err)
	}
	return flat.Diff(config, p.config), nil
}

func (p *push) unreadable(err error) error {
	return &hubclient.Error{Code: hubclient.CodeNotAHub, Detail: "the hub's config cannot be read: " + err.Error()}
}

// report returns what shows progress; nothing in a dry run.
func (p *push) report() app.Report {
	if p.opts.DryRun {
		return nil
	}
	return p.transfer.Update
}
