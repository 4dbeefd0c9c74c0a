package api

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

const (
	// maxHeaders bounds what a tar has between two contents, in bytes: the headers of a member, whose
	// records take far more memory than their text, and padding.
	maxHeaders = 64 << 10
	// tarOverhead bounds what a tar has for a file besides its content, in bytes: headers and padding.
	// It leaves room for directories.
	tarOverhead = 4 << 10
	// endMark is how many zeros a tar has after its last file, at least, in bytes. The output of a
	// program that was interrupted has none, and must not replace a set.
	endMark = 512
	// MaxWindow bounds the memory that a zstd stream may ask for.
	MaxWindow = 8 << 20
	// leastWindow is the zstd window that every frame of a stream may have, in bytes. A larger one is
	// allowed when the first frame has it.
	leastWindow = 1 << 20
)

// archiveBytes is the largest tar that a set of files within the limits can need.
func archiveBytes(c *request.Call) int64 {
	return c.Hub.Limits.BaseFilesBytes + int64(c.Hub.Limits.BaseFiles+1)*tarOverhead
}

// archive is an upload of files in a tar.
type archive struct {
	*upload
	stream *tarStream
	tar    *tar.Reader
	files  []tree.Entry // so far
	bytes  int64        // of these
}

func (u *upload) receiveTar(resource int64) (tree.Tree, error) {
	inflated, err := u.inflate()
	if err != nil {
		return nil, u.problem(err)
	}
	defer inflated.Close()
	stream := &tarStream{r: inflated, limit: archiveBytes(u.c)}
	a := archive{upload: u, stream: stream, tar: tar.NewReader(stream)}
	if err := u.store(resource, a.next); err != nil {
		return nil, err
	}
	files, err := tree.New(a.files)
	if err != nil {
		return nil, badArchive("%v", err)
	}
	return files, nil
}

// next reads the next file, and compresses it; io.EOF after the last one.
func (a *archive) next() (b store.Blob, err error) {
	h, err := a.header()
	if err != nil {
		return b, err
	}
	path := strings.TrimPrefix(h.Name, "./")
	if err := tree.CheckPath(path); err != nil {
		return b, badArchive("%v", err)
	}
	a.bytes += h.Size
	if err := checkSet(a.c, len(a.files)+1, path, h.Size, a.bytes); err != nil {
		return b, err
	}
	if err := a.c.Need(listCost + 4*int64(len(path))); err != nil {
		return b, err
	}
	content, err := a.read(a.tar, h.Size)
	if err != nil {
		return b, err
	}
	b = store.NewBlob(content)
	a.files = append(a.files, tree.Entry{Path: path, Mode: tree.ModeOf(uint32(h.Mode)), Size: h.Size, SHA256: b.SHA256})
	a.c.Free(h.Size)
	return b, a.c.Need(int64(len(b.Body)))
}

// header returns that of the next regular file. After the last one it reads the rest.
func (a *archive) header() (*tar.Header, error) {
	for {
		a.stream.headers, a.stream.zeros = maxHeaders, 0
		h, err := a.tar.Next()
		a.stream.headers = 0
		switch {
		case errors.Is(err, io.EOF) && a.stream.zeros < endMark:
			return nil, badArchive("it is truncated: the zero blocks that end a tar are missing")
		case errors.Is(err, io.EOF):
			if _, err := io.Copy(io.Discard, a.stream); err != nil {
				return nil, a.problem(err)
			}
			return nil, io.EOF
		case err != nil:
			return nil, a.problem(err)
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		case tar.TypeReg:
			if h.PAXRecords["GNU.sparse.major"] == "" && h.PAXRecords["GNU.sparse.map"] == "" {
				return h, nil
			}
		}
		return nil, badArchive("%q is not a regular file: links, devices and sparse files are not accepted",
			strings.TrimPrefix(h.Name, "./"))
	}
}

// tarStream is a tar without its compression.
type tarStream struct {
	r        io.Reader
	limit, n int64
	headers  int // bytes that may pass while headers are read; 0: any number
	zeros    int // bytes at the end of what passed
}

func (s *tarStream) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.headers > 0 {
		if s.headers -= n; s.headers <= 0 {
			return 0, badArchive("the headers of a member are longer than %d KiB", maxHeaders>>10)
		}
	}
	if s.n += int64(n); s.n > s.limit {
		return 0, request.TooLarge("the archive", s.limit)
	}
	others := len(bytes.TrimRight(p[:n], "\x00"))
	if others > 0 {
		s.zeros = 0
	}
	s.zeros += n - others
	return n, err
}

// inflate returns a tar without its compression.
func (u *upload) inflate() (io.ReadCloser, error) {
	first, err := u.r.Peek(zstd.HeaderMaxSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	is := func(form string, magic ...byte) bool {
		return u.form == form || u.form == "" && bytes.HasPrefix(first, magic)
	}
	switch {
	case is(gz, 0x1f, 0x8b):
		z, err := gzip.NewReader(u.r)
		if err != nil {
			return nil, badArchive("it is not gzip")
		}
		return z, nil
	case is(zst, 0x28, 0xb5, 0x2f, 0xfd):
		return u.unzstd(first)
	}
	return io.NopCloser(u.r), nil
}

// unzstd returns the content of a zstd stream that begins with first. There is room for its window
// before it is made.
func (u *upload) unzstd(first []byte) (io.ReadCloser, error) {
	window := uint64(MaxWindow)
	var header zstd.Header
	if err := header.Decode(first); err == nil && !header.Skippable {
		window = header.WindowSize
		if header.SingleSegment {
			window = header.FrameContentSize
		}
		window = min(max(window, leastWindow), MaxWindow)
	}
	if err := u.c.Need(2 * int64(window)); err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(u.r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}
