//go:build unix

package golden_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// ending ends a push between its PUT and the response.
type ending struct {
	name string
	args []string
	end  func(*os.Process) // called when the hub has the PUT; nil: the process goes on
	hold bool              // the connection stays open until the process ends it
}

// content returns the config alone of what the hub answers.
func (w *world) content() string {
	w.t.Helper()
	var answer struct{ Config json.RawMessage }
	if err := json.Unmarshal([]byte(w.config()), &answer); err != nil {
		w.t.Fatal(err)
	}
	return string(answer.Config)
}

// The hub keeps the config that a push replaces, so that --undo puts it back however the push
// ended. If it was not applied, nothing is undone.
func TestPush_UndoWorksWithoutAResponse(t *testing.T) {
	t.Parallel()
	for _, e := range []ending{
		{name: "the response is lost", args: []string{"--timeout", "1s"}},
		{name: "the hub never answers", args: []string{"--timeout", "1s"}, hold: true},
		{name: "SIGINT", end: func(p *os.Process) { p.Signal(syscall.SIGINT) }, hold: true},
		{name: "SIGTERM", end: func(p *os.Process) { p.Signal(syscall.SIGTERM) }, hold: true},
		{name: "SIGKILL", end: func(p *os.Process) { p.Kill() }, hold: true},
	} {
		for _, applied := range []bool{true, false} {
			for _, flag := range []string{"", "--no-clobber"} {
				name := e.name + map[bool]string{true: ", applied", false: ", not applied"}[applied] + flag
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					checkUndo(t, e, applied, flag)
				})
			}
		}
	}
}

func checkUndo(t *testing.T, e ending, applied bool, flag string) {
	w := newWorld(t, before)
	held := w.content()
	w.setting(after)
	var cut atomic.Bool
	started := make(chan *os.Process, 1)
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if r.Method != http.MethodPut || !cut.Load() {
			hub.ServeHTTP(rw, r)
			return
		}
		if applied {
			hub.ServeHTTP(httptest.NewRecorder(), r)
		}
		if e.end != nil {
			e.end(<-started)
		}
		if e.hold {
			hold(r)
		}
		panic(http.ErrAbortHandler)
	})
	args := append([]string{"push", "web"}, e.args...)
	if flag != "" {
		args = append(args, flag)
	}
	c := w.command(args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	cut.Store(true)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	started <- c.Process
	if err := c.Wait(); err == nil {
		t.Fatalf("the push succeeded: %s", &stderr)
	}
	cut.Store(false)
	if e.name != "SIGKILL" && !strings.Contains(stderr.String(),
		"the push may have been applied, see tool log web; if so, to restore the previous config: tool push web --undo") {
		t.Errorf("it says\n%s", &stderr)
	}
	if now := w.content(); (now != held) != applied {
		t.Fatalf("the hub has %s", now)
	}
	want := "was not your push"
	if !applied {
		want = "the last edit of @alice/web replaced nothing"
	} else {
		w.must("push", "web", "--undo")
	}
	if got := w.content(); got != held {
		t.Errorf("the config was %s and is %s", held, got)
	}
	again, err := w.command("push", "web", "--undo").CombinedOutput()
	if err == nil || !strings.Contains(string(again), want) {
		t.Errorf("a further undo says\n%s", again)
	}
}

// A hub that refuses every write by 412 is not asked for ever.
func TestPush_EndsWhenTheHubAlwaysAnswers412(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"push", "web"}, {"push", "web", "--no-clobber"}, {"push", "web", "--undo"}} {
		w := newWorld(t, before)
		w.setting(after)
		w.must("push", "web")
		w.setting(before)
		puts := 0
		w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
			if r.Method != http.MethodPut {
				hub.ServeHTTP(rw, r)
				return
			}
			puts++
			rw.Header().Set("Hub-Version", "1")
			rw.Header().Set("Content-Type", "application/problem+json")
			rw.WriteHeader(http.StatusPreconditionFailed)
			rw.Write([]byte(`{"status":412,"code":"revision_changed","detail":"the config is another"}`))
		})
		out, err := w.command(args...).CombinedOutput()
		if codeOf(t, err) != 1 || puts > 3 {
			t.Errorf("%d PUTs: %s", puts, out)
		}
	}
}

// A pull that fails must not stand in the way of undoing the one before.
func TestPull_UndoWorksAfterAPullThatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	was := w.read(clientJSON)
	w.patch(`{"set": {"title": "Theirs"}}`)
	w.must("pull", "web")
	pulled := w.read(clientJSON)

	w.patch(`{"set": {"title": "Theirs again"}}`)
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/config") {
			w.write(clientJSON, pulled+" ") // somebody edits it meanwhile
		}
		hub.ServeHTTP(rw, r)
	})
	out, err := w.command("pull", "web", "--force").CombinedOutput()
	if codeOf(t, err) != 1 || !strings.Contains(string(out), "it was edited meanwhile") {
		t.Fatalf("%v: %s", err, out)
	}
	w.write(clientJSON, pulled)
	w.must("pull", "web", "--undo")
	if got := w.read(clientJSON); got != was {
		t.Errorf("client.json was %s and is %s", was, got)
	}
}

// A pull that changed client.json, and then could not write pulled.json, says so.
func TestPull_ReportsWhatItChangedBeforeItFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	was := w.read(clientJSON)
	w.patch(`{"set": {"title": "Theirs"}}`)
	w.remove(".tool/web/pulled.json")
	if err := os.Mkdir(filepath.Join(w.dir, ".tool", "web", "pulled.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	c := w.command("pull", "web", "--json")
	c.Stdout = &stdout
	code := codeOf(t, c.Run())
	var failed struct {
		Code            string
		SettingsChanged bool
		Hint            string
		Recipe          []string
	}
	if err := json.Unmarshal(stdout.Bytes(), &failed); err != nil || code != 1 || failed.Code != "not_recorded" ||
		!failed.SettingsChanged ||
		!strings.Contains(failed.Hint, "are pulled") || !slices.Contains(failed.Recipe, "tool pull web --undo") {
		t.Errorf("exit %d: %s", code, &stdout)
	}
	w.remove(".tool/web/pulled.json")
	w.must("pull", "web", "--undo")
	if got := w.read(clientJSON); got != was {
		t.Errorf("client.json was %s and is %s", was, got)
	}
}

// A pull of the base files alone needs no config on the hub, and changes no settings.
func TestPull_BaseFilesOnlyLeavesClientJSONAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{}`)
	w.write("index.html", "<p>theirs</p>\n")
	w.must("push", "web", "--base-files-only")
	w.remove("index.html")
	out, err := w.command("pull", "web", "--base-files").CombinedOutput()
	if codeOf(t, err) != 1 || !strings.Contains(string(out), "try: tool pull web --base-files-only") {
		t.Errorf("%v: %s", err, out)
	}
	was := w.files()
	w.must("pull", "web", "--base-files-only")
	if got := w.read("index.html"); got != "<p>theirs</p>\n" {
		t.Errorf("index.html is %q", got)
	}
	w.remove("index.html")
	if got := w.files(); got != was {
		t.Errorf("files were\n%s\nand are\n%s", was, got)
	}
}

// A create whose registration got no response registers the API once, however often it
// is run.
func TestCreate_RegistersTheAPIOnceAfterALostResponse(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	var cut atomic.Bool
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if r.URL.Path != "/v1/apis/upload" || !cut.Load() {
			hub.ServeHTTP(rw, r)
			return
		}
		hub.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
	cut.Store(true)
	if out, err := w.command("project", "create", "web", "--timeout", "1s").CombinedOutput(); codeOf(t, err) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	cut.Store(false)
	if out := w.must("project", "create", "web"); !strings.Contains(out, "alice/pets, registered now") {
		t.Errorf("it says\n%s", out)
	}
	if text, status := w.fetch("/v1/apis/alice/pets-2"); status != http.StatusNotFound {
		t.Errorf("there is another API: %s", text)
	}
}

// rm says what it did, whatever became of its attempts.
func TestRm_SaysTruthfullyWhetherItDeleted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		exists, applied bool // applied: the hub did the first attempt
		says            string
	}{
		"deleted by the lost attempt":   {true, true, "Deleted @alice/web"},
		"deleted by the second attempt": {true, false, "Deleted @alice/web"},
		"never existed":                 {false, false, "there is no @alice/web on"},
		"never existed, lost response":  {false, true, "there is no @alice/web on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newLocal(t, before)
			if test.exists {
				w.must("project", "create", "web")
			}
			var failed atomic.Bool
			w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
				if r.Method != http.MethodDelete || failed.Swap(true) {
					hub.ServeHTTP(rw, r)
					return
				}
				if test.applied {
					hub.ServeHTTP(httptest.NewRecorder(), r)
				}
				http.Error(rw, "later", http.StatusServiceUnavailable)
			})
			out := w.must("project", "rm", "@alice/web")
			if !strings.Contains(out, test.says) || strings.Contains(out, "Deleted") != test.exists {
				t.Errorf("it says\n%s", out)
			}
		})
	}
}
