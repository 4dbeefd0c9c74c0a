// Package publish ships a version of a stack to the hub. A published version
// never changes, so publishing the same content again changes nothing.
package publish

import (
	"context"
	"fmt"
	"io"
	"slices"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
)

// Options are everything that a publish needs to know.
type Options struct {
	Local   *workspace.Project
	Connect flow.Connect

	CacheDir string // where hashes are remembered
	Report   flow.Report

	// Confirm is asked before a version is published; nil publishes.
	Confirm func(context.Context, *Planned) (bool, error)
}

// Result is a version that is published.
type Result struct {
	ProjectName      string   `json:"projectName"`
	Origin           string   `json:"origin"`
	Stack            string   `json:"stack"` // account/slug
	Version          string   `json:"version"`
	Digest           string   `json:"digest"`
	SizeBytes        int64    `json:"sizeBytes"`
	FileCount        int      `json:"fileCount"`
	FirstVersion     bool     `json:"firstVersion"`
	AlreadyPublished bool     `json:"alreadyPublished"`
	Notes            []string `json:"notes"`
}

// Planned is what a publish would do.
type Planned struct {
	ProjectName      string   `json:"projectName"`
	Origin           string   `json:"origin"`
	Stack            string   `json:"stack"`
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

// publish is one publish on its way.
type publish struct {
	Options
	stack      ref.Ref
	unnamed    *workspace.Stack // stack.json has no name yet; nil: it has
	named      bool             // by this publish
	version    string
	files      *basefiles.Selection
	tree.Snapshot // of files
	hub        *identity.Hub
	there      *wire.Stack // nil: never published
}

// Run publishes. It returns nil without an error when the person said no.
func Run(ctx context.Context, o Options) (*Result, *flow.Aborted, error) {
	p, err := prepare(ctx, o)
	if err != nil {
		return nil, nil, p.fail(err)
	}
	if o.Confirm != nil && p.published() == nil {
		yes, err := o.Confirm(ctx, p.plan())
		if err != nil {
			return nil, nil, p.fail(err)
		}
		if !yes {
			return nil, &flow.Aborted{ProjectName: o.Local.Name, Origin: p.hub.Origin()}, nil
		}
	}
	if err := p.name(ctx); err != nil {
		return nil, nil, p.fail(err)
	}
	r := &Result{
		ProjectName: o.Local.Name, Origin: p.hub.Origin(), Stack: p.stack.Path(), Version: p.version, Notes: p.notes(),
	}
	if there := p.published(); there != nil {
		r.AlreadyPublished = true
		r.Digest, r.SizeBytes, r.FileCount = there.Digest, there.SizeBytes, there.FileCount
		return r, nil, nil
	}
	blobs := p.files.Blobs()
	defer blobs.Close()
	done, already, err := p.hub.PublishVersion(ctx, p.stack, p.version, p.Tree, p.counted(blobs.Open))
	if err != nil {
		return nil, nil, p.fail(err)
	}
	r.Digest, r.SizeBytes, r.FileCount = done.Digest, done.SizeBytes, done.FileCount
	r.FirstVersion, r.AlreadyPublished = done.FirstVersion, already
	return r, nil, nil
}

// Plan says what Run would do, and changes nothing.
func Plan(ctx context.Context, o Options) (*Planned, error) {
	p, err := prepare(ctx, o)
	if err != nil {
		return nil, p.fail(err)
	}
	me, err := p.hub.Whoami(ctx)
	if err != nil {
		return nil, p.fail(err)
	}
	planned := p.plan()
	planned.Authorized = me.Writes(p.stack.Account()) && me.Has(wire.ScopeWriteCatalog)
	return planned, nil
}

// plan says what would be published, but not whether the caller may.
func (p *publish) plan() *Planned {
	planned := &Planned{
		ProjectName: p.Local.Name, Origin: p.hub.Origin(), Stack: p.stack.Path(), Version: p.version,
		Digest: p.Digest, FileCount: len(p.Tree), Bytes: p.files.Bytes, FirstVersion: p.there == nil,
		AlreadyPublished: p.published() != nil, Notes: p.notes(),
	}
	for _, f := range p.Tree {
		planned.Files = append(planned.Files, f.Path)
	}
	if p.there != nil {
		planned.Latest = p.there.Latest
		if p.there.Followers != nil {
			planned.Followers = *p.there.Followers
		}
	}
	return planned
}

// prepare reads the stack, asks the hub what is published, and refuses what the
// hub would refuse, before anything is sent.
func prepare(ctx context.Context, o Options) (*publish, error) {
	p := &publish{Options: o}
	if err := p.read(ctx); err != nil {
		return p, err
	}
	var err error
	if p.hub, err = o.Connect(); err != nil {
		return p, err
	}
	if p.unnamed != nil {
		if err := p.nameAfterLogin(ctx); err != nil {
			return p, err
		}
	}
	if p.there, err = p.hub.Stack(ctx, p.stack); flow.IsNotFound(err) {
		p.there, err = nil, nil
	}
	if err != nil || p.unnamed != nil {
		return p, err // the name is part of what is compared
	}
	return p, p.check()
}

// nameAfterLogin names the stack after the user who is logged in.
func (p *publish) nameAfterLogin(ctx context.Context) error {
	me, err := p.hub.Whoami(ctx)
	if err != nil {
		return err
	}
	if p.stack, err = ref.New(me.User, workspace.SlugOf(p.Local.Name)); err != nil {
		_, err = p.unnamed.Name() // a bot has no account of its own
	}
	return failure.At(flow.StageStack, err)
}

// name writes the name into stack.json, if there is none yet.
func (p *publish) name(ctx context.Context) error {
	if p.unnamed == nil {
		return nil
	}
	if err := p.unnamed.SetName(p.stack); err != nil {
		return failure.At(flow.StageStack, err)
	}
	if err := p.read(ctx); err != nil {
		return err
	}
	p.named = true
	return p.check()
}

// notes says that the stack is named by this publish.
func (p *publish) notes() []string {
	switch {
	case p.unnamed != nil:
		return []string{fmt.Sprintf("publishing adds the name %s, after your login, to .tool/%s/stack.json; the digest is without it", p.stack, p.Local.Name)}
	case p.named:
		return []string{fmt.Sprintf("added the name %s, after your login, to .tool/%s/stack.json", p.stack, p.Local.Name)}
	}
	return []string{}
}

// check refuses what the hub would refuse.
func (p *publish) check() error {
	if p.there == nil || p.published() != nil {
		return nil
	}
	newest := p.there.Versions[0].Version // a stack comes to be with its first version
	if slices.ContainsFunc(p.there.Versions, p.sameVersion) {
		return failure.New(wire.CodeVersionExists, "%s %s is published with other content, and a published version never changes", p.stack, p.version)
	}
	if version.Compare(p.version, newest) < 0 {
		return failure.New(wire.CodeVersionNotNewer, "%s is not above %s, the newest version of %s", p.version, newest, p.stack)
	}
	return nil
}

func (p *publish) read(ctx context.Context) error {
	stack, err := p.Local.Stack()
	if err != nil {
		return failure.At(flow.StageStack, err)
	}
	p.unnamed = nil
	if !stack.Named() {
		p.unnamed = stack
	} else if p.stack, err = stack.Name(); err != nil {
		return failure.At(flow.StageStack, err)
	}
	if p.version, err = stack.Version(); err != nil {
		return failure.At(flow.StageStack, err)
	}
	if p.files, err = basefiles.Bundle(ctx, basefiles.BundleOptions{
		Workspace: p.Local.Workspace.Dir, Project: p.Local.Name, CacheDir: p.CacheDir,
	}); err != nil {
		return failure.At(flow.StageRead, err)
	}
	p.Snapshot, err = p.files.Hash(ctx, p.Report.Of(p.files, flow.Hashing))
	return failure.At(flow.StageRead, err)
}

// counted tells of what is sent, as it is read.
func (p *publish) counted(open hubclient.Opener) hubclient.Opener {
	told := p.Report.Of(p.files, flow.Uploading)
	if told == nil {
		return open
	}
	files, bytes := 0, int64(0)
	return func(e tree.Entry) (io.ReadCloser, error) {
		if e.Path == p.Tree[0].Path {
			files, bytes = 0, 0 // the first one again: another attempt
		}
		before := files
		files++
		content, err := open(e)
		return &sent{content, func(n int) {
			bytes += int64(n)
			told(before, bytes)
		}}, err
	}
}

// sent is a content that tells of what was read of it.
type sent struct {
	io.ReadCloser
	read func(n int)
}

func (s *sent) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.read(n)
	return n, err
}

func (p *publish) sameVersion(v wire.StackVersion) bool { return v.Version == p.version }

// published returns the version that is there already with this content.
func (p *publish) published() *wire.StackVersion {
	if p.there == nil {
		return nil
	}
	i := slices.IndexFunc(p.there.Versions, p.sameVersion)
	if i < 0 || p.there.Versions[i].Digest != p.Digest {
		return nil
	}
	return &p.there.Versions[i]
}

// fail adds the next command to a failure.
func (p *publish) fail(err error) error {
	if p.hub != nil {
		err = p.hub.Fault(err)
	}
	e := failure.Of(failure.At(flow.StagePublish, err))
	if p.hub != nil {
		e.Origin = p.hub.Origin()
	}
	if e.Code == wire.CodeVersionExists || e.Code == wire.CodeVersionNotNewer {
		e.Hint = fmt.Sprintf("raise version in .tool/%s/stack.json and publish again", p.Local.Name)
		e.Recipe = []cmdline.Line{cmdline.Tool("publish").With(p.Local.Name)}
	}
	return e
}
