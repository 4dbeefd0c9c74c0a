package hubserver_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
)

func TestEditor_EditReviewSave(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(
		`{"title": "Pets", "theme": {"colour": "teal", "density": 1.0, "big": 12345678901234567890, "dark": true, "old": null}, "fonts": ["Inter"]}`)
	b := edit(t, hub, "alice")
	act(t, b,
		`type("theme.colour", "plum"); type("theme.density", "1.00"); field("theme.dark").click(); type("fonts", '["Inter", 2.50]')`)
	pressIn(t, b, "theme.old", "Remove")
	addKey(t, b, `theme.new\.key`, "number", "0.10")
	await(t, b, `state("theme.new\\.key") === "added" && document.activeElement === field("theme.new\\.key")`)
	if got, want := run[string](t, b, `return editor.querySelector(".dock .only").textContent`), "6 changes"; got != want {
		t.Errorf("the dock says %q, want %q", got, want)
	}
	act(t, b, `review()`)
	want := []string{
		`changed: fonts: elements: 1 added+ [1] 2.50`, `changed: theme.colour: "teal" → "plum"`,
		`changed: theme.dark: true → false`,
		`changed: theme.density: 1.0 → 1.00`, `added: theme.new\.key: 0.10`, `removed: theme.old: null`,
	}
	if diff := cmp.Diff(want, run[[]string](t, b, `return changes()`)); diff != "" {
		t.Error(diff)
	}
	act(t, b, `change(dialog().querySelector(".message input"), "New look")`)
	act(t, b, `press("Save", dialog())`)
	await(t, b, `notes().some(n => n.startsWith("Saved: 1 added, 4 changed, 1 removed."))`)
	await(t, b, `document.getElementById("written").textContent.includes("by alice · “New look”") &&
		document.querySelector(".tabs [href$=history]").textContent === "History 2"`)
	saved := hub.wantConfig(
		`{"fonts":["Inter",2.50],"theme.big":12345678901234567890,"theme.colour":"plum","theme.dark":false,"theme.density":1.00,"theme.new\\.key":0.10,"title":"Pets"}`)
	if saved.UpdatedVia != wire.ViaPage || saved.UpdatedBy != "alice" {
		t.Errorf("it was written by %s through %s", saved.UpdatedBy, saved.UpdatedVia)
	}
	if run[bool](t, b, `return editor.querySelector(".dock") || keys().some(k => k.dataset.state !== "same")`) {
		t.Error("there are still changes")
	}

	// Undo the save, after a reload.
	b.visit(t, hub.url+"/@acme/web")
	act(t, b, `press("Undo last save")`)
	if got := run[[]string](t, b, `return changes()`); len(got) != 6 {
		t.Errorf("the undo shows %q", got)
	}
	act(t, b, `press("Undo the save", dialog())`)
	await(t, b, `notes().some(n => n.startsWith("Undone"))`)
	hub.wantConfig(
		`{"fonts":["Inter"],"theme.big":12345678901234567890,"theme.colour":"teal","theme.dark":true,"theme.density":1.0,"theme.old":null,"title":"Pets"}`)
	b.quiet(t)
}

func TestEditor_InvalidValuesAreKeptAndNotSaved(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"a": 1, "b": {"c": 2}}`)
	b := edit(t, hub, "alice")
	act(t, b, `type("a", "1,5"); review()`)
	await(t, b,
		`!dialog() && notes().some(n => n.includes("cannot be saved yet: a")) && document.activeElement === field("a")`)
	if got := run[string](t, b,
		`return row("a").textContent + field("a").getAttribute("aria-invalid")`); !strings.Contains(got, "1.5") ||
		!strings.HasSuffix(got, "true") {
		t.Errorf("the row says %q", got)
	}
	act(t, b, `type("a", "1.5")`)
	await(t, b, `notes().length === 0`)
	for key, want := range map[string]string{"b": "below it", "a.x": "holds a value", "a": "exists already",
		`x\y`: "followed by"} {
		addKey(t, b, key, "text", "x")
		await(t, b, `dialog().querySelector(".error").textContent.includes(%q)`, want)
	}
	hub.wantConfig(`{"a":1,"b.c":2}`)
	b.quiet(t)
}

// A value that looks like a credential is a finding, and blocks the save of a public project. A reference is none.
func TestEditor_CredentialsAndReferences(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"key": "x", "other": {"$secret": "OTHER_KEY"}}`)
	hub.as("alice").patch(web, `{"visibility": "public"}`).want(200)
	b := edit(t, hub, "alice")
	await(t, b, `field("other").value === "OTHER_KEY"`)
	act(t, b, `type("key", "ghp_0123456789abcdefghijABCDEFGHIJ012345")`)
	await(t, b, `row("key").querySelector(".error")?.textContent.startsWith("This looks like a GitHub token")`)
	act(t, b, `review()`)
	await(t, b,
		`dialog().textContent.includes("these look like credentials: /key") && !dialog().querySelector(".primary")`)
	act(t, b, `press("Keep editing", dialog())`)
	act(t, b, `touch("key")`)
	await(t, b, `row("key").querySelector("select.type")`)
	act(t, b, `change(row("key").querySelector("select.type"), "secret")`)
	await(t, b, `field("key").placeholder === "STRIPE_KEY"`)
	act(t, b, `type("key", "my key")`)
	await(t, b, `row("key").querySelector(".error")?.textContent.includes("such as STRIPE_KEY")`)
	act(t, b, `type("key", "MY_KEY")`)
	save(t, b)
	await(t, b, `notes().some(n => n.startsWith("Saved: 1 changed."))`)
	hub.wantConfig(`{"key":{"$secret":"MY_KEY"},"other":{"$secret":"OTHER_KEY"}}`)
	b.quiet(t)
}

func TestEditor_MergesConflicts(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"a": 1, "b": 2, "c": 3}`)
	b := edit(t, hub, "alice")

	// Another key: merged.
	act(t, b, `type("a", "10")`)
	hub.as("anna").put(clientCfg, `{"settings": {"a": 1, "b": 20, "c": 3}}`).want(200)
	save(t, b)
	await(t, b, `notes().some(n => n.startsWith("Saved: 1 changed. Merged with what others saved: b."))`)
	hub.wantConfig(`{"a":10,"b":20,"c":3}`)

	// The same keys: a choice, and nothing that was typed is lost.
	act(t, b, `type("a", "11"); type("b", "22")`)
	pressIn(t, b, "c", "Remove")
	hub.as("anna").put(clientCfg, `{"settings": {"a": 12, "b": 21, "c": 33, "d": 4}}`).want(200)
	save(t, b)
	await(t, b, `dialog()?.querySelectorAll(".conflict").length === 3`)
	want := []string{"abase 10Theirs (anna) 12Yours 11", "bbase 20Theirs (anna) 21Yours 22",
		"cbase 3Theirs (anna) 33Yours removed"}
	if diff := cmp.Diff(want, run[[]string](t, b,
		`return [...dialog().querySelectorAll(".conflict")].map(c => c.textContent)`)); diff != "" {
		t.Error(diff)
	}
	act(t, b, `press("Use the chosen values", dialog())`)
	await(t, b, `dialog().querySelector("[role=alert]").textContent === "Choose a value for each key."`)
	act(t, b, `press("Decide later", dialog())`)
	await(t, b, `!dialog() && field("a").value === "11" && field("b").value === "22" && state("c") === "removed"`)
	await(t, b, `notes().some(n => n.startsWith("anna saved a newer config."))`)
	act(t, b, `press("Merge")`)
	act(t, b,
		`const [x, y, z] = dialog().querySelectorAll(".conflict"); x.querySelector("[value=mine]").click(); y.querySelector("[value=theirs]").click(); z.querySelector("[value=mine]").click()`)
	act(t, b, `press("Use the chosen values", dialog())`)
	await(t, b, `!dialog() && field("d").value === "4" && field("b").value === "21"`)
	hub.wantConfig(`{"a":12,"b":21,"c":33,"d":4}`)
	act(t, b, `review()`)
	if diff := cmp.Diff([]string{"changed: a: 12 → 11", "removed: c: 33"},
		run[[]string](t, b, `return changes()`)); diff != "" {
		t.Error(diff)
	}
	act(t, b, `press("Save", dialog())`)
	await(t, b, `notes().some(n => n.startsWith("Saved: 1 changed, 1 removed."))`)
	hub.wantConfig(`{"a":11,"b":21,"d":4}`)
	b.quiet(t)
}

func TestEditor_FollowsWhatOthersSave(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"a": 1, "b": 2}`)
	b := edit(t, hub, "alice")
	act(t, b, `field("b").focus()`)
	hub.as("anna").put(clientCfg, `{"settings": {"a": 10, "b": 2, "c": 3}}`).want(200)
	await(t, b,
		`field("a").value === "10" && field("c").value === "3" && notes().some(n => n.startsWith("anna saved through push: 1 added, 1 changed. It is shown here."))`)
	if !run[bool](t, b, `return document.activeElement === field("b")`) {
		t.Error("the focus was moved")
	}

	// With changes of one's own, there is an offer to merge.
	act(t, b, `type("b", "22")`)
	hub.as("anna").put(clientCfg, `{"settings": {"a": 11, "b": 2, "c": 3}}`).want(200)
	await(t, b,
		`field("a").value === "10" && field("b").value === "22" && notes().some(n => n.startsWith("anna saved through push: 1 changed. Your changes are based on the one before."))`)
	act(t, b, `press("Merge")`)
	await(t, b,
		`field("a").value === "11" && field("b").value === "22" && state("a") === "same" && state("b") === "changed" && !notes().some(n => n.startsWith("anna"))`)

	// One's own save is no news.
	save(t, b)
	await(t, b, `notes().some(n => n.startsWith("Saved: 1 changed."))`)
	hub.as("anna").put(clientCfg, `{"settings": {"a": 11, "b": 22}}`).want(200)
	await(t, b, `keys().length === 2`)
	if got := run[[]string](t, b, `return notes()`); len(got) != 1 ||
		!strings.HasPrefix(got[0], "anna saved through push: 1 removed.") {
		t.Errorf("the notices are %q", got)
	}
	b.quiet(t)
}

func TestEditor_DraftSurvivesEndOfSession(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"a": 1, "b": 2}`)
	b := edit(t, hub, "alice")
	act(t, b, `type("a", "10"); review()`)
	hub.sql(`DELETE FROM sessions`)
	act(t, b, `press("Save", dialog())`)
	await(t, b,
		`notes().some(n => n.startsWith("Your session has ended. Nothing was saved; your changes are kept in this tab."))`)
	act(t, b, `press("Sign in and return")`)
	do(t, b, chromedp.WaitVisible("[name=token]"))
	do(t, b, chromedp.SendKeys("[name=token]", hub.token("alice", wire.Scopes...)+kb.Enter))
	do(t, b, chromedp.WaitVisible("#editor[data-ready] .form"))
	await(t, b, `field("a").value === "10" && notes().some(n => n.startsWith("Restored your unsaved changes to 1 key."))`)

	// A draft is never applied to a newer config without asking.
	if len(b.warnings) != 0 {
		t.Errorf("signing in warns: %q", b.warnings)
	}
	hub.as("anna").put(clientCfg, `{"settings": {"a": 1, "b": 20}}`).want(200)
	b.visit(t, hub.url+"/@acme/web?again")
	await(t, b,
		`field("a").value === "1" && notes().some(n => n.startsWith("This tab has unsaved changes to 1 key, made before anna saved a newer config."))`)
	hub.as("anna").put(clientCfg, `{"settings": {"a": 5, "b": 20}}`).want(200)
	b.visit(t, hub.url+"/@acme/web?conflict")
	act(t, b, `press("Apply them here")`)
	await(t, b, `dialog()?.querySelectorAll(".conflict").length === 1`)
	act(t, b, `press("Decide later", dialog())`)
	await(t, b,
		`!dialog() && field("a").value === "5" && notes().some(n => n.startsWith("This tab has unsaved changes to 1 key"))`)
	act(t, b, `press("Apply them here")`)
	act(t, b, `dialog().querySelector("[value=mine]").click()`)
	act(t, b, `press("Use the chosen values", dialog())`)
	await(t, b, `field("a").value === "10" && field("b").value === "20" && state("a") === "changed"`)

	if b.mu.Lock(); len(b.warnings) != 1 || b.warnings[0] != "beforeunload" {
		t.Errorf("leaving with changes warns %q", b.warnings)
	}
	b.mu.Unlock()

	// Another user sees nothing of it, and it waits for who made it.
	b.signIn(t, hub.session("anna"))
	b.visit(t, hub.url+"/@acme/web?other")
	await(t, b, `field("a").value === "5" && notes().length === 0 && state("a") === "same"`)
	b.signIn(t, hub.session("alice"))
	b.visit(t, hub.url+"/@acme/web?back")
	await(t, b, `field("a").value === "10" && state("a") === "changed"`)
	act(t, b, `press("Discard")`)
	b.visit(t, hub.url+"/@acme/web?gone")
	await(t, b, `state("a") === "same" && notes().length === 0`)
	hub.wantConfig(`{"a":5,"b":20}`)
}

func TestEditor_ReadersSeeNoFields(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.catalog()
	hub.publicProject("web")
	hub.settings(`{"a": "x", "enrichments": [{"target": "listPets"}]}`)
	for _, user := range []string{"", "rita", "sam"} {
		b := edit(t, hub, user)
		const fields = `return editor.querySelectorAll("[data-key] :is(input, textarea, select, button)").length`
		act(t, b, `editor.querySelector(".items summary").click()`)
		await(t, b, `editor.querySelector(".items .open").textContent.startsWith('target"listPets"')`)
		if n := run[int](t, b, fields); n != 0 {
			t.Errorf("%q sees %d fields", user, n)
		}
		if got := run[string](t, b,
			`return keys().map(k => k.querySelector(".name").textContent + k.querySelector(".control").textContent).join()`); got != `a"x"` {
			t.Errorf("%q sees %q", user, got)
		}
		b.quiet(t)
	}
}

func TestEditor_EnrichmentsAreRecords(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.as("alice").put(site+"/versions/1.0.0", bundle(t, "1.0.0")).want(201)
	hub.as("alice").post("/v1/apis/upload?account=acme&slug=pets", `{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"},
		"paths": {"/pets": {"get": {"operationId": "listPets", "responses": {"200": {"description": "ok"}}}}}, "components": {"schemas": {"Pet": {"properties": {"name": {}}}}}}`).want(201)
	hub.as("alice").post("/v1/projects", newProject("web")).want(201)
	hub.settings(`{"enrichments": [{"target": "listPets", "order": 1.0}, {"target": "Pet.age"}]}`)
	b := edit(t, hub, "alice")
	await(t, b,
		`item(1).textContent.includes("GET /pets") && item(2).textContent.includes("not in the API") && editor.querySelector(".records .help").textContent.startsWith("1 of 1 operations of @acme/pets")`)
	act(t, b, `open(2)`)
	await(t, b,
		`member(2, "target").closest("[data-member]").querySelector(".advice").textContent === "@acme/pets has no such operation, schema or property."`)
	act(t, b, `change(member(2, "target"), "Pet.name")`)
	await(t, b, `!editor.querySelector(".advice") && item(2).textContent.includes("field of Pet")`)
	act(t, b, `press("Add", editor.querySelector(".records > .actions"))`)
	await(t, b, `document.activeElement === member(3, "target")`)
	act(t, b, `change(document.activeElement, "GET /pets")`)
	await(t, b, `item(3).querySelector("b").textContent === "GET /pets" && document.activeElement.value === "GET /pets"`)
	act(t, b, `change(item(3).querySelector("form input"), "label")`)
	act(t, b, `press("Add member", item(3))`)
	await(t, b, `member(3, "label")`)
	act(t, b, `change(member(3, "label"), "All")`)
	act(t, b, `press("Up", item(3))`)
	await(t, b,
		`item(2).querySelector("b").textContent === "All" && document.activeElement === item(2).querySelector("summary")`)
	act(t, b, `open(1)`)
	await(t, b, `member(1, "order")`)
	act(t, b, `change(member(1, "order"), "1.")`)
	await(t, b, `item(1).textContent.includes("to mend")`)
	act(t, b, `review()`)
	await(t, b,
		`!dialog() && notes().some(n => n.includes("cannot be saved yet: enrichments")) && member(1, "order").value === "1."`)
	act(t, b, `change(member(1, "order"), "1.50")`)
	act(t, b, `review()`)
	await(t, b, `dialog()`)
	want := []string{`changed: enrichments: elements: 1 added, 2 changed~ [0] {"order":1.0,"target":"listPets"} → ` +
		`{"order":1.50,"target":"listPets"}~ [1] {"target":"Pet.age"} → {"label":"All","target":"GET /pets"}+ [2] {"target":"Pet.name"}`}
	if diff := cmp.Diff(want, run[[]string](t, b, `return changes()`)); diff != "" {
		t.Error(diff)
	}
	act(t, b, `press("Save", dialog())`)
	await(t, b, `notes().some(n => n.startsWith("Saved: 1 changed."))`)
	hub.wantConfig(
		`{"enrichments":[{"order":1.50,"target":"listPets"},{"label":"All","target":"GET /pets"},{"target":"Pet.name"}]}`)

	// With keys, and as a whole.
	act(t, b, `item(1).querySelector("summary").focus()`)
	do(t, b, chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(1))) // alt
	await(t, b, `item(2).textContent.includes("listPets") && document.activeElement === item(2).querySelector("summary")`)
	act(t, b, `press("Reset", editor.querySelector(".records"))`)
	await(t, b, `item(1).textContent.includes("listPets") && !editor.querySelector(".dock")`)
	act(t, b, `press("Remove all")`)
	await(t, b, `state("enrichments") === "removed" && !editor.querySelector(".items")`)
	act(t, b, `press("Restore", row("enrichments"))`)
	await(t, b, `editor.querySelectorAll(".items > li").length === 3 && !editor.querySelector(".dock")`)
	b.quiet(t)
}

func TestEditor_ShowsWhatTheSchemaSays(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"tags": ["a"], "theme": {"colour": "teal", "size": 1.5}}`)
	const schema = `{"properties": {
		"tags": {"type": "array", "items": {"type": "string"}},
		"title": {"title": "Title <img src=x>", "description": "Shown at the top.", "type": "string", "default": "Pets",
			"maxLength": 5},
		"theme": {"properties": {"colour": {"enum": ["teal", "plum"]}, "size": {"type": "number", "minimum": 1,
			"maximum": 2}}}
	}}`
	hub.as("alice").put(site+"/versions/2.0.0",
		schemaBundle(t, "2.0.0", `{"schema": "s.json"}`, file{name: "s.json", content: schema})).want(201)
	b := edit(t, hub, "alice")
	await(t, b, `state("title") === "unset" && row("title").querySelector(".name").textContent === "Title <img src=x>" &&
		row("title").querySelector(".was").textContent === "default “Pets”" && row("title").textContent.includes("Shown at the top.")`)
	if !run[bool](t, b, `return Boolean(field("theme.size").compareDocumentPosition(named("Remove", row("theme.size"))) & 4)`) {
		t.Error("the Tab key leads to what removes a field before the field")
	}
	act(t, b, `type("title", "Animals"); pick("theme.colour", "plum"); type("theme.size", "2.5"); type("tags", "a\n\n\"b\"\n")`)
	if got := run[string](t, b, `return field("tags").value`); got != "a\n\n\"b\"\n" {
		t.Errorf("the lines became %q while they were typed", got)
	}
	await(t, b,
		`row("title").querySelector(".error") && row("theme.size").querySelector(".error") && row("theme.size").querySelector("[type=range]").max === "2"`)
	act(t, b, `review()`)
	want := []string{`changed: tags: elements: 1 added+ [1] "\"b\""`, `changed: theme.colour: "teal" → "plum"`,
		"changed: theme.size: 1.5 → 2.5", `added: title: "Animals"`}
	await(t, b, `dialog().querySelectorAll(".found li").length === 2`)
	if diff := cmp.Diff(want, run[[]string](t, b, `return changes()`)); diff != "" {
		t.Error(diff)
	}
	act(t, b, `press("Keep editing", dialog())`)
	act(t, b, `press("Reset", row("title"))`)
	await(t, b, `state("title") === "unset" && document.activeElement === field("title")`)

	// The review says it, too, when the role was taken away meanwhile.
	hub.demote("alice")
	act(t, b, `type("title", "Owls"); review()`)
	await(t, b, `dialog().querySelector(".notice.bad")?.textContent.includes("only writers and admins") &&
		!dialog().querySelector(".primary")`)
	b.visit(t, hub.url+"/@acme/web")
	await(t, b, `notes()[0] === "This tab keeps your unsaved changes to 4 keys until you may write to the project again."`)
}

func TestEditor_EditsAllKeysAsJSON(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"title": "Pets", "size": 1.0, "old": true, "theirs": 1, "pages": {"index.html": 1}}`)
	b := edit(t, hub, "alice")
	act(t, b, `press("JSON")`)
	await(t, b, `input("Settings").value.includes('"index.html": 1')`)
	act(t, b, `change(input("Settings"), "{"); press("Apply", dialog())`)
	await(t, b, `dialog().querySelector(".error")?.textContent.includes("position 1")`)

	// What others save meanwhile stays.
	hub.as("anna").put(clientCfg, `{"settings": {"title": "Pets", "size": 1.0, "old": true, "theirs": 2,
		"pages": {"index.html": 1}}}`).want(200)
	await(t, b, `field("theirs").value === "2"`)
	act(t, b, `change(input("Settings"), '{"title": "Pets", "size": 2.50, "theirs": 1, "theme": {"colour": "teal"}, ' +
		'"pages": {"index.html": 2}}'); press("Apply", dialog())`)
	await(t, b, `!dialog() && state("old") === "removed" && state("size") === "changed" && state("title") === "same" &&
		state("theirs") === "same" && state("theme.colour") === "added"`)
	save(t, b)
	await(t, b, `notes().some(n => n.startsWith("Saved: 1 added, 2 changed, 1 removed."))`)
	hub.wantConfig(`{"pages.index\\.html":2,"size":2.50,"theirs":2,"theme.colour":"teal","title":"Pets"}`)

	// For the same key, the choice is asked for.
	act(t, b, `press("JSON")`)
	await(t, b, `dialog()`)
	hub.as("anna").put(clientCfg, `{"settings": {"size": 3}}`).want(200)
	await(t, b, `field("size").value === "3"`)
	act(t, b, `change(input("Settings"), '{"size": 4}')
		press("Apply", dialog())`)
	await(t, b, `dialog()?.textContent.includes("anna saved a key that you changed too")`)
	act(t, b, `press("Decide later", dialog())`)
	await(t, b, `editor.textContent.includes("5 keys")`)
	hub.wantConfig(`{"size":3}`)
	b.quiet(t)
}

func TestEditor_SaysThatASaveIsUncertain(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"a": 1}`)
	b := edit(t, hub, "alice")
	act(t, b, `window.real = fetch; window.fetch = async (at, options) => {
		await real(at, options);
		throw new TypeError("the connection was lost");
	}; type("a", "2")`)
	save(t, b)
	await(t, b, `notes().some(n => n.startsWith("The hub could not be reached. The save may have been applied"))`)
	hub.wantConfig(`{"a":2}`)
	act(t, b, `window.fetch = real; press("Try again")`)
	await(t, b, `notes().some(n => n.startsWith("alice saved the same changes already.")) && !editor.querySelector(".dock")`)

	// The hub's event says it as well.
	act(t, b, `window.fetch = async (at, options) => {
		const answer = await real(at, options);
		if (options.method === "PATCH") throw new TypeError("the connection was lost");
		return answer;
	}; type("a", "3")`)
	save(t, b)
	await(t, b, `notes().some(n => n.startsWith("alice saved through the project page: 1 changed. It is shown here.")) &&
		!editor.querySelector(".dock") && !notes().some(n => n.startsWith("The hub could not be reached"))`)
	b.quiet(t)
}

func TestEditor_WorksWithKeysOnly(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	hub.settings(`{"theme": {"colour": "teal", "size": 1}, "title": "Pets"}`)
	b := edit(t, hub, "alice")
	keys := func(text string, opts ...chromedp.KeyOption) { do(t, b, chromedp.KeyEvent(text, opts...)) }
	keys("?")
	await(t, b, `document.activeElement.matches("#shortcuts:popover-open")`)
	for _, found := range b.audit(t) {
		t.Error(found)
	}
	keys(kb.Escape)
	await(t, b, `!document.querySelector(":popover-open") && document.activeElement === document.body`)
	keys("/")
	await(t, b, `document.activeElement.type === "search"`)
	keys(kb.Backspace + "size") // the protocol types a character whose key press was handled
	await(t, b, `keys().length === 1`)
	for !run[bool](t, b, `return document.activeElement === field("theme.size")`) {
		keys(kb.Tab)
		if run[bool](t, b, `return document.activeElement === document.body`) {
			t.Fatal("tab leads past the field")
		}
	}
	keys(kb.End + "0")
	await(t, b, `state("theme.size") === "changed"`)
	keys("s", chromedp.KeyModifiers(2)) // control
	await(t, b, `dialog() && document.activeElement.textContent === "Save"`)
	keys(kb.Escape)
	await(t, b, `!document.querySelector("dialog.ask") && document.activeElement === field("theme.size")`)
	keys("s", chromedp.KeyModifiers(2))
	await(t, b, `dialog()`)
	keys(kb.Enter)
	await(t, b, `notes().some(n => n.startsWith("Saved: 1 changed."))`)
	hub.wantConfig(`{"theme.colour":"teal","theme.size":10,"title":"Pets"}`)
	b.quiet(t)
}

func TestEditor_TenThousandKeys(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	var settings strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&settings, `,"key%d":"value %d of a long list"`, i, i)
	}
	hub.settings(`{"large": {` + settings.String()[1:] + `}}`)
	b := edit(t, hub, "alice")
	// The target: a search takes less than 50 ms; the figures are in the log.
	figures := do(t, b, chromedp.Evaluate[string](`(async () => {
		const times = {ready: Math.round(performance.getEntriesByName("editor ready")[0].startTime)};
		const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
		const time = async (name, element, value) => {
			await new Promise(done => setTimeout(done, 300));
			const start = performance.now();
			element.value = value;
			element.dispatchEvent(new Event("input", {bubbles: true}));
			await painted();
			times[name] = Math.round(performance.now() - start);
		};
		const field = document.querySelector("#editor [data-key] .control input");
		for (const text of ["a", "ab", "abc"]) await time("type " + text, field, text);
		const search = document.querySelector("#editor [type=search]");
		for (const query of ["key7", "key77", "key777", "list long", "nothing",
			""]) await time("search " + JSON.stringify(query), search, query);
		return JSON.stringify(times);
	})()`, chromedp.EvalAwaitPromise))
	t.Logf("milliseconds: %s", figures)
	act(t, b, `filter("key7777")`)
	await(t, b, `keys().length === 1 && editor.querySelector(".tools [role=status]").textContent === "1 of 10,000 keys"`)
	act(t, b, `type("large.key7777", "changed")`)
	save(t, b)
	await(t, b, `notes().some(n => n.startsWith("Saved: 2 changed."))`)
	b.quiet(t)
}

func TestEditor_ShowsPayloadsAsText(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	settings := map[string]any{"large": strings.Repeat("<script>alert(1)</script>", 20_000)}
	records := []any{}
	for i, p := range payloads() {
		settings[p] = p
		if i%3 == 0 { // a row for each would take a slow browser a minute to draw
			settings["group"+strconv.Itoa(i%7)+p] = map[string]string{p: p}
		}
		records = append(records, map[string]string{"target": p, p: p})
	}
	settings["enrichments"] = records
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	hub.settings(string(text))
	b := edit(t, hub, "alice")
	await(t, b, `(scrollTo(0, document.body.scrollHeight), !editor.querySelector(".more")) && keys().length > %d`,
		len(payloads()))
	act(t, b,
		`keys().slice(0, 300).forEach(r => { const f = r.querySelector("textarea, input"); if (f) change(f, f.value + "<img src=x onerror=alert(1)>") })`)
	act(t, b, `editor.querySelectorAll(".items summary")[3].click()`)
	save(t, b)
	await(t, b, `notes().some(n => n.startsWith("Saved"))`)
	if n := run[int](t, b,
		`return document.querySelectorAll("#editor :is(img, script, iframe, object, embed, math, style, base, meta, link, video, marquee, a:not(.nav a))").length`); n != 0 {
		t.Errorf("%d elements came to be", n)
	}
	b.quiet(t)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if !strings.HasPrefix(url, hub.url+"/") {
			t.Errorf("the page asks for %s", url)
		}
	}
}
