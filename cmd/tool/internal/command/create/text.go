package create

import "example.com/projecthub/cmd/tool/internal/app"

func (r *Result) text(w *app.Printer) {
	w.Line("Created %s from %s", r.Project, r.ProjectName)
	w.Environment(r.Env)
	w.Address("page", r.Origin, r.URL)
	version := r.StackVersion
	if r.ResolvedVersion != version {
		version += ", now " + r.ResolvedVersion
	}
	w.Field("stack", "@%s, version %s", r.Stack, version)
	registered := ""
	if r.APIRegistered {
		registered = ", registered now"
	}
	w.Field("api", "%s%s", r.API, registered)
	w.Field("visibility", "%s", r.Visibility)
	w.Field("enrichments", "%d", r.EnrichmentCount)
	if r.BaseFilesPushed > 0 {
		w.Field("base files", "%d", r.BaseFilesPushed)
	}
	w.Field("origin", "%s", r.Origin)
	w.Notes(r.Notes)
}
