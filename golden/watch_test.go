//go:build unix

package golden_test

import (
	"bufio"
	"crypto/rand"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// lines hands out what a program prints, line by line.
type lines struct {
	t    testing.TB
	scan *bufio.Scanner
}

// wait returns the next line that holds text.
func (l *lines) wait(text string) string {
	l.t.Helper()
	var before []string
	for l.scan.Scan() {
		if strings.Contains(l.scan.Text(), text) {
			return l.scan.Text()
		}
		before = append(before, l.scan.Text())
	}
	l.t.Fatalf("no line holds %q: %q", text, before)
	return ""
}

// start starts a program that runs until the test ends it, and returns what it prints.
func (w *world) start(c *exec.Cmd) (out, diagnosed *lines) {
	w.t.Helper()
	stdout, err := c.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	stderr, err := c.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Process.Kill() })
	return &lines{w.t, bufio.NewScanner(stdout)}, &lines{w.t, bufio.NewScanner(stderr)}
}

// watch starts a push that watches, and waits until it does.
func (w *world) watch(flags ...string) (c *exec.Cmd, out, diagnosed *lines) {
	w.t.Helper()
	c = w.command(append([]string{"push", "web", "--base-files-only", "--watch"}, flags...)...)
	out, diagnosed = w.start(c)
	out.wait("watching")
	return c, out, diagnosed
}

func TestWatch_KeepsNoConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"basePath": "src"}`)
	w.write("src/a.txt", "alpha")
	tap := w.through()
	_, out, diagnosed := w.watch()
	for range 3 {
		w.write("src/back\\slash", "no hub takes that")
		diagnosed.wait("invalid path")
		w.remove("src/back\\slash")
		w.write("src/a.txt", rand.Text())
		out.wait("pushed")
	}
	for end := time.Now().Add(patience); tap.open.Load() > 0; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d of %d connections are open", tap.open.Load(), tap.conns.Load())
		}
	}
}

func TestWatch_FindsAppThatCameBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"basePath": "app/src"}`)
	w.write("app/src/a.txt", "alpha")
	_, out, diagnosed := w.watch()
	if err := os.RemoveAll(filepath.Join(w.dir, "app")); err != nil {
		t.Fatal(err)
	}
	diagnosed.wait("the app root app does not exist")
	w.write("app/src/a.txt", "beta")
	out.wait("pushed: 1 changed;")
	w.write("app/src/a.txt", "gamma")
	out.wait("pushed: 1 changed;")
}

func TestWatch_SendsEachChangeAndSurvivesHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"basePath": "src"}`)
	w.write("src/a.txt", "alpha")
	c, out, diagnosed := w.watch("--timeout", "500ms")

	w.write("src/a.txt", "beta")
	out.wait("pushed: 1 changed;")
	w.write("src/new/deep/b.txt", "in a directory that was not there")
	out.wait("pushed: 1 added")
	w.write("src/new/deep/c.txt", "later")
	out.wait("pushed: 1 added;")
	w.write("node_modules/x.js", "left out")
	w.write("src/.env", "left out")

	listen, db := w.hub.listen, w.hub.db
	w.hub.stop(t)
	w.write("src/a.txt", "gamma, while nobody listens")
	if line := diagnosed.wait("not pushed"); !strings.Contains(line, "cannot be reached") {
		t.Errorf("the hub is away: %s", line)
	}
	w.hub = startHub(t, "sqlite:"+strings.TrimPrefix(db, "sqlite:"), "--listen", listen)
	out.wait("pushed: 1 changed;")

	w.write("src/back\\slash", "no hub takes that")
	diagnosed.wait("invalid path")
	w.remove("src/back\\slash")
	w.remove("src/new/deep/c.txt")
	out.wait("pushed: 1 removed;")
	if set := w.get(aliceWeb + "/preview/base-files"); !strings.Contains(set, `"src/new/deep/b.txt"`) ||
		strings.Contains(set, "node_modules") {
		t.Errorf("the hub holds %s", set)
	}
	c.Process.Signal(syscall.SIGINT)
	if line := out.wait("Stopped watching:"); !strings.Contains(line, " 6 pushes, 7 files changed, ") {
		t.Errorf("after ctrl-c: %s", line)
	}
	for out.scan.Scan() {
		t.Errorf("after ctrl-c: %s", out.scan.Text())
	}
	if code := codeOf(t, c.Wait()); code != 0 {
		t.Errorf("exit code %d after ctrl-c, want 0", code)
	}
}

// A file that is written all the time holds up no other, and one that is left out
// causes no request.
func TestWatch_IsNotStarvedAndSendsNothingInVain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"basePath": "src"}`)
	w.write("src/a.txt", "alpha")
	w.write("src/busy.log", "")
	w.write("src/busy.txt", "")
	w.write(".toolignore", "*.tmp\n")
	var calls atomic.Int64
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		calls.Add(1)
		hub.ServeHTTP(rw, r)
	})
	c, out, _ := w.watch()
	before := calls.Load()
	// Often enough that it never rests, not so often that it can never be read.
	busy := func(name string) (stop func()) {
		end, ended := make(chan bool), make(chan bool)
		go func() {
			defer close(ended)
			for {
				select {
				case <-end:
					return
				case <-time.After(60 * time.Millisecond):
					os.Chtimes(filepath.Join(w.dir, name), time.Time{}, time.Now())
				}
			}
		}()
		return func() { close(end); <-ended }
	}
	stop := busy("src/busy.log")
	w.write("src/new.log", "left out")
	w.write("src/new.tmp", "left out")
	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.1.0"}`)
	w.write("src/a.txt", "alpha") // the same
	w.write("src/a.txt", "beta")
	out.wait("pushed: 1 changed;")
	stop()
	after := calls.Load()
	if after-before > 3 {
		t.Errorf("%d requests for one push", after-before)
	}
	stop = busy("src/busy.txt")
	w.write("src/a.txt", "gamma")
	out.wait("pushed: 1 changed;")
	stop()

	// What says which files are pushed is watched too.
	w.write(".tool/web/manifest.json", `{"files": ["src/a.txt"]}`)
	out.wait("pushed: 1 removed;")
	w.write(".toolignore", "*.tmp\nbusy.txt\n")
	out.wait("pushed: 1 changed, 1 removed;")
	w.write("other/src/b.txt", "")
	w.write(clientJSON, `{"source": "openapi.json", "project": "@alice/web", "settings": {"basePath": "other/src"}}`)
	out.wait("pushed: 1 added")
	c.Process.Signal(syscall.SIGINT)
	out.wait("Stopped watching:")
	if code := codeOf(t, c.Wait()); code != 0 {
		t.Errorf("exit code %d after ctrl-c, want 0", code)
	}
}

// Settings are pushed as they change, and never undo what others wrote: that is said once, and a pull mends it.
func TestWatch_PushesSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"basePath": "src", "title": "one"}`)
	w.write("src/a.txt", "alpha")
	c := w.command("push", "web", "--watch", "--base-files")
	out, diagnosed := w.start(c)
	out.wait("watching")
	w.setting(`{"basePath": "src", "title": "two"}`)
	if line := out.wait("pushed"); !strings.HasSuffix(line, " pushed settings: 1 changed") {
		t.Error(line)
	}
	w.write(clientJSON, `{"settings": {`)
	diagnosed.wait("not pushed")
	w.write(clientJSON, `{"project": "@alice/web", "settings": {"basePath": "src", "title": "two"}}`)

	w.patch(`{"set": {"title": "page"}}`)
	w.setting(`{"basePath": "src", "title": "three"}`)
	diagnosed.wait("the push would undo what alice edited")
	w.write("src/a.txt", "beta") // which goes on
	out.wait("pushed: 1 changed;")
	w.must("pull", "web", "--mine")
	out.wait("pushed settings: 1 changed")
	if config := w.config(); !strings.Contains(config, `"three"`) {
		t.Error(config)
	}
	c.Process.Signal(syscall.SIGINT)
	out.wait("Stopped watching: 4 pushes, 3 files changed, ")
}
