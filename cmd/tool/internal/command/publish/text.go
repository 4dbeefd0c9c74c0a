package publish

import (
	"fmt"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/wire"
)

func (r *Result) text(w *app.Printer) {
	switch {
	case r.AlreadyPublished:
		w.Line("@%s %s is published already, with the same content", r.Stack, r.Version)
	case r.FirstVersion:
		w.Line("Published @%s %s, the stack's first version", r.Stack, r.Version)
	default:
		w.Line("Published @%s %s", r.Stack, r.Version)
	}
	w.Environment(r.Env)
	w.Field("origin", "%s", r.Origin)
	w.Field("files", "%d, %s compressed", r.FileCount, app.Bytes(r.SizeBytes))
	w.Field("digest", "%s", r.Digest)
	w.Notes(r.Notes)
}

func (r *Plan) text(w *app.Printer) {
	switch {
	case r.AlreadyPublished:
		w.Line("@%s %s is published already, with the same content", r.Stack, r.Version)
	case r.FirstVersion:
		w.Line("Publishing %s would make the stack @%s, with version %s", r.ProjectName, r.Stack, r.Version)
	default:
		w.Line("Publishing %s would add version %s to @%s", r.ProjectName, r.Version, r.Stack)
	}
	w.Environment(r.Env)
	w.Field("origin", "%s", r.Origin)
	if r.Latest != "" {
		w.Field("latest", "%s now, followed by %s", r.Latest, followersText(r.Followers))
	}
	w.Field("files", "%d, %s", r.FileCount, app.Bytes(r.Bytes))
	w.Paths("+", r.Files, nil)
	w.Field("digest", "%s", r.Digest)
	if !r.Authorized {
		w.Line("  note: this token may not publish there")
	}
	w.Notes(r.Notes)
}

// followersText says how many projects follow a stack, of which the hub counts a
// limited number.
func followersText(n int) string {
	if n >= wire.MostFollowers {
		return fmt.Sprintf("%d or more projects", n)
	}
	return app.Count(n, "project", "projects")
}
