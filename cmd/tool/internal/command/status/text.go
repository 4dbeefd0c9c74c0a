package status

import (
	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

func statusText(w *app.Printer, r *Result) {
	w.Line("Hub %s (%s)", r.Origin, r.OriginSource.Phrase())
	if id := r.Identity; id != nil {
		w.Field("as", "%s", id.Name)
		w.Field("token", "%s, %s… (%s), %s", id.TokenName, id.Token, id.TokenSource.Phrase(), app.Expiry(id.ExpiresAt))
		w.Field("scopes", "%s", app.Scopes(id.Scopes, id.Restriction))
	}
	w.Notes(r.Notes)
	for _, v := range r.Projects {
		w.Line("")
		ProjectText(w, v, r.Unknown())
	}
}

// Unknown says why the hub's side of what is not seen is unknown, "" where it is known.
func (r *Result) Unknown() string {
	switch {
	case r.failed:
		return "unknown: the hub could not be queried"
	case r.Identity == nil:
		return "unknown until you log in"
	}
	return ""
}

// ProjectText prints how a local project compares with the hub.
func ProjectText(w *app.Printer, v Project, unknown string) {
	w.Line("%s", v.ProjectName)
	w.Environment(v.Env)
	switch {
	case v.Project.IsZero():
		w.Field("destination", "none: %s", w.Command(cmdline.Tool("project", "create").With(workspace.SlugOf(v.ProjectName)).Flag("--from", v.ProjectName)))
	case v.Deleted:
		w.Field("destination", "%s (%s), deleted; to restore it: %s", v.Project, v.DestinationSource, w.Command(restoreLine(v)))
	case !v.Exists && unknown != "":
		w.Field("destination", "%s (%s), %s", v.Project, v.DestinationSource, unknown)
	case !v.Exists:
		w.Field("destination", "%s (%s), not on the hub or not for you", v.Project, v.DestinationSource)
	case v.Authorized:
		w.Field("destination", "%s (%s), you may push", v.Project, v.DestinationSource)
	case unknown != "":
		w.Field("destination", "%s (%s), log in to push", v.Project, v.DestinationSource)
	default:
		w.Field("destination", "%s (%s), you may not push", v.Project, v.DestinationSource)
	}
	w.Field("config", "%s", ConfigText(v, unknown))
	switch {
	case !v.Stack.IsZero():
		w.Field("stack", "%s, here %s, %s", v.Stack, orNone(v.StackVersion), publishedStateText(v, unknown))
	case v.StackVersion != "":
		w.Field("stack", "not named yet, here %s: %s", v.StackVersion, w.Command(cmdline.Tool("publish").With(v.ProjectName)))
	}
	if v.UseStackVersion != "" {
		w.Field("withdrawn", "%s, the stack version of %s; to use %s: %s", v.UsedVersion, v.Project, v.UseStackVersion,
			w.Command(cmdline.Tool("project", "edit").With(v.Project.String()).Flag("--stack-version", v.UseStackVersion)))
	}
	if v.Problem != "" {
		w.Field("problem", "%s", v.Problem)
	}
	for _, e := range v.Environments {
		w.Field(e.Env, "%s", environmentText(w, e, unknown))
	}
}

// restoreLine is the command that restores the deleted hub project of a local one.
func restoreLine(v Project) cmdline.Line {
	return cmdline.Tool("project", "restore").With(v.Project.String())
}

// ConfigText says in a few words how a local project's settings compare with the hub's
// config.
func ConfigText(v Project, unknown string) string {
	switch {
	case v.local != "":
		return v.local
	case !v.Project.IsZero() && !v.Exists && unknown != "":
		return unknown
	}
	return stateText(v.Config)
}

func stateText(s State) string {
	switch s {
	case LocalAhead:
		return "local-ahead: changed here"
	case HubAhead:
		return "hub-ahead: changed on the hub"
	case Both:
		return "both: changed here and on the hub"
	}
	return string(s)
}

func publishedStateText(v Project, unknown string) string {
	switch {
	case v.StackHidden && unknown != "":
		return unknown
	case v.StackHidden:
		return "not published or not for you"
	case v.StackPublished == "":
		return "not published"
	case v.StackWithdrawn:
		return "published " + v.StackPublished + ", withdrawn; latest is " + v.StackLatest
	}
	return "published " + v.StackPublished
}

func orNone(s string) string {
	if s == "" {
		return "no version"
	}
	return s
}
