package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/migrate"

	"example.com/projecthub/store/migrations"
)

// ErrInUse says that another hub holds the SQLite file.
var ErrInUse = errors.New("another hub is running on this database")

// Lock claims the database for one serving hub: SQLite by an operating system's
// lock on PATH.lock, which ends with the process however it ends. PostgreSQL
// serves any number of hubs, so there the lock is empty. ErrInUse when it is taken.
func (s *Store) Lock() (unlock func() error, err error) {
	if s.dsn.path == "" {
		return func() error { return nil }, nil
	}
	lock := flock.New(s.dsn.path + ".lock")
	taken, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !taken {
		return nil, fmt.Errorf("%s: %w%s", s.dsn.path, ErrInUse, holder(lock.Path()))
	}
	// If the disk of the hub before failed, some of its log may not be on disk, see renew.
	_, _ = s.write.Exec("PRAGMA wal_checkpoint(PASSIVE)")
	_ = os.WriteFile(lock.Path(), strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o600) // a full disk is no reason not to serve
	return lock.Unlock, nil
}

// holder names the process that wrote its ID to a lock's file.
func holder(path string) string {
	text, _ := os.ReadFile(path)
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

// migrationLock is the number of PostgreSQL's advisory lock for migrating.
const migrationLock int64 = 7_283_940_156

// ErrSchemaRights says that the database lets the hub's role not change the schema.
var ErrSchemaRights = errors.New("the database's role has no right to change the schema")

// Migrate brings the schema up to date and returns the names of the steps that
// it took. On SQLite the caller holds [Store.Lock], and the file is copied first, to
// PATH.before-STEP; on PostgreSQL any number of hubs may call it at once. A schema that
// is up to date needs no right to change it; ErrSchemaRights when there is none.
func (s *Store) Migrate(ctx context.Context) ([]string, error) {
	outdated, err := s.outdated(ctx)
	if err != nil || !outdated {
		return nil, err
	}
	done, err := s.migrate(ctx, -1)
	if isNoRight(err) {
		err = fmt.Errorf("%w: %w", ErrSchemaRights, err)
	}
	return done, err
}

// migrate takes the first steps up to a number, all of them if it is negative.
func (s *Store) migrate(ctx context.Context, most int) ([]string, error) {
	steps, err := migrations.All()
	if err != nil {
		return nil, err
	}
	if s.dsn.path == "" {
		lock, err := s.beginUnlimited(ctx)
		if err != nil {
			return nil, wrap(err)
		}
		defer lock.Rollback()
		if _, err := lock.NewRaw("SELECT pg_advisory_xact_lock(?)", migrationLock).Exec(ctx); err != nil {
			return nil, wrap(err)
		}
	}
	m := migrate.NewMigrator(s.write, steps, migrate.WithTableName(migrations.Marks))
	if err := m.Init(ctx); err != nil {
		return nil, wrap(err)
	}
	if err := checkKnown(ctx, m); err != nil {
		return nil, err
	}
	all, err := m.MigrationsWithStatus(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	if err := s.copyBefore(ctx, all); err != nil {
		return nil, err
	}
	var done []string
	for i, step := range all.Unapplied() {
		if most >= 0 && len(all.Applied())+i >= most {
			break
		}
		step.GroupID = all.LastGroupID() + 1
		if err := step.Up(ctx, m, &step); err != nil { // not m.Migrate, which marks it later
			return done, wrap(fmt.Errorf("%s: %w", step, err))
		}
		done = append(done, step.String())
	}
	return done, nil
}

// copyBefore copies a SQLite file before its schema changes, next to it.
func (s *Store) copyBefore(ctx context.Context, steps migrate.MigrationSlice) error {
	next := steps.Unapplied()
	if s.dsn.path == "" || len(next) == 0 || len(steps.Applied()) == 0 {
		return nil
	}
	copied := s.dsn.path + ".before-" + next[0].Name
	if made, err := makePrivate(copied); err != nil || !made {
		return err // an interrupted migration made it
	}
	if _, err := s.write.NewRaw("VACUUM INTO ?", copied).Exec(ctx); err != nil {
		return errors.Join(fmt.Errorf("copy the database to %s before its schema changes: %w", copied, wrap(err)), os.Remove(copied))
	}
	return nil
}

// beginUnlimited begins a transaction that holds locks for a long time, without any of
// a session's limits of time. A pooler, too, keeps its connection for it alone: a lock of
// a session would stay with a connection that the pooler gives to somebody else.
func (s *Store) beginUnlimited(ctx context.Context) (bun.Tx, error) {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return tx, err
	}
	if _, err := tx.ExecContext(ctx, strings.Join(withoutLimits(), ";")); err != nil {
		return tx, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// ErrSchemaOld says that the database is to be migrated first.
var ErrSchemaOld = errors.New("the database's schema is not up to date")

// CheckSchema returns ErrSchemaOld unless the schema is up to date.
func (s *Store) CheckSchema(ctx context.Context) error {
	outdated, err := s.outdated(ctx)
	if err == nil && outdated {
		err = ErrSchemaOld
	}
	return err
}

// ErrRights says that the hub's role may not read the database's tables.
var ErrRights = errors.New("the database's role has no right to its tables")

// outdated reports whether steps are to be taken. It fails where a newer hub has taken
// too many.
func (s *Store) outdated(ctx context.Context) (bool, error) {
	steps, err := migrations.All()
	if err != nil {
		return false, err
	}
	m := migrate.NewMigrator(s.read, steps, migrate.WithTableName(migrations.Marks))
	found, err := m.MigrationsWithStatus(ctx)
	if isNoRight(err) {
		return false, fmt.Errorf("%w: %w", ErrRights, err)
	}
	if err != nil && !isNoTable(err) {
		return false, fmt.Errorf("read which migrations were taken: %w", wrap(err))
	}
	if err != nil || len(found.Unapplied()) > 0 {
		return true, nil
	}
	return false, checkKnown(ctx, m)
}

// checkKnown refuses a database that a newer hub has changed beyond what one
// release ahead may do.
func checkKnown(ctx context.Context, m *migrate.Migrator) error {
	missing, err := m.MissingMigrations(ctx)
	if err != nil {
		return wrap(err)
	}
	if len(missing) > releaseAhead {
		return fmt.Errorf("the database was made by a newer hub (it has %d migrations that this one does not know): run that hub instead", len(missing))
	}
	return nil
}

// releaseAhead is the number of migrations that a database may be ahead of this
// hub: a release adds at most this many, and stays readable for the release before.
const releaseAhead = 16
