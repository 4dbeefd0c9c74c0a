package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
)

// SQLite has one writer at a time, and a commit waits for the disk. So that writers do not
// wait for the disk one after the other, those that come at the same time share a
// transaction, and its commit:
//
//   - They take turns in the order in which they came. Whoever has the turn begins the
//     transaction, runs its own write in it and then those of all who wait, and commits. It
//     runs them itself: to wake each of them takes a quarter of the time of its write.
//   - Before it commits few writes, it lets others run, who may be about to write.
//   - Each one but the first has a savepoint, so that one that fails, panics, or whose
//     context ends takes back what it wrote and nothing else. A statement is not
//     interrupted, because SQLite would roll back the whole transaction; the end of a
//     context is noticed before the next one.
//   - The next transaction begins when the disk has the last one. SQLite would let it begin
//     before, but a write whose sync fails would have been seen, and more commits of fewer
//     writes take as much time as the sync.
//   - All return when the shared transaction is committed, and on disk. When that fails,
//     all of them fail. One that fails itself waits as well, since its reason may be what
//     another one wrote; if that was not committed, it runs again.
//   - When SQLite rolls back the whole transaction on its own, such as after an error of
//     the disk, the others run again in a new one.
//   - A transaction that is large enough, or old enough, takes no more writes. What need
//     not be on disk never shares one with what has to be: it may be large.
type group struct {
	db     *bun.DB     // one connection
	failed atomic.Bool // the disk failed to write or to sync, see renew

	rights atomic.Int64 // how often rights may have changed, see [Tx.SameRights]

	mu    sync.Mutex
	busy  bool      // somebody has the turn
	queue []*queued // those who wait for it

	// All that follows belongs to whoever has the turn.
	conn       *bun.Conn // nil: not connected yet
	prepared   *prepared // on conn
	open       *sharedTx // nil: no transaction is open
	version    int64     // of the database, which other connections' commits change
	commits    int       // how many there were
	savepoints int       // the same
}

// queued is a write that waits for its turn, or for whoever has the turn to run it.
type queued struct {
	ended  func() error // why it must end, nil: it need not
	synced bool
	f      func(*liteConn) error // must not end its goroutine; nil: it needs the turn itself
	turn   chan struct{}         // closed when it has the turn, or was run

	// What follows is known when it was run.
	ran      bool
	err      error
	panicked string // by f: the value and the stack
}

// sharedTx is one transaction of SQLite, and the writes in it.
type sharedTx struct {
	synced bool
	began  time.Time
	ran    []*queued // the first one has the turn
	writes int       // how many of them are in it
	doubt  bool      // a statement failed, after which SQLite may have rolled all back
	rights bool      // one of the writes changes rights
	err    error     // of the commit
}

// A transaction with so many writes, or one that began so long ago, takes no more.
const sharedWrites = 256

// So many writes are worth a commit: to let others run before it only keeps these waiting.
const fewWrites = 16

var sharedTime = 20 * time.Millisecond

// errRolledBack says that SQLite rolled back a transaction that others shared.
var errRolledBack = errors.New("the transaction was rolled back with another one")

func newGroup(db *bun.DB) *group { return &group{db: db} }

// write runs f in a transaction, which it may share with others.
func (g *group) write(ctx context.Context, synced bool, f func(*liteConn) error) error {
	ctx, cancel := context.WithTimeout(ctx, transactionTime)
	defer cancel()
	waiting, stop := context.WithTimeout(ctx, lockWait)
	defer stop()
	q := &queued{ended: ctx.Err, synced: synced, f: f}
	if err := g.enter(waiting, q); err != nil {
		return err
	}
	if !q.ran {
		g.lead(waiting, q)
	}
	if q.panicked != "" {
		panic(q.panicked)
	}
	return q.err
}

// lead has the turn: it runs the first write, and those that wait, in one transaction.
func (g *group) lead(waiting context.Context, first *queued) {
	defer g.leave()
	if first.err = g.begin(waiting, first.synced); first.err != nil {
		return
	}
	defer g.end(g.open) // also when the first one panics
	for q := first; q != nil; q = g.next() {
		g.open.ran = append(g.open.ran, q)
		g.run(q)
	}
}

// next takes the next write that may share the open transaction, nil if there is none.
func (g *group) next() *queued {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 && g.open != nil && g.open.writes < fewWrites {
		g.mu.Unlock()
		runtime.Gosched() // see above: somebody may come
		g.mu.Lock()
	}
	if b := g.open; b == nil || len(g.queue) == 0 || !b.sharable() || g.queue[0].f == nil || g.queue[0].synced != b.synced {
		return nil
	}
	return g.pop()
}

func (g *group) pop() *queued {
	q := g.queue[0]
	g.queue = slices.Delete(g.queue, 0, 1)
	return q
}

// run runs a write in the open transaction.
func (g *group) run(q *queued) {
	b := g.open
	first := q == b.ran[0]
	if !first {
		g.savepoints++
		if err := g.exec("SAVEPOINT " + savepoint); err != nil {
			g.fail(err)
			q.err = errRolledBack
			return
		}
	}
	finished := false
	defer func() {
		if finished {
			return
		}
		g.undo()
		if !first { // else it is its own goroutine
			q.panicked = withStack(recover()) // <nil>: it ends the goroutine
		}
	}()
	q.err = g.note(q.f(&liteConn{Conn: *g.conn, group: g, ended: q.ended}))
	finished = true
	if q.err = cmp.Or(q.err, q.ended()); q.err != nil {
		g.undo()
		return
	}
	if !first {
		if err := g.exec("RELEASE " + savepoint); err != nil {
			g.fail(err)
			q.err = errRolledBack
			return
		}
		b.doubt = false
	}
	b.writes++
}

// end commits a transaction that is still open, and tells those whose writes were run in it.
func (g *group) end(b *sharedTx) {
	if g.open != nil {
		g.commit()
	}
	for i, q := range b.ran {
		switch {
		case q.err == nil:
			q.err = b.err
		case b.err != nil && i > 0 && q.ended() == nil:
			q.err = errRolledBack
		}
		if i > 0 {
			q.ran = true
			close(q.turn)
		}
	}
}

const savepoint = "one_write"

// undo takes back what the write that has the turn wrote.
func (g *group) undo() {
	switch {
	case g.open == nil:
	case g.open.writes == 0:
		g.fail(errRolledBack)
	default:
		err := g.exec("ROLLBACK TO " + savepoint)
		if err == nil {
			err = g.exec("RELEASE " + savepoint)
		}
		if g.open.doubt = false; err != nil {
			g.fail(err)
		}
	}
}

// fail ends the open transaction: none of the writes in it took place.
func (g *group) fail(err error) {
	_ = g.exec("ROLLBACK") // SQLite may have done so
	_ = g.note(err)
	b := g.open
	g.open = nil
	b.err = fmt.Errorf("%w: %w", errRolledBack, err)
}

// enter waits for the turn, or until somebody else ran the write.
func (g *group) enter(ctx context.Context, q *queued) error {
	g.mu.Lock()
	if err := ctx.Err(); err != nil || !g.busy {
		g.busy = g.busy || err == nil
		g.mu.Unlock()
		return err
	}
	q.turn = make(chan struct{})
	g.queue = append(g.queue, q)
	g.mu.Unlock()
	select {
	case <-q.turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(g.queue, q)
	if i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
	}
	g.mu.Unlock()
	if i < 0 { // it has the turn, which somebody else may wait for, or it is run
		if <-q.turn; q.ran {
			return nil
		}
		g.leave()
	}
	return ctx.Err()
}

// leave hands the turn on.
func (g *group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy = len(g.queue) > 0; g.busy {
		close(g.pop().turn)
	}
}

func (b *sharedTx) sharable() bool {
	return !b.doubt && b.writes < sharedWrites && time.Since(b.began) < sharedTime
}

// begin begins a transaction. What is left of the wait goes to the database.
func (g *group) begin(waiting context.Context, synced bool) error {
	if err := g.connect(waiting); err != nil {
		return err
	}
	end, _ := waiting.Deadline()
	left := max(0, time.Until(end).Milliseconds())
	synchronous := "NORMAL"
	if synced {
		synchronous = "FULL" // a commit is on disk before its answer leaves
	}
	if err := g.renew(waiting); err != nil {
		return err
	}
	_, err := g.conn.Conn.ExecContext(waiting, fmt.Sprintf("PRAGMA busy_timeout = %d; PRAGMA synchronous = %s; BEGIN IMMEDIATE", left, synchronous))
	if err != nil {
		_ = g.exec("ROLLBACK") // it may have begun just before waiting ended
		if errors.Is(err, sql.ErrConnDone) {
			g.disconnect()
		}
		return g.note(err)
	}
	g.open = &sharedTx{synced: synced, began: time.Now()}
	return g.noteOthers()
}

// noteOthers counts commits of other connections, such as those of other processes, as a
// change of rights.
func (g *group) noteOthers() error {
	var version int64
	if err := g.prepared.ask(&question{dest: &version, query: "PRAGMA data_version"}); err != nil {
		g.fail(err)
		return err
	}
	if version != g.version {
		g.version = version
		g.rights.Add(1)
	}
	return nil
}

// renew copies the log of SQLite into the database file and syncs that, if the disk has failed
// since. A system drops what it could not write and reports it once: the next sync of the
// log would succeed without what [Store.WriteUnsynced] had left in it, and a write that refers
// to that would be acknowledged. The copy has all of it, and the log begins anew.
func (g *group) renew(ctx context.Context) error {
	if !g.failed.Swap(false) {
		return nil
	}
	var busy, frames, copied int
	checkpoint := func() error {
		return g.conn.Conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &frames, &copied)
	}
	err := checkpoint()
	for err == nil && busy != 0 { // another checkpoint, or a long read
		select {
		case <-ctx.Done():
			err = fmt.Errorf("%w: after a failure of the disk, its log is in use", ErrUnavailable)
		case <-time.After(10 * time.Millisecond):
			err = checkpoint()
		}
	}
	if err != nil {
		g.failed.Store(true)
	}
	return err
}

// note remembers that the disk failed, if an error says so.
func (g *group) note(err error) error {
	if diskRefused(err) {
		g.failed.Store(true)
	}
	return err
}

func (g *group) connect(ctx context.Context) error {
	if g.conn != nil {
		return nil
	}
	conn, err := g.db.Conn(ctx)
	if err == nil {
		g.conn, g.version = &conn, -1 // another connection's says nothing
		g.prepared = newPrepared(conn.Conn, g.db.Dialect().Tables())
	}
	return err
}

func (g *group) disconnect() {
	g.prepared.disconnect()
	g.conn = nil
}

// commit ends the open transaction.
func (g *group) commit() {
	if g.failed.Load() { // a checkpoint, since the transaction began
		g.fail(fmt.Errorf("%w: its disk failed", ErrUnavailable))
		return
	}
	b := g.open
	g.open = nil
	g.commits++
	if b.err = g.note(g.exec("COMMIT")); b.err != nil {
		_ = g.exec("ROLLBACK") // SQLite leaves some open
	}
	if b.rights {
		g.rights.Add(1) // after it can be seen
	}
}

// exec runs a statement of a transaction that may be shared.
func (g *group) exec(statement string) error {
	_, err := g.prepared.exec(statement)
	return err
}

// close waits for the write that has the turn, and disconnects.
func (g *group) close() {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if g.enter(ctx, &queued{synced: true}) != nil {
		return
	}
	defer g.leave()
	if g.conn != nil {
		g.disconnect()
	}
}
