package hubserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/wire"
)

func TestPages_RequestNothingThatTheVisitorMayNotRead(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	hub.as("alice").put(baseFiles, archive(t, file{name: "a"})).want(200)
	for _, user := range []string{"", "sam", "alice"} { // sam has no role on acme
		b := edit(t, hub, user)
		for _, tab := range []string{"/preview", "/files", "/history", "/settings"} {
			do(t, b, chromedp.Navigate(hub.url+"/@acme/web"+tab))
		}
		b.mu.Lock()
		for _, url := range b.requests {
			if user != "alice" && (strings.Contains(url, "/v1/apis/") || strings.Contains(url, "/v1/stacks/")) {
				t.Errorf("the page of %q requests %s", user, url)
			}
		}
		if len(b.refused) != 0 {
			t.Errorf("the hub refuses what the pages of %q request: %s", user, strings.Join(b.refused, ", "))
		}
		b.mu.Unlock()
		b.quiet(t)
	}
}

func TestPages_SayOnEachTabWhoWroteTheConfig(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"title": "First"}`)
	hub.as("alice").put(baseFiles, archive(t, file{name: "a"})).want(200)
	b := signedIn(t, hub, "anna")
	for i, tab := range []string{"", "/preview", "/files", "/history", "/settings"} {
		do(t, b, chromedp.Navigate(hub.url+"/@acme/web"+tab))
		if tab == "" {
			await(t, b, `editor.dataset.ready === "true"`)
		}
		who := []string{"anna", "alice"}[i%2] // not who wrote what the page shows at first
		hub.as(who).patch(config, fmt.Sprintf(`{"set": {"title": "%d"}}`, i),
			header{"If-Match": hub.as(who).get(config).want(200).etag()}).want(200)
		await(t, b, `document.getElementById("written").textContent.includes("by %s")`, who)
	}
	b.quiet(t)
}

func TestConfigPage_ShowsTheConfigWithoutJavaScript(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"theme": {"colour": "teal"}, "title": "Pets"}`)
	b := newBrowser(t)
	off := emulation.SetScriptExecutionDisabledParams{Value: true}
	if _, err := chromedp.Call(b.Context, emulation.SetScriptExecutionDisabled, off); err != nil {
		t.Fatal(err)
	}
	for user, edits := range map[string]bool{"alice": true, "rita": false} {
		b.signIn(t, hub.session(user))
		do(t, b, chromedp.Steps(
			chromedp.EmulateViewport(320, 800),
			chromedp.Navigate(hub.url+"/@acme/web"),
			chromedp.SendKeys("#editor [type=search]", "teal\r"),
			chromedp.WaitVisible("#editor [value=teal]"),
		))
		for column, want := range map[string]string{"th": "theme.colour", "td": `"teal"`} {
			if got := do(t, b, chromedp.Text("#editor tbody "+column)); got != want {
				t.Errorf("%s reads %q, want %q", user, got, want)
			}
		}
		const says = `document.querySelector("noscript .notice")?.innerText ?? ""`
		got := do(t, b, chromedp.Evaluate[string](says))
		if strings.Contains(got, "Editing here needs JavaScript") != edits {
			t.Errorf("%s is told %q", user, got)
		}
		if wide := do(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > 320 {
			t.Errorf("the page of %s is %d pixels wide", user, wide)
		}
	}
}

func TestBrowser_SignsInByLinkAndRestoresARevision(t *testing.T) {
	t.Parallel()
	hub := previewHub(t) // its public address is where it listens
	hub.settings(`{"title": "First"}`)
	hub.settings(`{"title": "Second"}`)
	link := decoded[wire.Link](hub.as("alice").post("/v1/links", wire.CreateLink{Page: "/@acme/web/history"}).want(201))
	b := newBrowser(t)
	do(t, b, chromedp.Navigate(link.URL))
	do(t, b, chromedp.Click(chromedp.CSS("main form .primary")))
	do(t, b, chromedp.Click(chromedp.CSS(".revisions li:nth-child(2) a")))
	do(t, b, chromedp.WaitVisible("#restore"))
	if shown := do(t, b, chromedp.Text(chromedp.CSS("section[aria-labelledby=restore] .diff"))); !strings.Contains(shown,
		`"Second"`) || !strings.Contains(shown, `"First"`) {
		t.Errorf("restoring would change %q", shown)
	}
	do(t, b, chromedp.Click(chromedp.CSS("section[aria-labelledby=restore] .primary")))
	if said := do(t, b, chromedp.Text(chromedp.CSS(".notice.good"))); said != "Restored." {
		t.Errorf("after restoring, %q", said)
	}
	hub.wantConfig(`{"title":"First"}`)
	b.quiet(t)
}

// Each of two people who have a project open sees the other, and which key they edit.
func TestEditor_ShowsWhoElseIsThere(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"title": "Pets"}`)
	const faces = `[...document.querySelectorAll("#present .face")].map(f => f.title).join()`
	alice, anna := edit(t, hub, "alice"), newBrowser(t)
	anna.as(t, hub, "anna")
	do(t, anna, chromedp.Navigate(hub.url+"/@acme/web/history"))
	await(t, alice, faces+` === "anna has this project open"`)
	act(t, alice, `field("title").dispatchEvent(new FocusEvent("focusin", {bubbles: true}))`) // a window here has no focus
	anna.waitFor(t, faces+` === "alice edits title"`)
}

// A draft is shared by a link; who opens it takes the changes up, and saves them as their own.
func TestEditor_SharesADraft(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"title": "Pets", "old": 1.50}`)
	alice := edit(t, hub, "alice")
	act(t, alice, `type("title", "Animals"); touch("old")`)
	act(t, alice, `press("Remove", row("old"))`)
	act(t, alice, `window.copied = ""; navigator.clipboard.writeText = async text => { copied = text }; press("Share")`)
	await(t, alice, `notes().some(n => n.includes("can open it for 7 days"))`)
	link := run[string](t, alice, `return copied`)

	anna := newBrowser(t)
	anna.as(t, hub, "anna")
	anna.visit(t, link)
	await(t, anna, `notes().some(n => n.startsWith("alice shared changes to 2 keys with you."))`)
	act(t, anna, `press("Apply them here")`)
	await(t, anna, `state("title") === "changed" && state("old") === "removed"`)
	act(t, anna, `press("Review")`)
	act(t, anna, `press("Save", dialog())`)
	await(t, anna, `notes().some(n => n.startsWith("Saved"))`)
	if saved := hub.wantConfig(`{"title":"Animals"}`); saved.UpdatedBy != "anna" {
		t.Errorf("it was saved by %s", saved.UpdatedBy)
	}
}
