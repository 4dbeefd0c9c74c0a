// Package publish publishes a version of a stack on the hub: plan → confirm → apply. A published version never
// changes, so publishing the same content again changes nothing. With --force it is uploaded again, so that the hub
// replaces damaged files.
//
// Which projects use a version is the hub's decision.
package publish

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
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

// Options are the flags of publish.
type Options struct {
	DryRun bool   // say what would be published
	Force  bool   // publish without asking, and upload again what is published already
	Bump   string // part of the version to raise first; "": none
}

// parts are the values of --bump.
var parts = []string{string(version.Patch), string(version.Minor), string(version.Major)}

// Command returns the command publish.
func Command(a *app.App) *cobra.Command {
	var o Options
	var several app.Several
	c := &cobra.Command{
		Use:   "publish [<project>...]",
		Short: "Publish a version of the stack",
		Long: `Publish the stack in .tool/<project>/ with the name and version from its
stack.json. A published version never changes: publishing the same content
again succeeds, other content needs a higher version. With --force the same
content is uploaded again, and replaces what is damaged on the hub. An
environment says which hub it is published to; its settings are not part of a
stack.

--bump raises the version in stack.json first. When publishing fails, the
version is restored if it is certain that nothing was published; otherwise it
stays, and publishing again without --bump is safe.`,
		Example: `  tool publish web
  tool publish web --bump minor
  tool publish web --dry-run`,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if o.Bump != "" && !slices.Contains(parts, o.Bump) {
				return cmdline.Usagef("--bump is patch, minor or major, not %q", o.Bump)
			}
			return several.Run(ctx, a, args, func(name string) error { return Run(ctx, a, name, o) })
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	several.Flags(a, c)
	fl.StringVar(&o.Bump, "bump", "", "raise this `PART` of the version first: patch, minor or major")
	c.RegisterFlagCompletionFunc("bump", app.OneOf(parts...))
	fl.BoolVar(&o.DryRun, "dry-run", false, "show what would be published without publishing")
	fl.BoolVar(&o.Force, "force", false, "publish without asking, and upload what is published already again")
	return a.HubFlags(a.EnvFlag(c))
}

// result is a version that is published.
type result struct {
	app.About        `json:",inline"`
	Stack            string `json:"stack"` // account/slug
	Version          string `json:"version"`
	Digest           string `json:"digest"`
	SizeBytes        int64  `json:"sizeBytes"`
	FileCount        int    `json:"fileCount"`
	FirstVersion     bool   `json:"firstVersion"`
	AlreadyPublished bool   `json:"alreadyPublished"`
	app.Noted        `json:",inline"`
}

func (*result) Kind() string   { return "published" }
func (*result) Effect() string { return "the version is published" }

func (r *result) Text(w *app.Printer) {
	switch {
	case r.AlreadyPublished:
		w.Head("@%s %s is published already, with the same content", r.Stack, r.Version)
	case r.FirstVersion:
		w.Head("Published @%s %s, the stack's first version", r.Stack, r.Version)
	default:
		w.Head("Published @%s %s", r.Stack, r.Version)
	}
	w.Field("files", "%d, %s compressed", r.FileCount, app.Bytes(r.SizeBytes))
	w.Detail("digest", "%s", r.Digest)
}

// publish is one run of the command.
type publish struct {
	app      *app.App
	local    *workspace.Project
	opts     Options
	transfer prompts.Transfer
	hub      *identity.Hub // nil until plan connects

	// Set by read: before the plan, and again after stack.json was edited.
	stack         ref.Ref          // if stack.json has no name, plan sets it
	unnamed       *workspace.Stack // the stack if stack.json has no name; nil: it has one
	version       string           // to be published
	formerVersion string           // in stack.json, for --bump to replace; "": it is not raised
	files         *basefiles.Selection
	tree.Snapshot // of files

	raised     bool               // edit has written version into stack.json
	hubStack   *wire.Stack        // set by plan; nil: never published
	hubVersion *wire.StackVersion // version on the hub, set by check; nil: not published
}

// Run publishes the local project called name, or the only one.
func Run(ctx context.Context, a *app.App, name string, o Options) error {
	local, err := a.Local(ctx, name, a.Itself)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("publish "+name))
	}
	p := &publish{app: a, local: local, opts: o, transfer: a.Progress()}
	if o.DryRun {
		p.transfer = app.NoTransfer{}
	}
	plan, err := p.plan(ctx, !o.DryRun)
	if err != nil {
		return p.fail(err)
	}
	if o.DryRun {
		return a.Show(plan)
	}
	asks := !a.Strict() && !o.Force && !plan.AlreadyPublished
	if asks {
		if err := p.confirm(ctx, plan); err != nil {
			return p.fail(err)
		}
	}
	r, err := p.apply(ctx)
	if err != nil {
		return err
	}
	return a.Show(r)
}

// Local publishes the stack of a local project without asking, for a command that has asked. It says
// what it published, such as @acme/web 1.0.0.
func Local(ctx context.Context, a *app.App, local *workspace.Project) (string, error) {
	p := &publish{app: a, local: local, transfer: app.NoTransfer{}}
	if _, err := p.plan(ctx, true); err != nil {
		return "", p.fail(err)
	}
	r, err := p.apply(ctx)
	if err != nil {
		return "", err
	}
	return "@" + r.Stack + " " + r.Version, nil
}

func (p *publish) about() app.About {
	return app.About{ProjectName: p.local.Name, Env: p.local.Env, Origin: p.hub.Origin()}
}

// confirm asks whether a version is to be published, which cannot be undone.
func (p *publish) confirm(ctx context.Context, plan *planned) error {
	facts := append(p.app.EnvironmentFact(p.local, plan.Origin),
		fmt.Sprintf("Files   %s, %s", app.Count(plan.FileCount, "file", "files"), app.Bytes(plan.Bytes)))
	if plan.FirstVersion {
		facts = append(facts, "The stack is new: this is its first version.")
	} else {
		facts = append(facts, fmt.Sprintf("Latest  from %s to %s, followed by %s",
			plan.Latest, version.Latest(plan.Latest, plan.Version), plan.followers()))
	}
	return app.Agreed(p.app.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Publish @%s %s?", plan.Stack, plan.Version),
		Facts: append(facts, "A published version never changes."),
		Yes:   "Publish it",
	}))
}

// apply writes into stack.json what the plan adds to it, and uploads the files.
func (p *publish) apply(ctx context.Context) (*result, error) {
	r := &result{About: p.about(), Stack: p.stack.Path(), Version: p.version}
	maybePublished := false
	err := p.edit(ctx, r)
	if err == nil {
		maybePublished, err = p.upload(ctx, r)
	}
	p.transfer.Hide()
	if err != nil {
		return nil, p.fail(p.keepOrRestore(err, maybePublished))
	}
	return r, nil
}

// upload publishes the files, unless they are published already. After a failure they may be
// published.
func (p *publish) upload(ctx context.Context, r *result) (maybePublished bool, err error) {
	if p.hubVersion != nil && !p.opts.Force {
		r.AlreadyPublished = true
		r.Digest, r.SizeBytes, r.FileCount = p.hubVersion.Digest, p.hubVersion.SizeBytes, p.hubVersion.FileCount
		return false, nil
	}
	blobs := p.files.Blobs()
	defer blobs.Close()
	done, err := p.hub.PublishVersion(ctx, p.stack, p.version, hubclient.FileSet{
		Snapshot:   p.Snapshot,
		Open:       blobs.Open,
		OnProgress: app.Report(p.transfer.Update).Of(p.files, app.Uploading),
	})
	if err != nil {
		return !hubclient.NotApplied(err), err
	}
	r.Digest, r.SizeBytes, r.FileCount = done.Digest, done.SizeBytes, done.FileCount
	r.FirstVersion, r.AlreadyPublished = done.FirstVersion, done.Already
	if p.hubVersion != nil {
		r.Note("the files were uploaded again, which replaces what is damaged on the hub")
	}
	if done.Ambiguous {
		r.Note("an earlier attempt of this publish, whose response was lost, may have published it")
	}
	return true, nil
}

// edit writes the name into stack.json, if there is none yet, and a raised version. Then it
// reads the stack again.
func (p *publish) edit(ctx context.Context, r *result) error {
	if p.unnamed == nil && p.formerVersion == "" {
		return nil
	}
	if p.unnamed != nil {
		if err := p.unnamed.SetName(p.stack); err != nil {
			return failure.At(app.StageStack, err)
		}
		r.Note("added the name %s, after your login, to %s", p.stack, p.stackPath())
	}
	if p.formerVersion != "" {
		if err := p.replaceVersion(p.formerVersion, p.version); err != nil {
			return failure.At(app.StageStack, err)
		}
		p.raised = true
		r.Note("raised the version in %s from %s to %s", p.stackPath(), p.formerVersion, p.version)
	}
	if err := p.read(ctx); err != nil {
		return err
	}
	return p.check()
}

// replaceVersion changes the version in stack.json, if that is still from.
func (p *publish) replaceVersion(from, to string) error {
	stack, err := p.local.Stack()
	if err != nil {
		return err
	}
	return stack.SetVersion(from, to)
}

// keepOrRestore restores the former version in stack.json after a failure, unless the new one
// may be published: it stays then, so that publishing again finds out, and the failure says so.
func (p *publish) keepOrRestore(err error, maybePublished bool) error {
	if !p.raised {
		return err
	}
	if !maybePublished && p.replaceVersion(p.version, p.formerVersion) == nil {
		return err
	}
	return failure.Of(err).
		WithHint("%s has version %s now, which may be published: publish again without --bump", p.stackPath(), p.version).
		WithRecipe(cmdline.Tool("publish").With(p.local.Name))
}

func (p *publish) stackPath() string { return ".tool/" + p.local.Name + "/stack.json" }

// fail adds what was tried, and the next command: with --bump where that is enough.
func (p *publish) fail(err error) error {
	p.transfer.Hide()
	f := app.Explain(p.hub, err).At(app.StagePublish)
	if f.Code == wire.CodeVersionExists || f.Code == wire.CodeVersionNotNewer {
		again := cmdline.Tool("publish").With(p.local.Name)
		f = f.WithHint("raise version in %s and publish again", p.stackPath())
		isBehind := p.hubStack != nil && (p.formerVersion != "" ||
			version.Compare(version.Bump(p.version, version.Patch), p.newestVersion()) <= 0)
		if isBehind { // these files may be older, too
			f = f.WithHint("get the newest files, or raise version in %s to %s, and publish again",
				p.stackPath(), p.newestVersion())
		}
		if p.hubStack != nil {
			again = again.Flag("--bump", cmp.Or(p.opts.Bump, string(version.Patch)))
		}
		f = f.WithRecipe(again)
	}
	return failure.Doing(f, p.local.Name, "publish %s", p.local.Name)
}
