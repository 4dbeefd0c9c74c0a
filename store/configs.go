package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
)

// Config is the config of a project. Its row comes and goes with the project's.
type Config struct {
	bun.BaseModel `bun:"table:configs"`

	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	ConfigState
	Body []byte // canonical flat form
}

// ConfigState is what can be said of a config without its content. UpdatedAt is
// never, and UpdatedBy and UpdatedVia are empty, until it is first written.
type ConfigState struct {
	Revision   string // SHA-256 of the body
	HasConfig  bool   // it has at least one member
	UpdatedAt  Time
	UpdatedBy  string
	UpdatedVia string
}

// emptyBody and emptyRevision are the config of a project that has none.
var emptyBody = []byte("{}")

const emptyRevision = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

func newConfig(account, slug string) *Config {
	return &Config{Account: account, Slug: slug, Body: emptyBody, ConfigState: ConfigState{Revision: emptyRevision}}
}

// Config returns a project's config; ErrNotFound when there is no such project, and
// ErrDamaged when the body is not the one that its revision names.
func (v *View) Config(ctx context.Context, r ref.Ref) (*Config, error) {
	c := &Config{Account: r.Account(), Slug: r.Slug()}
	if err := wrap(v.db.NewSelect().Model(c).WherePK().Scan(ctx)); err != nil {
		return nil, err
	}
	if c.damaged() {
		return nil, damagedConfig(r)
	}
	return c, nil
}

// ConfigSize returns the length of a project's config, in bytes; ErrNotFound when there
// is no such project.
func (v *View) ConfigSize(ctx context.Context, r ref.Ref) (size int64, err error) {
	err = v.one(ctx, &size, "SELECT length(body) FROM configs WHERE account = ? AND slug = ?", r.Account(), r.Slug())
	return size, err
}

func (c *Config) damaged() bool { return revisionOf(c.Body) != c.Revision }

// revisionOf returns the revision of a config's body. A test counts its calls.
var revisionOf = hexSum

func damagedConfig(r ref.Ref) error {
	return fmt.Errorf("%w: the config of %s: push it again to replace it", ErrDamaged, r)
}

// Author says who writes, and how.
type Author struct {
	By        string // a user
	Via       string
	TokenName string
	RequestID string
}

// ConfigChange computes what a config becomes. It returns the new body, or the error
// that ends the write; a nil body leaves all as it is.
type ConfigChange func(current *Config) (body []byte, err error)

// ConfigWrite is a change of a config by somebody.
type ConfigWrite struct {
	Author
	Change ConfigChange
	Count  func(from, to []byte) (KeyCounts, error) // compares two bodies; nil: all counts are 0
}

// WriteConfig applies w to a project's config in one step and returns the
// config before and after. Equal content changes nothing, neither author nor time.
// Other content is added to the config's history.
// ErrNotFound when there is no such project: WriteConfig never creates one. A damaged
// config has no body for Change, which may replace it; any other outcome is ErrDamaged.
func (tx *Tx) WriteConfig(ctx context.Context, r ref.Ref, w ConfigWrite) (before, after *Config, err error) {
	before = &Config{Account: r.Account(), Slug: r.Slug()}
	if err := tx.forUpdate(tx.db.NewSelect().Model(before).WherePK()).Scan(ctx); err != nil {
		return nil, nil, wrap(err)
	}
	damaged := before.damaged()
	if damaged {
		before.Body = nil
	}
	body, err := w.Change(before)
	if damaged {
		if body == nil || err != nil {
			return nil, nil, cmp.Or(err, damagedConfig(r))
		}
		before.Body, before.HasConfig = emptyBody, false // there is nothing to show
	}
	if err != nil || body == nil {
		return before, before, err
	}
	revision := revisionOf(body)
	if revision == before.Revision && !damaged {
		return before, before, nil
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, nil, err
	}
	after = &Config{Account: r.Account(), Slug: r.Slug(), Body: body, ConfigState: ConfigState{
		Revision: revision, HasConfig: revision != emptyRevision, UpdatedAt: now, UpdatedBy: w.By, UpdatedVia: w.Via,
	}}
	if err := tx.putConfig(ctx, after); err != nil {
		return nil, nil, err
	}
	if damaged {
		return before, after, tx.addToHistory(ctx, nil, after, w)
	}
	return before, after, tx.addToHistory(ctx, before, after, w)
}

func (tx *Tx) putConfig(ctx context.Context, c *Config) error {
	return tx.execLarge(ctx, `UPDATE configs SET revision = ?, has_config = ?, updated_at = ?, updated_by = ?, updated_via = ?, body = ?
		WHERE account = ? AND slug = ?`,
		c.Revision, c.HasConfig, int64(c.UpdatedAt), c.UpdatedBy, c.UpdatedVia, c.Body, c.Account, c.Slug)
}
