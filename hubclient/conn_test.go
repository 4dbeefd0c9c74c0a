package hubclient_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// dialled notes the connections of b from now on.
func (b *hub) dialled() *[]*pipe {
	conns, dial := new([]*pipe), b.dial
	b.dial = func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := dial(ctx, address)
		if err == nil {
			*conns = append(*conns, conn.(*pipe))
		}
		return conn, err
	}
	return conns
}

// open counts those that are not closed.
func open(conns []*pipe) int {
	return len(slices.DeleteFunc(slices.Clone(conns), func(p *pipe) bool { return p.closed.Load() }))
}

// far is how to reach a hub that is not on this machine.
var far = hubclient.Options{Origin: "http://hub.example.com", Token: token, AllowHTTP: true}

func whoami(w http.ResponseWriter, _ *http.Request, _ int) {
	answer(w, 200, wire.Whoami{User: "alice"})
}

func TestDialAhead_ConnectionIsUsed(t *testing.T) {
	for wait, want := range map[time.Duration]int{0: 1, 2 * time.Second: 1, 4 * time.Second: 2} {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, far, whoami)
			conns := b.dialled()
			b.Dial()
			b.Dial()
			synctest.Wait()
			if len(*conns) != 1 {
				t.Errorf("after Dial: %d connections", len(*conns))
			}
			time.Sleep(wait)
			for range 2 {
				if _, err := b.Whoami(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if len(*conns) != want || open(*conns) != 1 {
				t.Errorf("called after %v: %d connections, want %d; %d are open", wait, len(*conns), want, open(*conns))
			}
		})
	}
}

func TestDialAhead_NotForLocalHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{Origin: "http://localhost:4600"}, whoami)
		conns := b.dialled()
		b.Dial()
		synctest.Wait()
		if len(*conns) != 0 {
			t.Errorf("%d connections", len(*conns))
		}
	})
}

func TestDialAhead_UnusedConnectionIsClosed(t *testing.T) {
	for name, end := range map[string]func(*hub){
		"after a while":    func(*hub) { time.Sleep(4 * time.Second) },
		"when it is asked": func(b *hub) { b.CloseIdle() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, far, whoami)
				conns := b.dialled()
				b.Dial()
				end(b)
				synctest.Wait()
				if len(*conns) != 1 || open(*conns) != 0 {
					t.Errorf("%d of %d connections are open", open(*conns), len(*conns))
				}
			})
		})
	}
}

func TestDialAhead_CallWaitsForPendingConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, far, whoami)
		conns, dial := b.dialled(), b.dial
		b.dial = func(ctx context.Context, address string) (net.Conn, error) {
			time.Sleep(time.Second)
			return dial(ctx, address)
		}
		b.Dial()
		start := time.Now()
		if _, err := b.Whoami(t.Context()); err != nil || time.Since(start) != time.Second || len(*conns) != 1 {
			t.Errorf("%v after %v, with %d connections", err, time.Since(start), len(*conns))
		}
	})
}

func TestDialAhead_FallsBackToOwnConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, far, whoami)
		conns, dial := b.dialled(), b.dial
		b.dial = func(context.Context, string) (net.Conn, error) { return nil, dialFault(syscall.ECONNREFUSED) }
		b.Dial()
		synctest.Wait()
		b.dial = dial
		start := time.Now()
		if _, err := b.Whoami(t.Context()); err != nil || time.Since(start) != 0 || len(*conns) != 1 {
			t.Errorf("%v after %v, with %d connections", err, time.Since(start), len(*conns))
		}
	})
}

func TestDialAhead_UnreachableHubIsAwaitedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, far, whoami)
		b.dial = func(context.Context, string) (net.Conn, error) {
			time.Sleep(hubclient.DefaultTimeout)
			return nil, dialFault(os.ErrDeadlineExceeded)
		}
		b.Dial()
		start := time.Now()
		_, err := b.Whoami(t.Context())
		if wantCode(t, err, hubclient.CodeTimeout); time.Since(start) != hubclient.DefaultTimeout {
			t.Errorf("after %v", time.Since(start))
		}
	})
}

func TestDialAhead_ReplacesClosedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, far, whoami)
		dial := b.dial
		b.dial = func(context.Context, string) (net.Conn, error) {
			near, far := net.Pipe()
			far.Close()
			return newPipe(near), nil
		}
		b.Dial()
		synctest.Wait()
		b.dial = dial
		if _, err := b.Whoami(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
