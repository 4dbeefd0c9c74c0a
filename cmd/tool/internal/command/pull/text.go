package pull

import (
	"fmt"

	"example.com/projecthub/cmd/tool/internal/app"
)

// pulledText prints the result of a pull.
func pulledText(w *app.Printer, r *Result, filesOnly bool) {
	if r.Origin == "" {
		w.Line("Put back the %s of %s", r.restored(), r.ProjectName)
	} else {
		w.Line("Pulled %s from %s", r.ProjectName, r.Project.Path())
		w.Field("origin", "%s", r.Origin)
	}
	if !filesOnly && (r.Origin != "" || r.SettingsChanged) {
		w.Field("settings", "%s", app.DifferenceSummary(r.Changes))
		for _, line := range app.DifferenceLines(r.Changes) {
			w.Line("    %s", line)
		}
		w.Field("enrichments", "%d", r.EnrichmentCount)
	}
	if r.FilesResult != nil {
		w.Field("base files", "%s", pulledFiles(r))
	}
	if r.UpdatedBy != "" {
		w.Field("config", "written by %s on %s through %s", r.UpdatedBy, app.Time(r.UpdatedAt), app.Via(r.UpdatedVia))
	}
	w.Notes(r.Notes)
}

func pulledFiles(r *Result) string {
	if r.Origin == "" {
		return fmt.Sprintf("%d put back", r.FilesResult.Added+r.FilesResult.Changed)
	}
	return fmt.Sprintf("%d (%d added, %d changed)", r.BaseFilesPulled, r.FilesResult.Added, r.FilesResult.Changed)
}
