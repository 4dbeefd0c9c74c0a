package pull

import (
	"fmt"

	"example.com/projecthub/cmd/tool/internal/app"
)

// pulledText prints the result of a pull.
func pulledText(w *app.Printer, r *Result, filesOnly bool) {
	if r.Origin == "" {
		w.Line("Restored the %s of %s", r.restored(), r.ProjectName)
		w.Environment(r.Env)
	} else {
		w.Line("Pulled %s from %s", r.ProjectName, r.Project)
		w.Environment(r.Env)
		w.Field("origin", "%s", r.Origin)
	}
	if !filesOnly && (r.Origin != "" || r.SettingsChanged) {
		w.Field("settings", "%s", app.DifferenceSummary(r.Changes))
		for _, line := range app.DifferenceLines(r.Changes) {
			w.Line("    %s", line)
		}
		if n := len(r.Conflicts); n > 0 {
			w.Field("conflicts", "%d, resolved", n)
			for _, line := range app.ConflictLines(r.Conflicts) {
				w.Line("    %s", line)
			}
		}
		if r.Merged {
			w.Field("kept", "%s", app.Count(r.KeysKept, "local change that the hub does not have",
				"local changes that the hub does not have"))
		}
		w.Field("enrichments", "%d", r.EnrichmentCount)
	}
	if r.FilesResult != nil {
		w.Field("base files", "%s", pulledFiles(r))
		w.Paths("+", r.AddedPaths, nil)
	}
	if r.UpdatedBy != "" {
		w.Field("config", "written by %s %s through %s", r.UpdatedBy, app.Ago(r.UpdatedAt), r.UpdatedVia.Phrase())
	}
	w.Notes(r.Notes)
}

// restored names what an undo restored.
func (r *Result) restored() string {
	switch {
	case r.FilesResult == nil:
		return "settings"
	case r.SettingsChanged:
		return "settings and base files"
	}
	return "base files"
}

func pulledFiles(r *Result) string {
	if r.Origin == "" {
		return fmt.Sprintf("%d restored", r.FilesResult.Added+r.FilesResult.Changed)
	}
	return fmt.Sprintf("%d (%d added, %d changed)", r.BaseFilesPulled, r.FilesResult.Added, r.FilesResult.Changed)
}
