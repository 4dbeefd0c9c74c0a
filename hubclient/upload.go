package hubclient

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// upload is what one PUT of base files sends: a manifest and blobs in a tar, which is
// split into zstd frames.
type upload struct {
	manifest   []byte       // JSON
	blobs      []tree.Entry // an entry for each blob
	near       bool         // the hub runs on this machine, see pace
	open       Opener
	onProgress func(files int, bytes int64)
}

// setUpload sets u as the body. A small one is built at once. A large one is streamed,
// and the hub may refuse it before it is sent.
func (r *request) setUpload(ctx context.Context, u *upload) error {
	r.set("Content-Type", wire.BaseFilesType)
	r.set("Content-Encoding", "zstd")
	if tree.Tree(u.blobs).Bytes()+int64(len(u.manifest)) >= maxUnplanned {
		r.set("Expect", "100-continue")
		r.length = -1
		r.body = func(ctx context.Context) io.ReadCloser { return newUploadReader(ctx, u) }
		return nil
	}
	u.near = false // a small body is always compressed
	body := newUploadReader(ctx, u)
	defer body.Close()
	data, err := io.ReadAll(body)
	var own *bodyError
	if errors.As(err, &own) {
		return own.err
	}
	r.bytesBody(data)
	return err
}

// batch is a part of an upload with frames of its own: blobs that fit into one frame
// together, or one large blob.
type batch struct {
	manifest []byte // only in the first batch
	blobs    []tree.Entry
	last     bool
	frames   chan []byte
	err      error // valid once frames is closed
}

// maxAhead is how many batches may be ready, or in work, before the one that is sent.
const maxAhead = 8

// tarOverhead is the most that a tar adds to a blob: a header and padding.
const tarOverhead = 1024

// uploadReader is the body of an upload. Goroutines compress its batches in parallel.
type uploadReader struct {
	upload  *upload
	ctx     context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup

	batches chan *batch // in upload order
	current *batch
	frame   []byte       // the frame that is sent
	unread  []byte       // the rest of it
	memory  frame.Memory // of sent frames
	pace    pace

	files int // sent so far
	bytes int64
}

func newUploadReader(ctx context.Context, u *upload) *uploadReader {
	r := &uploadReader{upload: u, batches: make(chan *batch, maxAhead), memory: make(frame.Memory, 2*maxAhead)}
	r.pace.near = u.near
	r.pace.raw.Store(u.near)
	r.ctx, r.cancel = context.WithCancel(ctx)
	todo := make(chan *batch)
	r.workers.Go(func() { r.divide(todo) })
	for range runtime.GOMAXPROCS(0) {
		r.workers.Go(func() { r.work(todo) })
	}
	return r
}

// divide splits the upload into batches.
func (r *uploadReader) divide(todo chan<- *batch) {
	defer close(todo)
	defer close(r.batches)
	b := &batch{manifest: r.upload.manifest}
	size := len(b.manifest)
	for _, e := range r.upload.blobs {
		if size > 0 && size+int(e.Size) > frame.Size-tarOverhead {
			if !r.submit(b, todo) {
				return
			}
			b, size = &batch{}, 0
		}
		b.blobs = append(b.blobs, e)
		size += int(e.Size) + tarOverhead
	}
	b.last = true
	r.submit(b, todo)
}

// submit hands a batch to the reader, and then to a worker. It returns false if the
// upload is cancelled.
func (r *uploadReader) submit(b *batch, todo chan<- *batch) bool {
	b.frames = make(chan []byte, 1)
	for _, to := range []chan<- *batch{r.batches, todo} {
		select {
		case to <- b:
		case <-r.ctx.Done():
			return false
		}
	}
	return true
}

func (r *uploadReader) work(todo <-chan *batch) {
	w := &batchWriter{reader: r, copyBuffer: make([]byte, 64<<10)}
	for b := range todo {
		b.err = w.write(b)
		close(b.frames)
	}
}

// Read returns the frames in upload order. The error is a *bodyError if a blob could
// not be read.
func (r *uploadReader) Read(p []byte) (int, error) {
	for len(r.unread) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]
	return n, nil
}

// next receives the next frame, or the next batch.
func (r *uploadReader) next() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.frame != nil {
		r.pace.sent(len(r.frame))
		r.memory.Give(r.frame)
		r.frame = nil
	}
	if r.current == nil {
		return r.nextBatch()
	}
	select {
	case f, ok := <-r.current.frames:
		if !ok {
			return r.endBatch()
		}
		r.frame, r.unread = f, f
		r.pace.start()
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

func (r *uploadReader) nextBatch() error {
	select {
	case b, ok := <-r.batches:
		if !ok {
			return io.EOF
		}
		r.current = b
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

func (r *uploadReader) endBatch() error {
	if err := r.current.err; err != nil {
		return &bodyError{err}
	}
	for _, e := range r.current.blobs {
		r.files++
		r.bytes += e.Size
	}
	r.upload.onProgress(r.files, r.bytes)
	r.current = nil
	return nil
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
