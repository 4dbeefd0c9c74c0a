package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/projecthub/hubclient/ref"
)

// Retention says what is kept of the history of a project's config: the newest entries,
// and of the others those that are not older than Age, as far as all bodies together take
// at most Bytes.
type Retention struct {
	Entries int
	Age     time.Duration
	Bytes   int64
}

// DefaultRetention is what a hub keeps.
var DefaultRetention = Retention{Entries: 200, Age: 90 * 24 * time.Hour, Bytes: 64 << 20}

// PruneHistory removes the entries that keep does not keep, and the bodies of revisions
// that no entry names any more. It looks at the projects with entries that were added,
// or became too old, since it last ran, and returns how many entries it removed.
func (s *Store) PruneHistory(ctx context.Context, keep Retention) (removed int, err error) {
	last, err := s.lastRun(ctx, fmt.Sprint("history ", keep.Entries, " ", keep.Bytes)) // with other limits, it looks at all again
	if err != nil {
		return 0, err
	}
	var now Time
	err = s.Read(ctx, func(v *View) (err error) {
		now, err = v.Now(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	p := &pruning{store: s, keep: keep, cutoff: now.add(-keep.Age), pruned: map[ref.Ref]bool{}}
	// A transaction may have committed an entry of a moment before the last run.
	added := max(last.RanAt.add(-MinGrace), p.cutoff)
	if err := p.between(ctx, last.Position, p.cutoff); err != nil {
		return p.removed, err
	}
	if err := p.between(ctx, added, now); err != nil {
		return p.removed, err
	}
	last.Position = max(last.Position, min(p.cutoff, now.add(-MinGrace)))
	return p.removed, s.ran(ctx, last)
}

// pruning is one run.
type pruning struct {
	store   *Store
	keep    Retention
	cutoff  Time
	pruned  map[ref.Ref]bool
	removed int
}

// between prunes the histories with entries from one time up to another.
func (p *pruning) between(ctx context.Context, from, to Time) error {
	after := ConfigEntry{ConfigState: ConfigState{UpdatedAt: from}}
	for {
		var page []ConfigEntry
		err := p.store.Read(ctx, func(v *View) error {
			return v.db.NewSelect().Model(&page).Column("updated_at", "account", "slug").
				Where("(updated_at, account, slug) > (?, ?, ?)", after.UpdatedAt, after.Account, after.Slug).
				Where("updated_at < ?", to).Order("updated_at", "account", "slug").Limit(chunk).Scan(ctx)
		})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			r, err := ref.New(e.Account, e.Slug)
			if err != nil {
				return err
			}
			if p.pruned[r] {
				continue
			}
			p.pruned[r] = true
			n, err := p.store.pruneHistoryOf(ctx, r, p.keep, p.cutoff)
			if p.removed += n; err != nil {
				return err
			}
		}
		after = page[len(page)-1]
	}
}

// pruneHistoryOf prunes one history, a bounded number of entries in each transaction.
func (s *Store) pruneHistoryOf(ctx context.Context, r ref.Ref, keep Retention, cutoff Time) (removed int, err error) {
	for {
		n := 0
		err := s.Write(ctx, func(tx *Tx) (err error) {
			n, err = tx.pruneEntries(ctx, r, keep, cutoff)
			return err
		})
		if removed += n; err != nil || n == 0 {
			return removed, err
		}
	}
}

// pruneEntries removes the oldest entries of a history, at most [pruneChunk].
func (tx *Tx) pruneEntries(ctx context.Context, r ref.Ref, keep Retention, cutoff Time) (int, error) {
	// Those who write the config wait: their body may be one that would be removed here.
	locked := &Config{Account: r.Account(), Slug: r.Slug()}
	err := wrap(tx.forUpdate(tx.db.NewSelect().Model(locked).Column("slug").WherePK()).Scan(ctx))
	if errors.Is(err, ErrNotFound) {
		return 0, nil // the project was deleted meanwhile
	}
	if err != nil {
		return 0, err
	}
	newest := &ConfigEntry{Account: r.Account(), Slug: r.Slug()}
	err = tx.one(ctx, newest, "SELECT n, bytes_so_far FROM config_history WHERE account = ? AND slug = ? ORDER BY n DESC LIMIT 1", r.Account(), r.Slug())
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return tx.removeOldest(ctx, newest, keep, cutoff, pruneChunk)
}

// boundHistory removes the oldest entries of a history whose bodies take too many bytes,
// after newest was added. What is too old is left to PruneHistory.
func (tx *Tx) boundHistory(ctx context.Context, newest *ConfigEntry) error {
	keep := tx.store.keep
	if newest.N <= int64(keep.Entries) || newest.BytesSoFar <= keep.Bytes {
		return nil
	}
	// Mostly there is one entry to remove, or none. Of many small ones, whose place a large
	// one takes, PruneHistory removes the rest.
	for n, removed := 1, 0; removed < maxRemoved; n = pruneChunk {
		now, err := tx.removeOldest(ctx, newest, keep, 0, n)
		if removed += now; err != nil || now < n {
			return err
		}
	}
	return nil
}

const (
	pruneChunk = 100  // entries that one transaction of PruneHistory removes
	maxRemoved = 1000 // about as many does a write
)

// removeOldest removes at most n entries from before the cutoff, and with which the bodies
// up to newest take too many bytes, but never one of the newest entries.
func (tx *Tx) removeOldest(ctx context.Context, newest *ConfigEntry, keep Retention, cutoff Time, n int) (int, error) {
	var oldest []ConfigEntry
	// Entries were added in the order of their numbers: those to remove come first.
	err := tx.db.NewSelect().Model(&oldest).Column("n", "revision", "updated_at", "bytes", "bytes_so_far").ColumnExpr("body IS NULL AS apart").
		Where("account = ?", newest.Account).Where("slug = ?", newest.Slug).
		Where("n <= ?", newest.N-int64(keep.Entries)).Order("n").Limit(int64(n)).Scan(ctx)
	if err != nil {
		return 0, err
	}
	removed := 0
	for i := range oldest {
		e := &oldest[i]
		if fromHere := newest.BytesSoFar - e.BytesSoFar + e.Bytes; e.UpdatedAt >= cutoff && fromHere <= keep.Bytes {
			break
		}
		if err := tx.removeEntry(ctx, newest.Account, newest.Slug, e); err != nil {
			return 0, err
		}
		removed++
	}
	return removed, nil
}

// removeEntry removes an entry, and a body apart of its revision unless another entry has it.
func (tx *Tx) removeEntry(ctx context.Context, account, slug string, e *ConfigEntry) error {
	_, err := tx.db.NewDelete().Model((*ConfigEntry)(nil)).
		Where("account = ?", account).Where("slug = ?", slug).Where("n = ?", e.N).Exec(ctx)
	if err != nil || !e.Apart {
		return err
	}
	_, err = tx.db.NewDelete().Table("config_bodies").
		Where("account = ?", account).Where("slug = ?", slug).Where("revision = ?", e.Revision).
		Where("NOT EXISTS (SELECT 1 FROM config_history AS h WHERE h.account = ? AND h.slug = ? AND h.revision = ?)", account, slug, e.Revision).Exec(ctx)
	return err
}
