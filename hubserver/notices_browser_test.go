package hubserver_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestNotices_StayInView(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	var settings []string
	for i := range 80 {
		settings = append(settings, fmt.Sprintf(`"key%02d": %d`, i, i))
	}
	hub.settings("{" + strings.Join(settings, ", ") + "}")
	b := edit(t, hub, "alice")

	// The list is longer than the window: what happened is said where it is.
	const seen = `(text) => { const n = [...editor.querySelectorAll(".toasts .notice")].find(n => ` +
		`n.textContent.startsWith(text)); const at = n?.getBoundingClientRect(); return at && at.height > 0 && at.top >= 0 && at.bottom <= innerHeight; }`
	act(t, b, `type("key40", "x"); row("key40").scrollIntoView({ block: "center" }); review()`)
	await(t, b, `(`+seen+`)("1 value cannot be saved yet: key40.")`)
	act(t, b, `type("key40", "400")`)
	save(t, b)
	await(t, b, `scrollY > 0 && (`+seen+`)("Saved: 1 changed.") && notes().length === 1`)

	// An undo is offered as long as there is one.
	act(t, b, `type("key41", "410")`)
	await(t, b, `notes().length === 0`)
	act(t, b, `press("Discard")`)
	await(t, b, `(`+seen+`)("Discarded 1 change.") && state("key41") === "same"`)
	act(t, b, `press("Undo", editor.querySelector(".toasts"))`)
	await(t, b, `notes().length === 0 && field("key41").value === "410"`)

	// On a phone, a long message begins beside its dot, too.
	do(t, b, chromedp.EmulateViewport(320, 640))
	hub.as("anna").put(clientCfg, `{"settings": {"key40": 4}}`).want(200)
	await(t, b, `notes().some(n => n.startsWith("anna saved through push:"))`)
	if top := run[float64](t, b, `const n = editor.querySelector(".toasts .notice");
		return n.firstElementChild.getBoundingClientRect().top - n.getBoundingClientRect().top`); top > 16 {
		t.Errorf("the text begins %v pixels below the dot", top)
	}
	b.quiet(t)
}

func TestEditor_SaysThatTheHubIsAway(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"a": 1}`)
	to, err := url.Parse(hub.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(proxy)
	b := signedIn(t, hub, "alice")
	b.visit(t, front.URL+"/@acme/web")
	front.Config.Close()
	await(t, b, `notes().some(n => n.startsWith("What others save is not shown now:"))`)

	hub.as("anna").put(clientCfg, `{"settings": {"a": 2}}`).want(200)
	listener, err := net.Listen("tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	back := &http.Server{Handler: proxy}
	t.Cleanup(func() { back.Close() })
	go back.Serve(listener)
	await(t, b, `field("a").value === "2" && !notes().some(n => n.startsWith("What others save"))`)
}
