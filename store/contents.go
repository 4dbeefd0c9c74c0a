package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// Content says where the content of a base file lies, which is kept once within
// its account: in a stream of bytes that is stored in packs.
type Content struct {
	bun.BaseModel `bun:"table:contents"`

	Account   string `bun:",pk"`
	SHA256    string `bun:"sha256,pk"`
	Size      int64
	Stream    string
	Start     int64 // in the stream
	TouchedAt Time  // when it was last brought, promised, or taken out of a set
}

// Pack is a piece of a stream: one zstd frame, as it was sent.
type Pack struct {
	bun.BaseModel `bun:"table:packs"`

	Account string `bun:",pk"`
	Stream  string `bun:",pk"`
	Start   int64  `bun:",pk"` // of its content in the stream
	Length  int64  // of its content
	Body    []byte
}

// Fresh is how long a content that was stored or touched needs no touch, because
// whatever collects contents leaves them for longer: see [MinGrace]. Nothing but
// a test changes it.
var Fresh = time.Minute

// chunk is how many rows a statement names.
const chunk = 1000

// SizeError says that a content is there in another size than was said.
type SizeError struct {
	SHA256 string
	Size   int64 // that it has
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the content %s has %d bytes", e.SHA256, e.Size)
}

// AddContents stores packs, and contents that are in them. A content that the
// account has already stays where it is, unless it is known to be damaged.
func (tx *Tx) AddContents(ctx context.Context, account string, packs []Pack, contents []Content) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	rows := uniqueByDigest(contents)
	absent, err := tx.touchAll(ctx, account, digestsOf(rows), now)
	if err != nil {
		return err
	}
	return tx.insertContents(ctx, account, packs, rows, absent, now)
}

// insertContents stores packs, and those of rows whose digests are absent, or that
// are known to be damaged; the caller has locked those that are not absent. Both are sorted by digest. A row that another transaction
// inserts meanwhile is left as it is: to update it, this one would have to wait for
// its lock while it holds others.
func (tx *Tx) insertContents(ctx context.Context, account string, packs []Pack, rows []Content, absent []string, now Time) error {
	removed, err := tx.removeDamaged(ctx, account, rows)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(c Content) bool {
		_, found := slices.BinarySearch(absent, c.SHA256)
		return !found && !removed[c.SHA256]
	})
	for i := range rows {
		rows[i].Account, rows[i].TouchedAt = account, now
	}
	for part := range slices.Chunk(rows, chunk) {
		if _, err := tx.db.NewInsert().Model(&part).On("CONFLICT (account, sha256) DO NOTHING").Exec(ctx); err != nil {
			return err
		}
	}
	for _, p := range packs {
		err := tx.execLarge(ctx, "INSERT INTO packs (account, stream, start, length, body) VALUES (?, ?, ?, ?, ?)",
			account, p.Stream, p.Start, p.Length, p.Body)
		if err != nil {
			return err
		}
	}
	streams := make([]string, len(packs))
	for i, p := range packs {
		streams[i] = p.Stream
	}
	return tx.streamsChanged(ctx, account, streams)
}

func digestsOf(contents []Content) []string {
	digests := make([]string, len(contents))
	for i, c := range contents {
		digests[i] = c.SHA256
	}
	return digests
}

// intersection returns what is in both of two sorted lists.
func intersection(a, b []string) []string {
	var both []string
	for _, s := range a {
		if _, found := slices.BinarySearch(b, s); found {
			both = append(both, s)
		}
	}
	return both
}

// uniqueByDigest returns contents in the order of their keys, so that no two
// transactions wait for each other, and each key once, because PostgreSQL refuses a
// statement that would update a row twice. Of equal contents the first one is kept.
func uniqueByDigest(contents []Content) []Content {
	rows := slices.Clone(contents)
	slices.SortStableFunc(rows, func(a, b Content) int { return cmp.Compare(a.SHA256, b.SHA256) })
	return slices.CompactFunc(rows, func(a, b Content) bool { return a.SHA256 == b.SHA256 })
}

// Hold promises contents of account, sizes by digest, to whoever is about to name
// them in a set: they stay for the time of grace. It returns those that are not
// there or are known to be damaged, sorted, and a *SizeError for one of another size.
func (tx *Tx) Hold(ctx context.Context, account string, sizes map[string]int64) ([]string, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	missing, stale, err := tx.lookUp(ctx, account, sizes, now)
	if err != nil {
		return nil, err
	}
	gone, err := tx.touchAll(ctx, account, stale, now)
	missing = append(missing, gone...)
	slices.Sort(missing)
	return missing, err
}

// lookUp looks for contents, sizes by digest, and locks none. It returns those that
// are not there or are damaged, and those that have to be touched to stay, both sorted; and a
// *SizeError for one of another size.
func (v *View) lookUp(ctx context.Context, account string, sizes map[string]int64, now Time) (missing, stale []string, err error) {
	digests := sorted(sizes)
	if len(digests) > chunk { // one look more, that may spare many
		if any, err := v.HoldsAny(ctx, account); err != nil || !any {
			return digests, nil, err
		}
	}
	damaged, err := v.Damaged(ctx, account)
	if err != nil {
		return nil, nil, err
	}
	for part := range slices.Chunk(digests, chunk) {
		there, err := v.contents(ctx, account, part)
		if err != nil {
			return nil, nil, err
		}
		for _, digest := range part {
			c, ok := there[digest]
			switch {
			case !ok || damaged[digest]:
				missing = append(missing, digest)
			case c.Size != sizes[digest]:
				return nil, nil, &SizeError{digest, c.Size}
			case c.TouchedAt.Time().Add(Fresh).Before(now.Time()):
				stale = append(stale, digest)
			}
		}
	}
	return missing, stale, nil
}

// HoldsAny reports whether account has contents at all. The first push of an
// account would ask for each of its files in vain.
func (v *View) HoldsAny(ctx context.Context, account string) (bool, error) {
	return v.db.NewSelect().Model((*Content)(nil)).Where("account = ?", account).Limit(1).Exists(ctx)
}

func sorted(sizes map[string]int64) []string {
	digests := make([]string, 0, len(sizes))
	for digest := range sizes {
		digests = append(digests, digest)
	}
	slices.Sort(digests)
	return digests
}

// touchAll touches contents, locking them in the order of digests, which is sorted.
// It returns those that are not there, sorted.
func (tx *Tx) touchAll(ctx context.Context, account string, digests []string, now Time) (gone []string, err error) {
	for part := range slices.Chunk(digests, chunk) {
		var touched []string
		q := tx.db.NewUpdate().Model((*Content)(nil)).Set("touched_at = ?", now).
			Where("account = ?", account).Where("sha256 IN (?)", tx.inOrder(account, part)).Returning("sha256")
		if err := q.Scan(ctx, &touched); err != nil && !errors.Is(wrap(err), ErrNotFound) {
			return nil, err
		}
		slices.Sort(touched)
		for _, digest := range part {
			if _, found := slices.BinarySearch(touched, digest); !found {
				gone = append(gone, digest)
			}
		}
	}
	return gone, nil
}

// inOrder selects contents for a change. PostgreSQL locks them in the order of their
// digests, while it would not follow the order of a list.
func (tx *Tx) inOrder(account string, digests []string) schema.QueryAppender {
	if !tx.postgres() {
		return bun.List(digests)
	}
	return tx.forUpdate(tx.db.NewSelect().Model((*Content)(nil)).Column("sha256").
		Where("account = ?", account).Where("sha256 IN (?)", bun.List(digests)).OrderExpr("sha256"))
}

// touch starts the time of grace of contents anew, of those that are there.
func (tx *Tx) touch(ctx context.Context, account string, digests []string) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	slices.Sort(digests)
	_, err = tx.touchAll(ctx, account, slices.Compact(digests), now)
	return err
}

// Contents says where contents of account lie, by digest; those that are not
// there are not in the map.
func (v *View) Contents(ctx context.Context, account string, digests []string) (map[string]Content, error) {
	all := make(map[string]Content, len(digests))
	for part := range slices.Chunk(digests, chunk) {
		there, err := v.contents(ctx, account, part)
		if err != nil {
			return nil, err
		}
		for digest, c := range there {
			all[digest] = c
		}
	}
	return all, nil
}

func (v *View) contents(ctx context.Context, account string, digests []string) (map[string]Content, error) {
	var rows []Content
	err := v.db.NewSelect().Model(&rows).Where("account = ?", account).Where("sha256 IN (?)", bun.List(digests)).Scan(ctx)
	there := make(map[string]Content, len(rows))
	for _, c := range rows {
		there[c.SHA256] = c
	}
	return there, err
}
