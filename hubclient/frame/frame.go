// Package frame splits a stream into zstd frames that can each be decoded alone, and
// finds the frames in a stream again. So a part of the stream can be stored as it was
// sent, and be read without the parts before it.
//
// It does not know what the stream contains. All frames, one after the other, are
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

// Bytes of the stream in one frame: the size that we write, and the largest that we
// read. The window for decoding is limited to the same size.
const (
	Size    = 512 << 10
	MaxSize = 4 << 20
)

// maxEncoded limits the length of an encoded frame, in bytes: incompressible data
// and the headers of its blocks.
const maxEncoded = MaxSize + 64<<10

// Errors of reading frames.
var (
	ErrTooLarge = fmt.Errorf("a zstd frame contains more than %d MiB, or needs a larger window", MaxSize>>20)
	ErrInvalid  = errors.New("invalid or incomplete zstd frame")
)

// Both are created when they are first needed, because creating them takes time.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(Size),
			zstd.WithLowerEncoderMem(true)) // most of what it encodes is far smaller than a block
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

// Append appends a compressed frame of data, at most [MaxSize] bytes, to dst.
func Append(dst, data []byte) []byte { return encoder().EncodeAll(data, dst) }

const rawBlock = 128 << 10

// AppendRaw appends an uncompressed frame of data, at most [MaxSize] bytes, to dst.
func AppendRaw(dst, data []byte) []byte {
	dst = append(dst, 0x28, 0xb5, 0x2f, 0xfd, 0xa0) // magic number; a single segment, its size in four bytes, no checksum
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(data)))
	for last := uint32(0); last == 0; {
		block := data[:min(len(data), rawBlock)]
		if data = data[len(block):]; len(data) == 0 {
			last = 1
		}
		head := uint32(len(block))<<3 | last
		dst = append(dst, byte(head), byte(head>>8), byte(head>>16))
		dst = append(dst, block...)
	}
	return dst
}

// RawLength returns the length of the frame that [AppendRaw] makes of n bytes. Frames
// that [Append] makes hardly ever have it.
func RawLength(n int64) int64 { return 9 + n + 3*max(1, (n+rawBlock-1)/rawBlock) }

// Memory keeps buffers of frames for reuse. The channel's capacity is the number of
// buffers that it keeps.
type Memory chan []byte

// Take returns a buffer, or nil if there is none.
func (m Memory) Take() []byte {
	select {
	case b := <-m:
		return b
	default:
		return nil
	}
}

// Give adds a buffer that is no longer used. It drops buffers larger than our own
// frames need.
func (m Memory) Give(b []byte) {
	if cap(b) == 0 || cap(b) > Size*5/4 {
		return
	}
	select {
	case m <- b:
	default:
	}
}

// Decode returns the data of a frame. It uses the memory of buf if that is large enough.
// The error is ErrTooLarge or ErrInvalid.
func Decode(buf, frame []byte) ([]byte, error) {
	data, err := decoder().DecodeAll(frame, buf[:0])
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, ErrTooLarge
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return data, nil
}

// Reader splits a stream into its frames.
type Reader struct {
	// Reserve, if not nil, is called before a frame needs more memory than one of
	// [Size] does, with the bytes of the frame and of its data together.
	Reserve func(bytes int) error

	r *bufio.Reader
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next frame, still encoded, or io.EOF after the last one. It uses
// the memory of buf if that is large enough. Other errors are ErrTooLarge, ErrInvalid,
// io.ErrUnexpectedEOF and those of the stream.
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
		return nil, fmt.Errorf("%w: skippable frames are not allowed", ErrInvalid)
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

// body reads a frame with this header: its blocks, and the checksum if it has one.
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

// block decodes the three bytes before a block: whether it is the last one, and how
// many bytes follow.
func block(b []byte) (last bool, size int, err error) {
	head := int(binary.LittleEndian.Uint16(b)) | int(b[2])<<16
	size = head >> 3
	switch head >> 1 & 3 {
	case 1: // one byte, repeated
		size = 1
	case 3:
		return false, 0, ErrInvalid
	}
	return head&1 == 1, size, nil
}

// extend appends the next n bytes of the stream to b.
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
