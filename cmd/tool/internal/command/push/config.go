package push

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/ui"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// maxReplans bounds how often a push without questions is planned anew because the
// hub's config changed meanwhile.
const maxReplans = 10

// pushConfig compares the hub's config with the local one, asks where it has to, and
// replaces it. It returns false when the person said no.
func (p *push) pushConfig(ctx context.Context) (bool, error) {
	p.result.EnrichmentCount = p.config.EnrichmentCount()
	have, refused := p.config.Revision(), "none"
	for replans := 0; ; replans++ {
		current, err := p.hub.Config(ctx, p.destination, have)
		damaged := p.opts.Force && hubclient.HasCode(err, wire.CodeDamaged)
		if err != nil && !damaged {
			return false, p.explainDamaged(err)
		}
		match, yes := "", true
		if !damaged { // else nothing is there to compare with
			if match, yes, err = p.decide(ctx, current, replans > 0); err != nil || !yes {
				return false, err
			}
		}
		written, err := p.hub.PutConfig(ctx, p.destination, p.body, match)
		p.ambiguous = err != nil && !hubclient.NotApplied(err) && current != nil && current.HasConfig
		if err == nil {
			if damaged {
				p.result.Notes = append(p.result.Notes, "the hub's config was damaged, and was replaced")
			}
			p.wrote(written, current)
			return true, nil
		}
		if !hubclient.HasCode(err, wire.CodeRevisionChanged) || p.opts.IfRevision.String() != "" {
			return false, err
		}
		if match == refused || !p.asks && replans == maxReplans {
			e := failure.Of(p.hub.Fault(err))
			return false, e.WithHint("the hub refuses the revision that it says it has, or its config changes all the time: try again later")
		}
		have, refused = "", match // the config changed meanwhile: read all of it
	}
}

// explainDamaged adds to a failure to read the hub's config how to replace a damaged one. That
// needs --force, because nothing can be shown of what is replaced, nor saved.
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

// decide returns the revision on which alone the config may be written ("": any),
// and whether it is to be written. current is nil when the hub holds exactly what
// is pushed: then nothing is overwritten and no question is asked.
func (p *push) decide(ctx context.Context, current *wire.Config, again bool) (match string, yes bool, err error) {
	match = p.onlyRevision()
	switch {
	case current == nil: // also where an earlier run has applied what --if-revision was for
		return p.config.Revision(), true, nil
	case match != "" && current.Revision != match:
		return "", false, p.otherRevision(current)
	case p.opts.NoClobber:
		if err := p.checkClobber(ctx, current); err != nil {
			return "", false, err
		}
		match = current.Revision
	}
	if !p.asks || !current.HasConfig && !p.opts.Ask {
		return match, true, nil
	}
	diff, err := p.diff(current.Config)
	if err != nil || diff.Empty() { // empty: another push has just written the same
		return current.Revision, err == nil, err
	}
	yes, err = p.confirmOverwrite(ctx, current, diff, again)
	return current.Revision, yes, err // what was shown is what is overwritten
}

// confirmOverwrite asks whether the local config replaces the hub's. again says that
// the hub's config changed while the person looked at it.
func (p *push) confirmOverwrite(ctx context.Context, current *wire.Config, diff flat.Difference, again bool) (bool, error) {
	q := ui.Overwrite{
		Title: fmt.Sprintf("Overwrite the config of %s?", p.destination),
		Yes:   "Overwrite it", Difference: diff,
	}
	q.Facts = append(q.Facts, p.app.EnvironmentFact(p.local, p.hub.Origin())...)
	if recorded := p.client.Project.Text; recorded != "" && recorded != p.destination.String() {
		q.Facts = append(q.Facts, "Note    client.json names another project: "+recorded)
	}
	if current.HasConfig {
		q.Facts = append(q.Facts, "Config  "+app.Edit(current.Edit))
	} else {
		q.Title, q.Yes = fmt.Sprintf("Push the config of %s?", p.destination), "Push it"
		q.Facts = append(q.Facts, "Config  none yet")
	}
	checked, err := p.hub.CheckConfig(ctx, p.destination, p.body, "")
	switch {
	case err == nil:
		for _, note := range app.FindingNotes(checked.Findings) {
			q.Facts = append(q.Facts, "Note    "+note)
		}
	case hubclient.HasCode(err, wire.CodeSettingsInvalid):
		return false, err
	} // what else is wrong, the push finds out
	if again {
		q.Notice = fmt.Sprintf("%s changed it while you looked. This is the difference now:", current.UpdatedBy)
	}
	p.transfer.Hide()
	return p.app.UI.Overwrite(ctx, q)
}

// onlyRevision is the one that --if-revision names, "" for any.
func (p *push) onlyRevision() string {
	if p.opts.IfRevision.String() == noRevision {
		return flat.Config{}.Revision()
	}
	return p.opts.IfRevision.String()
}

// otherRevision is the failure of --if-revision where the hub holds another one.
func (p *push) otherRevision(current *wire.Config) error {
	e := p.refuse(wire.CodeRevisionChanged, current, "the config of %s is not the revision that --if-revision names", p.destination)
	if current.UpdatedBy != "" {
		e.Hint = fmt.Sprintf("%s wrote it %s: look at the difference before you push", current.UpdatedBy, app.Ago(current.UpdatedAt))
	}
	return e.Try(p.dryRunLine())
}

// dryRunLine is the command that shows what a push would change.
func (p *push) dryRunLine() cmdline.Line { return p.line("push").Flag("--dry-run") }

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

// wrote notes the hub's answer in the result. before is what the hub held before,
// nil when that was no other config.
func (p *push) wrote(w *wire.ConfigWritten, before *wire.Config) {
	p.done.ConfigWritten = true
	replaced := w.Replaced
	if lost(w, before) {
		replaced = &wire.Replaced{Config: before.Config, Edit: before.Edit}
	}
	r := p.result
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
		p.undoable = true
		r.Notes = append(r.Notes, fmt.Sprintf("the previous config (%s) is saved; to restore it: %s",
			editText(replaced.Edit), p.app.CommandText(p.undoLine())))
	}
	p.app.SyncState().Save(p.hub.Origin(), p.destination, w.Revision)
}

// lost reports that the answer which told what was replaced never came: w is that
// of another attempt, which found what the first had written.
func lost(w *wire.ConfigWritten, before *wire.Config) bool {
	return before != nil && before.HasConfig && before.Revision != w.Revision &&
		(w.Replaced == nil || len(w.Replaced.Config) == 0 || w.Replaced.Revision == w.Revision)
}
