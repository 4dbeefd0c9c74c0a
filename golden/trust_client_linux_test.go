package golden_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// tool is killed at each system call of a pull and of a push that changes a file or
// prints something. What the next run finds is whole, and it finishes the work.
func TestTrust_ToolKilledAtEachChange(t *testing.T) {
	for name, args := range map[string][]string{
		"pull": {"pull", "web", "--base-files", "--force", "--no-input"},
		"push": {"push", "web", "--base-files", "--force", "--no-input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `{"n": 0}`)
			w.write("a.txt", "0")
			w.must("push", "web", "--base-files", "--force")
			k := &toolKiller{world: w, args: args}
			for i, survived := 0, 0; i < rounds(4, 200) && survived < 3; i++ {
				survived++
				if k.round(i+1, rounds(1+2*i, 1+i)) {
					survived = 0
				}
			}
			if t.Logf("tool was killed %d times", k.deaths); k.deaths == 0 {
				t.Error("tool was never killed")
			}
		})
	}
}

type toolKiller struct {
	*world
	args   []string
	deaths int
	local  int // the setting n in client.json
	hub    int // and on the hub
}

// round kills tool at the changes number at of its threads, and reports whether it died.
func (k *toolKiller) round(n, at int) (died bool) {
	t := k.t.(*testing.T)
	t.Helper()
	if k.args[0] == "push" {
		k.local = n
		k.setting(fmt.Sprintf(`{"n": %d}`, n))
		k.write("a.txt", fmt.Sprint(n))
	} else {
		k.hub = n
		k.patch(fmt.Sprintf(`{"set": {"n": %d}}`, n))
	}
	former := k.read(clientJSON)
	c := exec.Command(need(t, "strace", "apt-get install strace"),
		append([]string{"-f", "-o", filepath.Join(t.TempDir(), "log"), "-e", "trace=" + changes,
			"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", changes, at), program("tool")}, k.args...)...)
	c.Dir, c.Env = k.dir, k.env
	if err := c.Run(); err != nil && !killed(c.ProcessState) {
		t.Fatalf("strace tool: %v", err)
	} else if died = err != nil; died {
		k.deaths++
	}
	var client struct{ Settings struct{ N int } }
	text := k.read(clientJSON)
	if err := json.Unmarshal([]byte(text), &client); err != nil || client.Settings.N != k.local &&
		client.Settings.N != k.hub {
		t.Fatalf("killed at change %d: client.json is %q, before it was %q", at, text, former)
	}
	if seen := k.number(); seen != k.local && seen != k.hub {
		t.Fatalf("killed at change %d: the hub has %d", at, seen)
	}
	k.must(k.args...)
	k.local, k.hub = n, n
	if !strings.Contains(k.read(clientJSON), fmt.Sprintf(`"n": %d`, n)) || k.number() != n {
		t.Fatalf("killed at change %d, then run again: %s, and the hub has %d", at, k.read(clientJSON), k.number())
	}
	for _, dir := range []string{k.dir, filepath.Join(k.dir, ".tool", "web")} {
		if stray, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(stray) > 0 {
			t.Errorf("killed at change %d, then run again: %v is left", at, stray)
		}
	}
	return died
}

// hostileRepositories are workspaces that somebody else made, by what they try: files by name,
// with -> and a target for a link. SINK is an address where nobody may send a token, and
// OUTSIDE a directory with a secret.
var hostileRepositories = map[string]map[string]string{
	"the hub is elsewhere":         {".tool/hub.json": `{"origin": "http://SINK"}`},
	"the hub is elsewhere by TLS":  {".tool/hub.json": `{"origin": "https://SINK"}`},
	"the hub has another name":     {".tool/hub.json": `{"origin": "http://localhost:PORT"}`},
	"the hub has another spelling": {".tool/hub.json": `{"origin": "http://[::ffff:127.0.0.1]:PORT"}`},
	"the hub follows a user name":  {".tool/hub.json": `{"origin": "http://127.0.0.1@SINK"}`},
	"the hub has a path":           {".tool/hub.json": `{"origin": "http://SINK/v1"}`},
	"the hub is named twice":       {".tool/hub.json": `{"origin": "HUB", "origin": "http://SINK"}`},
	"hub.json is a link":           {".tool/hub.json": "-> OUTSIDE/hub.json"},
	"the environment is elsewhere": {".tool/web/client.stage.json": `{"origin": "http://SINK"}`},
	"the environment is elsewhere by TLS": {".tool/web/client.stage.json": `{"origin": "https://SINK", "project": ` +
		`"@alice/web"}`},
	"client.json names a hub": {clientJSON: `{"origin": "http://SINK", "hub": "http://SINK", "url": ` +
		`"http://SINK", "settings": {}}`},
	"the project is an address": {clientJSON: `{"project": "http://SINK/@alice/web", "settings": {}}`},
	"the project leads up":      {clientJSON: `{"project": "@alice/../../x", "settings": {}}`},
	"the project has a host":    {clientJSON: `{"project": "@SINK/web", "settings": {}}`},
	"the API is an address": {clientJSON: `{"project": "@alice/web", "api": "http://SINK/x", ` +
		`"settings": {}}`},
	"the description is above":          {clientJSON: `{"source": "../../OUTSIDE/openapi.json", "settings": {}}`},
	"the description is absolute":       {clientJSON: `{"source": "OUTSIDE/openapi.json", "settings": {}}`},
	"the description is a file address": {clientJSON: `{"source": "file://OUTSIDE/openapi.json", "settings": {}}`},
	"the description is a link": {"api.json": "-> OUTSIDE/openapi.json",
		clientJSON: `{"source": "api.json", "settings": {}}`},
	"the description refers outside": {"api.json": `{"openapi": "3.1.0", "info": {"title": "x", "version": ` +
		`"1"}, "paths": {"/x": {"$ref": "OUTSIDE/openapi.json"}}}`, clientJSON: `{"source": "api.json", "settings": {}}`},
	"the description refers above": {"api.json": `{"openapi": "3.1.0", "info": {"title": "x", "version": ` +
		`"1"}, "paths": {"/x": {"$ref": "../outside/openapi.json"}}}`, clientJSON: `{"source": "api.json", "settings": {}}`},
	"the description refers to an address": {"api.json": `{"openapi": "3.1.0", "info": {"title": "x", "version": ` +
		`"1"}, "paths": {"/x": {"$ref": "http://SINK/x.json"}}}`, clientJSON: `{"source": "api.json", "settings": {}}`},
	"the app is above": {clientJSON: `{"project": "@alice/web", "settings": {"basePath": ` +
		`"../outside/src"}}`},
	"the app is absolute": {clientJSON: `{"project": "@alice/web", "settings": {"basePath": ` +
		`"OUTSIDE/src"}}`},
	"the app is above, with backslashes": {clientJSON: `{"project": "@alice/web", "settings": {"basePath": ` +
		`"..\\outside\\src"}}`},
	"the app is a link": {"linked": "-> OUTSIDE",
		clientJSON: `{"project": "@alice/web", "settings": {"basePath": "linked/src"}}`},
	"a base file is a link":       {"a.bin": "-> OUTSIDE/secret"},
	"a directory is a link":       {"dir": "-> OUTSIDE"},
	"client.json is a link":       {clientJSON: "-> OUTSIDE/client.json"},
	"the local project is a link": {".tool/web": "-> OUTSIDE"},
	".tool is a link":             {".tool": "-> OUTSIDE"},
	".toolignore is a link":       {".toolignore": "-> OUTSIDE/secret"},
	"generated files are outside": {".tool/web/manifest.json": `{"files": ["../outside/secret", ` +
		`"OUTSIDE/secret"]}`},
	"pulled.json is a link": {".tool/web/pulled.json": "-> OUTSIDE/pulled.json"},
	"the schema of settings is outside": {".tool/web/stack.json": `{"name": "@alice/web", "version": "1.0.1", ` +
		`"settings": {"schema": "../../../outside/secret"}}`},
	"the preview's module is outside": {".tool/web/stack.json": `{"name": "@alice/web", "version": "1.0.2", ` +
		`"preview": {"module": "../../../outside/secret"}}`},
	"a file of the stack is a link": {".tool/web/x.bin": "-> OUTSIDE/secret",
		".tool/web/stack.json": `{"name": "@alice/web", "version": "1.0.3"}`},
	"git starts a program": {".git/config": "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = " +
		"touch OUTSIDE/started\n\thooksPath = OUTSIDE\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/info/x": "",
		".git/refs/heads/x": ""},
	"settings are named as members of JSON": {clientJSON: `{"project": "@alice/web", "settings": {"__proto__": ` +
		`{"origin": "http://SINK"}, "constructor": 1}}`},
	"client.json is deep": {clientJSON: `{"settings": ` + strings.Repeat(`{"a":`, 20_000) + "1" +
		strings.Repeat("}", 20_001)},
	"client.json is not UTF-8": {clientJSON: "{\"project\": \"@alice/web\", \"settings\": {\"a\": " +
		"\"\xff\"}}"},
	"client.json is large, with control codes": {clientJSON: `{"project": "@alice/web", "settings": {"a": "` +
		strings.Repeat("\x1b]52;c;", 100_000) + `"}}`},
}

// A repository that somebody cloned makes tool send its token to no other hub, send nothing
// that is outside of it, and write nothing there.
func TestTrust_HostileRepository(t *testing.T) {
	t.Parallel()
	sink := newEavesdropper(t)
	w := newWorld(t, `{"n": 0}`)
	outside := newOutside(t, filepath.Join(filepath.Dir(w.dir), "outside"))
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		outside.look(t, r.Method+" "+r.URL.Path, body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		hub.ServeHTTP(rw, r)
	})
	home, plain, runs, done := w.dir, w.env, 0, 0
	_, port, _ := net.SplitHostPort(sink.address)
	fill := strings.NewReplacer("SINK", sink.address, "PORT", port, "OUTSIDE", outside.dir, "HUB", w.origin)
	for name, files := range hostileRepositories {
		w.dir = filepath.Join(filepath.Dir(home), "clone", fmt.Sprint(runs))
		w.repository(files, fill)
		for _, variable := range []string{"TOOL_ENV=", "TOOL_HUB_TOKEN=" + w.token} {
			w.env = append(plain[:len(plain):len(plain)], variable)
			for _, args := range [][]string{
				{"status"}, {"push", "web", "--base-files", "--force"}, {"pull", "web", "--base-files", "--force"},
				{"publish", "web"}, {"project", "create", fmt.Sprint("x", runs), "--from", "web"},
				{"push", "web", "--env", "stage"},
			} {
				runs++
				c := w.command(append(args, "--no-input", "--timeout", "5s")...)
				out, err := c.CombinedOutput()
				code := codeOf(t, err)
				if code == 0 {
					done++
				}
				if code > 3 || bytes.ContainsAny(out, "\x1b\u009b") || !utf8.Valid(out) || len(out) > 64<<10 {
					t.Errorf("%s: tool %v exits with %d and prints %d bytes: %.300q", name, args, code, len(out), out)
				}
			}
		}
	}
	outside.unchanged(t)
	if heard := sink.heard(); bytes.Contains(heard, []byte("hubpat_")) || bytes.Contains(heard, []byte("uthorization")) {
		t.Errorf("the sink heard a token: %q", heard)
	}
	if t.Logf(
		"%d commands in %d hostile repositories, %d of them succeeded: no token and no file of another place was sent", runs,
		len(hostileRepositories), done); done < 50 {
		t.Errorf("only %d commands succeeded", done)
	}
}

// repository makes an ordinary workspace in w.dir, and puts files over it.
func (w *world) repository(files map[string]string, fill *strings.Replacer) {
	w.t.Helper()
	all := map[string]string{
		clientJSON:             `{"project": "@alice/web", "settings": {"n": 1}}`,
		".tool/web/stack.json": `{"name": "@alice/web", "version": "1.0.0"}`, "index.html": "<p>",
	}
	for name, text := range files {
		all[name] = fill.Replace(text)
	}
	for name, text := range all {
		if _, whole := all[filepath.Dir(name)]; whole || name != ".tool" && files[".tool"] != "" &&
			strings.HasPrefix(name, ".tool/") {
			continue // its directory is a link
		}
		if target, link := strings.CutPrefix(text, "-> "); link {
			path := filepath.Join(w.dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				w.t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				w.t.Fatal(err)
			}
			continue
		}
		w.write(name, text)
	}
}

// outside is a directory next to a workspace.
type outside struct {
	dir    string
	secret []byte
	before string
}

func newOutside(t *testing.T, dir string) *outside {
	t.Helper()
	o := &outside{dir: dir, secret: []byte("outside-7f3a9c51")}
	w := &world{t: t, dir: dir}
	w.write("secret", string(o.secret))
	w.write("src/secret", string(o.secret))
	w.write("openapi.json", `{"openapi": "3.1.0", "info": {"title": "`+string(o.secret)+`", "version": "1"}, "paths": {}}`)
	w.write("client.json", `{"project": "@alice/web", "settings": {"secret": "`+string(o.secret)+`"}}`)
	w.write("stack.json", `{"name": "@alice/web", "version": "9.9.9", "description": "`+string(o.secret)+`"}`)
	w.write("hub.json", `{"origin": "http://`+string(o.secret)+`.example"}`)
	w.write("web/client.json", `{"project": "@alice/web", "settings": {"secret": "`+string(o.secret)+`"}}`)
	o.before = w.files()
	return o
}

// look fails the test if a request has something of the directory, compressed or not.
func (o *outside) look(t *testing.T, request string, body []byte) {
	if plain, err := zstd.NewReader(bytes.NewReader(body)); err == nil {
		inflated, _ := io.ReadAll(plain)
		plain.Close()
		body = append(body[:len(body):len(body)], inflated...)
	}
	if bytes.Contains(body, o.secret) {
		t.Errorf("%s sends what is outside of the workspace: %.300q", request, body)
	}
}

func (o *outside) unchanged(t *testing.T) {
	t.Helper()
	if now := (&world{t: t, dir: o.dir}).files(); now != o.before {
		t.Errorf("outside of the workspace there was\n%s\nand there is\n%s", o.before, now)
	}
}

// eavesdropper takes connections, and remembers what came.
type eavesdropper struct {
	address string
	mu      sync.Mutex
	bytes   []byte
}

func newEavesdropper(t *testing.T) *eavesdropper {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	s := &eavesdropper{address: listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.take(conn)
		}
	}()
	return s
}

func (s *eavesdropper) take(conn net.Conn) {
	defer conn.Close()
	buf := make([]byte, 64<<10)
	n, _ := conn.Read(buf)
	s.mu.Lock()
	s.bytes = append(s.bytes, buf[:n]...)
	s.mu.Unlock()
	io.WriteString(conn, "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
}

func (s *eavesdropper) heard() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return regexp.MustCompile(`\x00`).ReplaceAll(s.bytes, nil)
}
