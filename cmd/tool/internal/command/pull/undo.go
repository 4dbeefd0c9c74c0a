package pull

import (
	"errors"
	"path/filepath"
	"time"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// saveSettings saves the settings that are about to be replaced in the undo history. The
// entry is nil if there is nothing to save.
func (p *pull) saveSettings(changes flat.Difference) (saved *state.Entry, notes []string, err error) {
	if changes.Empty() || p.opts.NoUndo {
		return nil, []string{}, nil
	}
	if saved = p.interrupted(); saved != nil {
		return saved, p.savedNote(), nil
	}
	v := state.Value{
		Name: p.place(), Config: p.settings.Canonical(), Written: p.merged.Revision(), At: time.Now(),
		Pulled: &state.Pulled{Origin: p.hub.Origin(), Common: p.app.SyncState().Last(p.hub.Origin(), p.destination)},
	}
	if base := p.bases.At(p.hub.Origin()); base != nil {
		v.Pulled.Project, v.Pulled.Revision = base.Project, base.Revision
	}
	if saved, err = p.app.History().Begin(v); err != nil {
		return nil, nil, p.notSaved("settings", errors.Unwrap(err))
	}
	return saved, p.savedNote(), nil
}

// notSaved is the failure of a pull that could not be undone.
func (p *pull) notSaved(what string, err error) error {
	again := p.line("pull").Flag("--no-undo")
	for _, f := range []struct {
		name  string
		given bool
	}{{p.filesFlag(), p.opts.files()}, {"--mine", p.opts.Mine}, {"--theirs", p.opts.Theirs}, {"--force", p.opts.Force}} {
		if f.given {
			again = again.Flag(f.name)
		}
	}
	if p.output != "" {
		again = again.Flag("--output", p.opts.Output.String())
	}
	return failure.New(failure.CodeInvalidFile, "the %s that the pull replaces cannot be saved for --undo: %w", what, err).
		WithHint("nothing was changed; to replace them for good, add --no-undo").Try(again)
}

func (p *pull) savedNote() []string {
	return []string{"the previous settings are saved; to restore them: " + p.app.CommandText(p.undoLine())}
}

// interrupted returns what an earlier attempt at the same pull saved, if it ended after it
// wrote one of an environment's two files: each key is as before that attempt, or as it is
// to be.
func (p *pull) interrupted() *state.Entry {
	last, err := p.app.History().Latest(p.place(), nil)
	if err != nil || last == nil || !last.Pending || last.Written != p.merged.Revision() {
		return nil
	}
	before, err := flat.Parse(last.Config)
	if err != nil {
		return nil
	}
	left := map[string]bool{} // keys that are not as before
	for _, c := range app.Changes(flat.Diff(before, p.settings)) {
		left[c.Key] = true
	}
	for _, c := range app.Changes(flat.Diff(p.settings, p.merged)) {
		if left[c.Key] {
			return nil // edited since
		}
	}
	return last
}

// undoLine is the command that undoes the pull.
func (p *pull) undoLine() cmdline.Line {
	return p.line("pull").Flag("--undo")
}

// place names client.json and the hub project in the undo history.
func (p *pull) place() string {
	return "pull " + filepath.Join(p.local.Workspace.Dir, p.local.ClientPath()) + " " + p.destination.String()
}

// undo restores the settings that the last pull replaced, where client.json still has
// those that the pull wrote, and the base files that it replaced. It asks no hub. The
// failure is nothing_kept or revision_changed.
func (p *pull) undo() (*Result, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	files, err := p.formerFiles()
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	if files != nil && files.alone {
		return p.undoFiles(files, &Result{ProjectName: p.local.Name, Project: p.destination, Conflicts: flat.Conflicts{}, Notes: []string{}})
	}
	former, err := p.former()
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	r, err := p.restore(former)
	if err != nil {
		return nil, failure.At(app.StageWrite, err)
	}
	if err := former.Drop(); err != nil {
		r.Notes = append(r.Notes, "the saved settings could not be removed: "+err.Error())
	}
	if files != nil {
		return p.undoFiles(files, r)
	}
	return r, nil
}

// latestSettings returns the settings that the last pull replaced, nil if there are
// none. A pull that ended before it was known to have changed client.json counts only if
// client.json has what it wrote.
func (p *pull) latestSettings() (*state.Entry, error) {
	return p.app.History().Latest(p.place(), func(e *state.Entry) bool {
		return e.Pending && e.Written != p.settings.Revision()
	})
}

// former returns the settings that may be put back.
func (p *pull) former() (*state.Entry, error) {
	former, err := p.latestSettings()
	switch {
	case err != nil:
		return nil, err
	case former == nil || former.Pulled == nil:
		return nil, failure.New(failure.CodeNothingKept, "no previous settings of %s are saved on this machine", p.local.ClientPath()).
			WithHint("a pull saves the settings that it replaces, until --undo restores them")
	case p.settings.Revision() != former.Written:
		return nil, failure.New(wire.CodeRevisionChanged, "the settings in %s are no longer what the pull wrote", p.local.ClientPath()).
			WithHint("nothing was changed, and the previous settings stay saved")
	}
	p.config, err = flat.Parse(former.Config)
	return former, err
}

// restore edits client.json, and makes pulled.json and what is remembered of the
// hub what they were.
func (p *pull) restore(former *state.Entry) (*Result, error) {
	changes := flat.Diff(p.settings, p.config)
	edits, err := p.client.Plan(p.config)
	if err != nil {
		return nil, err
	}
	changed, err := p.client.Apply(edits)
	if err != nil {
		return nil, err
	}
	p.done.SettingsChanged = len(changed) > 0
	before := former.Pulled
	if err := p.local.RecordPulled(before.Origin, workspace.Pulled{Project: before.Project, Revision: before.Revision}); err != nil {
		return nil, err
	}
	p.app.SyncState().Save(before.Origin, p.destination, before.Common)
	return &Result{
		ProjectName: p.local.Name, Env: p.local.Env, Project: p.destination, EnrichmentCount: p.config.EnrichmentCount(),
		SettingsChanged: len(changed) > 0, Changes: changes, Conflicts: flat.Conflicts{}, Revision: p.config.Revision(),
		Notes: []string{"the settings from before the pull are restored; the hub was not called"},
	}, nil
}
