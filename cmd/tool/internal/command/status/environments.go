package status

import (
	"context"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

// connect queries the other hubs that environments of the projects are on. What keeps one
// from responding is a problem of those environments.
func (s *status) connect(ctx context.Context, r *Result, locals []*workspace.Project) error {
	s.others = map[string]*status{s.hub.Origin(): s, "": s}
	for _, local := range locals {
		names, err := environments(local)
		if err != nil {
			return failure.At(app.StageRead, err)
		}
		for _, name := range names {
			origin, err := local.In(name).Origin()
			if err != nil || s.others[origin] != nil {
				continue // what is wrong with its file is its problem
			}
			hub, err := s.app.HubOfEnvironment(origin)
			if err != nil {
				return failure.At(stage, err)
			}
			if s.others[origin], err = look(ctx, s.app, hub); err != nil {
				return err
			}
			if hub.Identity.Token == "" {
				r.Notes = append(r.Notes, noToken(s.app, origin))
			}
		}
	}
	return nil
}

// look asks another hub who the caller is there. A hub without a login is not called: only
// a file names it.
func look(ctx context.Context, a *app.App, hub *identity.Hub) (*status, error) {
	other := &status{app: a, hub: hub}
	if hub.Identity.Token == "" {
		other.offline = true
		return other, nil
	}
	var err error
	if other.me, err = hub.Whoami(ctx); app.IsInterrupted(err) {
		return nil, err
	}
	if err != nil {
		other.offline, other.failure = true, hub.Fault(err)
	}
	return other, nil
}

// environments lists the environments that are shown below a project: none if it is in one.
func environments(local *workspace.Project) ([]string, error) {
	if local.Env != "" {
		return nil, nil
	}
	return local.Environments()
}

// environments compares the environments of a local project with their hubs.
func (s *status) environments(ctx context.Context, local *workspace.Project) ([]Project, error) {
	names, err := environments(local)
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	var all []Project
	for _, name := range names {
		local := local.In(name)
		p := Project{ProjectName: local.Name, Env: name, Config: None, newSlug: local.NewSlug()}
		var err error
		if p.Origin, err = local.Origin(); err != nil {
			p.problem(err)
		} else if err := s.others[p.Origin].destination(ctx, local, &p); err != nil {
			if app.IsInterrupted(err) {
				return nil, err
			}
			p.problem(err)
		}
		if other := s.others[p.Origin]; other != nil && other != s && other.offline {
			p.hidden = other.failure == nil
			if other.failure != nil {
				p.problem(other.failure)
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// environmentText says in one line how an environment compares with its hub.
func environmentText(w *app.Printer, p Project, unknown string) string {
	text := "no project yet"
	if !p.Project.IsZero() {
		text = p.Project.String()
	}
	if p.Origin != "" {
		text += " on " + p.Origin
	}
	switch {
	case p.Problem != "" && p.Project.IsZero():
		return "problem: " + p.Problem
	case p.Problem != "":
		return text + ", problem: " + p.Problem
	case p.Project.IsZero():
		return text + ": " + w.Command(cmdline.Tool("project", "create").With(p.newSlug).Flag("--from", p.ProjectName).Flag("--env", p.Env))
	case p.Deleted:
		return text + ", deleted; to restore it: " + w.Command(restoreLine(p).Flag("--origin", p.Origin))
	case !p.Exists && p.hidden:
		return text + ", unknown until you log in"
	case !p.Exists && unknown != "" && p.Origin == "":
		return text + ", " + unknown
	case !p.Exists:
		return text + ", not on the hub or not for you"
	}
	return text + ", " + ConfigText(p, unknown)
}
