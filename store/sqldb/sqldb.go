// Package sqldb opens a database, SQLite or PostgreSQL, and runs SQL in it.
//
// A View reads. Write is the only way to change something: it runs a function in a transaction,
// which is on disk when Write returns. The package must know no table: what is stored is the
// business of its callers.
package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	path   string  // of SQLite's file, absolute; "": PostgreSQL
	writes *sql.DB // two pools, so that slow reads keep no write waiting for a connection
	reads  *sql.DB
	view   runner  // reads, with texts as the database takes them
	lists  *bun.DB // reads, for lists with filters
	writer *writer // of SQLite; nil: PostgreSQL
	failed atomic.Bool
}

// Options say how to open a database.
type Options struct {
	Create      bool // create an SQLite file that does not exist
	Connections int  // to PostgreSQL, at most; 0: DefaultConnections
}

const (
	// lockTime bounds how long a transaction waits for others: for a connection that writes, for
	// other programs on SQLite's file, and for each lock of PostgreSQL.
	lockTime = 5 * time.Second
	// queryTime bounds one statement on PostgreSQL, the wait for a connection included.
	queryTime = 30 * time.Second
	// transactionTime bounds a transaction on PostgreSQL.
	transactionTime = time.Minute
)

// Open opens sqlite:PATH or postgres://…, without creating tables. The error is a *[MissingError]
// when an SQLite file does not exist, and ErrAddress when the address is malformed.
func Open(ctx context.Context, address string, opts Options) (*DB, error) {
	db, err := &DB{path: Path(address)}, error(nil)
	switch {
	case db.path != "":
		err = db.openSQLite(ctx, opts.Create)
	case strings.HasPrefix(address, "postgres://"), strings.HasPrefix(address, "postgresql://"):
		err = db.openPostgres(address, opts.Connections)
	default:
		err = fmt.Errorf("%w: it is sqlite:PATH or postgres://…", ErrAddress)
	}
	if err != nil {
		return nil, wrap(err)
	}
	if err := db.ping(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close waits for the last write, and closes all connections.
func (db *DB) Close() error {
	if db.writer != nil {
		db.writer.close()
		db.view.(*prepared).close()
	}
	return errors.Join(db.reads.Close(), db.writes.Close()) // the writer's last, which copies the log
}

// IsPostgres reports whether the database is PostgreSQL.
func (db *DB) IsPostgres() bool { return db.writer == nil }

// Connections returns how many connections are in use.
func (db *DB) Connections() (read, write int) {
	return db.reads.Stats().InUse, db.writes.Stats().InUse
}

// ping asks the database whether it answers.
func (db *DB) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	return unavailable(db.reads.PingContext(ctx))
}

// Ready reports whether the database takes writes: ErrUnavailable after a write that SQLite's disk
// refused, until one succeeds, and from a PostgreSQL that is read-only, such as a standby. After a
// failure it writes itself, because where a load balancer asks it, no other writes come. A full
// disk does not count: reads go on, and so do writes once there is space.
func (db *DB) Ready(ctx context.Context) error {
	if err := db.ping(ctx); err != nil {
		return err
	}
	if !db.IsPostgres() && !db.failed.Load() {
		return nil
	}
	return db.Write(ctx, func(tx *Tx) error {
		if !tx.IsPostgres() {
			_, err := tx.Exec("PRAGMA user_version = 0") // a number that nothing reads, in the first page of the file
			return err
		}
		var readOnly string
		err := tx.One(Row(&readOnly), "SHOW transaction_read_only")
		if err == nil && readOnly == "on" {
			err = fmt.Errorf("%w: it is read-only", ErrUnavailable)
		}
		return err
	})
}

// View returns a view that reads what is committed.
func (db *DB) View(ctx context.Context) View { return View{ctx: ctx, db: db.view, of: db} }

// Snapshot runs f with a view of what is committed now, without what is written meanwhile. It is for
// tasks that read much and long: SQLite's log grows until f returns.
func (db *DB) Snapshot(ctx context.Context, f func(v View) error) error {
	opts := sql.TxOptions{ReadOnly: true}
	if db.IsPostgres() {
		opts.Isolation = sql.LevelRepeatableRead // SQLite knows no other
	}
	tx, err := db.reads.BeginTx(ctx, &opts)
	if err != nil {
		return unavailable(err)
	}
	defer tx.Rollback()
	v := View{ctx: ctx, db: &prepared{db: tx}, of: db, long: true}
	if db.IsPostgres() {
		v.db = numbered{tx}
		_, err = tx.ExecContext(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
	}
	if err != nil {
		return wrap(err)
	}
	return f(v)
}

// Tx is a transaction: a view that also writes.
type Tx struct {
	View
	at Time // see Now
}

// Write runs f in a transaction, which is on disk when Write returns nil.
//
// f may run more than once: it sets variables outside of itself to fresh values only. Slow work is
// done before: on SQLite all other writes wait for f, and share its commit. ErrUnavailable when the
// transaction could not begin within 5 s, or end within a minute, or was rolled back too often.
func (db *DB) Write(ctx context.Context, f func(tx *Tx) error) error {
	if db.writer != nil {
		return db.writer.run(ctx, f)
	}
	err := db.transact(ctx, f)
	for try := 1; try < 10 && isConflict(err) && ctx.Err() == nil; try++ {
		time.Sleep(rand.N(time.Duration(try) * 10 * time.Millisecond)) // so that those that lost do not meet again
		err = db.transact(ctx, f)
	}
	return err
}

func (db *DB) transact(ctx context.Context, f func(tx *Tx) error) error {
	waiting, stop := context.WithTimeout(ctx, lockTime)
	conn, err := db.writes.Conn(waiting)
	stop()
	if err != nil {
		return cmp.Or(ctx.Err(), unavailable(err))
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, transactionTime)
	defer cancel()
	begun, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return unavailable(err)
	}
	defer begun.Rollback() // after a commit it does nothing
	tx := &Tx{View: View{ctx: ctx, db: numbered{begun}, of: db}}
	if err := f(tx); err != nil {
		return err
	}
	if err = wrap(begun.Commit()); err != nil && !errors.Is(err, ErrFull) && !isConflict(err) {
		err = unavailable(err) // it may have been committed
	}
	return err
}
