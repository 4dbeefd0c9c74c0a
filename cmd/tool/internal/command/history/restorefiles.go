package history

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// RestoredFiles is what a restore changes in the base files.
type RestoredFiles struct {
	Count   int      `json:"count"` // in the restored set
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}

func (f *RestoredFiles) summary() string {
	return fmt.Sprintf("%d added, %d changed, %d removed", len(f.Added), len(f.Changed), len(f.Removed))
}

// restoreFiles restores a set of base files, if the present one is still the one that was
// compared.
func (r *restore) restoreFiles(ctx context.Context) (bool, error) {
	entries, err := r.hub.BaseFilesHistory(ctx, r.project)
	if err != nil {
		return false, err
	}
	entry, err := hubclient.FindBaseFilesEntry(entries, r.project, r.revision)
	if err != nil {
		return false, err
	}
	current := entries[0]
	r.result.Revision, r.result.Replaced, r.result.Changed = entry.Tree, current.Tree, entry.Tree != current.Tree
	if r.result.BaseFiles, err = r.compareFiles(ctx, entry, current); err != nil {
		return false, err
	}
	if !r.result.Changed {
		r.result.Notes = append(r.result.Notes, "the hub has exactly these base files already")
		return true, nil
	}
	if r.dryRun {
		return true, nil
	}
	if r.asks() {
		if yes, err := r.confirmFiles(ctx, entry, current); err != nil || !yes {
			return false, err
		}
	}
	if _, err := r.hub.RestoreBaseFiles(ctx, r.project, entry.Tree, current.Tree); err != nil {
		return false, r.explain(err, "base files")
	}
	r.done.BaseFilesWritten = true
	r.wrote(entry.Tree)
	return true, nil
}

// compareFiles compares a former set with the present one.
func (r *restore) compareFiles(ctx context.Context, entry *wire.BaseFilesEntry, current wire.BaseFilesEntry) (*RestoredFiles, error) {
	f := &RestoredFiles{Count: entry.Count, Added: []string{}, Changed: []string{}, Removed: []string{}}
	if entry.Tree == current.Tree {
		return f, nil
	}
	former, err := r.hub.BaseFilesRevision(ctx, r.project, entry.Tree)
	if err != nil {
		return nil, err
	}
	now, err := r.hub.BaseFilesRevision(ctx, r.project, current.Tree)
	if err != nil {
		return nil, err
	}
	diff := tree.Diff(now.Files, former.Files)
	f.Added, f.Changed, f.Removed = append(f.Added, diff.Added...), append(f.Changed, diff.Changed...), append(f.Removed, diff.Removed...)
	return f, nil
}

func (r *restore) confirmFiles(ctx context.Context, entry *wire.BaseFilesEntry, current wire.BaseFilesEntry) (bool, error) {
	f := r.result.BaseFiles
	var names []string
	for _, change := range []struct {
		sign  string
		paths []string
	}{{"-", f.Removed}, {"~", f.Changed}, {"+", f.Added}} {
		for _, path := range change.paths {
			names = append(names, change.sign+" "+path)
		}
	}
	return r.app.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Restore the base files of %s?", r.project),
		Facts: append([]string{
			fmt.Sprintf("Restore  %s, pushed by %s %s", app.ShortRevision(entry.Tree), entry.UpdatedBy, app.Ago(entry.UpdatedAt)),
			fmt.Sprintf("Replace  %s, pushed by %s %s", app.ShortRevision(current.Tree), current.UpdatedBy, app.Ago(current.UpdatedAt)),
			"Files    " + f.summary(),
		}, app.Shortened(names)...),
		Yes: "Restore them", No: "Leave them",
	})
}
