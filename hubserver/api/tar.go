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
	// maxHeaders bounds what a tar has between the contents of two files, in bytes: padding, and headers, whose
	// records take far more memory than their text.
	maxHeaders = 64 << 10
	// tarOverhead bounds what a tar has for a file in addition to its content, in bytes: headers and padding,
	// and those of directories.
	tarOverhead = 4 << 10
	// endMark is how many bytes of zeros a tar has at its end, at least. The output of an interrupted program
	// has none, and must not replace the files of a project.
	endMark = 512
	// MaxWindow bounds the window of a zstd stream, in bytes.
	MaxWindow = 8 << 20
	// leastWindow is the zstd window that is always allowed, in bytes. A larger one is allowed if the first frame
	// declares it.
	leastWindow = 1 << 20
)

// archiveBytes is the size of the largest tar of files within the limits, in bytes.
func archiveBytes(c *request.Call) int64 {
	return c.Hub.Limits.BaseFilesBytes + int64(c.Hub.Limits.BaseFiles+1)*tarOverhead
}

// archive is an upload of files in a tar.
type archive struct {
	*upload
	stream  *tarStream
	tar     *tar.Reader
	files   []tree.Entry // so far
	bytes   int64        // sum of their sizes
	content []byte       // of a file
}

func (u *upload) receiveTar(resource int64) ([]byte, error) {
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
	return files.Canonical(), nil
}

// next reads the next file and compresses it; io.EOF after the last one.
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
	if a.content, err = a.read(a.content, a.tar, h.Size); err != nil {
		return b, err
	}
	b = store.NewBlob(a.content)
	a.files = append(a.files, tree.Entry{Path: path, Mode: tree.ModeOf(uint32(h.Mode)), Size: h.Size, SHA256: b.SHA256})
	a.batch.taken += int64(cap(b.Body))
	return b, a.c.Need(int64(cap(b.Body)))
}

// header returns the header of the next regular file; io.EOF after the last one, once the rest was read.
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

// tarStream reads a decompressed tar, and bounds it and its headers.
type tarStream struct {
	r        io.Reader
	limit, n int64 // of all bytes
	headers  int   // bytes that may be read until the next content begins; 0: any number
	zeros    int   // how many zero bytes were read last
}

func (s *tarStream) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.headers > 0 {
		s.headers -= n
		if s.headers <= 0 {
			return 0, badArchive("the headers of a member are longer than %d KiB", maxHeaders>>10)
		}
	}
	s.n += int64(n)
	if s.n > s.limit {
		return 0, request.TooLarge("the archive", s.limit)
	}
	others := len(bytes.TrimRight(p[:n], "\x00"))
	if others > 0 {
		s.zeros = 0
	}
	s.zeros += n - others
	return n, err
}

// inflate returns the decompressed tar.
func (u *upload) inflate() (io.ReadCloser, error) {
	first, err := u.r.Peek(zstd.HeaderMaxSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	is := func(form string, magic ...byte) bool {
		return u.form == form || u.form == "" && bytes.HasPrefix(first, magic)
	}
	switch {
	case is(gzipType, 0x1f, 0x8b):
		z, err := gzip.NewReader(u.r)
		if err != nil {
			return nil, badArchive("it is not gzip")
		}
		return z, nil
	case is(zstdType, 0x28, 0xb5, 0x2f, 0xfd):
		return u.unzstd(first)
	}
	return io.NopCloser(u.r), nil
}

// unzstd decompresses a zstd stream that begins with first. It takes room for the window before the decoder
// allocates that.
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
