package push

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/tool/internal/fault"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/kept"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// keep files the config that was replaced by the revision written, so that Undo
// finds it.
func (p *push) keep(config jsontext.Value, former wire.Edit, written string) {
	err := p.Kept.Keep(kept.Value{Name: p.place(), Config: config, Former: former, Written: written, At: time.Now()})
	note := fmt.Sprintf("the former config (%s) is kept; put it back: tool push %s%s --undo", editText(former), p.Local.Name, p.projectFlag())
	if err != nil {
		note = err.Error()
	}
	p.result.Notes = append(p.result.Notes, note)
}

// place is where what is replaced at the destination is kept.
func (p *push) place() string { return "push " + p.hub.Origin() + " " + p.destination.String() }

func editText(e wire.Edit) string {
	return fmt.Sprintf("%s, %s, %s", e.UpdatedBy, e.UpdatedVia, e.UpdatedAt.UTC().Format(time.RFC3339))
}

// Undo puts the config back that the last push from this machine replaced, where
// the hub still holds what that push wrote. client.json stays as it is. The failure
// is nothing_kept or revision_changed.
func Undo(ctx context.Context, o Options) (*Result, error) {
	o.What, o.NoRecord = Nothing, true
	p, err := prepare(ctx, o)
	if err != nil {
		return nil, p.fail(err)
	}
	if err := p.undo(ctx); err != nil {
		return nil, p.fail(err)
	}
	return p.result, nil
}

func (p *push) undo(ctx context.Context) error {
	former, drop, err := p.Kept.Newest(p.place())
	if err != nil {
		return fault.At(flow.StageRead, err)
	}
	if former == nil {
		return fault.At(flow.StageRead, fault.New(wire.CodeNothingKept, "no former config of %s is kept on this machine", p.destination).
			WithHint("a push keeps the config that it replaces, until --undo has put it back"))
	}
	config, err := flat.Parse(former.Config)
	if err != nil {
		return fault.At(flow.StageRead, fmt.Errorf("the kept config cannot be read: %w", err))
	}
	written, err := p.hub.PutConfig(ctx, p.destination, wire.PutConfig{Settings: config.Unfold()}, former.Written)
	if err != nil {
		return p.explainUndo(err)
	}
	p.wroteBack(written, former)
	if err := drop(); err != nil {
		p.result.Notes = append(p.result.Notes, "the kept config could not be dropped: "+err.Error())
	}
	return nil
}

// explainUndo says that the hub moved on since the push.
func (p *push) explainUndo(err error) error {
	err = p.hub.Fault(err)
	e := fault.From(err)
	if e.Code != wire.CodeRevisionChanged {
		return err
	}
	e.Err = fmt.Errorf("the config of %s is no longer what was pushed from this machine", p.destination)
	if e.Current != nil && e.Current.UpdatedBy != "" {
		e.Hint = fmt.Sprintf("it was written since (%s); nothing was changed, and the former config stays kept", editText(*e.Current))
	}
	e.Recipe = []string{p.dryRunLine()}
	return e
}

func (p *push) wroteBack(w *wire.ConfigWritten, former *kept.Value) {
	p.did.ConfigWritten = true
	r := p.result
	r.EnrichmentCount, r.Revision, r.OverwroteExistingConfig, r.ConfigChanged = w.EnrichmentCount, w.Revision, w.OverwroteExistingConfig, true
	if w.Replaced != nil {
		edit := w.Replaced.Edit
		r.Replaced = &edit
	}
	r.Notes = append(r.Notes,
		fmt.Sprintf("the config from before the push (%s) is back", editText(former.Former)),
		p.Local.ClientPath()+" stays as it is, and a push would send it again")
	p.Revisions.Save(p.hub.Origin(), p.destination, w.Revision)
}
