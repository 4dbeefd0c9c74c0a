// Package pull downloads a hub project's config into the settings of client.json, and
// its base files into the app.
package pull

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// Options say what is pulled, from where and how.
type Options struct {
	Project app.Optional // source; not given: client.json's
	Output  app.Optional // directory for the base files; not given: the app root

	Files     bool // pull the base files too
	FilesOnly bool // pull the base files alone
	Force     bool // replace without asking
	Mine      bool // resolves every conflict
	Theirs    bool
	Undo      bool // the last pull
	NoUndo    bool // save nothing for Undo
}

// files reports whether base files are pulled.
func (o *Options) files() bool { return o.Files || o.FilesOnly }

// line is a pull of the same project with these options.
func (p *pull) line(o Options) cmdline.Line {
	l := p.Line("pull")
	if p.isNew {
		l = cmdline.Tool("pull").With(p.Project.String())
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"--undo", o.Undo}, {"--no-undo", o.NoUndo}, {"--base-files", o.Files}, {"--base-files-only", o.FilesOnly},
		{"--mine", o.Mine}, {"--theirs", o.Theirs}, {"--force", o.Force},
	} {
		if f.given {
			l = l.Flag(f.name)
		}
	}
	if o.Output.Given() {
		l = l.Flag("--output", o.Output.String())
	}
	return l
}

// Command returns the command pull.
func Command(a *app.App) *cobra.Command {
	var o Options
	var several app.Several
	c := &cobra.Command{
		Use:   "pull [<project>... | @ACCOUNT/SLUG]",
		Short: "Download the hub's config into client.json (and base files)",
		Long: `Download the hub's config into the settings of .tool/<project>/client.json.
Only settings that differ are edited; every other byte of the file is kept.

The hub's changes are merged with yours, key by key. A key that you and others
changed differently is a conflict: a terminal asks for each, a pipeline fails
unless --mine or --theirs resolves them all. --force replaces your settings with
the hub's config. Commit .tool/<project>/pulled.json: it records the config that
both sides come from. Without it, every difference is a conflict.

With --base-files the app's files are downloaded too, with --base-files-only
nothing else is. A terminal asks before local files that differ are overwritten,
and before files are added that other programs run (such as .envrc, Makefile and
executables) or that change what a push sends (.env, and .toolignore where the
app is here already); a pipeline does so only with --force. Files that the hub
does not have are kept. --undo does not remove files that a pull added. More
than 20,000 files, 25 MiB in a file or 1 GiB in all need a yes, or --force.

With @ACCOUNT/SLUG, create a local project for this hub project, if none has it
as its destination yet: in this workspace, or else the directory becomes one.`,
		Example: `  tool pull web
  tool pull @acme/web --base-files
  tool pull web --base-files --output ../copy
  tool pull web --project @acme/web --no-input`,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			switch {
			case o.Undo && (o.Force || o.Files || o.FilesOnly || o.Output.Given() || o.Mine || o.Theirs || o.NoUndo):
				return cmdline.Usagef("--undo can be combined only with --project")
			case o.Mine && o.Theirs || o.Force && (o.Mine || o.Theirs):
				return cmdline.Usagef("--mine, --theirs and --force exclude each other")
			case o.FilesOnly && (o.Mine || o.Theirs):
				return cmdline.Usagef("--base-files-only pulls no config, so --mine and --theirs have no use with it")
			case o.Files && o.FilesOnly:
				return cmdline.Usagef("--base-files and --base-files-only exclude each other")
			case o.Output.Given() && !o.Files && !o.FilesOnly:
				return cmdline.Usagef("--output goes with --base-files or --base-files-only")
			case len(args) > 1 && slices.ContainsFunc(args, isHubProject):
				return cmdline.Usagef("@ACCOUNT/SLUG is pulled alone, without other projects")
			case o.Output.Given() && o.Output.String() == "":
				return cmdline.Usagef("--output needs a directory")
			}
			return several.Run(ctx, a, args, func(name string) error { return Run(ctx, a, name, o) })
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	several.Flags(a, c, "project", "undo", "output")
	fl.Var(&o.Project, "project", "pull from `@ACCOUNT/SLUG` instead of client.json's project")
	fl.BoolVar(&o.Files, "base-files", false, "download the base files too")
	fl.BoolVar(&o.FilesOnly, "base-files-only", false, "download the base files and leave client.json unchanged")
	fl.Var(&o.Output, "output", "write the base files to `DIR` instead of the app root")
	fl.BoolVar(&o.Mine, "mine", false, "keep your value of each key in conflict")
	fl.BoolVar(&o.Theirs, "theirs", false, "take the hub's value of each key in conflict")
	fl.BoolVar(&o.Force, "force", false, "replace settings and files that differ, without merging or asking")
	fl.BoolVar(&o.Undo, "undo", false,
		"restore the settings and base files that the last pull replaced, without calling the hub")
	fl.BoolVar(&o.NoUndo, "no-undo", false, "replace settings and files without saving them for --undo")
	c.RegisterFlagCompletionFunc("output", app.Directories)
	c.RegisterFlagCompletionFunc("project", a.HubProjects())
	return a.HubFlags(a.EnvFlag(c))
}

// pull is one pull.
type pull struct {
	app.Target
	opts     Options
	isNew    bool // the local project was created for this pull
	asks     bool // before settings or files are replaced
	transfer prompts.Transfer
	output   string          // directory of --output, resolved; "": the app root
	bases    workspace.Bases // what the local project was last synchronized with
}

// plan is what a pull will do: the questions show it, and apply does it.
type plan struct {
	*result              // as it will be
	current *wire.Config // nil: no config is pulled
	config  flat.Config  // the hub's
	base    *flat.Config // the config that both sides come from; nil: not known
	merged  flat.Config  // what client.json is to have
	chosen  bool         // a person has seen the conflicts, and chosen the sides
	edits   workspace.Edits
	files   *filesPlan // nil: none are pulled
}

// Run pulls into the local project called name, or the only one.
func Run(ctx context.Context, a *app.App, name string, o Options) error {
	local, remove, err := findLocal(ctx, a, name, o)
	if err != nil {
		return failure.Doing(err, name, "%s", strings.TrimSpace("pull "+name))
	}
	p := &pull{
		Target: app.Target{App: a, Given: o.Project, Local: local},
		opts:   o,
		isNew:  remove != nil,
		asks:   !a.Strict() && !o.Force,
	}
	if o.Undo {
		r, err := p.undo()
		if err != nil {
			return p.Fail(err, "undo the pull of "+local.Name)
		}
		return a.Show(r)
	}
	r, err := p.pull(ctx)
	if err != nil {
		if p.isNew && !p.Done.SettingsChanged {
			remove()
		}
		doing := "pull " + local.Name
		if !p.Project.IsZero() {
			doing += " from " + p.Project.String()
		}
		return p.Fail(err, doing)
	}
	return a.Show(r)
}

// isHubProject reports whether an argument names a hub project, as @account/slug or account/slug, not a local one.
func isHubProject(arg string) bool { return strings.ContainsAny(arg, "@/") }

// findLocal returns the local project called name, or the only one. For the name of a hub project it
// is the one with this destination; without one it is created, and remove removes it again.
func findLocal(
	ctx context.Context, a *app.App, name string, o Options,
) (p *workspace.Project, remove func(), err error) {
	if !isHubProject(name) {
		p, err = a.Local(ctx, name, a.Itself)
		return p, nil, err
	}
	r, err := a.ProjectArgument(name)
	if err != nil {
		return nil, nil, err
	}
	if local := a.LocalOf(r); local != "" {
		p, err = a.Local(ctx, local, a.Itself)
		return p, nil, err
	}
	if a.InEnvironment() || o.FilesOnly || o.Undo || o.Project.Given() || o.Output.Given() || o.Mine || o.Theirs {
		return nil, nil, cmdline.Usagef("no local project has the destination %s: "+
			"to create one, %s goes with --base-files and --force alone", r, name)
	}
	dir := "."
	ws, err := a.Workspace()
	switch {
	case err == nil:
		dir = ws.Dir
	case failure.Of(err).Code == failure.CodeNoWorkspace:
		if dir, err = a.Path("."); err != nil {
			return nil, nil, err
		}
	default:
		return nil, nil, err
	}
	id, err := a.Identity()
	if err != nil {
		return nil, nil, err
	}
	p, remove, err = workspace.CreateFor(dir, r, id.Origin)
	if errors.Is(err, fs.ErrExist) {
		err = failure.Of(err).WithHint("nothing is overwritten: work in another directory, or pull into %s", r.Slug()).
			Try(cmdline.Tool("pull").With(r.Slug()).Flag("--project", r.String()))
	}
	return p, remove, failure.At(app.StageRead, err)
}

// Merge merges the hub's config into the settings of a local project, for a push whose question
// was answered so: it only asks about conflicts. Its error is [app.ErrDeclined] where none is chosen.
func Merge(ctx context.Context, a *app.App, local *workspace.Project, project app.Optional) (err error) {
	p := &pull{Target: app.Target{App: a, Given: project, Local: local}, asks: true}
	if err := p.read(); err != nil {
		return err
	}
	if p.Hub, err = a.ConnectTo(ctx, false); err != nil {
		return err
	}
	plan, err := p.plan(ctx)
	if err == nil {
		_, err = p.apply(ctx, plan)
	}
	return err
}

// pull plans, asks, and does what was planned.
func (p *pull) pull(ctx context.Context) (*result, error) {
	err := p.findOutput()
	if err != nil {
		return nil, err
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	p.Hub, err = p.App.ConnectTo(ctx, true)
	if err != nil {
		return nil, err
	}
	p.transfer = p.App.Progress()
	defer p.transfer.Hide()
	plan, err := p.plan(ctx)
	if err != nil {
		return nil, err
	}
	if plan.files != nil {
		defer plan.files.Close()
	}
	if err := p.confirm(ctx, plan); err != nil {
		return nil, err
	}
	return p.apply(ctx, plan)
}

// read reads client.json and pulled.json, and finds the hub project.
func (p *pull) read() (err error) {
	p.Client, err = p.App.ReadClient(p.Local)
	if err == nil {
		err = p.readSettings()
	}
	if err != nil {
		return failure.At(app.StageRead, err)
	}
	p.Project, err = p.App.Destination(p.Local, p.Client, p.Given.Value)
	if err != nil {
		f := failure.Of(err)
		if f.Code == failure.CodeNoDestination {
			f = f.WithHint("name it with --project, as @account/slug").Try(cmdline.Tool("project", "list"))
		}
		return f.At(app.StageDestination)
	}
	p.bases, err = p.App.Bases(p.Local)
	return failure.At(app.StageRead, err)
}

// readSettings reads the settings of client.json, which may have none.
func (p *pull) readSettings() (err error) {
	p.Settings, err = p.Client.Config()
	if err != nil && failure.Of(err).Code == failure.CodeNoSettings {
		return nil
	}
	return err
}

// plan finds out what the pull will do: first to the settings, because they name the app root.
func (p *pull) plan(ctx context.Context) (*plan, error) {
	plan := &plan{result: &result{About: p.About(), EnrichmentCount: p.Settings.EnrichmentCount(), Created: p.isNew}}
	if p.isNew {
		plan.Workspace = p.Local.Workspace.Dir
	}
	if !p.opts.FilesOnly {
		if err := p.planSettings(ctx, plan); err != nil {
			return nil, err
		}
	}
	// Settings with an app root outside of the workspace are refused, also when no base files are pulled.
	appRoot, err := p.appRoot(plan)
	if err != nil {
		return nil, err
	}
	if p.opts.files() {
		if err := p.planFiles(ctx, plan, appRoot); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// confirm asks before settings or files are replaced, and before files are added that other
// programs run.
func (p *pull) confirm(ctx context.Context, plan *plan) error {
	if p.asks && p.Settings.Len() > 0 && !plan.chosen && !plan.Changes.Empty() {
		if err := p.confirmSettings(ctx, plan); err != nil {
			return err
		}
	}
	if plan.files == nil || p.opts.Force {
		return nil
	}
	return p.confirmFiles(ctx, plan.files)
}

// apply saves what is replaced, writes client.json and the base files, and records what was pulled.
func (p *pull) apply(ctx context.Context, plan *plan) (*result, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, failure.At(app.StageWrite, err)
	}
	undo, err := p.save(plan)
	if err != nil {
		return nil, failure.At(app.StageWrite, err)
	}
	changed, err := p.Client.Apply(plan.edits)
	if err != nil {
		undo.End(false)
		return nil, failure.At(app.StageWrite, err)
	}
	r := plan.result
	r.SettingsChanged = len(changed) > 0
	p.Done.SettingsChanged = r.SettingsChanged
	replacedFiles := 0
	var filesErr error
	if plan.files != nil {
		replacedFiles, filesErr = p.writeFiles(ctx, plan.files)
	}
	replacedAny := len(changed)+replacedFiles > 0
	undo.End(replacedAny)
	p.noteSettings(plan, changed)

	if present := p.Hub.PresentName(p.Project); present != p.Project {
		r.Note("%s was renamed to %s: the next push records it", p.Project, present)
	}
	// The config is recorded even if the base files failed: the settings come from it now.
	base := workspace.Pulled{Project: p.Project, Revision: r.Revision}
	var recordedFiles tree.Tree
	if plan.files != nil && filesErr == nil && p.output == "" {
		base.Tree, recordedFiles = plan.files.set.Tree, plan.files.set.Files
	}
	p.App.RecordSync(r.Origin, base, recordedFiles)
	recordErr := p.Local.RecordPulled(r.Origin, base)
	r.Notes = append(r.Notes, p.App.RecordHub(p.Local, r.Origin)...)
	if recordErr != nil && p.opts.FilesOnly {
		r.Note("the base files could not be recorded: %v", failure.At(app.StageWrite, recordErr))
		recordErr = nil
	}

	var failed error
	pulled := "the settings are pulled"
	switch {
	case filesErr != nil:
		failed = filesErr
		pulled += ", the base files in part at most"
	case recordErr != nil:
		failed = failure.At(app.StageWrite, recordErr)
	default:
		p.noteFiles(plan, replacedFiles)
		return r, nil
	}
	f := failure.Of(failed)
	if r.SettingsChanged {
		f.Hint = strings.TrimSuffix(pulled+"; "+f.Hint, "; ")
	}
	if replacedAny && !p.opts.NoUndo {
		f = f.Try(p.undoLine())
	}
	return nil, f
}

// noteSettings notes how to restore the settings, and what the merge did not know. changed are the
// files that were edited.
func (p *pull) noteSettings(plan *plan, changed []string) {
	r := plan.result
	if r.SettingsChanged && !p.opts.NoUndo && !p.isNew {
		r.Note("the previous settings are saved; to restore them: %s", p.App.CommandText(p.undoLine()))
	}
	if r.SettingsChanged && p.Local.Env != "" {
		r.Note("changed: %s", strings.Join(changed, ", "))
	}
	if plan.base == nil && len(r.Conflicts) > 0 {
		r.Note("%s", p.unknownBase())
	}
	if r.Revision != "" && !p.Client.Project.Present() {
		r.Note("%s names no project; a push records it: %s", p.Local.ClientPath(), p.App.CommandText(p.Line("push")))
	}
}

// noteFiles notes how to restore the base files that were replaced, and that added ones stay.
func (p *pull) noteFiles(plan *plan, replaced int) {
	f := plan.FilesResult
	if f == nil {
		return
	}
	switch {
	case replaced > 0 && !p.opts.NoUndo:
		leave := ""
		if f.Added > 0 {
			leave = fmt.Sprintf(", and leave the added ones (%d)", f.Added)
		}
		plan.Note("the replaced base files (%d) are saved; to restore them%s: %s",
			replaced, leave, p.App.CommandText(p.undoLine()))
	case f.Added > 0 && p.output == "" && !p.isNew:
		plan.Note("pull --undo does not remove the added base files (%d)", f.Added)
	}
}
