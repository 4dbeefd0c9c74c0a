package hubserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"runtime/debug"
	"time"
)

// handshakeTime bounds the handshake of TLS.
const handshakeTime = 10 * time.Second

// http2Limits are what [framing], ReadHeaderTimeout and the buffers of the kernel limit with
// HTTP/1. Bodies and responses have the deadlines of [pace] with both.
func http2Limits(l Limits) *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          100,
		MaxReceiveBufferPerConnection: 256 << 10, // in this process, beyond Limits.Memory
		MaxReceiveBufferPerStream:     64 << 10,
		SendPingTimeout:               l.BodyIdle,
		WriteByteTimeout:              l.BodyIdle,
	}
}

// ServeTLS is Serve for connections with TLS, which may negotiate HTTP/2.
func (h *HTTPServer) ServeTLS(l net.Listener, config *tls.Config) error {
	ctx, end := context.WithCancel(context.Background())
	t := &tlsListener{Listener: countedListener{l, h.hub.connections}, hub: h.hub, config: config, ctx: ctx, end: end, ready: make(chan net.Conn), failed: make(chan error)}
	go t.acceptAll()
	return h.server.Serve(t)
}

// tlsListener accepts connections whose handshake is complete. net/http would do it later,
// but then it speaks HTTP/2 only on a bare *tls.Conn, and HTTP/1 needs a [conn].
type tlsListener struct {
	net.Listener
	hub    *Server
	config *tls.Config
	ctx    context.Context //nolint:containedctx // ends the handshakes with the listener
	end    func()
	ready  chan net.Conn
	failed chan error
}

func (l *tlsListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case err := <-l.failed:
		return nil, err
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (l *tlsListener) Close() error {
	l.end()
	return l.Listener.Close()
}

func (l *tlsListener) acceptAll() {
	for l.ctx.Err() == nil {
		c, err := l.Listener.Accept()
		if err == nil {
			go l.shake(c)
			continue
		}
		select {
		case l.failed <- err: // net/http waits if the error may pass, and returns otherwise
		case <-l.ctx.Done():
		}
	}
}

// shake completes the handshake, and hands the connection to Accept.
func (l *tlsListener) shake(raw net.Conn) {
	defer func() {
		if p := recover(); p != nil {
			l.hub.Log.Error("panic in a TLS handshake", "panic", p, "stack", string(debug.Stack()))
			raw.Close()
		}
	}()
	c := tls.Server(raw, l.config)
	raw.SetDeadline(time.Now().Add(handshakeTime))
	ctx, cancel := context.WithTimeout(l.ctx, handshakeTime) // it may wait for a certificate, not for the caller
	defer cancel()
	if err := c.HandshakeContext(ctx); err != nil {
		l.refuse(raw, err)
		return
	}
	raw.SetDeadline(time.Time{})
	var accepted net.Conn = c
	switch c.ConnectionState().NegotiatedProtocol {
	case "h2":
	case "", "http/1.1":
		accepted = &conn{Conn: c, hub: l.hub}
	default: // a challenge of ACME, which the handshake has answered
		c.Close()
		return
	}
	select {
	case l.ready <- accepted:
	case <-l.ctx.Done():
		c.Close()
	}
}

// refuse ends a connection whose handshake failed. A caller that speaks plain HTTP is told.
func (l *tlsListener) refuse(raw net.Conn, err error) {
	defer raw.Close()
	var noTLS tls.RecordHeaderError
	if errors.As(err, &noTLS) && noTLS.Conn != nil && isText(noTLS.RecordHeader[:]) {
		plain := &conn{Conn: noTLS.Conn, hub: l.hub, refused: errPlainHTTP}
		_ = plain.refuse([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) // a caller that has gone needs no answer
		return
	}
	l.hub.Log.Info("TLS handshake failed", "address", host(raw.RemoteAddr().String()), "cause", err.Error())
}

const errPlainHTTP framingError = "this port speaks TLS: the address begins with https://"

// isText reports whether a record's header may be the beginning of a method.
func isText(header []byte) bool {
	for _, b := range header {
		if b != ' ' && b != '/' && (b < 'A' || b > 'Z') {
			return false
		}
	}
	return true
}
