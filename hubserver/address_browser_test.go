package hubserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/wire"
)

// focused tests that the field of a key has the focus and can be seen.
const focused = `(document.activeElement === field(%[1]q) && field(%[1]q).getBoundingClientRect().top >= 0 && ` +
	`field(%[1]q).getBoundingClientRect().bottom <= innerHeight)`

func TestEditor_OpensAtKeyOfAddress(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	var settings strings.Builder
	for i := range 600 {
		fmt.Fprintf(&settings, `"key%03d": %d,`, i, i)
	}
	hub.settings(`{"large": {` + settings.String() +
		`"last": 1}, "theme": {"sizes": [1], "a.b": "x"}, "enrichments": [{"target": "listPets"}]}`)
	b := signedIn(t, hub, "alice")
	b.visit(t, hub.url+"/@acme/web#key=large.key555")
	await(t, b, focused, "large.key555")

	// While a search hides it.
	act(t, b, `filter("key001")`)
	await(t, b, `keys().length === 1`)
	act(t, b, `location.hash = "#key=" + encodeURIComponent("theme.a\\.b")`)
	await(t, b,
		focused+` && editor.querySelector("[type=search]").value === "" && notes().some(n => n.startsWith("The filter was `+
			`cleared to show theme.a\\.b."))`, `theme.a\.b`)

	// A part of a value, and a group.
	act(t, b, `location.hash = "#key=theme.sizes.0"`)
	await(t, b, focused+` && notes().some(n => n.startsWith("theme.sizes.0 is a part of the value of theme.sizes."))`,
		"theme.sizes")
	act(t, b, `location.hash = "#key=large"`)
	await(t, b, focused, "large.key000")
	act(t, b, `location.hash = "#key=enrichments.0.target"`)
	await(t, b, `document.activeElement.closest(".records")`)

	// No such key, in an address that may be made to be followed.
	act(t, b, `location.hash = "#key=" + encodeURIComponent("none.<img src=x onerror=alert(1)>\u202e")`)
	await(t, b,
		`notes().some(n => n.startsWith("The config has no key none.<img src=x onerror=alert(1)>\\u{202e}. It was removed, or never set."))`)
	act(t, b, `press("Add it")`)
	await(t, b, `document.activeElement === input("Key") && document.activeElement.value.startsWith("none.<img")`)
	act(t, b, `press("Cancel", dialog())`)
	for _, odd := range []string{"#key=%E0%A4%A", "#key=", "#kex=a", `#key=a\`} {
		act(t, b, `location.hash = %q`, odd)
	}
	b.quiet(t)
}

// publishModule publishes a version of @acme/site whose module is a text.
func (h *testHub) publishModule(version, module string) {
	h.Helper()
	manifest := fmt.Sprintf(`{"name": "@acme/site", "version": %q, "preview": {"module": "mod.js", "contract": 1}}`,
		version)
	body := typed{"application/gzip",
		gzipped(h, tarOf(h, file{name: "stack.json", content: manifest}, file{name: "mod.js", content: module}))}
	h.as("alice").put(site+"/versions/"+version, body).want(201)
}

// noting is a stack that notes things about keys, and fails for a setting.
const noting = `export const toArtifacts = ({ settings, basePath }) => {
  if (settings.fail) throw new Error("fail is set")
  return {
    artifacts: {
      [basePath + "/generated/index.ts"]:
        "export const title = " + JSON.stringify(settings.title) + "; export const forms = []",
    },
    notes: [{ level: "warn", at: "theme.size", text: "is small" }, { level: "error", at: "label",
    	text: "must be set" }],
  }
}
`

func TestPane_LinksLeadToKeysAndFiles(t *testing.T) {
	t.Parallel()
	hub := previewHub(t)
	hub.publishModule("2.0.0", noting)
	hub.settings(`{"title": "First", "theme": {"size": 1}}`)
	b := editWithPreview(t, hub, "alice")
	awaitPane(t, b, `part("notes").innerText === "The app says\ntheme.size: is small\nlabel: must be set"`)
	act(t, b, `filter("title"); type("title", "Draft")`)
	act(t, b, `press("theme.size")`)
	await(t, b,
		`document.activeElement === field("theme.size") && field("title").value === "Draft" && location.hash === "#key=theme.size"`)
	act(t, b, `field("title").focus(); press("theme.size")`)
	await(t, b, `document.activeElement === field("theme.size")`)
	act(t, b, `press("label")`)
	await(t, b, `notes().some(n => n.startsWith("The config has no key label."))`)

	// A draft that the stack's module refuses.
	act(t, b, `press("Add it")`)
	addKey(t, b, "fail", "text", "x")
	awaitPane(t, b, `part("failure").innerText.includes("fail is set") && part("place").classList.contains("stale")`)
	act(t, b, `review()`)
	await(t, b, `dialog().querySelector(".generated").textContent.startsWith("With this edit the preview fails: ")`)
	act(t, b, `press("Keep editing", dialog())`)
	act(t, b, `press("Reset", row("fail"))`)
	awaitPane(t, b, `part("failure").hidden && !part("place").classList.contains("stale")`)

	// A file that a push breaks.
	files := filesOf(t, "app")
	for i := range files {
		files[i].content = strings.Replace(files[i].content, "import { forms", "import './none'\nimport { forms", 1)
	}
	hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
	awaitPane(t, b, `part("failure").querySelector("a").getAttribute("href") === "/@acme/web/files/src/App.tsx#L2"`)
	if len(b.warnings) > 0 {
		t.Errorf("it warns: %q", b.warnings)
	}
	b.quiet(t)

	hub.as("alice").put(baseFiles, archive(t, filesOf(t, "app")...)).want(200)
	awaitPane(t, b, `part("failure").hidden`)

	// From the Preview tab, the link opens the editor with the draft.
	do(t, b, chromedp.Navigate(hub.url+"/@acme/web/preview"))
	await(t, b, `document.querySelector(".notes a")`)
	act(t, b, `press("theme.size")`)
	do(t, b, chromedp.WaitVisible("#editor[data-ready] .form"))
	await(t, b, `document.activeElement === field("theme.size") && field("title").value === "Draft"`)
}

func TestEditor_ShowsFindingsOfSchema(t *testing.T) {
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	schema := `{"properties": {"title": {"title": "Title", "description": "Shown at the top.", "type": "string", "default": "Pets"},
		"theme": {"properties": {"color": {"enum": ["teal", "red"]}, "size": {"type": "integer", "minimum": 1}}},
		"even": {"multipleOf": 2}}}`
	hub.as("alice").put(site+"/versions/9.0.0",
		schemaBundle(t, "9.0.0", `{"schema": "s.json"}`, file{name: "s.json", content: schema})).want(201)
	hub.settings(`{"theme": {"color": "teal", "size": 2}, "even": 2}`)
	b := edit(t, hub, "alice")
	await(t, b,
		`state("title") === "unset" && row("title").textContent.includes("Shown at the top.") && row("theme.color").querySelectorAll(".swatches input").length === 2`)

	// What is wrong is said a moment after the last key, before and after the save, and only of what the hub saw.
	act(t, b, `type("theme.size", "0"); type("even", "3")`)
	await(t, b,
		`row("theme.size").querySelector(".error") && row("even").querySelector(".error") && editor.querySelector(".dock").textContent.includes("2 to mend")`)
	act(t, b, `type("theme.size", "00")`)
	await(t, b, `row("theme.size").querySelector(".error").textContent === "A number has no leading zeros."`)
	act(t, b, `type("theme.size", "0")`)
	await(t, b, `/1/.test(row("theme.size").querySelector(".error").textContent)`)

	// It is said, too, while the hub cannot be asked.
	act(t, b, `window.real = fetch; window.fetch = async () => {
		setTimeout(() => { window.lost = true });
		throw new TypeError("the connection was lost");
	}; review()`)
	await(t, b, `window.lost && dialog().querySelectorAll(".found li").length === 2`)
	act(t, b, `window.fetch = real; press("Save", dialog())`)
	await(t, b,
		`notes().some(n => n.startsWith("Saved: 2 changed.")) && row("even").querySelector(".error").textContent.includes("2") && row("theme.size").querySelector(".error")`)
	hub.wantConfig(`{"even":3,"theme.color":"teal","theme.size":0}`)

	// With the schema enforced, nothing is saved, and nothing that was typed is lost.
	hub.as("anna").patch(web, `{"enforceSchema": true}`).want(200)
	act(t, b, `type("theme.size", "3"); type("even", "5"); type("title", "Animals")`)
	act(t, b, `review()`)
	await(t, b, `dialog().querySelector(".found li").textContent.startsWith("even") && !named("Save", dialog())`)
	act(t, b, `press("Keep editing", dialog())`)
	await(t, b, `row("even").querySelector(".error") && field("even").ariaInvalid === "true"`)
	if got := run[string](t, b,
		`return [field("even").value, field("theme.size").value, field("title").value].join()`); got != "5,3,Animals" {
		t.Errorf("the fields hold %q", got)
	}
	hub.wantConfig(`{"even":3,"theme.color":"teal","theme.size":0}`)
	b.visit(t, hub.url+"/@acme/web?again")
	await(t, b, `field("even").value === "5" && field("title").value === "Animals"`)
	act(t, b, `type("even", "4")`)
	await(t, b, `!editor.querySelector(".error")`)
	save(t, b)
	await(t, b, `notes().some(n => n.startsWith("Saved: 1 added, 2 changed."))`)
	saved := hub.wantConfig(`{"even":4,"theme.color":"teal","theme.size":3,"title":"Animals"}`)
	if saved.UpdatedVia != wire.ViaPage {
		t.Errorf("it was written through %s", saved.UpdatedVia)
	}
	b.quiet(t)
}
