package preview_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"example.com/projecthub/hubclient/flat"
)

// local is a project as it is on disk, made into what a page sends.
func local(w *world, dir, name, appRoot string) update {
	w.Helper()
	bundle := files(w, path.Join(dir, ".tool", name))
	var about struct {
		Name, Version string
		Preview       struct{ Module string }
	}
	var client struct{ Settings jsontext.Value }
	decode(w, bundle["stack.json"], &about)
	decode(w, bundle["client.json"], &client)
	var api any
	if err := yaml.Unmarshal([]byte(files(w, dir)["openapi.yaml"]), &api); err != nil {
		w.Fatal(err)
	}
	return update{
		"files": files(w, path.Join(dir, appRoot)), "api": quote(w, api), "saved": config(w, client.Settings),
		"packages": true,
		"stack":    update{"name": about.Name, "version": about.Version, "module": about.Preview.Module, "files": bundle},
	}
}

func decode(w *world, text string, v any) {
	w.Helper()
	if err := json.Unmarshal([]byte(text), v, json.MatchCaseInsensitiveNames(true)); err != nil {
		w.Fatal(err)
	}
}

// config returns settings as a flat config.
func config(w *world, settings jsontext.Value) update {
	w.Helper()
	folded, err := flat.Fold(settings)
	if err != nil {
		w.Fatal(err)
	}
	var keys update
	decode(w, string(folded.Canonical()), &keys)
	return keys
}

// with returns a config with one key changed.
func with(all any, key string, value any) update {
	changed := maps.Clone(all.(update))
	changed[key] = value
	return changed
}

// files returns the files below a directory.
func files(w *world, dir string) map[string]string {
	w.Helper()
	all := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// inApp waits until the app that is shown has what a script looks for, and returns it.
func inApp[T any](w *world, script string) (value T) {
	w.Helper()
	targets, err := chromedp.Targets(w.Context)
	if err != nil {
		w.Fatal(err)
	}
	at := slices.IndexFunc(targets, func(t *target.Info) bool { return t.Type == "iframe" })
	if at < 0 {
		w.Fatal("there is no frame")
	}
	ctx, cancel := chromedp.NewContext(w.Context, chromedp.WithTargetID(targets[at].TargetID),
		chromedp.WithDetachOnCancel())
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Steps()); err != nil {
		w.Fatal(err)
	}
	tree, err := chromedp.Call(ctx, cdpage.GetFrameTree, cdp.Empty{})
	if err != nil {
		w.Fatal(err)
	}
	app := tree.FrameTree.ChildFrames // the first one is shown, others are made ahead
	if len(app) == 0 {
		w.Fatal("no frame shows an app")
	}
	isolated, err := chromedp.Call(ctx, cdpage.CreateIsolatedWorld,
		cdpage.CreateIsolatedWorldParams{FrameID: app[0].Frame.ID})
	if err != nil {
		w.Fatal(err)
	}
	value, err = chromedp.Run(ctx,
		chromedp.Evaluate[T](script, func(p *runtime.EvaluateParams) { p.ContextID = isolated.ExecutionContextID }))
	if err != nil {
		w.Fatal(err)
	}
	return value
}

// app is what the app shows.
type app struct {
	Title, Colour string
	Forms, Labels []string
}

const petStore = `({
	title: document.querySelector('h1').textContent,
		colour: getComputedStyle(document.querySelector('main')).getPropertyValue('--accent'),
	forms: [...document.querySelectorAll('nav a')].map(a => a.textContent),
		labels: [...document.querySelectorAll('form label')].map(l => l.firstChild.textContent),
})`

func (w *world) wantApp(want app) {
	w.Helper()
	if diff := cmp.Diff(want, inApp[app](w, petStore)); diff != "" {
		w.Error(diff)
	}
}

func (w *world) wantPainted(got event) {
	w.Helper()
	if got.Type != "painted" {
		w.Fatalf("%+v", got)
	}
}

func TestStack_ReactForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := local(w, "../../../cmd/internal/sample/petstore", "web", "apps/web")
	w.wantPainted(w.start(first))
	want := app{Title: "Pet store", Colour: "teal", Forms: []string{"Find pets", "Offer a pet", "Show one pet"},
		Labels: []string{"Limit"}}
	w.wantApp(want)
	previews := w.said("generated").Previews
	if len(previews) != 3 || previews[1].Name != "Offer a pet" {
		t.Errorf("%+v", previews)
	}

	t.Run("an edit of the theme", func(t *testing.T) {
		w.wantPainted(w.send(update{"draft": with(first["saved"], "theme.colour", "plum")}))
		edited := want
		edited.Colour = "plum"
		w.wantApp(edited)
		if changes := w.said("generated").Changes; changes.Count != 1 || changes.Files[0].Path != "src/generated/index.ts" {
			t.Errorf("%+v", changes)
		}
	})
	t.Run("a form of its own, with labels in the order of enrichments", func(t *testing.T) {
		w.wantPainted(w.send(update{"draft": nil, "preview": "Offer a pet"}))
		want := []string{"What is its name?", "What is it?"}
		if diff := cmp.Diff(want, inApp[[]string](w,
			`[...document.querySelectorAll('form label')].map(l => l.firstChild.textContent)`)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an edit of a label and of the order", func(t *testing.T) {
		w.wantPainted(w.send(update{"preview": nil, "draft": with(first["saved"], "enrichments", []update{
			{"target": "createPet", "label": "Sell a pet", "order": 1}, {"target": "Pet.kind", "label": "Kind", "order": 1},
			{"target": "Pet.name", "order": 2},
		})}))
		w.wantApp(app{Title: "Pet store", Colour: "teal",
			Forms: []string{"Sell a pet", "List the pets that are for sale", "Show one pet"}, Labels: []string{"Kind", "Name"}})
	})
	t.Run("an enrichment of what the API does not have", func(t *testing.T) {
		w.wantPainted(
			w.send(update{"draft": with(first["saved"], "enrichments", []update{{"target": "Pet.nmae", "label": "Name"}})}))
		notes := w.said("generated").Notes
		if len(notes) != 1 || notes[0].Level != "warn" || notes[0].At != "enrichments" ||
			!strings.Contains(notes[0].Text, "Pet.nmae") {
			t.Errorf("%+v", notes)
		}
	})
}

func TestStack_PlainHTML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := local(w, "../../../cmd/demo/plain", "docs", "docs")
	w.wantPainted(w.start(first))
	shown := func() []string {
		return inApp[[]string](w, `[...document.querySelectorAll('h1, h2, h3')].map(h => h.textContent)`)
	}
	want := []string{"Library API", "Books", "Find books", "Show a book", "Loans", "Borrow a book"}
	if diff := cmp.Diff(want, shown()); diff != "" {
		t.Error(diff)
	}
	if !inApp[bool](w,
		`document.querySelector('img').naturalWidth > 0 && getComputedStyle(document.querySelector('header')).display === 'flex'`) {
		t.Error("the image or the style sheet is not loaded")
	}
	w.wantPainted(w.send(update{"draft": with(first["saved"], "title", "<b>Books</b> & more")}))
	if got := shown(); got[0] != "<b>Books</b> & more" {
		t.Errorf("%q", got)
	}
}

// A stack of generators that collect artifacts fits the contract by a module of a few lines.
func TestStack_OfGenerators(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := update{
		"files": map[string]string{"index.html": index,
			"src/main.ts": "import { all } from './generated'\ndocument.getElementById('root')!.textContent = all.join(', ')"},
		"stack": update{"name": "@acme/generators", "version": "1.0.0", "module": "mod.ts", "files": folder(w, "generators")},
		"api": `{"paths": {"/pets": {"get": {"operationId": "listPets"}, "post": {"operationId": "createPet"}}}, ` +
			`"components": {"schemas": {"Pet": {"type": "object"}}}}`,
		"saved": update{"basePath": "apps/web/src"},
	}
	shows := func(want string) {
		t.Helper()
		if got := inApp[string](w, `document.getElementById('root').textContent`); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	w.wantPainted(w.start(first))
	shows("listPets, createPet")
	if got := w.said("generated").Count; got != 2 {
		t.Errorf("%d artifacts", got)
	}
	w.wantPainted(w.send(update{"draft": with(first["saved"], "labels.listPets", "Find pets")}))
	shows("Find pets, createPet")
}
