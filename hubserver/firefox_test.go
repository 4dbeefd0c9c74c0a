package hubserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/projecthub/hubserver/page/preview/previewtest"
)

// firefox is a Firefox with the hands of the other browser.
type firefox struct{ *previewtest.Firefox }

// script runs statements that may return a value.
func (f *firefox) script(statements string, args ...any) string {
	f.Helper()
	return f.Script(hands + paneHands + fmt.Sprintf(statements, args...))
}

// await waits until an expression is true.
func (f *firefox) await(expression string, args ...any) {
	f.Helper()
	f.Await(hands+paneHands, fmt.Sprintf(expression, args...))
}

// press types keys into the field of a key, as a user does.
func (f *firefox) press(key, text string) {
	f.Helper()
	var found struct{ Value map[string]string }
	raw := f.Call("WebDriver:FindElement",
		map[string]any{"using": "css selector", "value": fmt.Sprintf(`[data-key=%q] .control :is(input, textarea)`, key)})
	if err := json.Unmarshal(raw, &found, json.MatchCaseInsensitiveNames(true)); err != nil {
		f.Fatal(err)
	}
	for _, id := range found.Value {
		f.Call("WebDriver:ElementSendKeys", map[string]any{"id": id, "text": text})
	}
}

// It runs before the parallel tests: a second browser at the same time takes too long.
func TestFirefox_EditsAndPreviews(t *testing.T) {
	hub := previewHub(t)
	hub.settings(`{"title": "First"}`)
	f := &firefox{previewtest.NewFirefox(t)}
	f.Visit(hub.url + "/sign-in")
	name, value, _ := strings.Cut(hub.session("alice").cookie, "=")
	f.Call("WebDriver:AddCookie", map[string]any{"cookie": map[string]any{"name": name, "value": value, "path": "/",
		"httpOnly": true, "sameSite": "Lax"}})
	f.Visit(hub.url + "/@acme/web")
	f.await(`editor.dataset.ready === "true"`)
	f.script(
		`window.refused = []; addEventListener("securitypolicyviolation", e => refused.push(e.violatedDirective + e.blockedURI));` + hear)
	f.script(`if (document.getElementById("preview").hidden) press("Live preview")`)
	f.await(`pane.dataset.state === "painted" && shows() === "shows First"`)
	f.press("title", " and last")
	f.await(`shows() === "shows First and last" && part("changes").innerText.includes("This edit changes 1 of 3 ` +
		`generated files")`)
	hub.wantConfig(`{"title":"First"}`)
	f.script(`review()`)
	f.await(`dialog().querySelector(".generated summary")`)
	f.script(`press("Save", dialog())`)
	f.await(`notes().some(n => n.startsWith("Saved: 1 changed."))`)
	hub.wantConfig(`{"title":"First and last"}`)
	hub.settings(`{"title": "Theirs"}`)
	f.await(`shows() === "shows Theirs" && field("title").value === "Theirs"`)
	if refused := f.script(`return refused`); refused != "[]" {
		t.Errorf("the page's policy refused %s", refused)
	}
	f.Visit(hub.url + "/@acme/web/preview")
	f.await(`pane.dataset.state === "painted"`)
}
