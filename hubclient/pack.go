package hubclient

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// packedBody sets a push as the body: a tar of the manifest and of contents, cut
// into zstd frames. A large one is read, compressed where that helps, and sent piece
// by piece, and the hub may refuse it before it is sent; a small one is made at
// once. near says that the hub is on this machine.
func (r *request) packedBody(ctx context.Context, manifest []byte, contents []tree.Entry, near bool, open Opener, onProgress func(files int, bytes int64)) error {
	r.set("Content-Type", wire.BaseFilesType)
	r.set("Content-Encoding", "zstd")
	r.length = -1
	small := tree.Tree(contents).Bytes()+int64(len(manifest)) < atOnce
	near = near && !small
	r.body = func(ctx context.Context) io.ReadCloser {
		return newPacked(ctx, manifest, contents, near, open, onProgress)
	}
	if small {
		body := r.body(ctx)
		defer body.Close()
		whole, err := io.ReadAll(body)
		var own *bodyError
		if errors.As(err, &own) {
			return own.err
		}
		r.bytesBody(whole)
		return err
	}
	r.set("Expect", "100-continue")
	return nil
}

// section is a part of a push that becomes frames of its own.
type section struct {
	manifest []byte // the first one's alone
	contents []tree.Entry
	last     bool
	frames   chan []byte
	err      error // once frames is closed
}

// ahead is how many sections are worked on, or wait, before the one that is sent.
const ahead = 8

// packed is a body that goroutines make, section by section.
type packed struct {
	open       Opener
	onProgress func(files int, bytes int64)
	ctx        context.Context
	cancel     context.CancelFunc
	work       sync.WaitGroup

	order  chan *section
	now    *section     // that is read
	whole  []byte       // its last frame
	frame  []byte       // what is left of it
	memory frame.Memory // of frames that were sent

	files int // sent
	bytes int64

	pace pace
}

// pace tells what a push waits for: the network, or the processor. Compressing is
// of use only where the network is what is slow.
//
// A hub on this machine takes the time that it needs from the same processor, so
// that waiting for it tells nothing: there only a rate that no such hub falls to
// means a network after all, behind a tunnel.
type pace struct {
	near    bool
	since   time.Time     // of what follows last
	waited  time.Duration // for frames, that is for the processor
	sending time.Duration // between the frames, that is for the network
	frames  int
	bytes   int64 // of the frames
	raw     atomic.Bool
}

// Frames are compressed until so many have left: a short push goes over any
// network, and tells little about it.
const paceFrames = 8

// tunnelRate is how many bytes a second a hub on this machine takes at least.
const tunnelRate = 20 << 20

func (p *pace) waits() {
	now := time.Now()
	if p.frames > 0 {
		p.sending += now.Sub(p.since)
	}
	p.since = now
}

func (p *pace) goesOn(next []byte) {
	now := time.Now()
	p.waited += now.Sub(p.since)
	p.since = now
	if p.near {
		p.raw.Store(p.frames <= paceFrames || float64(p.bytes) > tunnelRate*p.sending.Seconds())
	} else {
		p.raw.Store(p.frames >= paceFrames && p.waited > p.sending)
	}
	p.frames++
	p.bytes += int64(len(next))
}

func (p *pace) hurries() bool { return p.raw.Load() }

func newPacked(ctx context.Context, manifest []byte, contents []tree.Entry, near bool, open Opener, onProgress func(files int, bytes int64)) *packed {
	p := &packed{open: open, onProgress: onProgress, order: make(chan *section, ahead), memory: make(frame.Memory, 2*ahead), pace: pace{near: near}}
	p.pace.raw.Store(near)
	p.ctx, p.cancel = context.WithCancel(ctx)
	todo := make(chan *section)
	p.work.Go(func() { p.divide(todo, manifest, contents) })
	for range runtime.GOMAXPROCS(0) {
		p.work.Go(func() {
			w := &sectionWriter{packed: p, buf: make([]byte, 64<<10)}
			for s := range todo {
				s.err = w.write(s)
				close(s.frames)
			}
		})
	}
	return p
}

// divide cuts a push into sections: contents that fit a frame together, or a large one.
func (p *packed) divide(todo chan<- *section, manifest []byte, contents []tree.Entry) {
	defer close(todo)
	defer close(p.order)
	s := &section{manifest: manifest}
	size := len(manifest)
	hand := func() bool {
		s.frames = make(chan []byte, 1)
		for _, c := range []chan<- *section{p.order, todo} {
			select {
			case c <- s:
			case <-p.ctx.Done():
				return false
			}
		}
		return true
	}
	for _, e := range contents {
		if size > 0 && size+int(e.Size) > frame.Size-tarBlocks {
			if !hand() {
				return
			}
			s, size = &section{}, 0
		}
		s.contents = append(s.contents, e)
		size += int(e.Size) + tarBlocks
	}
	s.last = true
	hand()
}

// tarBlocks bounds what a tar holds for a content beside it: a header and padding.
const tarBlocks = 1024

// sectionWriter makes the frames of one section after the other.
type sectionWriter struct {
	*packed
	now   *section
	held  int        // bytes of content in the frame that is not full yet
	raw   *frame.Raw // that frame; nil: it is to be compressed
	plain []byte     // its content then
	buf   []byte     // for copying
}

func (w *sectionWriter) write(s *section) error {
	w.now = s
	archive := tar.NewWriter(w)
	if s.manifest != nil {
		if err := w.member(archive, wire.ManifestMember, int64(len(s.manifest)), bytes.NewReader(s.manifest)); err != nil {
			return err
		}
		if err := w.cut(); err != nil { // no content lies in its frames
			return err
		}
	}
	for _, e := range s.contents {
		if err := w.content(archive, e); err != nil {
			return err
		}
	}
	if s.last {
		if err := archive.Close(); err != nil {
			return err
		}
	}
	return w.cut()
}

func (w *sectionWriter) content(archive *tar.Writer, e tree.Entry) error {
	content, err := w.open(e)
	if err != nil {
		return err
	}
	defer content.Close()
	return w.member(archive, wire.ContentMembers+e.SHA256, e.Size, content)
}

// member writes a member with its padding.
func (w *sectionWriter) member(archive *tar.Writer, name string, size int64, content io.Reader) error {
	err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size})
	if err == nil {
		_, err = io.CopyBuffer(struct{ io.Writer }{archive}, content, w.buf)
	}
	if err != nil {
		return err
	}
	return archive.Flush()
}

// Write takes a piece of the tar.
func (w *sectionWriter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		if w.held == 0 {
			w.start()
		}
		n := min(len(rest), frame.Size-w.held)
		if w.raw != nil {
			w.raw.Add(rest[:n])
		} else {
			w.plain = append(w.plain, rest[:n]...)
		}
		w.held, rest = w.held+n, rest[n:]
		if w.held == frame.Size {
			if err := w.cut(); err != nil {
				return 0, err
			}
		}
	}
	return len(b), nil
}

// start begins a frame, compressed or not.
func (w *sectionWriter) start() {
	if w.raw = nil; w.pace.hurries() {
		w.raw = frame.NewRaw(w.buffer())
	} else if w.plain = w.plain[:0]; w.plain == nil {
		w.plain = make([]byte, 0, frame.Size)
	}
}

// cut ends a frame.
func (w *sectionWriter) cut() error {
	if w.held == 0 {
		return nil
	}
	var f []byte
	if w.raw != nil {
		f = w.raw.Frame()
	} else {
		f = frame.Append(w.buffer()[:0], w.plain)
	}
	w.held = 0
	select {
	case w.now.frames <- f:
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// buffer returns memory for a frame.
func (p *packed) buffer() []byte {
	if b := p.memory.Take(); b != nil {
		return b
	}
	return make([]byte, frame.RawLength(frame.Size))
}

// Read hands out the frames in their order. It fails with a *bodyError for what
// could not be read here.
func (p *packed) Read(b []byte) (int, error) {
	for len(p.frame) == 0 {
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.frame)
	p.frame = p.frame[n:]
	return n, nil
}

// next goes on to the next frame.
func (p *packed) next() error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	p.memory.Give(p.whole)
	p.whole = nil
	if p.now != nil {
		var ok bool
		p.pace.waits()
		select {
		case p.whole, ok = <-p.now.frames:
			p.frame = p.whole
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
		p.pace.goesOn(p.frame)
		if ok {
			return nil
		}
		if err := p.now.err; err != nil {
			return &bodyError{err}
		}
		for _, e := range p.now.contents {
			p.files++
			p.bytes += e.Size
		}
		p.onProgress(p.files, p.bytes)
		p.now = nil
	}
	select {
	case s, ok := <-p.order:
		if !ok {
			return io.EOF
		}
		p.now = s
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// Close returns when nothing of the caller's is called any more; when the call is
// cancelled, at once.
func (p *packed) Close() error {
	outer := p.ctx.Err() != nil
	p.cancel()
	if !outer {
		p.work.Wait()
	}
	return nil
}
