package push

import (
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Result is a push that went through.
type Result struct {
	ProjectName             string     `json:"projectName"`
	Env                     string     `json:"environment,omitzero"`
	Project                 ref.Ref    `json:"project"`
	Origin                  string     `json:"origin"`
	EnrichmentCount         int        `json:"enrichmentCount"`
	OverwroteExistingConfig bool       `json:"overwroteExistingConfig"`
	RemoteWritten           bool       `json:"remoteWritten"`
	Revision                string     `json:"revision,omitzero"`
	ConfigChanged           bool       `json:"configChanged"`
	Replaced                *wire.Edit `json:"replaced"`
	BaseFilesPushed         int        `json:"baseFilesPushed"`
	*FilesResult            `json:",inline"`
	Notes                   []string `json:"notes"`

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

// text prints the result of a push, or of its undo.
func (r *Result) text(w *app.Printer) {
	f, sent := r.FilesResult, ""
	switch {
	case !r.undone:
		w.Line("Pushed %s to %s", r.ProjectName, r.Project)
		if f != nil {
			sent = "; " + app.Bytes(f.Bytes) + " sent"
		}
	case f == nil:
		w.Line("Restored the config of %s", r.Project)
	case r.Revision == "":
		w.Line("Restored the base files of %s", r.Project)
	default:
		w.Line("Restored the config and base files of %s", r.Project)
	}
	w.Environment(r.Env)
	w.Field("origin", "%s", r.Origin)
	if r.Revision != "" { // else no config was written
		w.Field("enrichments", "%d", r.EnrichmentCount)
	}
	if f != nil {
		w.Field("base files", "%d (%d added, %d changed, %d removed%s)", r.BaseFilesPushed, f.Added, f.Changed,
			f.Removed, sent)
	}
	w.Notes(r.Notes)
}

// changesNothing reports that the hub has already what would be pushed.
func (r *Plan) changesNothing() bool {
	return (r.Config == nil || r.Config.Empty()) && (r.BaseFiles == nil || r.BaseFiles.unchanged())
}

func (f *FilesPlan) unchanged() bool { return len(f.Added)+len(f.Changed)+len(f.Removed) == 0 }

// text prints what a push would do.
func (r *Plan) text(w *app.Printer) {
	if r.changesNothing() {
		w.Line("Pushing %s to %s would change nothing", r.ProjectName, r.Project)
	} else {
		w.Line("Pushing %s to %s would change:", r.ProjectName, r.Project)
	}
	w.Environment(r.Env)
	w.Field("origin", "%s", r.Origin)
	if r.Config != nil {
		w.Field("config", "%s", app.DifferenceSummary(*r.Config))
		for _, line := range app.DifferenceLines(*r.Config) {
			w.Line("    %s", line)
		}
		w.Field("enrichments", "%d", r.EnrichmentCount)
	}
	if f := r.BaseFiles; f != nil {
		w.Field("base files", "%d, %s (%d added, %d changed, %d removed)", f.Count, app.Bytes(f.Bytes), len(f.Added),
			len(f.Changed), len(f.Removed))
		if f.Tree != "" && !f.unchanged() {
			w.Field("", "replacing %s", f.Tree)
		}
		w.Paths("+", f.Added, f.GitIgnored)
		w.Paths("~", f.Changed, f.GitIgnored)
		w.Paths("-", f.Removed, nil)
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
	w.Field("revision", "%s", r.Revision)
	if !r.Authorized {
		w.Line("  note: this token may not push there")
	}
	w.Notes(r.Notes)
}
