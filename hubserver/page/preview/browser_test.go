package preview_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/hubserver/page/preview"
)

// world is a page with a preview frame on another host, in a real Chromium.
type world struct {
	testing.TB
	context.Context
	hub, frame string // origins
	prototype  []byte // the script of another frame, for a comparison
}

// driver is the page's own program: it keeps what the frame says and waits for it.
const driver = `import { Host } from "/static/preview/host.js"
window.events = []
window.said = []
addEventListener("message", e => { if (typeof e.data === "string") said.push(e.data) })
window.packages_ = fetch("/packages.json").then(r => r.json()).then(p => new Map(Object.entries(p.modules)))
window.patience = 60000 // a busy machine is no hang
window.open_ = (first = {}) => {
  window.host = new Host(document.getElementById("place"), FRAME, e => events.push(e), patience)
  return send(first)
}
const bytes = files => new Map(Object.entries(files).map(([path, text]) => [path,
	typeof text === "string" ? new TextEncoder().encode(text) : text]))
window.send = async change => {
  for (const name of ["files", "changed"]) if (change[name]) change[name] = bytes(change[name])
  if (change.changed) change.changed = [...change.changed]
  if (change.stack) change.stack = {...change.stack, files: bytes(change.stack.files)}
  if (change.packages) change.packages = await packages_
  const n = host.update(change)
  return until(e => e.n === n && (e.type === "painted" || e.type === "failed"))
}
window.until = wanted => new Promise(ok => { const look = () => { const e = events.find(wanted);
	e ? ok(e) : setTimeout(look, 5) }; look() })
`

func newWorld(t testing.TB) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("drives a browser")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		const message = "needs the program chromium: install it, as with apt-get install chromium"
		if os.Getenv("TEST_REQUIRE_ALL") != "" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	w := serve(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"),
		chromedp.UserDataDir(t.TempDir()))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which it refuses to set up for root
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // on a busy machine all of a test may take long
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	w.Context, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	w.open()
	return w
}

// serve serves the page and, at another name, the frame.
func serve(t testing.TB) *world {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	w := &world{TB: t, hub: fmt.Sprintf("http://127.0.0.1:%d", port), frame: fmt.Sprintf("http://localhost:%d", port)}
	server := httptest.NewUnstartedServer(w)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return w
}

// open loads the page anew.
func (w *world) open() {
	w.Helper()
	if _, err := chromedp.Run(w.Context, chromedp.Navigate(w.hub+"/")); err != nil {
		w.Fatal(err)
	}
}

func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	header := out.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	isFrame := strings.HasPrefix(r.Host, "localhost")
	switch {
	case isFrame && r.URL.Path == "/preview/frame":
		header.Set("Content-Type", "text/html; charset=utf-8")
		preview.SetHeader(header, w.hub)
		out.Write(preview.Frame.Content())
	case isFrame && r.URL.Path == "/prototype" && w.prototype != nil:
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", "sandbox allow-scripts")
		fmt.Fprintf(out, `<!doctype html><meta charset="utf-8"><body><script>%s</script>`,
			strings.ReplaceAll(string(w.prototype), "</script", "<\\/script"))
	case isFrame:
		http.NotFound(out, r)
	case r.URL.Path == "/":
		http.SetCookie(out, &http.Cookie{Name: "hub-session", Value: "secret", Path: "/"})
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy",
			"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src "+w.frame)
		fmt.Fprint(out,
			`<!doctype html><title>hub</title><div id="place"></div><script type="module" src="/driver.js"></script>`)
	case r.URL.Path == "/driver.js":
		header.Set("Content-Type", "text/javascript")
		fmt.Fprintf(out, "const FRAME = %q\n%s", w.frame+"/preview/frame", driver)
	case r.URL.Path == "/packages.json":
		header.Set("Content-Type", "application/json")
		out.Write(preview.Packages.Content())
	default:
		_, content, _ := page.Static(strings.TrimPrefix(r.URL.Path, "/static/"))
		if content == nil {
			http.NotFound(out, r)
			return
		}
		header.Set("Content-Type", "text/javascript")
		out.Write(content)
	}
}

// event is what the page heard of the frame.
type event struct {
	Type, Kind, Message, File, Address string
	Level, Text                        string
	N, Line, Count                     int
	Times                              map[string]float64
	Notes                              []struct{ Level, At, Text string }
	Previews                           []struct{ Name, Group string }
	Changes                            *struct {
		Count int
		Files []struct {
			Path, Change string
			Lines        [][2]string
		}
	}
}

// js runs a script in the page and returns its value.
func js[T any](w *world, script string) (value T) {
	w.Helper()
	value, err := chromedp.Run(w.Context, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		w.Fatalf("%.200s: %v", script, err)
	}
	return value
}

// update is what a page sends.
type update map[string]any

func quote(w *world, v any) string {
	w.Helper()
	text, err := json.Marshal(v, jsontext.EscapeForJS(true), json.Deterministic(true))
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

// start opens a frame and returns what came of its first update.
func (w *world) start(first update) event {
	w.Helper()
	return js[event](w, "open_("+quote(w, first)+")")
}

func (w *world) send(change update) event {
	w.Helper()
	return js[event](w, "send("+quote(w, change)+")")
}

// said returns the newest event of a type.
func (w *world) said(kind string) event {
	w.Helper()
	return js[event](w, fmt.Sprintf("events.findLast(e => e.type === %q) ?? {}", kind))
}

// printed returns the lines that the newest update printed.
func (w *world) printed() (lines []string) {
	w.Helper()
	for _, e := range js[[]event](w, "events.filter(e => e.type === 'printed' && e.n === host.number)") {
		lines = append(lines, e.Level+" "+e.Text)
	}
	return lines
}

// folder returns the files below a folder of testdata.
func folder(w *world, name string) map[string]string {
	w.Helper()
	return files(w, filepath.Join("testdata", name))
}

// stack is a stack as it is sent, with these files over those of testdata.
func stack(w *world, files map[string]string) update {
	all := folder(w, "stack")
	maps.Copy(all, files)
	return update{"name": "@acme/forms", "version": "1.0.0", "module": "mod.ts", "files": all}
}

// forms is the app of testdata with its stack.
func forms(w *world) update {
	w.Helper()
	api, err := os.ReadFile("testdata/api.json")
	if err != nil {
		w.Fatal(err)
	}
	return update{"files": folder(w, "app"), "stack": stack(w, nil), "api": string(api), "saved": update{},
		"packages": true}
}
