package store

import (
	"context"
	"database/sql"
	"time"
)

// SQLite writes into a log, and copies what stands there into the database file
// now and then: a checkpoint. Left to itself it does so within whichever commit
// made the log long enough. Here it happens beside the commits, a moment after
// the first of them; only a log that outgrows maxLog makes a commit wait.
const (
	maxLog          = 256 << 20 // bytes
	checkpointAfter = time.Second
)

type checkpoints struct {
	db    *sql.DB
	due   chan struct{}
	end   context.CancelFunc
	ended chan struct{}
}

func newCheckpoints(db *sql.DB) *checkpoints {
	ctx, end := context.WithCancel(context.Background())
	c := &checkpoints{db: db, due: make(chan struct{}, 1), end: end, ended: make(chan struct{})}
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
		_, _ = c.db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	}
}

func (c *checkpoints) close() {
	c.end()
	<-c.ended
	c.db.Close()
}
