package pull

import (
	"fmt"
	"path/filepath"
	"time"

	"example.com/projecthub/cmd/tool/internal/fault"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/kept"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// keep files the settings that are about to be replaced, so that Undo finds them,
// and returns the note about it.
func (p *pull) keep(changes flat.Difference) ([]string, error) {
	if changes.Empty() {
		return []string{}, nil
	}
	before, err := p.Local.Pulled()
	if err != nil {
		return nil, fault.At(flow.StageRead, err)
	}
	v := kept.Value{
		Name: p.place(), Config: p.local.Canonical(), Written: p.config.Revision(), At: time.Now(),
		Pulled: &kept.Pulled{Origin: p.hub.Origin(), Common: p.Revisions.Last(p.hub.Origin(), p.destination)},
	}
	if before != nil {
		v.Pulled.Project, v.Pulled.Revision = before.Project, before.Revision
	}
	if err := p.Kept.Keep(v); err != nil {
		return []string{err.Error()}, nil
	}
	return []string{fmt.Sprintf("the former settings are kept; put them back: tool pull %s%s --undo", p.Local.Name, p.projectFlag())}, nil
}

// place is where what is replaced in client.json is kept.
func (p *pull) place() string {
	return "pull " + filepath.Join(p.Local.Workspace.Dir, p.Local.ClientPath()) + " " + p.destination.String()
}

// projectFlag is the --project of a recipe, where one was given.
func (p *pull) projectFlag() string {
	if p.Options.Destination == nil {
		return ""
	}
	return " --project " + p.destination.String()
}

// Undo restores the settings that the last pull replaced, where client.json still
// has those that the pull wrote, and the base files that it replaced. It asks no hub. The failure is nothing_kept or
// revision_changed.
func Undo(o Options) (*Result, error) {
	p := &pull{Options: o}
	if err := p.read(); err != nil {
		return nil, p.fail(err)
	}
	files, err := p.formerFiles()
	if err != nil {
		return nil, p.fail(fault.At(flow.StageRead, err))
	}
	if files != nil && files.alone {
		r, err := p.undoFiles(files, &Result{ProjectName: p.Local.Name, Project: p.destination, Notes: []string{}})
		return r, p.failed(err)
	}
	former, drop, err := p.former()
	if err != nil {
		return nil, p.fail(fault.At(flow.StageRead, err))
	}
	r, err := p.restore(former)
	if err != nil {
		return nil, p.fail(fault.At(flow.StageWrite, err))
	}
	if err := drop(); err != nil {
		r.Notes = append(r.Notes, "the kept settings could not be dropped: "+err.Error())
	}
	if files != nil {
		r, err := p.undoFiles(files, r)
		return r, p.failed(err)
	}
	return r, nil
}

// former returns the settings that may go back.
func (p *pull) former() (former *kept.Value, drop func() error, err error) {
	former, drop, err = p.Kept.Newest(p.place())
	switch {
	case err != nil:
		return nil, nil, err
	case former == nil || former.Pulled == nil:
		return nil, nil, fault.New(wire.CodeNothingKept, "no former settings of %s are kept on this machine", p.Local.ClientPath()).
			WithHint("a pull keeps the settings that it replaces, until --undo has put them back")
	case p.local.Revision() != former.Written:
		return nil, nil, fault.New(wire.CodeRevisionChanged, "the settings in %s are no longer what the pull wrote", p.Local.ClientPath()).
			WithHint("nothing was changed, and the former settings stay kept")
	}
	p.config, err = flat.Parse(former.Config)
	return former, drop, err
}

// restore edits client.json, and makes pulled.json and what is remembered of the
// hub what they were.
func (p *pull) restore(former *kept.Value) (*Result, error) {
	changes := flat.Diff(p.local, p.config)
	changed, err := p.client.Replace(p.config)
	if err != nil {
		return nil, err
	}
	before := former.Pulled
	if err := p.Local.RecordPulled(workspace.Pulled{Project: before.Project, Revision: before.Revision}); err != nil {
		return nil, err
	}
	p.Revisions.Save(before.Origin, p.destination, before.Common)
	return &Result{
		ProjectName: p.Local.Name, Project: p.destination, EnrichmentCount: p.config.EnrichmentCount(),
		SettingsChanged: changed, Changes: changes, Revision: p.config.Revision(),
		Notes: []string{"the settings from before the pull are back; the hub was not asked"},
	}, nil
}
