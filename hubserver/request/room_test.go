package request

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

const mib = 1 << 20

// sized returns a room of so many MiB.
func sized(size int64) *room { return newRoom(8*size*mib, share{part: 1}) }

// mustNeed takes what there has to be room for at once.
func mustNeed(t *testing.T, h *hold, bytes int64) {
	t.Helper()
	began := time.Now()
	if err := h.need(t.Context(), bytes); err != nil || time.Since(began) > 0 {
		t.Fatalf("%v has no room for %d bytes after %v: %v", h.client, bytes, time.Since(began), err)
	}
}

// refused reports the status that a need ends with, after which time.
func refused(t *testing.T, h *hold, bytes int64) (status int, after time.Duration) {
	t.Helper()
	began := time.Now()
	p, ok := errors.AsType[*Problem](h.need(t.Context(), bytes))
	if !ok {
		t.Fatalf("%v got %d bytes", h.client, bytes)
	}
	return p.Status, time.Since(began)
}

func TestRoom_RefusesAtOnceWhatNeverFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sized(96).enter(client{name: "anna"})
		mustNeed(t, h, 90*mib)
		if status, after := refused(t, h, 7*mib); status != http.StatusRequestEntityTooLarge || after != 0 {
			t.Errorf("%d after %v", status, after)
		}
		mustNeed(t, h, 6*mib)
	})
}

func TestRoom_TakesNoSizeThatIsDamaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sized(96).enter(client{name: "anna"})
		mustNeed(t, h, mib)
		for _, n := range []int64{-1, math.MinInt64, math.MaxInt64} {
			if err := h.need(t.Context(), n); !errors.Is(err, store.ErrDamaged) {
				t.Error(n, err)
			}
		}
		mustNeed(t, h, 95*mib)
	})
}

func TestRoom_WaitsFiveSecondsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sized(96)
		anna, bob := r.enter(client{name: "anna"}), r.enter(client{name: "bob"})
		mustNeed(t, anna, 90*mib)
		if status, after := refused(t, bob, 7*mib); status != http.StatusServiceUnavailable || after != roomTime {
			t.Errorf("%d after %v", status, after)
		}
		time.AfterFunc(time.Second, anna.leave)
		if err := bob.need(t.Context(), 96*mib); err != nil {
			t.Errorf("what was given back is not given again: %v", err)
		}
	})
}

func TestRoom_EndsWaitWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sized(96)
		mustNeed(t, r.enter(client{name: "anna"}), 96*mib)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.enter(client{name: "bob"}).need(ctx, mib); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the wait ended with %v", err)
		}
	})
}

func TestRoom_OneCallerLeavesRoomToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sized(96)
		first := r.enter(client{name: "anna"})
		mustNeed(t, first, 40*mib)
		second, third := r.enter(client{name: "anna"}), r.enter(client{name: "anna"})
		mustNeed(t, second, 20*mib)
		if status, after := refused(t, second, 5*mib); status != http.StatusTooManyRequests || after != 0 {
			t.Errorf("more than a quarter for one other call: %d after %v", status, after)
		}
		if status, after := refused(t, third, 5*mib); status != http.StatusTooManyRequests || after != roomTime {
			t.Errorf("more than a quarter for several: %d after %v", status, after)
		}
		mustNeed(t, first, 10*mib) // which others of the caller do not limit
		mustNeed(t, r.enter(client{name: "bob"}), 24*mib)
		first.leave()
		mustNeed(t, r.enter(client{name: "anna"}), 40*mib)
	})
}

// Many calls of one caller wait for each other, not in the line of those who wait for the room.
func TestRoom_OneCallerFillsNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sized(96)
		var calls sync.WaitGroup
		mustNeed(t, r.enter(client{name: "anna"}), 70*mib)
		for range 1000 {
			calls.Go(func() { _ = r.enter(client{name: "anna"}).need(t.Context(), 5*mib) })
		}
		synctest.Wait()
		mustNeed(t, r.enter(client{name: "bob"}), 6*mib)
		calls.Wait()
	})
}

func TestRoom_StrangersLeaveHalfToTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sized(96)
		for i := range 24 {
			mustNeed(t, r.enter(client{fmt.Sprint(i), true}), 2*mib)
		}
		status, after := refused(t, r.enter(client{"x", true}), 1)
		if status != http.StatusServiceUnavailable || after != roomTime {
			t.Errorf("%d after %v", status, after)
		}
		mustNeed(t, r.enter(client{name: "anna"}), 48*mib)
	})
}

func TestRoom_GivesAllBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sized(8)
		var calls sync.WaitGroup
		for i := range 64 {
			who := client{name: fmt.Sprint("user", i%5)}
			if i%3 == 0 {
				who = client{fmt.Sprint(i % 2), true}
			}
			calls.Go(func() {
				h := r.enter(who)
				defer h.leave()
				for range 30 {
					n := rand.Int64N(mib / 8)
					if h.need(t.Context(), n) == nil && rand.IntN(2) == 0 {
						h.free(n)
					}
				}
			})
		}
		calls.Wait()
		if r.used.Load() != 0 || len(r.clients) != 0 || !r.all.TryAcquire(r.size) || !r.strangers.TryAcquire(r.size/2) {
			t.Errorf("%d bytes are held after all calls, by %v", r.used.Load(), r.clients)
		}
	})
}

func TestRoomOf_EndpointsByWhatTheyTake(t *testing.T) {
	for e, want := range map[*wire.Endpoint]Room{
		{Method: http.MethodGet, Path: "/", Returns: wire.HTML}:                                           Reading,
		{Method: http.MethodPost, Path: "/sign-in", Accepts: []string{wire.FormType}, Returns: wire.HTML}: Changing,
	} {
		if got := roomOf(e); got != want {
			t.Errorf("%s works in room %d, want %d", e.Path, got, want)
		}
	}
	for op, want := range map[wire.Op]Room{
		wire.OpGetConfig: Reading, wire.OpGetDocument: Reading,
		wire.OpPutConfig: Changing, wire.OpPatchConfig: Changing, wire.OpCreateProject: Changing,
		wire.OpPutBaseFiles: Uploading, wire.OpPlanBaseFiles: Uploading, wire.OpPutVersion: Uploading,
		wire.OpGetBaseFilesArchive: Uploading, wire.OpGetBundle: Uploading,
		wire.OpUploadAPI: Describing, wire.OpPutDocument: Describing, wire.OpImportAPI: Describing,
	} {
		if got := roomOf(op.Endpoint()); got != want {
			t.Errorf("%s works in room %d, want %d", op, got, want)
		}
	}
}

// What the contract allows fits into the default memory.
func TestRoom_TakesTheLargestBodies(t *testing.T) {
	l := DefaultLimits
	for in, most := range map[Room]int64{
		Changing: l.ConfigBytes + MaxJSON, Uploading: MaxPlan, Describing: l.DescriptionBytes,
	} {
		if h := newRoom(l.Memory, shares[in]).enter(client{name: "anna"}); h.mayHold((most+1)*shares[in].factor) != nil {
			t.Errorf("room %d is too small for a body of %d bytes", in, most)
		}
	}
}
