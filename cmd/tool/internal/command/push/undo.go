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
func (p *push) undo(ctx context.Context) (*result, error) {
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	last, err := p.Hub.LastEdit(ctx, p.Project)
	if err != nil {
		return nil, err
	}
	me, err := p.Hub.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	edit := last.Edit
	if edit.UpdatedBy == "" {
		return nil, failure.New(failure.CodeNothingKept, "the last edit of %s replaced nothing", p.Project).
			At(app.StageRead).Try(p.Line("log"))
	}
	ownPush := edit.UpdatedBy == me.Name() && edit.UpdatedVia == wire.ViaPush
	if !ownPush {
		f := failure.New(wire.CodeRevisionChanged, "the last edit of %s was not your push", p.Project).
			WithHint("%s made it %s through %s; nothing was changed",
				edit.UpdatedBy, app.Ago(edit.UpdatedAt), edit.UpdatedVia.Phrase()).
			Try(p.Line("log"))
		f.Current = &edit
		return nil, f
	}
	r := &result{About: p.About(), undone: true}
	if last.Config != nil {
		err = p.restoreConfig(ctx, r, last.Config)
	}
	if err == nil && last.BaseFiles != nil {
		err = p.restoreFiles(ctx, r, last.BaseFiles)
	}
	if hubclient.HasCode(err, wire.CodeRevisionChanged) {
		return nil, failure.Of(p.Hub.Fault(err)).Try(p.Line("log"))
	}
	if err != nil {
		return nil, err
	}
	r.Note("local files stay as they are, and a push would send them again")
	p.recordRestored(r, last)
	return r, nil
}

// restoreConfig restores the config that an edit replaced.
func (p *push) restoreConfig(ctx context.Context, r *result, edit *wire.ConfigEntry) error {
	former, err := p.Hub.ConfigRevision(ctx, p.Project, edit.Parent)
	if err != nil {
		return err
	}
	config, err := p.ParseConfig(former.Config)
	if err != nil {
		return err
	}
	w, err := p.Hub.RestoreConfig(ctx, p.Project, wire.PutConfig{Settings: config.Unfold()}, edit.Revision)
	if err != nil {
		return err
	}
	p.Done.ConfigWritten = true
	r.EnrichmentCount, r.Revision = w.EnrichmentCount, w.Revision
	r.OverwroteExistingConfig = w.OverwroteExistingConfig
	r.ConfigChanged = true
	r.Replaced = &edit.Edit
	r.Note("the config from before the push (%s) is restored", editText(former.Edit))
	return nil
}

// restoreFiles restores the base files that an edit replaced.
func (p *push) restoreFiles(ctx context.Context, r *result, edit *wire.BaseFilesEntry) error {
	w, err := p.Hub.RestoreBaseFiles(ctx, p.Project, edit.Parent, edit.Tree)
	if err != nil {
		return err
	}
	p.Done.BaseFilesWritten = true
	r.BaseFilesPushed = w.BaseFilesPushed
	r.FilesResult = &FilesResult{Added: w.Added, Changed: w.Changed, Removed: w.Removed}
	r.Note("the base files from before the push (%s) are restored", app.ShortRevision(edit.Parent))
	return nil
}

// recordRestored updates pulled.json if it records what the push wrote, so that the restore does not count as an
// edit by others.
func (p *push) recordRestored(r *result, last hubclient.LastEdit) {
	if last.Config != nil {
		p.App.SyncState().Save(r.Origin, p.Project, r.Revision)
	}
	bases, err := p.Local.Bases()
	base := bases.Of(r.Origin, p.Project)
	if err != nil || base == nil {
		return
	}
	restored := workspace.Pulled{Project: p.Project}
	if last.Config != nil && base.Revision == last.Config.Revision {
		restored.Revision = r.Revision
	}
	if last.BaseFiles != nil && base.Tree == last.BaseFiles.Tree {
		restored.Tree = last.BaseFiles.Parent
	}
	if err := p.Local.RecordPulled(r.Origin, restored); err != nil {
		r.Note("the revision could not be recorded: %v", err)
	}
}

func editText(e wire.Edit) string {
	return fmt.Sprintf("%s, %s, %s", e.UpdatedBy, e.UpdatedVia, app.Ago(e.UpdatedAt))
}
