package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// The history of a project's base files is a row for each tree that it had, the newest
// one being the present tree. Rows hold no list of files: each has what leads from its
// tree to its parent, so that a push costs as much as it changes. Each row also names
// the blobs that its parent needs and its tree does not: together with those of the
// present tree, they are the blobs of all trees in the history.

// KeptTrees is how many trees of a project are kept, with the present one. Only tests
// change it.
var KeptTrees int64 = 20

// FilesEntry is a row of the history of a project's base files.
type FilesEntry struct {
	bun.BaseModel `bun:"table:file_history"`

	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	N       int64  `bun:",pk"` // rises with each swap, by one
	Parent  string // the tree that was replaced, "" for none
	BaseFilesState
	UpdatedAt  Time
	UpdatedBy  string
	UpdatedVia string
	TokenName  string
	RequestID  string
	Added      int // files
	Changed    int
	Removed    int
}

// retiredBlob is a blob that a tree of the history needs and the next one does not.
type retiredBlob struct {
	bun.BaseModel `bun:"table:file_history_contents"`

	Account string
	Slug    string
	N       int64
	SHA256  string `bun:"sha256"`
}

// fileHistory is a change of the history of a project's base files, whose row is locked.
type fileHistory struct {
	newest  FilesEntry // its number is 0 if there is none
	begins  bool       // what is stored does not lead to the present tree, and is removed
	removed int64      // the rows up to this number are removed
	freed   []string   // blobs that no longer are in the history, which may be collected
}

// planFileHistory returns what a swap of old's files changes in the history. old is the
// zero Snapshot if the project has none, or a damaged one.
func (tx *Tx) planFileHistory(ctx context.Context, r ref.Ref, old *Snapshot) (*fileHistory, error) {
	h := &fileHistory{}
	err := tx.one(ctx, &h.newest, "SELECT n, tree FROM file_history WHERE account = ? AND slug = ? ORDER BY n DESC LIMIT 1", r.Account(), r.Slug())
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	h.begins = h.newest.Tree != old.Tree
	next := h.newest.N + 1
	if h.begins && old.Tree != "" {
		next++ // old is added before the new tree
	}
	h.removed = next - KeptTrees
	if h.begins {
		h.removed = h.newest.N
	}
	if h.removed <= 0 {
		return h, nil
	}
	// With a tree, what leads to it is removed, too.
	err = tx.db.NewSelect().Model((*retiredBlob)(nil)).Distinct().Column("sha256").
		Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).Where("n <= ?", h.removed+1).Scan(ctx, &h.freed)
	return h, err
}

// addFiles adds the tree of next to the history.
func (tx *Tx) addFiles(ctx context.Context, h *fileHistory, old, next *Snapshot, before, after tree.Tree, by Author) error {
	if err := tx.pruneFiles(ctx, h, next); err != nil {
		return err
	}
	n := h.newest.N + 1
	if h.begins && old.Tree != "" {
		first := &FilesEntry{
			Account: old.Account, Slug: old.Slug, N: n, BaseFilesState: old.BaseFilesState,
			UpdatedAt: old.UpdatedAt, UpdatedBy: old.UpdatedBy, Added: old.Count,
		}
		if err := tx.addFilesEntry(ctx, first, nil); err != nil {
			return err
		}
		n++
	}
	u := undoOf(before, after)
	e := &FilesEntry{
		Account: next.Account, Slug: next.Slug, N: n, Parent: old.Tree, BaseFilesState: next.BaseFilesState,
		UpdatedAt: next.UpdatedAt, UpdatedBy: next.UpdatedBy, UpdatedVia: by.Via, TokenName: by.TokenName, RequestID: by.RequestID,
		Added: len(u.Added), Changed: len(u.Changed), Removed: len(u.Removed),
	}
	if old.Tree == "" || KeptTrees == 1 {
		return tx.addFilesEntry(ctx, e, nil)
	}
	if err := tx.addFilesEntry(ctx, e, u.encode()); err != nil {
		return err
	}
	return tx.retire(ctx, e, u)
}

func (tx *Tx) addFilesEntry(ctx context.Context, e *FilesEntry, undo []byte) error {
	if undo == nil {
		undo = []byte{}
	}
	return tx.execLarge(ctx, `INSERT INTO file_history (account, slug, n, tree, parent, count, bytes, updated_at, updated_by,
		updated_via, token_name, request_id, added, changed, removed, undo) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Account, e.Slug, e.N, e.Tree, e.Parent, int64(e.Count), e.Bytes, int64(e.UpdatedAt), e.UpdatedBy,
		e.UpdatedVia, e.TokenName, e.RequestID, int64(e.Added), int64(e.Changed), int64(e.Removed), undo)
}

// retire notes which blobs the parent of e needs and its tree does not.
func (tx *Tx) retire(ctx context.Context, e *FilesEntry, u *FilesUndo) error {
	var digests []string
	for _, former := range [][]tree.Entry{u.Changed, u.Removed} {
		for _, f := range former {
			digests = append(digests, f.SHA256)
		}
	}
	slices.Sort(digests)
	for part := range slices.Chunk(slices.Compact(digests), chunk) {
		rows := make([]retiredBlob, len(part))
		for i, d := range part {
			rows[i] = retiredBlob{Account: e.Account, Slug: e.Slug, N: e.N, SHA256: d}
		}
		if _, err := tx.db.NewInsert().Model(&rows).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// pruneFiles removes the rows that h says, and what leads to the last of their trees.
func (tx *Tx) pruneFiles(ctx context.Context, h *fileHistory, of *Snapshot) error {
	if h.removed <= 0 {
		return nil
	}
	_, err := tx.db.NewDelete().Model((*retiredBlob)(nil)).
		Where("account = ?", of.Account).Where("slug = ?", of.Slug).Where("n <= ?", h.removed+1).Exec(ctx)
	if err != nil {
		return err
	}
	_, err = tx.db.NewDelete().Model((*FilesEntry)(nil)).
		Where("account = ?", of.Account).Where("slug = ?", of.Slug).Where("n <= ?", h.removed).Exec(ctx)
	if err != nil {
		return err
	}
	_, err = tx.db.NewUpdate().Model((*FilesEntry)(nil)).Set("undo = ?", []byte{}).
		Where("account = ?", of.Account).Where("slug = ?", of.Slug).Where("n = ?", h.removed+1).Exec(ctx)
	return err
}

// freeFileHistory starts the grace period of the blobs in the history of a project that
// is being deleted. Its rows are deleted with the project's.
func (tx *Tx) freeFileHistory(ctx context.Context, r ref.Ref) error {
	after := ""
	for {
		var digests []string
		err := tx.db.NewSelect().Model((*retiredBlob)(nil)).Distinct().Column("sha256").
			Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).Where("sha256 > ?", after).
			Order("sha256").Limit(chunk).Scan(ctx, &digests)
		if err != nil || len(digests) == 0 {
			return err
		}
		after = digests[len(digests)-1]
		if err := tx.touch(ctx, r.Account(), digests); err != nil {
			return err
		}
	}
}

// FileHistory returns the trees that a project has and had, newest first; none if it has
// no base files. ErrNotFound when there is no such project.
func (v *View) FileHistory(ctx context.Context, r ref.Ref) ([]FilesEntry, error) {
	if _, err := v.SnapshotDigest(ctx, r); err != nil {
		return nil, err
	}
	// The snapshot first: a push in between adds a newer row.
	now := &Snapshot{Account: r.Account(), Slug: r.Slug()}
	err := wrap(v.db.NewSelect().Model(now).ExcludeColumn("files").WherePK().Scan(ctx))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := v.filesEntries(ctx, r)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 || entries[0].Tree != now.Tree && entries[0].UpdatedAt < now.UpdatedAt {
		return []FilesEntry{{
			Account: r.Account(), Slug: r.Slug(), N: 1, BaseFilesState: now.BaseFilesState,
			UpdatedAt: now.UpdatedAt, UpdatedBy: now.UpdatedBy, Added: now.Count,
		}}, nil
	}
	return entries, nil
}

// filesEntries returns the rows of the history, newest first.
func (v *View) filesEntries(ctx context.Context, r ref.Ref) (entries []FilesEntry, err error) {
	err = v.db.NewSelect().Model(&entries).Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).
		Order("n DESC").Limit(KeptTrees).Scan(ctx)
	return entries, err
}

// FileChanges returns how many files the entries of a history changed together, which is
// what [View.FormerTree] reads at most.
func (v *View) FileChanges(ctx context.Context, r ref.Ref) (files int64, err error) {
	err = v.one(ctx, &files, "SELECT CAST(COALESCE(sum(added + changed + removed), 0) AS bigint) FROM file_history WHERE account = ? AND slug = ?",
		r.Account(), r.Slug())
	return files, err
}

// FormerTree returns a tree that a project has or had; ErrNotFound when it is not kept,
// ErrDamaged when what leads to it is not what was stored.
func (v *View) FormerTree(ctx context.Context, r ref.Ref, digest string) (tree.Tree, error) {
	now, err := v.Snapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	files, err := now.List()
	if err != nil {
		return nil, err
	}
	entries, err := v.filesEntries(ctx, r)
	if err != nil {
		return nil, err
	}
	at := now.Tree
	for _, e := range entries {
		if at == digest || e.Tree != at {
			break
		}
		u, err := v.FilesUndo(ctx, r, e.N)
		if errors.Is(err, ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		if files, err = files.Apply(u.delta()); err != nil {
			return nil, fmt.Errorf("%w: the history of the base files of %s: %w", ErrDamaged, r, err)
		}
		at = e.Parent
	}
	if at != digest {
		return nil, ErrNotFound
	}
	if files.Digest() != digest {
		return nil, fmt.Errorf("%w: the history of the base files of %s: the tree %s has another digest", ErrDamaged, r, digest)
	}
	return files, nil
}

// FilesUndo is what leads from a tree to its parent, and so what the tree changed.
type FilesUndo struct {
	Added   []string     // paths that the parent does not have
	Changed []tree.Entry // as they are in the parent
	Removed []tree.Entry // that the parent has
}

func undoOf(before, after tree.Tree) *FilesUndo {
	u := &FilesUndo{}
	changed := map[string]bool{}
	for _, path := range tree.Diff(before, after).Changed {
		changed[path] = true
	}
	d := tree.DeltaOf(after, before)
	for _, e := range d.Put {
		if changed[e.Path] {
			u.Changed = append(u.Changed, e)
		} else {
			u.Removed = append(u.Removed, e)
		}
	}
	u.Added = d.Remove
	return u
}

func (u *FilesUndo) delta() tree.Delta {
	return tree.Delta{Put: slices.Concat(u.Changed, u.Removed), Remove: u.Added}
}

// encode returns the paths that were added, a line each, an empty line, the canonical
// lines of the changed files, an empty line, and those of the removed files, compressed.
func (u *FilesUndo) encode() []byte {
	var b []byte
	for _, path := range u.Added {
		b = append(append(b, path...), '\n')
	}
	b = append(append(b, '\n'), tree.Tree(u.Changed).Canonical()...)
	b = append(append(b, '\n'), tree.Tree(u.Removed).Canonical()...)
	var encoded []byte
	for part := range slices.Chunk(b, frame.Size) {
		encoded = frame.Append(encoded, part)
	}
	return encoded
}

func decodeUndo(encoded []byte) (*FilesUndo, error) {
	var b []byte
	frames := frame.NewReader(bytes.NewReader(encoded))
	for {
		f, err := frames.Next(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		part, err := frame.Decode(nil, f)
		if err != nil {
			return nil, err
		}
		b = append(b, part...)
	}
	u := &FilesUndo{}
	lines := string(b)
	for {
		path, rest, ok := strings.Cut(lines, "\n")
		if !ok {
			return nil, errors.New("it is incomplete")
		}
		if lines = rest; path == "" {
			break
		}
		u.Added = append(u.Added, path)
	}
	changed, removed, ok := strings.Cut("\n"+lines, "\n\n") // an empty list has no line before the empty one
	if !ok {
		return nil, errors.New("it is incomplete")
	}
	changed = strings.TrimPrefix(changed+"\n", "\n")
	var err error
	if u.Changed, err = tree.Read([]byte(changed)); err != nil {
		return nil, err
	}
	u.Removed, err = tree.Read([]byte(removed))
	return u, err
}

// FilesUndo returns what leads from the tree of an entry to its parent; ErrNotFound when
// that is not kept.
func (v *View) FilesUndo(ctx context.Context, r ref.Ref, n int64) (*FilesUndo, error) {
	var encoded []byte
	err := v.readLarge(ctx, []any{&encoded}, "SELECT undo FROM file_history WHERE account = ? AND slug = ? AND n = ?", r.Account(), r.Slug(), n)
	if err != nil {
		return nil, err
	}
	if len(encoded) == 0 {
		return nil, ErrNotFound
	}
	u, err := decodeUndo(encoded)
	if err != nil {
		return nil, fmt.Errorf("%w: entry %d of the history of the base files of %s: %w", ErrDamaged, n, r, err)
	}
	return u, nil
}
