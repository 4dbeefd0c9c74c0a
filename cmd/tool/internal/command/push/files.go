package push

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// stored is what is known of the hub's base files before they are replaced.
type stored struct {
	tree    string // "": there are none
	checked bool   // only this tree may be replaced
}

// checkStored finds out which base files the hub has, where that decides whether they may
// be replaced, and asks where it has to. It returns false when the person said no.
func (p *push) checkStored(ctx context.Context) (bool, error) {
	if !p.opts.files() {
		return true, nil
	}
	p.stored = stored{}
	if !p.asks && !p.opts.Ask && !p.opts.NoClobber && !p.opts.IfTree.Given() {
		return true, nil
	}
	if err := app.KeepModes(ctx, p.hub, p.destination, p.files); err != nil {
		return false, err
	}
	view, err := p.hub.Project(ctx, p.destination)
	if err != nil {
		return false, err
	}
	p.stored.checked = true
	if f := view.BaseFiles; f != nil {
		p.stored.tree = f.Tree
	}
	if p.stored.tree == p.files.Digest {
		p.stored.checked = false
		return true, nil
	}
	if err := p.checkConditions(ctx); err != nil || !p.asks && !p.opts.Ask {
		return err == nil, err
	}
	return p.confirmFiles(ctx)
}

// checkConditions checks --if-tree and --no-clobber against the hub's base files. The same
// ones may be there since an earlier run.
func (p *push) checkConditions(ctx context.Context) error {
	switch only := p.onlyTree(); {
	case p.stored.tree == p.files.Digest:
	case p.opts.IfTree.Given() && only != p.stored.tree:
		return failure.New(wire.CodeRevisionChanged, "the base files of %s are not those that --if-tree names, but %s", p.destination, orNone(p.stored.tree)).
			Try(p.dryRunLine().Flag("--base-files-only"))
	case p.opts.NoClobber:
		return p.checkFilesClobber(ctx)
	}
	return nil
}

func orNone(digest string) string {
	if digest == "" {
		return "none"
	}
	return digest
}

// onlyTree is the one that --if-tree names, "" for none.
func (p *push) onlyTree() string {
	if text := p.opts.IfTree.String(); text != noRevision {
		return text
	}
	return ""
}

// checkFilesClobber refuses to replace base files that others have written since those
// that this workspace last pulled or pushed.
func (p *push) checkFilesClobber(ctx context.Context) error {
	base := p.last.Digest
	if bases, err := p.local.Bases(); err == nil {
		if b := bases.Of(p.hub.Origin(), p.destination); b != nil && b.Tree != "" {
			base = b.Tree
		}
	}
	if p.stored.tree == "" || base == p.stored.tree {
		return nil
	}
	history, err := p.hub.BaseFilesHistory(ctx, p.destination)
	if err != nil {
		return err
	}
	me, err := p.hub.Whoami(ctx)
	if err != nil {
		return err
	}
	var edits []failure.Edit
	for _, e := range history {
		if e.Tree == base {
			break
		}
		if e.UpdatedBy != me.Name() || editedByHand(e.UpdatedVia) {
			edit := wire.Edit{Revision: e.Tree, UpdatedAt: e.UpdatedAt, UpdatedBy: e.UpdatedBy, UpdatedVia: e.UpdatedVia}
			edits = append(edits, failure.Edit{ConfigEntry: wire.ConfigEntry{
				Edit: edit, Parent: e.Parent, TokenName: e.TokenName, RequestID: e.RequestID, Added: e.Added, Changed: e.Changed, Removed: e.Removed,
			}})
		}
	}
	if len(edits) == 0 {
		return nil
	}
	f := failure.New(failure.CodeWouldUndoEdits, "the push would replace base files that %s wrote %s", edits[0].UpdatedBy, app.Ago(edits[0].UpdatedAt))
	f.Edits = edits
	return f.WithHint("pull them, look at what changed, commit, and push again").WithRecipe(
		p.line("pull").Flag("--base-files-only"),
		cmdline.Git("add").With("."),
		cmdline.Git("commit", "-m", fmt.Sprintf("Pull the base files of %s", p.destination)),
		p.line("push").Flag("--base-files-only").Flag("--no-clobber"),
	)
}

// confirmFiles shows how the base files change, and asks where files are removed, or where
// the hub's are not those that this machine last pushed or pulled.
func (p *push) confirmFiles(ctx context.Context) (bool, error) {
	known := p.stored.tree == "" || p.stored.tree == p.last.Digest
	set, err := p.storedSet(ctx, known)
	if err != nil {
		return false, err
	}
	d := tree.Diff(set.Files, p.files.Tree)
	if !p.opts.Ask && known && len(d.Removed) == 0 {
		return true, nil
	}
	facts := []string{fmt.Sprintf("Files  %d, %s: %d added, %d changed, %d removed", len(p.files.Tree), app.Bytes(p.files.Bytes), len(d.Added), len(d.Changed), len(d.Removed))}
	if !known {
		facts = append(facts, "Note   the hub's files are not those that were last pushed or pulled here"+p.writtenBy(set))
	}
	q := app.FilesQuestion{
		Title: fmt.Sprintf("Push the files of %s to %s?", p.local.Name, p.destination), Facts: facts, Names: changedNames(d),
		Yes: "Push them", No: "Leave them", Show: func(ctx context.Context) (flat.Difference, error) { return p.fileTexts(ctx, set, d) },
	}
	if p.replans > 0 {
		q.Notice = "The hub's files changed while you looked. This is the difference now:"
	}
	p.transfer.Hide()
	return p.app.ConfirmFiles(ctx, q)
}

// changedNames lists the paths of files that differ, those that are removed first.
func changedNames(d tree.Difference) (names []string) {
	for _, change := range []struct {
		sign  string
		paths []string
	}{{"-", d.Removed}, {"~", d.Changed}, {"+", d.Added}} {
		for _, path := range change.paths {
			names = append(names, change.sign+" "+path)
		}
	}
	return names
}

// storedSet returns the hub's base files: those that this machine knows, where they are
// still the hub's, without asking.
func (p *push) storedSet(ctx context.Context, known bool) (*wire.BaseFiles, error) {
	if p.stored.tree == "" {
		return &wire.BaseFiles{}, nil
	}
	if known {
		if files := p.last.Files(); files != nil {
			return &wire.BaseFiles{BaseFilesSum: wire.BaseFilesSum{Tree: p.stored.tree, Count: len(files), Bytes: files.Bytes()}, Files: files}, nil
		}
	}
	set, err := p.hub.BaseFiles(ctx, p.destination)
	if err != nil {
		return nil, err
	}
	if set == nil { // they are gone since
		set = &wire.BaseFiles{}
	}
	p.stored.tree = set.Tree
	return set, nil
}

func (p *push) writtenBy(set *wire.BaseFiles) string {
	if set.UpdatedBy == "" {
		return ""
	}
	return fmt.Sprintf(", but by %s %s", set.UpdatedBy, app.Ago(set.UpdatedAt))
}

// fileTexts reads the files that differ, on the hub and here.
func (p *push) fileTexts(ctx context.Context, set *wire.BaseFiles, d tree.Difference) (flat.Difference, error) {
	wanted := append(append([]string{}, d.Changed...), d.Removed...)
	from, err := app.HubTexts(ctx, p.hub, p.destination, set, wanted, p.transfer.Update)
	p.transfer.Hide()
	if err != nil {
		return flat.Difference{}, err
	}
	here := map[string]bool{}
	for _, path := range append(append([]string{}, d.Changed...), d.Added...) {
		here[path] = true
	}
	var to app.FileTexts
	blobs := p.files.Blobs()
	defer blobs.Close()
	for _, e := range p.files.Tree {
		if !here[e.Path] {
			continue
		}
		content, err := blobs.Open(e)
		if err != nil {
			return flat.Difference{}, err
		}
		err = to.Add(e, content)
		content.Close()
		if err != nil {
			return flat.Difference{}, err
		}
	}
	return app.FilesDifference(d.Added, d.Changed, d.Removed, from, to.Texts), nil
}

// pushFiles replaces the hub's base files. Where a person or a flag has decided about
// those that are stored, only these are replaced.
func (p *push) pushFiles(ctx context.Context) (bool, error) {
	if err := app.KeepModes(ctx, p.hub, p.destination, p.files); err != nil {
		return false, err
	}
	for {
		w, err := p.files.Send(p.transfer.Update, p.last, func(files hubclient.FileSet) (*wire.BaseFilesWritten, error) {
			if p.stored.checked {
				return p.hub.ReplaceBaseFiles(ctx, p.destination, files, p.stored.tree)
			}
			files.All = p.opts.Force && !p.opts.Watch
			return p.hub.PutBaseFiles(ctx, p.destination, files)
		})
		if err == nil {
			p.wroteFiles(w)
			return true, nil
		}
		changed := hubclient.HasCode(err, wire.CodeRevisionChanged) || hubclient.HasCode(err, wire.CodeSetExists)
		if p.replans++; !changed || p.replans > maxReplans {
			return false, err
		}
		if yes, err := p.checkStored(ctx); err != nil || !yes {
			return false, err
		}
	}
}

// wroteFiles notes the hub's answer in the result.
func (p *push) wroteFiles(w *wire.BaseFilesWritten) {
	if p.last.Digest != p.files.Digest {
		p.app.SyncState().SaveFiles(p.hub.Origin(), p.destination, p.files.Snapshot)
	}
	p.done.BaseFilesWritten = true
	p.result.BaseFilesPushed = w.BaseFilesPushed
	p.result.FilesResult = &FilesResult{
		Added: w.Added, Changed: w.Changed, Removed: w.Removed, Uploaded: w.Uploaded,
		Skipped: p.files.Links + p.files.Others, Bytes: w.BytesReceived,
	}
	if w.Changed+w.Removed == 0 {
		return
	}
	note := "the hub keeps the replaced base files; the same command restores them"
	if !p.undoable {
		note = "the hub keeps the replaced base files; to restore them: " + p.app.CommandText(p.undoLine())
	}
	p.result.Notes = append(p.result.Notes, note)
}
