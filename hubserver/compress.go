package hubserver

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"sync"
)

// smallBody is the size up to which compression saves nothing, in bytes.
const smallBody = 1 << 10

// compress returns a page or a static file as the caller accepts it, and says so in the
// headers. Responses to forms are left alone: they may show a secret next to what was
// typed, whose length would tell of it.
func (c *call) compress(body []byte) []byte {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return body
	}
	c.w.Header().Set("Vary", "Accept-Encoding")
	if len(body) <= smallBody || !acceptsGzip(c.r.Header) {
		return body
	}
	c.w.Header().Set("Content-Encoding", "gzip")
	return gzipped(body)
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

// staticFiles are static files as they are sent compressed, by name. They are embedded,
// so that there are few and they never change.
var staticFiles sync.Map

// compressStatic is compress for a static file, which is compressed once.
func (c *call) compressStatic(name string, file []byte) []byte {
	c.w.Header().Set("Vary", "Accept-Encoding")
	if len(file) <= smallBody || !acceptsGzip(c.r.Header) {
		return file
	}
	c.w.Header().Set("Content-Encoding", "gzip")
	sent, ok := staticFiles.Load(name)
	if !ok {
		sent, _ = staticFiles.LoadOrStore(name, gzipped(file))
	}
	return sent.([]byte)
}
