package history

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// restored is a restore that went through, or what one would change.
type restored struct {
	app.About `json:",inline"`
	Revision  string           `json:"revision"` // or the digest of the set of base files
	Replaced  string           `json:"replaced"` // likewise, of what was there before; "": that was damaged
	Changed   bool             `json:"changed"`
	Config    *flat.Difference `json:"config"`    // null with --base-files, and where a damaged config was replaced
	BaseFiles *restoredFiles   `json:"baseFiles"` // null without
	app.Noted `json:",inline"`

	dryRun bool
	what   string // the config or the base files
}

// restoredFiles is what a restore changes in the base files.
type restoredFiles struct {
	Count           int `json:"count"` // in the restored set
	tree.Difference `json:",inline"`
}

func (r *restored) Kind() string {
	if r.dryRun {
		return "planned"
	}
	return "restored"
}

func (r *restored) Effect() string {
	if r.dryRun {
		return ""
	}
	return "the restore went through"
}

func (r *restored) Text(w *app.Printer) {
	switch {
	case !r.Changed:
		w.Head("Restoring the %s of %s changes nothing", r.what, r.Project)
	case r.dryRun:
		w.Head("Restoring the %s of %s would change:", r.what, r.Project)
	default:
		w.Head("Restored the %s of %s", r.what, r.Project)
	}
	if r.Changed && r.Replaced != "" {
		w.Field("revision", "%s, instead of %s", app.ShortRevision(r.Revision), app.ShortRevision(r.Replaced))
	} else {
		w.Field("revision", "%s", app.ShortRevision(r.Revision))
	}
	if d := r.Config; d != nil {
		w.Field("config", "%s", app.DifferenceSummary(*d))
		w.Differences(app.DifferenceLines(*d))
	}
	if f := r.BaseFiles; f != nil {
		w.Field("base files", "%s: %s", app.Count(f.Count, "file", "files"), app.FileCounts(f.Difference))
		w.ChangedPaths(f.Difference, nil)
	}
}

// restore is one restore.
type restore struct {
	app.Target
	revision      string // as typed
	force, dryRun bool
	result        *restored
}

// RestoreCommand returns the command restore.
func RestoreCommand(a *app.App) *cobra.Command {
	r := &restore{Target: app.Target{App: a}}
	c := &cobra.Command{
		Use:   "restore [<project>] <revision>",
		Short: "Restore an earlier config, or earlier base files, on the hub",
		Long: `Replace a project's config on the hub by an earlier one, or with --base-files
its base files. tool log lists the revisions; one can be abbreviated, or given
by its number, such as r12, or as latest~1, the one before the newest. Local
files stay as they are: tool pull downloads what was restored.

A terminal shows the difference and asks; a pipeline restores. It fails if the
config or the base files change meanwhile. What is replaced stays in the
history, so that a restore can be undone by another one.`,
		Example: `  tool restore web 461f583aadb4 --dry-run
  tool restore web latest~1 --no-input
  tool restore 7d10 --project @acme/web --base-files`,
		Args:              projectAndRevision,
		ValidArgsFunction: completeRevision(a),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			name, revision := split(args)
			if err := app.CheckRevision("<revision>", revision); err != nil {
				return err
			}
			r.revision, r.Writes = revision, !r.dryRun
			if err := r.restore(ctx, name); err != nil {
				return r.Fail(err, ofProject(&r.Target, "restore "+app.ShortRevision(revision)))
			}
			return a.Show(r.result)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&r.BaseFiles, "base-files", false, "restore the base files instead of the config")
	fl.BoolVar(&r.dryRun, "dry-run", false, "show what would change without changing it")
	fl.BoolVar(&r.force, "force", false, "restore without asking, and also over a damaged config")
	r.Flag(c, projectUsage)
	return a.HubFlags(a.EnvFlag(c))
}

// restore restores what was named, if the present state is still the one that was compared.
func (r *restore) restore(ctx context.Context, name string) error {
	if err := r.Find(ctx, name); err != nil {
		return err
	}
	r.result = &restored{About: r.About(), dryRun: r.dryRun, what: "config"}
	if r.BaseFiles {
		r.result.what = "base files"
		return r.restoreFiles(ctx)
	}
	return r.restoreConfig(ctx)
}

// asks reports whether the person is asked before anything is replaced.
func (r *restore) asks() bool { return !r.force && !r.App.Strict() }

// restoreConfig restores a config. A person sees the difference again when the present one
// was changed meanwhile.
func (r *restore) restoreConfig(ctx context.Context) error {
	entry, err := r.Hub.FindConfigEntry(ctx, r.Project, r.revision)
	if err != nil {
		return err
	}
	earlier, err := configOf(ctx, &r.Target, entry.Revision)
	if err != nil {
		return err
	}
	for again := false; ; again = true {
		current, err := r.Hub.Config(ctx, r.Project, "")
		if hubclient.HasCode(err, wire.CodeDamaged) {
			return r.replaceDamaged(ctx, earlier, err)
		}
		if err != nil {
			return err
		}
		now, err := r.ParseConfig(current.Config)
		if err != nil {
			return err
		}
		changes := flat.Diff(now, earlier)
		r.result.Revision, r.result.Replaced, r.result.Config = entry.Revision, current.Revision, &changes
		r.result.Changed = !changes.Empty()
		if changes.Empty() || r.dryRun {
			return nil
		}
		if r.asks() {
			notice := ""
			if again {
				notice = fmt.Sprintf("%s changed it while you looked. This is the difference now:", current.UpdatedBy)
			}
			err := app.Agreed(r.App.UI.Overwrite(ctx, prompts.Overwrite{
				Title:  fmt.Sprintf("Restore the config of %s?", r.Project),
				Notice: notice,
				Facts: []string{
					"Restore  " + app.ShortRevision(entry.Revision) + ", " + app.Edit(entry.Edit),
					"Replace  " + app.ShortRevision(current.Revision) + ", " + app.Edit(current.Edit),
				},
				Yes:        "Restore it",
				Difference: changes,
			}))
			if err != nil {
				return err
			}
		}
		err = r.putConfig(ctx, earlier, current.Revision)
		askAgain := err != nil && r.asks() && failure.Of(err).Code == wire.CodeRevisionChanged
		if !askAgain {
			return err
		}
	}
}

// putConfig replaces the current config if its revision is present.
func (r *restore) putConfig(ctx context.Context, earlier flat.Config, present string) error {
	written, err := r.Hub.RestoreConfig(ctx, r.Project, wire.PutConfig{Settings: earlier.Unfold()}, present)
	if err != nil {
		return r.explain(err)
	}
	r.Done.ConfigWritten = true
	r.wrote(written.Revision)
	return nil
}

// replaceDamaged restores a config where the present one is damaged. That needs --force,
// because nothing can be shown of what is replaced.
func (r *restore) replaceDamaged(ctx context.Context, earlier flat.Config, damaged error) error {
	if !r.force || r.dryRun {
		return failure.Of(damaged).WithHint("a restore with --force replaces it").
			Try(r.Line("restore", r.revision).Flag("--force"))
	}
	present := "" // revision of the damaged config
	err := r.Hub.EachConfigEntry(ctx, r.Project, func(newest wire.ConfigEntry) bool {
		present = newest.Revision
		return false
	})
	if err != nil {
		return err
	}
	r.result.Changed = true
	r.result.Note("the hub's config was damaged, and was replaced")
	return r.putConfig(ctx, earlier, present)
}

// restoreFiles restores a set of base files.
func (r *restore) restoreFiles(ctx context.Context) error {
	entries, err := r.Hub.BaseFilesHistory(ctx, r.Project)
	if err != nil {
		return err
	}
	entry, err := hubclient.FindBaseFilesEntry(entries, r.Project, r.revision)
	if err != nil {
		return err
	}
	current := entries[0] // there is one: entry
	r.result.Revision, r.result.Replaced = entry.Tree, current.Tree
	r.result.Changed = entry.Tree != current.Tree
	r.result.BaseFiles = &restoredFiles{Count: entry.Count}
	if !r.result.Changed {
		return nil
	}
	earlier, err := r.Hub.BaseFilesRevision(ctx, r.Project, entry.Tree)
	if err != nil {
		return err
	}
	now, err := r.Hub.BaseFilesRevision(ctx, r.Project, current.Tree)
	if err != nil {
		return err
	}
	diff := tree.Diff(now.Files, earlier.Files)
	r.result.BaseFiles.Difference = diff
	if r.dryRun {
		return nil
	}
	if r.asks() {
		if err := r.confirmFiles(ctx, diff, entry, &current); err != nil {
			return err
		}
	}
	if _, err := r.Hub.RestoreBaseFiles(ctx, r.Project, entry.Tree, current.Tree); err != nil {
		return r.explain(err)
	}
	r.Done.BaseFilesWritten = true
	r.wrote(entry.Tree)
	return nil
}

func (r *restore) confirmFiles(ctx context.Context, d tree.Difference, entry, current *wire.BaseFilesEntry) error {
	return app.Agreed(r.App.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Restore the base files of %s?", r.Project),
		Facts: append([]string{
			"Restore  " + pushed(entry),
			"Replace  " + pushed(current),
			"Files    " + app.FileCounts(d),
		}, app.Shortened(app.ChangedFiles(d))...),
		Yes: "Restore them",
	}))
}

func pushed(e *wire.BaseFilesEntry) string {
	return fmt.Sprintf("%s, pushed by %s %s", app.ShortRevision(e.Tree), e.UpdatedBy, app.Ago(e.UpdatedAt))
}

// explain says that what was to be replaced has changed since it was compared.
func (r *restore) explain(err error) error {
	if !hubclient.HasCode(err, wire.CodeRevisionChanged) {
		return err
	}
	return failure.Of(err).WithReason("the %s of %s changed meanwhile", r.result.what, r.Project).
		WithHint("nothing was restored: look at the difference").
		WithRecipe(r.Line("restore", r.revision).Flag("--dry-run"))
}

// wrote notes what was restored, and how to undo that.
func (r *restore) wrote(revision string) {
	r.result.Revision = revision
	if r.result.Replaced != "" {
		r.result.Note("to undo it: %s", r.App.CommandText(r.Line("restore", app.ShortRevision(r.result.Replaced))))
	}
	if r.Local != nil {
		r.result.Note("local files stay as they are; to download what was restored: %s", r.App.CommandText(r.Line("pull")))
	}
}
