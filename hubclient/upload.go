package hubclient

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Opener opens the blob of an entry. The reader returns the entry's size and digest, or
// fails; that error is then the error of the upload.
type Opener func(tree.Entry) (io.ReadCloser, error)

// upload is the body of a request that sends files: zstd frames, each after its length as
// an unsigned varint. The first one is the list of files, or a patch, the others are blobs,
// in any order.
type upload struct {
	list       []byte       // its frame
	blobs      []tree.Entry // an entry for each blob
	open       Opener
	onProgress func(files int, bytes int64) // may be nil
}

// upload makes u the body. A small one is built at once. A large one is streamed,
// and the hub may refuse it before it is sent.
func (r *request) upload(ctx context.Context, u *upload) (*request, error) {
	if tree.Tree(u.blobs).Bytes()+int64(len(u.list)) >= maxUnplanned {
		r.header["Content-Type"], r.header["Expect"] = wire.UploadType, "100-continue"
		r.length = -1
		r.body = func(ctx context.Context) io.ReadCloser { return newUploadReader(ctx, u) }
		return r, nil
	}
	body := newUploadReader(ctx, u)
	defer body.Close()
	data, err := io.ReadAll(body)
	if own, ok := errors.AsType[*ownError](err); ok {
		err = own.error
	}
	return r.bytes(wire.UploadType, data), err
}

const (
	// A worker hands over its frames when they have so many bytes together.
	partSize = 256 << 10

	// Only one file of more bytes than this is in memory at a time, which limits the
	// memory of an upload: files may have 25 MiB and more.
	largeFile = 1 << 20
)

// uploadReader is the body of an upload. Workers read and compress blobs in parallel.
type uploadReader struct {
	*upload
	ctx     context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup
	next    atomic.Int64  // index of the blob that is compressed next
	large   chan struct{} // has a value while a large file is in memory
	parts   chan part
	current part // which is being sent

	files int // sent so far
	bytes int64
}

type part struct {
	frames net.Buffers
	files  int
	bytes  int64 // of these files
	err    error // why a file could not be read
}

func newUploadReader(ctx context.Context, u *upload) *uploadReader {
	r := &uploadReader{upload: u, large: make(chan struct{}, 1), parts: make(chan part)}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.current.frames = net.Buffers{binary.AppendUvarint(nil, uint64(len(u.list))), u.list}
	for range min(runtime.GOMAXPROCS(0), len(u.blobs)) {
		r.workers.Go(r.work)
	}
	go func() {
		r.workers.Wait()
		close(r.parts)
	}()
	return r
}

func (r *uploadReader) work() {
	var p part
	var frames, frame []byte
	var content bytes.Buffer
	for i := r.next.Add(1); int(i) <= len(r.blobs); i = r.next.Add(1) {
		e := r.blobs[i-1]
		isLarge := e.Size > largeFile
		if isLarge {
			select {
			case r.large <- struct{}{}:
			case <-r.ctx.Done():
				return
			}
		}
		if p.err = r.read(&content, e); p.err != nil {
			r.send(p)
			return
		}
		frame = compressor().EncodeAll(content.Bytes(), frame[:0])
		frames = binary.AppendUvarint(frames, uint64(len(frame)))
		p.files, p.bytes = p.files+1, p.bytes+e.Size
		if len(frame) < partSize {
			frames = append(frames, frame...)
			p.frames = net.Buffers{frames}
		} else {
			p.frames = net.Buffers{frames, frame}
			frame = nil
		}
		if isLarge {
			content = bytes.Buffer{}
		}
		if len(frames) >= partSize || frame == nil {
			if !r.send(p) {
				return
			}
			p, frames = part{}, nil
		}
		if isLarge {
			<-r.large
		}
	}
	if p.files > 0 {
		r.send(p)
	}
}

func (r *uploadReader) read(content *bytes.Buffer, e tree.Entry) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	blob, err := r.open(e)
	if err != nil {
		return err
	}
	defer blob.Close()
	content.Reset()
	content.Grow(int(e.Size) + bytes.MinRead)
	if _, err := content.ReadFrom(io.LimitReader(blob, e.Size+1)); err != nil {
		return err
	}
	if int64(content.Len()) != e.Size {
		return fmt.Errorf("%q does not have the %d bytes of its entry", e.Path, e.Size)
	}
	return nil
}

// send hands p over to Read. It returns false if the upload is cancelled.
func (r *uploadReader) send(p part) bool {
	select {
	case r.parts <- p:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// Read returns the frames. The error is an *ownError if a blob could not be read.
func (r *uploadReader) Read(p []byte) (int, error) {
	for r.ctx.Err() == nil {
		if n, _ := r.current.frames.Read(p); n > 0 {
			return n, nil
		}
		if r.current.files > 0 && r.onProgress != nil {
			r.files, r.bytes = r.files+r.current.files, r.bytes+r.current.bytes
			r.onProgress(r.files, r.bytes)
		}
		r.current = part{}
		select {
		case next, more := <-r.parts:
			switch {
			case next.err != nil:
				return 0, &ownError{next.err}
			case !more && r.ctx.Err() == nil:
				return 0, io.EOF
			}
			r.current = next
		case <-r.ctx.Done():
		}
	}
	return 0, r.ctx.Err()
}

// Close stops the workers and waits until they no longer call Open; not if the call
// was cancelled, because Open may then block.
func (r *uploadReader) Close() error {
	cancelled := r.ctx.Err() != nil
	r.cancel()
	if !cancelled {
		r.workers.Wait()
	}
	return nil
}

func compress(data []byte) []byte { return compressor().EncodeAll(data, nil) }

// compressor is created when it is first needed, because that takes time.
var compressor = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
})
