package push

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// checkClobber refuses to undo what others wrote since client.json was last synchronized
// with the hub, and what the caller edited on the page or through the API.
func (p *push) checkClobber(ctx context.Context, current *wire.Config) error {
	bases, err := p.app.Bases(p.local)
	if err != nil {
		return failure.At(app.StageRead, err)
	}
	base := ""
	if b := bases.Of(p.hub.Origin(), p.destination); b != nil {
		base = b.Revision
	}
	if base == current.Revision {
		return nil
	}
	edits, err := p.editsSince(ctx, base, current)
	if err != nil || len(edits) == 0 {
		return err
	}
	newest := edits[0]
	e := p.refuse(failure.CodeWouldUndoEdits, current, "the push would undo what %s edited %s", newest.UpdatedBy, app.Ago(newest.UpdatedAt))
	e.Edits = p.withKeys(ctx, edits)
	e.Hint = "pull, which merges the edit with yours, commit, and push again"
	e.Recipe = []cmdline.Line{
		p.line("pull"),
		cmdline.Git("add").With(".tool/" + p.local.Name), // pulled.json may be new
		cmdline.Git("commit", "-m", fmt.Sprintf("Pull the config of %s", p.destination), "--").With(".tool/" + p.local.Name),
		p.line("push").Flag("--no-clobber"),
	}
	return e
}

// editsSince returns the edits since the revision base that a push must not undo, newest
// first; all of the history where it does not have base.
func (p *push) editsSince(ctx context.Context, base string, current *wire.Config) ([]wire.ConfigEntry, error) {
	var me string
	var edits []wire.ConfigEntry
	var failed error
	err := p.hub.EachConfigEntry(ctx, p.destination, func(entry wire.ConfigEntry) bool {
		if entry.Revision == base {
			return false
		}
		if me == "" {
			who, err := p.hub.Whoami(ctx)
			if err != nil {
				failed = err
				return false
			}
			me = who.Name()
		}
		if entry.UpdatedBy != me || editedByHand(entry.UpdatedVia) {
			edits = append(edits, entry)
		}
		return true
	})
	if hubclient.HasCode(err, hubclient.CodeUnsupportedByHub) {
		return lastEdit(current), nil
	}
	if err == nil {
		err = failed
	}
	return edits, err
}

// editedByHand reports whether a config was edited where it is, not sent from a workspace.
func editedByHand(via wire.Via) bool {
	return via == wire.ViaPage || via == wire.ViaAPI || via == wire.ViaRestore
}

// lastEdit is all that a hub without a history knows: the last edit, by hand.
func lastEdit(current *wire.Config) []wire.ConfigEntry {
	if !editedByHand(current.UpdatedVia) {
		return nil
	}
	return []wire.ConfigEntry{{Edit: current.Edit}}
}

// maxKeyed bounds of how many edits the keys are looked up, the newest.
const maxKeyed = 20

// withKeys adds to edits which keys they changed, as far as the hub has both configs.
func (p *push) withKeys(ctx context.Context, edits []wire.ConfigEntry) []failure.Edit {
	keyed := make([]failure.Edit, len(edits))
	known := map[string]flat.Config{"": {}} // by revision
	find := func(revision string) (flat.Config, error) {
		if config, ok := known[revision]; ok {
			return config, nil
		}
		kept, err := p.hub.ConfigRevision(ctx, p.destination, revision)
		if err != nil {
			return flat.Config{}, err
		}
		config, err := flat.Parse(kept.Config)
		known[revision] = config
		return config, err
	}
	for i, edit := range edits {
		keyed[i].ConfigEntry = edit
		if i >= maxKeyed || edit.Added+edit.Changed+edit.Removed == 0 { // an older hub counts nothing
			continue
		}
		is, err := find(edit.Revision)
		if err != nil {
			continue
		}
		if was, err := find(edit.Parent); err == nil {
			keyed[i].Keys = failure.KeysOf(flat.Diff(was, is))
		}
	}
	return keyed
}
