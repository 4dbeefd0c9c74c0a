package hubclient_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// received is what an upload sent.
type received struct {
	Base     string // digest of the list that the list is a patch of
	Files    tree.Tree
	Contents map[string]string // by digest
	Frames   []int             // their lengths, that of the list first
}

// receive reads an upload as far as it comes. The error is io.EOF where it is incomplete.
func receive(r *http.Request, base tree.Tree) (got received, err error) {
	got = received{Base: r.URL.Query().Get("base"), Contents: map[string]string{}}
	for body := bufio.NewReader(r.Body); ; {
		n, err := binary.ReadUvarint(body)
		if err == io.EOF && got.Files != nil {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		f := make([]byte, n)
		if _, err := io.ReadFull(body, f); err != nil {
			return got, err
		}
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
		if err != nil {
			return got, err
		}
		content, err := z.DecodeAll(f, nil)
		z.Close()
		if err != nil {
			return got, err
		}
		if got.Frames = append(got.Frames, len(f)); got.Files == nil {
			if got.Base != "" {
				if content, err = tree.Apply(base.Canonical(), content); err != nil {
					return got, err
				}
			}
			if err = tree.Check(content, nil); err != nil {
				return got, err
			}
			if got.Files, err = tree.Read(content); err != nil {
				return got, err
			}
			continue
		}
		var h zstd.Header
		if err := h.Decode(f); err != nil || h.HasCheckSum || !h.HasFCS && len(content) >= 256 {
			return got, fmt.Errorf("a frame of %d bytes: %+v, %w", len(content), h, err)
		}
		if _, twice := got.Contents[digest(string(content))]; twice {
			return got, fmt.Errorf("a file of %d bytes is sent twice", len(content))
		}
		got.Contents[digest(string(content))] = string(content)
	}
}

// sent is what an upload of files should send: these contents.
func sent(files tree.Tree, contents ...string) received {
	want := received{Files: files, Contents: map[string]string{}}
	for _, content := range contents {
		want.Contents[digest(content)] = content
	}
	return want
}

// wantSent checks what r sends.
func wantSent(t *testing.T, r *http.Request, base tree.Tree, want received) {
	t.Helper()
	got, err := receive(r, base)
	got.Frames = nil
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%v %.1000s", err, diff)
	}
}

func TestUpload_SendsEachContentOnceInAFrame(t *testing.T) {
	noise := make([]byte, 3<<20)
	rand.Read(noise)
	deep := strings.Repeat("directory/", 100) + "file"
	contents := map[string]string{
		"a": "", "a.sh": "#!", "b/c": "x", "b/copy": "x", "b-d": string(noise), deep: "deep", "é/日本.txt": "ü",
		"with space": "\x00",
		"text":       strings.Repeat("some text ", 500_000), "zeros": string(make([]byte, 10<<20)),
	}
	files, open := filesOf(contents)
	want := sent(files, slices.Collect(maps.Values(contents))...)
	for what, upload := range uploads {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
				wantSent(t, r, nil, want)
				h := r.Header
				if h.Get("Content-Type") != wire.UploadType || h.Get("Content-Encoding") != "" ||
					h.Get("Expect") == "" || r.ContentLength != -1 {
					t.Errorf("%s: the header is %v", what, h)
				}
				upload.success(w)
			})
			if err := upload.do(t.Context(), b.Client, files, open); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUpload_Empty(t *testing.T) {
	for what, upload := range uploads {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
				wantSent(t, r, nil, sent(tree.Tree{}))
				upload.success(w)
			})
			if err := upload.do(t.Context(), b.Client, nil, nil); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
}

// Whatever is drawn, the hub gets the list, and each content once.
func TestUpload_SendsWhatTheListNames(t *testing.T) {
	content := rapid.OneOf(
		rapid.StringN(0, 20, -1),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.String().Draw(t, "text"), rapid.IntRange(1, 100_000).Draw(t, "times"))
		}),
		rapid.Custom(func(t *rapid.T) string {
			noise := make([]byte, rapid.IntRange(0, 2<<20).Draw(t, "bytes of noise"))
			rand.Read(noise)
			return string(noise)
		}),
	)
	path := rapid.StringMatching(`[a-z]{1,2}(/[0-9]{1,2})?/f`)
	b := newHub(t, hubclient.Options{}, nil)
	rapid.Check(t, func(rt *rapid.T) {
		contents := rapid.MapOfN(path, content, 0, 20).Draw(rt, "contents")
		files, open := filesOf(contents)
		b.handle = func(w http.ResponseWriter, r *http.Request, _ int) {
			got, err := receive(r, nil)
			want := sent(files, slices.Collect(maps.Values(contents))...)
			if err != nil || !slices.Equal(want.Files, got.Files) || !maps.Equal(want.Contents, got.Contents) {
				rt.Errorf("%v: %d files and %d contents came", err, len(got.Files), len(got.Contents))
			}
			answer(w, 200, written(files))
		}
		if err := uploads["base files"].do(t.Context(), b.Client, files, open); err != nil {
			rt.Error(err)
		}
	})
}

var errDisk = errors.New("disk on fire")

// faulty opens files until one fails.
func faulty(open hubclient.Opener, path string, fail hubclient.Opener) hubclient.Opener {
	return func(e tree.Entry) (io.ReadCloser, error) {
		if e.Path == path {
			return fail(e)
		}
		return open(e)
	}
}

func TestUpload_UnreadableFileAbortsIt(t *testing.T) {
	noise := make([]byte, 1<<20)
	rand.Read(noise)
	files, open := filesOf(map[string]string{"a": "alpha", "m": string(noise), "z": "omega"})
	reading := func(content string) hubclient.Opener {
		return func(tree.Entry) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(content), failingReader{})), nil
		}
	}
	contains := func(content string) hubclient.Opener {
		return func(tree.Entry) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
	}
	known := &hubclient.Error{Code: hubclient.CodeUnreachable, Detail: "of another hub"}
	for name, test := range map[string]struct {
		path string
		fail hubclient.Opener
		is   error
		says string
	}{
		"the first, opened":     {"a", func(tree.Entry) (io.ReadCloser, error) { return nil, errDisk }, errDisk, ""},
		"one amid, opened":      {"m", func(tree.Entry) (io.ReadCloser, error) { return nil, errDisk }, errDisk, ""},
		"the last, opened":      {"z", func(tree.Entry) (io.ReadCloser, error) { return nil, errDisk }, errDisk, ""},
		"one amid, read":        {"m", reading(string(noise[:500_000])), errDisk, ""},
		"the last, read":        {"z", reading("ome"), errDisk, ""},
		"with a client's error": {"m", func(tree.Entry) (io.ReadCloser, error) { return nil, known }, known, ""},
		"shorter than promised": {"m", contains("x"), nil, "does not have the"},
		"longer than promised":  {"a", contains("alphabet"), nil, "does not have the"},
		"the last, cut to none": {"z", contains(""), nil, "does not have the"},
		"a context's, not ended": {"m", func(tree.Entry) (io.ReadCloser, error) { return nil, context.DeadlineExceeded },
			context.DeadlineExceeded, ""},
	} {
		for what, upload := range uploads {
			t.Run(what+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
						if got, err := receive(r, nil); err == nil {
							t.Errorf("the hub has a complete upload of %d files", len(got.Contents))
						}
						refuse(w, 400, wire.CodeInvalidBody)
					})
					err := upload.do(t.Context(), b.Client, files, faulty(open, test.path, test.fail))
					if test.is != nil && err != test.is || !strings.Contains(fmt.Sprint(err), test.says) || b.requests.Load() > 1 {
						t.Errorf("%d requests, %v", b.requests.Load(), err)
					}
				})
			})
		}
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errDisk }

func TestUpload_RefusalArrivesBeforeBody(t *testing.T) {
	for _, status := range []int{401, 403, 404, 412, 413, 415, 422} {
		for name, say := range map[string]step{
			"and the connection ends":  refused(status, wire.CodeNotPermitted),
			"and the connection stays": func(w http.ResponseWriter, _ *http.Request) { keep(t, w, status) },
		} {
			t.Run(fmt.Sprint(status, " ", name), func(t *testing.T) {
				noise := make([]byte, 4<<20)
				rand.Read(noise)
				files, open := filesOf(map[string]string{"a": string(noise), "b": string(noise)})
				synctest.Test(t, func(t *testing.T) {
					b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) { say(w, r) })
					for what, upload := range uploads {
						var opened atomic.Int64
						count := func(e tree.Entry) (io.ReadCloser, error) { opened.Add(1); return open(e) }
						err := upload.do(t.Context(), b.Client, files, count)
						// Compressing begins ahead, but nothing takes it off.
						if e := wantCode(t, err, wire.CodeNotPermitted); e.Status != status ||
							opened.Load() > int64(runtime.GOMAXPROCS(0)) || b.requests.Swap(0) != 1 {
							t.Errorf("%s: %d files opened: %v", what, opened.Load(), err)
						}
					}
				})
			})
		}
	}
}

// keep refuses a body without ending the connection, as a proxy in front of a hub
// may do, and lets nothing follow.
func keep(t *testing.T, w http.ResponseWriter, status int) {
	conn := hijack(w)
	defer conn.Close()
	const body = `{"code":"not_permitted"}`
	fmt.Fprintf(conn,
		"HTTP/1.1 %d X\r\nHub-Version: 1\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\n\r\n%s", status,
		len(body), body)
	if n, _ := io.Copy(io.Discard, conn); n != 0 {
		t.Errorf("%d bytes follow a refusal", n)
	}
}

func TestUpload_RefusalDuringBodyArrives(t *testing.T) {
	noise := make([]byte, 4<<20)
	rand.Read(noise)
	files, open := filesOf(map[string]string{"a": string(noise)})
	for what, upload := range uploads {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
				io.CopyN(io.Discard, r.Body, 1<<20)
				refuse(w, 413, wire.CodeTooLarge)
			})
			err := upload.do(t.Context(), b.Client, files, open)
			if wantCode(t, err, wire.CodeTooLarge); b.requests.Load() != 1 {
				t.Errorf("%s: %d requests", what, b.requests.Load())
			}
		})
	}
}

func TestUpload_ProgressIsMonotonicAndComplete(t *testing.T) {
	contents := map[string]string{}
	for i := range 300 {
		contents[fmt.Sprintf("f%03d", i)] = strings.Repeat("x", 100*i)
	}
	files, open := filesOf(contents)
	for name, losses := range map[string]int{"at the first attempt": 0, "at the third": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
					if n <= losses {
						lose(w, r)
						return
					}
					io.Copy(io.Discard, r.Body)
					answer(w, 200, wire.BaseFilesWritten{Project: project})
				})
				count, bytes, over := 0, int64(0), false
				onProgress := func(n int, b int64) {
					if over || n <= count || b < bytes {
						t.Errorf("(%d, %d) follows (%d, %d), the call being over: %v", n, b, count, bytes, over)
					}
					count, bytes = n, b
				}
				_, err := b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, OnProgress: onProgress}).Put(
					t.Context())
				if over = true; err != nil || count != len(files) || bytes != files.Bytes() {
					t.Errorf("%d files and %d bytes are reported, %v", count, bytes, err)
				}
			})
		})
	}
}

// Every test in a bubble fails when a goroutine outlives it; this one makes sure
// of it for each way in which an upload can end.
func TestUpload_LeavesNoGoroutine(t *testing.T) {
	noise := make([]byte, 2<<20)
	rand.Read(noise)
	files, open := filesOf(map[string]string{"a": string(noise), "b": "x"})
	for name, test := range map[string]struct {
		answer handler
		open   hubclient.Opener
		dial   func(*hub)
		cancel bool
	}{
		"success": {answer: func(w http.ResponseWriter, r *http.Request,
			_ int) {
			io.Copy(io.Discard, r.Body)
			refuse(w, 200, "x")
		}},
		"refused": {answer: func(w http.ResponseWriter, _ *http.Request, _ int) { refuse(w, 403, wire.CodeNotPermitted) }},
		"redirected": {answer: func(w http.ResponseWriter, _ *http.Request,
			_ int) {
			redirect(w, 307, "https://example.com")
		}},
		"cut": {answer: func(w http.ResponseWriter, r *http.Request, _ int) {
			io.CopyN(io.Discard, r.Body, 100_000)
			hijack(w).Close()
		}},
		"stalled": {answer: func(_ http.ResponseWriter, r *http.Request, _ int) {
			io.CopyN(io.Discard, r.Body, 100_000)
			<-r.Context().Done()
		}},
		"unreadable": {answer: func(_ http.ResponseWriter, r *http.Request, _ int) { io.Copy(io.Discard, r.Body) },
			open: faulty(open, "b", func(tree.Entry) (io.ReadCloser, error) { return nil, errDisk })},
		"unreachable": {dial: broken(errDisk)},
		"cancelled":   {answer: silent, cancel: true},
		"early": {answer: func(w http.ResponseWriter, r *http.Request, _ int) {
			io.CopyN(io.Discard, r.Body, 1)
			refuse(w, 200, "x")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, test.answer)
				if test.open == nil {
					test.open = open
				}
				if test.dial != nil {
					test.dial(b)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.cancel {
					time.AfterFunc(10*time.Second, cancel)
				}
				if _, err := b.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: test.open}).Put(
					ctx); err == nil {
					t.Error("it succeeds")
				}
			})
		})
	}
}
