// Package remove deletes a project of the hub. Deleting one that is gone already
// is no failure.
package remove

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Options are everything that a removal needs to know.
type Options struct {
	Name    string // slug, or @account/slug
	Connect flow.Connect

	// Local gives the local project that a bare slug takes its account from.
	Local func() (*workspace.Project, error)

	// Confirm is asked before anything is deleted; nil deletes.
	Confirm func(context.Context, Question) (bool, error)
}

// Question is what a person is asked about.
type Question struct {
	Project ref.Ref
	Origin  string
}

// Result is a project that is gone.
type Result struct {
	Project ref.Ref  `json:"project"`
	Origin  string   `json:"origin"`
	Existed bool     `json:"existed"` // false: it was gone already
	Notes   []string `json:"notes"`

	// Ambiguous: whether it was gone already, or an attempt without a response has
	// deleted it, is not known. Existed is then false.
	Ambiguous bool `json:"ambiguous,omitzero"`
}

// Run deletes. It returns nil without an error when the person said no.
func Run(ctx context.Context, o Options) (*Result, *flow.Aborted, error) {
	target, err := resolve(o)
	if err != nil {
		return nil, nil, failure.At(flow.StageDestination, err)
	}
	hub, err := o.Connect()
	if err != nil {
		return nil, nil, failed(target, nil, err)
	}
	if o.Confirm != nil {
		yes, err := o.Confirm(ctx, Question{target, hub.Origin()})
		if err != nil {
			return nil, nil, failed(target, hub, err)
		}
		if !yes {
			return nil, &flow.Aborted{Project: target, Origin: hub.Origin()}, nil
		}
	}
	before, err := look(ctx, hub, target)
	if err != nil {
		return nil, nil, failed(target, hub, err)
	}
	deleted, err := hub.DeleteProject(ctx, target)
	if err != nil {
		return nil, nil, failed(target, hub, err)
	}
	r := &Result{Project: target, Origin: hub.Origin(), Existed: deleted.Existed || deleted.Ambiguous && before == present, Notes: []string{}}
	switch {
	case deleted.Ambiguous && before == hidden:
		r.Ambiguous = true
		r.Notes = append(r.Notes, fmt.Sprintf("%s does not exist: it was deleted by this command, in an attempt without a response, or did not exist before", target))
	case !r.Existed:
		r.Notes = append(r.Notes, missing(ctx, hub, target))
	}
	return r, nil, nil
}

// existence is what is known of a project before it is deleted.
type existence int

const (
	absent existence = iota
	present
	hidden // from this token
)

// look finds out whether the project exists, because the hub's answer to a deletion
// whose first response was lost no longer says so.
func look(ctx context.Context, hub *identity.Hub, target ref.Ref) (existence, error) {
	_, err := hub.Project(ctx, target)
	switch {
	case err == nil:
		return present, nil
	case flow.IsNotFound(err):
		return absent, nil
	case hubclient.HasCode(err, wire.CodeNotPermitted):
		return hidden, nil
	}
	return hidden, err
}

func failed(target ref.Ref, hub *identity.Hub, err error) error {
	if hub != nil {
		err = hub.Fault(err)
	}
	e := failure.Of(failure.At(flow.StageRemove, err))
	e.Project = target
	if hub != nil {
		e.Origin = hub.Origin()
	}
	return e
}

// resolve returns the project that a name means. A bare slug takes the account of
// the local project: of its destination when that has this slug, else of its stack.
func resolve(o Options) (ref.Ref, error) {
	if !ref.ValidName(o.Name) {
		r, err := ref.ParseTyped(o.Name)
		if err != nil {
			return ref.Ref{}, failure.New(hubclient.CodeInvalidName, "%q names no project", o.Name).
				WithHint("a project's name is SLUG or @ACCOUNT/SLUG, each part of %s", ref.Rule)
		}
		return r, nil
	}
	local, err := o.Local()
	if err != nil {
		e := failure.Of(err)
		if e.Code == failure.CodeNoWorkspace || e.Hint == "" { // no local project to take an account from
			e = e.WithHint("in which account is %s? Give its whole name, @account/%s", o.Name, o.Name)
			e.Recipe = []cmdline.Line{cmdline.Tool("project", "list")}
		}
		return ref.Ref{}, e
	}
	if client, err := local.Client(); err == nil {
		if r, err := ref.Parse(client.Project.Text); err == nil && r.Slug() == o.Name {
			return r, nil
		}
	}
	stack, err := local.Stack()
	if err != nil {
		return ref.Ref{}, err
	}
	name, err := stack.Name()
	if err != nil {
		return ref.Ref{}, err
	}
	return ref.New(name.Account(), o.Name)
}

// missing says that there was nothing to delete, and which slug is near.
func missing(ctx context.Context, hub *identity.Hub, target ref.Ref) string {
	note := fmt.Sprintf("there is no %s on %s", target, hub.Origin())
	projects, err := hub.Projects(ctx, target.Account())
	if err != nil {
		return note
	}
	var slugs []string
	for _, p := range projects {
		slugs = append(slugs, p.Project.Slug())
	}
	if near := cmdline.Nearest(target.Slug(), slugs); near != "" {
		note += fmt.Sprintf("; did you mean @%s/%s?", target.Account(), near)
	}
	return note
}
