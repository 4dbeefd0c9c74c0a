package store

import (
	"context"
	"crypto/rand"

	"github.com/uptrace/bun"
)

// AuditRow says who did what to what. Rows are only ever added.
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
	_, err = tx.db.NewInsert().Model(&row).Exec(ctx)
	return err
}

// AuditOf returns the rows about an account's things, oldest first.
func (v *View) AuditOf(ctx context.Context, account string) ([]AuditRow, error) {
	var rows []AuditRow
	return rows, v.db.NewSelect().Model(&rows).Where("account = ?", account).Order("at", "id").Scan(ctx)
}
