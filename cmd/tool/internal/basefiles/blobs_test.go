package basefiles_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

func TestOpen_ReadsHashedContent(t *testing.T) {
	root := plant(t, map[string]string{"src/a.ts": "", "cafe\u0301": "", "large": strings.Repeat("0123456789", 50_000),
		"empty": " "})
	must(t, os.Truncate(root+"/empty", 0))
	s := choose(t, at(root))
	for _, e := range hash(t, s) {
		for how, wrap := range map[string]func(io.Reader) io.Reader{
			"at once":     func(r io.Reader) io.Reader { return r },
			"by the byte": iotest.OneByteReader,
			"by halves":   iotest.HalfReader,
		} {
			r, err := s.Blobs().Open(e)
			must(t, err)
			text, err := io.ReadAll(wrap(r))
			must(t, err)
			must(t, r.Close())
			if digest(string(text)) != e.SHA256 || int64(len(text)) != e.Size {
				t.Errorf("%s %s: %d bytes, want %d", e.Path, how, len(text), e.Size)
			}
		}
	}
}

func TestOpen_FailsWhenContentChanged(t *testing.T) {
	const text = "0123456789"
	for what, change := range map[string]string{
		"another": "012345678x", "shorter": "012345678", "empty": "", "longer": text + "x",
	} {
		for how, read := range map[string]func(r io.Reader, size int64) (int64, error){
			"to its end": func(r io.Reader, _ int64) (int64, error) { return io.Copy(io.Discard, r) },
			"by size":    func(r io.Reader, size int64) (int64, error) { return io.CopyN(io.Discard, r, size) },
			"in full": func(r io.Reader, size int64) (int64, error) {
				n, err := io.ReadFull(r, make([]byte, size))
				return int64(n), err
			},
			"by the byte": func(r io.Reader, _ int64) (int64, error) { return io.Copy(io.Discard, iotest.OneByteReader(r)) },
		} {
			t.Run(what+", read "+how, func(t *testing.T) {
				root := plant(t, map[string]string{"dir/f": text})
				s := choose(t, at(root))
				e := hash(t, s)[0]
				must(t, os.WriteFile(root+"/dir/f", []byte(change), 0o666))
				r, err := s.Blobs().Open(e)
				must(t, err)
				defer r.Close()
				n, err := read(r, e.Size)
				wantFault(t, err, failure.CodeInvalidFile, "dir/f changed while it was sent")
				if n >= e.Size {
					t.Errorf("%d of %d bytes were handed out", n, e.Size)
				}
				if _, again := r.Read(make([]byte, 1)); again == nil || again.Error() != err.Error() {
					t.Errorf("after its failure it reads on: %v", again)
				}
			})
		}
	}
}

func TestOpen_FailsWhenEmptyFileGrew(t *testing.T) {
	root := plant(t, map[string]string{"f": "x"})
	must(t, os.Truncate(root+"/f", 0))
	s := choose(t, at(root))
	e := hash(t, s)[0]
	write(t, root+"/f", "more")
	r, err := s.Blobs().Open(e)
	must(t, err)
	defer r.Close()
	text, err := io.ReadAll(r)
	wantFault(t, err, failure.CodeInvalidFile, "f changed while it was sent")
	if len(text) > 0 {
		t.Errorf("read %q", text)
	}
}

func TestOpen_RejectsUnknownDigest(t *testing.T) {
	root := plant(t, named("a", ".env", "b.log"))
	s := choose(t, at(root))
	for _, path := range []string{".env", "b.log", "../a", "/etc/passwd", "", "a/b"} {
		_, err := s.Blobs().Open(tree.Entry{Path: path})
		if e, ok := errors.AsType[failure.Failure](err); !ok || e.Code != failure.CodeInvalidFile {
			t.Errorf("Open(%q): %v", path, err)
		}
	}
}
