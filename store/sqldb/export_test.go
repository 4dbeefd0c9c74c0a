package sqldb

import (
	"context"
	"database/sql"
	"time"
)

// In tests a transaction is shared however old it is, so that they know which writes share one.
func init() { sharedTime = time.Hour }

// Queued returns how many writes wait for their turn on SQLite.
func (db *DB) Queued() int { return len(db.writer.queue) }

// CopyLog does what happens once a second on SQLite.
func (db *DB) CopyLog() error { return db.writer.copyLog() }

// ReadConn takes a connection that reads.
func (db *DB) ReadConn(ctx context.Context) (*sql.Conn, error) { return db.reads.Conn(ctx) }

// EndUnanswered and LimitConnect set up connections to PostgreSQL.
var (
	EndUnanswered = endUnanswered
	LimitConnect  = limitConnect
)
