package hubserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
)

// reach waits until an expression is true, on the page that is shown or on one that takes its place.
func reach(t *testing.T, b *browser, expression string) {
	t.Helper()
	for range 600 {
		if ok, err := chromedp.Run(b.Context, chromedp.Evaluate[bool](`Boolean(`+expression+`)`)); ok && err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	shown := do(t, b, chromedp.Evaluate[string](`location + " " + document.body.innerText`))
	t.Fatalf("%s is not true in\n%s", expression, shown)
}

// focusedAt is where the focus is, by id or by class.
const focusedAt = `document.activeElement.role || document.activeElement.id`

func TestForms_ARefusalLeavesTheFormAsItWas(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	b := signedIn(t, hub, "alice")
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web/settings"))
	const save = "form[data-method=PATCH] .primary"
	if !do(t, b, chromedp.Evaluate[bool](`document.querySelector("`+save+`").disabled`)) {
		t.Error("there is something to save before anything changed")
	}
	do(t, b, chromedp.Click("#public"))
	do(t, b, chromedp.Evaluate[any](`document.getElementById("api").select()`))
	do(t, b, chromedp.SendKeys("#api", "@acme/none"))
	do(t, b, chromedp.Click(save))
	reach(t, b, `!document.querySelector("[role=alert]").hidden`)
	form := do(t, b, chromedp.Evaluate[string](`[
		document.getElementById("public").checked, document.getElementById("api").value,
		document.querySelector("[role=alert]").textContent.trim(), `+focusedAt+`,
	].join("|")`))
	if want := "true|@acme/none|The API @acme/none is not registered here.|alert"; form != want {
		t.Errorf("the form is %q, want %q", form, want)
	}
	do(t, b, chromedp.Evaluate[any](`document.getElementById("api").select()`))
	do(t, b, chromedp.SendKeys("#api", "pets"))
	do(t, b, chromedp.Click(save))
	reach(t, b, `document.activeElement.id === "api"`) // the field that is wrong
	if invalid := do(t, b, chromedp.Evaluate[string](`document.getElementById("api").ariaInvalid`)); invalid != "true" {
		t.Errorf("aria-invalid is %q", invalid)
	}
	do(t, b, chromedp.Evaluate[any](`document.getElementById("api").select()`))
	do(t, b, chromedp.SendKeys("#api", "@acme/pets"))
	do(t, b, chromedp.Click(save))
	reach(t, b, `location.search === "?saved=1" && document.querySelector(".notice.good")`)
	if p := decoded[wire.Project](hub.with("").get(web).want(200)); p.Visibility != wire.Public {
		t.Errorf("%+v", p)
	}
}

func TestForms_ARestoreIsRefusedAfterSomebodyElseSaved(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"title": "First"}`)
	n := hub.number()
	hub.settings(`{"title": "Second"}`)
	b := signedIn(t, hub, "alice")
	do(t, b, chromedp.Navigate(hub.url+historyTab+"?to="+n))
	hub.settings(`{"title": "Third"}`)
	do(t, b, chromedp.Click("section[aria-labelledby=restore] .primary"))
	reach(t, b, `!document.querySelector("[role=alert]").hidden`)
	text := do(t, b, chromedp.Text("section[aria-labelledby=restore] [role=alert]"))
	if !strings.Contains(text, "is not the one that If-Match names") || !strings.Contains(text, "Load the page again") {
		t.Errorf("the form says %q", text)
	}
	hub.wantConfig(`{"title":"Third"}`)
	do(t, b, chromedp.Click("section[aria-labelledby=restore] [role=alert] a"))
	reach(t, b, `document.querySelector("section[aria-labelledby=restore]").textContent.includes("Third")`)
	do(t, b, chromedp.Click("section[aria-labelledby=restore] .primary"))
	reach(t, b, `location.search === "?restored=1"`)
	hub.wantConfig(`{"title":"First"}`)
}

func TestForms_ATokenIsShownOnce(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	b := signedIn(t, hub, "alice")
	do(t, b, chromedp.Navigate(hub.url+"/tokens"))
	// A joined emoji, and text from right to left.
	const name = "👩‍💻 מחשב"
	do(t, b, chromedp.Evaluate[any](`document.getElementById("name").value = "`+name+`"`)) // keys send no joiner
	do(t, b, chromedp.Click("form[data-shows=created] .primary"))
	reach(t, b, `document.activeElement.id === "created"`)
	token := do(t, b, chromedp.Text("#created [data-of=token]"))
	if !pat.Valid(token) {
		t.Fatalf("the page shows %q", token)
	}
	me := decoded[wire.Whoami](hub.with(token).get("/v1/whoami").want(200))
	if me.TokenName != name || fmt.Sprint(me.Scopes) != "[write:catalog write:config]" {
		t.Errorf("%+v", me)
	}
	do(t, b, chromedp.Click("#created a.button"))
	reach(t, b, `document.querySelector("form[data-shows=created]:not([hidden])")`)
	if text := do(t, b, chromedp.Text("main")); strings.Contains(text, token) || !strings.Contains(text, name) {
		t.Errorf("the page says %q", text)
	}
	do(t, b, chromedp.Click(`[data-action^="/v1/tokens/"][data-method=DELETE] button`))
	reach(t, b, `!document.querySelector("[data-action^='/v1/tokens/'][data-method=DELETE]")`)
	hub.with(token).get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
	b.quiet(t)
}

func TestForms_ADeletionSaysHowToRestore(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	b := signedIn(t, hub, "alice")
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web/settings"))
	do(t, b, chromedp.SendKeys("#slug", "wob"))
	do(t, b, chromedp.Click("form.danger .button"))
	hub.as("alice").get(web).want(200) // the browser refused the name
	do(t, b, chromedp.Evaluate[any](`document.getElementById("slug").select()`))
	do(t, b, chromedp.SendKeys("#slug", "web"))
	do(t, b, chromedp.Click("form.danger .button"))
	reach(t, b, `document.activeElement.id === "deleted"`)
	if text := do(t, b, chromedp.Text("#deleted")); !strings.Contains(text, "tool project restore @acme/web") {
		t.Errorf("the page says %q", text)
	}
	hub.as("alice").get(web).problem(404, wire.CodeNotFound)
	b.quiet(t)
}

func TestForms_RenameAProject(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	b := signedIn(t, hub, "anna")
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web/settings"))
	rename := func(name, want string) {
		do(t, b, chromedp.Evaluate[any](`document.getElementById("name").select()`))
		do(t, b, chromedp.SendKeys("#name", name))
		do(t, b, chromedp.Click("form:has(#name) .primary"))
		reach(t, b, want)
	}
	rename("Shop", `document.activeElement.id === "name" && document.activeElement.ariaInvalid === "true"`)
	rename("shop", `location.href === "`+hub.url+`/@acme/shop/settings?saved=1" && document.querySelector(".notice.good")`)
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web"))
	reach(t, b, `location.pathname === "/@acme/shop"`)
}

func TestForms_ManageMembersAndBots(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.as("anna").put("/v1/bots/acme/ci", nil).want(201)
	created := decoded[wire.BotToken](hub.as("anna").post("/v1/bots/acme/ci/tokens", `{"name": "deploy"}`).want(201))
	b := signedIn(t, hub, "anna")
	do(t, b, chromedp.Navigate(hub.url+"/@acme"))
	const own = `document.querySelector("[data-action='/v1/members/acme/anna'][data-method=DELETE]")`
	do(t, b, chromedp.Evaluate[any](own+`.requestSubmit()`))
	reach(t, b, own+`.textContent.includes("Anna is the last admin of acme.")`)

	const role = `[data-action='/v1/members/acme/rita'][data-method=PUT]`
	do(t, b, chromedp.Evaluate[any](`const form = document.querySelector("`+role+`")
		form.elements.role.value = "writer"
		form.elements.role.dispatchEvent(new Event("input", {bubbles: true}))
		form.requestSubmit()`))
	reach(t, b, `document.querySelector("`+role+`").elements.role.value === "writer" &&
		!document.querySelector("[role=alert]:not([hidden])")`)
	for _, gone := range []string{
		`[data-action='/v1/members/acme/alice'][data-method=DELETE]`, `[data-action^='/v1/bots/acme/ci/tokens/']`,
	} {
		do(t, b, chromedp.Evaluate[any](`document.querySelector("`+gone+`").requestSubmit()`))
		reach(t, b, `document.readyState === "complete" && !document.querySelector("`+gone+`")`)
	}
	do(t, b, chromedp.Click("form[data-shows=invited] .button"))
	reach(t, b, `document.activeElement.id === "invited"`)
	if link := do(t, b, chromedp.Text("#invited code")); !strings.HasPrefix(link, publicURL+"/link?code=") {
		t.Errorf("the link is %q", link)
	}
	members := decoded[wire.Members](hub.as("anna").get("/v1/members?account=acme").want(200)).Members
	if got := fmt.Sprint(members); got != "[{anna admin} {rita writer}]" {
		t.Errorf("the members are %s", got)
	}
	hub.with(created.Token).get("/v1/whoami").problem(401, wire.CodeTokenRevoked)
}

func TestPalette_GoesToProjectsAndKeys(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.as("alice").post("/v1/projects", newProject("portal")).want(201)
	hub.settings(`{"theme": {"colour": "teal"}}`)
	b := signedIn(t, hub, "alice")
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web/files"))
	openPalette := `dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true}))`
	do(t, b, chromedp.Evaluate[any](openPalette))
	reach(t, b, `document.querySelector(".palette[open] [role=option]")`)
	b.press(t, "colour")
	reach(t, b, `document.querySelector(".palette [aria-selected]")?.textContent === "theme.colourkey"`)
	for _, found := range b.audit(t) {
		t.Error(found)
	}
	b.press(t, "\r")
	reach(t, b, `location.hash === "#key=theme.colour"`)
	do(t, b, chromedp.Navigate(hub.url+"/tokens"))
	do(t, b, chromedp.Evaluate[any](openPalette))
	reach(t, b, `document.querySelector(".palette[open]")`)
	b.press(t, "PORT")
	reach(t, b, `document.querySelector(".palette [aria-selected]")?.textContent === "@acme/portalproject"`)
	b.press(t, "\r")
	reach(t, b, `location.pathname === "/@acme/portal"`)
}

// Bars stay at the edges of the window while the editor scrolls: what the Tab key reaches must not be below them.
func TestPages_NothingThatTheTabKeyReachesIsCovered(t *testing.T) {
	t.Parallel()
	hub := gallery(t)
	b := signedIn(t, hub, "alice")
	const covered = `(e => {
		const box = e.getBoundingClientRect()
		const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
		return e === document.body || e.contains(at) || at?.contains(e) ? "" : e.outerHTML.slice(0,
			120) + " is below " + at?.outerHTML.slice(0, 120)
	})(document.activeElement)`
	for _, path := range []string{"/@acme/web", "/@acme/web/settings", "/@acme"} {
		do(t, b, chromedp.Steps(chromedp.EmulateViewport(1280, 500), chromedp.Navigate(hub.url+path)))
		if path == "/@acme/web" {
			await(t, b, `editor.dataset.ready === "true"`)
		}
		for range 40 {
			b.press(t, kb.Tab)
			if found := do(t, b, chromedp.Evaluate[string](covered)); found != "" {
				t.Errorf("%s: %s", path, found)
			}
		}
	}
}
