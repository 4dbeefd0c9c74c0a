package api

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// Media types of uploads besides [wire.UploadType]: a tar, and a compressed one.
const (
	tarType  = "application/x-tar"
	gzipType = "application/gzip"
	zstdType = "application/zstd"
)

// upload is the body of a request with files: a tar (see archive), or frames.
type upload struct {
	c     *request.Call
	form  string // wire.UploadType, or the media type of a compressed tar; "": its first bytes decide
	base  string // digest of the list that is patched, see frames
	limit int64  // of a tar, or of all frames of files together, in bytes
	body  *limitedReader
	r     *bufio.Reader // of body

	batch    batch           // which is being received
	batches  int             // that were begun
	spare    chan []byte     // arenas of batches that are stored; their room stays taken
	large    chan []byte     // the arena of the only batch with a larger file, while that is not in use
	sent     map[string]bool // digests of the blobs that were stored
	uploaded int             // files that were received, duplicates too
}

// newUpload checks the headers of a request with files, 415, 422 or 413, and reads nothing yet. Messages call the
// body what. It may have limit bytes, and [request.MaxPlan] more if it begins with a list of files.
func newUpload(c *request.Call, what string, limit int64) (*upload, error) {
	if err := c.NeedMediaType(tarType, gzipType, zstdType, wire.UploadType, "application/octet-stream", ""); err != nil {
		return nil, err
	}
	named, _, _ := mime.ParseMediaType(c.R.Header.Get("Content-Type"))
	encoding := c.R.Header.Get("Content-Encoding")
	u := &upload{c: c, base: c.R.URL.Query().Get("base"), limit: limit, sent: map[string]bool{}}
	u.spare, u.large = make(chan []byte, 2), make(chan []byte, 1)
	frames := named == wire.UploadType
	switch {
	case frames && encoding != "":
		return nil, request.Unsupported("%s must not have a Content-Encoding", named)
	case frames && u.base != "" && !tree.ValidDigest(u.base):
		return nil, checkDigest("base", u.base)
	case !frames && u.base != "":
		return nil, request.InvalidBody("", "base is for a body of the type %s", wire.UploadType)
	case encoding == "gzip":
		u.form = gzipType
	case encoding == "zstd":
		u.form = zstdType
	case encoding != "":
		return nil, request.Unsupported("the archive's Content-Encoding must be gzip or zstd, not %q", encoding)
	case frames || named == gzipType || named == zstdType:
		u.form = named
	}
	if frames {
		limit += request.MaxPlan
	}
	if c.R.ContentLength > limit {
		return nil, request.TooLarge(what, limit)
	}
	u.large <- nil
	u.body = &limitedReader{r: c.R.Body, what: what, limit: limit}
	u.r = bufio.NewReaderSize(u.body, 64<<10)
	return u, nil
}

// limitedReader counts the bytes of a body, and fails beyond limit. Its errors are problems, except io.EOF.
type limitedReader struct {
	r        io.Reader
	what     string
	limit, n int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.n += int64(n)
	if l.n > l.limit {
		return 0, request.TooLarge(l.what, l.limit)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = request.BrokenBody(err)
	}
	return n, err
}

// receive reads the body, stores its files as blobs of the resource, and returns the list of all files that the
// upload is about, in canonical form. before is the list that the resource has, of which the upload may have a patch.
func (u *upload) receive(resource int64, before store.Revision) ([]byte, error) {
	if u.form == wire.UploadType {
		return u.receiveFrames(resource, before)
	}
	return u.receiveTar(resource)
}

// checkSet returns a 413 if n files with so many bytes in all, of which the last one has this path and size, are
// beyond the limits.
func checkSet(c *request.Call, n int, path string, size, bytes int64) error {
	l := c.Hub.Limits
	switch {
	case n > l.BaseFiles:
		return request.Problemf(http.StatusRequestEntityTooLarge, wire.CodeTooLarge,
			"too many files: this hub accepts at most %d", l.BaseFiles)
	case size > l.BaseFileBytes:
		return request.TooLarge(fmt.Sprintf("the file %q", path), l.BaseFileBytes)
	case bytes > l.BaseFilesBytes:
		return request.TooLarge("the set of files", l.BaseFilesBytes)
	}
	return nil
}

const (
	// batchBytes is how many bytes are stored in one transaction, at least. What was stored stays when an
	// upload breaks, so that the next one need not send it again.
	batchBytes = 2 << 20
	// firstNeed is how much memory an upload takes for buffers and decompression, in bytes.
	firstNeed = 1 << 20
)

// store stores the blobs that next returns until io.EOF, in batches; one batch is stored while next reads another.
// If next fails, the blobs before are stored, and its error is returned.
func (u *upload) store(resource int64, next func() (store.Blob, error)) error {
	if err := u.c.Need(firstNeed); err != nil { // the first Need must return before two goroutines call it
		return err
	}
	// What was received is stored even if the caller is gone meanwhile.
	r := u.c.R
	u.c.R = r.WithContext(context.WithoutCancel(r.Context()))
	defer func() { u.c.R = r }()
	group, ctx := errgroup.WithContext(u.c.Ctx())
	batches := make(chan batch)
	group.Go(func() error {
		for b := range batches {
			err := u.c.Write(func(tx *store.Tx) (request.Done, error) {
				return request.Done{}, tx.PutBlobs(resource, b.blobs)
			})
			u.done(b)
			if err != nil {
				u.c.StopReading()
				return err
			}
		}
		return nil
	})
	var broken error
	for broken == nil && ctx.Err() == nil {
		broken = u.fill(next)
		if len(u.batch.blobs) == 0 {
			u.done(u.batch)
			continue
		}
		select {
		case batches <- u.batch:
		case <-ctx.Done():
		}
	}
	close(batches)
	if errors.Is(broken, io.EOF) {
		broken = nil
	}
	return cmp.Or(group.Wait(), broken)
}

// batch is blobs that are stored together.
type batch struct {
	blobs []store.Blob
	arena []byte // memory of blobs, of batchBytes, or more for a single one: see frames.reserve
	taken int64  // room that was taken for arena and blobs
}

// errFull says that the batch has no memory left for another blob.
var errFull = errors.New("the batch is full")

// fill sets batch to the next blobs to store together, even if next fails midway.
func (u *upload) fill(next func() (store.Blob, error)) error {
	u.batch = batch{}
	u.batches++
	for size := 0; size < batchBytes; {
		b, err := next()
		if errors.Is(err, errFull) {
			return nil
		}
		if err != nil {
			return err
		}
		u.uploaded++
		size += len(b.Body)
		if !u.sent[b.SHA256] {
			u.sent[b.SHA256] = true
			u.batch.blobs = append(u.batch.blobs, b)
		}
	}
	return nil
}

// done gives back the room of a batch that is stored, but keeps its arena for another one.
func (u *upload) done(b batch) {
	switch {
	case cap(b.arena) > batchBytes:
		u.large <- b.arena[:0]
	case b.arena != nil:
		u.spare <- b.arena[:0]
	}
	u.c.Free(b.taken - int64(cap(b.arena)))
}

// read reads n bytes, in the memory of buf if that is large enough. It takes room for more memory as the bytes arrive:
// n is what the caller says.
func (u *upload) read(buf []byte, r io.Reader, n int64) ([]byte, error) {
	buf = buf[:0]
	for have := int64(0); have < n; {
		size := n // past batchBytes it grows to the full size at once, because each growth leaves garbage
		if have < batchBytes {
			size = min(n, max(int64(cap(buf)), 2*have, 64<<10)) // at most twice what has arrived
		}
		if more := size - int64(cap(buf)); more > 0 {
			if err := u.c.Need(more); err != nil {
				return nil, err
			}
			buf = append(make([]byte, 0, size), buf...)
		}
		if _, err := io.ReadFull(r, buf[have:size]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, u.problem(err)
		}
		buf, have = buf[:size], size
	}
	return buf, nil
}

// problem converts an error of reading or decompressing an upload to a problem.
func (u *upload) problem(err error) error {
	_, isProblem := errors.AsType[*request.Problem](err)
	switch {
	case isProblem:
		return err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return badArchive("its zstd window is larger than %d MiB", MaxWindow>>20)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return request.BrokenBody(err)
	case u.form == wire.UploadType:
		return cannotTake("the upload", "%v", err)
	}
	return badArchive("it is not a complete tar, or not compressed as declared").Because(err)
}

// badArchive is the 422 of an archive with invalid content.
func badArchive(format string, args ...any) *request.Problem {
	return cannotTake("the archive", format, args...)
}

// cannotTake is a 422 that says why what was sent cannot be used.
func cannotTake(what, format string, args ...any) *request.Problem {
	return request.InvalidBody("", "%s cannot be taken: %s", what, fmt.Sprintf(format, args...))
}
