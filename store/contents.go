package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"
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
	Stream string
	Start  int64 // of its content in the stream
	Length int64 // of its content
	Body   []byte
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

// AddContents stores packs, and contents that lie in them. A content that the
// account has already stays where it is.
func (tx *Tx) AddContents(ctx context.Context, account string, packs []Pack, contents []Content) error {
	for _, p := range packs {
		if _, err := tx.exec(ctx, "INSERT INTO packs (account, stream, start, length, body) VALUES (?, ?, ?, ?, ?)",
			account, p.Stream, p.Start, p.Length, p.Body); err != nil {
			return err
		}
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	rows := uniqueByDigest(contents)
	for i := range rows {
		rows[i].Account, rows[i].TouchedAt = account, now
	}
	for part := range slices.Chunk(rows, chunk) {
		_, err := tx.db.NewInsert().Model(&part).
			On("CONFLICT (account, sha256) DO UPDATE SET touched_at = excluded.touched_at").Exec(ctx)
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
// there, sorted, and a *SizeError for one of another size.
func (tx *Tx) Hold(ctx context.Context, account string, sizes map[string]int64) (missing []string, err error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	digests := sorted(sizes)
	if len(digests) > chunk { // one look more, that may spare many
		if any, err := tx.HoldsAny(ctx, account); err != nil || !any {
			return digests, err
		}
	}
	var stale []string
	for part := range slices.Chunk(digests, chunk) {
		there, err := tx.contents(ctx, account, part)
		if err != nil {
			return nil, err
		}
		for _, digest := range part {
			c, ok := there[digest]
			switch {
			case !ok:
				missing = append(missing, digest)
			case c.Size != sizes[digest]:
				return nil, &SizeError{digest, c.Size}
			case c.TouchedAt.Time().Add(Fresh).Before(now.Time()):
				stale = append(stale, digest)
			}
		}
	}
	if len(stale) == 0 {
		return missing, nil
	}
	gone, err := tx.touchAll(ctx, account, stale, now)
	missing = append(missing, gone...)
	slices.Sort(missing)
	return missing, err
}

// HoldsAny reports whether account has contents at all. The first push of an
// account would ask for each of its files in vain.
func (tx *Tx) HoldsAny(ctx context.Context, account string) (bool, error) {
	return tx.db.NewSelect().Model((*Content)(nil)).Where("account = ?", account).Limit(1).Exists(ctx)
}

func sorted(sizes map[string]int64) []string {
	digests := make([]string, 0, len(sizes))
	for digest := range sizes {
		digests = append(digests, digest)
	}
	slices.Sort(digests)
	return digests
}

// touchAll touches contents, and returns those that were collected meanwhile.
func (tx *Tx) touchAll(ctx context.Context, account string, digests []string, now Time) (gone []string, err error) {
	for part := range slices.Chunk(digests, chunk) {
		var touched []string
		err := tx.db.NewUpdate().Model((*Content)(nil)).Set("touched_at = ?", now).
			Where("account = ?", account).Where("sha256 IN (?)", bun.List(part)).
			Returning("sha256").Scan(ctx, &touched)
		if err != nil && !errors.Is(wrap(err), ErrNotFound) {
			return nil, err
		}
		if len(touched) < len(part) {
			slices.Sort(touched)
			gone = append(gone, slices.DeleteFunc(slices.Clone(part), func(d string) bool {
				_, ok := slices.BinarySearch(touched, d)
				return ok
			})...)
		}
	}
	return gone, nil
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
func (tx *Tx) Contents(ctx context.Context, account string, digests []string) (map[string]Content, error) {
	all := make(map[string]Content, len(digests))
	for part := range slices.Chunk(digests, chunk) {
		there, err := tx.contents(ctx, account, part)
		if err != nil {
			return nil, err
		}
		for digest, c := range there {
			all[digest] = c
		}
	}
	return all, nil
}

func (tx *Tx) contents(ctx context.Context, account string, digests []string) (map[string]Content, error) {
	var rows []Content
	err := tx.db.NewSelect().Model(&rows).Where("account = ?", account).Where("sha256 IN (?)", bun.List(digests)).Scan(ctx)
	there := make(map[string]Content, len(rows))
	for _, c := range rows {
		there[c.SHA256] = c
	}
	return there, err
}
