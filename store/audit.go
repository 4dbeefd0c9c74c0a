package store

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// AuditRow says who did what to what. Rows are added, and deleted when they are old.
type AuditRow struct {
	bun.BaseModel `bun:"table:audit"`

	Account   string `bun:",pk"` // whose thing it is
	At        Time   `bun:",pk"`
	ID        string `bun:",pk"`
	Actor     string // a user, or "hub" for a command run on the hub's machine
	Token     string // the first characters of the token
	Action    string // such as config.write
	Object    string // such as @acme/web
	Detail    string // such as a revision
	RequestID string
	Address   string // of the caller's network peer
}

// Audit adds a row; At and ID are set here.
func (tx *Tx) Audit(ctx context.Context, row AuditRow) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	row.At, row.ID = now, rand.Text()
	return tx.sendRow(ctx, &row)
}

// AuditRevocation adds a row for a token that was revoked, and one for each that ended with
// it; Action and Object are set here.
func (tx *Tx) AuditRevocation(ctx context.Context, row AuditRow, revoked *RevokedToken) error {
	row.Action, row.Object = "token.revoke", revoked.ID()
	if err := tx.Audit(ctx, row); err != nil {
		return err
	}
	row.Detail = "revoked with " + revoked.ID()
	for _, t := range revoked.With {
		row.Object = t.ID()
		if err := tx.Audit(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// AuditFilter says which rows a list has. The zero value of a field means any.
type AuditFilter struct {
	Account string
	Actor   string
	Action  string // such as config.write, or config for all actions on configs
	Since   Time
	Limit   int // of rows, which is required
}

// AuditRows returns the newest rows that a filter matches, newest first.
func (v *View) AuditRows(ctx context.Context, f AuditFilter) (rows []AuditRow, err error) {
	q := v.db.NewSelect().Model(&rows).Order("at DESC", "account", "id").Limit(int64(f.Limit))
	if f.Account != "" {
		q = q.Where("account = ?", f.Account)
	}
	if f.Actor != "" {
		q = q.Where("actor = ?", f.Actor)
	}
	switch {
	case strings.Contains(f.Action, "."):
		q = q.Where("action = ?", f.Action)
	case f.Action != "":
		q = q.Where("action > ?", f.Action+".").Where("action < ?", f.Action+"/") // the character after a dot
	}
	if f.Since != 0 {
		q = q.Where("at >= ?", f.Since)
	}
	return rows, q.Scan(ctx)
}

// PruneAudit deletes the rows that are older than age and returns how many. It does nothing
// if it ended less than every ago. It looks at one account after another, in the order of
// the primary key, so that writes need no other index.
func (s *Store) PruneAudit(ctx context.Context, age, every time.Duration) (removed int, err error) {
	const task = "audit"
	if due, err := s.due(ctx, task, every); err != nil || !due {
		return 0, err
	}
	oldest := AuditRow{}
	for {
		cutoff, account := Time(0), oldest.Account
		oldest = AuditRow{}
		err := s.Read(ctx, func(v *View) error {
			now, err := v.Now(ctx)
			if err != nil {
				return err
			}
			cutoff = now.add(-age)
			return wrap(v.db.NewSelect().Model(&oldest).Column("account", "at").Where("account > ?", account).
				Order("account", "at").Limit(1).Scan(ctx))
		})
		if errors.Is(err, ErrNotFound) {
			return removed, s.ran(ctx, run{Task: task})
		}
		for n := chunk; err == nil && oldest.At < cutoff && n == chunk; removed += n {
			n, err = s.deleteAudit(ctx, oldest.Account, cutoff)
		}
		if err != nil {
			return removed, err
		}
	}
}

// deleteAudit deletes an account's oldest rows from before the cutoff, at most [chunk].
func (s *Store) deleteAudit(ctx context.Context, account string, cutoff Time) (n int, err error) {
	err = s.Write(ctx, func(tx *Tx) (err error) {
		old := tx.db.NewSelect().Model((*AuditRow)(nil)).Column("at", "id").Where("account = ?", account).
			Where("at < ?", cutoff).Order("at", "id").Limit(chunk)
		n, err = affected(tx.db.NewDelete().Model((*AuditRow)(nil)).Where("account = ?", account).Where("(at, id) IN (?)", old).Exec(ctx))
		return err
	})
	return n, err
}
