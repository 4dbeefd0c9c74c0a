package hubclient

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// timed makes the connections of dial fail when nothing moves on them.
func (c *Client) timed(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		read := make(chan struct{})
		return &idleConn{Conn: conn, idle: c.opts.Timeout, read: read, end: sync.OnceFunc(func() { close(read) })}, nil
	}
}

// idleConn fails a connection on which no byte has moved, in either direction,
// for as long as idle.
type idleConn struct {
	net.Conn
	idle time.Duration
	late atomic.Bool           // idle was over
	lost atomic.Pointer[error] // what ended the reading
	read chan struct{}         // closed when there is nothing more to read
	end  func()                // closes read
}

func (c *idleConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.SetDeadline(time.Now().Add(c.idle))
	}
	if err != nil {
		if !errors.Is(err, net.ErrClosed) {
			c.lost.CompareAndSwap(nil, &err)
		}
		c.end()
	}
	return n, c.cause(err)
}

func (c *idleConn) Write(p []byte) (int, error) {
	const piece = 16 << 10 // so that a large write counts as moving while it moves
	written := 0
	for {
		c.SetDeadline(time.Now().Add(c.idle))
		n, err := c.Conn.Write(p[written:min(len(p), written+piece)])
		written += n
		if err != nil {
			c.hearOut()
			return written, c.cause(err)
		}
		if written == len(p) {
			return written, nil
		}
	}
}

func (c *idleConn) Close() error {
	c.end()
	return c.Conn.Close()
}

// hearOut lets the other direction read what the hub said before it ended the
// connection: a transport that learns of a failed write first drops the answer,
// which says why a body was not taken.
func (c *idleConn) hearOut() {
	select {
	case <-c.read:
	case <-time.After(time.Second): // in a handshake nobody reads
	}
}

// cause returns err, or the time-out that led to it: the first of two directions
// to be late makes the transport close the connection under the other.
func (c *idleConn) cause(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.late.Store(true)
	}
	if err != nil && c.late.Load() {
		return os.ErrDeadlineExceeded
	}
	if lost := c.lost.Load(); lost != nil && errors.Is(err, net.ErrClosed) {
		return *lost // for which the transport has closed the connection
	}
	return err
}

// opening is a connection that is opened before a call needs it.
type opening struct {
	done chan struct{} // closed when one of what follows is known
	conn net.Conn
	err  error
}

// close closes the connection once it is open.
func (o *opening) close() {
	go func() {
		if <-o.done; o.err == nil {
			o.conn.Close()
		}
	}()
}

// openFor is how long an opened connection waits for its call. A hub ends one on
// which no request comes, after a longer time.
const openFor = 3 * time.Second

// Dial begins to open a connection, which the next call that needs a new one takes.
// It is for those who have something else to do before they call. When no call
// takes it for a while, or it is refused, it is as if Dial had not been called. A
// hub on this machine is no way off, and would only take a core from who calls.
func (c *Client) Dial() {
	if c.near() {
		return
	}
	if proxy, err := c.proxy(&http.Request{URL: c.base}); proxy != nil || err != nil {
		return
	}
	o := &opening{done: make(chan struct{})}
	if !c.opening.CompareAndSwap(nil, o) {
		return
	}
	go func() {
		o.conn, o.err = c.connect(context.Background(), "tcp", c.address())
		close(o.done)
		time.AfterFunc(openFor, func() {
			if c.opening.CompareAndSwap(o, nil) {
				o.close()
			}
		})
	}()
}

// CloseIdle closes the connections that no call uses. Later calls open their own.
func (c *Client) CloseIdle() {
	if o := c.opening.Swap(nil); o != nil {
		o.close()
	}
	c.transport.CloseIdleConnections()
}

func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if o := c.opening.Swap(nil); o != nil {
		<-o.done
		var timeout net.Error
		if o.err == nil || errors.As(o.err, &timeout) && timeout.Timeout() { // which is not to pass twice
			return o.conn, o.err
		}
	}
	return c.connect(ctx, network, address)
}

// address is what a connection to the hub is opened to.
func (c *Client) address() string {
	port := c.base.Port()
	if port == "" {
		port = c.base.Scheme // net knows both by name
	}
	return net.JoinHostPort(c.base.Hostname(), port)
}
