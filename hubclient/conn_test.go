package hubclient_test

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// dials counts how often b is connected to.
func (b *hub) dials() *int {
	n, dial := 0, b.dial
	b.dial = func(ctx context.Context, address string) (net.Conn, error) {
		n++
		return dial(ctx, address)
	}
	return &n
}

func whoami(w http.ResponseWriter, _ *http.Request, _ int) {
	answer(w, 200, wire.Whoami{User: "alice"})
}

func TestAConnectionThatWasOpenedAheadIsUsed(t *testing.T) {
	for wait, want := range map[time.Duration]int{0: 1, 4 * time.Second: 1, 6 * time.Second: 2} {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, whoami)
			dials := b.dials()
			b.Dial(t.Context())
			synctest.Wait()
			if *dials != 1 {
				t.Errorf("after Dial: %d connections", *dials)
			}
			time.Sleep(wait)
			for range 2 {
				if _, err := b.Whoami(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if *dials != want {
				t.Errorf("called after %v: %d connections, want %d", wait, *dials, want)
			}
		})
	}
}

func TestACallWaitsForTheConnectionThatIsBeingOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, whoami)
		dials, dial := b.dials(), b.dial
		b.dial = func(ctx context.Context, address string) (net.Conn, error) {
			time.Sleep(time.Second)
			return dial(ctx, address)
		}
		b.Dial(t.Context())
		start := time.Now()
		if _, err := b.Whoami(t.Context()); err != nil || time.Since(start) != time.Second || *dials != 1 {
			t.Errorf("%v after %v, with %d connections", err, time.Since(start), *dials)
		}
	})
}

func TestAConnectionThatCouldNotBeOpenedAheadIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, whoami)
		dial, refused := b.dial, 0
		b.dial = func(ctx context.Context, address string) (net.Conn, error) {
			if refused < 3 {
				refused++
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
			}
			return dial(ctx, address)
		}
		b.Dial(t.Context())
		if _, err := b.Whoami(t.Context()); err != nil || refused != 3 {
			t.Errorf("%v, after %d refusals", err, refused)
		}
	})
}
