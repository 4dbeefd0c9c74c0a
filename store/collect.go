package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/tree"
)

// Contents that no set names stay for a time of grace: at least MinGrace, so that
// none goes that a push under way was promised.
const (
	DefaultGrace = 24 * time.Hour
	MinGrace     = 10 * time.Minute
)

// Collected counts what a collection did.
type Collected struct {
	Contents int   // that were removed
	Packs    int   // that were removed, being empty
	Bytes    int64 // of their bodies
	Moved    int   // contents that were put together anew, out of packs that were mostly empty
	Smaller  int   // packs that had come uncompressed, and no longer are
}

// candidates is how many contents are looked at together: it bounds memory.
const candidates = 50_000

// Collect removes contents that no set names and that nobody has touched for the
// time of grace, and the packs in which nothing is left. It may run beside pushes
// and other collections.
func (s *Store) Collect(ctx context.Context, grace time.Duration) (Collected, error) {
	c := &collection{store: s}
	err := s.Read(ctx, func(tx *Tx) error {
		now, err := tx.Now(ctx)
		c.cutoff = At(now.Time().Add(-grace))
		return err
	})
	if err != nil {
		return c.Collected, err
	}
	accounts, err := c.names(ctx, "SELECT name FROM accounts ORDER BY name")
	if err != nil {
		return c.Collected, err
	}
	for _, c.account = range accounts {
		if err := c.contents(ctx); err != nil {
			return c.Collected, err
		}
		if err := c.packs(ctx); err != nil {
			return c.Collected, err
		}
	}
	return c.Collected, nil
}

// collection is one run, at one account.
type collection struct {
	Collected
	store   *Store
	cutoff  Time
	account string
}

// names reads a column.
func (c *collection) names(ctx context.Context, query string, args ...any) (names []string, err error) {
	err = c.store.Read(ctx, func(tx *Tx) error {
		return tx.db.NewRaw(query, args...).Scan(ctx, &names)
	})
	return names, err
}

// contents removes the account's contents that nothing needs.
func (c *collection) contents(ctx context.Context) error {
	for last := ""; ; {
		old, err := c.names(ctx, "SELECT sha256 FROM contents WHERE account = ? AND sha256 > ? AND touched_at < ? ORDER BY sha256 LIMIT ?",
			c.account, last, c.cutoff, candidates)
		if err != nil || len(old) == 0 {
			return err
		}
		last = old[len(old)-1]
		unnamed, sets, err := c.unnamed(ctx, old)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(unnamed, chunk) {
			if err := c.remove(ctx, part, sets); err != nil {
				return err
			}
		}
	}
}

// unnamed returns those of digests that no set of the account names, and the sets
// that it looked at, by slug.
func (c *collection) unnamed(ctx context.Context, digests []string) (unnamed []string, sets map[string]string, err error) {
	slugs, err := c.names(ctx, "SELECT slug FROM base_sets WHERE account = ?", c.account)
	if err != nil {
		return nil, nil, err
	}
	sets = map[string]string{}
	left := make(map[string]bool, len(digests))
	for _, d := range digests {
		left[d] = true
	}
	for _, slug := range slugs {
		var set BaseSet
		err := c.store.Read(ctx, func(tx *Tx) error {
			return tx.db.NewSelect().Model(&set).Column("tree", "files").Where("account = ?", c.account).Where("slug = ?", slug).Scan(ctx)
		})
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		sets[slug] = set.Tree
		files, err := tree.Read(set.Files)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range files {
			delete(left, e.SHA256)
		}
	}
	return slices.DeleteFunc(digests, func(d string) bool { return !left[d] }), sets, nil
}

// errSwapped says that the account's sets are no longer those that were looked at.
var errSwapped = errors.New("a set was swapped meanwhile")

// remove removes contents, but for those that a push has taken hold of since; and
// none where a set was swapped since, whose push may have begun before the time of
// grace. The next collection looks again.
func (c *collection) remove(ctx context.Context, digests []string, sets map[string]string) error {
	var n int64
	err := c.store.Write(ctx, func(tx *Tx) error {
		res, err := tx.db.NewDelete().Model((*Content)(nil)).Where("account = ?", c.account).
			Where("sha256 IN (?)", bun.List(digests)).Where("touched_at < ?", c.cutoff).Exec(ctx)
		if err == nil {
			n, err = res.RowsAffected()
		}
		if err != nil {
			return err
		}
		return c.sameSets(ctx, tx, sets)
	})
	if errors.Is(err, errSwapped) {
		return nil
	}
	c.Contents += int(n)
	return err
}

// sameSets looks after the removal, which has waited for every push that holds one
// of its contents.
func (c *collection) sameSets(ctx context.Context, tx *Tx, sets map[string]string) error {
	var now []BaseSet
	if err := tx.db.NewSelect().Model(&now).Column("slug", "tree").Where("account = ?", c.account).Scan(ctx); err != nil {
		return err
	}
	for _, s := range now {
		if sets[s.Slug] != s.Tree {
			return errSwapped
		}
	}
	return nil
}

// filled is a pack, and what of it is in use.
type filled struct {
	Stream string
	Start  int64
	Length int64
	Size   int64     // of its body
	used   int64     // bytes of its content
	by     []Content // that lie in it, with or without other packs
}

// packs removes the account's packs in which no content lies, after moving the
// contents out of those in which hardly any does, and compresses what came as it was. No content ever comes to lie in
// a pack later than the pack itself, so that what is empty stays so.
func (c *collection) packs(ctx context.Context) error {
	all, err := c.fill(ctx)
	if err != nil {
		return err
	}
	var sparse []Content
	for _, p := range all {
		switch {
		case p.used == 0:
			if err := c.removePack(ctx, p); err != nil {
				return err
			}
		case p.used < p.Length/4:
			sparse = append(sparse, p.by...)
		case p.Size == frame.RawLength(p.Length):
			if err := c.compress(ctx, p); err != nil {
				return err
			}
		}
	}
	return c.move(ctx, sparse)
}

// fill lists the account's packs and what lies in them.
func (c *collection) fill(ctx context.Context) ([]*filled, error) {
	var all []*filled
	var contents []Content
	err := c.store.Read(ctx, func(tx *Tx) error {
		// The packs first: a push in between brings both.
		err := tx.db.NewRaw("SELECT stream, start, length, length(body) AS size FROM packs WHERE account = ? ORDER BY stream, start", c.account).Scan(ctx, &all)
		if err != nil {
			return err
		}
		return tx.db.NewSelect().Model(&contents).Where("account = ?", c.account).Where("size > 0").OrderExpr("stream, start").Scan(ctx)
	})
	next := 0
	for _, content := range contents {
		for next < len(all) && cmp.Or(cmp.Compare(all[next].Stream, content.Stream), cmp.Compare(all[next].Start+all[next].Length-1, content.Start)) < 0 {
			next++
		}
		end := content.Start + content.Size
		for _, p := range all[next:] {
			if p.Stream != content.Stream || p.Start >= end {
				break
			}
			p.used += min(end, p.Start+p.Length) - max(content.Start, p.Start)
			p.by = append(p.by, content)
		}
	}
	return all, err
}

func (c *collection) removePack(ctx context.Context, p *filled) error {
	c.Packs++
	c.Bytes += p.Size
	return c.store.Write(ctx, func(tx *Tx) error {
		_, err := tx.exec(ctx, "DELETE FROM packs WHERE account = ? AND stream = ? AND start = ?", c.account, p.Stream, p.Start)
		return err
	})
}

// compress does what was left out for a push not to wait.
func (c *collection) compress(ctx context.Context, p *filled) error {
	c.Smaller++
	return c.store.Write(ctx, func(tx *Tx) error {
		r := tx.ContentReader(c.account)
		if err := r.seek(ctx, p.Stream, p.Start); err != nil {
			return err
		}
		_, err := tx.exec(ctx, "UPDATE packs SET body = ? WHERE account = ? AND stream = ? AND start = ?",
			frame.Append(nil, r.last.Body), c.account, p.Stream, p.Start)
		return err
	})
}

// move writes contents anew, close together. What they leave is removed by the
// next collection.
func (c *collection) move(ctx context.Context, contents []Content) error {
	m := mover{collection: c, stream: rand.Text(), seen: map[string]bool{}}
	err := c.store.Read(ctx, func(tx *Tx) error {
		reader := tx.ContentReader(c.account)
		for _, content := range contents {
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
	within []Content    // of piece
	seen   map[string]bool
}

func (m *mover) add(ctx context.Context, r *Reader, c Content) error {
	if m.seen[c.SHA256] || c.Size > frame.MaxSize/4 {
		return nil // a large one fills a good part of the largest pack
	}
	m.seen[c.SHA256] = true
	at := m.start + int64(m.piece.Len())
	if err := r.Copy(ctx, &m.piece, c); err != nil {
		return err
	}
	c.Stream, c.Start = m.stream, at
	if m.within = append(m.within, c); m.piece.Len() < frame.Size {
		return nil
	}
	return m.flush(ctx)
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

func (c *collection) moveInto(ctx context.Context, p Pack, contents []Content) error {
	c.Moved += len(contents)
	return c.store.Write(ctx, func(tx *Tx) error {
		if err := tx.AddContents(ctx, c.account, []Pack{p}, nil); err != nil {
			return err
		}
		for _, content := range contents {
			_, err := tx.db.NewUpdate().Model((*Content)(nil)).Set("stream = ?", content.Stream).Set("start = ?", content.Start).
				Where("account = ?", c.account).Where("sha256 = ?", content.SHA256).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
