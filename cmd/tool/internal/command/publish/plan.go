package publish

import (
	"context"
	"fmt"
	"slices"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
)

// Plan is what a publish will do. A dry run prints it.
type Plan struct {
	ProjectName      string   `json:"projectName"`
	Env              string   `json:"environment,omitzero"`
	Origin           string   `json:"origin"`
	Stack            string   `json:"stack"` // account/slug
	Version          string   `json:"version"`
	Latest           string   `json:"latest"` // before; "" for a first version
	Digest           string   `json:"digest"`
	FileCount        int      `json:"fileCount"`
	Bytes            int64    `json:"bytes"`
	Files            []string `json:"files"`
	FirstVersion     bool     `json:"firstVersion"`
	AlreadyPublished bool     `json:"alreadyPublished"`
	Followers        int      `json:"followers"` // projects on latest
	Authorized       bool     `json:"authorized"`
	Notes            []string `json:"notes"`
}

// plan reads the stack, asks the hub what is published, and refuses what the hub would
// refuse, before anything is sent. writes: the plan is to be applied.
func (p *publish) plan(ctx context.Context, writes bool) (*Plan, error) {
	err := p.read(ctx)
	if err != nil {
		return nil, err
	}
	p.transfer.Hide()
	if p.hub, err = p.app.ConnectTo(ctx, writes); err != nil {
		return nil, err
	}
	if p.unnamed != nil {
		if err := p.nameAfterLogin(ctx); err != nil {
			return nil, err
		}
	}
	if p.there, err = p.hub.Stack(ctx, p.stack); app.IsNotFound(err) {
		p.there, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	plan := &Plan{
		ProjectName: p.local.Name, Env: p.local.Env, Origin: p.hub.Origin(), Stack: p.stack.Path(), Version: p.version,
		Digest: p.Digest, FileCount: len(p.Tree), Bytes: p.files.Bytes,
		FirstVersion: p.there == nil, AlreadyPublished: p.published() != nil, Notes: []string{},
	}
	for _, f := range p.Tree {
		plan.Files = append(plan.Files, f.Path)
	}
	if p.there != nil {
		plan.Latest = p.there.Latest
		if p.there.Followers != nil {
			plan.Followers = *p.there.Followers
		}
	}
	note := func(format string, args ...any) {
		plan.Notes = append(plan.Notes, fmt.Sprintf("publishing "+format+"; the digest is without it", args...))
	}
	if p.unnamed != nil {
		note("adds the name %s, after your login, to %s", p.stack, p.stackPath())
	}
	if p.former != "" {
		note("raises the version in %s from %s to %s", p.stackPath(), p.former, p.version)
	}
	if !writes {
		me, err := p.hub.Whoami(ctx)
		if err != nil {
			return nil, err
		}
		plan.Authorized = me.Writes(p.stack.Account()) && me.Has(wire.ScopeWriteCatalog)
	}
	return plan, nil
}

// read reads the stack from the workspace.
func (p *publish) read(ctx context.Context) error {
	stack, err := p.local.Stack()
	if err != nil {
		return failure.At(app.StageStack, err)
	}
	p.unnamed = nil
	if !stack.Named() {
		p.unnamed = stack
	} else if p.stack, err = stack.Name(); err != nil {
		return failure.At(app.StageStack, err)
	}
	if p.version, err = stack.Version(); err != nil {
		return failure.At(app.StageStack, err)
	}
	if p.opts.Bump != "" && !p.raised {
		p.former, p.version = p.version, version.Bump(p.version, version.Part(p.opts.Bump))
	}
	if p.files, err = p.app.Bundle(ctx, p.local, wire.Limits{}); err != nil {
		return failure.At(app.StageRead, err)
	}
	if p.Snapshot, err = p.files.Hash(ctx, app.Report(p.transfer.Update).Of(p.files, app.Hashing)); err != nil {
		return failure.At(app.StageRead, err)
	}
	_, err = app.CheckManifest(p.local, p.files, p.Tree)
	return failure.At(app.StageStack, err)
}

// nameAfterLogin names the stack after the user who is logged in.
func (p *publish) nameAfterLogin(ctx context.Context) error {
	me, err := p.hub.Whoami(ctx)
	if err != nil {
		return err
	}
	if p.stack, err = ref.New(me.User, workspace.SlugOf(p.local.Name)); err != nil {
		_, err = p.unnamed.Name() // a bot has no account of its own
	}
	return failure.At(app.StageStack, err)
}

// check refuses what the hub would refuse. A name that is still to be added to stack.json
// is part of what is compared.
func (p *publish) check() error {
	if p.there == nil || p.unnamed != nil {
		return nil
	}
	newest := p.there.Versions[0].Version // a stack is created with its first version
	there := p.sameVersion()
	switch {
	case there != nil && !there.WithdrawnAt.IsZero():
		return failure.New(wire.CodeVersionExists, "%s %s was withdrawn, and cannot be published again", p.stack, p.version)
	case there != nil && there.Digest != p.Digest:
		return failure.New(wire.CodeVersionExists,
			"%s %s is already published with other files, and a published version never changes", p.stack, p.version)
	case there == nil && version.Compare(p.version, newest) < 0:
		return failure.New(wire.CodeVersionNotNewer, "%s is not above %s, the newest version of %s",
			p.version, newest, p.stack)
	}
	return nil
}

// sameVersion returns what the hub has as this version, nil for nothing.
func (p *publish) sameVersion() *wire.StackVersion {
	if p.there == nil {
		return nil
	}
	i := slices.IndexFunc(p.there.Versions, func(v wire.StackVersion) bool { return v.Version == p.version })
	if i < 0 {
		return nil
	}
	return &p.there.Versions[i]
}

// published returns the version that is there already with this content.
func (p *publish) published() *wire.StackVersion {
	if there := p.sameVersion(); there != nil && there.Digest == p.Digest {
		return there
	}
	return nil
}
