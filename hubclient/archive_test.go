package hubclient_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// member is one file of an archive.
type member struct {
	Name    string
	Mode    int64
	Content string
}

// unpack reads an archive, which has to be whole.
func unpack(stream io.Reader) ([]member, error) {
	body, err := io.ReadAll(stream)
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var members []member
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if err == io.EOF {
			_, err = io.Copy(io.Discard, z)
			return members, err
		}
		if err != nil {
			return members, err
		}
		if h.Typeflag != tar.TypeReg {
			return members, fmt.Errorf("%s is of type %c", h.Name, h.Typeflag)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return members, err
		}
		members = append(members, member{h.Name, h.Mode, string(content)})
	}
}

func TestArchive_KeepsFilesModesAndOrder(t *testing.T) {
	noise := make([]byte, 3<<20)
	rand.Read(noise)
	deep := strings.Repeat("directory/", 100) + "file"
	contents := map[string]string{"a": "", "a.sh": "#!", "b/c": "x", "b-d": string(noise), deep: "deep", "é/日本.txt": "ü", "with space": "\x00"}
	files, open := filesOf(contents)
	var want []member
	for _, f := range files {
		mode := int64(0o644)
		if f.Mode == tree.Executable {
			mode = 0o755
		}
		want = append(want, member{f.Path, mode, contents[f.Path]})
	}
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			got, err := unpack(r.Body)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v, %.1000s", err, diff)
			}
			if h := r.Header; h.Get("Content-Type") != "application/x-tar" || h.Get("Content-Encoding") != "zstd" || r.ContentLength != -1 {
				t.Errorf("the header is %v", h)
			}
			uploads["a bundle"].success(w)
		})
		if err := uploads["a bundle"].do(t.Context(), b.Client, files, open); err != nil {
			t.Error(err)
		}
	})
}

func TestArchive_Empty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			body, _ := io.ReadAll(r.Body)
			if got, err := unpack(strings.NewReader(string(body))); err != nil || len(got) != 0 || len(body) == 0 {
				t.Errorf("%d bytes, %v, %v", len(body), got, err)
			}
			uploads["a bundle"].success(w)
		})
		if err := uploads["a bundle"].do(t.Context(), b.Client, nil, nil); err != nil {
			t.Error(err)
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

func TestArchive_UnreadableFileAbortsUpload(t *testing.T) {
	noise := make([]byte, 1<<20)
	rand.Read(noise)
	files, open := filesOf(map[string]string{"a": "alpha", "m": string(noise), "z": "omega"})
	reading := func(content string) hubclient.Opener {
		return func(tree.Entry) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(content), failingReader{})), nil
		}
	}
	known := &hubclient.Error{Code: hubclient.CodeUnreachable, Detail: "of another hub"}
	for name, test := range map[string]struct {
		path string
		fail hubclient.Opener
		is   error
		says string
	}{
		"the first, opened":      {"a", func(tree.Entry) (io.ReadCloser, error) { return nil, errDisk }, errDisk, ""},
		"one amid, opened":       {"m", func(tree.Entry) (io.ReadCloser, error) { return nil, errDisk }, errDisk, ""},
		"the last, opened":       {"z", func(tree.Entry) (io.ReadCloser, error) { return nil, errDisk }, errDisk, ""},
		"one amid, read":         {"m", reading(string(noise[:500_000])), errDisk, ""},
		"the last, read":         {"z", reading("ome"), errDisk, ""},
		"with a client's error":  {"m", func(tree.Entry) (io.ReadCloser, error) { return nil, known }, known, ""},
		"shorter than promised":  {"m", func(tree.Entry) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }, nil, "missed writing"},
		"longer than promised":   {"a", func(tree.Entry) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("alphabet")), nil }, nil, "too long"},
		"the last, cut to none":  {"z", func(tree.Entry) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }, nil, "missed writing"},
		"a context's, not ended": {"m", func(tree.Entry) (io.ReadCloser, error) { return nil, context.DeadlineExceeded }, context.DeadlineExceeded, ""},
	} {
		for what, upload := range uploads {
			t.Run(what+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
						if got, err := unpack(r.Body); err == nil {
							t.Errorf("the hub has a whole archive of %d files", len(got))
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
						if e := wantCode(t, err, wire.CodeNotPermitted); e.Status != status || opened.Load() > int64(runtime.GOMAXPROCS(0)) || b.requests.Swap(0) != 1 {
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
	fmt.Fprintf(conn, "HTTP/1.1 %d X\r\nHub-Version: 1\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
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
				_, err := b.PutBaseFiles(t.Context(), project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, OnProgress: onProgress})
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
		"success":    {answer: func(w http.ResponseWriter, r *http.Request, _ int) { io.Copy(io.Discard, r.Body); refuse(w, 200, "x") }},
		"refused":    {answer: func(w http.ResponseWriter, _ *http.Request, _ int) { refuse(w, 403, wire.CodeNotPermitted) }},
		"redirected": {answer: func(w http.ResponseWriter, _ *http.Request, _ int) { redirect(w, 307, "https://example.com") }},
		"cut": {answer: func(w http.ResponseWriter, r *http.Request, _ int) {
			io.CopyN(io.Discard, r.Body, 100_000)
			hijack(w).Close()
		}},
		"stalled": {answer: func(_ http.ResponseWriter, r *http.Request, _ int) {
			io.CopyN(io.Discard, r.Body, 100_000)
			<-r.Context().Done()
		}},
		"unreadable":  {answer: func(_ http.ResponseWriter, r *http.Request, _ int) { io.Copy(io.Discard, r.Body) }, open: faulty(open, "b", func(tree.Entry) (io.ReadCloser, error) { return nil, errDisk })},
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
				if _, err := b.PutBaseFiles(ctx, project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: test.open}); err == nil {
					t.Error("it succeeds")
				}
			})
		})
	}
}
