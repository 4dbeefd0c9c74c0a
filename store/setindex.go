package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"
)

// The table base_set_contents holds which contents each set names, so that a
// collection need not read the sets that did not change. Collections maintain it:
// a set is indexed when its indexed_tree is its tree, and while one of an account's
// sets is not, none of the account's contents is removed.

// setName is a row of that table.
type setName struct {
	bun.BaseModel `bun:"table:base_set_contents"`

	Account string
	Slug    string
	SHA256  string `bun:"sha256"`
}

// setsIndexed reports whether every set of the account is indexed.
func (v *View) setsIndexed(ctx context.Context, account string) (bool, error) {
	var slugs []string
	err := v.db.NewRaw("SELECT slug FROM base_sets WHERE account = ? AND tree <> indexed_tree ORDER BY account, slug LIMIT 1", account).Scan(ctx, &slugs)
	return len(slugs) == 0, err
}

// streamsChanged notes that packs or contents of streams were added or removed.
func (tx *Tx) streamsChanged(ctx context.Context, account string, streams []string) error {
	slices.Sort(streams)
	for _, stream := range slices.Compact(streams) {
		_, err := tx.db.NewRaw(`INSERT INTO changed_streams (account, stream, changed_at) VALUES (?, ?, ?)
			ON CONFLICT (account, stream) DO UPDATE SET changed_at = excluded.changed_at`,
			account, stream, tx.nowExpr()).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// indexSets indexes the sets that changed since the last collection. One that
// cannot be read stays as it is, and is reported.
func (c *collection) indexSets(ctx context.Context) error {
	var after BaseSet
	for {
		var page []BaseSet
		err := c.store.Read(ctx, func(v *View) error {
			return v.db.NewRaw(`SELECT account, slug FROM base_sets
				WHERE tree <> indexed_tree AND (account, slug) > (?, ?) ORDER BY account, slug LIMIT ?`,
				after.Account, after.Slug, chunk).Scan(ctx, &page)
		})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, set := range page {
			c.Examined++
			if err := c.indexSet(ctx, set.Account, set.Slug); err != nil {
				if ctx.Err() != nil {
					return err
				}
				c.failed = append(c.failed, fmt.Errorf("base files of @%s/%s: %w", set.Account, set.Slug, err))
			}
		}
		after = page[len(page)-1]
	}
}

// errSwapped says that a set is no longer the one that was read.
var errSwapped = errors.New("the set was swapped meanwhile")

// indexSet indexes a set, a bounded number of rows in each transaction.
func (c *collection) indexSet(ctx context.Context, account, slug string) error {
	set := indexedSet{BaseSet: BaseSet{Account: account, Slug: slug}}
	var indexed []string
	err := c.store.Read(ctx, func(v *View) error {
		if err := v.db.NewRaw("SELECT tree, files, indexed_tree FROM base_sets WHERE account = ? AND slug = ?", account, slug).Scan(ctx, &set); err != nil {
			return wrap(err)
		}
		return v.db.NewRaw("SELECT sha256 FROM base_set_contents WHERE account = ? AND slug = ?", account, slug).Scan(ctx, &indexed)
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

// indexedSet is a set and the tree that is indexed for it, "" for none or in part.
type indexedSet struct {
	BaseSet
	IndexedTree string
}

// indexStep adds digests to the index of a set, or removes them, and sets what is
// said to be indexed. errSwapped when another set is stored, or another one indexed.
func (tx *Tx) indexStep(ctx context.Context, set indexedSet, marked string, digests []string, add bool) error {
	// This locks the row, so that the set stays until the end of the transaction.
	res, err := tx.db.NewRaw("UPDATE base_sets SET indexed_tree = ? WHERE account = ? AND slug = ? AND tree = ? AND indexed_tree = ?",
		marked, set.Account, set.Slug, set.Tree, set.IndexedTree).Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return errSwapped
	}
	if len(digests) == 0 {
		return nil
	}
	if !add {
		_, err := tx.db.NewDelete().Model((*setName)(nil)).Where("account = ?", set.Account).Where("slug = ?", set.Slug).
			Where("sha256 IN (?)", bun.List(digests)).Exec(ctx)
		return err
	}
	rows := make([]setName, len(digests))
	for i, d := range digests {
		rows[i] = setName{Account: set.Account, Slug: set.Slug, SHA256: d}
	}
	_, err = tx.db.NewInsert().Model(&rows).On("CONFLICT (account, slug, sha256) DO NOTHING").Exec(ctx)
	return err
}
