package store

import (
	"strings"

	"github.com/uptrace/bun"
)

// AuditRow says who did what to what. Rows are added, and deleted when they are old.
type AuditRow struct {
	bun.BaseModel `bun:"table:audit"`

	ID        int64
	At        Time
	Account   string // that owns the object
	Actor     string // a user or a bot; "hub": a command on the hub's machine, or a periodic task
	Token     string // the first characters of the token, or "session" and those of its hash
	Action    string // such as config.write
	Object    string // such as @acme/web
	Detail    string // such as a revision
	RequestID string
	Address   string // the caller's IP address
}

// Audit adds a row, whose ID and At are set here.
func (tx *Tx) Audit(row AuditRow) error {
	return tx.send(`INSERT INTO audit (at, account, actor, token, action, object, detail, request_id, address)
		VALUES (@now, ?, ?, ?, ?, ?, ?, ?, ?)`,
		row.Account, row.Actor, row.Token, row.Action, row.Object, row.Detail, row.RequestID, row.Address)
}

// AuditFilter says which rows a list has. The zero value of a field means any.
type AuditFilter struct {
	Account string
	Actor   string
	Action  string // such as config.write, or config for all actions on configs
	Since   Time
	Limit   int // of rows, which is required
}

// AuditRows returns the rows that a filter selects, newest first.
func (v View) AuditRows(f AuditFilter) (rows []AuditRow, err error) {
	q := v.Select().Model(&rows).Order("id DESC").Limit(int64(f.Limit))
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
	err = v.Scan(q)
	return rows, err
}
