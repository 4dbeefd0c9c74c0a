package hubserver_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
)

// gallery is a hub on which every page has something to show.
func gallery(t testing.TB) *testHub {
	t.Helper()
	hub := one(t, func(c *hubserver.Config) { c.PublicURL = "http://hub.example.com" })
	alice := hub.as("alice")
	for _, v := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		alice.put(site+"/versions/"+v, bundle(t, v)).want(201)
	}
	for slug, title := range map[string]string{"pets": "Pet store", "orders": "Orders and invoices",
		"identity": "Identity"} {
		alice.post("/v1/apis/upload?account=acme&slug="+slug, strings.Replace(pets, "Pets", title, 1)).want(201)
	}
	for _, p := range []struct {
		slug, api, version string
		visibility         wire.Visibility
	}{
		{"web", "pets", "latest", wire.Public}, {"back-office", "orders", "1.1.0", wire.Private},
		{"partner-portal", "orders", "latest", wire.Private},
		{"sign-in-app", "identity", "1.2.0", wire.Public}, {"empty", "pets", "1.0.0", wire.Private},
	} {
		row := newProject(p.slug)
		row.API, row.StackVersion, row.Visibility = mustRef("@acme/"+p.api), p.version, p.visibility
		alice.post("/v1/projects", row).want(201)
		if p.slug != "empty" {
			alice.put("/v1/projects/acme/"+p.slug+"/client-config", `{"settings": {"title": "First"}}`).want(200)
		}
	}
	hub.as("anna").put(clientCfg,
		`{"settings": {"title": "Pets", "basePath": "src", "locale": "de", "theme": {"accent": "blue"}}}`).want(200)
	hub.settings(`{"title": "Pet store", "basePath": "apps/web/src", "locale": "en", "theme": {"accent": "blue"}}`)
	hub.settings(`{"title": "Pet store", "basePath": "apps/web/src", "locale": "en", "theme": {"accent": "teal", "dark": true, "density": "compact", "font": {"body": "Inter", "size": 14}},
		"api": {"baseUrl": "https://api.example.com/v1", "timeoutSeconds": 30, "retries": 3,
			"headers": {"X-Client": "pet-store"}},
		"forms": {"pet": {"submit": "Save pet", "fields": ["name", "species", "birthday"]},
			"order": {"submit": "Place order", "fields": []}},
		"features": {"search": true, "export": false, "beta": null}, "enrichments": [{"target": "/pets", "label": "Pets", "order": 1}, {"target": "/orders", "label": "Orders", "order": 2}]}`)
	files := []file{
		{name: "index.html",
			content: "<!doctype html>\n<title>Pets</title>\n<div id=root></div>\n<script type=module " +
				"src=src/main.tsx></script>\n"},
		{name: "package.json", content: "{\n  \"name\": \"pets\",\n  \"private\": true\n}\n"},
		{name: "README.md", content: "# Pets\n"},
		{name: "src/main.tsx",
			content: "import { createRoot } from \"react-dom/client\";\nimport { App } from \"./App\";\n\nconst root = " +
				"document.getElementById(\"root\");\nif (!root) {\n\tthrow new Error(\"index.html has no element with the id root\");\n}\ncreateRoot(root).render(<App />);\n"},
		{name: "src/App.tsx", content: "export const App = () => <h1>Pets</h1>;\n"},
		{name: "src/styles.css", content: "h1 { color: teal }\n"},
		{name: "public/logo.png", content: tiny(t, 0)}, {name: "src/icons.bin", content: "\x00"},
		{name: "scripts/build.sh", content: "#!/bin/sh\n", mode: 0o755},
	}
	for i := range 40 {
		files = append(files, file{name: fmt.Sprintf("src/components/Panel%02d.tsx", i),
			content: strings.Repeat("// panel\n", 20+i)})
	}
	alice.put(baseFiles, archive(t, files...)).want(200)
	browser := hub.session("anna")
	browser.patch(config, `{"set": {"theme.accent": "teal", "features.export": true}, "remove": ["features.beta"]}`,
		header{"If-Match": browser.get(config).etag()}).want(200)
	hub.as("anna").put("/v1/bots/acme/deploy", nil).want(201)
	hub.as("anna").post("/v1/bots/acme/deploy/tokens", `{"name": "ci", "scopes": ["write:config"]}`).want(201)
	return hub
}

// view is a page as somebody sees it.
type view struct {
	name, path string
	user       string // "" is a visitor
}

// views are all pages, in the states that they have.
var views = []view{
	{"home", "/", "alice"}, {"home-visitor", "/", ""}, {"home-none", "/", "sam"}, {"search", "/?q=portal", "alice"},
	{"search-none", "/?q=nothing", ""}, {"invalid", "/?limit=0", ""},
	{"account", "/@acme", "alice"}, {"account-visitor", "/@acme", ""}, {"account-empty", "/@sam", "sam"},
	{"account-absent", "/@nobody", ""},
	{"config", "/@acme/web", "alice"}, {"config-visitor", "/@acme/web", ""}, {"config-empty", "/@acme/empty", "alice"},
	{"preview", "/@acme/web/preview", "alice"}, {"files", "/@acme/web/files", "alice"},
	{"files-directory", "/@acme/web/files/src", "alice"}, {"files-found", "/@acme/web/files?find=panel0", ""},
	{"files-none", "/@acme/web/files?find=nothing", ""}, {"file", "/@acme/web/files/src/main.tsx", "alice"},
	{"file-binary", "/@acme/web/files/src/icons.bin", ""}, {"file-image", "/@acme/web/files/public/logo.png", ""},
	{"file-absent", "/@acme/web/files/none", ""},
	{"files-empty", "/@acme/empty/files", "alice"}, {"history", "/@acme/web/history", "alice"},
	{"history-empty", "/@acme/empty/history", "alice"},
	{"comparison", "/@acme/web/history?from=2&to=4", "alice"},
	{"comparison-files", "/@acme/web/history?of=files&to=6", "alice"}, {"account-admin", "/@acme", "anna"},
	{"settings", "/@acme/web/settings", "alice"}, {"settings-saved", "/@acme/web/settings?saved=1", "alice"},
	{"settings-reader", "/@acme/web/settings", "rita"},
	{"absent", "/@acme/none", ""}, {"absent-signed-in", "/@acme/none", "sam"}, {"no-page", "/@acme/web/none", ""},
	{"tokens", "/tokens", "alice"}, {"tokens-visitor", "/tokens", ""}, {"device", "/device", "alice"},
	{"device-visitor", "/device", ""},
	{"sign-in", "/sign-in", ""}, {"sign-in-again", "/sign-in", "alice"}, {"link", "/link", ""},
}

// media sets what a page is told about the user's preferences.
func (b *browser) media(t *testing.T, features ...string) {
	t.Helper()
	var params emulation.SetEmulatedMediaParams
	for i := 0; i < len(features); i += 2 {
		params.Features = append(params.Features, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	if _, err := chromedp.Call(b.Context, emulation.SetEmulatedMedia, params); err != nil {
		t.Fatal(err)
	}
}

// as makes the browser one in which user is signed in, or nobody.
func (b *browser) as(t *testing.T, hub *testHub, user string) {
	t.Helper()
	do(t, b, chromedp.Navigate("about:blank"))
	b.clear(t)
	if user != "" {
		b.signIn(t, hub.session(user))
	}
}

// audit runs axe-core on the page, all its rules or only one, and returns what it finds. Its
// script comes from the browser, not from the page, whose policy refuses it.
func (b *browser) audit(t *testing.T, only ...string) []string {
	t.Helper()
	options := `{resultTypes: ["violations"]}`
	if len(only) > 0 {
		options = fmt.Sprintf(`{resultTypes: ["violations"], runOnly: %q}`, only[0])
	}
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	return do(t, b, chromedp.Evaluate[[]string](string(axe)+`; axe.run(document, `+options+`).then(r =>
		r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 200) + " " + (n.failureSummary || "")).join(" | ")))`, chromedp.EvalAwaitPromise))
}

// pageBytes is how much a page may transfer, without the preview.
const pageBytes = 60 << 10

func TestGallery_EveryPage(t *testing.T) {
	t.Parallel()
	hub := gallery(t)
	for part := range slices.Chunk(views, 8) { // a browser has three minutes
		t.Run(part[0].name+"…", func(t *testing.T) { checkViews(t, hub, part) })
	}
}

func checkViews(t *testing.T, hub *testHub, views []view) {
	b := newBrowser(t)
	if _, err := chromedp.Call(b.Context, network.SetCacheDisabled,
		network.SetCacheDisabledParams{CacheDisabled: true}); err != nil {
		t.Fatal(err)
	}
	user := ""
	for _, v := range views {
		if v.user != user {
			b.as(t, hub, v.user)
			user = v.user
		}
		t.Run(v.name, func(t *testing.T) {
			b.media(t, "prefers-color-scheme", "light")
			do(t, b, chromedp.Steps(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(hub.url+v.path)))
			if strings.HasPrefix(v.name, "config") && v.user == "alice" {
				await(t, b, `editor.dataset.ready === "true"`)
			}
			transferred := do(t, b, chromedp.Evaluate[int](
				`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((n, e) => n + e.transferSize, 0)`))
			if t.Logf("%d bytes are transferred", transferred); transferred > pageBytes || transferred < 1000 {
				t.Errorf("%d bytes are transferred", transferred)
			}
			b.media(t, "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
			for _, found := range b.audit(t) {
				t.Error(found)
			}
			b.media(t, "prefers-color-scheme", "dark", "prefers-reduced-motion", "reduce")
			for _, found := range b.audit(t, "color-contrast") { // nothing else differs
				t.Errorf("in dark: %s", found)
			}
			for _, width := range []int64{320, 640, 1920} {
				do(t, b, chromedp.EmulateViewport(width, 800))
				if wide := do(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > width {
					t.Errorf("it is %d pixels wide in a window of %d", wide, width)
				}
			}
			b.media(t, "forced-colors", "active")
			if hidden := do(t, b, chromedp.Evaluate[[]string](hiddenControls)); len(hidden) > 0 {
				t.Errorf("in forced colours these have no border or underline: %q", hidden)
			}
			if alike := do(t, b, chromedp.Evaluate[[]string](unmarked)); len(alike) > 0 {
				t.Errorf("in forced colours these look as the others do: %q", alike)
			}
			if misdeeds := do(t, b, chromedp.Evaluate[[]string](`window.misdeeds`)); len(misdeeds) > 0 {
				t.Errorf("the policy was broken: %q", misdeeds)
			}
		})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if !strings.HasPrefix(url, hub.url+"/") && url != "about:blank" && !strings.HasPrefix(url, "data:image/") {
			t.Errorf("a page asks for %s", url)
		}
	}
	if len(b.events) > 0 {
		t.Errorf("%q", b.events)
	}
}

// hiddenControls lists the buttons and fields that have no border in forced colours,
// where grounds and shadows are not drawn.
const hiddenControls = `[...document.querySelectorAll(".button, input:not([type=hidden], [type=radio], [type=checkbox]), select, textarea, .notice, .badge")]
	.filter(e => e.checkVisibility() && !e.matches(".quiet") && getComputedStyle(e).borderTopStyle == "none").map(e => e.outerHTML.slice(0, 200))`

// unmarked lists the tabs and segments that are current, and have the border that the others have too:
// forced colours draw a transparent one in the colour of the text.
const unmarked = `[...document.querySelectorAll(".tabs [aria-current], .segments [aria-current]")]
	.filter(e => [...e.closest("ul, .segments").querySelectorAll("a:not([aria-current])")].some(a =>
		getComputedStyle(a).borderBottomColor !== getComputedStyle(document.body).backgroundColor))
	.map(e => e.textContent)`

// press types keys.
func (b *browser) press(t *testing.T, keys string) {
	t.Helper()
	do(t, b, chromedp.KeyEvent(keys))
}

// tabTo moves the focus with the Tab key until it is at what selector selects.
func (b *browser) tabTo(t *testing.T, selector string) {
	t.Helper()
	for range 60 {
		b.press(t, kb.Tab)
		if do(t, b, chromedp.Evaluate[bool](`document.activeElement.matches(`+strconv.Quote(selector)+`)`)) {
			if outline := do(t, b, chromedp.Evaluate[string](
				`getComputedStyle(document.activeElement).outlineStyle`)); outline == "none" {
				t.Errorf("the focus on %s cannot be seen", selector)
			}
			return
		}
	}
	t.Fatalf("the Tab key does not lead to %s", selector)
}

// follow presses Enter on what has the focus, and waits for the page at path.
func (b *browser) follow(t *testing.T, path string) {
	t.Helper()
	loaded := make(chan struct{}, 16)
	ctx, cancel := context.WithCancel(b.Context)
	defer cancel()
	if err := chromedp.Listen(ctx, func(event any) {
		if _, ok := event.(*cdpage.EventLoadEventFired); ok {
			loaded <- struct{}{}
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.press(t, kb.Enter)
	for {
		select {
		case <-loaded:
		case <-b.Done():
			t.Fatalf("no page at %s was loaded", path)
		}
		if at := do(t, b, chromedp.Evaluate[string](`location.pathname + location.search`)); at == path {
			return
		}
	}
}

func TestGallery_KeyboardWithoutJavaScript(t *testing.T) {
	t.Parallel()
	hub := gallery(t)
	b := newBrowser(t)
	if _, err := chromedp.Call(b.Context, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web/preview"))
	if got := do(t, b, chromedp.Evaluate[string](
		`[...document.querySelectorAll("h2")].filter(e => e.checkVisibility()).map(e => e.textContent).join()`)); got != "The preview needs JavaScript" {
		t.Errorf("the preview shows %q", got)
	}
	do(t, b, chromedp.Navigate(hub.url+"/@acme/back-office"))
	b.tabTo(t, ".empty .button.primary")
	b.follow(t, "/sign-in?to=%2f%40acme%2fback-office")
	b.tabTo(t, "#token")
	b.press(t, hub.token("alice", wire.Scopes...))
	b.follow(t, "/@acme/back-office")
	b.press(t, kb.Tab)
	if skip := do(t, b, chromedp.Evaluate[string](`document.activeElement.className`)); skip != "skip" {
		t.Errorf("the first stop is %q", skip)
	}
	b.tabTo(t, `.tabs a[href$="/settings"]`)
	b.follow(t, "/@acme/back-office/settings")
	const disabled = `[...document.querySelectorAll("main button")].every(button => button.disabled)`
	if !do(t, b, chromedp.Evaluate[bool](disabled)) {
		t.Error("a button that needs JavaScript can be pressed")
	}
	if text := do(t, b, chromedp.Text("main")); !strings.Contains(text, "Changing this here needs JavaScript.") {
		t.Errorf("the tab shows %q", text)
	}
	b.tabTo(t, ".crumbs li:nth-child(2) a")
	b.follow(t, "/@acme")
	b.tabTo(t, `.projects a[href="/@acme/web"]`)
	b.follow(t, "/@acme/web")
	b.tabTo(t, `.tabs a[href$="/files"]`)
	b.follow(t, "/@acme/web/files")
	b.tabTo(t, "main .find input")
	b.press(t, "main.")
	b.follow(t, "/@acme/web/files?find=main.")
	b.tabTo(t, ".files a.file")
	b.follow(t, "/@acme/web/files/src/main.tsx")
	b.tabTo(t, ".bar .find input")
	b.press(t, "portal")
	b.follow(t, "/?q=portal")
	b.tabTo(t, ".who summary")
	b.press(t, kb.Enter)
	b.tabTo(t, ".who form button")
	b.follow(t, "/sign-in")
}
