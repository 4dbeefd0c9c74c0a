package push

import (
	"context"
	"slices"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// checkClobber refuses to undo what others wrote since client.json was last synchronized
// with the hub, and what the caller edited on the page or through the API.
func (p *push) checkClobber(ctx context.Context, current *wire.Config) error {
	base, err := p.baseRevision()
	if err != nil {
		return err
	}
	if base == current.Revision {
		return nil
	}
	edits, err := p.editsSince(ctx, base, func(each func(wire.ConfigEntry) bool) error {
		return p.Hub.EachConfigEntry(ctx, p.Project, each)
	})
	if err != nil || len(edits) == 0 {
		return err
	}
	p.addKeys(ctx, edits, map[string]*flat.Config{})
	e := p.refuse(failure.CodeWouldUndoEdits, current, "the push would undo what %s edited %s", edits[0].UpdatedBy,
		app.Ago(edits[0].UpdatedAt))
	e.Edits = edits
	dir := ".tool/" + p.Local.Name
	return e.WithHint("pull, which merges the edit with yours, commit, and push again").WithRecipe(
		p.Line("pull"),
		cmdline.Git("add").With(dir), // pulled.json may be new
		cmdline.Git("commit", "-m", "Pull the config of "+p.Project.String(), "--").With(dir),
		p.Line("push").Flag("--no-clobber"),
	)
}

// checkFilesClobber refuses to replace base files that others have written since those
// that this workspace last pulled or pushed. stored is the tree of those that the hub has.
func (p *push) checkFilesClobber(ctx context.Context, stored string) error {
	base := p.last.Digest // also where pulled.json cannot be read: edits since then are refused too
	if bases, err := p.Local.Bases(); err == nil {
		if b := bases.Of(p.Hub.Origin(), p.Project); b != nil && b.Tree != "" {
			base = b.Tree
		}
	}
	if stored == "" || base == stored {
		return nil
	}
	edits, err := p.editsSince(ctx, base, func(each func(wire.ConfigEntry) bool) error {
		history, err := p.Hub.BaseFilesHistory(ctx, p.Project)
		for _, e := range history {
			if !each(e.ConfigEntry()) {
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
		p.Line("pull").Flag("--base-files-only"),
		cmdline.Git("add").With("."),
		cmdline.Git("commit", "-m", "Pull the base files of "+p.Project.String()),
		p.Line("push").Flag("--base-files-only").Flag("--no-clobber"),
	)
}

// editsSince returns the edits since the one with the revision base that a push must not undo,
// newest first; all of the history where it does not have base.
func (p *push) editsSince(
	ctx context.Context, base string, history func(each func(wire.ConfigEntry) bool) error,
) (edits []failure.Edit, err error) {
	me, err := p.Hub.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	edits, err = p.entriesSince(ctx, base, history)
	return slices.DeleteFunc(edits, func(e failure.Edit) bool { return isOwnPush(e.ConfigEntry, me) }), err
}

// entriesSince returns the entries of a history since the one with the revision base, newest first.
func (p *push) entriesSince(
	ctx context.Context, base string, history func(each func(wire.ConfigEntry) bool) error,
) (entries []failure.Edit, err error) {
	err = history(func(e wire.ConfigEntry) bool {
		if e.Revision == base {
			return false
		}
		entries = append(entries, failure.Edit{ConfigEntry: e})
		return true
	})
	return entries, err
}

// isOwnPush reports whether the caller pushed it, from any machine.
func isOwnPush(e wire.ConfigEntry, me *wire.Whoami) bool {
	fromWorkspace := e.UpdatedVia == wire.ViaPush || e.UpdatedVia == wire.ViaCreate || e.UpdatedVia == ""
	return fromWorkspace && e.UpdatedBy == me.Name()
}

// addKeys adds to the newest edits which keys they changed, as far as the hub has both configs. known are
// configs by their revisions, which need not be asked for; it adds others, nil for one that the hub does not have.
func (p *push) addKeys(ctx context.Context, edits []failure.Edit, known map[string]*flat.Config) {
	const maxKeyed = 20
	known[""] = &flat.Config{}
	find := func(revision string) *flat.Config {
		if config, asked := known[revision]; asked {
			return config
		}
		known[revision] = nil
		kept, err := p.Hub.ConfigRevision(ctx, p.Project, revision)
		if err != nil {
			return nil
		}
		if config, err := flat.Parse(kept.Config); err == nil {
			known[revision] = &config
		}
		return known[revision]
	}
	for i := range edits[:min(len(edits), maxKeyed)] {
		was, is := find(edits[i].Parent), find(edits[i].Revision)
		if was != nil && is != nil {
			edits[i].Keys = failure.KeysOf(flat.Diff(*was, *is))
		}
	}
}
