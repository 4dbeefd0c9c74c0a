package store

import (
	"context"
	"time"

	"github.com/gofrs/flock"
)

// A backup reads objects for as long as it takes, by the rows of one moment. It holds a lock
// that other backups share, and while one does a collection takes no objects. What was taken
// before is in none of the rows, because it was unused for the grace period.

// backupLock is the lock's number on PostgreSQL, where it ends with the transaction.
const backupLock = "hashtextextended('hub backup ' || current_schema(), 0)"

// lockEvery is the time between two attempts to get the lock of a file.
const lockEvery = 20 * time.Millisecond

// keepObjects keeps a collection from taking objects of a SQLite database until release is
// called. On PostgreSQL a statement does.
func (s *Store) keepObjects(ctx context.Context) (release func(), err error) {
	if s.objects == nil || s.dsn.path == "" {
		return func() {}, nil
	}
	lock := flock.New(s.dsn.path + ".backup.lock")
	if _, err := lock.TryRLockContext(ctx, lockEvery); err != nil {
		return nil, err
	}
	return func() { lock.Unlock() }, nil
}

// takeFromBackups makes sure that no backup runs until release is called or the
// transaction ends. It reports whether none did.
func (tx *Tx) takeFromBackups(ctx context.Context) (release func(), free bool, err error) {
	if tx.postgres() {
		err := tx.db.NewRaw("SELECT pg_try_advisory_xact_lock("+backupLock+")").Scan(ctx, &free)
		return func() {}, free, err
	}
	lock := flock.New(tx.store.dsn.path + ".backup.lock")
	free, err = lock.TryLock()
	return func() { lock.Unlock() }, free, err
}
