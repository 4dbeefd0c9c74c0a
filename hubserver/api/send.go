package api

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// A part of an archive is read by one query: at most so many files and bytes, or one larger file.
const (
	partFiles = 256
	partBytes = 2 << 20

	largeFile = 4 << 20 // one with more bytes is not in memory decompressed
	outBuffer = 64 << 10
)

// sendTar responds with files of a resource in a tar, in zstd if the caller accepts it. digest is that of the list
// of all files, and the ETag. Every file is checked before its first byte is sent. The files are dated at.
func sendTar(c *request.Call, resource int64, digest string, files tree.Tree, at time.Time) error {
	encoding := ""
	if c.Accepts("zstd") {
		encoding = "zstd"
	}
	c.W.Header().Set("Vary", "Accept-Encoding")
	if c.UnmodifiedIn(digest, encoding) {
		return nil
	}
	largest := int64(0)
	for part := range files.Parts(partFiles, partBytes) {
		largest = max(largest, part.Bytes())
	}
	ahead := max(largest, min(files.Bytes(), 2*partBytes)) // bytes of the parts in memory, as they are stored
	if err := c.NeedAtMost(ahead + min(largest, MaxWindow) + outBuffer); err != nil {
		return err
	}
	c.W.Header().Set("Content-Type", "application/x-tar")
	if encoding != "" {
		c.W.Header().Set("Content-Encoding", encoding)
	}
	if c.R.Method == http.MethodHead {
		c.W.WriteHeader(http.StatusOK)
		return nil
	}
	out := bufio.NewWriterSize(c.W, outBuffer)
	w := &archiveWriter{out: out, zstd: encoding != "", at: at.Truncate(time.Second)}
	ctx, cancel := context.WithCancel(c.Ctx())
	read, room := make(chan loaded), semaphore.NewWeighted(ahead)
	go load(c.Hub.Store.View(ctx), resource, files, room, read)
	defer func() {
		cancel()
		for range read { // until load has ended
		}
	}()
	for part := range read {
		if part.err != nil {
			return part.err
		}
		for _, e := range part.files {
			if err := w.file(e, part.blobs[e.SHA256]); err != nil {
				return err
			}
		}
		room.Release(part.files.Bytes())
	}
	w.head.Write(make([]byte, 1024)) // the end of a tar
	if err := w.flush(); err != nil {
		return err
	}
	return out.Flush()
}

// loaded is a part of an archive with its blobs, or why they could not be read.
type loaded struct {
	files tree.Tree
	blobs map[string]store.Blob
	err   error
}

// load reads the parts of an archive, until one cannot be read: each while the one before is checked and sent, if there
// is room for both.
func load(v store.View, resource int64, files tree.Tree, room *semaphore.Weighted, read chan<- loaded) {
	defer close(read)
	for part := range files.Parts(partFiles, partBytes) {
		if room.Acquire(v.Context(), part.Bytes()) != nil {
			return
		}
		blobs, err := v.Blobs(resource, part.Digests())
		select {
		case read <- loaded{part, blobs, err}:
		case <-v.Context().Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// archiveWriter writes a tar. In zstd, the stored frame of each file is sent as it is, and the headers between two
// files in a frame of their own: all frames together are one zstd stream.
type archiveWriter struct {
	out  io.Writer
	zstd bool
	at   time.Time    // modification time of the files
	head bytes.Buffer // padding of the last file and header of the next one, not sent yet
	buf  []byte       // content of a file
}

// file checks a blob, and writes it as the content of a file.
func (w *archiveWriter) file(e tree.Entry, b store.Blob) (err error) {
	large := e.Size > largeFile
	switch {
	case b.Size != e.Size: // the tar would have other members than the list
		err = fmt.Errorf("%w: %q %w", store.ErrDamaged, e.Path, store.ErrSize)
	case large:
		err = b.Verify()
	default:
		w.buf, err = b.Open(w.buf)
	}
	if err != nil {
		return err
	}
	mode, err := strconv.ParseInt(string(e.Mode), 8, 64)
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: e.Path, Size: e.Size, Mode: mode, ModTime: w.at}
	if err := tar.NewWriter(&w.head).WriteHeader(h); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.head.Write(make([]byte, -e.Size&511)) // a tar consists of blocks of 512 bytes
	switch {
	case w.zstd:
		_, err = w.out.Write(b.Body)
	case large:
		_, err = b.CopyTo(w.out)
	default:
		_, err = w.out.Write(w.buf)
	}
	return err
}

// flush writes head.
func (w *archiveWriter) flush() error {
	head := w.head.Bytes()
	if w.zstd {
		head = store.Compress(head)
	}
	_, err := w.out.Write(head)
	w.head.Reset()
	return err
}

// sendContent responds with a blob that contains JSON, with the ETag tag.
func sendContent(c *request.Call, resource int64, digest, tag string) error {
	if c.Unmodified(tag) {
		return nil
	}
	text, err := Content(c, resource, digest)
	if err != nil {
		return err
	}
	return c.Bytes(http.StatusOK, "application/json", text)
}
