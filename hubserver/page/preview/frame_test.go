package preview_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const index = `<!doctype html><html><head><title>App</title></head><body><div id="root"></div><script type="module" ` +
	`src="/src/main.ts"></script></body></html>`

// waitShown waits until the app says that it shows this title.
func (w *world) waitShown(title string) {
	w.Helper()
	js[any](w,
		fmt.Sprintf(`new Promise(ok => { const look = () => said.at(-1) === %q ? ok() : setTimeout(look, 5); look() })`,
			"shows "+title))
}

func TestFrame_PaintsGeneratedApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.start(forms(w)); got.Type != "painted" {
		t.Fatalf("%+v", got)
	}
	w.waitShown("Forms")
	generated := w.said("generated")
	if generated.Count != 3 || len(generated.Previews) != 2 || generated.Changes.Count != 0 {
		t.Errorf("%+v", generated)
	}
	for i, title := range []string{"One", "Two"} {
		got := w.send(update{"draft": update{"title": title, "labels.name": "Name of the pet"}})
		if got.Type != "painted" {
			t.Fatalf("%+v", got)
		}
		w.waitShown(title)
		changes := w.said("generated").Changes
		if changes.Count != 2 || changes.Files[1].Path != "src/generated/index.ts" {
			t.Fatalf("edit %d: %+v", i, changes)
		}
		want := [][2]string{{"-", `export const title: string = "Forms"`},
			{"+", fmt.Sprintf(`export const title: string = %q`, title)}}
		if diff := cmp.Diff(want, changes.Files[1].Lines[:2]); diff != "" {
			t.Error(diff)
		}
	}
	// Saved: it no longer changes anything.
	w.send(update{"saved": update{"title": "Two", "labels.name": "Name of the pet"}, "draft": nil})
	if changes := w.said("generated").Changes; changes.Count != 0 {
		t.Errorf("%+v", changes)
	}
	if got := w.send(update{"changed": map[string]any{"src/theme.css": ":root { --text: red }"}}); got.Type != "painted" {
		t.Errorf("%+v", got)
	}
	if got := w.send(update{"preview": "PlaceOrderForm"}); got.Type != "painted" {
		t.Errorf("%+v", got)
	}
}

func TestFrame_SaysWhatStackAndAppPrint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const module = `export function toArtifacts({ config }) {
  console.warn('made of', config)
  return { artifacts: {} }
}`
	w.start(update{"files": map[string]string{"index.html": index, "src/main.ts": "console.log('the app')"},
		"stack": stack(w, map[string]string{"mod.ts": module}), "saved": update{"a": 1}})
	want := []string{`warn made of {"a":1}`, "info the app"}
	if diff := cmp.Diff(want, w.printed()); diff != "" {
		t.Error(diff)
	}
	// A draft is compared with what the saved config generates, which says nothing again.
	w.send(update{"saved": update{"a": 2}, "draft": update{"a": 3}})
	want[0] = `warn made of {"a":3}`
	if diff := cmp.Diff(want, w.printed()); diff != "" {
		t.Error(diff)
	}
	// The first hundred lines are shown, of all console methods together.
	w.send(update{"changed": map[string]any{
		"src/main.ts": "for (let i = 0; i < 80; i++) { console.log(i); console.info(i) }"}})
	if got := len(w.printed()); got != 100 {
		t.Errorf("%d lines", got)
	}
}

func TestFrame_PassesOnAHundredLinksOfAnApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(showing("for (let i = 0; i < 5000; i++) parent.postMessage({ inner: 'left', address: `/${i}` }, '*')\n" +
		"console.log('all')"))
	js[any](w, "until(e => e.type === 'printed')")
	if got := js[int](w, "events.filter(e => e.type === 'left').length"); got != 100 {
		t.Errorf("%d links", got)
	}
}

// fault is an input that fails, and the event that says so. The message is a part.
type fault struct {
	name   string
	change update
	want   event
}

func failed(kind, file string, line int, message string) event {
	return event{Type: "failed", Kind: kind, File: file, Line: line, Message: message}
}

func lineOf(text, part string) int {
	before, _, _ := strings.Cut(text, part)
	return strings.Count(before, "\n") + 1
}

func TestFrame_NamesFaultAndKeepsLastGoodFrame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, module := folder(w, "app"), folder(w, "stack")["mod.ts"]
	app["src/App.tsx"] = strings.Replace(app["src/App.tsx"], "useEffect(() => top!.postMessage('shows ' + title, '*'))",
		"useEffect(() => { const beat = setInterval(() => top!.postMessage('shows ' + title, '*'), 20); return () => clearInterval(beat) })", 1)
	first := forms(w)
	first["files"] = app
	if got := w.start(first); got.Type != "painted" {
		t.Fatalf("%+v", got)
	}
	with := func(text string) update { return update{"stack": stack(w, map[string]string{"mod.ts": text})} }
	returns := func(code string) update { return with("export function toArtifacts() {\n  return " + code + "\n}\n") }
	file := func(path, text string) update { return update{"changed": map[string]any{path: text}} }
	edit := func(path, old, text string) update {
		return file(path, strings.Replace(app[path], old, text, 1))
	}
	faults := []fault{
		{"the module throws", with(strings.Replace(module, "const schema =",
			"if (path === '/orders') throw new RangeError('no model ' + path); const schema =", 1)),
			failed("generate", "mod.ts", lineOf(module, "const schema ="), "RangeError: no model /orders")},
		{"a module of it throws", update{"stack": stack(w,
			map[string]string{"names.ts": "\nexport const words = 1\nexport const pascal = (s: string) => { null!.x }\n"})},
			failed("generate", "names.ts", 3, "TypeError")},
		{"the module is malformed", with(strings.Replace(module, "const schema =", "const = schema", 1)),
			failed("generate", "mod.ts", lineOf(module, "const schema ="), "Unexpected")},
		{"the module is malformed in a way that only the browser sees", with("export const a = 1\n\nlet x; let x\n"),
			failed("generate", "mod.ts", 3, "SyntaxError")},
		{"the module has no function", with("export const x = 1"),
			failed("generate", "mod.ts", 0, "does not export a function toArtifacts")},
		{"the module imports an address",
			with("\nimport x from 'https://evil.example/x.ts'\nexport const toArtifacts = () => x"),
			failed("generate", "mod.ts", 2, "imports only relative paths")},
		{"the module imports what does not exist", with("import x from './none.ts'\nexport const toArtifacts = () => x"),
			failed("generate", "mod.ts", 1, "is not in the stack's bundle")},
		{"the module is missing", update{"stack": update{"name": "@acme/forms", "version": "2.0.0", "module": "none.ts",
			"files": update{}}}, failed("generate", "none.ts", 0, "no file none.ts")},
		{"the module is too large", with("export const x = '" + strings.Repeat("x", 2<<20) + "'"),
			failed("generate", "mod.ts", 0, "larger than 2 MiB")},
		{"the module loops", with("export function toArtifacts() { for (;;) {} }"),
			failed("generate", "mod.ts", 0, "longer than 5 s")},
		{"the module never ends", with("export const toArtifacts = () => new Promise(() => {})"),
			failed("generate", "mod.ts", 0, "longer than 5 s")},
		{"the module recurses", with("\nexport const toArtifacts = () => toArtifacts()"),
			failed("generate", "mod.ts", 2, "RangeError")},
		{"the module fetches", with("export const toArtifacts = () => {\n  return fetch('/')\n}"),
			failed("generate", "mod.ts", 2, "fetch is not")},
		{"the module's error is no text",
			with("export const toArtifacts = () => {\n" +
				"  globalThis.String = () => ({ slice: () => ({ toString: 1 }) })\n  throw 1\n}"),
			failed("build", "", 0, "Cannot convert object")},
		{"a number", returns("5"), failed("generate", "mod.ts", 0, "returned number, not an object")},
		{"null", returns("null"), failed("generate", "mod.ts", 0, "returned null, not an object")},
		{"no artifacts", returns("{}"), failed("generate", "mod.ts", 0, "without artifacts")},
		{"an artifact that is no text", returns("{artifacts: {'a.ts': {}}}"),
			failed("generate", "mod.ts", 0, `"a.ts" is an object, not a text`)},
		{"an artifact outside", returns("{artifacts: {'../../x': ''}}"),
			failed("generate", "mod.ts", 0, `"../../x" is outside the app root`)},
		{"an absolute artifact", returns("{artifacts: {'/etc/x': ''}}"), failed("generate", "mod.ts", 0, "is absolute")},
		{"an artifact with a control character", returns(`{artifacts: {'a\nb': ''}}`),
			failed("generate", "mod.ts", 0, "control character")},
		{"an artifact that is also a folder", returns("{artifacts: {a: '', 'a/b': ''}}"),
			failed("generate", "mod.ts", 0, "also a folder")},
		{"5,001 artifacts", returns("{artifacts: Object.fromEntries(Array.from({length: 5001}, (_, i) => ['f' + i, '']))}"),
			failed("generate", "mod.ts", 0, "5001 artifacts: at most 5000")},
		{"more than 16 MiB", returns("{artifacts: {a: 'x'.repeat(9 << 20), b: 'x'.repeat(9 << 20)}}"),
			failed("generate", "mod.ts", 0, "larger than 16 MiB")},
		{"501 previews",
			returns("{artifacts: {}, previews: Array.from({length: 501}, () => ({name: 'a', module: 'b', export: 'c'}))}"),
			failed("generate", "mod.ts", 0, "501 previews")},
		{"101 notes", returns("{artifacts: {}, notes: Array.from({length: 101}, () => ({text: 'a'}))}"),
			failed("generate", "mod.ts", 0, "101 notes")},
		{"a preview without a module", returns("{artifacts: {}, previews: [{name: 'a'}]}"),
			failed("generate", "mod.ts", 0, "previews[0]")},
		{"what cannot be sent", returns("{artifacts: {}, notes: [{text: 'a', x: 1n}]}"),
			failed("generate", "mod.ts", 0, "BigInt")},

		{"a file is malformed", edit("src/App.tsx", "  return (", "  const = 1\n  return ("),
			failed("build", "src/App.tsx", lineOf(app["src/App.tsx"], "  return ("), "Unexpected")},
		{"a file is missing", edit("src/App.tsx", "import mark", "import './none'\nimport mark"),
			failed("build", "src/App.tsx", 3, "there is no file src/none")},
		{"a package is missing", edit("src/App.tsx", "import mark", "import axios from 'axios'; axios();\nimport mark"),
			failed("build", "src/App.tsx", 3, `the package "axios" is not in the app`)},
		{"an address", edit("src/App.tsx", "import mark", "import 'https://evil.example/x.js'\nimport mark"),
			failed("build", "src/App.tsx", 3, "loads nothing from other addresses")},
		{"a style sheet is missing", edit("src/main.css", "./theme.css", "./none.css"),
			failed("build", "src/main.css", 1, "there is no file ./none.css")},
		{"malformed JSON", update{"changed": map[string]any{"src/a.json": "{\n\n\"a\": }",
			"src/main.tsx": "import './a.json'"}}, failed("build", "src/a.json", 3, "malformed JSON")},
		{"no index.html", update{"changed": map[string]any{"index.html": nil}},
			failed("build", "index.html", 0, "no index.html")},
		{"a script of the page is missing", edit("index.html", "/src/main.tsx", "/src/none.tsx"),
			failed("build", "index.html", 7, "there is no file /src/none.tsx")},
		{"a malformed import map", edit("index.html", "<title>", "<script type=\"importmap\">{</script><title>"),
			failed("build", "index.html", 5, "malformed import map")},

		{"the app throws", edit("src/App.tsx", "  return (", "  const o: any = undefined; o.field()\n  return ("),
			failed("app", "src/App.tsx", lineOf(app["src/App.tsx"], "  return ("), "TypeError")},
		{"the app throws while it loads", edit("src/main.tsx", "createRoot(", "\nthrow new Error('too early')\ncreateRoot("),
			failed("app", "src/main.tsx", 6, "too early")},
		{"the app's error is no text",
			file("src/main.tsx", "parent.postMessage({ inner: 'error', message: { toString: 1 } }, '*')"),
			failed("app", "src/main.tsx", 0, "unknown failure")},
		{"the app imports a name that does not exist",
			file("src/App.tsx", strings.NewReplacer("forms, title", "forms, title, none", "<h1>", "{none}<h1>").Replace(
				app["src/App.tsx"])), failed("app", "src/App.tsx", lineOf(app["src/App.tsx"], "<h1>"),
				"src/generated/index.ts does not export none")},
		{"only the browser sees that a file is malformed", edit("src/App.tsx", "  return (", "  let x; let x\n  return ("),
			failed("app", "src/App.tsx", lineOf(app["src/App.tsx"], "  return ("), "SyntaxError")},
		{"imports in a circle", update{"changed": map[string]any{"src/a.ts": "import { b } from './b'\nexport const a = b",
			"src/b.ts": "import { a } from './a'\n\nexport const b = a", "src/main.tsx": "import './a'"}},
			failed("app", "src/b.ts", 3, "ReferenceError")},
		{"the app navigates", edit("src/main.tsx", "createRoot(", "location.href = 'http://127.0.0.1:9/'\ncreateRoot("),
			failed("app", "src/main.tsx", 0, "navigated away")},
	}
	for i, f := range faults {
		from := js[int](w, "said.length")
		got := w.send(f.change)
		if got.Type == "painted" { // an app may be painted before it fails
			got = js[event](w, fmt.Sprintf(`until(e => e.n === %d && e.type === "failed")`, got.N))
		}
		ok := got.Type == f.want.Type && got.Kind == f.want.Kind && got.File == f.want.File && got.Line == f.want.Line &&
			strings.Contains(got.Message, f.want.Message)
		if !ok {
			t.Errorf("%s:\n got %s %s %s:%d %q\nwant %s %s %s:%d %q", f.name, got.Type, got.Kind, got.File, got.Line,
				got.Message,
				f.want.Type, f.want.Kind, f.want.File, f.want.Line, f.want.Message)
		}
		still := js[string](w, fmt.Sprintf(
			"new Promise(ok => { const look = () => said.length > %d + 1 ? ok(said.at(-1)) : setTimeout(look, 5); look() })",
			from))
		if want := fmt.Sprintf("shows %d", i-1); i > 0 && still != want || i == 0 && still != "shows Forms" {
			t.Errorf("%s: the frame %q is no longer shown, but %q", f.name, want, still)
		}
		again := forms(w)
		again["files"], again["draft"] = app, update{"title": fmt.Sprint(i)}
		if got := w.send(again); got.Type != "painted" {
			t.Fatalf("after %s: %+v", f.name, got)
		}
		w.waitShown(fmt.Sprint(i))
	}
	t.Logf("%d faults", len(faults))
}
