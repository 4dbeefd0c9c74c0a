package request

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/projecthub/hubclient/wire"
)

// ResponseWriter remembers status and size of the response, and gives each write a deadline.
type ResponseWriter struct {
	http.ResponseWriter
	hub     *Hub
	body    *body
	pace    pace
	status  int   // 0: nothing was written
	written int64 // bytes of the body
}

// WriteHeader discards what is left of the request's body before it sends the header.
func (w *ResponseWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		// HTTP/2 has a frame of its own (GOAWAY) for a hub that stops.
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
		part := p[:min(int64(len(p)), MinRate-w.pace.bytes)] // no further than the next deadline
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

// extend sets the deadline of the next write.
func (w *ResponseWriter) extend() { _ = w.body.control.SetWriteDeadline(time.Now().Add(w.pace.left())) }

// JSON responds with v as JSON.
func (c *Call) JSON(status int, v any) error {
	b, err := wire.Encode(v)
	if err != nil {
		return err
	}
	return c.Bytes(status, "application/json", b)
}

// smallResponse is the size up to which a response takes no room, in bytes.
const smallResponse = 32 << 10

// Bytes responds with b, for which it takes room until the caller has read it. It gives back the room that
// the call holds beyond that.
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

// Send is [Call.Bytes] without taking room, for a body that stays in memory or has its room already.
func (c *Call) Send(status int, mediaType string, b []byte) {
	c.W.Header().Set("Content-Type", mediaType)
	c.W.Header().Set("Content-Length", strconv.Itoa(len(b)))
	c.W.WriteHeader(status)
	_, _ = c.W.Write(b) // it fails if the caller is gone, who then needs no response
}

// smallBody is the size up to which compression saves nothing, in bytes.
const smallBody = 1 << 10

// Compress compresses a page if the caller accepts that, and sets the headers. It leaves responses to forms
// alone: they may contain a secret next to text that was sent, and the compressed length would reveal it.
func (c *Call) Compress(body []byte) []byte {
	if c.R.Method != http.MethodGet && c.R.Method != http.MethodHead || !c.compresses(body) {
		return body
	}
	return gzipped(body)
}

// staticFiles are the compressed static files, by name. They are embedded in the program: they are few and
// never change.
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

// compresses reports whether a body is sent compressed, and sets the headers.
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

// Accepts reports whether Accept-Encoding allows an encoding by its name.
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
