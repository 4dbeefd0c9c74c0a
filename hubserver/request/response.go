package request

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/projecthub/hubclient/wire"
)

// ResponseWriter notes what was answered, and gives each write a deadline.
type ResponseWriter struct {
	http.ResponseWriter
	hub     *Hub
	body    *body
	pace    pace
	status  int // 0: nothing was written
	written int64
}

// WriteHeader reads what is left of the request before it sends the header.
func (w *ResponseWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		// HTTP/2 says when the hub stops that it takes no other request.
		if !w.body.discard() || w.body.closes || w.hub.IsDraining() && !w.body.stream {
			w.Header().Set("Connection", "close")
		}
		w.extend()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *ResponseWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	written := 0
	for len(p) > 0 {
		part := p[:min(int64(len(p)), MinRate-w.pace.bytes)] // to the end of what has to pass in time
		p = p[len(part):]
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

// Flush sends what was written so far.
func (w *ResponseWriter) Flush() error {
	w.extend()
	return w.body.control.Flush()
}

func (w *ResponseWriter) extend() { _ = w.body.control.SetWriteDeadline(time.Now().Add(w.pace.left())) }

func (c *Call) JSON(status int, v any) error {
	return c.Encode(status, func(w io.Writer) error { return wire.EncodeTo(w, v) })
}

// Encode responds with JSON that encode writes.
func (c *Call) Encode(status int, encode func(io.Writer) error) error {
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		return err
	}
	return c.Bytes(status, "application/json", b.Bytes())
}

// smallResponse is the size up to which a response takes no room, in bytes.
const smallResponse = 32 << 10

// Bytes responds with b, which has room for as long as the caller takes to read it. What else the call
// holds is given back.
func (c *Call) Bytes(status int, mediaType string, b []byte) error {
	h := c.hold()
	n := min(int64(len(b)), h.most) // it is in memory already
	if n <= smallResponse {
		n = 0
	}
	if held := h.bytes.Load(); n < held {
		h.free(held - n)
	} else if err := c.Need(n - held); err != nil {
		return err
	}
	c.Send(status, mediaType, b)
	return nil
}

// Send is [Call.Bytes] for what is in memory anyway, or what has its room.
func (c *Call) Send(status int, mediaType string, b []byte) {
	c.W.Header().Set("Content-Type", mediaType)
	c.W.Header().Set("Content-Length", strconv.Itoa(len(b)))
	conn, ok := c.Ctx().Value(connKey{}).(joiner)
	if ok && len(b) > httpBuffer && len(b) <= smallResponse && c.R.Method != http.MethodHead {
		conn.Join()
	}
	c.W.WriteHeader(status)
	_, _ = c.W.Write(b) // a caller that has gone needs no response
}

// httpBuffer is the size of net/http's buffer of a connection, in bytes.
const httpBuffer = 4 << 10

type (
	connKey struct{}
	joiner  interface{ Join() }
)

// WithConn adds to the context of the requests of a connection what makes one of its next two writes.
func WithConn(ctx context.Context, c joiner) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// smallBody is the size up to which compression saves nothing, in bytes.
const smallBody = 1 << 10

// Compress returns a page as the caller accepts it, and says so in the headers. Responses to forms
// are left alone: they may show a secret next to what was typed, whose length would tell of it.
func (c *Call) Compress(body []byte) []byte {
	if c.R.Method != http.MethodGet && c.R.Method != http.MethodHead || !c.compresses(body) {
		return body
	}
	return gzipped(body)
}

// staticFiles are static files as they are sent compressed, by name. They are embedded, so that there
// are few and they never change.
var staticFiles sync.Map

// CompressStatic is [Call.Compress] for a static file, which is compressed once.
func (c *Call) CompressStatic(name string, file []byte) []byte {
	if !c.compresses(file) {
		return file
	}
	sent, ok := staticFiles.Load(name)
	if !ok {
		sent, _ = staticFiles.LoadOrStore(name, gzipped(file))
	}
	return sent.([]byte)
}

// compresses reports whether a body is sent compressed, and says so in the headers.
func (c *Call) compresses(body []byte) bool {
	c.W.Header().Set("Vary", "Accept-Encoding")
	if len(body) <= smallBody || !c.Accepts("gzip") {
		return false
	}
	c.W.Header().Set("Content-Encoding", "gzip")
	return true
}

func gzipped(body []byte) []byte {
	var b bytes.Buffer
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&b)
	_, _ = z.Write(body) // to memory
	_ = z.Close()
	return b.Bytes()
}

var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func (c *Call) Accepts(encoding string) bool {
	for offer := range strings.SplitSeq(c.R.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(offer), ";")
		if strings.TrimSpace(name) == encoding {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(quality), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}
