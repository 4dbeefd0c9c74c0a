package api_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// drawFiles draws files, some of which are the same in several draws.
func drawFiles(t *rapid.T) (tree.Tree, map[string]string) {
	content := rapid.Custom(func(t *rapid.T) string {
		b := make([]byte, rapid.SampledFrom([]int{0, 1, 255, 256, 5000, 100_000, 2 << 20}).Draw(t, "size"))
		rand.NewChaCha8([32]byte{rapid.Byte().Draw(t, "seed") % 4}).Read(b)
		if rapid.Bool().Draw(t, "text") {
			return strings.Repeat("some text ", len(b)/10)
		}
		return string(b)
	})
	contents := rapid.MapOfN(rapid.StringMatching(`[a-c]/[0-9]|[d-z]`), content, 0, 30).Draw(t, "contents")
	files := tree.Tree{}
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		mode := rapid.SampledFrom([]tree.Mode{tree.Regular, tree.Executable}).Draw(t, "mode")
		files = append(files, tree.Entry{
			Path: path, Mode: mode, Size: int64(len(contents[path])), SHA256: store.Digest([]byte(contents[path])),
		})
	}
	return files, contents
}

// The hub has what a client sent last, whatever the client takes for the hub's files, and when a
// connection breaks.
func TestPutBaseFiles_HubHasWhatAClientSends(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		var cut atomic.Int64 // bytes after which the next upload breaks, 0: never
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n := cut.Load(); n > 0 && r.Method == http.MethodPut {
				cut.Store(0)
				r.Body = io.NopCloser(io.LimitReader(r.Body, n))
				h.http.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
			h.http.ServeHTTP(w, r)
		}))
		h.Cleanup(server.Close)
		client, err := hubclient.New(hubclient.Options{Origin: server.URL, Token: alice.token})
		if err != nil {
			h.Fatal(err)
		}
		project, err := ref.New("acme", "web")
		if err != nil {
			h.Fatal(err)
		}
		former := []tree.Tree{nil}
		rapid.Check(h, func(t *rapid.T) {
			files, contents := drawFiles(t)
			set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: func(e tree.Entry) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(contents[e.Path])), nil
			}}
			// The last one most often, so that the client's is the hub's.
			i := rapid.OneOf(rapid.Just(len(former)-1), rapid.IntRange(0, len(former)-1)).Draw(t, "base")
			if base := former[i]; base != nil {
				set.Base = base.Snapshot()
			}
			if rapid.IntRange(0, 9).Draw(t, "breaks") == 0 {
				cut.Store(int64(rapid.IntRange(1, 3<<20).Draw(t, "after")))
			}
			w, err := client.Upload(project, set).Put(h.Context())
			if err != nil || w.Tree != set.Snapshot.Digest || w.BaseFilesPushed != len(files) {
				t.Fatalf("%+v, %v", w, err)
			}
			cut.Store(0)
			former = append(former, files)
			has, err := client.BaseFiles(h.Context(), project)
			if err != nil || !slices.Equal(files, tree.Tree(has.Files)) {
				t.Fatalf("the list is %+v, %v", has, err)
			}
			err = client.DownloadBaseFiles(h.Context(), project, has, func(e tree.Entry, r io.Reader) error {
				content, err := io.ReadAll(r)
				if err == nil && !bytes.Equal(content, []byte(contents[e.Path])) {
					t.Errorf("%s has %d bytes, want %d", e.Path, len(content), len(contents[e.Path]))
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	})
}

// A push of one changed file among many, as a client sends it after each save.
func BenchmarkPutBaseFiles_OneOf10000(b *testing.B) {
	h := newHub(b, "sqlite:"+b.TempDir()+"/hub.db", request.DefaultLimits)
	alice := h.project()
	content := func(i, version int) string { return fmt.Sprintf("export const file%d = %d;", i, version) }
	files := make(tree.Tree, 10_000)
	for i := range files {
		text := content(i, 0)
		path := fmt.Sprintf("src/area%02d/feature%02d/part/file%d.ts", i%7, i/7%37, i)
		files[i] = tree.Entry{Path: path, Mode: tree.Regular, Size: int64(len(text)), SHA256: store.Digest([]byte(text))}
	}
	files, err := tree.New(files)
	if err != nil {
		b.Fatal(err)
	}
	var all []string
	for i := range files {
		all = append(all, content(i, 0))
	}
	alice.send("PUT", baseFiles, wire.UploadType, upload(files, all...)).want(200)
	var bodies [][]byte
	var bases []string
	for version := range b.N {
		former, text := files.Canonical(), content(4711, version+1)
		bases = append(bases, files.Digest())
		files[4711].Size, files[4711].SHA256 = int64(len(text)), store.Digest([]byte(text))
		var body []byte
		patch, err := tree.Patch(former, files.Canonical())
		if err != nil {
			b.Fatal(err)
		}
		for _, frame := range [][]byte{store.Compress(patch), store.Compress([]byte(text))} {
			body = append(binary.AppendUvarint(body, uint64(len(frame))), frame...)
		}
		bodies = append(bodies, body)
	}
	b.ResetTimer()
	cpu := cpuTime(b)
	for i, body := range bodies {
		alice.send("PUT", baseFiles+"?base="+bases[i], wire.UploadType, body).want(200)
	}
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// cpuTime is how long the processors have worked for this process.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
