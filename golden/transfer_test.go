//go:build unix

package golden_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// gate lets a first part of a body through, and the rest when it is opened.
type gate struct {
	io.ReadCloser
	first  int64
	opened chan struct{}
}

func (g *gate) Read(p []byte) (int, error) {
	if g.first <= 0 {
		<-g.opened
	}
	n, err := g.ReadCloser.Read(p[:min(len(p), 32<<10)])
	g.first -= int64(n)
	return n, err
}

// gatedAnswer lets a first part of an answer through, and the rest when it is opened.
type gatedAnswer struct {
	http.ResponseWriter
	first  int
	opened chan struct{}
}

func (g *gatedAnswer) Write(p []byte) (int, error) {
	if g.first -= len(p); g.first <= 0 {
		http.NewResponseController(g.ResponseWriter).Flush()
		<-g.opened
	}
	return g.ResponseWriter.Write(p)
}

// slow makes every transfer of files stop on its way until open is called.
func (w *world) slow() (open func()) {
	opened := make(chan struct{})
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		files := strings.HasSuffix(r.URL.Path, "/preview/base-files") || strings.HasPrefix(r.URL.Path, "/v1/stacks/")
		if files && r.Method == http.MethodPut {
			r.Body = &gate{r.Body, 256 << 10, opened}
		}
		if strings.HasSuffix(r.URL.Path, "/archive") {
			rw = &gatedAnswer{rw, 3 << 20, opened}
		}
		hub.ServeHTTP(rw, r)
	})
	open = sync.OnceFunc(func() { close(opened) })
	w.t.Cleanup(open)
	return open
}

// noise writes files that do not compress.
func (w *world) noise(files, size int) {
	w.t.Helper()
	for i := range files {
		content := make([]byte, size)
		rand.Read(content)
		w.write(fmt.Sprintf("src/noise-%02d.bin", i), string(content))
	}
}

var (
	numbers = regexp.MustCompile(`( {2,})?[0-9.]+`)
	units   = regexp.MustCompile(`# ([KMG]i)?B\b`)
	columns = regexp.MustCompile(`# MiB +#`)
	waits   = regexp.MustCompile(`(#[smh]|days) left`)
)

// halfway makes equal how far a transfer has come, which differs from run to run.
func halfway(text string) string {
	text = units.ReplaceAllString(
		numbers.ReplaceAllStringFunc(text,
			func(n string) string { return strings.Repeat(" ", min(1, strings.Count(n, " "))) + "#" }), "# MiB")
	text = columns.ReplaceAllString(waits.ReplaceAllString(text, "#s left"), "# MiB  #")
	return spinners.ReplaceAllString(text, "⠋")
}

func TestTransfer_OneLineWhileRunning(t *testing.T) {
	t.Parallel()
	for suffix, s := range sizes {
		w := newWorld(t, before)
		w.noise(24, 1<<20)
		open := w.slow()
		term := w.open(s, "push", "web", "--base-files-only")
		term.wait("uploading ")
		term.wait(" left")
		golden(t, "screen/transfer"+suffix+".txt", halfway(term.text()))
		open()
		term.ends(0)
		if text := term.text(); strings.Contains(text, "uploading") ||
			!strings.HasPrefix(text, "Pushed web to @alice/web\n") {
			t.Errorf("the screen at the end:\n%s", text)
		}
	}
}

func TestTransfer_SilentInPipeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.noise(24, 1<<20)
	open := w.slow()
	for _, args := range [][]string{{"--no-input"}, {"--json"}} {
		term := w.open(usual, append([]string{"push", "web", "--base-files-only"}, args...)...)
		open()
		term.ends(0)
		if out := term.output(); strings.Contains(out, escape) || strings.Contains(out, "uploading") {
			t.Errorf("%s: %q", args[0], out)
		}
	}
}

func TestTransfer_InterruptedLeavesScreenInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.noise(24, 1<<20)
	w.slow()
	term := w.open(usual, "push", "web", "--base-files-only")
	term.wait("uploading ")
	term.press(ctrlC)
	term.ends(130)
	if text := term.text(); strings.Contains(text, "uploading") ||
		text != "error: push web to @alice/web: interrupted (stage push)\n  hint: what was being sent may have been "+
			"applied\n" {
		t.Errorf("the screen at the end:\n%s", text)
	}
	if set, status := w.fetch(aliceWeb + "/preview/base-files"); status != http.StatusNotFound {
		t.Errorf("the hub holds base files: %d %s", status, set)
	}
}

func TestTransfer_PublishIsOneLine(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "2.0.0"}`+"\n")
	content := make([]byte, 8<<20)
	rand.Read(content)
	w.write(".tool/web/blob.bin", string(content))
	open := w.slow()
	term := w.open(usual, "publish", "--force")
	term.wait(" left")
	open()
	term.ends(0)
	if text := term.text(); strings.Contains(text, "uploading") || !strings.Contains(text, "Published @alice/web 2.0.0") {
		t.Errorf("the screen at the end:\n%s", text)
	}
}

func TestTransfer_DownloadIsOneLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.noise(8, 1<<20)
	w.pushFiles()
	for i := range 8 {
		w.remove(fmt.Sprintf("src/noise-%02d.bin", i))
	}
	open := w.slow()
	term := w.open(usual, "pull", "web", "--base-files", "--force")
	term.wait("downloading ")
	if text := halfway(term.text()); !strings.HasPrefix(text,
		"⠋ downloading # of # files, # MiB of # MiB, # MiB/s, #s left") {
		t.Errorf("%s\nis the screen amid it: %s", text, term.text())
	}
	open()
	term.ends(0)
	if text := term.text(); strings.Contains(text, "downloading") || !strings.Contains(text, "8 added") {
		t.Errorf("the screen at the end:\n%s", text)
	}
}

func TestPull_SaysWhatItDidWhenFilesFail(t *testing.T) {
	w := newWorld(t, `{"basePath": "src"}`)
	w.write("src/a.txt", "alpha")
	w.must("push", "web", "--base-files-only")
	w.remove("src/a.txt")
	w.patch(`{"set":{"title":"Theirs"}}`)
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/archive") {
			http.Error(rw, "no", http.StatusForbidden)
			return
		}
		hub.ServeHTTP(rw, r)
	})
	// --force: nothing is known of what was pushed to the proxy's address.
	out, err := w.command("pull", "web", "--base-files", "--no-input", "--force").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "hint: the settings are pulled, the base files in part at most") {
		t.Errorf("%v: %s", err, out)
	}
	if client := w.read(".tool/web/client.json"); !strings.Contains(client, "Theirs") {
		t.Errorf("client.json is %s", client)
	}
}
