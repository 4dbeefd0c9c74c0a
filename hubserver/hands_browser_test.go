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
	const keys = () => [...editor.querySelectorAll(".groups .key")];
	const row = key => keys().find(r => r.dataset.key === key) ?? (() => { throw new Error("no row " + key) })();
	const field = key => row(key).querySelector(".value :is(input, textarea, select:not(.type))");
	const change = (e, value) => { e.value = value; e.dispatchEvent(new Event(e.localName === "select" ? "change" : "input", {bubbles: true})); };
	const type = (key, value) => change(field(key), value);
	const press = (text, within = document) => ([...within.querySelectorAll("button, a")].find(b => b.textContent === text) ?? (() => { throw new Error("no button " + text) })()).click();
	const state = key => row(key).dataset.state;
	const notes = () => [...editor.querySelectorAll(".notice")].map(n => n.textContent);
	const dialog = () => document.querySelector("dialog[open]");
	const changes = () => [...dialog().querySelectorAll(".diff > li")].map(l => l.textContent);
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
	_, err := chromedp.Run(b.Context, chromedp.Poll[bool]("(() => { try {"+hands+"return Boolean("+expression+") } catch { return false } })()", chromedp.WithPollingTimeout(time.Minute)))
	if err != nil {
		seen, _ := chromedp.Run(b.Context, chromedp.Evaluate[string](`location + " " + document.body.innerText`))
		t.Fatalf("%v: waiting for %s in %s", err, expression, seen)
	}
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
