package hubserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

const mib = 1 << 20

// mustAcquire reserves what there has to be room for at once.
func mustAcquire(t *testing.T, m *memory, w work, caller string, bytes int64) *reservation {
	t.Helper()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	l, err := m.acquire(ended, w, caller, bytes)
	if err != nil {
		t.Fatalf("%s has no room for %d bytes: %v", caller, bytes, err)
	}
	return l
}

// queued starts an acquire that has to wait, and returns where its reservation will come.
func queued(t *testing.T, m *memory, w work, caller string, bytes int64) <-chan *reservation {
	t.Helper()
	got := make(chan *reservation, 1)
	go func() {
		if l, err := m.acquire(context.Background(), w, caller, bytes); err == nil {
			got <- l
		}
		close(got)
	}()
	synctest.Wait()
	if len(got) > 0 {
		t.Fatalf("%s did not wait", caller)
	}
	return got
}

func TestMemory_CallersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(128 * mib)
		var order []string
		first, other := mustAcquire(t, m, describing, "anna", 0), mustAcquire(t, m, describing, "bob", 0)
		waiting := map[string]<-chan *reservation{}
		for _, name := range []string{"anna", "carl", "dora"} { // anna is first in the line, and has one in progress
			waiting[name] = queued(t, m, describing, name, 0)
		}
		for _, l := range []*reservation{other, first} {
			l.release()
			synctest.Wait()
			for name, got := range waiting {
				if len(got) > 0 {
					order = append(order, name)
					delete(waiting, name)
				}
			}
		}
		if !slices.Equal(order, []string{"carl", "anna"}) {
			t.Errorf("the turns went to %v, want carl, then anna", order)
		}
		<-waiting["dora"] // gives up
	})
}

func TestMemory_OneCallerCannotTakeAllSlots(t *testing.T) {
	for w := range works {
		m := newMemory(1 << 40)
		for range shares[w].perCaller {
			mustAcquire(t, m, w, "anna", 1)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.acquire(ended, w, "anna", 1); err == nil {
			t.Errorf("work %d: one caller has more than %d requests in progress", w, shares[w].perCaller)
		}
		mustAcquire(t, m, w, "bob", 1)
	}
}

func TestMemory_OneCallerCannotTakeAllBytes(t *testing.T) {
	m := newMemory(128 * mib)
	mustAcquire(t, m, uploading, "anna", 48*mib)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.acquire(ended, uploading, "anna", mib); err == nil {
		t.Error("one caller has more than half of the memory for uploads")
	}
	mustAcquire(t, m, uploading, "bob", 48*mib)
}

func TestMemory_OneCallerCannotGrowIntoAllBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(128 * mib)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		var uploads []*reservation
		for range 4 {
			uploads = append(uploads, mustAcquire(t, m, uploading, "anna", mib))
		}
		for i, l := range uploads[:3] {
			if err := l.resize(ended, 24*mib); (err == nil) != (i < 2) {
				t.Errorf("upload %d grows to 24 MiB: %v", i, err)
			}
		}
		other := mustAcquire(t, m, uploading, "bob", mib)
		if err := other.resize(ended, 20*mib); err != nil {
			t.Errorf("another caller's upload has no room: %v", err)
		}
		err := uploads[3].resize(t.Context(), 40*mib)
		if p, ok := errors.AsType[*problem](err); !ok || p.Status != http.StatusTooManyRequests {
			t.Errorf("the caller is told %v, want 429", err)
		}
		other.release()
		for _, l := range uploads[1:] {
			l.release()
		}
		if err := uploads[0].resize(ended, 96*mib); err != nil {
			t.Errorf("a single upload has no room: %v", err)
		}
	})
}

// An account can have any number of bots: they take one place. It is no stranger's.
func TestClient_BotIsItsAccount(t *testing.T) {
	for _, who := range []*caller{{user: "acme", account: "acme"}, {user: "@acme/ci", account: "acme"}} {
		c := &call{who: who}
		if got := c.client(); got != "acme" || isAddress(got) {
			t.Errorf("%s: %q", who.user, got)
		}
	}
}

func TestMemory_AddressesLeaveHalfToTokens(t *testing.T) {
	for _, w := range []work{changing, viewing, downloading, uploading} {
		m := newMemory(128 * mib)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range 2 * shares[w].slots {
			if _, err := m.acquire(ended, w, fmt.Sprint(addressMark, i), m.queues[w].most/int64(shares[w].slots)); err != nil && i == 0 {
				t.Errorf("work %d: the first has no room: %v", w, err)
			}
		}
		for i := range shares[w].slots / 2 {
			mustAcquire(t, m, w, fmt.Sprint("user", i), m.queues[w].most/int64(shares[w].slots))
		}
	}
}

func TestMemory_SearchesLeaveConnectionsToOthers(t *testing.T) {
	m := newMemory(128 * mib)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	running := 0
	for i := range 64 {
		for _, caller := range []string{addressMark, "user"} {
			if _, err := m.acquire(ended, searching, fmt.Sprint(caller, i%32), listMemory); err == nil {
				running++
			}
		}
	}
	if running != 4 {
		t.Errorf("%d searches run at once, want half as many as SQLite has connections that read", running)
	}
	mustAcquire(t, m, viewing, "anna", mib)
}

func TestMemory_AddressesDoNotOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(128 * mib)
		first := mustAcquire(t, m, downloading, addressMark+"1", 10*mib)
		large := queued(t, m, downloading, addressMark+"2", 12*mib)
		small := queued(t, m, downloading, addressMark+"3", mib)
		mustAcquire(t, m, downloading, "anna", 12*mib).release()
		first.release()
		for _, got := range []<-chan *reservation{large, small} {
			if l := <-got; l == nil {
				t.Error("an address had no turn")
			} else {
				defer l.release()
			}
		}
	})
}

func TestMemory_AddressesDoNotFillTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(128 * mib)
		var held []*reservation
		for i := range shares[downloading].slots {
			held = append(held, mustAcquire(t, m, downloading, fmt.Sprint("user", i), 0))
		}
		for i := range maxQueue {
			go m.acquire(t.Context(), downloading, fmt.Sprint(addressMark, i), 0)
		}
		synctest.Wait()
		waiting := queued(t, m, downloading, "anna", 0)
		for _, l := range held {
			l.release()
		}
		if <-waiting == nil {
			t.Error("a caller with a token was refused")
		}
	})
}

func TestMemory_ChangesNeverWaitForOtherWork(t *testing.T) {
	m := newMemory(128 * mib)
	mustAcquire(t, m, uploading, "anna", 64*mib)
	mustAcquire(t, m, downloading, "bob", 32*mib)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.acquire(ended, describing, "carl", mib); err == nil {
		t.Error("lasting work takes more than three quarters")
	}
	mustAcquire(t, m, changing, "carl", 8*mib)
	mustAcquire(t, m, viewing, "carl", 8*mib)
}

func TestMemory_SaysWhoIsToBlame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(128 * mib)
		one, two := mustAcquire(t, m, describing, "anna", 0), mustAcquire(t, m, describing, "bob", 0)
		for caller, want := range map[string]int{"anna": http.StatusTooManyRequests, "carl": http.StatusServiceUnavailable} {
			_, err := m.acquire(t.Context(), describing, caller, 0)
			var p *problem
			if !errors.As(err, &p) || p.Status != want || p.header.Get("Retry-After") == "" {
				t.Errorf("%s: %+v, want %d with Retry-After", caller, err, want)
			}
		}
		_, err := m.acquire(t.Context(), describing, "carl", 128*mib)
		var p *problem
		if !errors.As(err, &p) || p.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("more than there is: %v, want 413", err)
		}
		one.release()
		two.release()
		if m.used != 0 || len(m.queues[describing].clients) != 0 {
			t.Errorf("%d bytes and %d callers are left", m.used, len(m.queues[describing].clients))
		}
	})
}

func TestMemory_NeverGivesMoreThanThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory(64 * mib)
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		var held []*reservation
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			bytes := rapid.Int64Range(0, 40*mib).Draw(t, "bytes")
			i := rapid.IntRange(0, max(0, len(held)-1)).Draw(t, "which")
			switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
			case what == 0 && len(held) > 0:
				held[i].release()
				held = slices.Delete(held, i, i+1)
			case what == 1 && len(held) > 0:
				_ = held[i].resize(ended, bytes)
			default:
				w := work(rapid.IntRange(0, int(works)-1).Draw(t, "work"))
				if l, err := m.acquire(ended, w, rapid.SampledFrom([]string{"a", "b", addressMark + "1", addressMark + "2"}).Draw(t, "caller"), bytes); err == nil {
					held = append(held, l)
				}
			}
			var sum int64
			for _, l := range held {
				sum += l.bytes
			}
			if m.used != sum || sum > m.total {
				t.Fatalf("%d bytes are counted, %d held, of %d", m.used, sum, m.total)
			}
		}
		for _, l := range held {
			l.release()
		}
		for w := range m.queues {
			if q := &m.queues[w]; q.used != 0 || q.running != 0 || q.waiting != 0 || len(q.clients)+len(q.turns)+len(q.growing) != 0 || q.anonymous != (anonymous{}) {
				t.Fatalf("work %d is left with %+v", w, q)
			}
		}
	})
}
