package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"
)

// The table base_set_contents holds which blobs each snapshot names, so that a
// collection need not read the snapshots that did not change. Collections maintain it:
// a snapshot is indexed when its indexed_tree is its tree, and while one of an account's
// snapshots is not, none of the account's blobs is removed.

// snapshotBlob is a row of that table.
type snapshotBlob struct {
	bun.BaseModel `bun:"table:base_set_contents"`

	Account string
	Slug    string
	SHA256  string `bun:"sha256"`
}

// snapshotsIndexed reports whether every snapshot of the account is indexed.
func (v *View) snapshotsIndexed(ctx context.Context, account string) (bool, error) {
	var slugs []string
	err := v.db.NewSelect().Model((*Snapshot)(nil)).Column("slug").Where("account = ?", account).
		Where("tree <> indexed_tree").Order("account", "slug").Limit(1).Scan(ctx, &slugs)
	return len(slugs) == 0, err
}

// streamsChanged notes that packs or blobs of streams were added or removed.
func (tx *Tx) streamsChanged(ctx context.Context, account string, streams []string) error {
	slices.Sort(streams)
	for _, stream := range slices.Compact(streams) {
		_, err := tx.db.NewInsert().Model(&changedStream{Account: account, Stream: stream}).Value("changed_at", "?", tx.nowExpr()).
			On("CONFLICT (account, stream) DO UPDATE").Set("changed_at = EXCLUDED.changed_at").Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// indexSnapshots indexes the snapshots that changed since the last collection. One that
// cannot be read stays as it is, and is reported.
func (c *collection) indexSnapshots(ctx context.Context) error {
	var after Snapshot
	for {
		var page []Snapshot
		err := c.store.Read(ctx, func(v *View) error {
			return v.db.NewSelect().Model(&page).Column("account", "slug").Where("tree <> indexed_tree").
				Where("(account, slug) > (?, ?)", after.Account, after.Slug).Order("account", "slug").Limit(chunk).Scan(ctx)
		})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, set := range page {
			c.Examined++
			if err := c.indexSnapshot(ctx, set.Account, set.Slug); err != nil {
				if ctx.Err() != nil {
					return err
				}
				c.failed = append(c.failed, fmt.Errorf("base files of @%s/%s: %w", set.Account, set.Slug, err))
			}
		}
		after = page[len(page)-1]
	}
}

// errSwapped says that a snapshot is no longer the one that was read.
var errSwapped = errors.New("the snapshot was replaced meanwhile")

// indexSnapshot indexes a snapshot, a bounded number of rows in each transaction.
func (c *collection) indexSnapshot(ctx context.Context, account, slug string) error {
	set := indexedSnapshot{Snapshot: Snapshot{Account: account, Slug: slug}}
	var indexed []string
	err := c.store.Read(ctx, func(v *View) error {
		err := v.db.NewSelect().Model((*Snapshot)(nil)).Column("tree", "files", "indexed_tree").
			Where("account = ?", account).Where("slug = ?", slug).Scan(ctx, &set)
		if err != nil {
			return wrap(err)
		}
		return v.db.NewSelect().Model((*snapshotBlob)(nil)).Column("sha256").
			Where("account = ?", account).Where("slug = ?", slug).Scan(ctx, &indexed)
	})
	if errors.Is(err, ErrNotFound) {
		return nil // the project was deleted meanwhile
	}
	if err != nil {
		return err
	}
	files, err := set.List()
	if err != nil {
		return err
	}
	added := map[string]bool{}
	for _, e := range files {
		added[e.SHA256] = true
	}
	removed := slices.DeleteFunc(indexed, func(d string) bool {
		named := added[d]
		delete(added, d)
		return named
	})
	steps := slices.Collect(slices.Chunk(slices.Sorted(maps.Keys(added)), chunk))
	adding := len(steps)
	if steps = append(steps, slices.Collect(slices.Chunk(removed, chunk))...); len(steps) == 0 {
		steps = [][]string{nil}
	}
	for i, digests := range steps {
		marked := "" // until the last step
		if i == len(steps)-1 {
			marked = set.Tree
		}
		err := c.store.Write(ctx, func(tx *Tx) error { return tx.indexStep(ctx, set, marked, digests, i < adding) })
		if errors.Is(err, errSwapped) {
			return nil // the next collection indexes it
		}
		if err != nil {
			return err
		}
		set.IndexedTree = marked
	}
	return nil
}

// indexedSnapshot is a snapshot and the tree that is indexed for it, "" for none or in part.
type indexedSnapshot struct {
	Snapshot
	IndexedTree string
}

// indexStep adds digests to the index of a snapshot, or removes them, and sets what is
// said to be indexed. errSwapped when another snapshot is stored, or another one indexed.
func (tx *Tx) indexStep(ctx context.Context, set indexedSnapshot, marked string, digests []string, add bool) error {
	// This locks the row, so that the snapshot stays until the end of the transaction.
	n, err := affected(tx.db.NewUpdate().Model((*Snapshot)(nil)).Set("indexed_tree = ?", marked).
		Where("account = ?", set.Account).Where("slug = ?", set.Slug).
		Where("tree = ?", set.Tree).Where("indexed_tree = ?", set.IndexedTree).Exec(ctx))
	if err != nil {
		return err
	}
	if n == 0 {
		return errSwapped
	}
	if len(digests) == 0 {
		return nil
	}
	if !add {
		_, err := tx.db.NewDelete().Model((*snapshotBlob)(nil)).Where("account = ?", set.Account).Where("slug = ?", set.Slug).
			Where("sha256 IN (?)", bun.List(digests)).Exec(ctx)
		return err
	}
	rows := make([]snapshotBlob, len(digests))
	for i, d := range digests {
		rows[i] = snapshotBlob{Account: set.Account, Slug: set.Slug, SHA256: d}
	}
	_, err = tx.db.NewInsert().Model(&rows).On("CONFLICT (account, slug, sha256) DO NOTHING").Exec(ctx)
	return err
}
