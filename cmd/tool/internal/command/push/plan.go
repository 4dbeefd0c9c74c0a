package push

import (
	"context"
	"errors"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Planned is what a push would do.
type Planned struct {
	ProjectName     string           `json:"projectName"`
	Env             string           `json:"environment,omitzero"`
	Project         ref.Ref          `json:"project"`
	Origin          string           `json:"origin"`
	Revision        string           `json:"revision"` // of the hub's config, for --if-revision
	HasConfig       bool             `json:"hasConfig"`
	EnrichmentCount int              `json:"enrichmentCount"`
	Config          *flat.Difference `json:"config"`    // null: no config would be sent
	BaseFiles       *PlannedFiles    `json:"baseFiles"` // null: no base files would be sent
	Authorized      bool             `json:"authorized"`
	Notes           []string         `json:"notes"`
}

// PlannedFiles is what a push would do to the base files.
type PlannedFiles struct {
	Tree    string           `json:"tree"` // of the hub's base files, for --if-tree; "": there are none
	Count   int              `json:"count"`
	Bytes   int64            `json:"bytes"`
	Added   []string         `json:"added"`
	Changed []string         `json:"changed"`
	Removed []string         `json:"removed"`
	Skipped []basefiles.Skip `json:"skipped"`

	GitIgnored []string `json:"gitIgnored"` // files of the set that git ignores
}

// changesNothing reports that the hub has already what would be pushed.
func (p *Planned) changesNothing() bool {
	return (p.Config == nil || p.Config.Empty()) && (p.BaseFiles == nil || p.BaseFiles.unchanged())
}

func (f *PlannedFiles) unchanged() bool { return len(f.Added)+len(f.Changed)+len(f.Removed) == 0 }

// planAll returns what a push would do, and changes nothing.
func (p *push) planAll(ctx context.Context) (*Planned, error) {
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	p.noteIgnored("base file", "base files")
	planned, err := p.plan(ctx)
	if err == nil && p.files != nil {
		if err := app.RefuseSecrets(p.files.Secrets(p.last, p.opts.AllowSecrets), p.opts.AllowSecrets, p.filesLine()); err != nil {
			planned.Notes = append(planned.Notes, err.Error()+", which a pipeline refuses without --allow-secrets")
		}
	}
	return planned, err
}

func (p *push) plan(ctx context.Context) (*Planned, error) {
	current, err := p.hub.Config(ctx, p.destination, "")
	if err != nil {
		return nil, p.explainDamaged(err)
	}
	planned := &Planned{
		ProjectName: p.local.Name, Env: p.local.Env, Project: p.destination, Origin: p.hub.Origin(),
		Revision: current.Revision, HasConfig: current.HasConfig, Notes: p.result.Notes,
	}
	limits, err := p.hub.Limits(ctx)
	if err != nil && !app.IsNotFound(err) { // not every hub publishes its limits
		return nil, err
	}
	if planned.Authorized, err = p.mayWrite(ctx); err != nil {
		return nil, err
	}
	if p.opts.config() {
		diff, err := p.diff(current.Config)
		if err != nil {
			return nil, err
		}
		planned.Config, planned.EnrichmentCount = &diff, p.config.EnrichmentCount()
		if err := p.checkConfig(ctx, planned, limits); err != nil {
			return nil, err
		}
		if current.Revision != p.config.Revision() {
			if only := p.onlyRevision(); only != "" && only != current.Revision {
				return nil, p.otherRevision(current)
			}
			if p.opts.NoClobber {
				if err := p.checkClobber(ctx, current); err != nil {
					return nil, err
				}
			}
		}
	}
	if p.opts.files() {
		if err := basefiles.CheckLimits(p.files.Tree, limits); err != nil { // the hub would refuse them
			return nil, failure.New(wire.CodeTooLarge, "%s would not take the base files: %w", p.hub.Origin(), err)
		}
		if planned.BaseFiles, err = p.planFiles(ctx); err != nil {
			return nil, err
		}
		if err := p.checkConditions(ctx); err != nil {
			return nil, err
		}
	}
	return planned, nil
}

// checkConfig asks the hub whether it would accept the config. If the token may not write
// it or the hub has no dry run, only the hub's limits are checked.
func (p *push) checkConfig(ctx context.Context, planned *Planned, limits wire.Limits) error {
	if planned.Authorized {
		checked, err := p.hub.CheckConfig(ctx, p.destination, p.body, "")
		if err == nil {
			planned.Notes = append(planned.Notes, app.FindingNotes(checked.Findings)...)
			planned.Notes = append(planned.Notes, p.app.WithdrawnNotes(checked)...)
		}
		if !hubclient.HasCode(err, hubclient.CodeUnsupportedByHub) {
			return err
		}
	}
	err := p.config.Check(flat.Limits{Bytes: limits.ConfigBytes, Keys: limits.ConfigKeys, Depth: limits.ConfigDepth})
	if err != nil {
		return failure.New(wire.CodeTooLarge, "%s would not take it: %w", p.hub.Origin(), err)
	}
	return nil
}

func (p *push) planFiles(ctx context.Context) (*PlannedFiles, error) {
	if err := app.KeepModes(ctx, p.hub, p.destination, p.files); err != nil {
		return nil, err
	}
	var there tree.Tree
	set, err := p.hub.BaseFiles(ctx, p.destination)
	if err != nil {
		return nil, err
	}
	p.stored = stored{}
	if set != nil {
		p.stored.tree = set.Tree
		if there, err = tree.New(set.Files); err != nil {
			return nil, errors.New("the hub's list of base files cannot be read: " + err.Error())
		}
	}
	diff := tree.Diff(there, p.files.Tree)
	return &PlannedFiles{
		Tree:  p.stored.tree,
		Count: len(p.files.Tree), Bytes: p.files.Bytes,
		Added: diff.Added, Changed: diff.Changed, Removed: diff.Removed, Skipped: p.files.Skipped,
		GitIgnored: p.sensitive().Ignored,
	}, nil
}

// mayWrite reports whether the token could push there.
func (p *push) mayWrite(ctx context.Context) (bool, error) {
	me, err := p.hub.Whoami(ctx)
	if err != nil {
		return false, err
	}
	return me.WritesTo(p.destination) && me.Has(wire.ScopeWriteConfig), nil
}
