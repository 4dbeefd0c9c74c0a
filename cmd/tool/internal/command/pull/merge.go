package pull

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/prompts"
)

// mergeSettings merges the hub's config with the local settings, and asks where it has to.
func (p *pull) mergeSettings(ctx context.Context) error {
	if p.opts.Force {
		p.merged = p.config
		return nil
	}
	base, err := p.findBase(ctx)
	if err != nil {
		return err
	}
	p.unknownBase = base == nil
	choose := func(flat.Conflict) flat.Side { return flat.Mine }
	if p.opts.Theirs {
		choose = func(flat.Conflict) flat.Side { return flat.Theirs }
	}
	merged, conflicts := flat.Merge(base, p.settings, p.config, choose)
	switch {
	case len(conflicts) == 0 || p.opts.Mine || p.opts.Theirs:
		p.merged, p.conflicts = merged, append(p.conflicts, conflicts...)
		return p.confirmMerge(ctx)
	case !p.asks:
		return p.conflictFailure(conflicts)
	}
	sides, err := p.askConflicts(ctx, merged, conflicts)
	if err != nil {
		return err
	}
	next := 0
	p.merged, p.conflicts = flat.Merge(base, p.settings, p.config, func(flat.Conflict) flat.Side {
		next++
		return sides[next-1]
	})
	return nil
}

// findBase returns the config that both sides come from, nil when it is not known.
func (p *pull) findBase(ctx context.Context) (*flat.Config, error) {
	local := p.settings.Revision()
	if p.settings.Len() == 0 {
		return &flat.Config{}, nil // there is nothing to lose
	}
	base := p.bases.Of(p.hub.Origin(), p.destination)
	switch {
	case base == nil && p.app.SyncState().Last(p.hub.Origin(), p.destination) == local:
		return &p.settings, nil
	case base == nil:
		return nil, nil
	case base.Revision == local:
		return &p.settings, nil
	case base.Revision == p.current.Revision:
		return &p.config, nil
	}
	kept, err := p.hub.ConfigRevision(ctx, p.destination, base.Revision)
	if err == nil {
		// By another config, local changes could pass for none and be lost.
		if config, err := flat.Parse(kept.Config); err == nil && config.Revision() == base.Revision {
			return &config, nil
		}
	} else if !refused(err) {
		return nil, err
	}
	return nil, nil
}

// refused reports that the hub does not have the revision, or not for the caller.
func refused(err error) bool {
	e, ok := errors.AsType[*hubclient.Error](err)
	return ok && e.Status >= http.StatusBadRequest && e.Status < http.StatusInternalServerError &&
		e.Status != http.StatusTooManyRequests
}

// confirmMerge asks whether client.json may be changed, where that is asked.
func (p *pull) confirmMerge(ctx context.Context) error {
	changes := flat.Diff(p.settings, p.merged)
	if changes.Empty() || !p.asks {
		return nil
	}
	q := prompts.Overwrite{
		Title: fmt.Sprintf("Replace the settings in %s?", p.local.ClientPath()),
		Facts: append(p.app.EnvironmentFact(p.local, p.hub.Origin()), p.configFact()),
		Yes:   "Replace them", Difference: changes,
	}
	if kept := flat.Diff(p.config, p.merged).Len(); kept > 0 {
		q.Title, q.Yes = fmt.Sprintf("Merge the hub's changes into %s?", p.local.ClientPath()), "Merge them"
		q.Facts = append(q.Facts, "Kept    "+app.Count(kept, "local change", "local changes"))
	}
	p.transfer.Hide()
	return app.Agreed(p.app.UI.Overwrite(ctx, q))
}

func (p *pull) configFact() string {
	return "Config  " + p.destination.String() + ", " + app.Edit(p.current.Edit)
}

// askConflicts asks which side of each conflict to take. merged is what there is
// to see of the other changes.
func (p *pull) askConflicts(ctx context.Context, merged flat.Config, conflicts flat.Conflicts) ([]flat.Side, error) {
	q := prompts.Merge{
		Title: fmt.Sprintf("Which values should %s have?", p.local.ClientPath()),
		Facts: append(p.app.EnvironmentFact(p.local, p.hub.Origin()), p.configFact()), Conflicts: conflicts,
	}
	if p.unknownBase {
		q.Facts = append(q.Facts, p.unknownBaseText())
	}
	if others := flat.Diff(p.settings, merged); !others.Empty() {
		q.Facts = append(q.Facts, "Also    "+app.DifferenceSummary(others)+" by the hub, without a conflict")
	}
	p.transfer.Hide()
	sides, err := p.app.UI.Merge(ctx, q)
	return sides, app.Agreed(sides != nil, err)
}

func (p *pull) unknownBaseText() string {
	return fmt.Sprintf("the config that %s comes from is not known, so every difference is a conflict",
		p.local.ClientPath())
}

// conflictFailure is the failure of a merge whose conflicts nobody resolves.
func (p *pull) conflictFailure(conflicts flat.Conflicts) error {
	f := failure.New(failure.CodeConflict, "%s changed differently in %s and on the hub",
		app.Count(len(conflicts), "key was", "keys were"), p.local.ClientPath())
	if p.unknownBase {
		f = f.WithReason("%s; %s", app.Count(len(conflicts), "key differs", "keys differ"), p.unknownBaseText())
	}
	f.Current, f.Conflicts = &p.current.Edit, conflicts
	return f.WithHint("nothing was changed: keep your values with --mine, take the hub's with --theirs, " +
		"or run it in a terminal to choose key by key").
		Try(p.line("diff"))
}
