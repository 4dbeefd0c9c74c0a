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

// LargestPack is the size of the largest pack that is stored, in bytes.
func (tx *Tx) LargestPack(ctx context.Context) (bytes int64, err error) {
	return bytes, tx.db.QueryRowContext(ctx, "SELECT max(length(body)) FROM packs").Scan(&bytes)
}
