package push

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// checkClobber refuses to undo what others wrote since client.json was last synchronized
// with the hub, and what the caller edited on the page or through the API.
func (p *push) checkClobber(ctx context.Context, current *wire.Config) error {
	base, err := p.baseRevision(ctx)
	if err != nil {
		return err
	}
	if base == current.Revision {
		return nil
	}
	entries, err := p.configEntriesSince(ctx, base)
	if err != nil {
		return err
	}
	edits, err := p.othersEdits(ctx, entries)
	if err != nil || len(edits) == 0 {
		return err
	}
	e := p.refuse(failure.CodeWouldUndoEdits, current, "the push would undo what %s edited %s", edits[0].UpdatedBy,
		app.Ago(edits[0].UpdatedAt))
	e.Edits = edits
	pulled := []string{p.Local.ClientPath(), ".tool/" + p.Local.Name + "/pulled.json"} // the latter may be new
	commit := cmdline.Git("commit", "-m", "Pull the config of "+p.Project.String())
	if bases, _ := p.Local.Bases(); !bases.Merged() { // git commits a merge as a whole only
		commit.Words = append(commit.Words, "--")
		commit = commit.With(pulled...)
	}
	return e.WithHint("pull, which merges the edit with yours, commit, and push again").WithRecipe(
		p.Line("pull"),
		cmdline.Git("add").With(pulled...),
		commit,
		p.Line("push").Flag("--no-clobber"),
	)
}

// checkFilesClobber refuses to replace base files that others have written since those
// that this workspace last pulled or pushed. stored is the digest of those that the hub has.
func (p *push) checkFilesClobber(ctx context.Context, stored string) error {
	bases, _ := p.Local.Bases() // without any, edits since those of this machine are refused
	var sides, trees []string
	for _, base := range bases.Sides(p.Hub.Origin(), p.Project) {
		if base.Tree != "" {
			sides = append(sides, base.Tree)
		}
	}
	if len(sides) == 0 {
		sides = []string{p.last.Digest}
	}
	sides = slices.Compact(sides)
	if stored == "" || len(sides) == 1 && sides[0] == stored {
		return nil
	}
	history, err := p.Hub.BaseFilesHistory(ctx, p.Project)
	if err != nil {
		return err
	}
	for _, e := range history {
		trees = append(trees, e.Tree)
	}
	base := app.Newer(sides, trees)
	var entries []wire.ConfigEntry
	for _, e := range history {
		if e.Tree == base {
			break
		}
		entries = append(entries, e.ConfigEntry())
	}
	edits, err := p.othersEdits(ctx, entries)
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

// configEntriesSince returns the entries of the config's history since the one with the revision base,
// newest first; all of them where the history does not have base.
func (p *push) configEntriesSince(ctx context.Context, base string) (entries []wire.ConfigEntry, err error) {
	err = p.Hub.EachConfigEntry(ctx, p.Project, func(e wire.ConfigEntry) bool {
		if e.Revision == base {
			return false
		}
		entries = append(entries, e)
		return true
	})
	return entries, err
}

// othersEdits returns those of entries that a push must not undo.
func (p *push) othersEdits(ctx context.Context, entries []wire.ConfigEntry) ([]wire.ConfigEntry, error) {
	me, err := p.Hub.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(entries, func(e wire.ConfigEntry) bool { return isOwnPush(e, me) }), nil
}

// isOwnPush reports whether the caller pushed it, from any machine.
func isOwnPush(e wire.ConfigEntry, me *wire.Whoami) bool {
	fromWorkspace := e.UpdatedVia == wire.ViaPush || e.UpdatedVia == wire.ViaCreate || e.UpdatedVia == ""
	return fromWorkspace && e.UpdatedBy == me.Name()
}

// Undone are the edits of others that a push would undo, by key.
type Undone struct {
	Added   map[string]UndoneEdit `json:"added"` // by the push, since they were removed on the hub
	Changed map[string]UndoneEdit `json:"changed"`
	Removed map[string]UndoneEdit `json:"removed"`

	difference flat.Difference
	notes      map[string]string // by key: who wrote it, and when
	by         []string          // who wrote them
}

// UndoneEdit is a value that a push would replace, and who wrote it.
type UndoneEdit struct {
	From jsontext.Value `json:"from,omitzero"` // absent: it was removed
	To   jsontext.Value `json:"to,omitzero"`   // absent: the push removes it
	By   string         `json:"by"`            // "": not known
	At   time.Time      `json:"at,omitzero"`
	Via  wire.Via       `json:"via,omitzero"`
}

// split divides d, what the push changes in the hub's config theirs, into its own changes and the edits of
// others that it would undo: those since the config that client.json was last synchronized with. Where that
// config is not known, or the hub no longer keeps it, both are nil.
func (p *push) split(
	ctx context.Context, d flat.Difference, theirs flat.Config, current *wire.Config,
) (mine *flat.Difference, undone *Undone, err error) {
	revision, err := p.baseRevision(ctx)
	if err != nil {
		return nil, nil, err
	}
	ownRevision := p.config.Revision()
	if revision == "" && p.App.SyncState().Last(p.Hub.Origin(), p.Project) == ownRevision {
		revision = ownRevision // nothing was changed here since this machine pushed it
	}
	if revision == "" {
		return nil, nil, nil
	}
	if revision == current.Revision {
		return &d, &Undone{}, nil
	}
	base, err := p.ConfigAt(ctx, revision)
	if base == nil || err != nil {
		return nil, nil, err
	}
	entries, err := p.configEntriesSince(ctx, revision)
	if app.IsRefused(err) { // this caller may not read the history
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	me, err := p.Hub.Whoami(ctx)
	if err != nil {
		return nil, nil, err
	}
	writers := writersOf(entries, d)
	edited := map[string]bool{}
	for _, c := range flat.Diff(*base, theirs) {
		edited[c.Key] = true
	}
	var undoes, own flat.Difference
	for _, c := range d {
		if w := writers[c.Key]; edited[c.Key] && (w == nil || !isOwnPush(*w, me)) {
			undoes = append(undoes, c)
		} else {
			own = append(own, c)
		}
	}
	return &own, newUndone(undoes, writers), nil
}

// baseRevision returns the revision in pulled.json that client.json was last synchronized with, "" for none.
func (p *push) baseRevision(ctx context.Context) (string, error) {
	bases, err := p.App.Bases(p.Local)
	if err != nil {
		return "", failure.At(app.StageRead, err)
	}
	return p.BaseRevision(ctx, bases, p.config)
}

// writersOf finds the newest edit of each key of d. The hub names only the first keys of an edit, in order: where
// several users may have changed a key, its edit has no author.
func writersOf(entries []wire.ConfigEntry, d flat.Difference) map[string]*wire.ConfigEntry {
	writers := map[string]*wire.ConfigEntry{}
	for i := range slices.Backward(entries) { // they are newest first
		e := &entries[i]
		keys := slices.Concat(e.Keys.Added, e.Keys.Changed, e.Keys.Removed)
		for _, key := range keys {
			writers[key] = e
		}
		if len(keys) == e.Added+e.Changed+e.Removed {
			continue
		}
		last := slices.Max(append(keys, ""))
		for _, c := range d {
			switch w := writers[c.Key]; {
			case c.Key <= last:
			case w != nil && (w.UpdatedBy != e.UpdatedBy || w.UpdatedVia != e.UpdatedVia):
				writers[c.Key] = &wire.ConfigEntry{}
			default:
				writers[c.Key] = e
			}
		}
	}
	return writers
}

func newUndone(d flat.Difference, writers map[string]*wire.ConfigEntry) *Undone {
	u := &Undone{
		Added:      map[string]UndoneEdit{},
		Changed:    map[string]UndoneEdit{},
		Removed:    map[string]UndoneEdit{},
		difference: d,
		notes:      map[string]string{},
	}
	bySign := map[string]map[string]UndoneEdit{"+": u.Added, "~": u.Changed, "-": u.Removed}
	for _, c := range app.Changes(d) {
		var edit UndoneEdit
		if c.From != "" {
			edit.From = jsontext.Value(c.From)
		}
		if c.To != "" {
			edit.To = jsontext.Value(c.To)
		}
		if e := writers[c.Key]; e != nil && e.UpdatedBy != "" {
			edit.By, edit.At, edit.Via = e.UpdatedBy, e.UpdatedAt, e.UpdatedVia
			u.notes[c.Key] = app.Cell(e.UpdatedBy) + ", " + app.Ago(e.UpdatedAt)
			if !slices.Contains(u.by, e.UpdatedBy) {
				u.by = append(u.by, e.UpdatedBy)
			}
		}
		bySign[c.Sign()][c.Key] = edit
	}
	return u
}

// String says what is undone, such as: 2 edits by alice.
func (u *Undone) String() string {
	names := make([]string, 0, 3)
	for _, name := range u.by[:min(len(u.by), 2)] {
		names = append(names, app.Cell(name))
	}
	if others := len(u.by) - len(names); others > 0 {
		names = append(names, app.Count(others, "other", "others"))
	}
	by := strings.Join(names, ", ")
	if n := len(names); n > 1 {
		by = strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return fmt.Sprintf("%s by %s", app.Count(len(u.difference), "edit", "edits"), cmp.Or(by, "others"))
}
