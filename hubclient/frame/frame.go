// Package frame cuts a stream into zstd frames that stand each for itself, and
// finds them again in what came: so that a piece of the stream can be stored as
// it was sent, and be read later without what stands before it.
//
// It knows nothing of what the stream holds. All frames, one after the other, are
// an ordinary zstd stream.
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// How much of a stream a frame holds, in bytes: as we cut it, and at most. Nor may
// the window that decoding it needs be larger than that.
const (
	Size    = 512 << 10
	MaxSize = 4 << 20
)

// maxEncoded is the greatest length of a frame, in bytes: that of content which
// does not compress, and room for the headers of its blocks.
const maxEncoded = MaxSize + 64<<10

// Errors of reading frames.
var (
	ErrTooLarge = fmt.Errorf("a zstd frame holds more than %d MiB, or needs a window of more", MaxSize>>20)
	ErrInvalid  = errors.New("it is no whole zstd frame")
)

// Both are made when they are first needed: they are not for nothing.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(Size))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxSize), zstd.WithDecoderConcurrency(0))
		if err != nil {
			panic(err)
		}
		return d
	})
)

// Append adds a frame of content, at most [MaxSize] bytes, to dst.
func Append(dst, content []byte) []byte { return encoder().EncodeAll(content, dst) }

// Raw is a frame without compression, which is filled piece by piece where it stays
// and costs next to nothing.
type Raw struct {
	buf   []byte
	size  int // of the content
	block int // where the last block's head is
}

// NewRaw returns an empty frame, in the memory of buf where that is enough.
func NewRaw(buf []byte) *Raw {
	r := &Raw{buf: append(buf[:0], 0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0)} // one segment, its size in four bytes, no checksum
	r.start()
	return r
}

// start begins a block, whose head is written when it ends.
func (r *Raw) start() {
	r.block = len(r.buf)
	r.buf = append(r.buf, 0, 0, 0)
}

func (r *Raw) end(last int) {
	head := (len(r.buf)-r.block-3)<<3 | last
	r.buf[r.block], r.buf[r.block+1], r.buf[r.block+2] = byte(head), byte(head>>8), byte(head>>16)
}

// Add adds content, at most [MaxSize] bytes in all.
func (r *Raw) Add(content []byte) {
	r.size += len(content)
	for len(content) > 0 {
		room := rawBlock - (len(r.buf) - r.block - 3)
		if room == 0 {
			r.end(0)
			r.start()
			room = rawBlock
		}
		n := min(room, len(content))
		r.buf, content = append(r.buf, content[:n]...), content[n:]
	}
}

// Frame returns the whole frame, to which nothing is added any more.
func (r *Raw) Frame() []byte {
	r.end(1)
	binary.LittleEndian.PutUint32(r.buf[5:], uint32(r.size))
	return r.buf
}

const rawBlock = 128 << 10

// RawLength returns the length of a [Raw] of so many bytes. One that [Append] makes is hardly ever of this length.
func RawLength(n int64) int64 { return 9 + n + 3*max(1, (n+rawBlock-1)/rawBlock) }

// Memory is memory of frames that is used again. Its capacity is how much of it is
// kept, in frames.
type Memory chan []byte

// Take returns memory for a frame, or nil.
func (m Memory) Take() []byte {
	select {
	case b := <-m:
		return b
	default:
		return nil
	}
}

// Give takes memory that nothing uses any more. What is larger than a frame that we
// cut needs is not kept.
func (m Memory) Give(b []byte) {
	if cap(b) == 0 || cap(b) > Size*5/4 {
		return
	}
	select {
	case m <- b:
	default:
	}
}

// Decode returns what a frame holds, in the memory of buf where that is enough.
// The error is ErrTooLarge or ErrInvalid.
func Decode(buf, frame []byte) ([]byte, error) {
	content, err := decoder().DecodeAll(frame, buf[:0])
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, ErrTooLarge
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return content, nil
}

// Reader finds the frames in a stream.
type Reader struct {
	// Reserve, unless nil, is called before a frame takes more memory than one of
	// [Size], with how much that is: of the frame and of what it holds together.
	Reserve func(bytes int) error

	r *bufio.Reader
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next frame as it came, in the memory of buf where that is
// enough; io.EOF after the last one. The other errors are ErrTooLarge, ErrInvalid,
// io.ErrUnexpectedEOF and the stream's own.
func (r *Reader) Next(buf []byte) ([]byte, error) {
	start, err := r.r.Peek(zstd.HeaderMaxSize)
	if len(start) == 0 {
		return nil, err
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	var header zstd.Header
	if err := header.Decode(start); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	switch {
	case header.Skippable:
		return nil, fmt.Errorf("%w: it is a skippable one", ErrInvalid)
	case header.HasFCS && header.FrameContentSize > MaxSize:
		return nil, ErrTooLarge
	}
	content := MaxSize
	if header.HasFCS {
		content = int(header.FrameContentSize)
	}
	if err := r.reserve(content); err != nil {
		return nil, err
	}
	return r.body(buf[:0], header, content)
}

func (r *Reader) reserve(bytes int) error {
	if r.Reserve == nil {
		return nil
	}
	if bytes <= Size {
		bytes = 0
	}
	return r.Reserve(bytes)
}

// body reads a frame whose header is known: blocks, and maybe a checksum.
func (r *Reader) body(b []byte, header zstd.Header, content int) ([]byte, error) {
	b, err := r.extend(b, header.HeaderSize)
	reserved := Size + 64<<10
	for last := false; err == nil && !last; {
		if b, err = r.extend(b, 3); err != nil {
			break
		}
		var size int
		if last, size, err = block(b[len(b)-3:]); err != nil {
			break
		}
		if len(b)+size > reserved {
			reserved = min(2*(len(b)+size), maxEncoded)
			if err = r.reserve(content + reserved); err != nil {
				break
			}
		}
		b, err = r.extend(b, size)
	}
	if err == nil && header.HasCheckSum {
		b, err = r.extend(b, 4)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// block reads the three bytes before a block: whether it is the last one, and how
// many bytes follow.
func block(b []byte) (last bool, size int, err error) {
	head := int(binary.LittleEndian.Uint16(b)) | int(b[2])<<16
	size = head >> 3
	switch head >> 1 & 3 {
	case 1: // one byte, so many times
		size = 1
	case 3:
		return false, 0, ErrInvalid
	}
	return head&1 == 1, size, nil
}

// extend adds n bytes of the stream to b.
func (r *Reader) extend(b []byte, n int) ([]byte, error) {
	start := len(b)
	if start+n > maxEncoded {
		return b, ErrTooLarge
	}
	b = slices.Grow(b, n)[:start+n]
	_, err := io.ReadFull(r.r, b[start:])
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}
