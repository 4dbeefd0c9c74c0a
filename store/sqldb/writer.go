package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// writer runs all writes of SQLite, which allows one at a time, on one connection. Each commit waits for the disk.
// So that writes do not wait for it one after the other, those that arrive during a commit share the next
// transaction and its commit. Each has a savepoint: one that fails rolls back what it wrote itself, and nothing
// else. No write returns before the commit, not even one that fails: the cause may be a row that another write of the
// same transaction has added.
type writer struct {
	db    *DB
	conn  *sql.Conn
	on    *prepared // runs on conn
	queue chan *write
	ended chan struct{} // closed when work returns
	dirty atomic.Bool   // something was written since the last checkpoint
	txMu  sync.Mutex    // held while a transaction runs, or while the log is emptied

	closing sync.RWMutex // guards closed; held for reading while a write is put into the queue
	closed  bool         // the queue is closed
}

// write is a call of [DB.Write].
type write struct {
	ctx  context.Context
	f    func(*Tx) error
	err  error         // of f, or of the transaction
	done chan struct{} // closed by end, which has set err before
}

// Limits of one shared transaction: writes, and time.
const (
	sharedWrites = 256
	fewWrites    = 16 // with fewer, it lets other goroutines run first, which may be about to write
)

var sharedTime = 20 * time.Millisecond // a variable for tests

// By default the commit that makes the log 4 MB long copies it into the database file. Here a goroutine does that,
// so that no write waits for it, unless the log has 256 MB. A copied log is used again from its start, and cut to
// 8 MB, unless it is being read or written. On a busy hub it always is: there the goroutine empties it between two
// transactions, once it has longLog pages.
var writerPragmas = []string{"wal_autocheckpoint(65536)", "journal_size_limit(8388608)", "cache_size(-8000)"}

const (
	checkpoints = time.Second // between two copies of the log
	longLog     = 4096        // pages of 4 KiB
)

func newWriter(ctx context.Context, db *DB) (*writer, error) {
	conn, err := db.writes.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{
		db: db, conn: conn, on: &prepared{db: conn},
		queue: make(chan *write, sharedWrites), ended: make(chan struct{}),
	}
	go w.work()
	go w.checkpoint()
	return w, nil
}

// run runs f in a transaction that others may share, and returns when that is on disk.
func (w *writer) run(ctx context.Context, f func(*Tx) error) error {
	q := &write{ctx: ctx, f: f, done: make(chan struct{})}
	if err := w.enqueue(q); err != nil {
		return err
	}
	<-q.done // even if ctx ends: it may be committed
	return q.err
}

// enqueue adds a write to the queue, unless the writer is closed.
func (w *writer) enqueue(q *write) error {
	w.closing.RLock()
	defer w.closing.RUnlock()
	if w.closed {
		return fmt.Errorf("%w: it is closed", ErrUnavailable)
	}
	select {
	case w.queue <- q:
		return nil
	case <-q.ctx.Done():
		return q.ctx.Err()
	}
}

// work runs the writes of the queue until it is closed.
func (w *writer) work() {
	defer close(w.ended)
	for first := range w.queue {
		w.txMu.Lock()
		if err := w.share(first, sharedWrites); err != nil { // those that waited meanwhile do not wait again
			for q := w.next(); q != nil; q = w.next() {
				q.end(err)
			}
		}
		w.txMu.Unlock()
		w.dirty.Store(true)
	}
}

// share runs a write, and those in the queue, in one transaction of at most so many. If SQLite rolls that back
// because of one of them, this one fails; the others run again, each in a transaction of its own. An error means
// that a transaction could not begin, as when another program has locked the database. All writes have ended then.
func (w *writer) share(first *write, most int) error {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		first.end(err)
		return err
	}
	began := time.Now()
	var batch []*write
	whole := true // SQLite has not rolled back the transaction
	for q := first; q != nil; q = w.next() {
		batch = append(batch, q)
		whole = w.runOne(q)
		if !whole || len(batch) == most || time.Since(began) > sharedTime {
			break
		}
		if len(batch) < fewWrites && len(w.queue) == 0 {
			runtime.Gosched()
		}
	}
	var commit error
	if whole {
		commit = w.exec("COMMIT")
	}
	if whole && commit == nil {
		w.db.failed.Store(false)
		for _, q := range batch {
			q.end(q.err)
		}
		return nil
	}
	_ = w.exec("ROLLBACK") // it fails if SQLite has rolled back already
	if last := batch[len(batch)-1]; !whole || most == 1 {
		last.end(cmp.Or(last.err, commit)) // it is why the transaction was rolled back
		batch = batch[:len(batch)-1]
	}
	var locked error
	for _, q := range batch {
		if locked == nil {
			locked = w.share(q, 1)
		} else {
			q.end(locked)
		}
	}
	return locked
}

// end makes run return.
func (q *write) end(err error) {
	q.err = err
	close(q.done)
}

// next returns the next write of the queue, nil if it is empty.
func (w *writer) next() *write {
	select {
	case q := <-w.queue:
		return q
	default:
		return nil
	}
}

// runOne runs a write in a savepoint, and reports whether the transaction is still open: if the disk is full or
// broken, SQLite rolls back all of it.
func (w *writer) runOne(q *write) (whole bool) {
	if q.err = q.ctx.Err(); q.err != nil {
		return true
	}
	if q.err = w.exec("SAVEPOINT one"); q.err != nil {
		return false
	}
	if q.err = call(q.f, &Tx{View{ctx: q.ctx, db: w.on, of: w.db}, At(time.Now())}); q.err != nil {
		_ = w.note(q.err)
		if err := w.exec("ROLLBACK TO one"); err != nil {
			return false
		}
	}
	if err := w.exec("RELEASE one"); err != nil {
		q.err = cmp.Or(q.err, err)
		return false
	}
	return true
}

// call runs f, whose panic must not end the writer.
func call(f func(*Tx) error, tx *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f(tx)
}

// note returns err. If it says that the disk has refused a write, it sets failed: see [DB.Ready].
func (w *writer) note(err error) error {
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		switch lite.Code() & 0xff { // the rest says more about the cause
		case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
			w.db.failed.Store(true)
		}
	}
	return err
}

// exec runs a statement about the transaction itself.
func (w *writer) exec(text string) error {
	_, err := w.on.exec(context.Background(), text, nil)
	return w.note(wrap(err))
}

// checkpoint copies the log from time to time until the writer ends.
func (w *writer) checkpoint() {
	for {
		select {
		case <-w.ended:
			return
		case <-time.After(checkpoints):
		}
		if w.dirty.Swap(false) {
			_ = w.note(wrap(w.copyLog()))
		}
	}
}

// copyLog copies the log into the database file, and empties it if it is long.
func (w *writer) copyLog() error {
	var busy, pages, copied int
	err := w.db.writes.QueryRow("PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied)
	if err != nil || pages < longLog {
		return err
	}
	w.dirty.Store(true)   // try again
	if copied < pages/2 { // a long read, such as a backup, still needs the rest
		return nil
	}
	w.txMu.Lock()
	defer w.txMu.Unlock()
	// Present readers of the log end soon, and new ones do not need it.
	_, err = w.db.writes.Exec("PRAGMA busy_timeout = 100; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = 5000")
	return err
}

// close waits for all writes in the queue. Later ones fail.
func (w *writer) close() {
	w.closing.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.closing.Unlock()
	<-w.ended
	w.on.close()
	w.conn.Close()
}
