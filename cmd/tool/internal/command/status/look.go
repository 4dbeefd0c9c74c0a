package status

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"

	"golang.org/x/sync/errgroup"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
)

// atOnce is how many requests are sent at the same time.
const atOnce = 16

// hub is a hub that projects are compared with.
type hub struct {
	*identity.Hub
	me     *wire.Whoami // the caller; nil: no token
	failed error        // why the hub of an environment does not say who the caller is
}

// look compares projects with hubs.
type look struct {
	app    *app.App
	result *Result
	hubs   []*hub // each origin once, that of the command first
}

// Look compares local projects with the hub, and their environments with theirs. It asks
// everything at once. If the hub cannot be queried, it returns the failure and what is known
// without the hub.
func Look(ctx context.Context, a *app.App, locals []*workspace.Project) (*Result, error) {
	connected, err := a.ConnectAnyway()
	if err != nil {
		return nil, err
	}
	id := connected.Identity
	r := &Result{
		Origin:       id.Origin,
		OriginSource: id.OriginSource,
		Logins:       []Login{},
		Projects:     make([]Project, len(locals)),
		Notes:        []string{},
	}
	// A pipeline that has its token does not need the login file, which may be damaged.
	if id.TokenSource == "" || id.TokenSource == identity.FromLogin {
		r.Logins = otherLogins(a, id.Origin)
	}
	l := &look{app: a, result: r}
	main := l.add(connected)
	for i, local := range locals {
		r.Projects[i] = l.read(local, main)
		l.readEnvironments(&r.Projects[i], local)
	}
	err = l.fetch(ctx)
	if me := main.me; me != nil {
		r.Identity = &Identity{
			Name:        me.Name(),
			Token:       pat.Shown(id.Token),
			TokenSource: id.TokenSource,
			TokenName:   me.TokenName,
			Scopes:      me.Scopes,
			ExpiresAt:   me.ExpiresAt,
			Restriction: me.Restriction,
		}
	}
	switch {
	case app.IsInterrupted(err):
		return nil, err
	case err != nil:
		r.failed = true
		for i, local := range locals {
			r.Projects[i] = l.read(local, main) // again, without the answers before the failure
			r.Projects[i].withoutHub()
		}
		return r, app.Explain(connected, err)
	}
	for i := range r.Projects {
		r.Projects[i].conclude()
	}
	return r, nil
}

// otherLogins returns the logins that are stored for other hubs than origin.
func otherLogins(a *app.App, origin string) []Login {
	others := []Login{}
	if logins, err := a.Logins(); err == nil {
		for _, login := range logins.Logins {
			if login.Origin != origin {
				others = append(others, Login{login.Origin, login.User, login.ExpiresAt})
			}
		}
	}
	return others
}

// add adds a hub, and says how to log in to one without a token.
func (l *look) add(connected *identity.Hub) *hub {
	h := &hub{Hub: connected}
	l.hubs = append(l.hubs, h)
	if h.Identity.Token == "" {
		login := cmdline.Tool("login").Flag("--origin", h.Origin())
		l.result.Notes = append(l.result.Notes, "there is no token for "+h.Origin()+": "+l.app.CommandText(login))
	}
	return h
}

// read reads a local project that is compared with h. What is wrong with its files is part of
// the result.
func (l *look) read(local *workspace.Project, h *hub) Project {
	p := Project{ProjectName: local.Name, Env: local.Env, Config: None}
	if stack, err := local.Stack(); err == nil {
		p.StackVersion, err = stack.Version()
		p.problem(err)
		if stack.Named() { // else the first publish names it
			p.Stack, err = stack.Name()
			p.problem(err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) { // it needs none until it is published
		p.problem(err)
	}
	l.readSettings(&p, local, h)
	return p
}

// readSettings reads the destination and the settings of a local project.
func (l *look) readSettings(p *Project, local *workspace.Project, h *hub) {
	p.hub = h
	client, err := local.Client()
	if err == nil && client.Project.Present() {
		p.Project, err = l.app.Destination(local, client, nil)
	}
	if err != nil || p.Project.IsZero() {
		p.problem(err)
		return
	}
	p.DestinationSource = path.Base(local.ClientPath())
	settings, err := client.Config()
	if err != nil {
		p.problem(err)
		return
	}
	p.settings, p.common = settings.Revision(), l.app.SyncState().Last(h.Origin(), p.Project)
	// pulled.json is about the settings in the same directory, also in a fresh clone. If it is malformed, the sync
	// state of this machine is used.
	if bases, err := local.Bases(); err == nil {
		if base := bases.Of(h.Origin(), p.Project); base != nil {
			p.common = base.Revision
		}
	}
}

// readEnvironments reads the environments of a local project, unless it is in one. If one cannot be
// compared, its problem says why.
func (l *look) readEnvironments(p *Project, local *workspace.Project) {
	if local.Env != "" {
		return
	}
	names, err := local.Environments()
	p.problem(err)
	for _, name := range names {
		local := local.In(name)
		e := Project{ProjectName: local.Name, Env: name, Config: None, newSlug: local.NewSlug()}
		var h *hub
		if e.Origin, err = local.Origin(); err == nil {
			h, err = l.hubAt(e.Origin)
		}
		if err == nil {
			l.readSettings(&e, local, h)
		} else {
			e.problem(err)
		}
		p.Environments = append(p.Environments, e)
	}
}

// hubAt returns the hub at the origin of an environment.
func (l *look) hubAt(origin string) (*hub, error) {
	if origin == "" {
		return l.hubs[0], nil
	}
	for _, h := range l.hubs {
		if h.Origin() == origin {
			return h, nil
		}
	}
	connected, err := l.app.HubOfEnvironment(origin)
	if err != nil {
		return nil, err
	}
	return l.add(connected), nil
}

// fetch asks the hubs who the caller is and what they have, everything at once. It fails if the command's hub
// fails; errors of other hubs are problems of their environments.
func (l *look) fetch(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	// run starts fetch. Its error is stored in *failed or, if failed is nil, ends all of them.
	run := func(failed *error, fetch func(context.Context) error) {
		group.Go(func() error {
			err := fetch(ctx)
			if failed == nil || app.IsInterrupted(err) {
				return err
			}
			*failed = err
			return nil
		})
	}
	main := l.hubs[0]
	run(nil, main.fetchCaller)
	for _, h := range l.hubs[1:] {
		run(&h.failed, h.fetchCaller)
	}
	for i := range l.result.Projects {
		p := &l.result.Projects[i]
		run(nil, p.fetchProject)
		run(nil, p.fetchStack)
		for j := range p.Environments {
			e := &p.Environments[j]
			if e.hub == main || !e.loggedOut() { // a hub that only a file names is not called without a token
				run(&e.failed, e.fetchProject)
			}
		}
	}
	return group.Wait()
}

// fetchCaller finds out who the caller is, if there is a token.
func (h *hub) fetchCaller(ctx context.Context) error {
	if h.Identity.Token == "" {
		return nil
	}
	me, err := h.Whoami(ctx)
	if err != nil {
		return err
	}
	h.me = me
	return nil
}

// loggedOut reports that there is no token for the hub.
func (p *Project) loggedOut() bool { return p.hub == nil || p.hub.Identity.Token == "" }

// fetchProject fetches the hub project, which says what its config is.
func (p *Project) fetchProject(ctx context.Context) error {
	if p.Project.IsZero() {
		return nil
	}
	view, err := p.hub.Project(ctx, p.Project)
	switch {
	case hidden(err):
		p.Deleted = app.IsDeleted(err)
		return nil
	case err != nil:
		return err
	}
	p.Exists = true
	p.UseStackVersion = view.UseStackVersion
	if p.UseStackVersion != "" {
		p.UsedVersion = view.StackVersion
	}
	if view.Config.HasConfig && p.settings != "" {
		p.Config = stateOf(p.settings, view.Config.Revision, p.common)
	}
	return nil
}

// hidden reports whether err means that something does not exist, or that the caller may not see it.
func hidden(err error) bool {
	return hubclient.HasCode(err, wire.CodeNotFound, wire.CodeNotPermitted, wire.CodeUnauthorized)
}

// stateOf says which side changed since the revision that both had in common.
func stateOf(local, hub, common string) State {
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

// fetchStack finds out which version of the stack is published.
func (p *Project) fetchStack(ctx context.Context) error {
	if p.Stack.IsZero() {
		return nil
	}
	published, err := p.hub.Stack(ctx, p.Stack)
	switch {
	case app.IsNotFound(err):
		return nil
	case hidden(err):
		p.StackHidden = true
		return nil
	case err != nil:
		return err
	}
	newest := published.Versions[0] // a stack is published with its first version
	p.StackPublished = newest.Version
	if !newest.WithdrawnAt.IsZero() {
		p.StackWithdrawn, p.StackLatest = true, published.Latest
	}
	return nil
}

// withoutHub says what is known without the hub.
func (p *Project) withoutHub() {
	p.StackHidden = !p.Stack.IsZero()
	if p.settings == "" || p.common == "" {
		return
	}
	if p.settings == p.common {
		p.local = "unchanged since the last push or pull"
	} else {
		p.local = "changed since the last push or pull"
	}
}

// conclude sets what follows from the answers of the hub.
func (p *Project) conclude() {
	if p.hub != nil {
		me := p.hub.me
		present := p.hub.PresentName(p.Project)
		if present != p.Project {
			p.RenamedTo = present
		}
		p.Authorized = me != nil && me.WritesTo(present) && me.Has(wire.ScopeWriteConfig)
		p.problem(p.hub.Fault(cmp.Or(p.hub.failed, p.failed)))
	}
	for i := range p.Environments {
		p.Environments[i].conclude()
	}
}
