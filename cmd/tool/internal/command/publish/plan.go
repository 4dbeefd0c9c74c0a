package publish

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
)

// planned is what a publish will do. A dry run prints it.
type planned struct {
	app.About        `json:",inline"`
	Stack            string   `json:"stack"` // account/slug
	Version          string   `json:"version"`
	Latest           string   `json:"latest"` // before; "" for a first version
	Digest           string   `json:"digest"`
	FileCount        int      `json:"fileCount"`
	Bytes            int64    `json:"bytes"`
	Files            []string `json:"files"`
	FirstVersion     bool     `json:"firstVersion"`
	AlreadyPublished bool     `json:"alreadyPublished"`
	Followers        int      `json:"followers"`  // projects on latest
	Authorized       bool     `json:"authorized"` // in a dry run; else not asked
	app.Noted        `json:",inline"`
}

func (*planned) Kind() string { return "planned" }

func (r *planned) Text(w *app.Printer) {
	switch {
	case r.AlreadyPublished:
		w.Head("@%s %s is published already, with the same content", r.Stack, r.Version)
	case r.FirstVersion:
		w.Head("Publishing %s would make the stack @%s, with version %s", r.ProjectName, r.Stack, r.Version)
	default:
		w.Head("Publishing %s would add version %s to @%s", r.ProjectName, r.Version, r.Stack)
	}
	if r.Latest != "" {
		w.Field("latest", "%s now, followed by %s", r.Latest, r.followers())
	}
	w.Field("files", "%d, %s", r.FileCount, app.Bytes(r.Bytes))
	w.Paths("+", r.Files, nil)
	w.Detail("digest", "%s", r.Digest)
	if !r.Authorized {
		w.Line("  note: this token may not publish there")
	}
}

// followers says how many projects follow the stack. The hub counts no more than MostFollowers.
func (r *planned) followers() string {
	if r.Followers >= wire.MostFollowers {
		return fmt.Sprintf("%d or more projects", r.Followers)
	}
	return app.Count(r.Followers, "project", "projects")
}

// plan reads the stack, asks the hub what is published, and refuses what the hub would
// refuse, before anything is sent. writes: the plan is to be applied.
func (p *publish) plan(ctx context.Context, writes bool) (plan *planned, err error) {
	if err := p.read(ctx); err != nil {
		return nil, err
	}
	p.transfer.Hide()
	if p.hub, err = p.app.ConnectTo(ctx, writes); err != nil {
		return nil, err
	}
	me := &wire.Whoami{}
	if p.unnamed != nil || !writes {
		if me, err = p.hub.Whoami(ctx); err != nil {
			return nil, err
		}
	}
	if p.unnamed != nil { // it is named after the login; a bot has no account of its own
		if p.stack, err = ref.New(me.User, workspace.SlugOf(p.local.Name)); err != nil {
			_, err = p.unnamed.Name() // fails, and says how to name it
			return nil, failure.At(app.StageStack, err)
		}
	}
	p.hubStack, err = p.hub.Stack(ctx, p.stack)
	if app.IsNotFound(err) {
		p.hubStack, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	plan = &planned{
		About:            p.about(),
		Stack:            p.stack.Path(),
		Version:          p.version,
		Digest:           p.Digest,
		FileCount:        len(p.Tree),
		Bytes:            p.files.Bytes,
		FirstVersion:     p.hubStack == nil,
		AlreadyPublished: p.hubVersion != nil,
		Authorized:       me.Writes(p.stack.Account()) && me.Has(wire.ScopeWriteCatalog),
	}
	for _, f := range p.Tree {
		plan.Files = append(plan.Files, f.Path)
	}
	if p.hubStack != nil {
		plan.Latest = p.hubStack.Latest
		if p.hubStack.Followers != nil {
			plan.Followers = *p.hubStack.Followers
		}
	}
	if p.unnamed != nil {
		plan.Note("publishing adds the name %s, after your login, to %s; the digest is without it", p.stack, p.stackPath())
	}
	if p.formerVersion != "" {
		plan.Note("publishing raises the version in %s from %s to %s; the digest is without it",
			p.stackPath(), p.formerVersion, p.version)
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
		p.formerVersion, p.version = p.version, version.Bump(p.version, version.Part(p.opts.Bump))
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

// check finds the version on the hub, and refuses what the hub would refuse. A name that is still
// to be added to stack.json is part of what is compared.
func (p *publish) check() error {
	p.hubVersion = nil
	if p.hubStack == nil || p.unnamed != nil {
		return nil
	}
	for _, v := range p.hubStack.Versions {
		if v.Version == p.version {
			p.hubVersion = &v
		}
	}
	if p.hubVersion == nil {
		if version.Compare(p.version, p.newestVersion()) < 0 {
			return failure.New(wire.CodeVersionNotNewer, "%s is not above %s, the newest version of %s",
				p.version, p.newestVersion(), p.stack)
		}
		return nil
	}
	if !p.hubVersion.WithdrawnAt.IsZero() {
		return failure.New(wire.CodeVersionExists, "%s %s was withdrawn, and cannot be published again", p.stack, p.version)
	}
	if p.hubVersion.Digest != p.Digest {
		return failure.New(wire.CodeVersionExists,
			"%s %s is already published with other files, and a published version never changes", p.stack, p.version)
	}
	return nil
}

// newestVersion returns the highest version of hubStack, which has at least one.
func (p *publish) newestVersion() string { return p.hubStack.Versions[0].Version }
