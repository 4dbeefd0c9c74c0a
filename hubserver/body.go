package hubserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/projecthub/hubclient/wire"
)

// minRate is how much has to pass of a body or a response within [Limits.BodyIdle]
// of waiting for the caller, or all that is left of it, in bytes. It makes the
// least rate at which a request may hold memory.
const minRate = 64 << 10

// pace is what is left of the time for the next [minRate] bytes. Only waiting for
// the caller counts, not the time that the hub takes.
type pace struct {
	idle   time.Duration
	waited time.Duration // since bytes was 0
	bytes  int64
}

// deadline returns when the caller is given up.
func (p *pace) deadline() time.Time { return time.Now().Add(p.idle - p.waited) }

// passed counts n bytes that came or went in this time.
func (p *pace) passed(n int, took time.Duration) {
	p.bytes += int64(n)
	p.waited += took
	if p.bytes >= minRate {
		*p = pace{idle: p.idle}
	}
}

// body gives each read of a request's body a deadline, so that a large body may
// take long but one that is silent, or hardly comes, may not.
type body struct {
	io.ReadCloser
	pace    pace
	control *http.ResponseController
	stream  bool  // of HTTP/2: net/http ends it without its connection
	waiting bool  // the caller asked for leave to send, which the first read gives
	ended   bool  // nothing more comes
	failed  error // what ended it before its time
	n       int64 // bytes that came
}

func newBody(r *http.Request, idle time.Duration, control *http.ResponseController) *body {
	return &body{
		ReadCloser: r.Body, pace: pace{idle: idle}, control: control, stream: r.ProtoMajor == 2,
		waiting: r.Header.Get("Expect") != "", ended: r.ContentLength == 0,
	}
}

func (b *body) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	b.waiting = false
	b.control.SetReadDeadline(b.pace.deadline())
	start := time.Now()
	n, err := b.ReadCloser.Read(p)
	b.pace.passed(n, time.Since(start))
	b.n += int64(n)
	switch err {
	case nil:
	case io.EOF:
		b.ended = true
		b.control.SetReadDeadline(time.Time{}) // or it would end the connection while the handler works
	default:
		b.ended, b.failed = true, err
	}
	return n, err
}

// Discarding what is left of a refused body lets the caller read the answer
// instead of a broken connection.
const (
	discardBytes = 1 << 20
	discardTime  = time.Second
)

// discard makes way for the answer. It reports whether the body came to its end,
// without which the connection is of no further use; a deadline then ends the
// server's own wait for the rest.
func (b *body) discard() bool {
	if b.stream {
		return true
	}
	if b.ended {
		return b.failed == nil
	}
	end := time.Now().Add(discardTime)
	b.control.SetReadDeadline(end)
	if b.waiting {
		return false
	}
	buf := make([]byte, 32<<10)
	for n := 0; n < discardBytes; {
		k, err := b.ReadCloser.Read(buf)
		n += k
		if err == io.EOF {
			b.control.SetReadDeadline(time.Time{})
			return true
		}
		if err != nil {
			break
		}
	}
	return false
}

// responseWriter notes what was answered, and gives each write a deadline.
type responseWriter struct {
	http.ResponseWriter
	body     *body
	draining *atomic.Bool // of the hub
	pace     pace
	status   int
	written  int64
}

func (w *responseWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		// HTTP/2 says when the hub stops that it takes no other request.
		if !w.body.discard() || w.draining.Load() && !w.body.stream {
			w.Header().Set("Connection", "close")
		}
		w.extend()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	written := 0
	for part := range slices.Chunk(p, minRate) {
		w.extend()
		start := time.Now()
		n, err := w.ResponseWriter.Write(part)
		w.pace.passed(n, time.Since(start))
		written += n
		w.written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

func (w *responseWriter) extend() { w.body.control.SetWriteDeadline(w.pace.deadline()) }

func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// json answers with v.
func (c *call) json(status int, v any) error {
	return c.encoded(status, func(w io.Writer) error { return wire.EncodeTo(w, v) })
}

func (c *call) encoded(status int, encode func(io.Writer) error) error {
	encoded := buffers.Get().(*bytes.Buffer)
	defer giveBack(encoded)
	if err := encode(encoded); err != nil {
		return err
	}
	return c.bytes(status, "application/json", encoded.Bytes())
}

// buffers are for small responses, which nearly all are.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func giveBack(b *bytes.Buffer) {
	if b.Cap() <= 2*smallResponse {
		b.Reset()
		buffers.Put(b)
	}
}

func (c *call) bytes(status int, mediaType string, b []byte) error {
	if err := c.takeResponse(status, int64(len(b))); err != nil {
		return err
	}
	return c.write(status, mediaType, b)
}

// write is bytes for what is in memory anyway.
func (c *call) write(status int, mediaType string, b []byte) error {
	c.w.Header().Set("Content-Type", mediaType)
	c.w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	c.w.WriteHeader(status)
	if conn := c.conn(); conn != nil && len(b) <= smallResponse {
		conn.hold()
	}
	_, _ = c.w.Write(b) // a caller that has gone needs no answer
	return nil
}

// send sends the response if it was held.
func (c *call) send() error {
	conn := c.conn()
	if conn == nil || conn.held == nil {
		return nil
	}
	_ = c.w.body.control.Flush() // to what is held
	return conn.send()
}

// conn returns the connection of HTTP/1, nil for another.
func (c *call) conn() *conn {
	conn, _ := c.ctx().Value(connKey{}).(*conn)
	return conn
}

// smallResponse is the size up to which a response is not worth a reservation, in bytes.
const smallResponse = 32 << 10

// takeResponse makes what is reserved for a request as much as its response
// needs, which the caller may read slowly. A problem is answered in any case.
func (c *call) takeResponse(status int, bytes int64) error {
	switch {
	case c.reserved != nil && bytes < c.reserved.bytes:
		return c.reserved.resize(c.ctx(), bytes)
	case bytes <= smallResponse || status >= http.StatusBadRequest:
		return nil
	case c.reserved != nil:
		return c.takeAtMost(c.reserved.work, bytes)
	}
	return c.takeAtMost(viewing, bytes)
}

// readJSON reads a JSON body of at most limit bytes into v, which is what names
// for messages: 415, 413, 400, 422 in this order.
func (c *call) readJSON(what string, limit int64, v any) ([]byte, error) {
	data, err := c.readText(what, limit)
	if err != nil {
		return nil, err
	}
	if err := c.takeAtMost(changing, jsonMemory(data)); err != nil {
		return nil, err
	}
	return data, bodyProblem(wire.Decode(data, v))
}

// readText reads a body that should be JSON.
func (c *call) readText(what string, limit int64) ([]byte, error) {
	if err := c.needMediaType("application/json"); err != nil {
		return nil, err
	}
	if c.r.Header.Get("Content-Encoding") != "" {
		return nil, unsupported("a JSON body must not have a Content-Encoding")
	}
	return c.readAll(changing, what, limit)
}

// bodyProblem turns the errors of decoding a body into problems.
func bodyProblem(err error) error {
	var syntax *wire.SyntaxError
	var shape *wire.ShapeError
	switch {
	case errors.As(err, &syntax):
		return problemf(http.StatusBadRequest, wire.CodeInvalidJSON, "the body is not valid JSON at byte %d: %v", syntax.Offset, syntax.Err)
	case errors.As(err, &shape):
		return invalidBody(shape.Pointer, "%s", shape.Detail)
	}
	return err
}

// needMediaType refuses a body of another type. With "" among the allowed, none may be named.
func (c *call) needMediaType(allowed ...string) error {
	header := c.r.Header.Get("Content-Type")
	mediaType, _, err := mime.ParseMediaType(header)
	if header != "" && err != nil || !slices.Contains(allowed, mediaType) {
		return unsupported("the body's Content-Type must be %s, not %q", allowed[0], header)
	}
	return nil
}

func unsupported(format string, args ...any) *problem {
	return problemf(http.StatusUnsupportedMediaType, wire.CodeUnsupportedMediaType, format, args...)
}

// readAll reads the whole body, 413 beyond limit.
func (c *call) readAll(w work, what string, limit int64) ([]byte, error) {
	if c.r.ContentLength > limit {
		return nil, tooLarge(what, limit)
	}
	data, err := c.readInto(w, c.r.Body, 0, limit)
	if broken := c.r.Body.(*body).failed; broken != nil {
		return nil, brokenBody(broken)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(what, limit)
	}
	return data, nil
}

// brokenBody is the answer to a body that could not be read to its end.
func brokenBody(err error) error {
	detail := "the body ended before it was whole"
	var malformed framingError
	var trailer textproto.ProtocolError
	var network net.Error
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		detail = "the body stopped coming"
	case errors.As(err, &malformed):
		detail = "the body is malformed: " + malformed.Error()
	case errors.As(err, &trailer):
		detail = "the body is malformed: its trailer is invalid"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &network), errors.Is(err, context.Canceled):
	default: // net/http's error for a chunk, which has no type
		detail = "the body is malformed: " + strings.TrimPrefix(err.Error(), "http: ")
	}
	return problemf(http.StatusBadRequest, wire.CodeInvalidBody, "%s", detail).because(err)
}
