package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/frame"
)

// move writes blobs anew, close together and in the order of the snapshots that name
// them. What they leave is removed by the next collection. A damaged one stays.
func (c *collection) move(ctx context.Context, blobs []Blob) error {
	if len(blobs) == 0 {
		return nil
	}
	m := mover{collection: c, stream: rand.Text(), seen: map[string]bool{}}
	err := c.store.Read(ctx, func(v *View) error {
		blobs, err := v.inSnapshotOrder(ctx, c.account, blobs)
		if err != nil {
			return err
		}
		reader := v.BlobReader(c.account)
		for _, content := range blobs {
			if err := m.add(ctx, reader, content); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.flush(ctx)
}

// mover fills a new stream.
type mover struct {
	*collection
	stream string
	start  int64        // of piece
	piece  bytes.Buffer // that is not written yet
	within []Blob       // of piece
	seen   map[string]bool
}

func (m *mover) add(ctx context.Context, r *Reader, c Blob) error {
	if m.seen[c.SHA256] {
		return nil
	}
	m.seen[c.SHA256] = true
	size := m.piece.Len()
	at := m.start + int64(size)
	err := r.Copy(ctx, &m.piece, c)
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrMissing) {
		m.piece.Truncate(size)
		return m.skip(ctx, c, err)
	}
	if err != nil {
		return err
	}
	c.Stream, c.Start = m.stream, at
	if m.within = append(m.within, c); m.piece.Len() < frame.Size {
		return nil
	}
	return m.flush(ctx)
}

// skip reports a blob that is damaged, so that the others are moved. One that was
// removed meanwhile needs no report.
func (m *mover) skip(ctx context.Context, c Blob, cause error) error {
	if errors.Is(cause, ErrMissing) {
		return nil
	}
	m.failed = append(m.failed, cause)
	_, err := m.store.recordDamage(ctx, m.account, c.SHA256)
	return err
}

func (m *mover) flush(ctx context.Context) error {
	if len(m.within) == 0 {
		return nil
	}
	p := Pack{Stream: m.stream, Start: m.start, Length: int64(m.piece.Len()), Body: frame.Append(nil, m.piece.Bytes())}
	err := m.moveInto(ctx, p, m.within)
	m.start += p.Length
	m.piece.Reset()
	m.within = nil
	return err
}

func (c *collection) moveInto(ctx context.Context, p Pack, blobs []Blob) error {
	c.Moved += len(blobs)
	slices.SortFunc(blobs, func(a, b Blob) int { return cmp.Compare(a.SHA256, b.SHA256) }) // locks have one order
	packs, err := c.store.upload(ctx, c.account, []Pack{p})
	if err != nil {
		return err
	}
	return c.store.Write(ctx, func(tx *Tx) error {
		if err := tx.AddBlobs(ctx, c.account, packs, nil); err != nil {
			return err
		}
		for _, content := range blobs {
			_, err := tx.db.NewUpdate().Model((*Blob)(nil)).Set("stream = ?", content.Stream).Set("start = ?", content.Start).
				Where("account = ?", c.account).Where("sha256 = ?", content.SHA256).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// inSnapshotOrder returns blobs in the order in which the snapshots name them, so that what
// is read together is stored together.
func (v *View) inSnapshotOrder(ctx context.Context, account string, blobs []Blob) ([]Blob, error) {
	rank := make(map[string]int, len(blobs))
	var slugs []string
	for part := range slices.Chunk(blobs, chunk) {
		digests := make([]string, len(part))
		for i, c := range part {
			digests[i] = c.SHA256
			rank[c.SHA256] = -1
		}
		var names []string
		err := v.db.NewSelect().Model((*snapshotBlob)(nil)).Distinct().Column("slug").
			Where("account = ?", account).Where("sha256 IN (?)", bun.List(digests)).Scan(ctx, &names)
		if err != nil {
			return nil, err
		}
		slugs = append(slugs, names...)
	}
	slices.Sort(slugs)
	next := 0
	for _, slug := range slices.Compact(slugs) {
		set := &Snapshot{Account: account, Slug: slug}
		if err := wrap(v.db.NewSelect().Model(set).WherePK().Scan(ctx)); errors.Is(err, ErrNotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		files, err := set.List()
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range files {
			if at, ok := rank[e.SHA256]; ok && at < 0 {
				rank[e.SHA256], next = next, next+1
			}
		}
	}
	ordered := slices.Clone(blobs)
	slices.SortStableFunc(ordered, func(a, b Blob) int { return cmp.Compare(rank[a.SHA256], rank[b.SHA256]) })
	return ordered, nil
}
