package store

import (
	"context"
	"database/sql"
)

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

// Packs returns how many packs are stored, and the bytes of their content.
func (tx *Tx) Packs(ctx context.Context) (n, bytes int64, err error) {
	return n, bytes, tx.db.QueryRowContext(ctx, "SELECT count(*), CAST(coalesce(sum(length), 0) AS bigint) FROM packs").Scan(&n, &bytes)
}

// Occupy takes every connection that reads, and tells how many calls wait for one.
func (s *Store) Occupy(ctx context.Context) (waiting func() int64, release func(), err error) {
	var conns []*sql.Conn
	release = func() {
		for _, conn := range conns {
			conn.Close()
		}
	}
	for range s.read.Stats().MaxOpenConnections {
		conn, err := s.read.DB.Conn(ctx)
		if err != nil {
			release()
			return nil, nil, err
		}
		conns = append(conns, conn)
	}
	return func() int64 { return s.read.Stats().WaitCount }, release, nil
}

// Setting is the value of a setting of PostgreSQL in the session of tx.
func (tx *Tx) Setting(ctx context.Context, name string) (value string, err error) {
	return value, tx.db.QueryRowContext(ctx, "SHOW "+name).Scan(&value)
}
