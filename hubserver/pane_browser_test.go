package hubserver_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/projecthub/hubclient/wire"
)

// paneHands are functions that look at the preview beside the editor.
const paneHands = `
	const pane = document.getElementById("preview");
	const part = name => pane.querySelector('[data-part="' + name + '"]');
	const shows = () => (window.said ?? []).at(-1);
`

// awaitPane waits until an expression about the editor and the preview beside it is true.
func awaitPane(t *testing.T, b *browser, expression string, args ...any) {
	t.Helper()
	await(t, b, "(() => {"+paneHands+"return "+expression+"})()", args...)
}

// editWithPreview opens the editor of @acme/web as user, and the preview beside it.
func editWithPreview(t *testing.T, hub *testHub, user string) *browser {
	t.Helper()
	b := edit(t, hub, user)
	do(t, b, chromedp.Evaluate[any](hear+"; 1"))
	act(t, b, `if (document.getElementById("preview").hidden) press("Live preview")`)
	awaitPane(t, b, `pane.dataset.state === "painted"`)
	return b
}

// Until its scripts are loaded the pane has no state.
func TestPane_SaysThatAppStarts(t *testing.T) {
	t.Parallel()
	b := editWithPreview(t, previewHub(t), "alice")
	const starts = `pane.querySelector(".loading").checkVisibility()`
	const lives = `pane.querySelector(".live").checkVisibility({ visibilityProperty: true })`
	awaitPane(t, b, `!`+starts+` && `+lives)
	for _, state := range []string{"", "loading", "generating"} {
		awaitPane(t, b, `(pane.dataset.state = %q, `+starts+` && !`+lives+`)`, state)
	}
}

func TestPane_FollowsEditorBeforeAndAfterSave(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.settings(`{"title": "First"}`)
	b := editWithPreview(t, hub, "alice")
	awaitPane(t, b, `shows() === "shows First"`)
	other := editWithPreview(t, hub, "anna")
	do(t, other, chromedp.Evaluate[any](
		`window.unloaded = false; addEventListener("pagehide", () => { unloaded = true })`))
	b.mu.Lock()
	b.requests = nil
	b.mu.Unlock()

	// Unsaved: only this page shows it, and the hub is only asked what it thinks of it.
	act(t, b, `type("title", "Draft")`)
	awaitPane(t, b,
		`shows() === "shows Draft" && part("facts").textContent.includes("draft") && part("changes").querySelector("summary").textContent === "This edit changes 1 of 3 generated files"`)
	b.mu.Lock()
	for _, url := range b.requests {
		if strings.HasPrefix(url, hub.url) && !strings.HasSuffix(url, "/config?dryRun=1") {
			t.Errorf("the edit asks the hub for %s", url)
		}
	}
	b.mu.Unlock()
	awaitPane(t, other, `shows() === "shows First"`)

	// What it changes is shown before it is saved.
	act(t, b, `review()`)
	await(t, b, `dialog().querySelector(".generated summary")?.textContent === "This edit changes 1 of 3 generated files"`)
	act(t, b, `dialog().querySelector(".generated summary").click()`)
	if got := run[string](t, b, `return dialog().querySelector(".generated .difference").textContent`); !strings.Contains(
		got, "First") || !strings.Contains(got, "Draft") {
		t.Errorf("the difference is %q", got)
	}

	// Saved: the others' pages show it.
	act(t, b, `press("Save", dialog())`)
	await(t, b, `notes().some(n => n.startsWith("Saved: 1 changed."))`)
	awaitPane(t, b, `shows() === "shows Draft" && !part("facts").textContent.includes("draft") && part("changes").hidden`)
	awaitPane(t, other, `shows() === "shows Draft" && window.unloaded === false`)
	if seen := do(t, b, chromedp.Evaluate[[]string](`said`)); seen[len(seen)-1] != "shows Draft" ||
		strings.Count(strings.Join(seen, "\n"), "First") > 1 {
		t.Errorf("the frame showed %q one after another", seen)
	}
	b.quiet(t)
	other.quiet(t)
}

func TestPane_ShowsFailureWithoutScrolling(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.settings(`{"title": "First"}`)
	app := filesOf(t, "app")
	for i, f := range app {
		if f.name == "src/App.tsx" {
			app[i].content = "const broken = ;"
		}
	}
	hub.as("alice").put(baseFiles, archive(t, app...)).want(200)
	b := signedIn(t, hub, "alice")
	do(t, b, chromedp.EmulateViewport(1440, 900))
	b.visit(t, hub.url+"/@acme/web")
	awaitPane(t, b, `pane.dataset.state === "failed" && part("failure").textContent.includes("src/App.tsx:1")`)
	if bottom := run[float64](t, b, paneHands+`return part("failure").getBoundingClientRect().bottom`); bottom > 900 {
		t.Errorf("it ends at %v, below the window", bottom)
	}
}

func TestPane_ComparesGeneratedFilesOnRequest(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.settings(`{"title": "First"}`)
	b := edit(t, hub, "alice")
	act(t, b, `type("title", "Draft"); review()`)
	if n := run[int](t, b, `return document.querySelectorAll("iframe").length`); n != 0 {
		t.Errorf("%d frames are loaded before the preview is shown", n)
	}
	act(t, b, `press("Compare the generated files", dialog())`)
	await(t, b, `dialog().querySelector(".generated summary")?.textContent === "This edit changes 1 of 3 generated files"`)
	act(t, b, `press("Keep editing", dialog())`)

	// An edit that is reviewed at once is compared as it is, not as it was.
	act(t, b, `type("title", "First")`)
	addKey(t, b, "unused", "text", "x")
	act(t, b, `review()`)
	await(t, b, `dialog().querySelector(".generated").textContent === "This edit changes none of 3 generated files."`)
	b.quiet(t)
}

func TestPane_IsRememberedAndOpenedWithKeys(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.settings(`{"title": "First"}`)
	b := signedIn(t, hub, "alice")
	do(t, b, chromedp.EmulateViewport(1280, 800))
	b.visit(t, hub.url+"/@acme/web")
	awaitPane(t, b,
		`pane.dataset.state === "painted" && editor.querySelector("[aria-controls=preview]").ariaExpanded === "true"`)
	if beside := do(t, b, chromedp.Evaluate[bool](
		`document.getElementById("preview").getBoundingClientRect().right === innerWidth`)); !beside {
		t.Error("the preview does not reach the window's edge")
	}
	b.tabTo(t, `#preview button[aria-label="Close the preview"]`)
	b.press(t, kb.Enter)
	awaitPane(t, b, `pane.hidden && document.activeElement === editor.querySelector("[aria-controls=preview]")`)
	b.visit(t, hub.url+"/@acme/web?closed")
	if n := run[int](t, b, `return document.querySelectorAll("iframe").length`); n != 0 {
		t.Errorf("%d frames are loaded", n)
	}
	b.tabTo(t, `.tools [aria-controls=preview]`)
	b.press(t, kb.Enter)
	awaitPane(t, b, `pane.dataset.state === "painted"`)

	// Where there is no room, it is below the editor, and only on request.
	do(t, b, chromedp.EmulateViewport(320, 640))
	b.visit(t, hub.url+"/@acme/web?narrow")
	awaitPane(t, b, `pane.hidden`)
	act(t, b, `press("Live preview")`)
	awaitPane(t, b, `pane.dataset.state === "painted" && document.activeElement === pane.querySelector("h2")`)
	if wide := do(t, b, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); wide > 320 {
		t.Errorf("it is %d pixels wide", wide)
	}
	b.press(t, kb.Escape)
	awaitPane(t, b, `pane.hidden`)
	b.quiet(t)
}

func TestPane_SurvivesEndOfSession(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.settings(`{"title": "First"}`)
	b := signedIn(t, hub, "alice")
	do(t, b, chromedp.EmulateViewport(1280, 800))
	b.visit(t, hub.url+"/@acme/web")
	awaitPane(t, b, `pane.dataset.state === "painted"`)
	hub.sql(`DELETE FROM sessions`)
	act(t, b, `type("title", "Draft"); review()`)
	act(t, b, `press("Save", dialog())`)
	await(t, b, `notes().some(n => n.startsWith("Your session has ended."))`)
	act(t, b, `press("Sign in and return")`)
	do(t, b, chromedp.WaitVisible("[name=token]"))
	do(t, b, chromedp.SendKeys("[name=token]", hub.token("alice", wire.Scopes...)+kb.Enter))
	do(t, b, chromedp.WaitVisible("#editor[data-ready] .form"))
	await(t, b, `field("title").value === "Draft"`)
	awaitPane(t, b,
		`pane.dataset.state === "painted" && part("facts").textContent.includes("draft") && part("changes").textContent.includes("This edit changes 1 of 3 generated files")`)
	if len(b.warnings) != 0 {
		t.Errorf("signing in warns: %q", b.warnings)
	}
}

// auditPreview checks a page that shows a preview in both schemes, at all widths, and in
// forced colours.
func auditPreview(t *testing.T, b *browser, name string) {
	t.Helper()
	b.media(t, "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
	for _, found := range b.audit(t) {
		t.Errorf("%s: %s", name, found)
	}
	b.media(t, "prefers-color-scheme", "dark", "prefers-reduced-motion", "reduce")
	for _, found := range b.audit(t, "color-contrast") {
		t.Errorf("%s in dark: %s", name, found)
	}
	for _, width := range []int64{320, 640, 1024, 1920} {
		do(t, b, chromedp.EmulateViewport(width, 800))
		if wide := do(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > width {
			t.Errorf("%s is %d pixels wide in a window of %d", name, wide, width)
		}
		const beyond = `[...document.querySelectorAll(".dock")].some(bar => bar.scrollWidth > bar.clientWidth)`
		if do(t, b, chromedp.Evaluate[bool](beyond)) {
			t.Errorf("%s: the buttons of the dock reach beyond it in a window of %d pixels", name, width)
		}
	}
	b.media(t, "forced-colors", "active")
	if hidden := do(t, b, chromedp.Evaluate[[]string](hiddenControls)); len(hidden) > 0 {
		t.Errorf("%s: in forced colours these have no border or underline: %q", name, hidden)
	}
	b.media(t)
	do(t, b, chromedp.EmulateViewport(1280, 800))
}

func TestPane_IsAccessible(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.publishModule("2.0.0", noting)
	hub.settings(`{"title": "First", "theme": {"size": 1}}`)
	b := signedIn(t, hub, "alice")
	do(t, b, chromedp.EmulateViewport(1280, 800))
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web/preview"))
	await(t, b, `document.getElementById("preview").dataset.state === "painted"`)
	auditPreview(t, b, "the Preview tab")

	b.visit(t, hub.url+"/@acme/web")
	act(t, b, `type("title", "Draft")`)
	awaitPane(t, b, `pane.dataset.state === "painted" && part("changes").querySelector("summary")`)
	act(t, b, `document.querySelector("#preview summary").click()`)
	auditPreview(t, b, "the editor with the preview")
	act(t, b, `review()`)
	await(t, b, `dialog().querySelector(".generated summary")`)
	act(t, b, `dialog().querySelector(".generated summary").click()`)
	auditPreview(t, b, "the review")
	act(t, b, `press("Keep editing", dialog())`)
	addKey(t, b, "fail", "text", "x")
	awaitPane(t, b, `!part("failure").hidden`)
	auditPreview(t, b, "a failure")
	b.quiet(t)
}
