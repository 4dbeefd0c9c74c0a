package store

import (
	"context"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Ready reports whether the database responds and takes writes: ErrUnavailable after a write
// that SQLite's disk refused, until one succeeds. Ready tries one itself, because where a
// load balancer asks it, no others come.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.Ping(ctx); err != nil || !s.diskFailed.Load() {
		return err
	}
	return s.Write(ctx, func(tx *Tx) error {
		// A number that nothing reads, in the first page of the file.
		_, err := tx.raw().ExecContext(ctx, "PRAGMA user_version = 0")
		return err
	})
}

// noteDisk remembers whether the disk took the last write.
func (s *Store) noteDisk(err error) {
	if err == nil {
		s.diskFailed.Store(false)
	} else if diskRefused(err) {
		s.diskFailed.Store(true)
	}
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
