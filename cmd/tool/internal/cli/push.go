package cli

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/flow/push"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/tree"
)

// pushFlags are what a push was told.
type pushFlags struct {
	project, ifRevision             optional
	files, filesOnly, force, dryRun bool
	noClobber, noRecord, allowEmpty bool
	undo, watch                     bool
	ask                             bool // before anything is written
}

func (a *app) pushCommand() *cobra.Command {
	var f pushFlags
	c := &cobra.Command{
		Use:   "push [<project>]",
		Short: "Update a hub project's config and base files",
		Long: `Push the settings of a local project, .tool/<project>/client.json, to a project
that exists on the hub, in place of its config. With --base-files the app's
files go too.

The destination is --project, else what client.json says. In a terminal an
existing config is shown and overwritten only after a yes; in a pipeline it is
overwritten, unless --if-revision or --no-clobber says when not to.

The config that is replaced is saved before it is sent: --undo puts it back,
also after a push that was interrupted or timed out.`,
		Example: `  tool push web
  tool push web --project @acme/web --base-files
  tool push web --base-files-only --watch
  tool push web --dry-run --json
  tool push web --no-clobber --no-input`,
		Args:              maybeLocal,
		ValidArgsFunction: a.completeLocal,
		RunE: a.runReading(func(ctx context.Context, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.watch && a.json {
				return cmdline.Usagef("--watch prints a line a push, and --json one document: not both")
			}
			if len(args) == 0 && a.strict() {
				return a.needsLocal()
			}
			return a.push(ctx, strings.Join(args, ""), f)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.Var(&f.project, "project", "destination, `@ACCOUNT/SLUG`; recorded in client.json")
	fl.BoolVar(&f.files, "base-files", false, "push the base files too, in place of those on the hub")
	fl.BoolVar(&f.filesOnly, "base-files-only", false, "push the base files, and leave the config alone")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would change, and change nothing")
	fl.BoolVar(&f.force, "force", false, "overwrite without asking")
	fl.Var(&f.ifRevision, "if-revision", "overwrite only this `REVISION` of the config (none: an empty one)")
	fl.BoolVar(&f.noClobber, "no-clobber", false, "refuse to undo what others edited since the last pull")
	fl.BoolVar(&f.noRecord, "no-record", false, "do not record --project in client.json")
	fl.BoolVar(&f.allowEmpty, "allow-empty", false, "let an empty set replace the base files")
	fl.BoolVar(&f.watch, "watch", false, "go on, and push the base files whenever they change")
	fl.BoolVar(&f.undo, "undo", false, "put back the config that the last push from this machine replaced")
	c.RegisterFlagCompletionFunc("project", a.hubProjects())
	return a.hubFlags(c)
}

// check refuses flags that make no sense, alone or together.
func (f *pushFlags) check() error {
	var exclusive []string
	for name, given := range map[string]bool{"--if-revision": f.ifRevision.given(), "--no-clobber": f.noClobber, "--force": f.force} {
		if given {
			exclusive = append(exclusive, name)
		}
	}
	switch {
	case f.undo && (len(exclusive) > 0 || f.files || f.filesOnly || f.dryRun || f.noRecord || f.allowEmpty || f.watch):
		return cmdline.Usagef("--undo goes with --project alone")
	case len(exclusive) > 1:
		return cmdline.Usagef("--if-revision, --no-clobber and --force exclude each other")
	case f.files && f.filesOnly:
		return cmdline.Usagef("--base-files and --base-files-only exclude each other")
	case f.filesOnly && (f.ifRevision.given() || f.noClobber):
		return cmdline.Usagef("--base-files-only sends no config, so --if-revision and --no-clobber have no use with it")
	case f.watch && !f.files && !f.filesOnly:
		return cmdline.Usagef("--watch goes with --base-files or --base-files-only")
	case f.watch && f.dryRun:
		return cmdline.Usagef("--watch and --dry-run exclude each other")
	case f.allowEmpty && !f.files && !f.filesOnly:
		return cmdline.Usagef("--allow-empty goes with --base-files or --base-files-only")
	case f.ifRevision.given() && f.ifRevision.String() != push.NoRevision && !tree.ValidDigest(f.ifRevision.String()):
		return cmdline.Usagef("--if-revision is none or the 64 hex digits that --dry-run shows as revision, not %q", f.ifRevision.String())
	}
	return nil
}

func (f *pushFlags) what() push.What {
	switch {
	case f.filesOnly:
		return push.FilesOnly
	case f.files:
		return push.ConfigAndFiles
	}
	return push.Config
}

func (a *app) push(ctx context.Context, name string, f pushFlags) error {
	doingPush := func(err error, to string) error {
		return failure.Doing(err, name, "%s", strings.TrimSuffix(strings.TrimSpace("push "+name)+" to "+to, " to "))
	}
	local, err := a.local(ctx, name, a.itself)
	if err != nil {
		return doingPush(err, "")
	}
	name = local.Name
	o := push.Options{
		Local: local, Destination: f.project.value, Connect: a.connect, What: f.what(),
		Files:     flow.FileOptions{AllowEmpty: f.allowEmpty, CacheDir: a.cache("hashes")},
		Revisions: a.revisions(), Kept: a.kept(), Warn: a.warn, Typed: a.typed, IfRevision: f.ifRevision.String(), NoClobber: f.noClobber, NoRecord: f.noRecord,
	}
	if f.undo {
		r, err := push.Undo(ctx, o)
		if err != nil {
			return failure.Doing(err, name, "%s", strings.TrimSuffix("undo the push of "+name+" to "+destinationOf(err), " to "))
		}
		return a.print("pushed", r, func(p *printer) { pushedText(p, r, push.Nothing) })
	}
	if f.dryRun {
		planned, err := push.Plan(ctx, o)
		if err != nil {
			return doingPush(err, destinationOf(err))
		}
		return a.print("planned", planned, func(p *printer) { plannedText(p, planned) })
	}
	hide := a.progress(&o.Files.Report)
	if !a.strict() && !f.force {
		o.Confirm = func(ctx context.Context, q push.Overwrite) (bool, error) {
			hide()
			return a.confirmOverwrite(ctx, q)
		}
		o.ConfirmIgnored = func(ctx context.Context, q push.Ignored) (bool, error) {
			hide()
			return a.confirmIgnored(ctx, q.Project.String(), q.Origin, q.Paths)
		}
	}
	if f.ask {
		o.ConfirmAll = true
		o.ConfirmFiles = func(ctx context.Context, q push.Files) (bool, error) {
			hide()
			return a.confirmPushFiles(ctx, q)
		}
	}
	if f.watch {
		ctx, end := context.WithCancel(ctx)
		defer end()
		s := &watchSummary{end: end}
		no, err := push.Watch(ctx, o, a.each(s, hide, f.what()))
		hide()
		switch {
		case no != nil:
			return a.aborted(no)
		case s.unwritten != nil:
			return doingPush(printFailed("pushed", s.unwritten), "")
		case s.pushes > 0 && a.ended() == syscall.SIGINT:
			return a.watchEnded(s, err)
		}
		return doingPush(err, destinationOf(err))
	}
	r, no, err := push.Run(ctx, o)
	hide()
	switch {
	case err != nil:
		return doingPush(err, destinationOf(err))
	case no != nil:
		return a.aborted(no)
	}
	return a.print("pushed", r, func(p *printer) { pushedText(p, r, f.what()) })
}

// watchSummary counts what a watching push did.
type watchSummary struct {
	pushes int
	files  int // added, changed and removed
	bytes  int64

	end       func() // ends the watch
	unwritten error  // why stdout took no line
}

// each returns what prints the first push as ever, and a line for each other.
func (a *app) each(s *watchSummary, hide func(), what push.What) func(*push.Result, error) {
	return func(r *push.Result, err error) {
		hide()
		p := &printer{w: a.Out}
		now := time.Now().Format(time.TimeOnly)
		switch {
		case err != nil:
			a.diagnose("%s not pushed: %v", now, err)
			return
		case r == nil:
			return // nothing changed
		case s.pushes == 0:
			pushedText(p, r, what)
			p.line("  watching; ctrl-c ends it")
		default:
			f := r.FilesResult
			p.line("%s pushed: %d added, %d changed, %d removed; %s sent", now, f.Added, f.Changed, f.Removed, bytesText(f.Bytes))
		}
		if p.err != nil {
			s.unwritten = p.err
			s.end()
		}
		s.pushes++
		if f := r.FilesResult; f != nil {
			s.files += f.Added + f.Changed + f.Removed
			s.bytes += f.Bytes
		}
	}
}

// watchEnded prints what a watching push did that ctrl-c has ended.
func (a *app) watchEnded(s *watchSummary, err error) error {
	p := &printer{w: a.Out}
	p.line("Stopped watching: %s, %s, %s sent", countText(s.pushes, "push", "pushes"),
		countText(s.files, "file changed", "files changed"), bytesText(s.bytes))
	if hubclient.Unsettled(err) {
		p.notes([]string{"what was being sent may have been applied"})
	}
	return p.err
}

func pushedText(p *printer, r *push.Result, what push.What) {
	if what == push.Nothing {
		p.line("Put back the config of %s", r.Project.Path())
	} else {
		p.line("Pushed %s to %s", r.ProjectName, r.Project.Path())
	}
	p.field("origin", "%s", r.Origin)
	if what != push.FilesOnly {
		p.field("enrichments", "%d", r.EnrichmentCount)
	}
	if f := r.FilesResult; f != nil {
		p.field("base files", "%d (%d added, %d changed, %d removed; %s sent)",
			r.BaseFilesPushed, f.Added, f.Changed, f.Removed, bytesText(f.Bytes))
	}
	p.notes(r.Notes)
}

func plannedText(p *printer, r *push.Planned) {
	if r.ChangesNothing() {
		p.line("Pushing %s to %s would change nothing", r.ProjectName, r.Project.Path())
	} else {
		p.line("Pushing %s to %s would change:", r.ProjectName, r.Project.Path())
	}
	p.field("origin", "%s", r.Origin)
	if r.Config != nil {
		p.field("config", "%s", differenceSummary(*r.Config))
		for _, line := range differenceLines(*r.Config) {
			p.line("    %s", line)
		}
		p.field("enrichments", "%d", r.EnrichmentCount)
	}
	if f := r.BaseFiles; f != nil {
		p.field("base files", "%d, %s (%d added, %d changed, %d removed)", f.Count, bytesText(f.Bytes), len(f.Added), len(f.Changed), len(f.Removed))
		paths(p, "+", f.Added, f.GitIgnored)
		paths(p, "~", f.Changed, f.GitIgnored)
		paths(p, "-", f.Removed, nil)
		if len(f.Skipped) > 0 {
			p.line("  left out:")
		}
		for i, s := range f.Skipped {
			if i == maxShown {
				p.line("    … and %d more", len(f.Skipped)-maxShown)
				break
			}
			p.line("    %s  %s", s.Path, s.Why)
		}
	}
	p.field("revision", "%s", r.Revision)
	if !r.Authorized {
		p.line("  note: this token may not push there")
	}
	p.notes(r.Notes)
}

// paths lists files, and marks those that git ignores.
func paths(p *printer, sign string, all, ignored []string) {
	for i, path := range all {
		if i == maxShown {
			p.line("    … and %d more", len(all)-maxShown)
			return
		}
		mark := ""
		if _, found := slices.BinarySearch(ignored, path); found {
			mark = "  (git ignores it)"
		}
		p.line("    %s %s%s", sign, path, mark)
	}
}
