package golden_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// world is a hub, somebody who is logged in to it, and their workspace with the
// project @alice/web.
type world struct {
	t      testing.TB
	hub    *hub
	origin string // that tool is given: the hub's, or that of what stands before it
	dir    string // the workspace
	env    []string
	token  string
}

const (
	clientJSON = ".tool/web/client.json"
	aliceWeb   = "/v1/projects/alice/web"
)

// Settings before and after the edits that these tests push and pull.
const (
	before = `{"title": "Pets", "theme": {"color": "blue"}, "old": 1}`
	after  = `{"title": "Animals and people", "theme": {"color": "blue", "accent": "red"},
  "note": "a value that goes on and on, well beyond the width of any terminal"}`
)

// newWorld makes a world whose settings are created on the hub already.
func newWorld(t testing.TB, settings string, flags ...string) *world {
	t.Helper()
	w := newLocal(t, settings, flags...)
	w.must("project", "create", "web")
	return w
}

// newLocal makes a world whose stack is published, and whose project is not
// created yet.
func newLocal(t testing.TB, settings string, flags ...string) *world {
	t.Helper()
	return newLocalOn(t, sqlite, settings, flags...)
}

// newLocalOn is newLocal on a database of a kind.
func newLocalOn(t testing.TB, db database, settings string, flags ...string) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{t: t, dir: filepath.Join(root, "app")}
	address := db(t, root)
	w.token = seed(t, address)
	w.hub = startHub(t, address, flags...)
	w.origin = w.hub.origin
	for name, value := range environment(root) {
		w.env = append(w.env, name+"="+value)
	}
	w.env = append(w.env, "HOME="+root, "TERM=xterm-256color")
	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.0.0"}`+"\n")
	w.write(clientJSON, "{\n  \"source\": \"openapi.json\",\n  \"settings\": "+settings+"\n}\n")
	w.write("openapi.json", `{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}}`+"\n")
	w.must("login", "--origin", w.origin, "--token", w.token)
	w.must("publish")
	return w
}

var seeded struct {
	sync.Once
	file  []byte
	token string
}

// seed makes a database in which alice has an account and a token. An SQLite file is a copy of the first one.
func seed(t testing.TB, address string) string {
	t.Helper()
	fill := func() string {
		h := &hub{db: address}
		h.admin(t, "migrate")
		h.admin(t, "account", "create", "alice")
		return h.token(t, "alice", "write:catalog", "admin:resource")
	}
	path, isFile := strings.CutPrefix(address, "sqlite:")
	if !isFile {
		return fill()
	}
	seeded.Do(func() {
		seeded.token = fill()
		seeded.file, _ = os.ReadFile(path) // a hub starts on none that has no schema
	})
	if err := os.WriteFile(path, seeded.file, 0o600); err != nil {
		t.Fatal(err)
	}
	return seeded.token
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.dir, filepath.FromSlash(name))); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(name)))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// setting gives client.json other settings, and keeps its other members.
func (w *world) setting(settings string) {
	w.t.Helper()
	var client map[string]json.RawMessage
	if err := json.Unmarshal([]byte(w.read(clientJSON)), &client); err != nil {
		w.t.Fatal(err)
	}
	client["settings"] = json.RawMessage(settings)
	text, err := json.MarshalIndent(client, "", "  ")
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(clientJSON, string(text)+"\n")
}

// command returns a command of tool in the workspace.
func (w *world) command(args ...string) *exec.Cmd {
	c := exec.Command(program("tool"), args...)
	c.Dir, c.Env = w.dir, w.env
	return c
}

// must runs tool, which has to succeed, and returns its stdout.
func (w *world) must(args ...string) string {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	c := w.command(args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		w.t.Fatalf("tool %s: %v\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

// config returns the config of @alice/web as the hub answers it.
func (w *world) config() string { return w.get(aliceWeb + "/config") }

func (w *world) get(path string) string {
	w.t.Helper()
	text, status := w.fetch(path)
	if status != http.StatusOK {
		w.t.Fatalf("GET %s: %d %s", path, status, text)
	}
	return text
}

func (w *world) fetch(path string) (text string, status int) {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodGet, w.hub.origin+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		w.t.Fatal(err)
	}
	return b.String(), resp.StatusCode
}

// patch changes the config of @alice/web as another editor does.
func (w *world) patch(body string) {
	w.t.Helper()
	if err := patch(w.hub.origin+aliceWeb+"/config", w.token, body); err != nil {
		w.t.Fatal(err)
	}
}

// proxy puts handle before the hub, which hub passes a request on to, and makes
// tool go there.
func (w *world) proxy(handle func(rw http.ResponseWriter, r *http.Request, hub http.Handler)) {
	w.t.Helper()
	target, err := url.Parse(w.hub.origin)
	if err != nil {
		w.t.Fatal(err)
	}
	hub := httputil.NewSingleHostReverseProxy(target)
	hub.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { handle(rw, r, hub) }))
	w.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	w.origin = server.URL
	w.must("login", "--origin", w.origin, "--token", w.token, "--workspace")
}

// hold keeps a call unanswered until its caller is gone.
func hold(r *http.Request) {
	io.Copy(io.Discard, r.Body) // only then does the server notice
	<-r.Context().Done()
}

// breakClient breaks client.json as soon as the project was created.
func (w *world) breakClient() {
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		hub.ServeHTTP(rw, r)
		if r.Method == http.MethodPost && r.URL.String() == "/v1/projects" { // and no dry run
			w.write(clientJSON, "no JSON any more")
		}
	})
}
