package request

import (
	"context"
	"errors"
	"hash"
	"io"
	"mime"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"example.com/projecthub/hubclient/wire"
)

// MinRate is how many bytes of a body or a response the caller has to send or read, at least, in each
// [Limits.BodyIdle] that the hub waits for it. A slower request is ended, because it holds memory.
const MinRate = 64 << 10

// bodyTime is how long a body may take: less than the day for which the store keeps blobs that no list names.
const bodyTime = 12 * time.Hour

// pace measures the time for the next [MinRate] bytes. Only the time in reads and writes counts, when the
// hub waits for the caller.
type pace struct {
	idle   time.Duration
	waited time.Duration // since bytes was 0
	bytes  int64
}

// left returns how long the hub still waits for these bytes.
func (p *pace) left() time.Duration { return p.idle - p.waited }

// passed counts n bytes that were read or written, and the time that this took.
func (p *pace) passed(n int, took time.Duration) {
	p.bytes += int64(n)
	p.waited += took
	if p.bytes >= MinRate {
		*p = pace{idle: p.idle}
	}
}

// body gives each read of a request's body a deadline: a large body may take long, but one that stalls, or
// is too slow, fails.
type body struct {
	io.ReadCloser
	pace    pace
	end     time.Time
	control *http.ResponseController
	hash    hash.Hash   // of what was read; nil: not needed
	stream  bool        // of HTTP/2: net/http can end it without its connection
	closes  bool        // the connection is closed after the response, see newBody
	waiting bool        // the caller sent Expect: 100-continue, and waits for the first read
	ended   bool        // there is nothing more to read
	failed  error       // the error of a read, nil if the body was complete
	stopped atomic.Bool // see StopReading
}

func newBody(r *http.Request, idle time.Duration, control *http.ResponseController) *body {
	// This prevents request smuggling through proxies that trust the Content-Length of a chunked body.
	closes := r.ProtoMajor == 1 && (r.ProtoMinor == 0 || len(r.TransferEncoding) > 0)
	return &body{
		ReadCloser: r.Body, pace: pace{idle: idle}, end: time.Now().Add(bodyTime), control: control,
		stream: r.ProtoMajor == 2, closes: closes,
		waiting: r.Header.Get("Expect") != "", ended: r.ContentLength == 0,
	}
}

func (b *body) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	b.waiting = false
	_ = b.control.SetReadDeadline(time.Now().Add(min(b.pace.left(), time.Until(b.end))))
	if b.stopped.Load() {
		return 0, context.Canceled
	}
	start := time.Now()
	n, err := b.ReadCloser.Read(p)
	b.pace.passed(n, time.Since(start))
	if b.hash != nil {
		b.hash.Write(p[:n])
	}
	if err == nil {
		return n, nil
	}
	b.ended = true
	if err == io.EOF {
		_ = b.control.SetReadDeadline(time.Time{}) // it would end the connection while the handler runs
	} else {
		b.failed = err
	}
	return n, err
}

// Discarding what is left of a refused body lets the caller read the response instead of a broken
// connection.
const (
	discardBytes = 1 << 20
	discardTime  = time.Second
)

// discard reads what is left of the body, before the response. It reports whether the body was read to its
// end. If not, the connection cannot be used again, and a deadline bounds how long net/http waits for the
// rest.
func (b *body) discard() bool {
	if b.stream { // else what was received stays in memory until the caller has read the response
		_ = b.ReadCloser.Close()
		return true
	}
	if b.ended { // after StopReading, the connection is not used again: its deadline could end the next request
		return b.failed == nil && !b.stopped.Load()
	}
	_ = b.control.SetReadDeadline(time.Now().Add(discardTime))
	if b.waiting {
		return false
	}
	if _, err := io.CopyN(io.Discard, b.ReadCloser, discardBytes); !errors.Is(err, io.EOF) {
		return false
	}
	_ = b.control.SetReadDeadline(time.Time{})
	return true
}

// StopReading ends reads of the body in another goroutine, because the call has failed. A read that waits may go on
// for discardTime: after a missed deadline, the rest of a chunked body could not be discarded.
func (c *Call) StopReading() {
	c.W.body.stopped.Store(true)
	_ = c.W.body.control.SetReadDeadline(time.Now().Add(discardTime))
}

// ReadJSON reads a JSON body of at most limit bytes into v, and returns its bytes. Messages call the body
// what. It fails with 415, 413, 400 (not JSON) or 422 (not of v's shape), checked in this order.
func (c *Call) ReadJSON(what string, limit int64, v any) ([]byte, error) {
	data, err := c.ReadText(what, limit)
	if err != nil {
		return nil, err
	}
	return data, BodyProblem(wire.Decode(data, v))
}

// ReadText is [Call.ReadJSON] without decoding: 415 or 413.
func (c *Call) ReadText(what string, limit int64) ([]byte, error) {
	if err := c.NeedMediaType("application/json"); err != nil {
		return nil, err
	}
	if c.R.Header.Get("Content-Encoding") != "" {
		return nil, Unsupported("a JSON body must not have a Content-Encoding")
	}
	return c.ReadAll(what, limit)
}

// maxForm bounds the body of an HTML form, in bytes.
const maxForm = 16 << 10

// ReadForm reads the fields of an HTML form: 415, 413 or 400.
func (c *Call) ReadForm() (url.Values, error) {
	if err := c.NeedMediaType(wire.FormType); err != nil {
		return nil, err
	}
	data, err := c.ReadAll("the form", maxForm)
	if err != nil {
		return nil, err
	}
	fields, err := url.ParseQuery(storableQuery(string(data)))
	if err != nil {
		return nil, Problemf(http.StatusBadRequest, wire.CodeInvalidBody, "malformed form: %v", err)
	}
	return fields, nil
}

// BodyProblem turns an error of [wire.Decode] into a 400 or a 422. It returns other errors as they are.
func BodyProblem(err error) error {
	if syntax, ok := errors.AsType[*wire.SyntaxError](err); ok {
		return Problemf(http.StatusBadRequest, wire.CodeInvalidJSON,
			"the body is not valid JSON at byte %d: %v", syntax.Offset, syntax.Err)
	}
	if shape, ok := errors.AsType[*wire.ShapeError](err); ok {
		return InvalidBody(shape.Pointer, "%s", shape.Detail)
	}
	return err
}

// NeedMediaType returns a 415 unless the Content-Type is in allowed, where "" stands for a missing one.
func (c *Call) NeedMediaType(allowed ...string) error {
	header := c.R.Header.Get("Content-Type")
	mediaType, _, err := mime.ParseMediaType(header)
	if header != "" && err != nil || !slices.Contains(allowed, mediaType) {
		return Unsupported("the body's Content-Type must be %s, not %q", allowed[0], header)
	}
	return nil
}

// ReadAll reads the whole body, for which it takes room: 413 if it has more than limit bytes.
func (c *Call) ReadAll(what string, limit int64) ([]byte, error) {
	if c.R.ContentLength > limit {
		return nil, TooLarge(what, limit)
	}
	if err := c.hold().mayHold(max(c.R.ContentLength, 0) * shares[c.room].factor); err != nil {
		return nil, err
	}
	data, err := c.ReadUpTo(c.R.Body, limit)
	switch {
	case c.W.body.failed != nil:
		return nil, BrokenBody(c.W.body.failed)
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, TooLarge(what, limit)
	}
	return data, nil
}

// freeBody is the size in bytes up to which a body takes no room, so that people can sign in even when slow bodies
// hold all of it.
const freeBody = 4 << 10

// ReadUpTo reads all of r, at most limit bytes and one more. It takes room for the bytes as they arrive. The
// room for parsing and storing them it takes at the end, so that a slow caller does not hold it meanwhile.
func (c *Call) ReadUpTo(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(&charged{Reader: r, call: c}, limit+1))
	if n := int64(len(data)); err == nil && n > freeBody && n <= limit {
		err = c.Need(n * (shares[c.room].factor - 1))
	}
	return data, err
}

// charged takes room for what a reader returns.
type charged struct {
	io.Reader
	call *Call
	read int64 // bytes so far
	paid int64 // bytes for which room was taken
}

func (r *charged) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.read += int64(n)
	if r.read > freeBody {
		if refused := r.call.hold().mayHold(r.read * shares[r.call.room].factor); refused != nil {
			return n, refused
		}
		if refused := r.call.Need(r.read - r.paid); refused != nil {
			return n, refused
		}
		r.paid = r.read
	}
	return n, err
}

// BrokenBody is the 400 for a body that could not be read to its end.
func BrokenBody(err error) *Problem {
	var detail string
	_, trailer := errors.AsType[textproto.ProtocolError](err)
	_, network := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		detail = "timeout while reading the body"
	case trailer:
		detail = "the body is malformed: its trailer is invalid"
	case errors.Is(err, io.ErrUnexpectedEOF), network, errors.Is(err, context.Canceled):
		detail = "the body ended early"
	default: // net/http's error about a malformed chunk, which has no type
		detail = "the body is malformed: " + strings.TrimPrefix(err.Error(), "http: ")
	}
	return Problemf(http.StatusBadRequest, wire.CodeInvalidBody, "%s", detail).Because(err)
}
