package push

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// undo restores on the hub what the caller's newest push replaced, its config and its base files
// together, as long as nobody has written since. Local files stay as they are. The failure is
// nothing_kept or revision_changed.
func (p *push) undo(ctx context.Context) (*Result, error) {
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	last, err := p.lastPush(ctx)
	if err != nil {
		return nil, err
	}
	r := &Result{
		ProjectName: p.local.Name, Env: p.local.Env, Project: p.destination, Origin: p.hub.Origin(), Notes: []string{},
		undone: true,
	}
	if err := p.restore(ctx, r, last); hubclient.HasCode(err, wire.CodeRevisionChanged) {
		return nil, failure.Of(p.hub.Fault(err)).Try(p.line("log"))
	} else if err != nil {
		return nil, err
	}
	r.Notes = append(r.Notes, "local files stay as they are, and a push would send them again")
	p.recordRestored(r, last)
	return r, nil
}

// lastPush returns the last edit of the project, if that is a push of the caller which replaced
// something.
func (p *push) lastPush(ctx context.Context) (hubclient.LastEdit, error) {
	last, err := p.hub.LastEdit(ctx, p.destination)
	if err != nil {
		return last, err
	}
	me, err := p.hub.Whoami(ctx)
	if err != nil {
		return last, err
	}
	if last.Config != nil && last.Config.Parent == "" {
		last.Config = nil
	}
	if last.BaseFiles != nil && last.BaseFiles.Parent == "" {
		last.BaseFiles = nil
	}
	switch edit := last.Edit(); {
	case edit.UpdatedBy == "":
		return last, failure.At(app.StageRead, failure.New(failure.CodeNothingKept,
			"the last edit of %s replaced nothing", p.destination))
	case edit.UpdatedBy != me.Name() || edit.UpdatedVia != wire.ViaPush:
		f := failure.New(wire.CodeRevisionChanged, "the last edit of %s is not a push of yours", p.destination).
			WithHint("%s made it %s through %s; nothing was changed",
				edit.UpdatedBy, app.Ago(edit.UpdatedAt), edit.UpdatedVia.Phrase()).
			Try(p.line("log"))
		f.Current = &edit
		return last, f
	}
	return last, nil
}

// restore makes what the last edit replaced the present config and the present base files.
func (p *push) restore(ctx context.Context, r *Result, last hubclient.LastEdit) error {
	if last.Config != nil {
		former, err := p.hub.ConfigRevision(ctx, p.destination, last.Config.Parent)
		if err != nil {
			return err
		}
		config, err := p.parse(former.Config)
		if err != nil {
			return err
		}
		w, err := p.hub.RestoreConfig(ctx, p.destination, wire.PutConfig{Settings: config.Unfold()}, last.Config.Revision)
		if err != nil {
			return err
		}
		p.done.ConfigWritten = true
		r.EnrichmentCount, r.Revision = w.EnrichmentCount, w.Revision
		r.OverwroteExistingConfig, r.ConfigChanged, r.Replaced = w.OverwroteExistingConfig, true, &last.Config.Edit
		r.Notes = append(r.Notes, fmt.Sprintf("the config from before the push (%s) is restored", editText(former.Edit)))
	}
	if last.BaseFiles != nil {
		w, err := p.hub.RestoreBaseFiles(ctx, p.destination, last.BaseFiles.Parent, last.BaseFiles.Tree)
		if err != nil {
			return err
		}
		p.done.BaseFilesWritten = true
		r.BaseFilesPushed = w.BaseFilesPushed
		r.FilesResult = &FilesResult{Added: w.Added, Changed: w.Changed, Removed: w.Removed}
		r.Notes = append(r.Notes, fmt.Sprintf("the base files from before the push (%s) are restored",
			app.ShortRevision(last.BaseFiles.Parent)))
	}
	return nil
}

// recordRestored records what was restored in pulled.json, if that has what the push wrote: else
// the restore would count there as an edit by others.
func (p *push) recordRestored(r *Result, last hubclient.LastEdit) {
	restored := workspace.Pulled{Project: p.destination}
	if last.Config != nil {
		p.app.SyncState().Save(p.hub.Origin(), p.destination, r.Revision)
	}
	bases, err := p.local.Bases()
	if err != nil {
		return
	}
	base := bases.Of(p.hub.Origin(), p.destination)
	if base == nil {
		return
	}
	if last.Config != nil && base.Revision == last.Config.Revision {
		restored.Revision = r.Revision
	}
	if last.BaseFiles != nil && base.Tree == last.BaseFiles.Tree {
		restored.Tree = last.BaseFiles.Parent
	}
	if err := p.local.RecordPulled(p.hub.Origin(), restored); err != nil {
		r.Notes = append(r.Notes, "the revision could not be recorded: "+err.Error())
	}
}

func editText(e wire.Edit) string {
	return fmt.Sprintf("%s, %s, %s", e.UpdatedBy, e.UpdatedVia, app.Ago(e.UpdatedAt))
}
