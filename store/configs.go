package store

import (
	"bytes"
	"cmp"
	"context"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/ref"
)

// Config is the config of a project. Its row comes and goes with the project's.
type Config struct {
	bun.BaseModel `bun:"table:configs"`

	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	ConfigState
	Body   []byte // canonical flat form
	Checks `bun:"-"`
}

// Checks says how a config is checked that [Tx.WriteConfig] writes.
type Checks struct {
	Schema bool // the stack's version has a schema

	Withdrawn  string // the project's stack version, if it was withdrawn; else ""
	UseVersion string // the stack's latest version then
	Enforced   bool   // which settings have to pass
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
		return nil, &DamagedConfig{r}
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
	Ready  *ReadyBody                               // the body that Change may return; nil: it is not known before
}

// ReadyBody is a body with its revision and its compressed form, so that the transaction,
// for which others wait, need not compute them.
type ReadyBody struct {
	body     []byte
	revision string
	frame    []byte // nil: not compressed yet, or too large for a frame
}

// Ready computes what a write needs of a body.
func Ready(body []byte) *ReadyBody {
	b := &ReadyBody{body: body, revision: revisionOf(body)}
	b.compress()
	return b
}

// compress returns the frame of the body, nil if it is too large for one.
func (b *ReadyBody) compress() []byte {
	if b.frame == nil && len(b.body) <= frame.MaxSize {
		buf := frame.Append(compressed.Take()[:0], b.body)
		b.frame = bytes.Clone(buf)
		compressed.Give(buf)
	}
	return b.frame
}

// compressed are buffers for frames, which are much smaller in the end than they may become.
var compressed = make(frame.Memory, 4)

// ready is [Ready] for what Change returned. One that changes nothing is not compressed.
func (w ConfigWrite) ready(body []byte) *ReadyBody {
	if w.Ready != nil && bytes.Equal(w.Ready.body, body) {
		return w.Ready
	}
	return &ReadyBody{body: body, revision: revisionOf(body)}
}

// WriteConfig applies w to a project's config in one step and returns the
// config before and after. Equal content changes nothing, neither author nor time.
// Other content is added to the config's history.
// ErrNotFound when there is no such project: WriteConfig never creates one. A damaged
// config has no body for Change, which may replace it; any other outcome is ErrDamaged.
func (tx *Tx) WriteConfig(ctx context.Context, r ref.Ref, w ConfigWrite) (before, after *Config, err error) {
	before, newest, err := tx.lockedConfig(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	damaged := before.damaged()
	if damaged {
		before.Body = nil
	}
	body, err := w.Change(before)
	if damaged {
		if body == nil || err != nil {
			return nil, nil, cmp.Or[error](err, &DamagedConfig{r})
		}
		before.Body, before.HasConfig = emptyBody, false // there is nothing to show
	}
	if err != nil || body == nil {
		return before, before, err
	}
	ready := w.ready(body)
	revision := ready.revision
	if revision == before.Revision && !damaged {
		return before, before, nil
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, nil, err
	}
	after = &Config{Account: r.Account(), Slug: r.Slug(), Body: body, Checks: before.Checks, ConfigState: ConfigState{
		Revision: revision, HasConfig: revision != emptyRevision, UpdatedAt: now, UpdatedBy: w.By, UpdatedVia: w.Via,
	}}
	if err := tx.putConfig(ctx, after); err != nil {
		return nil, nil, err
	}
	if damaged {
		return before, after, tx.addToHistory(ctx, newest, nil, after, ready, w)
	}
	return before, after, tx.addToHistory(ctx, newest, before, after, ready, w)
}

// lockedConfig is what a write reads of a project's config, with questions that ask for it.
type lockedConfig struct {
	Config
	N          int64 // of the newest entry of its history, as the next two
	BytesSoFar int64
	Newest     string // revision
	Enforced   bool   // see Checks, as the next three
	Schema     bool
	Withdrawn  string
	UseVersion string
	Now        Time // 0 on SQLite, see [View.Now]

	questions []*question
}

// LockConfig says that [Tx.WriteConfig] comes for this project: PostgreSQL locks and reads
// its config with the next query, and the write needs no round trip for it.
func (tx *Tx) LockConfig(r ref.Ref) {
	if conn, ok := tx.db.(*pgConn); ok {
		tx.asked = tx.newLockedConfig(r)
		tx.queue(conn, tx.asked.questions)
	}
}

// newLockedConfig asks PostgreSQL for the config's row first, to lock it: what else is read is
// read when the lock is there.
func (tx *Tx) newLockedConfig(r ref.Ref) *lockedConfig {
	c := &lockedConfig{Config: Config{Account: r.Account(), Slug: r.Slug()}}
	project := []any{r.Account(), r.Slug(), r.Account(), r.Slug()}
	if tx.postgres() {
		c.questions = []*question{
			{dest: c, args: project[:2], query: lockConfig},
			{dest: c, args: project, query: aroundConfig.postgres},
		}
	} else {
		c.questions = []*question{{dest: c, args: project, query: aroundConfig.sqlite}}
	}
	return c
}

const (
	configColumns = "c.revision, c.has_config, c.updated_at, c.updated_by, c.updated_via, c.body"
	lockConfig    = "SELECT " + configColumns + " FROM configs AS c WHERE c.account = ? AND c.slug = ? FOR UPDATE"
)

// aroundConfig is the query for what is read besides the config's row; SQLite's reads that, too.
var aroundConfig = func() dialects {
	const newest = ` LEFT JOIN config_history AS h ON h.account = p.account AND h.slug = p.slug
		AND h.n = (SELECT max(n) FROM config_history WHERE account = ? AND slug = ?) WHERE p.account = ? AND p.slug = ?`
	const around = `SELECT
		EXISTS (SELECT 1 FROM enforced_schemas AS e WHERE e.account = p.account AND e.slug = p.slug) AS enforced,
		EXISTS (SELECT 1 FROM stack_schemas AS x WHERE x.account = p.stack_account AND x.slug = p.stack_slug AND x.version =
			CASE p.stack_version WHEN 'latest' THEN (SELECT s.latest FROM stacks AS s WHERE s.account = p.stack_account AND s.slug = p.stack_slug)
				ELSE p.stack_version END) AS "schema",
		COALESCE((SELECT s.latest FROM withdrawn_versions AS w JOIN stacks AS s ON s.account = w.account AND s.slug = w.slug
			WHERE w.account = p.stack_account AND w.slug = p.stack_slug AND w.version = p.stack_version), '') AS use_version,
		p.stack_version AS withdrawn,
		COALESCE(h.n, 0) AS n, COALESCE(h.bytes_so_far, 0) AS bytes_so_far, COALESCE(h.revision, '') AS newest, `
	return dialects{
		postgres: around + present.postgres + " AS now FROM projects AS p" + newest,
		sqlite:   around + configColumns + " FROM projects AS p JOIN configs AS c ON c.account = p.account AND c.slug = p.slug" + newest,
	}
}()

// lockedConfig returns a project's config, locked, and what of the newest entry of its
// history the next one needs.
func (tx *Tx) lockedConfig(ctx context.Context, r ref.Ref) (*Config, *ConfigEntry, error) {
	c := tx.asked
	tx.asked = nil
	if c == nil || c.Account != r.Account() || c.Slug != r.Slug() {
		c = tx.newLockedConfig(r)
		if err := tx.ask(ctx, c.questions...); err != nil {
			return nil, nil, err
		}
	} else if err := tx.ask(ctx); err != nil { // if none was asked since
		return nil, nil, err
	}
	if !c.questions[0].found {
		return nil, nil, ErrNotFound
	}
	tx.now = cmp.Or(tx.now, c.Now)
	c.Checks = Checks{Enforced: c.Enforced, Schema: c.Schema, UseVersion: c.UseVersion}
	if c.UseVersion != "" {
		c.Checks.Withdrawn = c.Withdrawn
	}
	return &c.Config, &ConfigEntry{N: c.N, BytesSoFar: c.BytesSoFar, ConfigState: ConfigState{Revision: c.Newest}}, nil
}

func (tx *Tx) putConfig(ctx context.Context, c *Config) error {
	return tx.send(ctx, `UPDATE configs SET revision = ?, has_config = ?, updated_at = ?, updated_by = ?, updated_via = ?, body = ?
		WHERE account = ? AND slug = ?`,
		c.Revision, c.HasConfig, int64(c.UpdatedAt), c.UpdatedBy, c.UpdatedVia, c.Body, c.Account, c.Slug)
}
