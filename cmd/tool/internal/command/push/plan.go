package push

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Plan is what a push will do: a dry run prints it, the questions show it, and apply does it. A
// push that neither asks nor has a condition does not find out what changes.
type Plan struct {
	ProjectName     string           `json:"projectName"`
	Env             string           `json:"environment,omitzero"`
	Project         ref.Ref          `json:"project"`
	Origin          string           `json:"origin"`
	Revision        string           `json:"revision"` // of the hub's config, for --if-revision
	HasConfig       bool             `json:"hasConfig"`
	EnrichmentCount int              `json:"enrichmentCount"`
	Config          *flat.Difference `json:"config"`    // null: no config is sent
	BaseFiles       *FilesPlan       `json:"baseFiles"` // null: no base files are sent
	Authorized      bool             `json:"authorized"`
	Notes           []string         `json:"notes"`

	current *wire.Config // that is replaced; nil: none, or the hub has exactly what is sent
	damaged bool         // the hub's config, which cannot be compared
	match   string       // the only revision that is replaced, "": any
}

// FilesPlan is what a push will do to the base files.
type FilesPlan struct {
	Tree    string           `json:"tree"` // of the hub's base files, for --if-tree; "": there are none
	Count   int              `json:"count"`
	Bytes   int64            `json:"bytes"`
	Added   []string         `json:"added"`
	Changed []string         `json:"changed"`
	Removed []string         `json:"removed"`
	Skipped []basefiles.Skip `json:"skipped"`

	GitIgnored []string `json:"gitIgnored"` // files of the set that git ignores

	stored *wire.BaseFiles // the hub's, if they are compared
	only   bool            // only Tree is replaced
}

// noRevision is the --if-revision of a project whose config is empty, and the --if-tree of one
// without base files.
const noRevision = "none"

// plan finds out what the push will do. The failure of a condition is revision_changed or
// would_undo_edits.
func (p *push) plan(ctx context.Context) (*Plan, error) {
	plan := &Plan{
		ProjectName: p.local.Name, Env: p.local.Env, Project: p.destination, Origin: p.hub.Origin(), Notes: []string{},
	}
	if p.opts.config() {
		if err := p.planConfig(ctx, plan, p.config.Revision()); err != nil {
			return nil, err
		}
	}
	if p.opts.files() {
		plan.Notes = append(plan.Notes, p.files.Notes...)
		if err := p.planFiles(ctx, plan); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// planConfig plans for the hub's config as it is now. If its revision is have, the hub need not
// send it.
func (p *push) planConfig(ctx context.Context, plan *Plan, have string) error {
	plan.Config, plan.current, plan.match = &flat.Difference{}, nil, p.opts.IfRevision.String()
	if plan.match == noRevision {
		plan.match = flat.Config{}.Revision()
	}
	current, err := p.hub.Config(ctx, p.destination, have)
	if plan.damaged = hubclient.HasCode(err, wire.CodeDamaged); plan.damaged && p.opts.Force && !p.opts.DryRun {
		return nil
	}
	if err != nil {
		return p.explainDamaged(err)
	}
	own := p.config.Revision()
	if current == nil || current.Revision == own { // perhaps since an earlier run, with the same --if-revision
		plan.match, plan.Revision, plan.HasConfig = own, own, p.config.Len() > 0
		return nil
	}
	plan.current, plan.Revision, plan.HasConfig = current, current.Revision, current.HasConfig
	switch {
	case plan.match != "" && plan.match != current.Revision:
		return p.otherRevision(current)
	case p.opts.NoClobber:
		if err := p.checkClobber(ctx, current); err != nil {
			return err
		}
	}
	if p.opts.NoClobber || p.asks { // what was checked, or shown, is what is overwritten
		plan.match = current.Revision
	}
	if p.asks || p.opts.DryRun {
		diff, err := p.diff(current.Config)
		if err != nil {
			return err
		}
		plan.Config = &diff
	}
	return nil
}

// explainDamaged adds to a failure to read the hub's config how to replace a damaged one. That
// needs --force, because nothing can be shown of what is replaced.
func (p *push) explainDamaged(err error) error {
	if !hubclient.HasCode(err, wire.CodeDamaged) {
		return err
	}
	line := p.line("push").Flag("--force")
	if p.opts.Files {
		line = line.Flag("--base-files")
	}
	return failure.Of(p.hub.Fault(err)).WithHint("a push with --force replaces it").Try(line)
}

// otherRevision is the failure of --if-revision where the hub has another one.
func (p *push) otherRevision(current *wire.Config) error {
	e := p.refuse(wire.CodeRevisionChanged, current, "the config of %s is not the revision that --if-revision names",
		p.destination)
	if current.UpdatedBy != "" {
		e.Hint = fmt.Sprintf("%s wrote it %s: look at the difference before you push", current.UpdatedBy,
			app.Ago(current.UpdatedAt))
	}
	return e.Try(p.dryRunLine())
}

// refuse returns a failure that says who wrote the other config, and what
// pushing would change.
func (p *push) refuse(code wire.Code, current *wire.Config, format string, args ...any) failure.Failure {
	e := failure.New(code, format, args...)
	e.Current = &current.Edit
	if diff, err := p.diff(current.Config); err == nil {
		e.Config = &diff
	}
	return e
}

// diff compares the hub's config with the local one.
func (p *push) diff(current jsontext.Value) (flat.Difference, error) {
	config, err := p.parse(current)
	if err != nil {
		return flat.Difference{}, err
	}
	return flat.Diff(config, p.config), nil
}

// parse reads a config of the hub.
func (p *push) parse(text jsontext.Value) (flat.Config, error) {
	config, err := flat.Parse(text)
	if err != nil {
		err = &hubclient.Error{Code: hubclient.CodeNotAHub, Detail: "the hub's config cannot be read: " + err.Error()}
	}
	return config, err
}

// planFiles plans for the hub's base files as they are now, if they decide what happens.
func (p *push) planFiles(ctx context.Context, plan *Plan) error {
	if err := app.KeepModes(ctx, p.hub, p.destination, p.files); err != nil {
		return err
	}
	f := &FilesPlan{Count: len(p.files.Tree), Bytes: p.files.Bytes, Skipped: p.files.Skipped, stored: &wire.BaseFiles{}}
	plan.BaseFiles = f
	if !p.asks && !p.opts.DryRun && !p.opts.NoClobber && !p.opts.IfTree.Given() {
		return nil
	}
	view, err := p.hub.Project(ctx, p.destination)
	if err != nil {
		return err
	}
	if view.BaseFiles != nil {
		f.Tree = view.BaseFiles.Tree
	}
	if f.Tree == p.files.Digest { // perhaps since an earlier run, with the same --if-tree
		return nil
	}
	f.only = true
	only := p.opts.IfTree.String()
	if only == noRevision {
		only = ""
	}
	switch {
	case p.opts.IfTree.Given() && only != f.Tree:
		present := f.Tree
		if present == "" {
			present = noRevision
		}
		return failure.New(wire.CodeRevisionChanged, "the base files of %s are not those that --if-tree names, but %s",
			p.destination, present).
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

// compareFiles compares the hub's base files with those that are sent. Where they are those that
// were last pushed or pulled here, the hub need not list them.
func (p *push) compareFiles(ctx context.Context, f *FilesPlan) error {
	if f.Tree != "" && f.Tree == p.last.Digest {
		f.stored.Tree, f.stored.Files = f.Tree, p.last.Files()
	}
	if f.Tree != "" && f.stored.Files == nil {
		set, err := p.hub.BaseFiles(ctx, p.destination)
		if err != nil {
			return err
		}
		if set == nil { // they are gone since
			set = &wire.BaseFiles{}
		}
		f.stored, f.Tree = set, set.Tree
	}
	d := tree.Diff(f.stored.Files, p.files.Tree)
	f.Added, f.Changed, f.Removed = d.Added, d.Changed, d.Removed
	return nil
}

// dryRun returns what a push would do, with what the hub says of it, and changes nothing.
func (p *push) dryRun(ctx context.Context) (*Plan, error) {
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	plan, err := p.plan(ctx)
	if err != nil {
		return nil, err
	}
	limits, err := p.hub.Limits(ctx)
	if err != nil && !app.IsNotFound(err) { // not every hub publishes its limits
		return nil, err
	}
	me, err := p.hub.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	plan.Authorized = me.WritesTo(p.destination) && me.Has(wire.ScopeWriteConfig)
	if p.opts.config() {
		plan.EnrichmentCount = p.config.EnrichmentCount()
		if err := p.checkConfig(ctx, plan, limits); err != nil {
			return nil, err
		}
	} else {
		current, err := p.hub.Config(ctx, p.destination, "")
		if err != nil {
			return nil, p.explainDamaged(err)
		}
		plan.Revision, plan.HasConfig = current.Revision, current.HasConfig
	}
	if p.files == nil {
		return plan, nil
	}
	if err := basefiles.CheckLimits(p.files.Tree, limits); err != nil {
		return nil, failure.New(wire.CodeTooLarge, "%s would not take the base files: %w", p.hub.Origin(), err)
	}
	sensitive := p.sensitive()
	plan.BaseFiles.GitIgnored = sensitive.Ignored
	if note := sensitive.Note("base file", "base files", app.SeeToolignore); note != "" {
		plan.Notes = append(plan.Notes, note)
	}
	secrets := p.files.Secrets(p.last, p.opts.AllowSecrets)
	if err := app.RefuseSecrets(secrets, p.opts.AllowSecrets, p.filesLine()); err != nil {
		plan.Notes = append(plan.Notes, err.Error()+", which a pipeline refuses without --allow-secrets")
	}
	return plan, nil
}

// checkConfig asks the hub whether it would accept the config. If the token may not write
// it, only the hub's limits are checked.
func (p *push) checkConfig(ctx context.Context, plan *Plan, limits wire.Limits) error {
	if plan.Authorized {
		checked, err := p.hub.CheckConfig(ctx, p.destination, p.body, "")
		if err == nil {
			plan.Notes = append(plan.Notes, app.FindingNotes(checked.Findings)...)
			plan.Notes = append(plan.Notes, p.app.WithdrawnNotes(checked)...)
		}
		return err
	}
	err := p.config.Check(flat.Limits{Bytes: limits.ConfigBytes, Keys: limits.ConfigKeys, Depth: limits.ConfigDepth})
	if err != nil {
		return failure.New(wire.CodeTooLarge, "%s would not take it: %w", p.hub.Origin(), err)
	}
	return nil
}
