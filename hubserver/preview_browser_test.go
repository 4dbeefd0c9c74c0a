package hubserver_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store/storetest"
)

// previewHub is a hub whose pages and frames a browser can reach, with @acme/web: the app and
// the stack of the preview's test data.
func previewHub(t *testing.T) *testHub {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	hub := newHubOn(t, listener, (&net.Dialer{}).DialContext, storetest.SQLite(t),
		func(cfg *hubserver.Config) { cfg.PublicURL = url })
	hub.url = url
	api, err := os.ReadFile("page/preview/testdata/api.json")
	if err != nil {
		t.Fatal(err)
	}
	hub.publishPreview("1.0.0")
	hub.as("alice").post("/v1/apis/upload?account=acme&slug=pets", string(api)).want(201)
	hub.as("alice").post("/v1/projects", newProject("web")).want(201)
	hub.as("alice").put(baseFiles, archive(t, filesOf(t, "app")...)).want(200)
	return hub
}

// publishPreview publishes the stack of the test data as a version of @acme/site.
func (h *testHub) publishPreview(version string, more ...file) {
	h.Helper()
	files := []file{{name: "stack.json",
		content: fmt.Sprintf(`{"name": "@acme/site", "version": %q, "preview": {"module": "mod.ts", "contract": 1}}`,
			version)}}
	for _, f := range filesOf(h, "stack") {
		if f.name != "stack.json" {
			files = append(files, f)
		}
	}
	body := typed{"application/gzip", gzipped(h, tarOf(h, append(files, more...)...))}
	h.as("alice").put(site+"/versions/"+version, body).want(201)
}

func filesOf(t testing.TB, name string) []file {
	t.Helper()
	return filesBelow(t, "page/preview/testdata/"+name)
}

func filesBelow(t testing.TB, dir string) (files []file) {
	t.Helper()
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, path)
		files = append(files, file{name: path, content: string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// waitFor waits until a script's value is true in the page.
func (b *browser) waitFor(t *testing.T, script string) {
	t.Helper()
	do(t, b, chromedp.Evaluate[any](
		fmt.Sprintf(
			`new Promise(ok => { const look = () => { try { if (%s) return ok(1) } catch {} setTimeout(look, 10) }; look() })`,
			script), chromedp.EvalAwaitPromise))
}

// hear keeps what the app of the test data says that it shows.
const hear = `if (window === top && !window.said) { window.said = []; addEventListener("message", e => { if (typeof ` +
	`e.data === "string") said.push(e.data) }) }`

// open loads a page, which hears its preview from the start.
func (b *browser) open(t *testing.T, url string) {
	t.Helper()
	if _, err := chromedp.Call(b.Context, cdpage.AddScriptToEvaluateOnNewDocument,
		cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: hear}); err != nil {
		t.Fatal(err)
	}
	do(t, b, chromedp.Navigate(url))
}

func TestBrowser_PreviewFollowsSavesPushesAndDrafts(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	b := newBrowser(t)
	b.signIn(t, hub.session("alice"))
	b.open(t, hub.url+"/@acme/web/preview")
	b.waitFor(t, `document.getElementById("preview").dataset.state === "painted"`)
	text := func(part string) string {
		return do(t, b, chromedp.Evaluate[string](
			fmt.Sprintf(`document.querySelector('[data-part="%s"]').textContent`, part)))
	}
	if facts := text("facts"); !strings.Contains(facts, "@acme/site 1.0.0") || !strings.Contains(facts, "Base files") {
		t.Errorf("facts: %q", facts)
	}
	if menu := text("previews"); menu != "The appAddPetFormPlaceOrderForm" {
		t.Errorf("menu: %q", menu)
	}
	// Somebody saves.
	hub.settings(`{"title": "Saved"}`)
	b.waitFor(t, `said.at(-1) === "shows Saved"`)
	// A draft of the editor, in another tab.
	do(t, b, chromedp.Evaluate[any](
		`window.editor = new BroadcastChannel("hub.config @acme/web alice"); editor.postMessage({revision: "r", dirty: true, config: '{"title":"Draft"}'})`))
	b.waitFor(t, `said.at(-1) === "shows Draft"`)
	b.waitFor(t,
		`document.querySelector('[data-part="changes"] summary').textContent === "This edit changes 1 of 3 generated files"`)
	if facts := text("facts"); !strings.Contains(facts, "draft") {
		t.Errorf("facts: %q", facts)
	}
	do(t, b, chromedp.Evaluate[any](`editor.postMessage({revision: "r", dirty: false, config: '{"title":"Saved"}'})`))
	b.waitFor(t, `said.at(-1) === "shows Saved" && document.querySelector('[data-part="changes"]').hidden`)
	// A push.
	files := filesOf(t, "app")
	for i := range files {
		files[i].content = strings.Replace(files[i].content, "'shows ' + title", "'shows pushed ' + title", 1)
	}
	hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
	b.waitFor(t, `said.at(-1) === "shows pushed Saved"`)
	// A push that breaks it: where, and the last good frame is greyed out.
	for i := range files {
		files[i].content = strings.Replace(files[i].content, "import { forms", "import './none'\nimport { forms", 1)
	}
	hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
	b.waitFor(t, `!document.querySelector('[data-part="failure"]').hidden`)
	if failure := text("failure"); !strings.Contains(failure, "src/App.tsx:2") ||
		!strings.Contains(failure, "there is no file src/none") {
		t.Errorf("failure: %q", failure)
	}
	if stale := do(t, b, chromedp.Evaluate[bool](
		`document.querySelector('[data-part="place"]').classList.contains("stale")`)); !stale {
		t.Error("the last good frame is not greyed out")
	}
	if misdeeds := do(t, b, chromedp.Evaluate[[]string](`window.misdeeds`)); len(misdeeds) > 0 {
		t.Errorf("%q", misdeeds)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, event := range b.events {
		t.Error(event)
	}
}

func TestBrowser_PreviewComparesVersions(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.publishPreview("1.1.0", file{name: "new.txt", content: "new"})
	b := newBrowser(t)
	b.signIn(t, hub.session("alice"))
	b.open(t, hub.url+"/@acme/web/preview")
	b.waitFor(t, `document.querySelector('[data-part="versions"]').options.length === 2`)
	do(t, b, chromedp.Evaluate[any](
		`{ const s = document.querySelector('[data-part="versions"]'); s.value = "1.0.0"; s.dispatchEvent(new Event("change")) }`))
	b.waitFor(t, `document.querySelectorAll("#preview iframe").length === 2 && said.length >= 2`)
	do(t, b, chromedp.Evaluate[any](
		`{ const s = document.querySelector('[data-part="versions"]'); s.value = ""; s.dispatchEvent(new Event("change")) }`))
	b.waitFor(t, `document.querySelectorAll("#preview iframe").length === 1`)
}

func TestBrowser_PreviewSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.as("alice").patch(web, `{"visibility": "public"}`).want(200)
	b := newBrowser(t)
	b.open(t, hub.url+"/@acme/web/preview")
	shown := do(t, b, chromedp.Evaluate[string](`document.querySelector("main").innerText`))
	for _, part := range []string{"The stack @acme/site: ask an admin of @acme for the role reader.",
		"The API @acme/pets: ask an admin of @acme", "Sign in"} {
		if !strings.Contains(shown, part) {
			t.Errorf("%q is missing in %q", part, shown)
		}
	}
	// An owner publishes it, by the switch of the page.
	owner := newBrowser(t)
	owner.signIn(t, hub.session("anna"))
	owner.open(t, hub.url+"/@acme/web/preview")
	if shown := do(t, owner, chromedp.Evaluate[string](
		`document.querySelector(".open p").textContent`)); !strings.Contains(shown,
		"publishes version 1.0.0 of the stack @acme/site") || !strings.Contains(shown, "@acme/pets") {
		t.Errorf("%q", shown)
	}
	do(t, owner, chromedp.Evaluate[any](`document.querySelector(".open button").click()`))
	for !decoded[wire.Project](hub.as("anna").get(web).want(200)).PublicPreview { // the click is answered by then
		if t.Context().Err() != nil {
			t.Fatal("the preview is not public")
		}
	}
	b.open(t, hub.url+"/@acme/web/preview")
	b.waitFor(t, `document.getElementById("preview").dataset.state === "painted"`)
}

// Not in parallel: an app with a film of 25 MiB keeps a busy machine from responding for the 3 seconds
// after which the page gives it up.
func TestBrowser_PreviewTakesOddBaseFiles(t *testing.T) {
	hub := previewHub(t)
	app := filesOf(t, "app")
	for i := range app {
		if app[i].name == "src/main.tsx" {
			app[i].content = "import odd from './__proto__'\nimport { one } from './circle/one'\ntop!.postMessage(odd + " +
				"one(3), '*')\n" + app[i].content
		}
	}
	app = append(app,
		file{name: "__proto__", content: "{}"},
		file{name: "src/__proto__.ts", content: "import json from './__proto__.json'\nexport default json.constructor\n"},
		file{name: "src/__proto__.json", content: `{"__proto__": {"polluted": true}, "constructor": "proto "}`},
		file{name: "src/circle/one.ts",
			content: "import { two } from './two'\nexport const one = (n: number): string => 'one ' + two(n)\n"},
		file{name: "src/circle/two.ts",
			content: "import { one } from './one'\nexport const two = (n: number): string => (n > 0 ? one(n - 1) : 'two')\n"},
		file{name: "public/film.mp4", content: strings.Repeat("\x00", 25<<20)},
	)
	hub.as("alice").put(baseFiles, archive(t, app...)).want(200)
	b := newBrowser(t)
	b.signIn(t, hub.session("alice"))
	b.open(t, hub.url+"/@acme/web/preview")
	b.waitFor(t, `said.includes("shows Forms")`)
	if said := do(t, b, chromedp.Evaluate[[]string](`said`)); !slices.Contains(said, "proto one one one one two") {
		t.Errorf("%q", said)
	}
	if do(t, b, chromedp.Evaluate[bool](`"polluted" in {}`)) {
		t.Error("the file __proto__.json changed all objects of the page")
	}
	// What is too large to embed is an error where it is embedded, and the page responds.
	for i := range app {
		if app[i].name == "src/App.tsx" {
			app[i].content = "import film from '/film.mp4'\n" +
				strings.Replace(app[i].content, "<h1>", "<video src={film} /><h1>", 1)
		}
	}
	hub.as("alice").put(baseFiles, archive(t, app...)).want(200)
	b.waitFor(t,
		`document.querySelector('[data-part="failure"]').textContent.includes("public/film.mp4 is 25 MiB: the preview embeds files of at most 10 MiB")`)
	if stale := do(t, b, chromedp.Evaluate[bool](
		`document.querySelector('[data-part="place"]').classList.contains("stale")`)); !stale {
		t.Error("the last good frame is not greyed out")
	}
}

// What somebody pushed who has left the account runs when the viewer says so, once for these files.
func TestBrowser_PreviewAsksBeforeItRunsTheAppOfAStranger(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.publishPreview("1.1.0")
	b := newBrowser(t)
	b.signIn(t, hub.session("rita"))
	state := func(want string) {
		b.waitFor(t, fmt.Sprintf(`document.getElementById("preview").dataset.state === %q`, want))
	}
	b.open(t, hub.url+"/@acme/web/preview")
	state("painted") // alice pushed it, and is a member

	hub.as("anna").delete("/v1/members/acme/alice").want(200)
	b.open(t, hub.url+"/@acme/web/preview")
	state("asking")
	question := do(t, b, chromedp.Evaluate[string](`document.querySelector("#preview [role=group]").textContent`))
	want := "Run the app of alice?alice has no role on this account. The app will see this config and the API " +
		"@acme/pets.Run"
	if question != want || do(t, b, chromedp.Evaluate[bool](`document.querySelector("#preview iframe") !== null`)) {
		t.Errorf("it asks %q, want %q, and runs nothing", question, want)
	}
	do(t, b, chromedp.Evaluate[any](`document.querySelector("#preview [role=group] button").click()`))
	state("painted")
	b.open(t, hub.url+"/@acme/web/preview")
	state("painted")

	// Another version of the stack is another app.
	b.waitFor(t, `!document.querySelector('[data-part="versions"]').closest("label").hidden`)
	do(t, b, chromedp.Evaluate[any](
		`(select => { select.value = "1.0.0"; select.dispatchEvent(new Event("change")) })(document.querySelector('[data-part="versions"]'))`))
	state("asking")
	if n := do(t, b, chromedp.Evaluate[int](`document.querySelectorAll("#preview iframe").length`)); n != 1 {
		t.Errorf("%d apps run before the answer, want 1", n)
	}
	do(t, b, chromedp.Evaluate[any](`document.querySelector("#preview [role=group] button").click()`))
	b.waitFor(t, `document.querySelectorAll("#preview iframe").length === 2`)
	state("painted")
}

// What hangs, floods the page or uses up the memory is replaced by the last good view, which must not pass
// for the present one.
func TestBrowser_PreviewKeepsFailureOverRestoredView(t *testing.T) {
	for name, script := range map[string]string{
		"hangs":     "for (;;) {}",
		"floods":    "for (;;) top!.postMessage(0, '*')",
		"allocates": "const all: number[][] = []; for (;;) all.push(new Array(1e6).fill(Math.random()))",
		"navigates": "setTimeout(() => { location.href = 'http://127.0.0.1:9/' }, 100)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub := previewHub(t)
			b := newBrowser(t)
			b.signIn(t, hub.session("alice"))
			b.open(t, hub.url+"/@acme/web/preview")
			b.waitFor(t, `said.at(-1) === "shows Forms"`)
			b.waitFor(t, `(window.since ??= Date.now()) + 5000 < Date.now()`) // a view that responded for a while is good
			files := filesOf(t, "app")
			for i := range files {
				if files[i].name == "src/main.tsx" {
					files[i].content += "\n" + script
				}
			}
			do(t, b, chromedp.Evaluate[any](`said.length = 0`))
			hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
			b.waitFor(t, `!document.querySelector('[data-part="failure"]').hidden`)
			b.waitFor(t, `said.at(-1) === "shows Forms"`)
			b.waitFor(t, `(window.restored ??= Date.now()) + 2000 < Date.now()`)
			const still = `!document.querySelector('[data-part="failure"]').hidden && ` +
				`document.querySelector('[data-part="place"]').classList.contains("stale")`
			if !do(t, b, chromedp.Evaluate[bool](still)) {
				t.Error("the last good view poses as the present one")
			}
			// A later update that is painted ends it.
			hub.as("alice").put(baseFiles, archive(t, filesOf(t, "app")...)).want(200)
			b.waitFor(t,
				`document.querySelector('[data-part="failure"]').hidden && !document.querySelector('[data-part="place"]').classList.contains("stale")`)
		})
	}
}

func TestBrowser_PreviewSaysWhatTheAppPrints(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.publishModule("2.0.0", noting)
	files := filesOf(t, "app")
	for i := range files {
		if files[i].name == "src/main.tsx" {
			files[i].content += `
console.log('<b>one</b>', { two: 2 }, new Error('three'))
console.warn('https://evil.example/', { toJSON() { throw 1 } })
for (let i = 0; i < 5000; i++) console.debug('again')
`
		}
	}
	hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
	b := newBrowser(t)
	b.signIn(t, hub.session("alice"))
	b.open(t, hub.url+"/@acme/web/preview")
	b.waitFor(t, `document.getElementById("preview").dataset.state === "painted"`)
	b.waitFor(t, `document.querySelectorAll('[data-part="notes"] li').length === 102`)
	said := do(t, b, chromedp.Evaluate[string](
		`(box => [box.innerText.split("\n")[0], ...[...box.querySelectorAll("li")].slice(0, 5)`+
			`.map(e => e.className + " " + e.textContent), box.querySelectorAll("a").length, box.hidden].join("|"))`+
			`(document.querySelector('[data-part="notes"]'))`))
	want := "The app says|warn theme.size: is small|error label: must be set|" +
		`info <b>one</b> {"two":2} Error: three|warn https://evil.example/ (a value without text)|info again|2|false`
	if said != want {
		t.Errorf("it says %q, not %q", said, want)
	}
	// What the next view says takes the place of it.
	hub.as("alice").put(baseFiles, archive(t, filesOf(t, "app")...)).want(200)
	b.waitFor(t, `document.querySelectorAll('[data-part="notes"] li').length === 2`)
}

func TestBrowser_PreviewQuotesTheApp(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	files := filesOf(t, "app")
	for i := range files {
		if files[i].name == "src/main.tsx" {
			files[i].content += "\nthrow new Error('Sign in again at https://evil.example/')"
		}
	}
	hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
	b := newBrowser(t)
	b.signIn(t, hub.session("alice"))
	b.open(t, hub.url+"/@acme/web/preview")
	b.waitFor(t, `document.getElementById("preview").dataset.state === "painted"`)
	const text = `(box => box.hidden + " " + box.querySelectorAll("a").length + " " + ` +
		`box.innerText)(document.querySelector('[data-part="failure"]'))`
	said := do(t, b, chromedp.Evaluate[string](text))
	if !strings.HasPrefix(said, "false 0 The app failed in src/main.tsx") ||
		!strings.Contains(said, "The app says:\n\nSign in again at https://evil.example/") {
		t.Errorf("a failure of the first view: %q", said)
	}
}
