// Package projects shows projects of the hub.
package projects

import (
	"context"
	"errors"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Listed is a list of projects.
type Listed struct {
	Origin   string         `json:"origin"`
	Account  string         `json:"account,omitzero"`
	Projects []wire.Project `json:"projects"`
	Notes    []string       `json:"notes"`
}

// List returns the projects of account, or of all the caller's accounts.
func List(ctx context.Context, connect flow.Connect, account string) (*Listed, error) {
	hub, err := connect()
	if err != nil {
		return nil, failure.At("list", err)
	}
	all, err := hub.Projects(ctx, account)
	if err != nil {
		return nil, failed("list", hub, ref.Ref{}, err)
	}
	return &Listed{Origin: hub.Origin(), Account: account, Projects: all, Notes: []string{}}, nil
}

// Viewed is one project.
type Viewed struct {
	wire.Project `json:",inline"`
	Origin       string   `json:"origin"`
	Notes        []string `json:"notes"`
}

// ViewOptions say which project to show.
type ViewOptions struct {
	Name    string // @account/slug; "": the local project's destination
	Connect flow.Connect
	Local   func() (*workspace.Project, error)
}

// View returns one project.
func View(ctx context.Context, o ViewOptions) (*Viewed, error) {
	target, err := o.target()
	if err != nil {
		return nil, failure.At(flow.StageDestination, err)
	}
	hub, err := o.Connect()
	if err != nil {
		return nil, failure.At("view", err)
	}
	p, err := hub.Project(ctx, target)
	if err != nil {
		return nil, failed("view", hub, target, err)
	}
	return &Viewed{Project: *p, Origin: hub.Origin(), Notes: []string{}}, nil
}

func (o ViewOptions) target() (ref.Ref, error) {
	if o.Name != "" {
		return flow.ParseDestination(o.Name, "")
	}
	local, err := o.Local()
	if err != nil {
		return ref.Ref{}, err
	}
	client, err := local.Client()
	if err != nil {
		return ref.Ref{}, err
	}
	r, err := flow.Destination(local, client, nil)
	if err != nil {
		return r, failure.Of(err).WithHint("name a project, as @account/slug").Try(cmdline.Tool("project", "list"))
	}
	return r, nil
}

func failed(stage string, hub *identity.Hub, target ref.Ref, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := failure.Of(failure.At(stage, hub.Fault(err)))
	e.Origin, e.Project = hub.Origin(), target
	if e.Code == wire.CodeNotFound && !target.IsZero() {
		e.Recipe = []cmdline.Line{cmdline.Tool("project", "list").With(target.Account())}
	}
	return e
}
