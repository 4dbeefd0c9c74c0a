// Package sqldb opens a database, SQLite or PostgreSQL, and runs SQL in it. The same text runs on both, see
// query.go.
//
// A [View] reads. [DB.Write] is the only way to change something: it runs a function in a transaction, which is
// on disk when Write returns. On SQLite, concurrent writes share one transaction, see writer.go. The package must
// know no table but the one of the steps that Migrate has applied.
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

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	path   string  // of SQLite's file, absolute; "": PostgreSQL
	writes *sql.DB // a pool of its own, so that slow reads keep no write waiting for a connection
	reads  *sql.DB
	view   runner      // runs texts on reads
	lists  *bun.DB     // builds queries for reads, see View.Select
	writer *writer     // of SQLite; nil: PostgreSQL
	failed atomic.Bool // SQLite's disk has refused a write, see Ready
}

// Options say how to open a database.
type Options struct {
	Create      bool // create an SQLite file that does not exist
	Connections int  // to PostgreSQL, at most; 0: DefaultConnections
}

const (
	// lockTime bounds how long a transaction waits for others: for a connection to write with, for other
	// programs that use SQLite's file, and for each lock of PostgreSQL.
	lockTime = 5 * time.Second
	// queryTime bounds one statement on PostgreSQL, the wait for a connection included.
	queryTime = 30 * time.Second
	// transactionTime bounds a transaction on PostgreSQL.
	transactionTime = time.Minute
)

// Open opens sqlite:PATH or postgres://…, without creating tables. The error is a *[MissingError]
// when an SQLite file does not exist, and ErrAddress when the address is malformed.
func Open(ctx context.Context, address string, opts Options) (*DB, error) {
	db := &DB{path: Path(address)}
	var err error
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
	return errors.Join(db.reads.Close(), db.writes.Close()) // the last one to close copies the log
}

// IsPostgres reports whether the database is PostgreSQL.
func (db *DB) IsPostgres() bool { return db.writer == nil }

// Connections returns how many connections are in use.
func (db *DB) Connections() (read, write int) {
	return db.reads.Stats().InUse, db.writes.Stats().InUse
}

// ping returns ErrUnavailable if the database does not answer.
func (db *DB) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	return unavailable(db.reads.PingContext(ctx))
}

// Ready returns nil if the database accepts writes. It returns ErrUnavailable after SQLite's disk has refused a
// write, until one succeeds, and for a PostgreSQL that is read-only, such as a standby. After a failure it tries a
// write itself: a load balancer that has seen the failure lets no other writes through. A full disk is no
// failure: reads succeed, and so do writes as soon as there is space.
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

// View returns a view outside of any transaction: each query reads what is committed when it runs.
func (db *DB) View(ctx context.Context) View { return View{ctx: ctx, db: db.view, of: db} }

// Snapshot runs f with a view of one moment, which does not see what is committed while f runs. It is for tasks
// that read much. They may take long, but SQLite's log grows until f returns.
func (db *DB) Snapshot(ctx context.Context, f func(v View) error) error {
	opts := sql.TxOptions{ReadOnly: true}
	if db.IsPostgres() {
		opts.Isolation = sql.LevelRepeatableRead // SQLite has no other
	}
	tx, err := db.reads.BeginTx(ctx, &opts)
	if err != nil {
		return unavailable(err)
	}
	defer tx.Rollback()
	v := View{ctx: ctx, db: &prepared{db: tx}, of: db, long: true}
	if db.IsPostgres() {
		v.db = numbered{db: tx}
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
	at Time // see Now; 0: nobody has asked yet
}

// Write runs f in a transaction, which is on disk when Write returns nil.
//
// f may run more than once, so it must reset whatever it sets outside of itself. Slow work belongs before
// Write: on SQLite all other writes wait for f. ErrUnavailable if the transaction could not begin within 5 s, did
// not end within a minute, or was rolled back ten times because of others.
func (db *DB) Write(ctx context.Context, f func(tx *Tx) error) error {
	if db.writer != nil {
		return db.writer.run(ctx, f)
	}
	err := db.transact(ctx, f)
	for try := 1; try < 10 && isConflict(err) && ctx.Err() == nil; try++ {
		time.Sleep(rand.N(time.Duration(try) * 10 * time.Millisecond)) // so that the same transactions do not meet again
		err = db.transact(ctx, f)
	}
	return err
}

// transact is one try of Write on PostgreSQL.
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
	return conn.Raw(func(driver any) error {
		p := &pipeline{conn: driver.(*stdlib.Conn).Conn()}
		defer p.end()
		p.batch.Queue("BEGIN")
		if err := f(&Tx{View: View{ctx: ctx, db: p, of: db}}); err != nil {
			return err
		}
		return p.commit(ctx)
	})
}
