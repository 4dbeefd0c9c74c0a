package pull

import (
	"fmt"
	"time"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// result is a pull that went through, or its undo.
type result struct {
	app.About       `json:",inline"`
	EnrichmentCount int             `json:"enrichmentCount"`
	SettingsChanged bool            `json:"settingsChanged"`
	Created         bool            `json:"projectCreated,omitzero"` // the local project
	Workspace       string          `json:"workspace,omitzero"`      // in which it was created
	Changes         flat.Difference `json:"changes"`
	Merged          bool            `json:"merged"` // settings that the hub does not have were kept
	Conflicts       flat.Conflicts  `json:"conflicts"`
	KeysTaken       int             `json:"keysTaken"`         // taken from the hub
	KeysKept        int             `json:"keysKept"`          // kept although the hub has another value, or none
	Revision        string          `json:"revision,omitzero"` // "": no config was pulled
	UpdatedBy       string          `json:"updatedBy,omitzero"`
	UpdatedAt       time.Time       `json:"updatedAt,omitzero"`
	UpdatedVia      wire.Via        `json:"updatedVia,omitzero"`
	BaseFilesPulled int             `json:"baseFilesPulled"`
	*FilesResult    `json:",inline"`
	app.Noted       `json:",inline"`

	undone bool // it is the undo of a pull
}

// FilesResult is what a pull, or its undo, did to the base files.
type FilesResult struct {
	Added      int      `json:"baseFilesAdded"`
	Changed    int      `json:"baseFilesChanged"`
	AddedPaths []string `json:"addedBaseFiles,omitzero"` // nil for an undo
}

func (*result) Kind() string { return "pulled" }

func (r *result) Effect() string {
	if r.undone {
		return "the pull was undone"
	}
	return "the pull went through"
}

func (r *result) Text(w *app.Printer) {
	changesFiles := r.FilesResult != nil && r.Added+r.FilesResult.Changed > 0
	changesNothing := !r.SettingsChanged && !changesFiles && len(r.Conflicts) == 0 && r.KeysKept == 0
	switch {
	case r.Created:
		w.Head("Created the local project %s from %s in %s", r.ProjectName, r.Project, r.Workspace)
	case !r.undone && changesNothing:
		w.Head("Already up to date.")
		w.Field("project", "%s", r.Project)
		return
	case !r.undone:
		w.Head("Pulled %s from %s", r.ProjectName, r.Project)
	case r.FilesResult == nil:
		w.Line("Restored the settings of %s", r.ProjectName)
	case r.SettingsChanged:
		w.Line("Restored the settings and base files of %s", r.ProjectName)
	default:
		w.Line("Restored the base files of %s", r.ProjectName)
	}
	if r.undone {
		w.Environment(r.Env)
	}
	if r.Revision != "" {
		r.settingsText(w)
	}
	if f := r.FilesResult; changesFiles {
		summary := fmt.Sprintf("%d (%s)", r.BaseFilesPulled, app.Counts(f.Added, f.Changed, 0))
		if r.undone {
			summary = fmt.Sprintf("%d restored", f.Added+f.Changed)
		}
		w.Field("base files", "%s", summary)
		w.Paths("+", f.AddedPaths, nil)
	}
	if r.UpdatedBy != "" {
		edit := wire.Edit{UpdatedBy: r.UpdatedBy, UpdatedAt: r.UpdatedAt, UpdatedVia: r.UpdatedVia}
		w.Field("config", "%s", app.Edit(edit))
	}
}

func (r *result) settingsText(w *app.Printer) {
	if !r.Changes.Empty() {
		w.Field("settings", "%s", app.DifferenceSummary(r.Changes))
	}
	if !r.Created {
		w.Differences(app.DifferenceLines(r.Changes))
	}
	if n := len(r.Conflicts); n > 0 {
		w.Field("conflicts", "%d, resolved", n)
		w.Differences(app.ConflictLines(r.Conflicts))
	}
	if r.Merged {
		w.Field("kept", "%s", app.Count(r.KeysKept, "local change that the hub does not have",
			"local changes that the hub does not have"))
	}
	w.NonZero("enrichments", r.EnrichmentCount)
}
