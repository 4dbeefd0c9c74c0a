//go:build unix

package golden_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// What the pet store of the demo shows.
const (
	petTitle  = `document.querySelector('h1').textContent`
	petColour = `getComputedStyle(document.querySelector('main')).getPropertyValue('--accent')`
	petForms  = `[...document.querySelectorAll('nav a')].map(a => a.textContent).join(', ')`
)

// sample makes the workspace the demo's, with a local project of this name.
func (w *world) sample(of string) {
	w.t.Helper()
	if err := os.RemoveAll(w.dir); err != nil {
		w.t.Fatal(err)
	}
	if err := os.CopyFS(w.dir, os.DirFS(filepath.Join("..", "cmd", "demo", of))); err != nil {
		w.t.Fatal(err)
	}
}

// edit replaces a text in a file.
func (w *world) edit(name, from, to string) {
	w.t.Helper()
	text := w.read(name)
	if !strings.Contains(text, from) {
		w.t.Fatalf("%s does not hold %q", name, from)
	}
	w.write(name, strings.Replace(text, from, to, 1))
}

// preview starts tool preview --local and returns its address.
func (w *world) preview(name string) (c *exec.Cmd, address string, diagnosed *lines) {
	w.t.Helper()
	c = w.command("preview", name, "--local", "--no-input")
	out, diagnosed := w.start(c)
	return c, out.wait("http://127.0.0.1:"), diagnosed
}

func TestPreview_LocalFollowsEdits(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	w := newLocal(t, `{}`)
	w.sample("../internal/sample/petstore")
	c, address, diagnosed := w.preview("web")
	act(b, chromedp.Navigate(address))
	b.waitApp(petTitle, "Pet store")
	b.waitApp(petForms, "Find pets, Offer a pet, Show one pet")
	if js[bool](b,
		`document.querySelector('[data-part="facts"]').innerText.includes("@alice/react-forms 0.1.0")`) != true {
		t.Error("the stack is not shown")
	}

	w.edit(clientJSON, `"teal"`, `"plum"`)
	b.waitApp(petColour, "plum")
	w.edit("apps/web/src/App.tsx", "<h1>{title}</h1>", "<h1>{title}!</h1>")
	b.waitApp(petTitle, "Pet store!")
	w.edit("openapi.yaml", "summary: Show one pet", "summary: Show a pet")
	b.waitApp(petForms, "Find pets, Offer a pet, Show a pet")
	w.edit(".tool/web/mod.ts", "quote(settings.title ?? api.info.title)", "quote('Mine')")
	b.waitApp(petTitle, "Mine!")
	w.write("apps/web/src/new/deep.ts", "export const more = '?'")
	w.edit("apps/web/src/App.tsx", "<h1>{title}!</h1>", "<h1>{title}{more}</h1>")
	w.edit("apps/web/src/App.tsx", "import { forms", "import { more } from './new/deep'\nimport { forms")
	b.waitApp(petTitle, "Mine?")

	w.edit(clientJSON, `"title": "Pet store",`, `"title": "Pet store"`)
	diagnosed.wait("not shown")
	b.wait(`document.querySelector('[data-part="failure"]').innerText.includes("client.json")`)
	b.waitApp(petTitle, "Mine?") // the last good one
	w.edit(clientJSON, `"title": "Pet store"`, `"title": "Pet store",`)
	b.wait(`document.querySelector('[data-part="failure"]').hidden`)

	w.edit("apps/web/src/App.tsx", "return (", "return ((")
	b.wait(`document.querySelector('[data-part="failure"]').innerText.includes("src/App.tsx:")`)

	c.Process.Signal(syscall.SIGINT)
	if code := codeOf(t, c.Wait()); code != 0 {
		t.Errorf("exit code %d after ctrl-c, want 0", code)
	}
	b.wait(`document.querySelector('[data-part="failure"]').innerText.includes("has ended")`)
}

func TestPreview_LocalShowsPlainHTML(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	w := newLocal(t, `{}`)
	w.sample("plain")
	_, address, _ := w.preview("docs")
	act(b, chromedp.Navigate(address))
	b.waitApp(petTitle, "Library API")
	w.edit(".tool/docs/client.json", "Library API", "Books")
	b.waitApp(petTitle, "Books")
}

// A page of another site that knows the port, and even the address, learns nothing.
func TestPreview_LocalIsClosedToOtherSites(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	w := newLocal(t, `{}`)
	w.sample("../internal/sample/petstore")
	_, address, _ := w.preview("web")
	other := serveText(t, "text/html", "<!doctype html><title>other</title><body></body>")
	act(b, chromedp.Navigate(other))
	for name, script := range map[string]string{
		"fetch":  `fetch(A + "changes?after=0").then(r => r.text(), () => "")`,
		"opaque": `fetch(A + "changes?after=0", {mode: "no-cors"}).then(r => r.type === "opaque" ? "opaque" : "", () => "")`,
		"script": `new Promise(ok => { const s = document.createElement("script"); s.src = A + "changes?after=0"; s.onload ` +
			`= () => ok("loaded"); s.onerror = () => ok(""); document.body.append(s) })`,
		"module": `import(A + "local.js").then(() => "loaded", () => "")`,
		"socket": `new Promise(ok => { const s = new WebSocket(A.replace("http", "ws") + "changes"); s.onopen = () => ` +
			`ok("open"); s.onerror = () => ok("") })`,
		"events": `new Promise(ok => { const s = new EventSource(A + "changes?after=0"); s.onopen = () => ok("open"); ` +
			`s.onerror = () => { s.close(); ok("") } })`,
		"post": `fetch(A + "changes", {method: "POST", mode: "no-cors"}).then(r => "", () => "")`,
		"frame": `new Promise(ok => { const f = document.createElement("iframe"); f.src = A; f.onload = () => { try { ` +
			`ok(f.contentDocument.title) } catch { ok("") } }; document.body.append(f) })`,
		"opened": `new Promise(ok => { const o = open(A); setTimeout(() => { try { ok(o.document.title) } catch { ok("") } ` +
			`}, 300) })`,
	} {
		if got := js[string](b, strings.ReplaceAll(script, "A", "'"+address+"'")); got != "" {
			t.Errorf("%s: another site got %q", name, got)
		}
	}
}

// serveText serves one text from a server of its own, and returns its address.
func serveText(t testing.TB, mediaType, text string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", mediaType)
		rw.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// The demo ends with a page whose preview shows the app, and follows what is saved.
func TestDemo_PreviewShowsApp(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	c := exec.Command(program("demo"), "--keep")
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	out := &lines{t, bufio.NewScanner(stdout)}
	out.wait("the link signs you in")
	act(b, chromedp.Navigate(out.wait("http://")))
	act(b, chromedp.Click(chromedp.CSS("main form button")))
	b.waitApp(petTitle, "Pets and more")
	b.waitApp(petColour, "plum")
	if status := js[int](b, `fetch("/v1/projects/alice/web/config").then(r => fetch(r.url, {method: "PATCH",
		headers: {"Content-Type": "application/json", "If-Match": r.headers.get("ETag")}, body: JSON.stringify({set: {"theme.colour": "navy"}})})).then(r => r.status)`); status != 200 {
		t.Fatalf("the save was refused with %d", status)
	}
	b.waitApp(petColour, "navy")
}

// What a watching push sends is shown by a page that is open, without a reload of it.
func TestPreview_PageFollowsPush(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	w := newLocal(t, `{}`)
	w.sample("../internal/sample/petstore")
	w.must("publish", "web")
	w.must("project", "create", "web", "--base-files")
	link := w.link("/@alice/web/preview")
	act(b, chromedp.Navigate(link))
	act(b, chromedp.Click(chromedp.CSS("main form button")))
	b.waitApp(petTitle, "Pet store")
	js[any](b, "window.unloaded = false; addEventListener('pagehide', () => { unloaded = true })")
	w.watch()
	w.edit("apps/web/src/App.tsx", "<h1>{title}</h1>", "<h1>{title}!</h1>")
	b.waitApp(petTitle, "Pet store!")
	if js[bool](b, "window.unloaded !== false") {
		t.Error("the page was loaded again")
	}
}

// BenchmarkWatchToFrame reports, in milliseconds, how long it takes from the save of a file
// under a watching push until an open page has painted the app with it. The target is 700.
func BenchmarkWatchToFrame(b *testing.B) {
	page := newBrowser(b)
	w := newLocal(b, `{}`)
	w.sample("../internal/sample/petstore")
	w.must("publish", "web")
	w.must("project", "create", "web", "--base-files")
	act(page, chromedp.Navigate(w.link("/@alice/web/preview")))
	act(page, chromedp.Click(chromedp.CSS("main form button")))
	page.waitApp(petTitle, "Pet store")
	js[any](page, `window.paints = 0; document.getElementById("preview").addEventListener("painted", () => { paints++ })`)
	w.watch()
	var times []time.Duration
	for b.Loop() {
		before := js[int](page, "paints")
		times = append(times, timed(func() {
			w.edit("apps/web/src/App.tsx", "<h1>{title}", "<h1>{title}.")
			page.wait(fmt.Sprintf("paints > %d", before))
		}))
	}
	b.ReportMetric(median(times)/1e6, "frame-ms")
	b.ReportMetric(0, "ns/op")
}

// link returns a link that signs a browser in and opens a page.
func (w *world) link(page string) string {
	w.t.Helper()
	req, err := http.NewRequest(http.MethodPost, w.origin+"/v1/links", strings.NewReader(`{"page": "`+page+`"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var link struct{ URL string }
	if err := json.NewDecoder(resp.Body).Decode(&link); err != nil || link.URL == "" {
		w.t.Fatalf("no link: %s %v", resp.Status, err)
	}
	return link.URL
}
