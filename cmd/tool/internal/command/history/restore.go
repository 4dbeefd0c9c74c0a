package history

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// Restored is a restore that went through, or what one would change.
type Restored struct {
	ProjectName string           `json:"projectName,omitzero"`
	Project     ref.Ref          `json:"project"`
	Env         string           `json:"environment,omitzero"`
	Origin      string           `json:"origin"`
	Revision    string           `json:"revision"` // or the digest of the set of base files
	Replaced    string           `json:"replaced"` // likewise, of what was there before; "": that was damaged
	Changed     bool             `json:"changed"`
	Config      *flat.Difference `json:"config"`    // null with --base-files, and where a damaged config was replaced
	BaseFiles   *RestoredFiles   `json:"baseFiles"` // null without
	Notes       []string         `json:"notes"`
}

// restore is one restore.
type restore struct {
	target
	revision      string // as typed
	force, dryRun bool
	result        *Restored
}

// RestoreCommand returns the command restore.
func RestoreCommand(a *app.App) *cobra.Command {
	r := &restore{target: target{app: a}}
	c := &cobra.Command{
		Use:   "restore [<project>] <revision>",
		Short: "Restore an earlier config, or earlier base files, on the hub",
		Long: `Replace a project's config on the hub by an earlier one, or with --base-files
its base files. tool log lists the revisions; one can be abbreviated. Local
files stay as they are: tool pull downloads what was restored.

A terminal shows the difference and asks; a pipeline restores. It fails if the
config or the base files change meanwhile. What is replaced stays in the
history, so that a restore can be undone by another one.`,
		Example: `  tool restore web 461f583aadb4 --dry-run
  tool restore web 461f583aadb4 --no-input
  tool restore 7d10 --project @acme/web --base-files`,
		Args:              projectAndRevision,
		ValidArgsFunction: a.CompleteLocal,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			name, revision := split(args)
			if err := app.CheckRevision("<revision>", revision); err != nil {
				return err
			}
			r.revision, r.writes = revision, !r.dryRun
			return r.run(ctx, name)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&r.files, "base-files", false, "restore the base files instead of the config")
	fl.BoolVar(&r.dryRun, "dry-run", false, "show what would change without changing it")
	fl.BoolVar(&r.force, "force", false, "restore without asking, and also over a damaged config")
	return r.flags(c)
}

func (r *restore) run(ctx context.Context, name string) error {
	yes, err := r.restore(ctx, name)
	switch {
	case err != nil:
		return r.fail(err, "restore "+app.ShortRevision(r.revision))
	case !yes:
		return r.app.Aborted(&app.Aborted{ProjectName: r.name(), Project: r.project, Origin: r.hub.Origin()})
	case r.dryRun:
		return r.app.Print("planned", r.result, r.text)
	}
	return r.app.Print("restored", r.result, r.text)
}

// restore returns false when the person said no.
func (r *restore) restore(ctx context.Context, name string) (bool, error) {
	if err := r.find(ctx, name); err != nil {
		return false, err
	}
	r.result = &Restored{ProjectName: r.name(), Project: r.project, Env: r.env(), Origin: r.hub.Origin(), Notes: []string{}}
	if r.files {
		return r.restoreFiles(ctx)
	}
	return r.restoreConfig(ctx)
}

// asks reports whether the person is asked before anything is replaced.
func (r *restore) asks() bool { return !r.force && !r.app.Strict() }

// restoreConfig restores a config, if the present one is still the one that was compared.
// A person sees the difference again when it is not.
func (r *restore) restoreConfig(ctx context.Context) (bool, error) {
	entry, err := r.hub.FindConfigEntry(ctx, r.project, r.revision)
	if err != nil {
		return false, err
	}
	former, err := r.configOf(ctx, entry.Revision)
	if err != nil {
		return false, err
	}
	for again := false; ; again = true {
		current, err := r.hub.Config(ctx, r.project, "")
		if hubclient.HasCode(err, wire.CodeDamaged) {
			return r.replaceDamaged(ctx, former, err)
		}
		if err != nil {
			return false, err
		}
		done, yes, err := r.decide(ctx, entry, current, former, again)
		if err != nil || done || !yes {
			return yes, err
		}
		written, err := r.hub.RestoreConfig(ctx, r.project, wire.PutConfig{Settings: former.Unfold()}, current.Revision)
		if hubclient.HasCode(err, wire.CodeRevisionChanged) && r.asks() {
			continue
		}
		if err != nil {
			return false, r.explain(err, "config")
		}
		r.done.ConfigWritten = true
		r.wrote(written.Revision)
		return true, nil
	}
}

// replaceDamaged restores a config where the present one is damaged. That needs --force,
// because nothing can be shown of what is replaced.
func (r *restore) replaceDamaged(ctx context.Context, former flat.Config, damaged error) (bool, error) {
	if !r.force || r.dryRun {
		return false, failure.Of(r.hub.Fault(damaged)).WithHint("a restore with --force replaces it").
			Try(r.line("restore", r.revision).Flag("--force"))
	}
	present := ""
	err := r.hub.EachConfigEntry(ctx, r.project, func(newest wire.ConfigEntry) bool {
		present = newest.Revision
		return false
	})
	if err != nil {
		return false, err
	}
	written, err := r.hub.RestoreConfig(ctx, r.project, wire.PutConfig{Settings: former.Unfold()}, present)
	if err != nil {
		return false, r.explain(err, "config")
	}
	r.done.ConfigWritten, r.result.Changed = true, true
	r.result.Notes = append(r.result.Notes, "the hub's config was damaged, and was replaced")
	r.wrote(written.Revision)
	return true, nil
}

// decide compares what is restored with the present config. done says that nothing is left
// to do.
func (r *restore) decide(ctx context.Context, entry *wire.ConfigEntry, current *wire.Config, former flat.Config, again bool) (done, yes bool, err error) {
	now, err := flat.Parse(current.Config)
	if err != nil {
		return false, false, failure.New(hubclient.CodeNotAHub, "the config of %s on %s cannot be read: %w", r.project, r.hub.Origin(), err)
	}
	changes := flat.Diff(now, former)
	r.result.Revision, r.result.Replaced, r.result.Config = entry.Revision, current.Revision, &changes
	r.result.Changed = !changes.Empty()
	if changes.Empty() {
		r.result.Notes = append(r.result.Notes, "the hub has exactly this config already")
		return true, true, nil
	}
	if r.dryRun || !r.asks() {
		return r.dryRun, true, nil
	}
	q := prompts.Overwrite{
		Title: fmt.Sprintf("Restore the config of %s?", r.project),
		Facts: []string{
			"Restore  " + app.ShortRevision(entry.Revision) + ", " + app.Edit(entry.Edit),
			"Replace  " + app.ShortRevision(current.Revision) + ", " + app.Edit(current.Edit),
		},
		Yes: "Restore it", Difference: changes,
	}
	if again {
		q.Notice = fmt.Sprintf("%s changed it while you looked. This is the difference now:", current.UpdatedBy)
	}
	yes, err = r.app.UI.Overwrite(ctx, q)
	return false, yes, err
}

// explain says that what was to be replaced has changed since it was compared.
func (r *restore) explain(err error, what string) error {
	f := failure.Of(r.hub.Fault(err))
	if f.Code != wire.CodeRevisionChanged {
		return f
	}
	return f.WithReason("the %s of %s changed meanwhile", what, r.project).
		WithHint("nothing was restored: look at the difference").
		WithRecipe(r.line("restore", r.revision).Flag("--dry-run"))
}

// wrote notes what was restored, and how to undo that.
func (r *restore) wrote(revision string) {
	r.result.Revision = revision
	if r.result.Replaced != "" {
		r.result.Notes = append(r.result.Notes,
			"to undo it: "+r.app.CommandText(r.line("restore", app.ShortRevision(r.result.Replaced))))
	}
	if r.local != nil {
		r.result.Notes = append(r.result.Notes, "local files stay as they are; to download what was restored: "+r.app.CommandText(r.line("pull")))
	}
}

func (r *restore) text(w *app.Printer) {
	what := "config"
	if r.files {
		what = "base files"
	}
	switch {
	case !r.result.Changed:
		w.Line("Restoring the %s of %s changes nothing", what, r.project)
	case r.dryRun:
		w.Line("Restoring the %s of %s would change:", what, r.project)
	default:
		w.Line("Restored the %s of %s", what, r.project)
	}
	w.Environment(r.result.Env)
	w.Field("origin", "%s", r.result.Origin)
	if r.result.Changed && r.result.Replaced != "" {
		w.Field("revision", "%s, instead of %s", app.ShortRevision(r.result.Revision), app.ShortRevision(r.result.Replaced))
	} else {
		w.Field("revision", "%s", app.ShortRevision(r.result.Revision))
	}
	if d := r.result.Config; d != nil {
		w.Field("config", "%s", app.DifferenceSummary(*d))
		for _, line := range app.DifferenceLines(*d) {
			w.Line("    %s", line)
		}
	}
	if f := r.result.BaseFiles; f != nil {
		w.Field("base files", "%s: %s", app.Count(f.Count, "file", "files"), f.summary())
		w.Paths("+", f.Added, nil)
		w.Paths("~", f.Changed, nil)
		w.Paths("-", f.Removed, nil)
	}
	w.Notes(r.result.Notes)
}
