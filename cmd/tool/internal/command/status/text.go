package status

import (
	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

func statusText(w *app.Printer, r *Result) {
	w.Line("Hub %s (%s)", r.Origin, r.OriginSource)
	if id := r.Identity; id != nil {
		w.Field("as", "%s", id.Name)
		w.Field("token", "%s, %s… (%s), %s", id.TokenName, id.Token, id.TokenSource, app.Expiry(id.ExpiresAt))
		w.Field("scopes", "%s", app.Scopes(id.Scopes))
	}
	w.Notes(r.Notes)
	for _, v := range r.Projects {
		w.Line("")
		ProjectText(w, v, r.Identity != nil)
	}
}

// ProjectText prints how a local project compares with the hub.
func ProjectText(w *app.Printer, v Project, loggedIn bool) {
	w.Line("%s", v.ProjectName)
	switch {
	case v.Project.IsZero():
		w.Field("destination", "none: %s", w.Command(cmdline.Tool("project", "create").With(workspace.SlugOf(v.ProjectName)).Flag("--from", v.ProjectName)))
	case !v.Exists && !loggedIn:
		w.Field("destination", "%s (%s), %s", v.Project, v.DestinationSource, Unknown)
	case !v.Exists:
		w.Field("destination", "%s (%s), not on the hub or not for you", v.Project, v.DestinationSource)
	case v.Authorized:
		w.Field("destination", "%s (%s), you may push", v.Project, v.DestinationSource)
	case !loggedIn:
		w.Field("destination", "%s (%s), log in to push", v.Project, v.DestinationSource)
	default:
		w.Field("destination", "%s (%s), you may not push", v.Project, v.DestinationSource)
	}
	if !v.Project.IsZero() && !v.Exists && !loggedIn {
		w.Field("config", "%s", Unknown)
	} else {
		w.Field("config", "%s", StateText(v.Config))
	}
	switch {
	case !v.Stack.IsZero():
		w.Field("stack", "%s, here %s, %s", v.Stack, orNone(v.StackVersion), publishedStateText(v, loggedIn))
	case v.StackVersion != "":
		w.Field("stack", "not named yet, here %s: %s", v.StackVersion, w.Command(cmdline.Tool("publish").With(v.ProjectName)))
	}
	if v.Problem != "" {
		w.Field("problem", "%s", v.Problem)
	}
}

// Unknown is what is said about the hub's side of what needs a login to be seen.
const Unknown = "unknown until you log in"

// StateText says in a few words how settings compare with the hub's config.
func StateText(s State) string {
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

func publishedStateText(v Project, loggedIn bool) string {
	switch {
	case v.StackHidden && !loggedIn:
		return Unknown
	case v.StackHidden:
		return "not published or not for you"
	case v.StackPublished == "":
		return "not published"
	}
	return "published " + v.StackPublished
}

func orNone(s string) string {
	if s == "" {
		return "no version"
	}
	return s
}
