package status

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

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
	me     *wire.Whoami // nil: no token
	failed error        // why it does not say who the caller is, for the hub of an environment
}

// comparison compares a local project, or one of its environments, with a hub.
type comparison struct {
	*Project
	hub      *hub
	settings string // their revision, "" if they are malformed
	common   string // the revision that the settings and the config once had in common, "" if it is not known
	failed   error  // why the hub does not say what its config is, for an environment
}

// look collects what is compared.
type look struct {
	app    *app.App
	result *Result
	hubs   []*hub // that of the command first

	projects, environments []*comparison
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
		Origin: id.Origin, OriginSource: id.OriginSource, Projects: make([]Project, len(locals)), Notes: []string{},
	}
	l := &look{app: a, result: r}
	main := l.add(connected)
	for i, local := range locals {
		l.readStack(&r.Projects[i], local)
		l.projects = append(l.projects, l.compare(&r.Projects[i], local, main))
		l.readEnvironments(&r.Projects[i], local)
	}
	err = l.ask(ctx)
	if me := main.me; me != nil {
		r.Identity = &Identity{
			Name: me.Name(), Token: pat.Shown(id.Token), TokenSource: id.TokenSource,
			TokenName: me.TokenName, Scopes: me.Scopes, ExpiresAt: me.ExpiresAt, Restriction: me.Restriction,
		}
	}
	switch {
	case app.IsInterrupted(err):
		return nil, err
	case err != nil:
		r.failed = true
		r.Projects = make([]Project, len(locals))
		for i, local := range locals {
			l.readStack(&r.Projects[i], local)
			l.compare(&r.Projects[i], local, main).withoutHub()
		}
		return r, app.Explain(connected, err)
	}
	for _, c := range slices.Concat(l.projects, l.environments) {
		me := c.hub.me
		c.Authorized = me != nil && me.WritesTo(c.Project.Project) && me.Has(wire.ScopeWriteConfig)
		c.problem(c.hub.Fault(cmp.Or(c.hub.failed, c.failed)))
	}
	return r, nil
}

// add adds a hub, and says how to log in to one without a token.
func (l *look) add(connected *identity.Hub) *hub {
	h := &hub{Hub: connected}
	l.hubs = append(l.hubs, h)
	if origin := h.Origin(); h.Identity.Token == "" {
		login := cmdline.Tool("login").Flag("--origin", origin)
		l.result.Notes = append(l.result.Notes, "there is no token for "+origin+": "+l.app.CommandText(login))
	}
	return h
}

// readStack reads the stack of a local project. What is wrong with its files is part of the result.
func (l *look) readStack(p *Project, local *workspace.Project) {
	*p = Project{ProjectName: local.Name, Env: local.Env, Config: None}
	stack, err := local.Stack()
	if errors.Is(err, fs.ErrNotExist) {
		return // it needs none until it is published
	}
	if err != nil {
		p.problem(err)
		return
	}
	p.StackVersion, err = stack.Version()
	p.problem(err)
	if stack.Named() { // else the first publish names it
		p.Stack, err = stack.Name()
		p.problem(err)
	}
}

// compare reads the destination and the settings of a local project, which are compared with h.
func (l *look) compare(p *Project, local *workspace.Project, h *hub) *comparison {
	c := &comparison{Project: p, hub: h}
	client, err := local.Client()
	if err == nil && client.Project.Present() {
		p.Project, err = app.Destination(local, client, nil)
	}
	if err != nil || p.Project.IsZero() {
		p.problem(err)
		return c
	}
	p.DestinationSource = path.Base(local.ClientPath())
	settings, err := client.Config()
	if err != nil {
		p.problem(err)
		return c
	}
	c.settings, c.common = settings.Revision(), l.app.SyncState().Last(h.Origin(), p.Project)
	// What pulled.json records is of the settings beside it, also in a fresh clone.
	if bases, err := local.Bases(); err == nil {
		if base := bases.Of(h.Origin(), p.Project); base != nil {
			c.common = base.Revision
		}
	}
	return c
}

// readEnvironments reads the environments of a local project, unless it is in one. What keeps
// one from being compared is its problem.
func (l *look) readEnvironments(p *Project, local *workspace.Project) {
	if local.Env != "" {
		return
	}
	names, err := local.Environments()
	p.problem(err)
	for _, name := range names {
		p.Environments = append(p.Environments, Project{ProjectName: local.Name, Env: name, Config: None})
	}
	for i := range names {
		e := &p.Environments[i]
		local := local.In(e.Env)
		e.newSlug = local.NewSlug()
		var h *hub
		if e.Origin, err = local.Origin(); err == nil {
			h, err = l.hubAt(e.Origin)
		}
		if err != nil {
			e.problem(err)
			continue
		}
		e.loggedOut = h.Identity.Token == ""
		l.environments = append(l.environments, l.compare(e, local, h))
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

// ask asks the hubs who the caller is and what they have. It fails if the hub of the command
// does; what another one does not answer is a problem of its environments.
func (l *look) ask(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	run := func(failed *error, ask func(context.Context) error) {
		group.Go(func() error {
			err := ask(ctx)
			if failed == nil || app.IsInterrupted(err) {
				return err
			}
			*failed = err
			return nil
		})
	}
	main := l.hubs[0]
	run(nil, main.askCaller)
	for _, h := range l.hubs[1:] {
		run(&h.failed, h.askCaller)
	}
	for _, c := range l.projects {
		run(nil, c.askProject)
		run(nil, c.askStack)
	}
	for _, c := range l.environments {
		if c.hub == main || !c.loggedOut { // only a file names the other hub
			run(&c.failed, c.askProject)
		}
	}
	return group.Wait()
}

// askCaller asks who the caller is, if there is a token.
func (h *hub) askCaller(ctx context.Context) error {
	if h.Identity.Token == "" {
		return nil
	}
	me, err := h.Whoami(ctx)
	if err == nil {
		h.me = me
	}
	return err
}

// askProject asks for the hub project, which says what its config is.
func (c *comparison) askProject(ctx context.Context) error {
	if c.Project.Project.IsZero() {
		return nil
	}
	view, err := c.hub.Project(ctx, c.Project.Project)
	switch {
	case hidden(err):
		c.Deleted = app.IsDeleted(err)
		return nil
	case err != nil:
		return err
	}
	c.Exists = true
	if c.UseStackVersion = view.UseStackVersion; c.UseStackVersion != "" {
		c.UsedVersion = view.StackVersion
	}
	if view.Config.HasConfig && c.settings != "" {
		c.Config = stateOf(c.settings, view.Config.Revision, c.common)
	}
	return nil
}

// hidden reports that the caller sees no such thing: it is absent, or not for them.
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

// askStack asks which version of the stack is published.
func (c *comparison) askStack(ctx context.Context) error {
	if c.Stack.IsZero() {
		return nil
	}
	published, err := c.hub.Stack(ctx, c.Stack)
	switch {
	case app.IsNotFound(err):
		return nil
	case hidden(err):
		c.StackHidden = true
		return nil
	case err != nil:
		return err
	}
	newest := published.Versions[0]
	c.StackPublished = newest.Version
	if !newest.WithdrawnAt.IsZero() {
		c.StackWithdrawn, c.StackLatest = true, published.Latest
	}
	return nil
}

// withoutHub says what is known without the hub.
func (c *comparison) withoutHub() {
	c.StackHidden = !c.Stack.IsZero()
	switch {
	case c.settings == "" || c.common == "":
	case c.settings == c.common:
		c.local = "unchanged since the last push or pull"
	default:
		c.local = "changed since the last push or pull"
	}
}
