// Package publish ships a version of a stack to the hub. A published version
// never changes, so publishing the same content again changes nothing. With --force it is
// uploaded nevertheless, because the hub then replaces what is damaged of it.
package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// Result is a version that is published.
type Result struct {
	ProjectName      string   `json:"projectName"`
	Env              string   `json:"environment,omitzero"`
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
	Env              string   `json:"environment,omitzero"`
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

// publish is one publish.
type publish struct {
	app           *app.App
	local         *workspace.Project
	opts          Options
	transfer      prompts.Transfer
	writes        bool // to the hub
	stack         ref.Ref
	unnamed       *workspace.Stack // stack.json has no name yet; nil: it has
	named         bool             // by this publish
	version       string
	bumped        *bump // nil: the version is not raised
	sent          bool  // the hub may have got the version
	files         *basefiles.Selection
	tree.Snapshot // of files
	hub           *identity.Hub
	there         *wire.Stack // nil: never published
}

// Run publishes the local project called name, or the only one.
func Run(ctx context.Context, a *app.App, name string, o Options) error {
	local, err := a.Local(ctx, name, a.Itself)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("publish "+name))
	}
	p := &publish{app: a, local: local, opts: o, transfer: a.Progress()}
	if o.DryRun {
		return p.dryRun(ctx)
	}
	r, no, err := p.publish(ctx, !a.Strict() && !o.Force)
	p.transfer.Hide()
	switch {
	case err != nil:
		return p.fail(err)
	case no != nil:
		return a.Aborted(no)
	}
	return a.Print("published", r, func(w *app.Printer) { publishedText(w, r) })
}

// Local publishes a local project without asking, for a command that has asked.
func Local(ctx context.Context, a *app.App, local *workspace.Project) (*Result, error) {
	p := &publish{app: a, local: local, transfer: app.NoTransfer{}}
	r, _, err := p.publish(ctx, false)
	if err != nil {
		return nil, p.fail(err)
	}
	return r, nil
}

// publish publishes. It returns how it was aborted when the person said no.
func (p *publish) publish(ctx context.Context, asks bool) (*Result, *app.Aborted, error) {
	p.writes = true
	if err := p.prepare(ctx); err != nil {
		return nil, nil, err
	}
	if asks && p.published() == nil {
		p.transfer.Hide()
		if yes, err := p.confirm(ctx, p.plan()); err != nil {
			return nil, nil, err
		} else if !yes {
			return nil, &app.Aborted{ProjectName: p.local.Name, Origin: p.hub.Origin()}, nil
		}
	}
	if err := p.edit(ctx); err != nil {
		return nil, nil, p.keepOrRestore(err)
	}
	r := &Result{
		ProjectName: p.local.Name, Env: p.local.Env, Origin: p.hub.Origin(), Stack: p.stack.Path(), Version: p.version, Notes: p.notes(),
	}
	there := p.published()
	if there != nil && !p.opts.Force {
		r.AlreadyPublished = true
		r.Digest, r.SizeBytes, r.FileCount = there.Digest, there.SizeBytes, there.FileCount
		return r, nil, nil
	}
	blobs := p.files.Blobs()
	defer blobs.Close()
	p.sent = true
	done, err := p.hub.PublishVersion(ctx, p.stack, p.version, hubclient.FileSet{
		Snapshot: p.Snapshot, Open: blobs.Open, OnProgress: p.report().Of(p.files, app.Uploading),
	})
	if err != nil {
		return nil, nil, p.keepOrRestore(err)
	}
	r.Digest, r.SizeBytes, r.FileCount = done.Digest, done.SizeBytes, done.FileCount
	r.FirstVersion, r.AlreadyPublished = done.FirstVersion, done.Already
	if there != nil {
		r.Notes = append(r.Notes, "the files were uploaded again, which replaces what is damaged on the hub")
	}
	if done.Ambiguous {
		r.Notes = append(r.Notes, "an earlier attempt of this publish, whose response was lost, may have published it")
	}
	return r, nil, nil
}

// confirm asks whether a version is to be published, which cannot be undone.
func (p *publish) confirm(ctx context.Context, plan *Planned) (bool, error) {
	facts := p.app.EnvironmentFact(p.local, p.hub.Origin())
	facts = append(facts, fmt.Sprintf("Files   %s, %s", app.Count(plan.FileCount, "file", "files"), app.Bytes(plan.Bytes)))
	if plan.FirstVersion {
		facts = append(facts, "The stack is new: this is its first version.")
	} else {
		facts = append(facts, fmt.Sprintf("Latest  from %s to %s, followed by %s", plan.Latest, version.Latest(plan.Latest, plan.Version), followersText(plan.Followers)))
	}
	return p.app.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Publish @%s %s?", plan.Stack, plan.Version),
		Facts: append(facts, "A published version never changes."),
		Yes:   "Publish it", No: "Leave it",
	})
}

// dryRun prints what would be published, and whether the caller may.
func (p *publish) dryRun(ctx context.Context) error {
	p.transfer.Hide()
	p.transfer = app.NoTransfer{}
	err := p.prepare(ctx)
	if err != nil {
		return p.fail(err)
	}
	me, err := p.hub.Whoami(ctx)
	if err != nil {
		return p.fail(err)
	}
	plan := p.plan()
	plan.Authorized = me.Writes(p.stack.Account()) && me.Has(wire.ScopeWriteCatalog)
	return p.app.Print("planned", plan, func(w *app.Printer) {
		if p.opts.Format == app.FormatMarkdown {
			plannedMarkdown(w, plan)
		} else {
			plannedText(w, plan)
		}
	})
}

// plan says what would be published, but not whether the caller may.
func (p *publish) plan() *Planned {
	planned := &Planned{
		ProjectName: p.local.Name, Env: p.local.Env, Origin: p.hub.Origin(), Stack: p.stack.Path(), Version: p.version,
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
func (p *publish) prepare(ctx context.Context) (err error) {
	if err := p.read(ctx); err != nil {
		return err
	}
	p.transfer.Hide()
	if p.hub, err = p.app.ConnectTo(ctx, p.writes); err != nil {
		return err
	}
	if p.unnamed != nil {
		if err := p.nameAfterLogin(ctx); err != nil {
			return err
		}
	}
	if p.there, err = p.hub.Stack(ctx, p.stack); app.IsNotFound(err) {
		p.there, err = nil, nil
	}
	if err != nil {
		return err
	}
	return p.check()
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

// edit writes the name into stack.json, if there is none yet, and a raised version.
func (p *publish) edit(ctx context.Context) error {
	if p.unnamed == nil && !p.bumping() {
		return nil
	}
	if p.unnamed != nil {
		if err := p.unnamed.SetName(p.stack); err != nil {
			return failure.At(app.StageStack, err)
		}
		p.named = true
	}
	if err := p.writeVersion(); err != nil {
		return err
	}
	if err := p.read(ctx); err != nil {
		return err
	}
	return p.check()
}

// notes says what a publish changes in stack.json.
func (p *publish) notes() []string {
	notes := []string{}
	switch {
	case p.unnamed != nil:
		notes = append(notes, fmt.Sprintf("publishing adds the name %s, after your login, to %s; the digest is without it", p.stack, p.stackPath()))
	case p.named:
		notes = append(notes, fmt.Sprintf("added the name %s, after your login, to %s", p.stack, p.stackPath()))
	}
	if note := p.bumpNote(); note != "" {
		notes = append(notes, note)
	}
	return notes
}

// check refuses what the hub would refuse. A name that is still to be added to stack.json
// is part of what is compared.
func (p *publish) check() error {
	if p.there == nil || p.unnamed != nil {
		return nil
	}
	if slices.ContainsFunc(p.there.Versions, func(v wire.StackVersion) bool { return p.sameVersion(v) && !v.WithdrawnAt.IsZero() }) {
		return failure.New(wire.CodeVersionExists, "%s %s was withdrawn, and cannot be published again", p.stack, p.version)
	}
	if p.published() != nil {
		return nil
	}
	newest := p.there.Versions[0].Version // a stack is created with its first version
	if slices.ContainsFunc(p.there.Versions, p.sameVersion) {
		return failure.New(wire.CodeVersionExists, "%s %s is already published with other files, and a published version never changes", p.stack, p.version)
	}
	if version.Compare(p.version, newest) < 0 {
		return failure.New(wire.CodeVersionNotNewer, "%s is not above %s, the newest version of %s", p.version, newest, p.stack)
	}
	return nil
}

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
	p.raise()
	if p.files, err = p.app.Bundle(ctx, p.local, wire.Limits{}); err != nil {
		return failure.At(app.StageRead, err)
	}
	if p.Snapshot, err = p.files.Hash(ctx, p.report().Of(p.files, app.Hashing)); err != nil {
		return failure.At(app.StageRead, err)
	}
	_, err = app.CheckManifest(p.local, p.files, p.Tree)
	return failure.At(app.StageStack, err)
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

// report shows progress.
func (p *publish) report() app.Report { return p.transfer.Update }

// fail adds what was tried, and the next command.
func (p *publish) fail(err error) error {
	f := app.Explain(p.hub, err).At(app.StagePublish)
	if f.Code == wire.CodeVersionExists || f.Code == wire.CodeVersionNotNewer {
		f = f.WithHint("raise version in %s and publish again", p.stackPath()).WithRecipe(p.again())
	}
	return failure.Doing(f, p.local.Name, "publish %s", p.local.Name)
}
