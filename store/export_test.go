package store

import "context"

// Waits says how the transaction will wait for the disk when it is committed, in
// the words of its database.
func (tx *Tx) Waits(ctx context.Context) (how string, err error) {
	query := "PRAGMA synchronous"
	if tx.postgres() {
		query = "SHOW synchronous_commit"
	}
	return how, tx.db.QueryRowContext(ctx, query).Scan(&how)
}
