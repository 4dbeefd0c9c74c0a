package push

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// planned is what a push will do: a dry run prints it, the questions show it, and apply carries it
// out. What differs in the base files is computed only for a dry run or a question; in the config also for a note,
// if the hub answers soon.
type planned struct {
	app.About       `json:",inline"`
	Revision        string           `json:"revision"` // of the hub's config, for --if-revision
	HasConfig       bool             `json:"hasConfig"`
	EnrichmentCount int              `json:"enrichmentCount"`
	Config          *flat.Difference `json:"config"`    // null: no config is sent
	Mine            *flat.Difference `json:"mine"`      // of config; null: it is not known whose edits are undone
	Theirs          *Undone          `json:"theirs"`    // of config; null as Mine
	BaseFiles       *FilesPlan       `json:"baseFiles"` // null: no base files are sent
	Authorized      bool             `json:"authorized"`
	app.Noted       `json:",inline"`

	same     *wire.ConfigWritten // the hub's answer if it has this config already, else nil
	current  *wire.Config        // the config that is replaced; nil: none, or the hub has what is sent
	findings []wire.FieldError   // of the hub about what is sent, for the question
	damaged  bool                // the hub's config is damaged, and cannot be compared
	match    string              // the only revision that is replaced, "": any
}

// FilesPlan is what a push will do to the base files.
type FilesPlan struct {
	Tree            string `json:"tree"` // of the hub's base files, for --if-tree; "": there are none
	Count           int    `json:"count"`
	Bytes           int64  `json:"bytes"`
	tree.Difference `json:",inline"`
	Skipped         []basefiles.Skip `json:"skipped"`
	GitIgnored      []string         `json:"gitIgnored"` // files of the set that git ignores

	upload   *hubclient.Upload
	stored   wire.BaseFiles // the hub's, if they are compared
	onlyTree bool           // nothing but Tree is replaced
}

// noRevision is the --if-revision of a project whose config is empty, and the --if-tree of one
// without base files.
const noRevision = "none"

// plan finds out what the push will do to the config and, at the same time, to the base files. The
// failure of a condition is revision_changed or would_undo_edits.
func (p *push) plan(ctx context.Context) (*planned, error) {
	plan := &planned{About: p.About()}
	group, ctx := errgroup.WithContext(ctx)
	if p.opts.config() {
		group.Go(func() error { return p.planConfig(ctx, plan, p.config.Revision()) })
	}
	if p.opts.files() {
		plan.Notes = slices.Concat(plan.Notes, p.files.Notes)
		group.Go(func() error { return p.planFiles(ctx, plan) })
	}
	return plan, group.Wait()
}

// noteTime is how long a push that asks nothing may take to find out whose edits it undoes.
const noteTime = 2 * time.Second

// planConfig plans for the hub's current config, which is not sent if its revision is have.
func (p *push) planConfig(ctx context.Context, plan *planned, have string) (err error) {
	own := p.config.Revision()
	pushedLast := p.App.SyncState().Last(plan.Origin, p.Project) == own
	likelySame := !p.opts.DryRun && have == own && pushedLast
	check := sync.OnceValues(func() (*wire.ConfigWritten, error) {
		return p.Hub.CheckConfig(ctx, p.Project, p.body, "")
	})
	if p.asks || likelySame { // for the question, or because there is probably nothing to write
		go func() { _, _ = check() }()
	}
	plan.current = nil // an outdated plan is planned again
	plan.Config, plan.Mine, plan.Theirs = &flat.Difference{}, &flat.Difference{}, &Undone{}
	plan.match = p.opts.IfRevision.String()
	if plan.match == noRevision {
		plan.match = flat.Config{}.Revision()
	}
	current, err := p.Hub.Config(ctx, p.Project, have)
	plan.damaged = hubclient.HasCode(err, wire.CodeDamaged)
	if plan.damaged && p.opts.Force && !p.opts.DryRun {
		return nil
	}
	if err != nil {
		return p.explainDamaged(err)
	}
	if current == nil || current.Revision == own { // perhaps since an earlier run, with the same --if-revision
		plan.match, plan.Revision, plan.HasConfig = own, own, p.config.Len() > 0
		if !p.asks && !likelySame {
			return nil
		}
		w, err := check()
		if err == nil && (w.Replaced == nil || w.Replaced.Revision == own) {
			plan.same = w
		}
		return err
	}
	plan.current, plan.Revision, plan.HasConfig = current, current.Revision, current.HasConfig
	switch {
	case plan.match != "" && plan.match != current.Revision:
		e := p.refuse(wire.CodeRevisionChanged, current, "the config of %s is not the revision that --if-revision names",
			p.Project)
		if current.UpdatedBy != "" {
			e = e.WithHint("%s wrote it %s: look at the difference before you push", current.UpdatedBy,
				app.Ago(current.UpdatedAt))
		}
		return e.Try(p.dryRunLine())
	case p.opts.NoClobber:
		if err := p.checkClobber(ctx, current); err != nil {
			return err
		}
	}
	if p.opts.NoClobber || p.asks { // what was checked, or shown, is what is overwritten
		plan.match = current.Revision
	}
	if p.asks {
		w, err := check()
		if hubclient.HasCode(err, wire.CodeSettingsInvalid, wire.CodeSecretFound) {
			return err
		}
		if err == nil { // the push itself meets any other failure
			plan.findings = w.Findings
		}
	}
	forNote := !p.asks && !p.opts.DryRun
	if forNote { // it delays no push for long, and its failure ends none
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, noteTime)
		defer cancel()
	}
	theirs, err := p.ParseConfig(current.Config)
	if err == nil {
		*plan.Config = flat.Diff(theirs, p.config)
		plan.Mine, plan.Theirs, err = p.split(ctx, *plan.Config, theirs, current)
	}
	if forNote {
		return nil
	}
	return err
}

// explainDamaged adds to a failure to read the hub's config how to replace a damaged one. That
// needs --force, because it cannot be shown what is replaced.
func (p *push) explainDamaged(err error) error {
	if !hubclient.HasCode(err, wire.CodeDamaged) {
		return err
	}
	line := p.Line("push").Flag("--force")
	if p.opts.Files {
		line = line.Flag("--base-files")
	}
	return failure.Of(p.Hub.Fault(err)).WithHint("a push with --force replaces it").Try(line)
}

// refuse returns a failure that says who wrote the other config, and what
// pushing would change.
func (p *push) refuse(code wire.Code, current *wire.Config, format string, args ...any) failure.Failure {
	e := failure.New(code, format, args...)
	e.Current = &current.Edit
	if theirs, err := p.ParseConfig(current.Config); err == nil {
		diff := flat.Diff(theirs, p.config)
		e.Config = &diff
	}
	return e
}

// planFiles plans for the hub's current base files. It asks the hub only for a question, a dry run or a condition,
// or if much has changed since the last push.
func (p *push) planFiles(ctx context.Context, plan *planned) (err error) {
	if err := app.KeepModes(ctx, p.Hub, p.Project, p.files); err != nil {
		return err
	}
	set := p.files.Set(p.blobs, p.transfer.Update, p.last)
	set.All = p.opts.Force && !p.opts.Watch
	f := &FilesPlan{
		Count: len(p.files.Tree), Bytes: p.files.Bytes, Skipped: p.files.Skipped, upload: p.Hub.Upload(p.Project, set),
	}
	plan.BaseFiles = f
	compares := p.asks || p.opts.DryRun || p.opts.NoClobber || p.opts.IfTree.Given()
	if p.opts.DryRun { // a dry run needs no right to write
		view, err := p.Hub.Project(ctx, p.Project)
		if err != nil {
			return err
		}
		if view.BaseFiles != nil {
			f.Tree = view.BaseFiles.Tree
		}
	} else if compares || f.upload.NeedsPlan() {
		if f.Tree, _, err = f.upload.Plan(ctx); err != nil {
			return err
		}
	}
	if !compares || f.Tree == p.files.Digest { // perhaps since an earlier run, with the same --if-tree
		return nil
	}
	f.onlyTree = true
	present := cmp.Or(f.Tree, noRevision)
	switch {
	case p.opts.IfTree.Given() && p.opts.IfTree.String() != present:
		return failure.New(wire.CodeRevisionChanged, "the base files of %s are not those that --if-tree names, but %s",
			p.Project, present).
			Try(p.dryRunLine().Flag("--base-files-only"))
	case p.opts.NoClobber:
		if err := p.checkFilesClobber(ctx, f.Tree); err != nil {
			return err
		}
	}
	if p.asks || p.opts.DryRun {
		return p.compareFiles(ctx, f)
	}
	return nil
}

// compareFiles compares the hub's base files with those that are sent. It does not request the hub's list if the
// last push or pull here recorded it.
func (p *push) compareFiles(ctx context.Context, f *FilesPlan) error {
	if f.Tree != "" && f.Tree == p.last.Digest {
		f.stored.Tree, f.stored.Files = f.Tree, p.last.Tree
	}
	if f.Tree != "" && f.stored.Files == nil {
		set, err := p.Hub.BaseFiles(ctx, p.Project)
		if err != nil {
			return err
		}
		f.stored = wire.BaseFiles{}
		if set != nil { // nil: they are gone since
			f.stored = *set
		}
		f.Tree = f.stored.Tree
	}
	f.Difference = tree.Diff(f.stored.Files, p.files.Tree)
	return nil
}

// dryRun returns what a push would do, with what the hub says about it, and changes nothing.
func (p *push) dryRun(ctx context.Context) (*planned, error) {
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	plan, err := p.plan(ctx)
	if err != nil {
		return nil, err
	}
	limits, err := p.Hub.Limits(ctx)
	if err != nil && !app.IsNotFound(err) { // not every hub publishes its limits
		return nil, err
	}
	me, err := p.Hub.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	plan.Authorized = me.WritesTo(p.Hub.PresentName(p.Project)) && me.Has(wire.ScopeWriteConfig)
	if p.opts.config() {
		plan.EnrichmentCount = p.config.EnrichmentCount()
		err = p.checkConfig(ctx, plan, limits)
	} else {
		var current *wire.Config
		if current, err = p.Hub.Config(ctx, p.Project, ""); err == nil {
			plan.Revision, plan.HasConfig = current.Revision, current.HasConfig
		}
		err = p.explainDamaged(err)
	}
	if err != nil || p.files == nil {
		return plan, err
	}
	if err := basefiles.CheckLimits(p.files.Tree, limits); err != nil {
		return nil, failure.New(wire.CodeTooLarge, "%s would refuse the base files: %w", plan.Origin, err)
	}
	sensitive := p.sensitive()
	plan.BaseFiles.GitIgnored = sensitive.Ignored
	if note := sensitive.Note("base file", "base files", app.SeeToolignore); note != "" {
		plan.Note("%s", note)
	}
	if err := p.refuseSecrets(); err != nil {
		plan.Note("%v, which a pipeline refuses without --allow-secrets", err)
	}
	return plan, nil
}

// checkConfig asks the hub whether it would accept the config. If the token may not write
// it, only the hub's limits are checked.
func (p *push) checkConfig(ctx context.Context, plan *planned, limits wire.Limits) error {
	if plan.Authorized {
		checked, err := p.Hub.CheckConfig(ctx, p.Project, p.body, "")
		if err == nil {
			plan.Notes = slices.Concat(plan.Notes, app.FindingNotes(checked.Findings), p.App.WithdrawnNotes(checked))
		}
		return err
	}
	err := p.config.Check(flat.Limits{Bytes: limits.ConfigBytes, Keys: limits.ConfigKeys, Depth: limits.ConfigDepth})
	if err != nil {
		return failure.New(wire.CodeTooLarge, "%s would refuse the config: %w", plan.Origin, err)
	}
	return nil
}
