package golden_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A create makes these calls; each can be the last that its program lives
// to see.
const callsOfCreate = 7

// TestCreate_TwiceNeverChangesConfig kills a create before each of its calls
// reaches the hub, and before each answer reaches the program, and at random
// moments; somebody edits what is there; and a second create leaves that alone.
func TestCreate_TwiceNeverChangesConfig(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	target, err := url.Parse(w.hub.origin)
	if err != nil {
		t.Fatal(err)
	}
	k := &killer{hub: httputil.NewSingleHostReverseProxy(target), at: -1}
	k.hub.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	w.must("login", "--origin", server.URL, "--token", w.token)
	w.must("login", "--origin", w.hub.origin, "--token", w.token)

	fresh := w.read(clientJSON)
	kills, there := 0, 0
	for i := 0; kills < 44 && i < 200; i++ {
		w.write(clientJSON, fresh)
		slug := fmt.Sprintf("web-%02d", i)
		c := w.command("project", "create", slug, "--base-files", "--origin", server.URL)
		kill, start := mortal(c)
		k.arm(kill, i)
		start(t)
		if i >= 2*callsOfCreate {
			timer := time.AfterFunc(rand.N(30*time.Millisecond), kill)
			defer timer.Stop()
		}
		c.Wait()
		if !c.ProcessState.Success() {
			kills++
		}
		if !json.Valid([]byte(w.read(clientJSON))) {
			t.Fatalf("kill %d: client.json is torn: %s", i, w.read(clientJSON))
		}
		if w.twice(slug) {
			there++
		}
	}
	w.write(clientJSON, fresh)
	w.must("push", "web", "--project", "@alice/web-00") // the next write tidies up
	leftovers, err := filepath.Glob(filepath.Join(w.dir, ".tool", "web", ".*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("left over: %v %v", leftovers, err)
	}
	t.Logf("%d creates were killed, of them and of the others %d after the project was made", kills, there)
	if kills < 44 || there == 0 {
		t.Error("the kills missed what they were for")
	}
}

// twice makes the project slug, unless a killed create has made it, edits it, and
// runs create again, which has to leave every byte of it alone. It reports whether
// the killed one had made it.
func (w *world) twice(slug string) (there bool) {
	w.t.Helper()
	path := "/v1/projects/alice/" + slug
	if _, status := w.fetch(path); status == http.StatusOK {
		there = true
	} else {
		there = w.create(slug) != 0 // a call of the killed one can still be under way
	}
	err := errors.New("not tried")
	for range 10 { // a seed that is still under way can come between
		if err = patch(w.hub.origin+path+"/config", w.token, `{"set": {"edited": "`+slug+`"}}`); err == nil {
			break
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	held := w.get(path + "/config")
	if code := w.create(slug); code != 1 {
		w.t.Errorf("a second create: exit %d", code)
	}
	if got := w.get(path + "/config"); got != held {
		w.t.Errorf("a second create changed the config:\n%s\n%s", held, got)
	}
	return there
}

// create runs a create that is to succeed, or to find that the project exists.
func (w *world) create(slug string) (code int) {
	w.t.Helper()
	var stdout bytes.Buffer
	c := w.command("project", "create", slug, "--json")
	c.Stdout = &stdout
	code = codeOf(w.t, c.Run())
	var result head
	if err := json.Unmarshal(stdout.Bytes(), &result); err != nil || code != 0 &&
		(result.Code != "project_exists" || result.Stage != "create") {
		w.t.Errorf("create %s: exit %d: %s", slug, code, &stdout)
	}
	return code
}

// mortal returns what kills the program of c, once it is started, and what starts it.
func mortal(c *exec.Cmd) (kill func(), start func(testing.TB)) {
	started := make(chan struct{})
	kill = func() {
		<-started
		c.Process.Kill()
	}
	return kill, func(t testing.TB) {
		t.Helper()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		close(started)
	}
}

// killer stands before a hub and kills a program at one of its calls.
type killer struct {
	hub  *httputil.ReverseProxy
	kill func()
	at   int // 2n: before call n reaches the hub; 2n+1: before its answer leaves
	n    atomic.Int32
}

func (k *killer) arm(kill func(), at int) {
	k.kill, k.at = kill, at
	k.n.Store(0)
}

func (k *killer) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	n := int(k.n.Add(1)) - 1
	if k.at == 2*n {
		k.kill()
		panic(http.ErrAbortHandler)
	}
	if k.at == 2*n+1 {
		k.hub.ServeHTTP(httptest.NewRecorder(), r)
		k.kill()
		panic(http.ErrAbortHandler)
	}
	k.hub.ServeHTTP(rw, r)
}

// A seed that was under way when its program died, and that reaches the hub after
// somebody else has pushed, changes nothing.
func TestCreate_LateSeedChangesNothing(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	seeds := make(chan *http.Request, 1)
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if r.Method != http.MethodPut {
			hub.ServeHTTP(rw, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		late, err := http.NewRequest(r.Method, w.hub.origin+r.URL.Path, bytes.NewReader(body))
		if err != nil {
			t.Error(err)
		}
		late.Header = r.Header.Clone()
		seeds <- late
		hold(r)
	})
	c := w.command("project", "create", "web")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	seed := <-seeds
	c.Process.Kill()
	c.Wait()

	w.setting(after)
	w.must("push", "web", "--project", "@alice/web", "--origin", w.hub.origin, "--token", w.token)
	held := w.config()
	resp, err := http.DefaultClient.Do(seed)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("a late seed is answered by %s", resp.Status)
	}
	if got := w.config(); got != held || !strings.Contains(got, "Animals and people") {
		t.Errorf("a late seed changed the config:\n%s\n%s", held, got)
	}
}

// What cannot be recorded any more once the project was created is said, with the line
// to add by hand.
func TestCreate_SaysWhichLineIsMissingWhenNotRecorded(t *testing.T) {
	t.Parallel()
	w := newLocal(t, before)
	w.breakClient()
	var stdout, stderr bytes.Buffer
	c := w.command("project", "create", "web")
	c.Stdout, c.Stderr = &stdout, &stderr
	code := codeOf(t, c.Run())
	want := `hint: the project was created; add this line to .tool/web/client.json by hand: "project": "@alice/web"`
	if code != 1 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "(stage write)\n  "+want) {
		t.Errorf("exit %d\n%s%s", code, &stdout, &stderr)
	}
}

// The answer to a push may be lost after the hub has done it. The second attempt
// then finds the config in place; what the first replaced is kept all the same.
func TestPush_LostResponseKeepsReplacedConfig(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"push", "web"}, {"push", "web", "--no-clobber"}} {
		w := newWorld(t, before)
		w.setting(after)
		held := w.config()
		var lose atomic.Bool
		w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
			if r.Method == http.MethodPut && lose.CompareAndSwap(true, false) {
				hub.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
			hub.ServeHTTP(rw, r)
		})
		lose.Store(true)
		out := w.must(args...)
		if lose.Load() || !strings.Contains(out, "note: the existing config was replaced") ||
			!strings.Contains(out, "note: the previous config (alice, create, just now)") {
			t.Errorf("tool %v says\n%s", args, out)
		}
		w.must("push", "web", "--undo")
		var was, is struct{ Config json.RawMessage }
		if err := errors.Join(json.Unmarshal([]byte(held), &was), json.Unmarshal([]byte(w.config()), &is)); err != nil ||
			string(was.Config) != string(is.Config) {
			t.Errorf("the config was %s and is %s (%v)", was.Config, is.Config, err)
		}
	}
}
