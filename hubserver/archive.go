package hubserver

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Compressions of an archive. Plain means none.
const (
	plain = "application/x-tar"
	gz    = "application/gzip"
	zst   = "application/zstd"
)

// maxWindow bounds the memory that a zstd stream may ask for.
const maxWindow = 8 << 20

// compressionOf returns how the request says that its archive is compressed, ""
// when the first bytes are to decide; 415 for a type that is not an archive.
func (c *call) compressionOf() (string, error) {
	if err := c.needMediaType(plain, gz, zst, wire.BaseFilesType, "application/octet-stream", ""); err != nil {
		return "", err
	}
	named, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	encoding := c.r.Header.Get("Content-Encoding")
	if named == wire.BaseFilesType && encoding != "zstd" {
		return "", unsupported("the Content-Encoding of %s must be zstd, not %q", named, encoding)
	}
	switch encoding {
	case "":
	case "gzip":
		return gz, nil
	case "zstd":
		return zst, nil
	default:
		return "", unsupported("the archive's Content-Encoding must be gzip or zstd, not %q", encoding)
	}
	if named == gz || named == zst {
		return named, nil
	}
	return "", nil
}

// sniff returns the compression that an archive's first bytes show.
func sniff(first []byte) string {
	switch {
	case bytes.HasPrefix(first, []byte{0x1f, 0x8b}):
		return gz
	case bytes.HasPrefix(first, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zst
	}
	return plain
}

// inflate returns the tar stream within r, and how it was compressed. It reserves
// the memory that this takes.
func (c *call) inflate(r io.Reader, compression string) (stream io.Reader, actual string, done func(), err error) {
	if err := c.takePart(streamPart, inflateMemory); err != nil {
		return nil, "", nil, err
	}
	sent := &countingReader{r: r, what: "the archive", limit: c.s.Limits.archiveBytes()} // it may inflate to nothing
	buffered := bufio.NewReaderSize(sent, 64<<10)
	if compression == "" {
		first, _ := buffered.Peek(4)
		compression = sniff(first)
	}
	switch compression {
	case gz:
		z, done, err := gunzip(buffered)
		if err != nil {
			return nil, gz, nil, badArchive("it is not gzip")
		}
		return z, gz, done, nil
	case zst:
		z, err := c.unzstd(buffered)
		if err != nil {
			return nil, zst, nil, err
		}
		return z, zst, z.Close, nil
	}
	return buffered, plain, func() {}, nil
}

func gunzip(r io.Reader) (io.Reader, func(), error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, nil, err
	}
	return z, func() { z.Close() }, nil
}

// inflateMemory is what decompressing takes besides a window, in bytes.
const inflateMemory = 512 << 10

// leastWindow is the zstd window that every frame of a stream may have, in bytes.
// A larger one is allowed when the first frame has it.
const leastWindow = 1 << 20

// unzstd returns what the zstd stream r holds. The memory for its window is
// reserved before it is there.
func (c *call) unzstd(r *bufio.Reader) (*zstd.Decoder, error) {
	window := uint64(maxWindow)
	first, _ := r.Peek(zstd.HeaderMaxSize)
	var header zstd.Header
	if err := header.Decode(first); err == nil && !header.Skippable {
		window = header.WindowSize
		if header.SingleSegment {
			window = header.FrameContentSize
		}
		window = min(max(window, leastWindow), maxWindow)
	}
	if err := c.takePart(streamPart, inflateMemory+2*int64(window)); err != nil {
		return nil, err
	}
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window), zstd.WithDecoderLowmem(true))
}

func badArchive(format string, args ...any) *problem {
	return cannotTake("the archive", format, args...)
}

func cannotTake(what, format string, args ...any) *problem {
	return invalidBody("", "%s cannot be taken: %s", what, fmt.Sprintf(format, args...))
}

// archiveReader reads the regular files of a tar stream, within limits.
type archiveReader struct {
	call  *call
	wants func(path string) bool                   // whether each is called with the content of a file; others are only hashed
	each  func(e tree.Entry, content []byte) error // content is the callee's to keep

	entries []tree.Entry
	bytes   int64
	paths   int64 // bytes of all paths
}

// maxHeaders bounds what a tar has between two contents, in bytes: the headers of
// a member, whose records take far more memory than their text, and padding.
const maxHeaders = 64 << 10

// archiveBytes is the largest tar that a set of files within the limits can need.
func (l Limits) archiveBytes() int64 { return l.BaseFilesBytes + int64(l.BaseFiles+1)*tarOverhead }

// check holds a set of n files, bytes together, against the limits; the last one
// is at path and of this size.
func (l Limits) check(n int, path string, size, bytes int64) error {
	switch {
	case n > l.BaseFiles:
		return problemf(http.StatusRequestEntityTooLarge, wire.CodeTooLarge, "too many files: this hub accepts at most %d", l.BaseFiles)
	case size > l.BaseFileBytes:
		return tooLarge(fmt.Sprintf("the file %q", path), l.BaseFileBytes)
	case bytes > l.BaseFilesBytes:
		return tooLarge("the set of files", l.BaseFilesBytes)
	}
	return nil
}

// tarOverhead bounds what a tar holds for a file besides its content, in bytes:
// headers and padding. It leaves room for directories.
const tarOverhead = 4 << 10

// endMark is how many zeros a tar has after its last file, at least, in bytes. A
// program that was cut off leaves a stream without, which is not to replace a set.
const endMark = 512

// read reads the whole stream and returns its tree.
func (a *archiveReader) read(stream io.Reader) (tree.Tree, error) {
	whole := a.call.s.Limits.archiveBytes()
	counted := &countingReader{r: stream, what: "the archive", limit: whole}
	archive := tar.NewReader(counted)
	for {
		before := counted.n
		counted.headers = maxHeaders
		header, err := archive.Next()
		counted.headers = 0
		if errors.Is(err, io.EOF) {
			if counted.n-before < endMark || counted.zeros < endMark {
				return nil, badArchive("it is truncated: the zero blocks that end a tar are missing")
			}
			break
		}
		if err != nil {
			return nil, streamProblem(err)
		}
		if err := a.take(header, archive); err != nil {
			return nil, err
		}
	}
	if _, err := io.Copy(io.Discard, counted); err != nil {
		return nil, streamProblem(err)
	}
	files, err := tree.New(a.entries)
	return files, pathProblem("the archive", err)
}

func (a *archiveReader) take(header *tar.Header, content io.Reader) error {
	path := strings.TrimPrefix(header.Name, "./")
	switch header.Typeflag {
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return nil
	case tar.TypeReg:
		if header.PAXRecords["GNU.sparse.major"] != "" || header.PAXRecords["GNU.sparse.map"] != "" {
			return badArchive("%q is a sparse file", path)
		}
	default:
		return badArchive("%q is not a regular file: links, devices and sparse files are not accepted", path)
	}
	if err := pathProblem("the archive", tree.CheckPath(path)); err != nil {
		return err
	}
	a.bytes += header.Size
	if err := a.call.s.Limits.check(len(a.entries)+1, path, header.Size, a.bytes); err != nil {
		return err
	}
	a.paths += int64(len(path))
	if err := a.call.takePart(manifestPart, int64(len(a.entries)+1)*entryCost+a.paths*pathCost); err != nil {
		return err
	}
	entry := tree.Entry{Path: path, Mode: tree.ModeOf(uint32(header.Mode)), Size: header.Size}
	if !a.wants(path) {
		hash := sha256.New()
		if _, err := io.Copy(hash, content); err != nil {
			return streamProblem(err)
		}
		entry.SHA256 = hex.EncodeToString(hash.Sum(nil))
		a.entries = append(a.entries, entry)
		return nil
	}
	data, err := a.readContent(content, header.Size)
	if err != nil {
		return streamProblem(err)
	}
	sum := sha256.Sum256(data)
	entry.SHA256 = hex.EncodeToString(sum[:])
	a.entries = append(a.entries, entry)
	return a.each(entry, data)
}

// trusted is how much memory is taken for a content on the mere word that it comes.
const trusted = 64 << 10

// readContent reads a content. It reserves memory as the content comes.
func (a *archiveReader) readContent(r io.Reader, size int64) ([]byte, error) {
	var data []byte
	for next := min(size, trusted); ; next = min(size, 2*next) {
		if err := a.call.takePart(contentPart, int64(len(data))+next); err != nil {
			return nil, err
		}
		grown := make([]byte, next)
		n := copy(grown, data)
		if _, err := io.ReadFull(r, grown[n:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if data = grown; next == size {
			return data, nil
		}
	}
}

// streamProblem describes what is wrong with the bytes of an archive.
func streamProblem(err error) error {
	var p *problem
	switch {
	case errors.As(err, &p):
		return err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return badArchive("its zstd window is larger than %d MiB", maxWindow>>20)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return brokenBody(err)
	}
	return badArchive("it is not a complete tar, or not compressed as declared").because(err)
}

func longHeaders() error {
	return badArchive("the headers of a member are longer than %d KiB", maxHeaders>>10)
}

func pathProblem(what string, err error) error {
	var path *tree.PathError
	if errors.As(err, &path) {
		return cannotTake(what, "%v", path)
	}
	return err
}

// countingReader counts what passes, and ends a stream that is larger than the limit.
type countingReader struct {
	r     io.Reader
	what  string // that is too large, for the message
	limit int64
	n     int64
	zeros int64 // bytes at the end of what passed

	headers int // bytes that may pass while headers are read; 0: any number
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.headers > 0 {
		if c.headers -= n; c.headers <= 0 {
			return 0, longHeaders()
		}
	}
	if c.n += int64(n); c.n > c.limit {
		return 0, tooLarge(c.what, c.limit)
	}
	others := len(bytes.TrimRight(p[:n], "\x00"))
	if others > 0 {
		c.zeros = 0
	}
	c.zeros += int64(n - others)
	return n, err
}
