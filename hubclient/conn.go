package hubclient

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dial opens a connection that fails when no byte moves on it.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	reading, end := context.WithCancel(context.Background())
	return &idleConn{Conn: conn, idle: c.opts.Timeout, drained: reading.Done(), end: end}, nil
}

// CloseIdle closes the connections that no call uses. Later calls open their own.
func (c *Client) CloseIdle() { c.transport.CloseIdleConnections() }

// idleConn fails a connection on which no byte has moved, in either direction,
// for as long as idle.
type idleConn struct {
	net.Conn
	idle     time.Duration
	timedOut atomic.Bool
	readErr  atomic.Pointer[error] // the error that ended reading
	drained  <-chan struct{}       // closed when there is nothing more to read
	end      func()                // closes drained
}

func (c *idleConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.SetDeadline(time.Now().Add(c.idle))
	}
	if err != nil {
		if !errors.Is(err, net.ErrClosed) {
			c.readErr.CompareAndSwap(nil, &err)
		}
		c.end()
	}
	return n, c.cause(err)
}

func (c *idleConn) Write(p []byte) (int, error) {
	const piece = 16 << 10 // so that a large write counts as progress while it lasts
	written := 0
	for {
		c.SetDeadline(time.Now().Add(c.idle))
		n, err := c.Conn.Write(p[written:min(len(p), written+piece)])
		written += n
		if err != nil {
			c.drain()
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

// drain waits until the other direction has read what the hub sent before it closed
// the connection: a transport that sees the failed write first drops the response,
// which says why the hub refused the body.
func (c *idleConn) drain() {
	select {
	case <-c.drained:
	case <-time.After(time.Second): // no reader is active during a handshake
	}
}

// cause returns err, or the error behind it. When one direction fails, the transport
// closes the connection, and the other direction sees only that.
func (c *idleConn) cause(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.timedOut.Store(true)
	}
	if err != nil && c.timedOut.Load() {
		return os.ErrDeadlineExceeded
	}
	if first := c.readErr.Load(); first != nil && errors.Is(err, net.ErrClosed) {
		return *first
	}
	return err
}
