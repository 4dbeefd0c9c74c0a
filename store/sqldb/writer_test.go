package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

// crew writes at the same time to one SQLite file, in a transaction that it shares.
type crew struct {
	*testing.T
	db  *sqldb.DB
	all sync.WaitGroup
}

func newCrew(t *testing.T) *crew {
	t.Parallel()
	return &crew{T: t, db: open(t, storetest.SQLite(t))}
}

// hold writes a name and keeps the turn until release is called.
func (c *crew) hold(name string) (release func(), ended <-chan error) {
	c.Helper()
	ready, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	c.all.Go(func() {
		first := true
		done <- c.db.Write(context.Background(), func(tx *sqldb.Tx) error {
			if first {
				first = false
				close(ready)
				<-free
			}
			return add(tx, name)
		})
	})
	<-ready
	return func() { close(free) }, done
}

// write starts a write and waits until it is in the queue.
func (c *crew) write(ctx context.Context, f func(*sqldb.Tx) error) (ended <-chan error) {
	c.Helper()
	done := make(chan error, 1)
	before := c.db.Queued()
	c.all.Go(func() { done <- c.db.Write(ctx, f) })
	for c.db.Queued() == before {
		runtime.Gosched()
	}
	return done
}

func (c *crew) wantStored(want ...string) {
	c.Helper()
	if got := stored(c.T, c.db); !slices.Equal(got, want) {
		c.Errorf("stored are %v, want %v", got, want)
	}
}

func TestWrite_FailsAlone(t *testing.T) {
	c := newCrew(t)
	refused := errors.New("refused")
	release, first := c.hold("first")
	after := func(what func() error) func(*sqldb.Tx) error {
		return func(tx *sqldb.Tx) error { return errors.Join(add(tx, "gone"), what()) }
	}
	fails := c.write(t.Context(), after(func() error { return refused }))
	good := c.write(t.Context(), func(tx *sqldb.Tx) error { return add(tx, "good") })
	panics := c.write(t.Context(), after(func() error { panic("a fault") }))
	clashes := c.write(t.Context(), func(tx *sqldb.Tx) error { return add(tx, "good") })
	last := c.write(t.Context(), func(tx *sqldb.Tx) error { return add(tx, "last") })
	release()
	for name, got := range map[string]struct {
		ended <-chan error
		want  error
	}{
		"the first": {first, nil}, "one that fails": {fails, refused}, "a good one": {good, nil},
		"one that clashes": {clashes, sqldb.ErrExists}, "the last": {last, nil},
	} {
		if err := <-got.ended; !errors.Is(err, got.want) {
			t.Errorf("%s: %v, want %v", name, err, got.want)
		}
	}
	if err := <-panics; err == nil || !strings.Contains(err.Error(), "a fault\n") ||
		!strings.Contains(err.Error(), "writer_test.go") {
		t.Errorf("one that panics: %v, want the fault with its stack", err)
	}
	c.wantStored("first", "good", "last")
}

func TestWrite_ReturnsAfterSharedCommit(t *testing.T) {
	c := newCrew(t)
	release, first := c.hold("first")
	running, free := make(chan struct{}), make(chan struct{})
	slow := c.write(t.Context(), func(tx *sqldb.Tx) error {
		close(running)
		<-free
		return add(tx, "slow")
	})
	release()
	<-running
	select {
	case err := <-first:
		t.Errorf("it returned %v before it was committed", err)
	default:
	}
	c.wantStored()
	close(free)
	if err := errors.Join(<-first, <-slow); err != nil {
		t.Error(err)
	}
	c.wantStored("first", "slow")
}

func TestWrite_FailedCommitFailsAlone(t *testing.T) {
	c := newCrew(t)
	err := c.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec("CREATE TABLE parents (id INTEGER PRIMARY KEY)")
		_, again := tx.Exec("CREATE TABLE children (id INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)")
		return errors.Join(err, again)
	})
	if err != nil {
		t.Fatal(err)
	}
	release, first := c.hold("first")
	orphan := c.write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec("INSERT INTO children VALUES (1)")
		return err
	})
	runs := 0
	refused := errors.New("refused")
	fails := c.write(t.Context(), func(*sqldb.Tx) error {
		runs++
		return refused
	})
	release()
	if a, b := <-first, <-orphan; a != nil || !errors.Is(b, sqldb.ErrReference) {
		t.Errorf("of two writes whose commit failed, the innocent one returned %v, the other one %v", a, b)
	}
	if err := <-fails; !errors.Is(err, refused) || runs != 2 {
		t.Errorf("a write that saw what was not committed ran %d times and returned %v", runs, err)
	}
	c.wantStored("first")
}

func TestWrite_CancelledTakesItselfOut(t *testing.T) {
	c := newCrew(t)
	ctx, cancel := context.WithCancel(t.Context())
	release, first := c.hold("first")
	inside := c.write(ctx, func(tx *sqldb.Tx) error {
		if err := add(tx, "inside"); err != nil {
			return err
		}
		cancel()
		return tx.Context().Err()
	})
	last := c.write(t.Context(), func(tx *sqldb.Tx) error { return add(tx, "last") })
	waits, giveUp := context.WithCancel(t.Context())
	waiting := c.write(waits, func(*sqldb.Tx) error { t.Error("it ran after its context ended"); return nil })
	giveUp()
	release()
	for name, ended := range map[string]<-chan error{"waits": waiting, "runs": inside} {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("one that %s: %v", name, err)
		}
	}
	if err := errors.Join(<-first, <-last); err != nil {
		t.Error(err)
	}
	c.wantStored("first", "last")
}

// Contexts end at any moment of writes, also between two of their statements: what was
// acknowledged is stored, and nothing else.
func TestWrite_CancelledHarmsNoOther(t *testing.T) {
	c := newCrew(t)
	const writers, writes = 6, 60
	acknowledged := make([][]string, 2*writers)
	for n := range 2 * writers {
		r := rand.New(rand.NewPCG(uint64(n), 8))
		c.all.Go(func() {
			for i := range writes {
				ctx, cancel := context.WithCancel(t.Context())
				if n < writers { // the others are never cancelled
					defer time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, cancel).Stop()
				}
				name := fmt.Sprintf("w%d-%d", n, i)
				err := c.db.Write(ctx, func(tx *sqldb.Tx) error {
					return errors.Join(add(tx, name), add(tx, name+"-too"), ctx.Err())
				})
				cancel()
				switch {
				case err == nil:
					acknowledged[n] = append(acknowledged[n], name, name+"-too")
				case n >= writers || !errors.Is(err, context.Canceled):
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	c.all.Wait()
	c.wantStored(slices.Sorted(slices.Values(slices.Concat(acknowledged...)))...)
}

// What SQLite rolls back as a whole, such as after an error of the disk, runs again.
func TestWrite_RunsAgainWhenAllIsRolledBack(t *testing.T) {
	c := newCrew(t)
	release, first := c.hold("n000")
	broken := errors.New("broken")
	want := []string{"n000"}
	var ended []<-chan error
	for i := range 20 {
		ended = append(ended, c.write(t.Context(), func(tx *sqldb.Tx) error {
			if i == 7 {
				_, err := tx.Exec("ROLLBACK")
				return errors.Join(err, broken)
			}
			return add(tx, numbered(i+1))
		}))
		if i != 7 {
			want = append(want, numbered(i+1))
		}
	}
	release()
	for i, done := range ended {
		if err := <-done; (i == 7) != errors.Is(err, broken) || i != 7 && err != nil {
			t.Error(i, err)
		}
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
	c.wantStored(want...)
}

// Writes with conditions end as they do one after the other, in the order in which they ran.
func TestWrite_IsSequential(t *testing.T) {
	c := newCrew(t)
	if err := addName(t.Context(), c.db, "0"); err != nil {
		t.Fatal(err)
	}
	errRefused := errors.New("refused")
	type outcome struct {
		order    int64
		expected string
		refuse   bool
		err      error
	}
	var order, next, now atomic.Int64
	outcomes := make([]outcome, 300)
	for n := range 12 {
		r := rand.New(rand.NewPCG(uint64(n), 3))
		c.all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(outcomes)); i = next.Add(1) - 1 {
				o := &outcomes[i]
				o.expected, o.refuse = fmt.Sprint(now.Load()), r.IntN(4) == 0
				o.err = c.db.Write(t.Context(), func(tx *sqldb.Tx) error {
					o.order = order.Add(1)
					n, err := tx.Exec("UPDATE names SET name = ? WHERE name = ?", fmt.Sprint(i+1), o.expected)
					if err == nil && n == 0 {
						err = sqldb.ErrNotFound
					}
					if err == nil && o.refuse {
						err = errRefused
					}
					return err
				})
				if o.err == nil {
					now.Store(i + 1)
				}
			}
		})
	}
	c.all.Wait()
	type at struct {
		outcome
		result string
	}
	var sorted []at
	for i, o := range outcomes {
		sorted = append(sorted, at{o, fmt.Sprint(i + 1)})
	}
	slices.SortFunc(sorted, func(a, b at) int { return int(a.order - b.order) })
	name := "0"
	for _, o := range sorted {
		var want error
		switch {
		case o.expected != name:
			want = sqldb.ErrNotFound
		case o.refuse:
			want = errRefused
		default:
			name = o.result
		}
		if !errors.Is(o.err, want) {
			t.Fatalf("write %d on %s, expecting %q: %v, want %v", o.order, name, o.expected, o.err, want)
		}
	}
	c.wantStored(name)
}

func TestWrite_WaitsForAnotherProgramOnceForAll(t *testing.T) {
	t.Parallel()
	address := storetest.SQLite(t)
	db := open(t, address)
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec("PRAGMA busy_timeout = 300")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	other, err := openRaw(t, address).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 1000 { // 300 s, one by one
		group.Go(func() {
			if err := addName(t.Context(), db, numbered(i)); !errors.Is(err, sqldb.ErrUnavailable) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if err := db.Ready(t.Context()); err != nil {
		t.Error("a lock of another program is no failure of the disk:", err)
	}
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := addName(t.Context(), db, "last"); err != nil {
		t.Error(err)
	}
}

func TestClose_EndsWrites(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				for j := range 10 {
					err := addName(t.Context(), db, fmt.Sprint(i, "-", j))
					if err != nil && !errors.Is(err, sqldb.ErrUnavailable) {
						t.Error(err)
					}
				}
			})
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		group.Wait()
		if err := addName(t.Context(), db, "late"); !errors.Is(err, sqldb.ErrUnavailable) {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error("again:", err)
		}
	})
}

func TestClose_LeavesOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, "sqlite:"+dir+"/hub.db")
	if err := errors.Join(addName(t.Context(), db, "a"), db.Close()); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Error(files, err)
	}
}

// log returns the size of SQLite's log.
func logSize(t *testing.T, address string) int64 {
	t.Helper()
	info, err := os.Stat(sqldb.Path(address) + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func addLarge(t *testing.T, db *sqldb.DB, name string, bytes int) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec("INSERT INTO names (name, body) VALUES (?, ?)", name, make([]byte, bytes))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWriter_EmptiesALongLogAfterTheReadThatNeedsIt(t *testing.T) {
	t.Parallel()
	address := storetest.SQLite(t)
	db := open(t, address)
	addLarge(t, db, "a", 1)
	addLarge(t, db, "b", 1)
	conn, err := db.ReadConn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	rows, err := conn.QueryContext(t.Context(), "SELECT name FROM names")
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	for i := range 16 {
		addLarge(t, db, numbered(i), 2<<20)
	}
	if err := db.CopyLog(); err != nil {
		t.Error(err)
	}
	if size := logSize(t, address); size < 16<<20 {
		t.Errorf("the log that a read needs has %d bytes", size)
	}
	addLarge(t, db, "c", 1) // while it is read
	rows.Close()
	if err := db.CopyLog(); err != nil {
		t.Error(err)
	}
	if size := logSize(t, address); size != 0 {
		t.Errorf("the log has %d bytes", size)
	}
}

func TestWriter_EmptiesALongLogWhileOthersReadAndWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	t.Parallel()
	address := storetest.SQLite(t)
	db := open(t, address)
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for ctx.Err() == nil {
				err := db.View(ctx).One(sqldb.Row(new(int)), "SELECT count(name) FROM names WHERE name < 'n001'")
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	var largest int64
	for i := range 60 { // MiB
		addLarge(t, db, numbered(i), 1<<20)
		if i%6 == 0 {
			if err := db.CopyLog(); err != nil {
				t.Error(err)
			}
		}
		largest = max(largest, logSize(t, address))
	}
	stop()
	group.Wait()
	if largest > 40<<20 {
		t.Errorf("the log had %d bytes", largest)
	}
}

func TestOpen_EveryCommitIsSynced(t *testing.T) {
	t.Parallel()
	db := open(t, storetest.SQLite(t))
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		for name, want := range map[string]string{"synchronous": "2", "foreign_keys": "1"} {
			if got := setting(t, tx.View, name); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
