package push

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// The hub keeps the base files that a push replaced. The undo history only remembers which
// set a push sent, and whether the same push replaced a config.

// filesPlace names the base files of the destination in the undo history.
func (p *push) filesPlace() string { return p.place() + " base files" }

// saveFiles remembers the set that was sent, if it replaced one. w is nil if it is not
// known whether the hub applied the push.
func (p *push) saveFiles(w *wire.BaseFilesWritten) {
	replaced := w == nil || w.Changed+w.Removed > 0 || w.Added > 0 && w.Added < w.BaseFilesPushed
	if !replaced {
		return
	}
	config, err := p.app.History().Latest(p.place(), nil)
	if err != nil {
		return // undo would fail, too
	}
	v := state.Value{
		Name: p.filesPlace(), At: time.Now(),
		Files: &state.PushedFiles{Tree: p.files.Digest, Config: config.ID(), Together: p.undoable},
	}
	if w == nil {
		_, _ = p.app.History().Begin(v)
		return
	}
	if err := p.app.History().Save(v); err != nil || w.Changed+w.Removed == 0 {
		return // there is nothing to restore, or it can be by tool restore
	}
	note := "the hub keeps the replaced base files; "
	if p.undoable {
		note += "the same command restores them"
	} else {
		note += "to restore them: " + p.app.CommandText(p.undoLine())
	}
	p.result.Notes = append(p.result.Notes, note)
}

// latestFiles returns what the last push sent, nil if that was a config alone. config is
// the entry of the last config that a push replaced.
func (p *push) latestFiles(config *state.Entry) (*state.Entry, error) {
	files, err := p.app.History().Latest(p.filesPlace(), nil)
	if err != nil || files == nil || files.Files == nil || files.Files.Config != config.ID() {
		return nil, err
	}
	return files, nil
}

// filesUndo is an undo of a push of base files.
type filesUndo struct {
	*state.Entry
	former string // tree to restore; "": the hub has it already
}

// findFiles returns which base files an undo restores, nil for none. The failure is
// revision_changed if somebody pushed since.
func (p *push) findFiles(ctx context.Context, config *state.Entry) (*filesUndo, error) {
	pushed, err := p.latestFiles(config)
	if err != nil || pushed == nil {
		return nil, err
	}
	history, err := p.hub.BaseFilesHistory(ctx, p.destination)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(history, func(e wire.BaseFilesEntry) bool { return e.Tree == pushed.Files.Tree })
	switch {
	case at < 0 && pushed.Pending: // it was never applied
		if err := pushed.Drop(); err != nil {
			return nil, err
		}
		return p.findFiles(ctx, config)
	case at == 0 && history[0].Parent == "":
		return nil, failure.New(failure.CodeNothingKept, "the hub does not keep the base files of %s from before the push", p.destination)
	case at == 0:
		return &filesUndo{pushed, history[0].Parent}, nil
	case at == 1 && history[0].Tree == history[1].Parent: // the response to an earlier undo was lost
		return &filesUndo{pushed, ""}, nil
	}
	f := failure.New(wire.CodeRevisionChanged, "the base files of %s are no longer what was pushed from this machine", p.destination).
		Try(p.line("log").Flag("--base-files"))
	if len(history) > 0 {
		last := history[0]
		f = f.WithHint("%s replaced them %s; nothing was changed", last.UpdatedBy, app.Ago(last.UpdatedAt))
	}
	return nil, f
}

// restoreFiles makes the base files what they were before the push.
func (p *push) restoreFiles(ctx context.Context, u *filesUndo) error {
	if u.former == "" {
		p.result.Notes = append(p.result.Notes, "the hub has the base files from before the push already")
	} else {
		w, err := p.hub.RestoreBaseFiles(ctx, p.destination, u.former, u.Files.Tree)
		if hubclient.HasCode(err, wire.CodeRevisionChanged) {
			f := failure.Of(p.hub.Fault(err))
			return f.WithReason("the base files of %s are no longer what was pushed from this machine", p.destination).
				Try(p.line("log").Flag("--base-files"))
		}
		if err != nil {
			return err
		}
		p.done.BaseFilesWritten = true
		p.result.BaseFilesPushed = w.BaseFilesPushed
		p.result.FilesResult = &FilesResult{Added: w.Added, Changed: w.Changed, Removed: w.Removed}
		p.result.Notes = append(p.result.Notes, fmt.Sprintf("the base files from before the push (%s) are restored; local files stay as they are, and a push would send them again", app.ShortRevision(u.former)))
	}
	if err := u.Drop(); err != nil {
		p.result.Notes = append(p.result.Notes, "the record of the push could not be removed: "+err.Error())
	}
	return nil
}
