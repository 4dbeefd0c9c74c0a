package diff

import "example.com/projecthub/cmd/tool/internal/app"

// Text prints the result of a comparison.
func Text(w *app.Printer, r *Result, o Options) {
	if o.NameOnly {
		for _, c := range app.Changes(r.Changes) {
			w.Line("%s", c.Key)
		}
		return
	}
	if o.Format == app.FormatMarkdown {
		w.Line("### %s and the config of %s: %s", app.Markdown(r.ProjectName), app.Markdown(r.Project.String()), app.DifferenceSummary(r.Changes))
		app.MarkdownHub(w, r.Origin, r.Env)
		app.MarkdownDifference(w, r.Changes, o.Full)
		return
	}
	config := r.Project.String()
	if r.former {
		config += " at " + app.ShortRevision(r.Revision)
	}
	if r.Same {
		w.Line("%s is the same as %s", r.ProjectName, config)
	} else {
		w.Line("%s differs from %s", r.ProjectName, config)
	}
	w.Environment(r.Env)
	w.Field("origin", "%s", r.Origin)
	w.Field("config", "%s", app.Edit(r.Edit))
	w.Field("settings", "%s", app.DifferenceSummary(r.Changes))
	lines := app.DifferenceLines
	if o.Full {
		lines = app.FullDifferenceLines
	}
	for _, line := range lines(r.Changes) {
		w.Whole("    " + line)
	}
	w.Notes(r.Notes)
}
