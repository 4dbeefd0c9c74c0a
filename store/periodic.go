package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/flock"
	"github.com/uptrace/bun"
)

// run says when a task last ran on this database, by any process, and how far it came.
type run struct {
	bun.BaseModel `bun:"table:periodic_work"`

	Task     string `bun:",pk"`
	RanAt    Time
	Position Time
}

// collecting is the task of [Store.Collect].
const collecting = "collect"

// lastRun returns the zero run of a task that never ran.
func (s *Store) lastRun(ctx context.Context, task string) (run, error) {
	last := run{Task: task}
	err := s.Read(ctx, func(v *View) error {
		return v.db.NewSelect().Model(&last).WherePK().Scan(ctx)
	})
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return last, err
}

// ran stores that a task ended now.
func (s *Store) ran(ctx context.Context, r run) error {
	return s.Write(ctx, func(tx *Tx) (err error) {
		if r.RanAt, err = tx.Now(ctx); err != nil {
			return err
		}
		_, err = tx.db.NewInsert().Model(&r).On("CONFLICT (task) DO UPDATE").
			Set("ran_at = EXCLUDED.ran_at").Set("position = EXCLUDED.position").Exec(ctx)
		return err
	})
}

// due reports whether a task did not run within every.
func (s *Store) due(ctx context.Context, task string, every time.Duration) (bool, error) {
	last, err := s.lastRun(ctx, task)
	if err != nil {
		return false, err
	}
	var now Time
	err = s.Read(ctx, func(v *View) (err error) {
		now, err = v.Now(ctx)
		return err
	})
	return now >= last.RanAt.add(every), err
}

// lockTask makes sure that one process runs a task: on SQLite by an operating
// system's lock on PATH.TASK.lock, on PostgreSQL by an advisory lock of the schema, which
// ends with ctx, too. Both end with the process. ErrCollecting when it is taken.
func (s *Store) lockTask(ctx context.Context, task string) (unlock func(), err error) {
	if s.dsn.path != "" {
		lock := flock.New(s.dsn.path + "." + task + ".lock")
		if taken, err := lock.TryLock(); err != nil {
			return nil, err
		} else if !taken {
			return nil, fmt.Errorf("%s: %w", s.dsn.path, ErrCollecting)
		}
		return func() { lock.Unlock() }, nil
	}
	tx, err := s.beginUnlimited(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	taken := false
	err = tx.NewRaw("SELECT pg_try_advisory_xact_lock(hashtextextended('hub ' || ? || ' ' || current_schema(), 0))", task).Scan(ctx, &taken)
	if err == nil && !taken {
		err = ErrCollecting
	}
	if err != nil {
		return nil, errors.Join(wrap(err), tx.Rollback())
	}
	return func() { _ = tx.Rollback() }, nil
}
