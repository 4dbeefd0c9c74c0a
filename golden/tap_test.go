package golden_test

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
)

// tap passes connections on to a hub. It counts what goes up, and can break a
// connection when so much has.
type tap struct {
	target string
	origin string
	up     atomic.Int64 // bytes from client to hub
	conns  atomic.Int64
	open   atomic.Int64 // of conns
	left   atomic.Int64 // bytes until the connection breaks, once; negative: none does
}

func newTap(t testing.TB, target string) *tap {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	r := &tap{target: target, origin: "http://" + listener.Addr().String()}
	r.left.Store(-1)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			r.conns.Add(1)
			r.open.Add(1)
			go func() {
				r.pass(conn.(*net.TCPConn))
				r.open.Add(-1)
			}()
		}
	}()
	return r
}

func (r *tap) pass(from *net.TCPConn) {
	defer from.Close()
	conn, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	to := conn.(*net.TCPConn)
	defer to.Close()
	go func() {
		io.Copy(from, to)
		from.CloseWrite()
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if cut := r.cut(int64(n)); cut >= 0 {
			to.Write(buf[:cut])
			r.up.Add(cut)
			from.SetLinger(0) // a reset, as of a network that went away
			return
		}
		if _, e := to.Write(buf[:n]); e != nil {
			return
		}
		r.up.Add(int64(n))
		if err != nil {
			to.CloseWrite()
			return
		}
	}
}

// cut returns how many of n bytes still pass, -1 for all.
func (r *tap) cut(n int64) int64 {
	for {
		left := r.left.Load()
		if left < 0 {
			return -1
		}
		if left >= n {
			if r.left.CompareAndSwap(left, left-n) {
				return -1
			}
			continue
		}
		if r.left.CompareAndSwap(left, -1) {
			return left
		}
	}
}
