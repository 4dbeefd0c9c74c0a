package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// crew writes at the same time to one SQLite file, in a transaction that it shares.
type crew struct {
	*testing.T
	store *store.Store
	all   sync.WaitGroup
}

func newCrew(t *testing.T) *crew {
	store.ShareLonger(t)
	return &crew{T: t, store: storetest.Open(t, storetest.SQLite(t))}
}

// note writes a name, which nothing else has.
func (c *crew) note(tx *store.Tx, name string) error {
	return tx.CreateAccount(c.Context(), name, store.KindUser)
}

// noted are the names that were written, in order.
func (c *crew) noted() (names []string) {
	c.Helper()
	err := c.store.Read(c.Context(), func(v *store.View) error {
		all, err := v.Accounts(c.Context())
		for _, a := range all {
			names = append(names, a.Name)
		}
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	return names
}

// hold writes a name and keeps the turn until release is called.
func (c *crew) hold(name string) (release func(), ended <-chan error) {
	c.Helper()
	ready, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	c.all.Go(func() {
		first := true
		done <- c.store.Write(context.Background(), func(tx *store.Tx) error {
			if first {
				first = false
				close(ready)
				<-free
			}
			return c.note(tx, name)
		})
	})
	<-ready
	return func() { close(free) }, done
}

// write starts a write and waits until it is in the queue.
func (c *crew) write(ctx context.Context, f func(*store.Tx) error) (ended <-chan error) {
	c.Helper()
	done := make(chan error, 1)
	before := c.store.Queued()
	c.all.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("%w: %v", errPanicked, p)
			}
		}()
		done <- c.store.Write(ctx, f)
	})
	for c.store.Queued() == before {
		runtime.Gosched()
	}
	return done
}

var errPanicked = errors.New("it panicked")

func TestWrite_SharesCommit(t *testing.T) {
	c := newCrew(t)
	before, _ := c.store.Commits()
	release, _ := c.hold("n00")
	for i := range 20 {
		c.write(t.Context(), func(tx *store.Tx) error { return c.note(tx, fmt.Sprintf("n%02d", i+1)) })
	}
	release()
	c.all.Wait()
	if n, _ := c.store.Commits(); n-before != 1 {
		t.Errorf("21 writes took %d commits", n-before)
	}
	if n := len(c.noted()); n != 21 {
		t.Errorf("%d of 21 writes are stored", n)
	}
}

func TestWrite_AloneNeedsNoSavepoint(t *testing.T) {
	c := newCrew(t)
	for i := range 3 {
		write(t, c.store, func(tx *store.Tx) error { return c.note(tx, fmt.Sprint("n", i)) })
	}
	if n, savepoints := c.store.Commits(); n != 3 || savepoints > 0 {
		t.Errorf("3 writes: %d commits, %d savepoints", n, savepoints)
	}
}

func TestWrite_FailsAlone(t *testing.T) {
	c := newCrew(t)
	refused := errors.New("refused")
	release, first := c.hold("first")
	after := func(what func() error) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			if err := c.note(tx, "gone"); err != nil {
				return err
			}
			return what()
		}
	}
	fails := c.write(t.Context(), after(func() error { return refused }))
	good := c.write(t.Context(), func(tx *store.Tx) error { return c.note(tx, "good") })
	panics := c.write(t.Context(), after(func() error { panic("a fault") }))
	clashes := c.write(t.Context(), func(tx *store.Tx) error { return c.note(tx, "good") })
	last := c.write(t.Context(), func(tx *store.Tx) error { return c.note(tx, "last") })
	release()
	for name, got := range map[string]struct {
		ended <-chan error
		want  error
	}{
		"the first": {first, nil}, "one that fails": {fails, refused}, "a good one": {good, nil}, "one that panics": {panics, errPanicked},
		"one that clashes": {clashes, store.ErrExists}, "the last": {last, nil},
	} {
		if err := <-got.ended; !errors.Is(err, got.want) {
			t.Errorf("%s: %v, want %v", name, err, got.want)
		}
	}
	if got := c.noted(); !slices.Equal(got, []string{"first", "good", "last"}) {
		t.Errorf("stored are %v", got)
	}
}

// Another goroutine may run a write. A panic is its own, and says where it began.
func TestWrite_PanicsWhereItWasCalled(t *testing.T) {
	c := newCrew(t)
	release, first := c.hold("first")
	panics := c.write(t.Context(), func(*store.Tx) error { panic("a fault") })
	release()
	if err := <-panics; !errors.Is(err, errPanicked) || !strings.Contains(err.Error(), "a fault\n") || !strings.Contains(err.Error(), "group_test.go") {
		t.Errorf("%v, want the fault with its stack", err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestWrite_AloneThatPanicsOrEndsItsGoroutineLeavesNothing(t *testing.T) {
	c := newCrew(t)
	for name, leave := range map[string]func(){"panics": func() { panic("a fault") }, "ends its goroutine": runtime.Goexit} {
		c.all.Go(func() {
			defer func() { _ = recover() }()
			err := c.store.Write(t.Context(), func(tx *store.Tx) error {
				if err := c.note(tx, "gone"); err != nil {
					t.Error(err)
				}
				leave()
				return nil
			})
			t.Errorf("one that %s returned %v", name, err)
		})
		c.all.Wait()
	}
	write(t, c.store, func(tx *store.Tx) error { return c.note(tx, "next") })
	if got := c.noted(); !slices.Equal(got, []string{"next"}) {
		t.Errorf("stored are %v", got)
	}
}

// Whoever closes the store waits for the turn, between two transactions.
func TestClose_BesideWrites(t *testing.T) {
	c := newCrew(t)
	_, before := c.store.Commits()
	release, first := c.hold("first")
	closed := make(chan error, 1)
	c.all.Go(func() { closed <- c.store.Close() })
	for c.store.Queued() == 0 {
		runtime.Gosched()
	}
	last := c.write(t.Context(), func(tx *store.Tx) error { return c.note(tx, "last") })
	release()
	if err := errors.Join(<-first, <-closed); err != nil {
		t.Error(err)
	}
	<-last // it may come too late
	if _, savepoints := c.store.Commits(); savepoints != before {
		t.Error("closing was part of a transaction")
	}
}

func TestWrite_ReturnsAfterSharedCommit(t *testing.T) {
	c := newCrew(t)
	release, first := c.hold("first")
	running, free := make(chan struct{}), make(chan struct{})
	slow := c.write(t.Context(), func(tx *store.Tx) error {
		close(running)
		<-free
		return c.note(tx, "slow")
	})
	release()
	<-running
	select {
	case err := <-first:
		t.Errorf("it returned %v before it was committed", err)
	default:
	}
	if got := c.noted(); len(got) != 0 {
		t.Errorf("%v are stored before the commit", got)
	}
	close(free)
	if err := errors.Join(<-first, <-slow); err != nil || len(c.noted()) != 2 {
		t.Errorf("%v; stored are %v", err, c.noted())
	}
}

func TestWrite_FailedCommitFailsAll(t *testing.T) {
	c := newCrew(t)
	for _, table := range []string{"CREATE TABLE parents (id INTEGER PRIMARY KEY)", "CREATE TABLE children (id INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)"} {
		write(t, c.store, func(tx *store.Tx) error { return tx.Exec(t.Context(), table) })
	}
	release, first := c.hold("first")
	orphan := c.write(t.Context(), func(tx *store.Tx) error { return tx.Exec(t.Context(), "INSERT INTO children VALUES (1)") })
	runs := 0
	refused := errors.New("refused")
	fails := c.write(t.Context(), func(tx *store.Tx) error {
		runs++
		return refused
	})
	release()
	if a, b := <-first, <-orphan; a == nil || b == nil {
		t.Errorf("the commit failed, and the writes in it returned %v and %v", a, b)
	}
	if err := <-fails; !errors.Is(err, refused) || runs != 2 {
		t.Errorf("a write that saw what was not committed ran %d times and returned %v", runs, err)
	}
	write(t, c.store, func(tx *store.Tx) error { return c.note(tx, "next") })
	if got := c.noted(); !slices.Equal(got, []string{"next"}) {
		t.Errorf("stored are %v", got)
	}
}

func TestWrite_CancelledTakesItselfOut(t *testing.T) {
	c := newCrew(t)
	ctx, cancel := context.WithCancel(t.Context())
	release, first := c.hold("first")
	inside := c.write(ctx, func(tx *store.Tx) error {
		if err := c.note(tx, "gone"); err != nil {
			return err
		}
		cancel()
		return tx.CreateAccount(ctx, "gone too", store.KindUser)
	})
	last := c.write(t.Context(), func(tx *store.Tx) error { return c.note(tx, "last") })
	waits, giveUp := context.WithCancel(t.Context())
	waiting := c.write(waits, func(*store.Tx) error { t.Error("it ran after its context ended"); return nil })
	giveUp()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("one that waits: %v", err)
	}
	release()
	if err := <-inside; !errors.Is(err, context.Canceled) {
		t.Errorf("one that runs: %v", err)
	}
	if err := errors.Join(<-first, <-last); err != nil {
		t.Error(err)
	}
	if got := c.noted(); !slices.Equal(got, []string{"first", "last"}) {
		t.Errorf("stored are %v", got)
	}
}

// Contexts end at any moment of writes, also between two of their statements. What was
// acknowledged is stored and nothing else, and an interrupt meant for one hits no other.
func TestWrite_CancelledOnesHarmNoOther(t *testing.T) {
	c := &crew{T: t, store: open(t, storetest.SQLite(t))}
	const writers, each = 6, 60
	const slowly = `UPDATE accounts SET disabled_at = disabled_at
		WHERE name IN (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'w' || i FROM n)`
	var cancelled atomic.Int64
	acknowledged := make([][]string, 2*writers+1)
	acknowledged[2*writers] = c.noted()
	for n := range 2 * writers {
		r := rand.New(rand.NewPCG(uint64(n), 8))
		c.all.Go(func() {
			for i := range each {
				ctx, cancel := context.WithCancel(t.Context())
				if n < writers { // the others are never cancelled
					stop := time.AfterFunc(time.Duration(r.IntN(5000))*time.Microsecond, cancel)
					defer stop.Stop()
				}
				writing := c.store.WriteUnsynced
				if i%10 == 0 {
					writing = c.store.Write
				}
				name := fmt.Sprintf("w%d-%d", n, i)
				err := writing(ctx, func(tx *store.Tx) error {
					if err := tx.CreateAccount(ctx, name, store.KindUser); err != nil {
						return err
					}
					if err := tx.Exec(ctx, slowly); err != nil {
						return err
					}
					return tx.CreateAccount(ctx, name+"-too", store.KindUser)
				})
				cancel()
				switch {
				case err == nil:
					acknowledged[n] = append(acknowledged[n], name, name+"-too")
				case n < writers && errors.Is(err, context.Canceled):
					cancelled.Add(1)
				default:
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	c.all.Wait()
	want := slices.Sorted(slices.Values(slices.Concat(acknowledged...)))
	if got := slices.Sorted(slices.Values(c.noted())); !slices.Equal(got, want) {
		t.Errorf("%d names are stored, %d were acknowledged", len(got), len(want))
	}
	if t.Logf("%d of %d writes were cancelled", cancelled.Load(), writers*each); cancelled.Load() == 0 {
		t.Error("no write was cancelled")
	}
}

// What SQLite rolls back as a whole, such as after an error of the disk, runs again.
func TestWrite_RunsAgainWhenAllIsRolledBack(t *testing.T) {
	c := newCrew(t)
	release, first := c.hold("first")
	broken := errors.New("broken")
	breaks := c.write(t.Context(), func(tx *store.Tx) error {
		if err := tx.Exec(t.Context(), "ROLLBACK"); err != nil {
			return err
		}
		return broken
	})
	last := c.write(t.Context(), func(tx *store.Tx) error { return c.note(tx, "last") })
	release()
	if err := <-breaks; !errors.Is(err, broken) {
		t.Errorf("the one that broke it: %v", err)
	}
	if err := errors.Join(<-first, <-last); err != nil {
		t.Error(err)
	}
	if got := c.noted(); !slices.Equal(got, []string{"first", "last"}) {
		t.Errorf("stored are %v", got)
	}
}

// Writes with conditions end as they do one after the other, in the order in which they ran.
func TestWrite_IsSequential(t *testing.T) {
	s := open(t, storetest.SQLite(t))
	web := project(t, s)
	errChanged, errRefused := errors.New("changed"), errors.New("refused")
	type outcome struct {
		order            int64
		expected, result string
		refuse           bool
		err              error
	}
	var order atomic.Int64
	outcomes := make([]outcome, 300)
	var all sync.WaitGroup
	var next, now atomic.Int64
	for n := range 12 {
		r := rand.New(rand.NewPCG(uint64(n), 3))
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(outcomes) {
					return
				}
				o := &outcomes[i]
				o.expected, o.result, o.refuse = fmt.Sprintf(`{"n":%d}`, now.Load()), fmt.Sprintf(`{"n":%d}`, i+1), r.IntN(4) == 0
				if r.IntN(3) == 0 {
					o.expected = "" // whatever it is
				}
				o.err = s.Write(t.Context(), func(tx *store.Tx) error {
					o.order = order.Add(1)
					_, _, err := tx.WriteConfig(t.Context(), web, by("alice", func(c *store.Config) ([]byte, error) {
						if o.expected != "" && string(c.Body) != o.expected {
							return nil, errChanged
						}
						return []byte(o.result), nil
					}))
					if err == nil && o.refuse {
						err = errRefused
					}
					return err
				})
				if o.err == nil {
					now.Store(int64(i + 1))
				}
			}
		})
	}
	all.Wait()
	slices.SortFunc(outcomes, func(a, b outcome) int { return int(a.order - b.order) })
	body, applied := "{}", 0
	for _, o := range outcomes {
		var want error
		switch {
		case o.expected != "" && o.expected != body:
			want = errChanged
		case o.refuse:
			want = errRefused
		default:
			body = o.result
			applied++
		}
		if !errors.Is(o.err, want) || want == nil && o.err != nil {
			t.Fatalf("write %d on %s, expecting %q: %v, want %v", o.order, body, o.expected, o.err, want)
		}
	}
	if got := history(t, s, web, 0, 1000); len(got) != applied {
		t.Errorf("the history has %d entries after %d writes", len(got), applied)
	}
}
