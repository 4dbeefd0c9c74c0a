package push

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// savePrevious saves the hub's config in the undo history before it is replaced: the
// response to the write may never arrive. current is nil when nothing is replaced.
func (p *push) savePrevious(current *wire.Config) {
	p.saved, p.saveErr = nil, nil
	if current == nil || !current.HasConfig || current.Revision == p.config.Revision() {
		return
	}
	if p.saved = p.pending(current); p.saved != nil {
		return
	}
	p.saved, p.saveErr = p.app.History().Begin(p.value(current.Config, current.Edit, p.config.Revision()))
}

// pending returns what an earlier attempt at the same push saved. It drops what other
// pushes saved that were never applied: the hub holds what they were to replace.
func (p *push) pending(current *wire.Config) *state.Entry {
	for {
		last, err := p.app.History().Latest(p.place(), nil)
		if err != nil || last == nil || !last.Pending || last.Former.Revision != current.Revision {
			return nil
		}
		if last.Written == p.config.Revision() {
			return last
		}
		if last.Drop() != nil {
			return nil
		}
	}
}

// dropPrevious removes what savePrevious saved: nothing was replaced. If it cannot be
// removed, it stays pending.
func (p *push) dropPrevious() {
	if p.saved != nil {
		_ = p.saved.Drop()
		p.saved = nil
	}
}

// saveReplaced completes the undo history by what the hub says that the revision
// written replaced, which counts if it is not what was read before the write.
func (p *push) saveReplaced(replaced *wire.Replaced, written string) {
	err := p.saveErr
	s := p.saved
	if s == nil || s.Former.Revision != replaced.Revision || s.Written != written || !s.Confirm() {
		err = p.app.History().Save(p.value(replaced.Config, replaced.Edit, written))
		p.dropPrevious()
	}
	p.saved, p.undoable = nil, err == nil
	note := fmt.Sprintf("the previous config (%s) is saved; to restore it: %s", editText(replaced.Edit), p.app.CommandText(p.undoLine()))
	if err != nil {
		note = err.Error()
	}
	p.result.Notes = append(p.result.Notes, note)
}

func (p *push) value(config jsontext.Value, former wire.Edit, written string) state.Value {
	return state.Value{Name: p.place(), Config: config, Former: former, Written: written, At: time.Now()}
}

// undoLine is the command that undoes the push.
func (p *push) undoLine() cmdline.Line {
	return p.line("push").Flag("--undo")
}

// place names the destination in the undo history.
func (p *push) place() string { return state.PushName(p.hub.Origin(), p.destination) }

func editText(e wire.Edit) string {
	return fmt.Sprintf("%s, %s, %s", e.UpdatedBy, e.UpdatedVia, app.Ago(e.UpdatedAt))
}

// undo puts the config and the base files back that the last push from this machine
// replaced, where the hub still holds what that push wrote. That may be a push whose response never
// arrived. client.json stays as it is. The failure is nothing_kept or
// revision_changed.
func (p *push) undo(ctx context.Context) (*app.Aborted, error) {
	err := p.prepare(ctx)
	if err == nil {
		err = p.putBack(ctx)
	}
	if err != nil {
		return nil, p.fail(err)
	}
	return nil, nil
}

// putBack undoes the last push: of a config, of base files, or of both.
func (p *push) putBack(ctx context.Context) error {
	former, err := p.app.History().Latest(p.place(), nil)
	if err != nil {
		return failure.At(app.StageRead, err)
	}
	files, err := p.findFiles(ctx, former)
	if err != nil {
		return err
	}
	if files == nil && former == nil {
		return failure.At(app.StageRead, failure.New(failure.CodeNothingKept, "no previous config of %s is saved on this machine", p.destination).
			WithHint("a push saves the config that it replaces, until --undo restores it"))
	}
	p.restored = "base files"
	if files == nil || files.Files.Together && former != nil {
		if err := p.putBackConfig(ctx, former); err != nil {
			return err
		}
		p.restored = "config"
	}
	if files == nil {
		return nil
	}
	if p.restored == "config" {
		p.restored = "config and base files"
	}
	return p.restoreFiles(ctx, files)
}

func (p *push) putBackConfig(ctx context.Context, former *state.Entry) error {
	config, err := flat.Parse(former.Config)
	if err != nil {
		return failure.At(app.StageRead, fmt.Errorf("the saved config cannot be read: %w", err))
	}
	written, err := p.hub.RestoreConfig(ctx, p.destination, wire.PutConfig{Settings: config.Unfold()}, former.Written)
	switch {
	case err == nil:
		p.wroteBack(written, former)
	case isBack(err, config):
		p.alreadyBack(config, former)
	default:
		return p.explainUndo(err)
	}
	if err := former.Drop(); err != nil {
		p.result.Notes = append(p.result.Notes, "the saved config could not be removed: "+err.Error())
	}
	return nil
}

// isBack reports that the hub refused to put config back because it has it: the push
// was never applied, or the response to an earlier undo was lost.
func isBack(err error, config flat.Config) bool {
	var e *hubclient.Error
	return errors.As(err, &e) && e.Code == wire.CodeRevisionChanged && e.Current != nil && e.Current.Revision == config.Revision()
}

func (p *push) alreadyBack(config flat.Config, former *state.Entry) {
	p.wasBack = true
	p.result.EnrichmentCount, p.result.Revision = config.EnrichmentCount(), config.Revision()
	p.result.Notes = append(p.result.Notes,
		fmt.Sprintf("nothing was changed: the hub holds the config from before the push (%s) already", editText(former.Former)),
		p.local.ClientPath()+" stays as it is, and a push would send it again")
	p.app.SyncState().Save(p.hub.Origin(), p.destination, config.Revision())
}

// explainUndo says that the hub's config has changed since the push.
func (p *push) explainUndo(err error) error {
	e := failure.Of(p.hub.Fault(err))
	if e.Code != wire.CodeRevisionChanged {
		return e
	}
	e.Reason = fmt.Errorf("the config of %s is no longer what was pushed from this machine", p.destination)
	if e.Current != nil && e.Current.UpdatedBy != "" {
		e.Hint = fmt.Sprintf("it was written since (%s); nothing was changed, and the previous config stays saved", editText(*e.Current))
	}
	e.Recipe = []cmdline.Line{p.dryRunLine()}
	return e
}

func (p *push) wroteBack(w *wire.ConfigWritten, former *state.Entry) {
	p.done.ConfigWritten = true
	r := p.result
	r.EnrichmentCount, r.Revision, r.OverwroteExistingConfig, r.ConfigChanged = w.EnrichmentCount, w.Revision, w.OverwroteExistingConfig, true
	if w.Replaced != nil {
		edit := w.Replaced.Edit
		r.Replaced = &edit
	}
	r.Notes = append(r.Notes,
		fmt.Sprintf("the config from before the push (%s) is restored", editText(former.Former)),
		p.local.ClientPath()+" stays as it is, and a push would send it again")
	p.app.SyncState().Save(p.hub.Origin(), p.destination, w.Revision)
	p.recordBack(w.Revision, former.Written)
}

// recordBack records the revision in pulled.json, if that has the one that the push wrote:
// else the restore would count there as an edit by others.
func (p *push) recordBack(revision, written string) {
	bases, err := p.local.Bases()
	if err != nil {
		return
	}
	if base := bases.At(p.hub.Origin()); base == nil || base.Revision != written {
		return
	}
	if err := p.local.RecordPulled(p.hub.Origin(), workspace.Pulled{Project: p.destination, Revision: revision}); err != nil {
		p.result.Notes = append(p.result.Notes, "the revision could not be recorded: "+err.Error())
	}
}
