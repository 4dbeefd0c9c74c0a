package frame_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/frame"
)

// contents returns data that compresses well, badly and not at all.
func contents() map[string][]byte {
	noise := make([]byte, 300<<10)
	rand.Read(noise)
	return map[string][]byte{
		"empty": nil, "one byte": {1}, "text": []byte(strings.Repeat("some text, and again ", 50_000)),
		"noise": noise, "zeros": make([]byte, frame.MaxSize),
	}
}

func read(t testing.TB, r io.Reader) (frames [][]byte, err error) {
	t.Helper()
	used := bytes.Repeat([]byte("what was there before "), 1000)
	for reader := frame.NewReader(r); ; {
		f, err := reader.Next(bytes.Clone(used))
		if err == io.EOF {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
}

func TestFrames_AreIndependent(t *testing.T) {
	var stream []byte
	var want [][]byte
	for _, content := range contents() {
		stream = frame.Append(stream, content)
		stream = frame.AppendRaw(stream, content)
		want = append(want, content, content)
	}
	for name, r := range map[string]io.Reader{
		"at once": bytes.NewReader(stream), "byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
	} {
		frames, err := read(t, r)
		if err != nil || len(frames) != len(want) {
			t.Fatalf("%s: %d frames, %v", name, len(frames), err)
		}
		for i, f := range frames {
			if got, err := frame.Decode(nil, f); err != nil || !bytes.Equal(got, want[i]) {
				t.Errorf("%s: frame %d holds %d bytes, want %d: %v", name, i, len(got), len(want[i]), err)
			}
		}
		if whole := bytes.Join(frames, nil); !bytes.Equal(whole, stream) {
			t.Errorf("%s: the frames are not the stream", name)
		}
	}
}

func TestFrame_RawLength(t *testing.T) {
	for name, content := range contents() {
		n := int64(len(content))
		if length := int64(len(frame.AppendRaw(nil, content))); length != frame.RawLength(n) {
			t.Errorf("%s: %d bytes become %d, not %d", name, n, length, frame.RawLength(n))
		}
		if other := int64(len(frame.Append(nil, content))); other == frame.RawLength(n) {
			t.Errorf("%s: %d bytes become as many when they are compressed", name, n)
		}
	}
}

func TestFrames_OfOtherWriters(t *testing.T) {
	text := []byte(strings.Repeat("some text ", 300_000))
	for name, options := range map[string][]zstd.EOption{
		"best":          {zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(frame.MaxSize)},
		"no checksum":   {zstd.WithEncoderCRC(false), zstd.WithWindowSize(frame.MaxSize)},
		"small windows": {zstd.WithWindowSize(zstd.MinWindowSize)},
	} {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, options...)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			w.Write(text)
			w.Close()
			w.Reset(&b)
		}
		frames, err := read(t, &b)
		if err != nil || len(frames) != 2 {
			t.Fatalf("%s: %d frames, %v", name, len(frames), err)
		}
		if got, err := frame.Decode(nil, frames[1]); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestFrame_RejectsTruncatedStream(t *testing.T) {
	whole := frame.Append(nil, []byte("some text"))
	for n := 1; n < len(whole); n++ {
		if _, err := read(t, bytes.NewReader(whole[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	broken := errors.New("broken")
	if _, err := read(t, io.MultiReader(bytes.NewReader(whole[:8]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("the stream's own error became %v", err)
	}
}

func TestFrame_RejectsInvalidData(t *testing.T) {
	for name, stream := range map[string]string{
		"text":              strings.Repeat("text ", 10),
		"a skippable frame": "\x50\x2a\x4d\x18\x04\x00\x00\x00abcdefghijkl",
		"a reserved block":  "\x28\xb5\x2f\xfd\x00\x58\x07\x00\x00abcdefghijkl",
	} {
		if _, err := read(t, strings.NewReader(stream)); !errors.Is(err, frame.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole := frame.Append(nil, []byte(strings.Repeat("some text ", 10)))
	whole[len(whole)-1] ^= 1
	if _, err := frame.Decode(nil, whole); !errors.Is(err, frame.ErrInvalid) {
		t.Errorf("a wrong checksum: %v", err)
	}
}

// bomb is a frame without a size, of n blocks that repeat a byte 128 Ki times.
func bomb(n int) []byte {
	b := []byte("\x28\xb5\x2f\xfd\x00\x58")
	for i := range n {
		head := 1<<20 | 1<<1 // 128 KiB, and the kind
		if i == n-1 {
			head |= 1
		}
		b = append(b, byte(head), byte(head>>8), byte(head>>16), 'x')
	}
	return b
}

func TestFrame_RejectsOversizedBeforeDecoding(t *testing.T) {
	if _, err := frame.Decode(nil, bomb(frame.MaxSize>>17)); err != nil {
		t.Errorf("%d bytes: %v", frame.MaxSize, err)
	}
	if _, err := frame.Decode(nil, bomb(frame.MaxSize>>17+1)); !errors.Is(err, frame.ErrTooLarge) {
		t.Errorf("one block more: %v", err)
	}
	said := frame.Append(nil, make([]byte, frame.MaxSize+1))
	if _, err := read(t, bytes.NewReader(said)); !errors.Is(err, frame.ErrTooLarge) {
		t.Errorf("a frame that says so: %v", err)
	}
	if _, err := frame.Decode(nil, said); !errors.Is(err, frame.ErrTooLarge) {
		t.Errorf("decoding a frame that says so: %v", err)
	}
	endless := strings.Repeat("\x00\x00\x00", 2<<20) // blocks of nothing, none of them the last
	if _, err := read(t, strings.NewReader("\x28\xb5\x2f\xfd\x00\x58"+endless)); !errors.Is(err, frame.ErrTooLarge) {
		t.Errorf("blocks without end: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	for _, content := range contents() {
		if encoded := frame.Append(nil, content); len(encoded) < 1000 {
			f.Add(encoded)
		}
	}
	f.Add(bomb(3))
	f.Fuzz(func(t *testing.T, stream []byte) {
		frames, err := read(t, bytes.NewReader(stream))
		if whole := bytes.Join(frames, nil); err == nil && !bytes.Equal(whole, stream) || !bytes.HasPrefix(stream, whole) {
			t.Errorf("%d bytes of frames are not the stream's %d", len(whole), len(stream))
		}
		for _, fr := range frames {
			if content, err := frame.Decode(nil, fr); err == nil && len(content) > frame.MaxSize {
				t.Errorf("a frame holds %d bytes", len(content))
			}
		}
	})
}

func TestFrame_ReusesMemory(t *testing.T) {
	m := make(frame.Memory, 1)
	if b := m.Take(); b != nil {
		t.Errorf("%d bytes come from nowhere", cap(b))
	}
	given := make([]byte, 10, frame.RawLength(frame.Size))
	m.Give(nil)
	m.Give(make([]byte, 2*frame.Size)) // of a frame that others cut
	m.Give(given)
	m.Give(make([]byte, 20)) // one too many
	if b := m.Take(); cap(b) != cap(given) {
		t.Errorf("%d bytes, want the %d that were given", cap(b), cap(given))
	}
	if b := m.Take(); b != nil {
		t.Errorf("%d bytes more", cap(b))
	}
}
