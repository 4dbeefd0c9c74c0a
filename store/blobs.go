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

// Blob says where the bytes of a base file are stored, once for each account: in a
// stream of bytes that is cut into packs.
type Blob struct {
	bun.BaseModel `bun:"table:contents"`

	Account   string `bun:",pk"`
	SHA256    string `bun:"sha256,pk"`
	Size      int64
	Stream    string
	Start     int64 // in the stream
	TouchedAt Time  // when it was last added, leased, or removed from a snapshot
}

// Pack is a frame as it is stored: a piece of a stream.
type Pack struct {
	bun.BaseModel `bun:"table:packs"`

	Account string `bun:",pk"`
	Stream  string `bun:",pk"`
	Start   int64  `bun:",pk"` // of its content in the stream
	Length  int64  // of its content
	Body    []byte // empty: in an object
	Object  string // its name, "": none
	Size    int64  // of the object
}

// Fresh is how long a lease needs no renewal, because a collection keeps blobs for
// longer: see [MinGrace]. Only tests change it.
var Fresh = time.Minute

// chunk is how many rows a statement names at most.
const chunk = 1000

// SizeError says that a blob is stored with another size than was announced.
type SizeError struct {
	SHA256 string
	Size   int64 // that it has
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the blob %s has %d bytes", e.SHA256, e.Size)
}

// AddBlobs stores packs and the blobs in them. A blob that the account has already
// stays as it is, unless it is known to be damaged.
func (tx *Tx) AddBlobs(ctx context.Context, account string, packs []Pack, blobs []Blob) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	rows := uniqueByDigest(blobs)
	stored, err := tx.insertBlobs(ctx, account, rows, now)
	if err != nil {
		return err
	}
	gone, err := tx.touchAll(ctx, account, digestsOf(stored), now)
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		return errRemoved
	}
	return tx.storePacks(ctx, account, packs, stored, now)
}

// errRemoved says that a collection removed, between two statements, a blob that is
// to be stored. The transaction is run again.
var errRemoved = fmt.Errorf("%w: blobs were removed meanwhile", ErrUnavailable)

// insertBlobs stores those of rows that the account lacks, and returns the others.
// rows are sorted by digest.
//
// A transaction inserts blobs before it locks stored ones, and does both in the
// order of their digests. An INSERT waits for the transactions that inserted or locked
// the row; a lock does not see rows that are not committed, and waits only for those
// that locked the row. So no transactions wait for each other in a circle.
func (tx *Tx) insertBlobs(ctx context.Context, account string, rows []Blob, now Time) (stored []Blob, err error) {
	for i := range rows {
		rows[i].Account, rows[i].TouchedAt = account, now
	}
	for part := range slices.Chunk(rows, chunk) {
		var inserted []string
		q := tx.db.NewInsert().Model(&part).On("CONFLICT (account, sha256) DO NOTHING").Returning("sha256")
		if err := q.Scan(ctx, &inserted); err != nil && !errors.Is(wrap(err), ErrNotFound) {
			return nil, err
		}
		slices.Sort(inserted)
		for _, c := range part {
			if _, found := slices.BinarySearch(inserted, c.SHA256); !found {
				stored = append(stored, c)
			}
		}
	}
	return stored, nil
}

// storePacks stores packs, and in them those of the blobs stored before that are
// known to be damaged; the caller has locked these.
func (tx *Tx) storePacks(ctx context.Context, account string, packs []Pack, stored []Blob, now Time) error {
	removed, err := tx.removeDamaged(ctx, account, stored)
	if err != nil {
		return err
	}
	replaced := slices.DeleteFunc(stored, func(c Blob) bool { return !removed[c.SHA256] })
	if _, err := tx.insertBlobs(ctx, account, replaced, now); err != nil {
		return err
	}
	if err := tx.useObjects(ctx, account, packs); err != nil {
		return err
	}
	for _, p := range packs {
		err := tx.execLarge(ctx, "INSERT INTO packs (account, stream, start, length, body, object, size) VALUES (?, ?, ?, ?, ?, ?, ?)",
			account, p.Stream, p.Start, p.Length, p.Body, p.Object, p.Size)
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

func digestsOf(blobs []Blob) []string {
	digests := make([]string, len(blobs))
	for i, c := range blobs {
		digests[i] = c.SHA256
	}
	return digests
}

// intersection returns the elements that two sorted lists have in common.
func intersection(a, b []string) []string {
	var both []string
	for _, s := range a {
		if _, found := slices.BinarySearch(b, s); found {
			both = append(both, s)
		}
	}
	return both
}

// uniqueByDigest returns blobs in the order of their keys, so that no two
// transactions wait for each other, and each key once, because PostgreSQL refuses a
// statement that would update a row twice. Of equal blobs the first one is kept.
func uniqueByDigest(blobs []Blob) []Blob {
	rows := slices.Clone(blobs)
	slices.SortStableFunc(rows, func(a, b Blob) int { return cmp.Compare(a.SHA256, b.SHA256) })
	return slices.CompactFunc(rows, func(a, b Blob) bool { return a.SHA256 == b.SHA256 })
}

// Lease leases blobs of account, sizes by digest: they are kept for the grace period.
// It returns the digests of those that are missing or known to be damaged, sorted. The
// error is a *SizeError when one has another size.
func (tx *Tx) Lease(ctx context.Context, account string, sizes map[string]int64) ([]string, error) {
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

// lookUp looks for blobs, sizes by digest, and locks none. It returns the digests of
// those that are missing or damaged, and of those whose lease has to be renewed, both
// sorted. The error is a *SizeError when one has another size.
func (v *View) lookUp(ctx context.Context, account string, sizes map[string]int64, now Time) (missing, stale []string, err error) {
	digests := sorted(sizes)
	if len(digests) > chunk { // one query that may save many
		if any, err := v.HasBlobs(ctx, account); err != nil || !any {
			return digests, nil, err
		}
	}
	damaged, err := v.Damaged(ctx, account)
	if err != nil {
		return nil, nil, err
	}
	for part := range slices.Chunk(digests, chunk) {
		there, err := v.blobs(ctx, account, part)
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

// HasBlobs reports whether account has any blobs. The first push of an account need
// not look for each of its files.
func (v *View) HasBlobs(ctx context.Context, account string) (bool, error) {
	return v.db.NewSelect().Model((*Blob)(nil)).Where("account = ?", account).Limit(1).Exists(ctx)
}

func sorted(sizes map[string]int64) []string {
	digests := make([]string, 0, len(sizes))
	for digest := range sizes {
		digests = append(digests, digest)
	}
	slices.Sort(digests)
	return digests
}

// touchAll touches blobs, locking them in the order of digests, which is sorted.
// It returns those that are missing, sorted.
func (tx *Tx) touchAll(ctx context.Context, account string, digests []string, now Time) (gone []string, err error) {
	for part := range slices.Chunk(digests, chunk) {
		var touched []string
		q := tx.db.NewUpdate().Model((*Blob)(nil)).Set("touched_at = ?", now).
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

// inOrder selects blobs for a change. PostgreSQL locks them in the order of their
// digests, while it would not follow the order of a list.
func (tx *Tx) inOrder(account string, digests []string) schema.QueryAppender {
	if !tx.postgres() {
		return bun.List(digests)
	}
	return tx.forUpdate(tx.db.NewSelect().Model((*Blob)(nil)).Column("sha256").
		Where("account = ?", account).Where("sha256 IN (?)", bun.List(digests)).OrderExpr("sha256"))
}

// touch restarts the grace period of blobs.
func (tx *Tx) touch(ctx context.Context, account string, digests []string) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	slices.Sort(digests)
	_, err = tx.touchAll(ctx, account, slices.Compact(digests), now)
	return err
}

// Blobs returns blobs of account, by digest, without those that are missing.
func (v *View) Blobs(ctx context.Context, account string, digests []string) (map[string]Blob, error) {
	all := make(map[string]Blob, len(digests))
	for part := range slices.Chunk(digests, chunk) {
		there, err := v.blobs(ctx, account, part)
		if err != nil {
			return nil, err
		}
		for digest, c := range there {
			all[digest] = c
		}
	}
	return all, nil
}

func (v *View) blobs(ctx context.Context, account string, digests []string) (map[string]Blob, error) {
	var rows []Blob
	err := v.db.NewSelect().Model(&rows).Where("account = ?", account).Where("sha256 IN (?)", bun.List(digests)).Scan(ctx)
	there := make(map[string]Blob, len(rows))
	for _, c := range rows {
		there[c.SHA256] = c
	}
	return there, err
}
