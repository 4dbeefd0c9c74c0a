// Package push updates the config and the base files of an existing hub project
// from a local one. It never creates a project.
package push

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// What says which parts a push sends.
type What int

const (
	Config         What = iota // the config alone
	ConfigAndFiles             // the config, then the base files
	FilesOnly                  // the base files alone
	Nothing                    // nothing of the workspace: what was kept goes back
)

func (w What) config() bool { return w == Config || w == ConfigAndFiles }
func (w What) files() bool  { return w == FilesOnly || w == ConfigAndFiles }

// Options are everything that a push needs to know.
type Options struct {
	Local       *workspace.Project
	Destination *string // of --project; nil: client.json's
	Connect     flow.Connect
	What        What
	Files       flow.FileOptions
	Revisions   *state.Sync
	Kept        *state.History
	Warn        func(string)
	Typed       flow.Typed

	IfRevision string // overwrite only this revision; "none": an empty config
	NoClobber  bool   // refuse to undo what others edited
	NoRecord   bool   // do not write Destination into client.json

	// Confirm is asked before an existing config is overwritten; nil overwrites.
	Confirm func(context.Context, Overwrite) (bool, error)

	// ConfirmIgnored is asked before base files that git ignores are pushed to a project
	// for the first time; nil pushes them.
	ConfirmIgnored func(context.Context, Ignored) (bool, error)
	// ConfirmAll has Confirm asked for a first config too.
	ConfirmAll bool
	// ConfirmFiles is asked before anything is written when the base files would
	// change; nil writes them.
	ConfirmFiles func(context.Context, Files) (bool, error)
}

// Ignored is what a person is asked about.
type Ignored struct {
	Project ref.Ref
	Origin  string
	Paths   []string
}

// Files is what a person is asked about before base files are pushed.
type Files struct {
	Project     ref.Ref
	Origin      string
	Planned     *PlannedFiles
	ProjectName string
}

// NoRevision is the IfRevision of a project whose config is empty.
const NoRevision = "none"

// Overwrite is what a person is asked about.
type Overwrite struct {
	Project     ref.Ref
	Origin      string
	Recorded    string // client.json's destination, when it is another
	Current     wire.Edit
	Config      flat.Difference // from the hub's config to the local one
	Again       bool            // the hub's config changed while the person looked at it
	First       bool            // the hub holds no config yet
	ProjectName string
}

// Result is a push that went through.
type Result struct {
	ProjectName             string     `json:"projectName"`
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

// push is one push on its way.
type push struct {
	Options
	client      *workspace.Client
	destination ref.Ref
	hub         *identity.Hub
	config      flat.Config
	body        wire.PutConfig
	files       *flow.Files
	result      *Result
	done        failure.Effects

	saved   *state.Entry // the config that a write replaces, until its outcome is known
	saveErr error        // why it could not be saved
}

// Run pushes. It returns nil without an error when the person said no.
func Run(ctx context.Context, o Options) (*Result, *flow.Aborted, error) {
	p, no, err := run(ctx, o)
	if err != nil || no != nil {
		return nil, no, err
	}
	return p.result, nil, nil
}

func run(ctx context.Context, o Options) (*push, *flow.Aborted, error) {
	p, err := prepare(ctx, o)
	if p.hub != nil {
		defer p.hub.CloseIdle() // a watch has one for each push
	}
	if err != nil {
		return p, nil, p.fail(err)
	}
	if yes, err := p.confirmIgnored(ctx); err != nil {
		return p, nil, p.fail(err)
	} else if !yes {
		return p, p.aborted(), nil
	}
	if yes, err := p.confirmFiles(ctx); err != nil {
		return p, nil, p.fail(err)
	} else if !yes {
		return p, p.aborted(), nil
	}
	if o.What.config() {
		yes, err := p.pushConfig(ctx)
		if err != nil {
			return p, nil, p.fail(err)
		}
		if !yes {
			return p, p.aborted(), nil
		}
	}
	if o.What.files() {
		if err := p.pushFiles(ctx); err != nil {
			return p, nil, p.fail(err)
		}
	}
	if err := p.record(); err != nil {
		return p, nil, p.fail(err)
	}
	return p, nil, nil
}

func (p *push) aborted() *flow.Aborted {
	return &flow.Aborted{ProjectName: p.Local.Name, Project: p.destination, Origin: p.hub.Origin()}
}

// confirmIgnored asks once for each destination whether files that git ignores are pushed there.
func (p *push) confirmIgnored(ctx context.Context) (bool, error) {
	if p.ConfirmIgnored == nil || p.files == nil || len(p.files.GitIgnored) == 0 {
		return true, nil
	}
	question := flow.IgnoredConsent(p.hub.Origin(), p.destination)
	if p.Kept.Consented(question) {
		return true, nil
	}
	yes, err := p.ConfirmIgnored(ctx, Ignored{p.destination, p.hub.Origin(), p.files.GitIgnored})
	if yes {
		if err := p.Kept.Consent(question); err != nil {
			p.result.Notes = append(p.result.Notes, "the answer could not be remembered: "+err.Error())
		}
	}
	return yes, err
}

// prepare does all that needs no answer of the hub. Failures come in the order of
// their stages: read, destination, then the token's.
func prepare(ctx context.Context, o Options) (*push, error) {
	p := &push{Options: o}
	if err := p.read(); err != nil {
		return p, failure.At(flow.StageRead, err)
	}
	// Files take their time: a connection to a hub that is far is opened meanwhile.
	wayErr := p.findWay()
	if o.What.files() {
		var err error
		if p.files, err = flow.ChooseFiles(ctx, o.Local, p.client, o.Files); err != nil {
			return p, failure.At(flow.StageRead, err)
		}
	}
	if wayErr != nil {
		return p, wayErr
	}
	p.result = &Result{
		ProjectName: o.Local.Name, Project: p.destination, Origin: p.hub.Origin(), Notes: []string{},
	}
	if p.files != nil {
		p.result.Notes = append(p.result.Notes, p.files.Notes...)
	}
	return p, nil
}

func (p *push) read() (err error) {
	if p.client, err = flow.ReadClient(p.Local, p.Warn); err != nil {
		return err
	}
	if p.What.config() {
		p.config, p.body, err = flow.ReadConfig(p.client)
	}
	return err
}

// findWay finds out where the push goes, and has the connection opened ahead where
// files have to be read first.
func (p *push) findWay() (err error) {
	if p.destination, err = flow.Destination(p.Local, p.client, p.Options.Destination); err != nil {
		e := failure.Of(err)
		if e.Code == failure.CodeNoDestination {
			e = e.WithHint("name it with --project, as @account/slug, or create one").
				Try(cmdline.Tool("project", "create").With(workspace.SlugOf(p.Local.Name)).Flag("--from", p.Local.Name))
		}
		return failure.At(flow.StageDestination, e)
	}
	if p.hub, err = p.Connect(); err != nil {
		return failure.At(flow.StagePush, err)
	}
	if p.What.files() {
		p.hub.Dial()
	}
	return nil
}

// fail adds to a failure what had happened by then.
func (p *push) fail(err error) error {
	e := failure.Of(failure.At(flow.StagePush, p.explain(err)))
	e.Project, e.Effects = p.destination, p.done
	if p.hub != nil {
		e.Origin = p.hub.Origin()
	}
	return e
}

// explain adds the next command to what the hub said.
func (p *push) explain(err error) error {
	if p.hub == nil {
		return err
	}
	e := failure.Of(p.hub.Fault(err))
	switch {
	case e.Code == wire.CodeNotFound:
		e.Reason = fmt.Errorf("there is no project %s on %s", p.destination, p.hub.Origin())
		e.Hint = "push only updates: create it first"
		e.Recipe = []cmdline.Line{cmdline.Tool("project", "create").With(p.destination.String()).Flag("--from", p.Local.Name)}
	case e.Code == wire.CodeRevisionChanged && e.Recipe == nil && p.IfRevision != "":
		e.Recipe = []cmdline.Line{p.dryRunLine()}
	case p.saved != nil:
		e.Hint = "the push may have been applied; if so, this puts the former config back: " + p.Typed.Text(p.undoLine())
	case p.done.ConfigWritten && p.What == ConfigAndFiles && !p.done.BaseFilesWritten && !flow.IsInterrupted(err):
		e.Hint = "the config went through, the base files did not"
		e.Recipe = []cmdline.Line{p.line("push").Flag("--base-files-only")}
	}
	return e
}

// line is a command about the local project and the same hub project.
func (p *push) line(command string) cmdline.Line {
	l := cmdline.Tool(command).With(p.Local.Name)
	if p.Options.Destination != nil {
		l = l.Flag("--project", p.destination.String())
	}
	return l
}

// record writes the destination into client.json, when it was given and all went through.
func (p *push) record() error {
	if p.Options.Destination == nil || p.NoRecord {
		return nil
	}
	former := p.client.Project.Text
	changed, err := p.client.Record("project", p.destination.String())
	if err != nil {
		e := failure.Of(err)
		return e.WithHint("the push went through; %s", e.Hint)
	}
	p.done.RemoteWritten, p.result.RemoteWritten = changed, changed
	if changed {
		note := "the destination was recorded in " + p.Local.ClientPath()
		if former != "" {
			note += " (was " + former + ")"
		}
		p.result.Notes = append(p.result.Notes, note)
	}
	return nil
}

// confirmFiles asks whether base files are pushed, where that is asked and they
// would change.
func (p *push) confirmFiles(ctx context.Context) (bool, error) {
	if p.ConfirmFiles == nil || !p.What.files() {
		return true, nil
	}
	planned, err := p.planFiles(ctx)
	if err != nil || len(planned.Added)+len(planned.Changed)+len(planned.Removed) == 0 {
		return err == nil, err
	}
	return p.ConfirmFiles(ctx, Files{ProjectName: p.Local.Name, Project: p.destination, Origin: p.hub.Origin(), Planned: planned})
}

func (p *push) pushFiles(ctx context.Context) error {
	if err := flow.KeepModes(ctx, p.hub, p.destination, p.files); err != nil {
		return err
	}
	last := p.Revisions.LastFiles(p.hub.Origin(), p.destination)
	w, err := p.files.Send(p.Files.Report, last, func(files hubclient.FileSet) (*wire.BaseFilesWritten, error) {
		return p.hub.PutBaseFiles(ctx, p.destination, files)
	})
	if err != nil {
		return err
	}
	if last.Digest != p.files.Digest {
		p.Revisions.SaveFiles(p.hub.Origin(), p.destination, p.files.Snapshot)
	}
	p.done.BaseFilesWritten = true
	p.result.BaseFilesPushed = w.BaseFilesPushed
	p.result.FilesResult = &FilesResult{
		Added: w.Added, Changed: w.Changed, Removed: w.Removed, Uploaded: w.Uploaded,
		Skipped: p.files.Links + p.files.Others, Bytes: w.BytesReceived,
	}
	return nil
}

// diff compares the hub's config with the local one.
func (p *push) diff(current jsontext.Value) (flat.Difference, error) {
	config, err := flat.Parse(current)
	if err != nil {
		return flat.Difference{}, &hubclient.Error{Code: hubclient.CodeNotAHub, Detail: "the hub's config cannot be read: " + err.Error()}
	}
	return flat.Diff(config, p.config), nil
}
