package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/ref"
)

// ConfigEntry is a write that changed a project's config: a row of its history.
type ConfigEntry struct {
	bun.BaseModel `bun:"table:config_history"`

	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	N       int64  `bun:",pk"` // rises with each write, by one
	Parent  string // the revision that the write replaced, "" for a config that was never written
	ConfigState
	TokenName string
	RequestID string
	KeyCounts
	Bytes      int64  // of the body, as it is stored, and of the row
	BytesSoFar int64  // of it and of all entries before
	Body       []byte // a compressed frame; nil: it is in config_bodies, or was not read
	Apart      bool   `bun:",scanonly"` // it is in config_bodies
}

// KeyCounts says how many keys a write added, changed and removed.
type KeyCounts struct{ Added, Changed, Removed int }

// addToHistory adds a write to the history of a project's config, whose row is locked.
// newest is the entry before, the zero value for none; before is nil when it is damaged. What
// a hub of an earlier release wrote is added first.
func (tx *Tx) addToHistory(ctx context.Context, newest *ConfigEntry, before, after *Config, ready *ReadyBody, w ConfigWrite) (err error) {
	e := &ConfigEntry{Account: after.Account, Slug: after.Slug, N: newest.N + 1, ConfigState: after.ConfigState, TokenName: w.TokenName, RequestID: w.RequestID}
	from := emptyBody
	if before != nil && before.UpdatedAt != 0 {
		from, e.Parent = before.Body, before.Revision
		if newest.Revision != before.Revision {
			missing := before.entry(e.N)
			missing.BytesSoFar = newest.BytesSoFar
			if err := tx.addEntry(ctx, missing, &ReadyBody{body: before.Body}); err != nil {
				return err
			}
			newest.BytesSoFar = missing.BytesSoFar
			e.N++
		}
	}
	if w.Count != nil {
		if e.KeyCounts, err = w.Count(from, after.Body); err != nil {
			return err
		}
	}
	e.BytesSoFar = newest.BytesSoFar
	if err := tx.addEntry(ctx, e, ready); err != nil {
		return err
	}
	return tx.boundHistory(ctx, e)
}

// entry returns the entry of a config of which the history has none.
func (c *Config) entry(n int64) *ConfigEntry {
	return &ConfigEntry{Account: c.Account, Slug: c.Slug, N: n, ConfigState: c.ConfigState}
}

// entryRow is about what an entry's row takes without its body, in bytes. It bounds how many
// entries a history of small configs has.
const entryRow = 1 << 10

// addEntry stores an entry, whose BytesSoFar are those of the entry before, and its body. One
// that is too large for a frame goes to config_bodies, where its revision may be already.
func (tx *Tx) addEntry(ctx context.Context, e *ConfigEntry, ready *ReadyBody) error {
	e.Body = ready.compress()
	e.Bytes = entryRow + int64(len(e.Body))
	if e.Body == nil {
		if err := tx.addInPieces(ctx, e, ready.body); err != nil {
			return err
		}
	}
	e.BytesSoFar += e.Bytes
	return tx.sendRow(ctx, e)
}

func (tx *Tx) addInPieces(ctx context.Context, e *ConfigEntry, body []byte) error {
	n := 0
	for piece := range slices.Chunk(body, frame.MaxSize) {
		stored := frame.Append(nil, piece)
		e.Bytes += int64(len(stored))
		err := tx.send(ctx, `INSERT INTO config_bodies (account, slug, revision, n, body) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (account, slug, revision, n) DO UPDATE SET body = excluded.body`,
			e.Account, e.Slug, e.Revision, int64(n), stored)
		if err != nil {
			return err
		}
		n++
	}
	return nil
}

// ConfigHistory returns entries of the history of a project's config, newest first:
// at most limit of those before the entry with the number before, or of all if that is
// 0. The first of all is the present config. ErrNotFound when there is no such project.
func (v *View) ConfigHistory(ctx context.Context, r ref.Ref, before int64, limit int) ([]ConfigEntry, error) {
	// The config first: a write in between adds an entry that is newer.
	now := &Config{Account: r.Account(), Slug: r.Slug()}
	if err := wrap(v.db.NewSelect().Model(now).ExcludeColumn("body").WherePK().Scan(ctx)); err != nil {
		return nil, err
	}
	var entries []ConfigEntry
	q := v.db.NewSelect().Model(&entries).ExcludeColumn("body").Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).
		Order("n DESC").Limit(int64(limit))
	if before > 0 {
		q = q.Where("n < ?", before)
	}
	if err := q.Scan(ctx); err != nil || before > 0 || now.UpdatedAt == 0 {
		return entries, err
	}
	if len(entries) == 0 {
		return []ConfigEntry{*now.entry(1)}, nil
	}
	if newest := entries[0]; newest.Revision != now.Revision && newest.UpdatedAt < now.UpdatedAt {
		entries = slices.Insert(entries, 0, *now.entry(newest.N + 1))
		entries = entries[:min(len(entries), limit)]
	}
	return entries, nil
}

// ConfigRevision returns the config that a project has or had, as it was last written
// with this revision; ErrNotFound when it is not kept, or there is no such project.
func (v *View) ConfigRevision(ctx context.Context, r ref.Ref, revision string) (*Config, error) {
	now, err := v.Config(ctx, r)
	if err == nil && now.Revision == revision || err != nil && !errors.Is(err, ErrDamaged) {
		return now, err
	}
	return v.formerConfig(ctx, r, revision)
}

// formerConfig returns a config of the history; ErrNotFound when it is not kept.
func (v *View) formerConfig(ctx context.Context, r ref.Ref, revision string) (*Config, error) {
	entry, err := v.entryOf(ctx, r, revision)
	if err != nil {
		return nil, err
	}
	return v.configAt(ctx, r, entry)
}

// configAt returns the config of an entry.
func (v *View) configAt(ctx context.Context, r ref.Ref, e *ConfigEntry) (*Config, error) {
	body, err := v.bodyOf(ctx, r, e)
	c := &Config{Account: r.Account(), Slug: r.Slug(), Body: body, ConfigState: e.ConfigState}
	if err == nil && c.damaged() {
		err = errDigest
	}
	if err != nil {
		return nil, damagedRevision(r, e.Revision, err)
	}
	return c, nil
}

// bodyOf returns the body of an entry of a history.
func (v *View) bodyOf(ctx context.Context, r ref.Ref, e *ConfigEntry) (body []byte, err error) {
	var stored []byte
	err = v.readLarge(ctx, []any{&stored}, "SELECT body FROM config_history WHERE account = ? AND slug = ? AND n = ?", r.Account(), r.Slug(), e.N)
	if err != nil {
		return nil, err
	}
	if stored != nil {
		return frame.Decode(nil, stored)
	}
	for n := int64(0); ; n++ {
		err := v.readLarge(ctx, []any{&stored}, "SELECT body FROM config_bodies WHERE account = ? AND slug = ? AND revision = ? AND n = ?",
			r.Account(), r.Slug(), e.Revision, n)
		if errors.Is(err, ErrNotFound) && n > 0 {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
		piece, err := frame.Decode(nil, stored)
		if err != nil {
			return nil, err
		}
		body = append(body, piece...)
	}
}

func damagedRevision(r ref.Ref, revision string, cause error) error {
	if errors.Is(cause, ErrUnavailable) {
		return cause
	}
	return fmt.Errorf("%w: revision %s of the config of %s: %w", ErrDamaged, revision, r, cause)
}

// ConfigEntryOf returns the newest entry with a revision of a config; ErrNotFound when
// that is not kept, or there is no such project.
func (v *View) ConfigEntryOf(ctx context.Context, r ref.Ref, revision string) (*ConfigEntry, error) {
	newest, err := v.ConfigHistory(ctx, r, 0, 1) // the present config may have no row
	if err == nil && len(newest) > 0 && newest[0].Revision == revision {
		return &newest[0], nil
	}
	if err != nil {
		return nil, err
	}
	return v.entryOf(ctx, r, revision)
}

func (v *View) entryOf(ctx context.Context, r ref.Ref, revision string) (*ConfigEntry, error) {
	e := &ConfigEntry{}
	return e, wrap(v.db.NewSelect().Model(e).ExcludeColumn("body").Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).
		Where("revision = ?", revision).Order("n DESC").Limit(1).Scan(ctx))
}
