package status

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"golang.org/x/sync/errgroup"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// status is one comparison of local projects with the hub.
type status struct {
	app *app.App
	hub *identity.Hub
	me  *wire.Whoami // nil: no token

	offline bool  // the hub is not queried
	failure error // why it is not, for the hub of an environment

	others map[string]*status // by the origins of environments
}

// noToken says how to log in to a hub.
func noToken(a *app.App, origin string) string {
	return "there is no token for " + origin + ": " + a.CommandText(cmdline.Tool("login").Flag("--origin", origin))
}

// Look compares local projects with the hub. Where the hub could not be queried, it
// returns what is known without it and the failure.
func Look(ctx context.Context, a *app.App, locals []*workspace.Project) (*Result, error) {
	id, err := a.Identity()
	if err != nil {
		return nil, err
	}
	s := &status{app: a}
	r := &Result{Origin: id.Origin, OriginSource: id.OriginSource, Projects: []Project{}, Notes: []string{}}
	if s.hub, err = a.ConnectAnyway(); err != nil {
		return nil, err
	}
	if id.Token == "" {
		r.Notes = append(r.Notes, noToken(a, r.Origin))
	}
	err = s.query(ctx, id, r, locals)
	switch {
	case err == nil:
		return r, nil
	case app.IsInterrupted(err):
		return nil, err
	}
	s.offline, r.failed = true, true
	r.Projects, _ = s.projects(ctx, locals) // what is wrong with one is its problem
	return r, app.Explain(s.hub, err)
}

// query adds to r what the hub says.
func (s *status) query(ctx context.Context, id *identity.Identity, r *Result, locals []*workspace.Project) (err error) {
	if id.Token != "" {
		if s.me, err = s.hub.Whoami(ctx); err != nil {
			return err
		}
		r.Identity = &Identity{
			Name: s.me.Name(), Token: pat.Shown(id.Token), TokenSource: id.TokenSource,
			TokenName: s.me.TokenName, Scopes: s.me.Scopes, ExpiresAt: s.me.ExpiresAt, Restriction: s.me.Restriction,
		}
	}
	if err := s.connect(ctx, r, locals); err != nil {
		return err
	}
	r.Projects, err = s.projects(ctx, locals)
	return err
}

// atOnce is how many local projects are compared with the hub at the same time.
const atOnce = 6

func (s *status) projects(ctx context.Context, locals []*workspace.Project) ([]Project, error) {
	all := make([]Project, len(locals))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, local := range locals {
		group.Go(func() (err error) {
			all[i], err = s.project(ctx, local)
			return err
		})
	}
	return all, group.Wait()
}

// project looks at one local project. What is wrong with its files is part of the answer.
func (s *status) project(ctx context.Context, local *workspace.Project) (Project, error) {
	p := Project{ProjectName: local.Name, Env: local.Env, Config: None}
	if err := s.stack(ctx, local, &p); err != nil {
		return p, err
	}
	if err := s.destination(ctx, local, &p); err != nil || s.offline {
		return p, err
	}
	var err error
	p.Environments, err = s.environments(ctx, local)
	return p, err
}

// destination looks at the hub project of a local one, and compares their configs.
func (s *status) destination(ctx context.Context, local *workspace.Project, p *Project) error {
	client, err := local.Client()
	if err != nil {
		p.problem(err)
		return nil
	}
	if !client.Project.Present() {
		return nil
	}
	if p.Project, err = app.Destination(local, client, nil); err != nil {
		p.problem(err)
		return nil
	}
	p.DestinationSource = path.Base(local.ClientPath())
	p.Authorized = s.me != nil && s.me.WritesTo(p.Project) && s.me.Has(wire.ScopeWriteConfig)
	return s.config(ctx, local, client, p)
}

// config compares the local settings with the hub's config.
func (s *status) config(ctx context.Context, local *workspace.Project, client *workspace.Client, p *Project) error {
	last := s.last(local, p.Project)
	if s.offline {
		settings, err := client.Config()
		switch {
		case err != nil:
			p.problem(err)
		case last == settings.Revision():
			p.local = "unchanged since the last push or pull"
		case last != "":
			p.local = "changed since the last push or pull"
		}
		return nil
	}
	current, err := s.hub.Config(ctx, p.Project, "")
	switch {
	case hidden(err):
		p.hidden, p.Deleted = s.me == nil, app.IsDeleted(err)
		return nil
	case err != nil:
		return err
	}
	p.Exists = true
	if view, err := s.hub.Project(ctx, p.Project); err == nil { // else the config says enough
		if p.UseStackVersion = view.UseStackVersion; p.UseStackVersion != "" {
			p.UsedVersion = view.StackVersion
		}
	}
	settings, err := client.Config()
	if err != nil {
		p.problem(err)
		return nil
	}
	if current.HasConfig {
		p.Config = compare(settings.Revision(), current.Revision, last)
	}
	return nil
}

// last returns the revision that the settings and the hub's config once had in common, "" where none is
// known: what pulled.json records is of the settings beside it, also in a fresh clone.
func (s *status) last(local *workspace.Project, r ref.Ref) string {
	if bases, err := local.Bases(); err == nil {
		if base := bases.Of(s.hub.Origin(), r); base != nil {
			return base.Revision
		}
	}
	return s.app.SyncState().Last(s.hub.Origin(), r)
}

// hidden reports that the caller sees no such thing: it is absent, or not for them.
func hidden(err error) bool {
	return hubclient.HasCode(err, wire.CodeNotFound, wire.CodeNotPermitted, wire.CodeUnauthorized)
}

// compare returns which side changed since the revision that both once had.
func compare(local, hub, common string) State {
	switch {
	case local == hub:
		return Same
	case common == "":
		return Differs
	case common == hub:
		return LocalAhead
	case common == local:
		return HubAhead
	}
	return Both
}

func (s *status) stack(ctx context.Context, local *workspace.Project, p *Project) error {
	stack, err := local.Stack()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a project needs none until it is published
	}
	if err != nil {
		p.problem(err)
		return nil
	}
	if p.StackVersion, err = stack.Version(); err != nil {
		p.problem(err)
	}
	if !stack.Named() {
		return nil // the first publish names it
	}
	if p.Stack, err = stack.Name(); err != nil {
		p.problem(err)
		return nil
	}
	if s.offline {
		p.StackHidden = true
		return nil
	}
	published, err := s.hub.Stack(ctx, p.Stack)
	switch {
	case app.IsNotFound(err):
		return nil
	case hidden(err):
		p.StackHidden = true
		return nil
	case err != nil:
		return err
	}
	newest := published.Versions[0]
	p.StackPublished = newest.Version
	if !newest.WithdrawnAt.IsZero() {
		p.StackWithdrawn, p.StackLatest = true, published.Latest
	}
	return nil
}

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
				return err
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
