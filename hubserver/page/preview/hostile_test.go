package preview_test

import (
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubserver/page/preview"
	"example.com/projecthub/hubserver/page/preview/previewtest"
)

// scripts returns the two scripts that the frame lets run.
func scripts(t testing.TB) (program, boot string) {
	t.Helper()
	_, program, _ = strings.Cut(string(preview.Frame.Content()), "<script>")
	program = program[:strings.LastIndex(program, "</script>")]
	return program, string(read(t, "dist/inner.js"))
}

func TestSetHeader_LetsTwoScriptsRun(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	preview.SetHeader(header, "https://hub.test")
	program, boot := scripts(t)
	want := "; script-src 'unsafe-eval'"
	for _, text := range []string{program, boot} {
		sum := sha256.Sum256([]byte(text))
		want += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, want+"; ") ||
		strings.Contains(policy, "script-src 'unsafe-inline'") {
		t.Errorf("%s\nwants %s", policy, want)
	}
}

var randomApps = flag.Int("random-apps", 20, "try so many apps that are put together at random")

// breakouts are apps that try to get something out, in an order that keeps the frame's state of
// one from hiding what another does.
func breakouts(t testing.TB, seed uint64) []breakout {
	t.Helper()
	program, boot := scripts(t)
	return append(listedBreakouts(program, boot), assembledBreakouts(seed, *randomApps)...)
}

// attackTime is for what is sent later, as STUN is, in milliseconds.
const attackTime = 100

func TestFrame_LetsNoAppOut(t *testing.T) {
	t.Parallel()
	w, c := newWorld(t), newCanary(t)
	w.start(showing(good))
	apps := breakouts(t, uint64(time.Now().UnixNano()))
	for _, app := range apps {
		app = c.arm(app)
		w.send(update{"files": app.files()})
		js[any](w, fmt.Sprintf(`new Promise(ok => setTimeout(ok, %d))`, attackTime))
	}
	for _, heard := range c.leaks() {
		t.Errorf("received of %s", heard)
	}
	t.Logf("%d apps", len(apps))
}

func TestFrame_LetsNoAppOutOfFirefox(t *testing.T) {
	t.Parallel()
	f, c := previewtest.NewFirefox(t), newCanary(t)
	w := serve(t)
	f.Visit(w.hub + "/?before") // where an app might lead the page
	f.Visit(w.hub + "/")
	f.Await("", "window.send")
	f.Script("window.patience = undefined; return 1") // that of a page: an app may hang
	send := func(files map[string]string) {
		f.Script("window.ended = false; (window.host ? send : open_)(" + quote(w, update{"files": files}) +
			").then(e => { window.ended = e.type }); return 1")
		f.Await("", "window.ended")
	}
	send(map[string]string{"index.html": index, "src/main.ts": good})
	if ended := f.Script("return window.ended"); ended != `"painted"` {
		t.Fatal(ended)
	}
	apps := breakouts(t, uint64(time.Now().UnixNano()))
	for _, app := range apps {
		send(c.arm(app).files())
		f.Script(fmt.Sprintf("window.waited = false; setTimeout(() => { window.waited = true }, %d); return 1", attackTime))
		f.Await("", "window.waited")
	}
	for _, heard := range c.leaks() {
		t.Errorf("received of %s", heard)
	}
	t.Logf("%d apps", len(apps))
}

// Firefox applies no connect-src to an EventSource of a worker, so that the stack's module must not have one.
func TestFrame_ModuleHasNoEventSourceInFirefox(t *testing.T) {
	t.Parallel()
	f, c := previewtest.NewFirefox(t), newCanary(t)
	w := serve(t)
	f.Visit(w.hub + "/")
	f.Await("", "window.send")
	module := c.arm(breakout{Name: "module", Script: `export async function toArtifacts() {
  const notes = []
  const attempt = (name, run) => { let text = name + ' made'; try { run() } catch (e) {
  	text = name + ' ' + e.name } notes.push({ text }) }
  attempt('global', () => new EventSource('CANARY/global'))
  attempt('self', () => new self.EventSource('CANARY/self'))
  attempt('eval', () => (0, eval)("new EventSource('CANARY/eval')"))
  attempt('prototype', () => new (Object.getPrototypeOf(globalThis).EventSource)('CANARY/prototype'))
  await Promise.resolve()
  return { artifacts: {}, notes }
}`}).Script
	first := update{"files": map[string]string{"index.html": index, "src/main.ts": good},
		"stack": stack(w, map[string]string{"mod.ts": module})}
	f.Script("window.ended = false; open_(" + quote(w, first) + ").then(e => { window.ended = e.type }); return 1")
	f.Await("", "window.ended")
	f.Script(fmt.Sprintf("window.waited = false; setTimeout(() => { window.waited = true }, %d); return 1", 10*attackTime))
	f.Await("", "window.waited")
	said := f.Script(`return events.find(e => e.type === "generated").notes.map(note => note.text).join()`)
	if strings.Contains(said, "made") || strings.Count(said, "Error") != 4 {
		t.Errorf("the module's attempts: %s", said)
	}
	for _, heard := range c.leaks() {
		t.Errorf("received of %s", heard)
	}
}

func showing(script string) update {
	return update{"files": map[string]string{"index.html": index, "src/main.ts": script}}
}

func TestFrame_LetsNothingOut(t *testing.T) {
	t.Parallel()
	w, c := newWorld(t), newCanary(t)
	attempts := c.arm(breakout{Name: "attempts", Script: string(read(t, "testdata/exfiltrate.js"))})
	w.start(showing("export {}\n" + attempts.Script))
	js[any](w, `until(e => e.type === "failed" && e.message.includes("navigated away"))`) // the last attempt
	js[any](w,
		`new Promise(ok => setTimeout(ok, 1000))`) // for what is sent later, as STUN is
	tried := js[[]string](w, `said.filter(s => s.startsWith("tried "))`)
	// The stack's module tries it too.
	module := c.arm(breakout{Name: "module", Script: `const tried = []
const attempt = async (name, run) => { try { await run() } catch {} tried.push(name) }
export async function toArtifacts() {
  await attempt('fetch', () => fetch('CANARY/modulefetch'))
  await attempt('xhr', () => { const x = new XMLHttpRequest(); x.open('GET', 'CANARY/modulexhr'); x.send() })
  await attempt('scripts', () => importScripts('CANARY/modulescripts'))
  await attempt('prototype', () => WorkerGlobalScope.prototype.importScripts.call(globalThis, 'CANARY/moduleprototype'))
  await attempt('import', () => (0, eval)("import('CANARY/moduleimport')"))
  await attempt('data', () => (0, eval)("import('data:text/javascript,import \"CANARY/moduledata\"')"))
  await attempt('events', () => new EventSource('CANARY/moduleevents'))
  await attempt('socket', () => new WebSocket('CANARY/modulesocket'))
  await attempt('worker', () => new Worker('CANARY/moduleworker'))
  await attempt('beacon', () => navigator.sendBeacon('CANARY/modulebeacon'))
  await attempt('channel', () => new BroadcastChannel('hub').postMessage('x'))
  await attempt('storage', () => indexedDB.open('x'))
  return { artifacts: {}, notes: tried.map(text => ({ text })) }
}`}).Script
	got := w.send(update{"files": map[string]string{"index.html": index, "src/main.ts": ""},
		"stack": stack(w, map[string]string{"mod.ts": module})})
	if got.Type != "painted" {
		t.Errorf("%+v", got)
	}
	notes := w.said("generated").Notes
	all := len(tried) + len(notes)
	t.Logf("%d attempts", all)
	if all < 60 {
		t.Errorf("only %d and %d attempts were made", len(tried), len(notes))
	}
	for _, heard := range c.leaks() {
		t.Errorf("received of %s", heard)
	}
	if where := js[string](w, "location.href + document.title"); where != w.hub+"/hub" {
		t.Errorf("the page is now %s", where)
	}
}

// hostile are apps that attack the page around them. One that reads what it may not says
// "read …" to the page.
var hostile = map[string]string{
	"reads the parent's document": `try { top!.postMessage("read " + parent.document.title, "*") } catch {}`,
	"reads the page's document":   `try { top!.postMessage("read " + top!.document.body.innerHTML, "*") } catch {}`,
	"reads the page's cookie":     `try { top!.postMessage("read " + top!.document.cookie, "*") } catch {}`,
	"reads its own cookie": `if (document.cookie.includes("secret")) top!.postMessage("read " + ` +
		`document.cookie, "*")`,
	"reads a native cookie": `try { const c = Object.getOwnPropertyDescriptor(Document.prototype, ` +
		`"cookie")!.get!.call(document); if (c) top!.postMessage("read " + c, "*") } catch {}`,
	"reads the page's storage": `try { top!.postMessage("read " + top!.localStorage.length, "*") } catch {}`,
	"reads a native storage": `try { const s = Object.getOwnPropertyDescriptor(Window.prototype, ` +
		`"localStorage")!.get!.call(window); top!.postMessage("read " + s.length, "*") } catch {}`,
	"reads the page's variables": `try { top!.postMessage("read " + (top as any).host, "*") } catch {}`,
	"reads a frame next to it": `try { for (let i = 0; i < parent.frames.length; i++) if (parent.frames[i] !== ` +
		`window) top!.postMessage("read " + parent.frames[i]!.document.title, "*") } catch {}`,
	"reads what opened it": `try { if (opener) top!.postMessage("read " + opener.document.title, "*") } catch {}`,
	"reads a database": `try { indexedDB.open("x").onsuccess = () => top!.postMessage("read a database", ` +
		`"*") } catch {}`,
	"reads a cache": `try { caches.open("x").then(() => top!.postMessage("read a cache", "*"), () => ` +
		`{}) } catch {}`,
	"reads the clipboard": `try { navigator.clipboard.readText().then(() => top!.postMessage("read the ` +
		`clipboard", "*"), () => {}) } catch {}`,
	"asks for the position": `try { navigator.geolocation.getCurrentPosition(() => top!.postMessage("read the ` +
		`position", "*"), () => {}) } catch {}`,
	"asks for the camera": `try { navigator.mediaDevices.getUserMedia({ video: true }).then(() => ` +
		`top!.postMessage("read the camera", "*"), () => {}) } catch {}`,
	"listens to the editor": `try { new BroadcastChannel("hub.config @acme/web").onmessage = e => ` +
		`top!.postMessage("read " + e.data, "*") } catch {}`,
	"registers a service worker": `try { navigator.serviceWorker.register("data:text/javascript,").then(() => ` +
		`top!.postMessage("read by a service worker", "*"), () => {}) } catch {}`,
	"navigates the page":            `try { top!.location.href = "about:blank" } catch {}`,
	"navigates the frame around it": `try { parent.location.href = "about:blank" } catch {}`,
	"goes back in the history": `for (let i = 1; i < 20; i++) { try { History.prototype.go.call(history, -i) } ` +
		`catch {} }`,
	"goes back from a frame within": `document.body.insertAdjacentHTML("beforeend", '<iframe ` +
		`srcdoc="<script>history.go(-2)<\/script>"></iframe>')`,
	"opens windows": `for (let i = 0; i < 50; i++) open("about:blank", "w" + i)`,
	"opens dialogs": `alert("x"); confirm("x"); prompt("x"); print()`,
	"fills the screen": `document.documentElement.requestFullscreen?.().catch(() => {}); ` +
		`document.body.requestPointerLock?.()`,
	"asks before it is left": `addEventListener("beforeunload", e => { e.preventDefault(); return e.returnValue ` +
		`= "stay" })`,
	"replaces its document": `document.open(); document.write("<script>document.title = 'x'<\/script>"); ` +
		`document.close()`,
	"removes its document": `document.documentElement.remove()`,
	"pretends to be the frame": `top!.postMessage({ hub: "failed", n: 1, kind: "build", message: "<img src=x ` +
		`onerror=alert(1)>", file: "<b>" }, "*"); top!.postMessage({ hub: "painted", n: 1, times: {} }, "*")`,
	"pretends to be the page": `parent.postMessage({ hub: "update", n: 999, files: new Map([["index.html", ` +
		`"<h1>taken over"]]) }, "*")`,
	"pretends to have failed": `for (let i = 0; i < 500; i++) parent.postMessage({ inner: "error", name: {}, ` +
		`message: "x".repeat(1e5), trace: [], address: 5, line: "x" }, "*")`,
	"posts garbage": `for (const v of [null, undefined, 0, "", [], {}, new Map(), new Date(), new ` +
		`ArrayBuffer(1e6), { hub: "constructor" }, { inner: "state", state: { fields: 5 } }, { inner: "painted", times: "x" }]) { top!.postMessage(v, "*"); parent.postMessage(v, "*") }`,
	"posts a large message": `top!.postMessage("x".repeat(3e7), "*"); parent.postMessage({ inner: "error", ` +
		`message: "x".repeat(3e7) }, "*")`,
	"changes what all objects have": `Object.defineProperty(Object.prototype, "hub", { value: "failed" }); ` +
		`Array.prototype.push = () => 0 as any; Promise.prototype.then = (() => {}) as any; window.postMessage = (() => {}) as any`,
	"fails without end": `setInterval(() => { for (let i = 0; i < 50; i++) Promise.reject(new ` +
		`Error("<script>alert(1)</script>")) }, 20)`,
	"nests frames": `const f = document.createElement("iframe"); for (let i = 0; i < 20; i++) ` +
		`document.body.append(f.cloneNode())`,
	"downloads files": `for (let i = 0; i < 20; i++) { const a = document.createElement("a"); a.href = ` +
		`URL.createObjectURL(new Blob(["x"])); a.download = "x"; document.body.append(a); a.click() }`,
	"submits to the page": `document.body.insertAdjacentHTML("beforeend", '<form action="/" method="post" ` +
		`target="_top"><input name="a"></form>'); HTMLFormElement.prototype.submit.call(document.forms[0]!)`,
}

// hanging are apps that never let go.
var hanging = map[string]string{
	"loops":               `for (;;) {}`,
	"loops after a while": `setTimeout(() => { for (;;) {} }, 200)`,
	"loops in promises":   `const again = (): any => Promise.resolve().then(again); again()`,
	"allocates":           `const all: number[][] = []; for (;;) all.push(new Array(1e6).fill(Math.random()))`,
	"floods the page":     `for (;;) top!.postMessage("flood", "*")`,
	"floods now and then": `setInterval(() => { for (let i = 0; i < 5000; i++) top!.postMessage("flood", "*") }, 10)`,
	"loops when it is put": `document.body.innerHTML = "<p>x"; new MutationObserver(() => ` +
		`document.body.append("x")).observe(document.body, { childList: true }); document.body.append("x")`,
}

const good = `top!.postMessage("shows good", "*"); document.body.textContent = "good"`

// waitGood sends a good app until it is shown: on a busy machine, it may be taken for one
// that hangs.
func (w *world) waitGood() {
	w.Helper()
	js[any](w, "said = []")
	got := w.send(showing(good))
	for got.Kind == "hang" {
		got = w.send(showing(good))
	}
	if got.Type != "painted" {
		w.Errorf("the next app: %+v", got)
	}
	js[any](w,
		`new Promise(ok => { const look = () => said.includes("shows good") ? ok() : setTimeout(look, 5); look() })`) // what an earlier app sent may still arrive
}

func TestFrame_KeepsHostileAppsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(showing(good))
	js[any](w,
		`window.misdeeds = []; window.alert = window.confirm = window.prompt = text => misdeeds.push(text); localStorage.setItem("secret", "secret"); document.body.dataset.mark = "here"`)
	for name, script := range hostile {
		got := w.send(showing(script + "\n;setTimeout(() => top!.postMessage('attacked', '*'), 30)\nexport {}"))
		read := js[[]string](w, `said.filter(s => s.startsWith("read "))`)
		if len(read) > 0 {
			t.Errorf("%s: %.200q", name, read)
		}
		if mark := js[string](w,
			`location.href + " " + document.title + " " + document.body.dataset.mark + " " + misdeeds.length`); mark != w.hub+
			"/ hub here 0" {
			t.Fatalf("%s: the page is now %q (%+v)", name, mark, got)
		}
		w.waitGood()
	}
	t.Logf("%d hostile apps", len(hostile))
}

// An app that leaves while the next one is made does not keep the next one from being shown.
func TestFrame_ShowsTheNextAppOfOneThatLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(showing(good))
	w.send(showing(`Object.defineProperty(window, "scrollX", { get() { // which the frame reads before the next app
		location.reload()
		return 0
	} })`))
	slow := "await new Promise(ok => setTimeout(ok, 500))\n" + good
	if got := w.send(showing(slow)); got.Type != "painted" {
		t.Errorf("%+v", got)
	}
}

func TestFrame_IsReplacedWhenItHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	js[any](w, "patience = undefined") // that of a page
	w.start(showing(good))
	worst, loops := 0.0, 0.0
	for name, script := range hanging {
		js[any](w, `events.length = 0, said = [], 1`)
		js[any](w, "void send("+quote(w, showing(script))+"), 1")
		late := js[float64](w,
			`new Promise(ok => { let worst = 0, last = performance.now(); const beat = setInterval(() => { const now = performance.now(); worst = Math.max(worst, now - last - 20); last = now; if (events.some(e => e.type === "replaced")) { clearInterval(beat); ok(worst) } }, 20) })`)
		if worst = max(worst, late); strings.HasPrefix(name, "loops") {
			loops = max(loops, late)
		}
		if failed := w.said("failed"); failed.Kind != "hang" {
			t.Errorf("%s: %+v", name, failed)
		}
		w.waitGood()
	}
	t.Logf("%d hanging apps; the page's timer was late by at most %.0f ms, under floods of messages by %.0f ms",
		len(hanging), loops, worst)
}
