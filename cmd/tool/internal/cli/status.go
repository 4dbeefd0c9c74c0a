package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow/status"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

func (a *app) statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "status [<project>]",
		Short: "Show login, hub and sync status",
		Long: `Show the identity, the hub, and for each local project its destination, whether
you may write to it, how the settings stand against the hub's config, and the
stack's versions.

The config is the same, differs, local-ahead (you changed it), hub-ahead
(others did), both, or none (there is nothing to compare).`,
		Example:           "  tool status\n  tool status web --json",
		Args:              maybeLocal,
		ValidArgsFunction: a.completeLocal,
		RunE: a.run(func(ctx context.Context, args []string) error {
			name := strings.Join(args, "")
			return failure.Doing(a.status(ctx, name), name, "show the status")
		}),
	}
	return a.hubFlags(c)
}

func (a *app) status(ctx context.Context, name string) error {
	locals, err := a.locals(ctx, name)
	if err != nil {
		return err
	}
	id, err := a.resolve()
	if err != nil {
		return failure.At("status", err)
	}
	r, err := status.Run(ctx, status.Options{
		Locals: locals, Identity: id, Connect: a.connectAnyway, Revisions: a.revisions(), Typed: a.typed,
	})
	if err != nil {
		return err
	}
	return a.print("status", r, func(p *printer) { statusText(p, r) })
}

// locals returns the local project called name, or all of them; none outside a workspace.
func (a *app) locals(ctx context.Context, name string) ([]*workspace.Project, error) {
	if name != "" {
		p, err := a.local(ctx, name, a.itself)
		return []*workspace.Project{p}, err
	}
	ws, err := a.workspace()
	if err != nil {
		if failure.Of(err).Code == failure.CodeNoWorkspace {
			return nil, nil
		}
		return nil, err
	}
	names, err := ws.Projects()
	if err != nil {
		return nil, failure.At("read", err)
	}
	var all []*workspace.Project
	for _, name := range names {
		p, err := ws.Project(name)
		if err != nil {
			return nil, failure.At("read", err)
		}
		all = append(all, p)
	}
	return all, nil
}

func statusText(p *printer, r *status.Result) {
	p.line("Hub %s (%s)", r.Origin, r.OriginSource)
	if id := r.Identity; id != nil {
		p.field("as", "%s", id.Name)
		p.field("token", "%s, %s… (%s), %s", id.TokenName, id.Token, id.TokenSource, expiryText(id.ExpiresAt))
		p.field("scopes", "%s", scopesText(id.Scopes))
	}
	p.notes(r.Notes)
	for _, v := range r.Projects {
		p.line("")
		projectText(p, v, r.Identity != nil)
	}
}

func projectText(p *printer, v status.Project, loggedIn bool) {
	p.line("%s", v.ProjectName)
	switch {
	case v.Project.IsZero():
		p.field("destination", "none: %s", p.typed.Text(cmdline.Tool("project", "create").With(workspace.SlugOf(v.ProjectName)).Flag("--from", v.ProjectName)))
	case !v.Exists && !loggedIn:
		p.field("destination", "%s (%s), %s", v.Project, v.DestinationSource, unknown)
	case !v.Exists:
		p.field("destination", "%s (%s), not on the hub or not for you", v.Project, v.DestinationSource)
	case v.Authorized:
		p.field("destination", "%s (%s), you may push", v.Project, v.DestinationSource)
	case !loggedIn:
		p.field("destination", "%s (%s), log in to push", v.Project, v.DestinationSource)
	default:
		p.field("destination", "%s (%s), you may not push", v.Project, v.DestinationSource)
	}
	if !v.Project.IsZero() && !v.Exists && !loggedIn {
		p.field("config", "%s", unknown)
	} else {
		p.field("config", "%s", stateText(v.Config))
	}
	switch {
	case !v.Stack.IsZero():
		p.field("stack", "%s, here %s, %s", v.Stack, orNone(v.StackVersion), publishedStateText(v, loggedIn))
	case v.StackVersion != "":
		p.field("stack", "not named yet, here %s: %s", v.StackVersion, p.typed.Text(cmdline.Tool("publish").With(v.ProjectName)))
	}
	if v.Problem != "" {
		p.field("problem", "%s", v.Problem)
	}
}

// unknown is what is said about the hub's side of what needs a login to be seen.
const unknown = "unknown until you log in"

func stateText(s status.State) string {
	switch s {
	case status.LocalAhead:
		return "local-ahead: changed here"
	case status.HubAhead:
		return "hub-ahead: changed on the hub"
	case status.Both:
		return "both: changed here and on the hub"
	}
	return string(s)
}

func publishedStateText(v status.Project, loggedIn bool) string {
	switch {
	case v.StackHidden && !loggedIn:
		return unknown
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
