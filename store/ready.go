package store

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Ready reports whether the database responds and takes writes: ErrUnavailable after a write
// that SQLite's disk refused, until one succeeds, and from a PostgreSQL that is read-only,
// such as a standby. Ready tries a write itself, because where a load balancer asks it, no
// others come. A full disk is no reason: reads go on, and so do writes once there is space.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.Ping(ctx); err != nil {
		return err
	}
	if s.dsn.path == "" {
		return s.takesWrites(ctx)
	}
	if !s.group.failed.Load() {
		return nil
	}
	return s.Write(ctx, func(tx *Tx) error {
		// A number that nothing reads, in the first page of the file.
		_, err := tx.raw().ExecContext(ctx, "PRAGMA user_version = 0")
		return err
	})
}

// takesWrites returns an error if PostgreSQL is read-only.
func (s *Store) takesWrites(ctx context.Context) error {
	var readOnly string
	if err := s.write.NewRaw("SHOW transaction_read_only").Scan(ctx, &readOnly); err != nil {
		return wrap(err)
	}
	if readOnly == "on" {
		return fmt.Errorf("%w: it is read-only", ErrUnavailable)
	}
	return nil
}

// diskRefused reports whether SQLite could not write, whatever the statement was.
func diskRefused(err error) bool {
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		return false
	}
	switch lite.Code() & 0xff {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}
