package golden_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The benchmarks of pushes run our programs and their peers in turn, and report
// ratios of medians: figures of one run compare, those of two do not.
//
//	go test ./golden -run '^$' -bench Push -benchtime 5x

// plantSource writes files of about 10 KB, eight in a directory, one in ten of
// which does not compress; the others are made of words and identifiers, so that
// they do as source does.
func plantSource(t testing.TB, dir string, files int) {
	t.Helper()
	r := rand.New(rand.NewChaCha8([32]byte{}))
	words := strings.Fields(
		"import export const return function props state user async await Promise string number interface type value index render button label className onClick useState fetch api error message token")
	past := time.Now().Add(-time.Hour)
	for i := range files {
		var text bytes.Buffer
		for size := 5120 + r.IntN(10240); text.Len() < size; {
			switch {
			case i%10 == 0:
				text.WriteByte(byte(r.Uint32()))
			case r.IntN(7) == 0:
				text.WriteString(";\n")
			case r.IntN(4) == 0:
				fmt.Fprintf(&text, "id%x ", r.Uint32())
			default:
				text.WriteString(words[r.IntN(len(words))] + " ")
			}
		}
		name := filepath.Join(dir, fmt.Sprintf("src/area%02d/feature%02d/part%d/file%d.ts", i/8%7, i/56%37, i/2072, i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
}

// sized makes a world whose app has so many files, and whose project is created
// without any.
func sized(t testing.TB, files int, flags ...string) *world {
	t.Helper()
	w := newWorld(t, `{"basePath": "src"}`, flags...)
	plantSource(t, w.dir, files)
	return w
}

// through makes tool go to the hub through a tap.
func (w *world) through() *tap {
	w.t.Helper()
	r := newTap(w.t, w.hub.listen)
	w.origin = r.origin
	w.must("login", "--origin", w.origin, "--token", w.token)
	return r
}

func (w *world) pushFiles() { w.must("push", "web", "--base-files-only", "--no-input") }

// forget makes the next push the first one of this machine.
func (w *world) forget() {
	for _, v := range w.env {
		if cache, ok := strings.CutPrefix(v, "XDG_CACHE_HOME="); ok {
			os.RemoveAll(cache)
		}
	}
}

// timed returns how long f takes.
func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2])
}

// versus runs ours and the peer's in turn, each after its preparation, and reports
// the ratio of the medians.
func versus(b *testing.B, limit float64, ours, peer func() time.Duration) {
	b.Helper()
	var a, p []time.Duration
	for b.Loop() {
		p, a = append(p, peer()), append(a, ours())
	}
	b.ReportMetric(median(a)/median(p), "ratio")
	b.ReportMetric(limit, "at-most")
	b.ReportMetric(median(a)/1e6, "ours-ms")
	b.ReportMetric(median(p)/1e6, "peer-ms")
}

// shell runs a line in dir, which has to succeed.
func shell(t testing.TB, dir, line string, env ...string) {
	t.Helper()
	c := exec.Command("sh", "-c", line)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// newSink returns the address of a server that puts each body into a file and on
// the disk before it answers.
func newSink(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, err := os.Create(filepath.Join(dir, "body"))
		if err == nil {
			_, err = io.CopyBuffer(struct{ io.Writer }{f}, r.Body, make([]byte, 1<<20))
			if e := f.Sync(); err == nil {
				err = e
			}
			f.Close()
		}
		if err != nil {
			http.Error(w, err.Error(), 500)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// newGit makes a repository of dir, and a server by git's own HTTP back-end that
// it is pushed to, through a tap as ours is.
func newGit(t testing.TB, dir string) {
	t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	shell(t, root,
		"git init -q --bare web.git && git -C web.git config http.receivepack true && git -C web.git config gc.auto 0")
	backend := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=u"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.TransferEncoding = nil // it reads to the end of its input, and refuses to be told how that came
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	tapped := newTap(t, server.Listener.Addr().String())
	shell(t, dir,
		"git init -q -b main . && git config gc.auto 0 && git config user.name ci && git config user.email ci@example.com && "+
			"git add -A && git commit -qm first && git remote add origin "+tapped.origin+
			"/web.git && git push -q -u origin main")
}

func BenchmarkPushOfEverything(b *testing.B) {
	for _, program := range []string{"tar", "zstd", "curl"} {
		need(b, program, "apt-get install "+program)
	}
	for _, files := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			w := sized(b, files)
			sink := newSink(b)
			versus(b, 1.3, func() time.Duration {
				w.forget()
				w.must("project", "rm", "web", "--force")
				w.must("project", "create", "web")
				return timed(w.pushFiles)
			}, func() time.Duration {
				return timed(func() {
					shell(b, w.dir, "tar -cf - src | zstd -q -1 -T0 | curl -fsS -H Expect: -T - "+sink)
				})
			})
		})
	}
}

func BenchmarkPushOfNothing(b *testing.B) {
	need(b, "git", "apt-get install git")
	for files, limit := range map[int]float64{1000: 0.4, 10_000: 0.9} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			w := sized(b, files)
			newGit(b, w.dir)
			r := w.through()
			w.pushFiles()
			w.pushFiles()
			r.up.Store(0)
			requests := 0
			versus(b, limit, func() time.Duration {
				requests++
				return timed(w.pushFiles)
			}, func() time.Duration {
				return timed(func() { shell(b, w.dir, "git add -A && git push -q") })
			})
			b.ReportMetric(float64(r.up.Load())/float64(requests), "bytes-up")
		})
	}
}

// change gives one file another kilobyte of text.
func (w *world) change() {
	text := make([]byte, 768)
	for i := range text {
		text[i] = byte(rand.Uint32())
	}
	w.write("src/area00/feature00/part0/file1.ts", fmt.Sprintf("%x", text)[:1024])
}

func BenchmarkPushOfOneFile(b *testing.B) {
	need(b, "git", "apt-get install git")
	for _, files := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			w := sized(b, files)
			newGit(b, w.dir)
			r := w.through()
			w.pushFiles()
			r.up.Store(0)
			requests := 0
			versus(b, 0.5, func() time.Duration {
				requests++
				return timed(w.pushFiles)
			}, func() time.Duration {
				w.change()
				return timed(func() { shell(b, w.dir, "git add -A && git commit -qm next && git push -q") })
			})
			b.ReportMetric(float64(r.up.Load())/float64(requests), "bytes-up")
		})
	}
}

// BenchmarkPushOfOneFileAmong tells what grows with the size of the set.
func BenchmarkPushOfOneFileAmong(b *testing.B) {
	for _, files := range []int{100, 1000, 10_000, 19_990} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			w := sized(b, files)
			w.pushFiles()
			var times, without []time.Duration
			for b.Loop() {
				w.change()
				times = append(times, timed(w.pushFiles))
				without = append(without, timed(w.pushFiles))
			}
			b.ReportMetric(median(times)/1e6, "one-ms")
			b.ReportMetric(median(without)/1e6, "none-ms")
		})
	}
}
