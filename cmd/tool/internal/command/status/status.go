// Package status says as whom the client would speak, to which hub, and how the
// local projects stand against it.
package status

import (
	"context"
	"errors"
	"io/fs"
	"time"

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

// Result is how things stand.
type Result struct {
	Identity     *Identity       `json:"identity"` // null: no token
	Origin       string          `json:"origin"`
	OriginSource identity.Source `json:"originSource"`
	Projects     []Project       `json:"projects"`
	Notes        []string        `json:"notes"`
}

// Identity is as whom the client speaks.
type Identity struct {
	Name        string          `json:"name"`  // user or bot
	Token       string          `json:"token"` // its first characters
	TokenSource identity.Source `json:"tokenSource"`
	TokenName   string          `json:"tokenName"`
	Scopes      []wire.Scope    `json:"scopes"`
	ExpiresAt   *time.Time      `json:"expiresAt"` // null: never
}

// Project is how a local project compares with the hub.
type Project struct {
	ProjectName       string  `json:"projectName"`
	Project           ref.Ref `json:"project,omitzero"` // its destination
	DestinationSource string  `json:"destinationSource,omitzero"`
	Exists            bool    `json:"exists"` // on the hub, as far as the caller sees
	Authorized        bool    `json:"authorized"`
	Config            State   `json:"config"`
	Stack             ref.Ref `json:"stack,omitzero"`
	StackVersion      string  `json:"stackVersion,omitzero"`   // in stack.json
	StackPublished    string  `json:"stackPublished,omitzero"` // newest on the hub
	StackHidden       bool    `json:"stackHidden,omitzero"`    // whether it is published is not for the caller to know
	Problem           string  `json:"problem,omitzero"`        // what is wrong with its files
}

func (p *Project) problem(err error) {
	if p.Problem != "" {
		p.Problem += "; "
	}
	p.Problem += err.Error()
}

// State is how the local settings stand against the hub's config.
type State string

// States of the settings of a local project.
// The states of local settings compared with the hub's config.
const (
	Same       State = "same"
	Differs    State = "differs" // which side changed is not known
	LocalAhead State = "local-ahead"
	HubAhead   State = "hub-ahead"
	Both       State = "both"
	None       State = "none" // one of the two sides is missing
)

const stage = "status"

// status is one comparison of local projects with the hub.
type status struct {
	app *app.App
	hub *identity.Hub
	me  *wire.Whoami // nil: nobody
}

// Look compares local projects with the hub. It fails only if the hub could not be asked.
func Look(ctx context.Context, a *app.App, locals []*workspace.Project) (*Result, error) {
	id, err := a.Identity()
	if err != nil {
		return nil, failure.At(stage, err)
	}
	s := &status{app: a}
	r := &Result{Origin: id.Origin, OriginSource: id.OriginSource, Projects: []Project{}, Notes: []string{}}
	if s.hub, err = a.ConnectAnyway(); err != nil {
		return nil, failure.At(stage, err)
	}
	if id.Token != "" {
		if s.me, err = s.hub.Whoami(ctx); err != nil {
			return nil, s.fail(err)
		}
		r.Identity = &Identity{
			Name: s.me.Name(), Token: pat.Shown(id.Token), TokenSource: id.TokenSource,
			TokenName: s.me.TokenName, Scopes: s.me.Scopes, ExpiresAt: s.me.ExpiresAt,
		}
	} else {
		r.Notes = append(r.Notes, "there is no token: "+a.CommandText(cmdline.Tool("login").Flag("--origin", r.Origin)))
	}
	if r.Projects, err = s.projects(ctx, locals); err != nil {
		return nil, s.fail(err)
	}
	return r, nil
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

func (s *status) fail(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return app.Explain(s.hub, err).At(stage)
}

// project looks at one local project. What is wrong with its files is part of the answer.
func (s *status) project(ctx context.Context, local *workspace.Project) (Project, error) {
	p := Project{ProjectName: local.Name, Config: None}
	if err := s.stack(ctx, local, &p); err != nil {
		return p, err
	}
	client, err := local.Client()
	if err != nil {
		p.problem(err)
		return p, nil
	}
	if !client.Project.Present() {
		return p, nil
	}
	if p.Project, err = app.Destination(local, client, nil); err != nil {
		p.problem(err)
		return p, nil
	}
	p.DestinationSource = "client.json"
	p.Authorized = s.me != nil && s.me.Writes(p.Project.Account()) && s.me.Has(wire.ScopeWriteConfig)
	return p, s.config(ctx, client, &p)
}

// config compares the local settings with the hub's config.
func (s *status) config(ctx context.Context, client *workspace.Client, p *Project) error {
	current, err := s.hub.Config(ctx, p.Project, "")
	switch {
	case hidden(err):
		return nil
	case err != nil:
		return err
	}
	p.Exists = true
	local, err := client.Config()
	if err != nil {
		p.problem(err)
		return nil
	}
	if current.HasConfig {
		p.Config = compare(local.Revision(), current.Revision, s.app.SyncState().Last(s.hub.Origin(), p.Project))
	}
	return nil
}

// hidden reports that the caller sees no such thing: it is absent, or not for them.
func hidden(err error) bool {
	return hubclient.HasCode(err, wire.CodeNotFound, wire.CodeNotPermitted, wire.CodeUnauthorized)
}

// compare tells which side changed since the revision that both once had.
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
		return err
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
	p.StackPublished = published.Versions[0].Version
	return nil
}
