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

// Opener opens the blob of an entry. The reader returns the entry's size and digest, or
// fails; that error is then the error of the upload.
type Opener func(tree.Entry) (io.ReadCloser, error)

// archiveBody streams files as a tar compressed with zstd. The hub may refuse the body
// before it is sent.
func (r *request) archiveBody(files tree.Tree, open Opener) {
	r.set("Content-Type", "application/x-tar")
	r.set("Content-Encoding", "zstd")
	r.set("Expect", "100-continue")
	r.length = -1
	r.body = func(ctx context.Context) io.ReadCloser { return newArchive(ctx, files, open) }
}

// archive is a body that a goroutine writes into a pipe.
type archive struct {
	*io.PipeReader
	ctx   context.Context
	ended chan struct{}
}

func newArchive(ctx context.Context, files tree.Tree, open Opener) *archive {
	read, write := io.Pipe()
	a := &archive{read, ctx, make(chan struct{})}
	// A transport waits for its body even if the call is cancelled.
	stop := context.AfterFunc(ctx, func() { read.CloseWithError(ctx.Err()) })
	go func() {
		defer close(a.ended)
		defer stop()
		write.CloseWithError(writeArchive(write, files, open))
	}()
	return a
}

// Close waits until the goroutine no longer calls the caller's Opener; not if the call
// was cancelled, because the Opener may then block.
func (a *archive) Close() error {
	err := a.PipeReader.Close()
	select {
	case <-a.ended:
	case <-a.ctx.Done():
	}
	return err
}

// writeArchive returns a *bodyError, unless the error is that of w.
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
	blob, err := open(f)
	if err != nil {
		return err
	}
	defer blob.Close()
	_, err = io.Copy(archive, blob)
	return err
}
