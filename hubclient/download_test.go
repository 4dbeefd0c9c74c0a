package hubclient_test

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// archived is a set as a hub's archive.
func archived(t *testing.T, files tree.Tree, contents map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, e := range files {
		if err := errors.Join(w.WriteHeader(
			&tar.Header{Name: e.Path, Size: int64(len(contents[e.Path])), Mode: 0o644, Typeflag: tar.TypeReg}),
			func() error { _, err := io.WriteString(w, contents[e.Path]); return err }()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sendArchive(w http.ResponseWriter, digest string, body []byte) {
	w.Header().Set("Hub-Version", "1")
	w.Header().Set("Content-Type", "application/x-tar")
	w.Header().Set("Content-Encoding", "zstd")
	w.Header().Set("ETag", `"`+digest+`-zstd"`)
	w.Write(body)
}

// extension is a PAX extended header, which precedes a file.
func extension(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	header := tar.Header{Name: "a", Size: 5, Typeflag: tar.TypeReg, PAXRecords: map[string]string{"comment": "c"}}
	if err := w.WriteHeader(&header); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()[:1024] // and the file's own header
}

// A hub can send extended headers, and zstd frames that are skipped, without end: fast, or a
// few bytes within each time-out.
func TestDownloadBaseFiles_EndsWithoutFiles(t *testing.T) {
	files, _ := filesOf(map[string]string{"a": "alpha"})
	set := &wire.BaseFiles{BaseFilesSum: wire.BaseFilesSum{Tree: files.Digest()}, Files: files}
	header := extension(t)
	skipped := append([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 4, 0, 0}, make([]byte, 1024)...)
	for name, test := range map[string]struct {
		pause time.Duration // between two pieces
		skip  bool
		code  wire.Code
	}{
		"extended headers":        {0, false, notAHub},
		"skipped frames":          {0, true, notAHub},
		"extended headers slowly": {50 * time.Second, false, hubclient.CodeTimeout},
		"skipped frames slowly":   {50 * time.Second, true, hubclient.CodeTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hub := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) {
					sendArchive(w, set.Tree, nil)
					z := must(zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)))
					for range 1000 {
						if test.skip {
							w.Write(skipped)
						} else {
							z.Write(header)
							z.Flush()
						}
						http.NewResponseController(w).Flush()
						if pass(r.Context(), test.pause); r.Context().Err() != nil {
							return
						}
					}
				})
				var err error
				took := elapsed(func() {
					err = hub.DownloadBaseFiles(t.Context(), project, set, func(tree.Entry, io.Reader) error { return nil })
				})
				wantCode(t, err, test.code)
				if took > hubclient.DefaultTimeout || hub.requests.Load() != 1 {
					t.Errorf("after %v and %d requests: %v", took, hub.requests.Load(), err)
				}
			})
		})
	}
}

func TestDownload_ResumesAfterBreak(t *testing.T) {
	noise := make([]byte, 300<<10)
	rand.Read(noise)
	contents := map[string]string{"a": "alpha", "b": string(noise), "c": "", "d": "delta"}
	files, _ := filesOf(contents)
	body := archived(t, files, contents)
	set := &wire.BaseFiles{BaseFilesSum: wire.BaseFilesSum{Tree: files.Digest()}, Files: files}
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			if n < 3 {
				sendArchive(w, set.Tree, body[:len(body)*n/3])
				http.NewResponseController(w).Flush()
				hijack(w).Close()
				return
			}
			sendArchive(w, set.Tree, body)
		})
		got := map[string]string{}
		calls := 0
		err := b.DownloadBaseFiles(t.Context(), project, set, func(e tree.Entry, r io.Reader) error {
			calls++
			text, err := io.ReadAll(r)
			got[e.Path] = string(text)
			return err
		})
		if diff := cmp.Diff(contents, got); diff != "" || err != nil || calls > 6 {
			t.Errorf("%d calls, %v: %.300s", calls, err, diff)
		}
	})
}

func TestDownloadBaseFiles_TakesTheFilesInAnyOrder(t *testing.T) {
	contents := map[string]string{"a": "alpha", "b": strings.Repeat("beta", 50_000), "c": "", "d": "delta"}
	files, _ := filesOf(contents)
	set := &wire.BaseFiles{BaseFilesSum: wire.BaseFilesSum{Tree: files.Digest()}, Files: files}
	orders := [][]byte{
		archived(t, tree.Tree{files[3], files[1], files[0], files[2]}, contents),
		archived(t, tree.Tree{files[2], files[0], files[3], files[1]}, contents), // moved on the hub meanwhile
	}
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				sendArchive(w, set.Tree, orders[0][:len(orders[0])/2])
				http.NewResponseController(w).Flush()
				hijack(w).Close()
				return
			}
			sendArchive(w, set.Tree, orders[1])
		})
		got := map[string]string{}
		err := b.DownloadBaseFiles(t.Context(), project, set, func(e tree.Entry, r io.Reader) error {
			text, err := io.ReadAll(r)
			got[e.Path] = string(text)
			return err
		})
		if diff := cmp.Diff(contents, got); diff != "" || err != nil {
			t.Errorf("%v: %.300s", err, diff)
		}
	})
	twice := archived(t, tree.Tree{files[0], files[0], files[2], files[3]}, contents)
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{},
			func(w http.ResponseWriter, r *http.Request, n int) { sendArchive(w, set.Tree, twice) })
		err := b.DownloadBaseFiles(t.Context(), project, set, func(_ tree.Entry, r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		})
		wantCode(t, err, notAHub)
	})
}

func TestDownload_RejectsWrongContent(t *testing.T) {
	contents := map[string]string{"a": "alpha", "b": "beta"}
	files, _ := filesOf(contents)
	set := &wire.BaseFiles{BaseFilesSum: wire.BaseFilesSum{Tree: files.Digest()}, Files: files}
	others, _ := filesOf(map[string]string{"a": "alpha", "x": "beta"})
	for name, test := range map[string]struct {
		answer step
		code   wire.Code
	}{
		"other bytes": {func(w http.ResponseWriter, _ *http.Request) {
			sendArchive(w, set.Tree, archived(t, files, map[string]string{"a": "alphx", "b": "beta"}))
		}, notAHub},
		"another size": {func(w http.ResponseWriter, _ *http.Request) {
			sendArchive(w, set.Tree, archived(t, files, map[string]string{"a": "alpha", "b": "bet"}))
		}, notAHub},
		"another path": {func(w http.ResponseWriter, _ *http.Request) {
			sendArchive(w, set.Tree, archived(t, others, map[string]string{"a": "alpha", "x": "beta"}))
		}, notAHub},
		"another set": {func(w http.ResponseWriter, _ *http.Request) { sendArchive(w, others.Digest(), nil) },
			wire.CodePlanOutdated},
		"no archive": {answered(200, set), notAHub},
		"a refusal":  {refused(403, wire.CodeNotPermitted), wire.CodeNotPermitted},
		"no zstd": {func(w http.ResponseWriter, _ *http.Request) {
			sendArchive(w, set.Tree, []byte("some text, which is not compressed"))
		}, notAHub},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) { test.answer(w, r) })
				err := b.DownloadBaseFiles(t.Context(), project, set, func(_ tree.Entry, r io.Reader) error {
					_, err := io.Copy(io.Discard, r)
					return err
				})
				wantCode(t, err, test.code)
			})
		})
	}
	t.Run("the caller's own failure", func(t *testing.T) {
		body := archived(t, files, contents)
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{},
				func(w http.ResponseWriter, _ *http.Request, _ int) { sendArchive(w, set.Tree, body) })
			if err := b.DownloadBaseFiles(t.Context(), project, set,
				func(tree.Entry, io.Reader) error { return errDisk }); err != errDisk || b.requests.Load() != 1 {
				t.Errorf("%d requests, %v", b.requests.Load(), err)
			}
		})
	})
}

func TestDownloadBaseFiles_RejectsFilesThatTheSetDoesNotHave(t *testing.T) {
	contents := map[string]string{"a": "alpha", "b": "new", "x": "extra"}
	all, _ := filesOf(contents)
	files := all[:2]
	set := &wire.BaseFiles{BaseFilesSum: wire.BaseFilesSum{Tree: files.Digest()}, Files: files}
	for name, sent := range map[string]tree.Tree{"unknown": {all[2], all[1]}, "repeated": {all[0], all[0], all[1]}} {
		hub := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
			sendArchive(w, set.Tree, archived(t, sent, contents))
		})
		err := hub.DownloadBaseFiles(t.Context(), project, set, func(_ tree.Entry, r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		})
		if !hubclient.HasCode(err, hubclient.CodeNotAHub) ||
			!strings.Contains(err.Error(), "is unknown, has another size, or is repeated") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
