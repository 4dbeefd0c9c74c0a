package hubclient

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/tree"
)

// Opener opens the content of one entry of a tree. What it returns has the
// entry's size and digest, or fails while it is read. That failure is then the
// call's.
type Opener func(tree.Entry) (io.ReadCloser, error)

// archiveBody streams files as a tar that is compressed with zstd. The hub may
// refuse it before it is sent.
func (r *request) archiveBody(files tree.Tree, open Opener) {
	r.set("Content-Type", "application/x-tar")
	r.set("Content-Encoding", "zstd")
	r.set("Expect", "100-continue")
	r.length = -1
	r.body = func(ctx context.Context) io.ReadCloser { return newArchive(ctx, files, open) }
}

// archive is a body that a goroutine writes.
type archive struct {
	*io.PipeReader
	ctx   context.Context
	ended chan struct{}
}

func newArchive(ctx context.Context, files tree.Tree, open Opener) *archive {
	read, write := io.Pipe()
	a := &archive{read, ctx, make(chan struct{})}
	// A transport waits for its body even when the call is cancelled.
	stop := context.AfterFunc(ctx, func() { read.CloseWithError(ctx.Err()) })
	go func() {
		defer close(a.ended)
		defer stop()
		write.CloseWithError(writeArchive(write, files, open))
	}()
	return a
}

// Close returns when the writing has ended, so that nothing of the caller's is
// called after the call; when that is cancelled, at once.
func (a *archive) Close() error {
	err := a.PipeReader.Close()
	select {
	case <-a.ended:
	case <-a.ctx.Done():
	}
	return err
}

// writeArchive fails with a *bodyError unless it was w that failed.
func writeArchive(w io.Writer, files tree.Tree, open Opener) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return &bodyError{err}
	}
	err = writeTar(z, files, open)
	if err == nil {
		err = z.Close()
	} else {
		z.Reset(nil) // frees the encoder without an end of the stream
	}
	if err == nil || errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return &bodyError{err}
}

func writeTar(w io.Writer, files tree.Tree, open Opener) error {
	archive := tar.NewWriter(w)
	for _, f := range files {
		if err := writeEntry(archive, f, open); err != nil {
			return err
		}
	}
	return archive.Close()
}

func writeEntry(archive *tar.Writer, f tree.Entry, open Opener) error {
	mode, err := strconv.ParseInt(string(f.Mode), 8, 64)
	if err != nil {
		return err
	}
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: mode, Size: f.Size}); err != nil {
		return err
	}
	content, err := open(f)
	if err != nil {
		return err
	}
	defer content.Close()
	_, err = io.Copy(archive, content)
	return err
}
