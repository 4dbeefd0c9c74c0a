package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"
)

const (
	// lockWait bounds how long a transaction waits for others: for a connection that
	// writes, for SQLite's other processes, and for each lock of PostgreSQL.
	lockWait = 5 * time.Second
	// queryTime bounds one statement, the wait for a connection included.
	queryTime = 30 * time.Second
	// transactionTime bounds a transaction.
	transactionTime = time.Minute
)

// deadlines is a hook that gives each of bun's queries a deadline. PostgreSQL has one
// of its own; this one also ends the wait for a connection, and for a database that
// can no longer be reached.
type deadlines struct{}

type cancelKey struct{}

func (deadlines) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if event.IQuery == nil {
		return ctx // such as BEGIN, whose context is that of the transaction
	}
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	event.Stash = map[any]any{cancelKey{}: cancel}
	return ctx
}

func (deadlines) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	if cancel, ok := event.Stash[cancelKey{}].(context.CancelFunc); ok {
		cancel()
	}
}
