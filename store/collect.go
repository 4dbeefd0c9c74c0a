package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/frame"
)

// Contents that no set names stay for a grace period: at least MinGrace, so that
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
	Examined int   // sets, contents and streams that had changed
}

// ErrCollecting says that another process is collecting.
var ErrCollecting = errors.New("another hub is collecting on this database")

// Collect removes contents that no set names and that nobody has touched for the
// grace period, and the packs in which nothing is left. It looks at what changed
// since the last collection, and may run while others push; ErrCollecting when
// another collection runs. What is damaged is skipped, and the error says so after
// everything else was collected.
func (s *Store) Collect(ctx context.Context, grace time.Duration) (Collected, error) {
	unlock, err := s.lockTask(ctx, collecting)
	if err != nil {
		return Collected{}, err
	}
	defer unlock()
	return s.collect(ctx, grace)
}

// CollectWhenDue is [Store.Collect] for a process that serves: it does nothing, and
// returns false, when the last collection by any process ended less than every ago,
// or when another one runs.
func (s *Store) CollectWhenDue(ctx context.Context, grace, every time.Duration) (c Collected, ran bool, err error) {
	if due, err := s.due(ctx, collecting, every); err != nil || !due {
		return Collected{}, false, err
	}
	unlock, err := s.lockTask(ctx, collecting)
	if errors.Is(err, ErrCollecting) {
		return Collected{}, false, nil
	}
	if err != nil {
		return Collected{}, false, err
	}
	defer unlock()
	if due, err := s.due(ctx, collecting, every); err != nil || !due { // another one has just ended
		return Collected{}, false, err
	}
	c, err = s.collect(ctx, grace)
	return c, true, err
}

// collect runs one collection. The caller holds the lock.
func (s *Store) collect(ctx context.Context, grace time.Duration) (Collected, error) {
	c := &collection{store: s}
	last, err := s.lastRun(ctx, collecting)
	if err != nil {
		return c.Collected, err
	}
	err = s.Read(ctx, func(v *View) error {
		c.now, err = v.Now(ctx)
		return err
	})
	if err != nil {
		return c.Collected, err
	}
	c.cutoff, c.position = c.now.add(-grace), last.Position
	for _, step := range []func(context.Context) error{c.indexSets, c.contents, c.packs} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil {
				return c.Collected, err
			}
			c.failed = append(c.failed, err)
		}
	}
	// A transaction may still commit what it touched a moment ago.
	last.Position = max(last.Position, min(c.position, c.now.add(-MinGrace)))
	if err := s.ran(ctx, last); err != nil {
		c.failed = append(c.failed, err)
	}
	return c.Collected, errors.Join(c.failed...)
}

// collection is one run.
type collection struct {
	Collected
	store    *Store
	now      Time
	cutoff   Time   // what was touched since stays
	position Time   // everything that was touched before has been looked at
	account  string // whose packs are looked at
	failed   []error
}

// touched is a content and when it was last touched.
type touched struct {
	TouchedAt Time
	Account   string
	SHA256    string `bun:"sha256"`
}

// contents removes what no set names of the contents that were touched since the
// last collection and before the cutoff. Each was looked at since it was last
// uploaded, leased or taken out of a set, so that those touched earlier are in use.
func (c *collection) contents(ctx context.Context) error {
	kept := c.cutoff // from where the next collection has to look
	after := touched{TouchedAt: c.position}
	for {
		var page []touched
		err := c.store.Read(ctx, func(v *View) error {
			return v.db.NewSelect().Model((*Content)(nil)).Column("touched_at", "account", "sha256").
				Where("(touched_at, account, sha256) > (?, ?, ?)", after.TouchedAt, after.Account, after.SHA256).
				Where("touched_at < ?", c.cutoff).Order("touched_at", "account", "sha256").Limit(chunk).Scan(ctx, &page)
		})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			c.position = kept
			return nil
		}
		c.Examined += len(page)
		byAccount := map[string][]string{}
		for _, row := range page {
			byAccount[row.Account] = append(byAccount[row.Account], row.SHA256)
		}
		for account, digests := range byAccount {
			if err := c.remove(ctx, account, digests); errors.Is(err, errUnindexed) {
				kept = min(kept, page[0].TouchedAt)
			} else if err != nil {
				return err
			}
		}
		after = page[len(page)-1]
	}
}

// errUnindexed says that an account has a set whose contents are not indexed.
var errUnindexed = errors.New("a set is not indexed")

// remove removes those contents that no set names, except those that a push has
// touched since; and none where a set was swapped since, whose push may have begun
// before the grace period. The next collection looks again.
func (c *collection) remove(ctx context.Context, account string, digests []string) error {
	var streams []string
	err := c.store.Write(ctx, func(tx *Tx) error {
		streams = nil
		err := tx.db.NewDelete().Model((*Content)(nil)).
			Where("account = ?", account).Where("sha256 IN (?)", tx.inOrder(account, digests)).Where("touched_at < ?", c.cutoff).
			Where("NOT EXISTS (SELECT 1 FROM base_set_contents AS n WHERE n.account = content.account AND n.sha256 = content.sha256)").
			Returning("stream").Scan(ctx, &streams)
		if err != nil && !errors.Is(wrap(err), ErrNotFound) {
			return err
		}
		// After the removal, which has waited for every push that touches one of its contents.
		if indexed, err := tx.setsIndexed(ctx, account); err != nil || !indexed {
			return cmp.Or(err, errUnindexed)
		}
		return tx.streamsChanged(ctx, account, streams)
	})
	if err == nil {
		c.Contents += len(streams)
	}
	return err
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

// changedStream is a stream in which a pack was stored, or a content removed, since
// a collection looked at it.
type changedStream struct {
	bun.BaseModel `bun:"table:changed_streams"`

	Account   string `bun:",pk"`
	Stream    string `bun:",pk"`
	ChangedAt Time
}

// streamsPage is how many streams are looked at together: it bounds memory.
const streamsPage = 100

// packs looks at the streams that changed.
func (c *collection) packs(ctx context.Context) error {
	var after changedStream
	for {
		var page []changedStream
		err := c.store.Read(ctx, func(v *View) error {
			return v.db.NewSelect().Model(&page).Where("(account, stream) > (?, ?)", after.Account, after.Stream).
				Order("account", "stream").Limit(streamsPage).Scan(ctx)
		})
		if err != nil || len(page) == 0 {
			return err
		}
		for len(page) > 0 {
			n := 1
			for n < len(page) && page[n].Account == page[0].Account {
				n++
			}
			c.account = page[0].Account
			if err := c.sweepStreams(ctx, page[:n]); err != nil {
				if ctx.Err() != nil {
					return err
				}
				c.failed = append(c.failed, fmt.Errorf("packs of %s: %w", c.account, err))
			}
			after, page = page[n-1], page[n:]
		}
	}
}

// sweepStreams removes the packs in which no content is, moves the contents out of
// those that are mostly empty, and compresses what a push stored uncompressed. No
// content is ever added to a pack later, so that an empty one stays empty.
func (c *collection) sweepStreams(ctx context.Context, streams []changedStream) error {
	var sparse []Content
	var done []changedStream
	for _, s := range streams {
		c.Examined++
		movable, err := c.sweep(ctx, s.Stream)
		if err != nil {
			return err
		}
		sparse = append(sparse, movable...)
		if len(movable) == 0 { // else the next collection removes what they leave
			done = append(done, s)
		}
	}
	if err := c.move(ctx, sparse); err != nil {
		return err
	}
	return c.store.Write(ctx, func(tx *Tx) error {
		for _, s := range done {
			_, err := tx.db.NewDelete().Model(&s).WherePK().Where("changed_at = ?", s.ChangedAt).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// sweep looks at the packs of one stream, and returns the contents to move.
func (c *collection) sweep(ctx context.Context, stream string) (movable []Content, err error) {
	all, err := c.fill(ctx, stream)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		switch {
		case p.used == 0:
			if err := c.removePack(ctx, p); err != nil {
				return nil, err
			}
		case p.used < p.Length/4:
			for _, content := range p.by {
				if content.Size <= frame.MaxSize/4 { // a larger one fills a good part of the largest pack
					movable = append(movable, content)
				}
			}
		case p.Size == frame.RawLength(p.Length):
			if err := c.compress(ctx, p); errors.Is(err, ErrDamaged) {
				c.failed = append(c.failed, fmt.Errorf("packs of %s: %w", c.account, err))
			} else if err != nil {
				return nil, err
			}
		}
	}
	return movable, nil
}

// fill lists the packs of a stream and the contents in them.
func (c *collection) fill(ctx context.Context, stream string) ([]*filled, error) {
	var all []*filled
	var contents []Content
	err := c.store.Read(ctx, func(v *View) error {
		// The packs first: a push in between adds both.
		err := v.db.NewSelect().Model((*Pack)(nil)).Column("stream", "start", "length").ColumnExpr("length(body) AS size").
			Where("account = ?", c.account).Where("stream = ?", stream).Order("start").Scan(ctx, &all)
		if err != nil {
			return err
		}
		return v.db.NewSelect().Model(&contents).Where("account = ?", c.account).Where("stream = ?", stream).
			Where("size > 0").OrderExpr("start").Scan(ctx)
	})
	next := 0
	for _, content := range contents {
		for next < len(all) && all[next].Start+all[next].Length <= content.Start {
			next++
		}
		end := content.Start + content.Size
		for _, p := range all[next:] {
			if p.Start >= end {
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
		_, err := tx.db.NewDelete().Model(&Pack{Account: c.account, Stream: p.Stream, Start: p.Start}).WherePK().Exec(ctx)
		return err
	})
}

// compress does what was left out for a push not to wait.
func (c *collection) compress(ctx context.Context, p *filled) error {
	err := c.store.Write(ctx, func(tx *Tx) error {
		r := tx.ContentReader(c.account)
		if err := r.seek(ctx, p.Stream, p.Start); err != nil {
			return err
		}
		return tx.execLarge(ctx, "UPDATE packs SET body = ? WHERE account = ? AND stream = ? AND start = ?",
			frame.Append(nil, r.last.Body), c.account, p.Stream, p.Start)
	})
	if err == nil {
		c.Smaller++
	}
	return err
}

// move writes contents anew, close together and in the order of the sets that name
// them. What they leave is removed by the next collection. A damaged one stays.
func (c *collection) move(ctx context.Context, contents []Content) error {
	if len(contents) == 0 {
		return nil
	}
	m := mover{collection: c, stream: rand.Text(), seen: map[string]bool{}}
	err := c.store.Read(ctx, func(v *View) error {
		contents, err := v.inSetOrder(ctx, c.account, contents)
		if err != nil {
			return err
		}
		reader := v.ContentReader(c.account)
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

// skip reports a content that is damaged, so that the others are moved. One that was
// removed meanwhile needs no report.
func (m *mover) skip(ctx context.Context, c Content, cause error) error {
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

func (c *collection) moveInto(ctx context.Context, p Pack, contents []Content) error {
	c.Moved += len(contents)
	slices.SortFunc(contents, func(a, b Content) int { return cmp.Compare(a.SHA256, b.SHA256) }) // locks have one order
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

// inSetOrder returns contents in the order in which the sets name them, so that what
// is read together is stored together.
func (v *View) inSetOrder(ctx context.Context, account string, contents []Content) ([]Content, error) {
	rank := make(map[string]int, len(contents))
	var slugs []string
	for part := range slices.Chunk(contents, chunk) {
		digests := make([]string, len(part))
		for i, c := range part {
			digests[i] = c.SHA256
			rank[c.SHA256] = -1
		}
		var names []string
		err := v.db.NewSelect().Model((*setName)(nil)).Distinct().Column("slug").
			Where("account = ?", account).Where("sha256 IN (?)", bun.List(digests)).Scan(ctx, &names)
		if err != nil {
			return nil, err
		}
		slugs = append(slugs, names...)
	}
	slices.Sort(slugs)
	next := 0
	for _, slug := range slices.Compact(slugs) {
		set := &BaseSet{Account: account, Slug: slug}
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
	ordered := slices.Clone(contents)
	slices.SortStableFunc(ordered, func(a, b Content) int { return cmp.Compare(rank[a.SHA256], rank[b.SHA256]) })
	return ordered, nil
}
