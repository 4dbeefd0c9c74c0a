package push

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Options say what is pushed, to where and how.
type Options struct {
	Project    app.Optional // destination; not given: client.json's
	IfRevision app.Optional // overwrite only this revision
	IfTree     app.Optional // replace only these base files

	Files     bool // push the base files too
	FilesOnly bool // push the base files alone

	Message      string   // for the history
	AllowSecrets []string // files that are pushed although they hold secrets

	Force, DryRun, NoClobber, NoRecord, AllowEmpty, Undo, Watch bool

	Ask bool // before anything is written, even if nothing is overwritten
}

// config reports whether the settings are pushed.
func (o *Options) config() bool { return !o.FilesOnly && !o.Undo }

// files reports whether the base files are pushed.
func (o *Options) files() bool { return o.Files || o.FilesOnly }

// Command returns the command push.
func Command(a *app.App) *cobra.Command {
	var o Options
	var several app.Several
	c := &cobra.Command{
		Use:   "push [<project>...]",
		Short: "Update a hub project's config and base files",
		Long: `Push the settings of a local project, .tool/<project>/client.json, to an
existing project on the hub, and replace its config. With --base-files the app's
files are pushed too.

The destination is --project, or the project in client.json. A terminal shows
the difference and asks before a config is overwritten, and before base files
are removed or others' replaced; a pipeline overwrites them, unless
--if-revision, --if-tree or --no-clobber forbids it.

The hub keeps what a push replaces: --undo restores what your newest push
replaced, its config and its base files, if nobody has written since, also after
a push that was interrupted or timed out.`,
		Example: `  tool push web
  tool push web --project @acme/web --base-files
  tool push web --base-files --watch
  tool push web --dry-run --json
  tool push web --no-clobber --no-input`,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if o.Watch && a.JSON {
				return cmdline.Usagef("--watch and --json exclude each other")
			}
			if !several.Named(args) && a.Strict() {
				return a.NeedsLocal()
			}
			return several.Run(ctx, a, args, func(name string) error { return Run(ctx, a, name, o) })
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	several.Flags(a, c, "project", "undo", "watch", "if-revision", "if-tree")
	fl.Var(&o.Project, "project", "push to `@ACCOUNT/SLUG` and record it in client.json")
	fl.BoolVar(&o.Files, "base-files", false, "push the base files too, replacing those on the hub")
	fl.BoolVar(&o.FilesOnly, "base-files-only", false, "push the base files and leave the config unchanged")
	fl.StringVarP(&o.Message, "message", "m", "", "show this `TEXT` in the history, one line of at most 1,000 characters")
	fl.BoolVar(&o.DryRun, "dry-run", false, "show what would change without changing it")
	fl.BoolVar(&o.Force, "force", false, "overwrite without asking, and replace what is damaged")
	fl.Var(&o.IfRevision, "if-revision", "overwrite only this `REVISION` of the config (none: no config yet)")
	fl.Var(&o.IfTree, "if-tree", "replace only base files with this `DIGEST` (none: there are none yet)")
	fl.BoolVar(&o.NoClobber, "no-clobber", false,
		"fail if others wrote the config, or the base files, since the last pull or push from here")
	fl.BoolVar(&o.NoRecord, "no-record", false, "do not record --project in client.json, nor the revision in pulled.json")
	app.AllowSecrets(c, &o.AllowSecrets)
	fl.BoolVar(&o.AllowEmpty, "allow-empty", false, "allow a push that removes all base files")
	fl.BoolVar(&o.Watch, "watch", false, "keep running, and push whenever what is pushed here changes")
	fl.BoolVar(&o.Undo, "undo", false,
		"restore the config and base files that your newest push replaced, if nobody has written since")
	c.RegisterFlagCompletionFunc("project", a.HubProjects())
	return a.HubFlags(a.EnvFlag(c))
}

// check refuses flags that make no sense, alone or together.
func (o *Options) check() error {
	condition := o.IfRevision.Given() || o.IfTree.Given()
	others := condition || o.NoClobber || o.Force || o.files() || o.DryRun || o.NoRecord || o.AllowEmpty ||
		o.Message != "" || o.Watch || o.AllowSecrets != nil
	switch {
	case o.Undo && others:
		return cmdline.Usagef("--undo can be combined only with --project")
	case condition && o.NoClobber, condition && o.Force, o.NoClobber && o.Force:
		return cmdline.Usagef("--if-revision or --if-tree, --no-clobber and --force exclude each other")
	case o.Files && o.FilesOnly:
		return cmdline.Usagef("--base-files and --base-files-only exclude each other")
	case o.FilesOnly && o.IfRevision.Given():
		return cmdline.Usagef("--base-files-only sends no config: use --if-tree instead of --if-revision")
	case o.IfTree.Given() && !o.files():
		return cmdline.Usagef("--if-tree goes with --base-files or --base-files-only")
	case o.Watch && o.DryRun:
		return cmdline.Usagef("--watch and --dry-run exclude each other")
	case o.AllowEmpty && !o.files():
		return cmdline.Usagef("--allow-empty goes with --base-files or --base-files-only")
	case o.AllowSecrets != nil && !o.files():
		return cmdline.Usagef("--allow-secrets goes with --base-files or --base-files-only")
	case !isDigest(o.IfTree):
		return cmdline.Usagef("--if-tree is none or the 64 hex digits of baseFiles.tree in --dry-run --json, not %q",
			o.IfTree.String())
	case !isDigest(o.IfRevision):
		return cmdline.Usagef("--if-revision is none or the 64 hex digits of revision in --dry-run --json, not %q",
			o.IfRevision.String())
	}
	return nil
}

// isDigest reports whether a flag, if it is given, is none or a digest.
func isDigest(o app.Optional) bool {
	return !o.Given() || o.String() == noRevision || tree.ValidDigest(o.String())
}

// result is a push that went through.
type result struct {
	app.About               `json:",inline"`
	EnrichmentCount         int        `json:"enrichmentCount"`
	OverwroteExistingConfig bool       `json:"overwroteExistingConfig"`
	RemoteWritten           bool       `json:"remoteWritten"`
	Revision                string     `json:"revision,omitzero"` // "": no config was written
	ConfigChanged           bool       `json:"configChanged"`
	Replaced                *wire.Edit `json:"replaced"`
	BaseFilesPushed         int        `json:"baseFilesPushed"`
	*FilesResult            `json:",inline"`
	app.Noted               `json:",inline"`

	undone bool // it is the undo of a push
}

// FilesResult is what a push did to the base files.
type FilesResult struct {
	Added    int   `json:"baseFilesAdded"`
	Changed  int   `json:"baseFilesChanged"`
	Removed  int   `json:"baseFilesRemoved"`
	Uploaded int   `json:"baseFilesUploaded"`
	Skipped  int   `json:"baseFilesSkipped"` // symbolic links and special files
	Bytes    int64 `json:"baseFilesBytesSent"`
}

func (*result) Kind() string   { return "pushed" }
func (*result) Effect() string { return "the push went through" }

// Text prints the result of a push, or of its undo.
func (r *result) Text(w *app.Printer) {
	f := r.FilesResult
	changesFiles := f != nil && f.Added+f.Changed+f.Removed > 0
	switch {
	case !r.undone && !r.ConfigChanged && !changesFiles:
		w.Head("Already up to date.")
		w.Field("project", "%s", r.Project)
		return
	case !r.undone:
		w.Head("Pushed %s to %s", r.ProjectName, r.Project)
	case f == nil:
		w.Head("Restored the config of %s", r.Project)
	case r.Revision == "":
		w.Head("Restored the base files of %s", r.Project)
	default:
		w.Head("Restored the config and base files of %s", r.Project)
	}
	w.NonZero("enrichments", r.EnrichmentCount)
	if changesFiles {
		sent := ""
		if !r.undone {
			sent = "; " + app.Bytes(f.Bytes) + " sent"
		}
		w.Field("base files", "%d (%s%s)", r.BaseFilesPushed, app.Counts(f.Added, f.Changed, f.Removed), sent)
	}
}

func (*planned) Kind() string { return "planned" }

// Text prints what a push would do.
func (r *planned) Text(w *app.Printer) {
	f := cmp.Or(r.BaseFiles, &FilesPlan{})
	if !f.Difference.Empty() || r.Config != nil && !r.Config.Empty() {
		w.Head("Pushing %s to %s would change:", r.ProjectName, r.Project)
	} else {
		w.Head("Pushing %s to %s would change nothing", r.ProjectName, r.Project)
	}
	if r.Config != nil {
		own, undoes := *r.Config, r.Theirs != nil && !r.Theirs.difference.Empty()
		if undoes {
			w.Field("undoes", "%s", r.Theirs)
			w.Differences(app.DifferenceLines(r.Theirs.difference))
			own = *r.Mine
		}
		if !undoes || !own.Empty() {
			w.Field("config", "%s", app.DifferenceSummary(own))
			w.Differences(app.DifferenceLines(own))
		}
		w.NonZero("enrichments", r.EnrichmentCount)
	}
	if r.BaseFiles != nil {
		w.Field("base files", "%d, %s (%s)", f.Count, app.Bytes(f.Bytes), app.FileCounts(f.Difference))
		if f.Tree != "" && !f.Difference.Empty() {
			w.Field("", "replacing %s", f.Tree)
		}
		w.ChangedPaths(f.Difference, f.GitIgnored)
		if len(f.Skipped) > 0 {
			w.Line("  left out:")
		}
		for i, s := range f.Skipped {
			if i == app.MaxShown {
				w.Line("    … and %d more", len(f.Skipped)-app.MaxShown)
				break
			}
			w.Line("    %s  %s", s.Path, s.Why)
		}
	}
	w.Detail("revision", "%s", r.Revision)
	if !r.Authorized {
		w.Line("  note: this token may not push there")
	}
}
