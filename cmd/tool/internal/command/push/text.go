package push

import (
	"cmp"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/wire"
)

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
		own := *r.Config
		if r.Theirs != nil && !r.Theirs.difference.Empty() {
			w.Field("undoes", "%s", r.Theirs)
			w.Differences(app.DifferenceLines(r.Theirs.difference))
			own = *r.Mine
		}
		w.Field("config", "%s", app.DifferenceSummary(own))
		w.Differences(app.DifferenceLines(own))
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
