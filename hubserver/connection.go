package hubserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"example.com/projecthub/hubclient/wire"
)

// HTTPServer serves a hub on listeners. It is an http.Server that refuses requests
// with ambiguous framing, and whose own responses, to requests that it cannot read,
// are problems like those of the hub.
type HTTPServer struct {
	hub    *Server
	server *http.Server
}

// HTTPServer returns the server with the time-outs that a hub needs. Bodies have
// theirs set read by read, so that a large one may take its time.
func (s *Server) HTTPServer() *HTTPServer {
	return &HTTPServer{hub: s, server: &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c, ok := r.Context().Value(connKey{}).(*conn); ok { // HTTP/1
				c.handling.Store(true)
			}
			s.ServeHTTP(w, r)
		}),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if c, ok := c.(*conn); ok && state == http.StateIdle {
				c.handling.Store(false)
				c.framing.answered() // no Read is under way
			}
		},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		HTTP2:             http2Limits(s.Limits),

		DisableGeneralOptionsHandler: true, // it would answer outside of the contract

		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}}
}

// Serve accepts connections on l until Shutdown or Close.
func (h *HTTPServer) Serve(l net.Listener) error {
	return h.server.Serve(listener{countedListener{l, h.hub.connections}, h.hub})
}

// Shutdown is http.Server's. It ends streams of events, which would not end by themselves.
func (h *HTTPServer) Shutdown(ctx context.Context) error {
	h.hub.watches.stop()
	return h.server.Shutdown(ctx)
}

// Close is http.Server's.
func (h *HTTPServer) Close() error { return h.server.Close() }

type connKey struct{}

type listener struct {
	net.Listener
	hub *Server
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, hub: l.hub}, nil
}

// conn is a connection between net/http and a caller that speaks HTTP/1.
type conn struct {
	net.Conn
	hub      *Server
	framing  framing
	refused  error         // by framing; reads fail from there on
	handling atomic.Bool   // a handler has a request, whose response is not complete
	held     *bytes.Buffer // what is written and not sent yet, see hold; nil: all is sent
}

// hold keeps what is written from here on for send. net/http would send a response of a
// few KiB in two parts, the first as large as its buffer: one part makes a GET a tenth faster.
func (c *conn) hold() { c.held = buffers.Get().(*bytes.Buffer) }

// send writes what was held, at once. net/http does not see an error.
func (c *conn) send() error {
	response := c.held
	defer giveBack(response)
	c.held = nil
	_, err := c.Conn.Write(response.Bytes())
	return err
}

// Read ends before the byte that makes a request invalid; the next Read fails. The
// error is none of the network, so that net/http answers 400.
func (c *conn) Read(p []byte) (int, error) {
	for c.refused != nil {
		if !c.handling.Load() || !c.framing.inHead() {
			return 0, c.refused
		}
		// The former request is being handled, and net/http only looks whether the
		// caller is still there: an error would cancel that request.
		if _, err := c.Conn.Read(p); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Read(p)
	valid, refused := c.framing.scan(p[:n])
	if refused != nil {
		c.refused = refused
		if valid == 0 {
			return c.Read(p)
		}
		return valid, nil
	}
	return n, err
}

// Write replaces net/http's own responses. All of them are written at once, and no
// request that is answered so reaches a handler.
func (c *conn) Write(p []byte) (int, error) {
	if c.held != nil {
		return c.held.Write(p)
	}
	if c.handling.Load() || !bytes.HasPrefix(p, []byte("HTTP/1.")) {
		return c.Conn.Write(p)
	}
	if err := c.refuse(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets net/http, which looks for it, close in a way that does not cut off
// the last response.
func (c *conn) CloseWrite() error {
	return closeWrite(c.Conn)
}

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refuse writes the problem in the place of response, which net/http made.
func (c *conn) refuse(response []byte) error {
	p := c.problem(response)
	id := newRequestID()
	p.complete(id)
	body, err := wire.Encode(p.Problem)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {problemType}}
	c.hub.setCommon(header, id)
	r := http.Response{
		ProtoMajor: 1, ProtoMinor: 1, StatusCode: p.Status, Header: header,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Close: true,
	}
	if c.framing.toHead() {
		r.Request = &http.Request{Method: http.MethodHead} // no body is written
	}
	var encoded bytes.Buffer
	if err := r.Write(&encoded); err != nil {
		return err
	}
	c.hub.Log.Info("request refused before it was handled", "request", id, "address", host(c.RemoteAddr().String()), "status", p.Status, "cause", p.Detail)
	c.SetWriteDeadline(time.Now().Add(c.hub.Limits.BodyIdle))
	if _, err := c.Conn.Write(encoded.Bytes()); err != nil {
		return err
	}
	c.drain()
	return nil
}

// problem returns what net/http's response says.
func (c *conn) problem(response []byte) *problem {
	head, text, _ := bytes.Cut(response, []byte("\r\n\r\n"))
	status := http.StatusBadRequest
	if fields := strings.Fields(string(head)); len(fields) > 1 {
		if n, err := strconv.Atoi(fields[1]); err == nil {
			status = n
		}
	}
	switch {
	case c.refused != nil:
		return problemf(status, wire.CodeMalformedRequest, "the request is malformed: %v", c.refused)
	case status == http.StatusRequestHeaderFieldsTooLarge:
		return problemf(status, wire.CodeTooLarge, "the request's line and headers are larger than this hub accepts")
	case status == http.StatusExpectationFailed:
		return problemf(status, wire.CodeMalformedRequest, "Expect must be 100-continue")
	case status == http.StatusNotImplemented:
		return problemf(status, wire.CodeMalformedRequest, "Transfer-Encoding must be chunked")
	}
	detail := "the request is malformed"
	if _, cause, ok := strings.Cut(string(text), http.StatusText(status)+": "); ok {
		detail += ": " + cause
	}
	return problemf(status, wire.CodeMalformedRequest, "%s", detail)
}

// drain discards what the caller still sends, within limits, so that closing the
// connection does not destroy the response on its way.
func (c *conn) drain() {
	c.CloseWrite()
	c.SetReadDeadline(time.Now().Add(discardTime))
	_, _ = io.CopyN(io.Discard, c.Conn, discardBytes)
}

func newRequestID() string { return strings.ToLower(rand.Text()[:16]) }

// setCommon sets the headers that every response has.
func (s *Server) setCommon(header http.Header, requestID string) {
	header.Set("X-Request-Id", requestID)
	header.Set("Hub-Version", s.Version)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	if strings.HasPrefix(s.PublicURL, "https://") { // browsers then send the cookie to no plain http
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
