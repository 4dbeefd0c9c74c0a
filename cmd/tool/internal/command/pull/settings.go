package pull

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// planSettings merges the hub's config with the local settings. A person chooses between the
// sides of conflicts.
func (p *pull) planSettings(ctx context.Context, plan *plan) error {
	current, err := p.Hub.Config(ctx, p.Project, "")
	if err != nil {
		return err
	}
	if p.isNew && !current.HasConfig {
		plan.edits, err = p.Client.Plan(flat.Config{})
		return err
	}
	plan.current = current
	if !current.HasConfig {
		f := failure.New(failure.CodeNoConfig, "%s holds no config on %s", p.Project, p.Hub.Origin())
		if p.opts.files() {
			return f.Try(p.Line("pull").Flag("--base-files-only"))
		}
		return f.Try(p.Line("push"))
	}
	if plan.config, err = p.ParseConfig(current.Config); err != nil {
		return err
	}
	if err := plan.config.Check(workspace.ConfigLimits); err != nil {
		return failure.New(wire.CodeTooLarge,
			"the config of %s on %s cannot be pulled: %w", p.Project, p.Hub.Origin(), err).
			WithHint("nothing was changed; make the config smaller on the project's page")
	}
	if p.opts.Force {
		plan.merged = plan.config
	} else if err := p.merge(ctx, plan); err != nil {
		return err
	}
	r := plan.result
	r.Revision = current.Revision
	r.UpdatedBy = current.UpdatedBy
	r.UpdatedAt = current.UpdatedAt
	r.UpdatedVia = current.UpdatedVia
	r.EnrichmentCount = plan.merged.EnrichmentCount()
	r.Changes = flat.Diff(p.Settings, plan.merged)
	r.KeysTaken = len(r.Changes)
	r.KeysKept = len(flat.Diff(plan.config, plan.merged))
	r.Merged = r.KeysKept > 0
	plan.edits, err = p.Client.Plan(plan.merged)
	return err
}

// merge fills in what client.json is to have, and which keys are in conflict.
func (p *pull) merge(ctx context.Context, plan *plan) (err error) {
	plan.base, err = p.findBase(ctx, plan)
	if err != nil {
		return err
	}
	side := flat.Mine
	if p.opts.Theirs {
		side = flat.Theirs
	}
	choose := func(flat.Conflict) flat.Side { return side }
	plan.merged, plan.Conflicts = flat.Merge(plan.base, p.Settings, plan.config, choose)
	switch {
	case len(plan.Conflicts) == 0 || p.opts.Mine || p.opts.Theirs:
		return nil
	case !p.asks:
		return p.conflictFailure(plan)
	}
	sides, err := p.askConflicts(ctx, plan)
	if err != nil {
		return err
	}
	plan.chosen = true
	n := 0
	plan.merged, _ = flat.Merge(plan.base, p.Settings, plan.config, func(flat.Conflict) flat.Side {
		n++
		return sides[n-1] // conflicts come in the same order as before
	})
	return nil
}

// findBase returns the config that both sides come from, nil when it is not known: then every
// difference is a conflict, and nothing is lost.
func (p *pull) findBase(ctx context.Context, plan *plan) (*flat.Config, error) {
	if p.Settings.Len() == 0 {
		return &flat.Config{}, nil // there is nothing to lose
	}
	local := p.Settings.Revision()
	base, err := p.BaseRevision(ctx, p.bases, p.Settings)
	if err != nil {
		return nil, err
	}
	if base == "" {
		if p.App.SyncState().Last(p.Hub.Origin(), p.Project) == local {
			return &p.Settings, nil
		}
		return nil, nil
	}
	switch base {
	case local:
		return &p.Settings, nil
	case plan.current.Revision:
		return &plan.config, nil
	}
	return p.ConfigAt(ctx, base)
}

// askConflicts asks which side of each conflict to take.
func (p *pull) askConflicts(ctx context.Context, plan *plan) ([]flat.Side, error) {
	q := prompts.Merge{
		Title:     fmt.Sprintf("Which values should %s have?", p.Local.ClientPath()),
		Facts:     p.facts(plan),
		Conflicts: plan.Conflicts,
	}
	if plan.base == nil {
		q.Facts = append(q.Facts, p.unknownBase())
	}
	// Until sides are chosen, merged has the local values of all conflicts.
	if others := flat.Diff(p.Settings, plan.merged); !others.Empty() {
		q.Facts = append(q.Facts, "Also    "+app.DifferenceSummary(others)+" by the hub, without a conflict")
	}
	sides, err := p.App.UI.Merge(ctx, q)
	return sides, app.Agreed(sides != nil, err)
}

// facts say in a question what is pulled.
func (p *pull) facts(plan *plan) []string {
	return append(p.App.EnvironmentFact(p.Local, p.Hub.Origin()),
		"Config  "+p.Project.String()+", "+app.Edit(plan.current.Edit))
}

func (p *pull) unknownBase() string {
	return fmt.Sprintf("the config that %s comes from is not known, so every difference is a conflict",
		p.Local.ClientPath())
}

// conflictFailure is the failure of a merge whose conflicts nobody resolves.
func (p *pull) conflictFailure(plan *plan) error {
	n := len(plan.Conflicts)
	f := failure.New(failure.CodeConflict, "%s changed differently in %s and on the hub",
		app.Count(n, "key was", "keys were"), p.Local.ClientPath())
	if plan.base == nil {
		f = f.WithReason("%s; %s", app.Count(n, "key differs", "keys differ"), p.unknownBase())
	}
	f.Current, f.Conflicts = &plan.current.Edit, plan.Conflicts
	return f.WithHint("nothing was changed: keep your values with --mine, take the hub's with --theirs, " +
		"or run it in a terminal to choose key by key").
		Try(p.Line("diff"))
}

// confirmSettings asks whether client.json may be changed.
func (p *pull) confirmSettings(ctx context.Context, plan *plan) error {
	q := prompts.Overwrite{
		Title:      fmt.Sprintf("Replace the settings in %s?", p.Local.ClientPath()),
		Facts:      p.facts(plan),
		Yes:        "Replace them",
		Difference: plan.Changes,
	}
	if plan.Merged {
		q.Title, q.Yes = fmt.Sprintf("Merge the hub's changes into %s?", p.Local.ClientPath()), "Merge them"
		q.Facts = append(q.Facts, "Kept    "+app.Count(plan.KeysKept, "local change", "local changes"))
	}
	return app.Agreed(p.App.UI.Overwrite(ctx, q))
}

// appRoot returns the app root according to the settings that are written, or according to
// client.json if no config is pulled. It does not trust the former: they are from everyone who may
// write to the project.
func (p *pull) appRoot(plan *plan) (string, error) {
	if plan.current == nil {
		return p.Client.AppRoot()
	}
	text, ok := plan.merged.Get("basePath")
	if !ok {
		return ".", nil
	}
	basePath, err := jsontext.AppendUnquote(nil, text)
	if err != nil { // not a string: the next push says so, with its position
		return ".", nil
	}
	root, err := p.Local.Workspace.AppRootOf(string(basePath))
	if err != nil {
		f := failure.Of(err)
		return "", f.WithReason("the config of %s cannot be pulled: basePath: %w", p.Project, f.Reason)
	}
	return root, nil
}
