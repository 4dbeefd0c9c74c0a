package push

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
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
	edits, err := p.editsSince(ctx, base, func(each func(wire.ConfigEntry) bool) error {
		return p.hub.EachConfigEntry(ctx, p.destination, each)
	})
	if err != nil || len(edits) == 0 {
		return err
	}
	p.addKeys(ctx, edits)
	newest := edits[0]
	e := p.refuse(failure.CodeWouldUndoEdits, current, "the push would undo what %s edited %s", newest.UpdatedBy,
		app.Ago(newest.UpdatedAt))
	e.Edits = edits
	dir := ".tool/" + p.local.Name
	return e.WithHint("pull, which merges the edit with yours, commit, and push again").WithRecipe(
		p.line("pull"),
		cmdline.Git("add").With(dir), // pulled.json may be new
		cmdline.Git("commit", "-m", fmt.Sprintf("Pull the config of %s", p.destination), "--").With(dir),
		p.line("push").Flag("--no-clobber"),
	)
}

// checkFilesClobber refuses to replace base files that others have written since those
// that this workspace last pulled or pushed. stored is the tree of those that the hub has.
func (p *push) checkFilesClobber(ctx context.Context, stored string) error {
	base := p.last.Digest
	if bases, err := p.local.Bases(); err == nil {
		if b := bases.Of(p.hub.Origin(), p.destination); b != nil && b.Tree != "" {
			base = b.Tree
		}
	}
	if stored == "" || base == stored {
		return nil
	}
	edits, err := p.editsSince(ctx, base, func(each func(wire.ConfigEntry) bool) error {
		history, err := p.hub.BaseFilesHistory(ctx, p.destination)
		for _, e := range history {
			edit := wire.Edit{Revision: e.Tree, UpdatedAt: e.UpdatedAt, UpdatedBy: e.UpdatedBy, UpdatedVia: e.UpdatedVia}
			if !each(wire.ConfigEntry{
				Edit: edit, Number: e.Number, Parent: e.Parent, TokenName: e.TokenName, RequestID: e.RequestID, Push: e.Push,
				Added: e.Added, Changed: e.Changed, Removed: e.Removed,
			}) {
				break
			}
		}
		return err
	})
	if err != nil || len(edits) == 0 {
		return err
	}
	f := failure.New(failure.CodeWouldUndoEdits, "the push would replace base files that %s wrote %s",
		edits[0].UpdatedBy, app.Ago(edits[0].UpdatedAt))
	f.Edits = edits
	return f.WithHint("pull them, look at what changed, commit, and push again").WithRecipe(
		p.line("pull").Flag("--base-files-only"),
		cmdline.Git("add").With("."),
		cmdline.Git("commit", "-m", fmt.Sprintf("Pull the base files of %s", p.destination)),
		p.line("push").Flag("--base-files-only").Flag("--no-clobber"),
	)
}

// editsSince returns the edits since the one with the revision base that a push must not undo,
// newest first; all of the history where it does not have base.
func (p *push) editsSince(
	ctx context.Context, base string, history func(each func(wire.ConfigEntry) bool) error,
) (edits []failure.Edit, err error) {
	me, err := p.hub.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	err = history(func(e wire.ConfigEntry) bool {
		if e.Revision == base {
			return false
		}
		fromWorkspace := e.UpdatedVia == wire.ViaPush || e.UpdatedVia == wire.ViaCreate || e.UpdatedVia == ""
		if !fromWorkspace || e.UpdatedBy != me.Name() {
			edits = append(edits, failure.Edit{ConfigEntry: e})
		}
		return true
	})
	return edits, err
}

// maxKeyed bounds of how many edits the keys are looked up, the newest.
const maxKeyed = 20

// addKeys adds to edits which keys they changed, as far as the hub has both configs.
func (p *push) addKeys(ctx context.Context, edits []failure.Edit) {
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
	for i := range edits[:min(len(edits), maxKeyed)] {
		is, err := find(edits[i].Revision)
		if err != nil {
			continue
		}
		if was, err := find(edits[i].Parent); err == nil {
			edits[i].Keys = failure.KeysOf(flat.Diff(was, is))
		}
	}
}
