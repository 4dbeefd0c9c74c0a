package store

import (
	"context"
	"database/sql"
	"time"
)

// SQLite writes into a log, and copies the log into the database file now and then: a
// checkpoint. By default the commit that makes the log long enough does so. Here a
// goroutine does, a moment after a commit; only a log longer than maxLog makes a commit
// wait. With the default, a first push took 1.7 to 1.9 instead of 1.3 to 1.5 times as
// long as tar, zstd and curl with 1,000 files, and 2.0 to 2.4 instead of 1.3 to 1.5
// times with 10,000 (BenchmarkPushOfEverything, in turn).
const (
	maxLog          = 256 << 20 // bytes
	checkpointAfter = time.Second
)

// checkpoints makes checkpoints in a goroutine of its own.
type checkpoints struct {
	db    *sql.DB
	note  func(error) // of a failure
	due   chan struct{}
	end   context.CancelFunc
	ended chan struct{}
}

func newCheckpoints(db *sql.DB, note func(error)) *checkpoints {
	ctx, end := context.WithCancel(context.Background())
	c := &checkpoints{db: db, note: note, due: make(chan struct{}, 1), end: end, ended: make(chan struct{})}
	go c.run(ctx)
	return c
}

// wrote says that there is something in the log.
func (c *checkpoints) wrote() {
	select {
	case c.due <- struct{}{}:
	default:
	}
}

func (c *checkpoints) run(ctx context.Context) {
	defer close(c.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.due:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(checkpointAfter):
		}
		// One that fails is made up for by the next one, or by the last connection's end.
		if _, err := c.db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
			c.note(err)
		}
	}
}

func (c *checkpoints) close() {
	c.end()
	<-c.ended
	c.db.Close()
}
