package hubserver_test

import (
	"fmt"
	"testing"
	"time"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/wire"
)

// hands are functions that do in a page what people do.
const hands = `
	const editor = document.getElementById("editor");
	const keys = () => [...editor.querySelectorAll(":is(.field, .row)[data-key]")];
	const row = key => [...editor.querySelectorAll("[data-key]")].find(r => r.dataset.key === key) ??
		(() => { throw new Error("no row " + key) })();
	const field = key => row(key).querySelector(".control :is(textarea, select, input:checked, " +
		"input:not([type=radio], [type=range], [type=color]))");
	const change = (e, value) => {
		e.value = value;
		e.dispatchEvent(new Event(e.localName === "select" ? "change" : "input", {bubbles: true}));
	};
	const type = (key, value) => change(field(key), value);
	const pick = (key, label) => [...row(key).querySelectorAll("label:has([type=radio])")].find(l =>
		l.textContent === label).click();
	const touch = key => row(key).dispatchEvent(new Event("focusin", {bubbles: true}));
	const named = (text, within) => [...within.querySelectorAll("button, a, summary")].find(b =>
		[b.textContent, b.ariaLabel].some(name => name === text || [" ", ":"].some(c => name?.startsWith(text + c))));
	const missing = text => { throw new Error("no button " + text) };
	const press = (text, within = document) => (named(text, within) ?? missing(text)).click();
	const review = () => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "s", ctrlKey: true,
		bubbles: true}));
	const filter = text => change(editor.querySelector("[type=search]"), text);
	const state = key => row(key).dataset.state;
	const notes = () => [...editor.querySelectorAll(".toasts .notice")].map(n => n.textContent);
	const dialog = () => document.querySelector("dialog[open]");
	const changes = () => [...dialog().querySelectorAll(".diff > li")].map(l => l.textContent);
	const item = n => editor.querySelector(".items > li:nth-child(" + n + ")");
	const open = n => item(n).querySelector("summary").click();
	const member = (n, name) => item(n).querySelector("[data-member=" + name + "] :is(input, textarea)");
	const input = label => dialog().querySelector("[aria-label=" + label + "]") ??
		[...dialog().querySelectorAll("label")].find(l => l.textContent === label).control;
`

// run evaluates statements that end in a return, with the hands at hand.
func run[T any](t *testing.T, b *browser, statements string, args ...any) T {
	t.Helper()
	return do(t, b, chromedp.Evaluate[T]("(() => {"+hands+fmt.Sprintf(statements, args...)+"})()"))
}

// act is run for statements without a result.
func act(t *testing.T, b *browser, statements string, args ...any) {
	t.Helper()
	run[bool](t, b, statements+"; return true", args...)
}

// await waits until an expression is true.
func await(t *testing.T, b *browser, expression string, args ...any) {
	t.Helper()
	expression = fmt.Sprintf(expression, args...)
	_, err := chromedp.Run(b.Context,
		chromedp.Poll[bool]("(() => { try {"+hands+"return Boolean("+expression+") } catch { return false } })()",
			chromedp.WithPollingTimeout(time.Minute)))
	if err != nil {
		seen, _ := chromedp.Run(b.Context, chromedp.Evaluate[string](`location + " " + document.body.innerText`))
		t.Fatalf("%v: waiting for %s in %s", err, expression, seen)
	}
}

// pressIn presses a button in the row of a key, which has it once somebody is there.
func pressIn(t *testing.T, b *browser, key, button string) {
	t.Helper()
	act(t, b, `touch(%q)`, key)
	await(t, b, `named(%q, row(%q))`, button, key)
	act(t, b, `press(%q, row(%q))`, button, key)
}

// addKey adds a key in the dialog for it. value is what is typed.
func addKey(t *testing.T, b *browser, key, kind, value string) {
	t.Helper()
	act(t, b, `if (!dialog()) press("Add key")`)
	await(t, b, `dialog()`)
	act(t, b, `change(input("Key"), %q)`, key)
	act(t, b, `change(input("Type"), %q)`, kind)
	act(t, b, `change(input("Value"), %q)`, value)
	act(t, b, `press("Add", dialog().querySelector(".foot"))`)
}

// save reviews the edits and saves them.
func save(t *testing.T, b *browser) {
	t.Helper()
	act(t, b, `review()`)
	await(t, b, `dialog()`)
	act(t, b, `press("Save", dialog())`)
}

// edit opens the editor of @acme/web as user, nobody for "".
func edit(t *testing.T, hub *testHub, user string) *browser {
	t.Helper()
	b := signedIn(t, hub, user)
	b.visit(t, hub.url+"/@acme/web")
	return b
}

// signedIn returns a browser that leaves pages that warn. user is signed in; "" is signed out.
func signedIn(t *testing.T, hub *testHub, user string) *browser {
	t.Helper()
	b := newBrowser(t)
	b.leave(t)
	if user != "" {
		b.signIn(t, hub.session(user))
	}
	return b
}

// leave makes the browser leave pages that warn, and notes each warning.
func (b *browser) leave(t *testing.T) {
	t.Helper()
	err := chromedp.Listen(b.Context, func(event any) {
		if warning, ok := event.(*cdpage.EventJavascriptDialogOpening); ok {
			b.mu.Lock()
			b.warnings = append(b.warnings, string(warning.Type))
			b.mu.Unlock()
			go func() {
				_, _ = chromedp.Call(b.Context, cdpage.HandleJavaScriptDialog, cdpage.HandleJavaScriptDialogParams{Accept: true})
			}()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// visit opens an editor.
func (b *browser) visit(t *testing.T, url string) {
	t.Helper()
	do(t, b, chromedp.Navigate(url))
	await(t, b, `editor.dataset.ready === "true"`)
}

// wantConfig fails the test unless @acme/web has this config.
func (h *testHub) wantConfig(want string) wire.Config {
	h.Helper()
	got := decoded[wire.Config](h.as("anna").get(config).want(200))
	if string(got.Config) != want {
		h.Errorf("the config is %s, want %s", got.Config, want)
	}
	return got
}

// quiet fails the test if a page threw, wrote to the console or violated its policy.
func (b *browser) quiet(t *testing.T) {
	t.Helper()
	misdeeds := do(t, b, chromedp.Evaluate[[]string](`window.misdeeds`))
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(misdeeds) != 0 || len(b.events) != 0 {
		t.Errorf("there were %q and %q", misdeeds, b.events)
	}
}
