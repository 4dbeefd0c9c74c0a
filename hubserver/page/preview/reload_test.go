package preview_test

import (
	"fmt"
	"strings"
	"testing"
)

// stateful is an app with a form, taller than any window, that says what it holds again and again.
const stateful = `
document.body.innerHTML = '<form style="height: 5000px"><input name="a" value="initial"><input name="b" type="checkbox"><input name="pw" type="password"><select name="c"><option>1</option><option>2</option></select><textarea name="d"></textarea></form>'
const f = document.forms[0]!.elements as any
const tell = () => top!.postMessage(JSON.stringify([f.a.value, f.b.checked, f.pw.value, f.c.value, f.d.value,
	scrollY, location.hash]), '*')
if (FIRST) {
  f.a.value = 'typed'; f.b.checked = true; f.pw.value = 'secret'; f.c.value = '2'; f.d.value = 'long';
  	location.hash = '#here'; scrollTo(0, 700)
}
setInterval(tell, 20)
export {}
`

func TestFrame_KeepsScrollHashAndFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(showing(strings.Replace(stateful, "FIRST", "true", 1)))
	holds := func(want string) {
		t.Helper()
		js[any](w,
			fmt.Sprintf(`new Promise(ok => { const look = () => said.at(-1) === %q ? ok() : setTimeout(look, 5); look() })`,
				want))
	}
	holds(`["typed",true,"secret","2","long",700,"#here"]`)
	w.send(showing(strings.Replace(stateful, "FIRST", "false", 1)))
	holds(`["typed",true,"","2","long",700,"#here"]`)
}

func TestFrame_ShowsAppWithoutModule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain := update{"name": "@acme/plain", "version": "2.0.0", "module": nil, "files": update{}}
	files := map[string]string{
		"index.html": `<!doctype html><script type="importmap">{"imports": {"lib": "/vendor/lib.js"}}</script><script type="module">import { name } from "lib"
import config from "/@hub/config.json"
const api = await (await fetch("/@hub/api.json")).json()
const none = await fetch("/pets")
localStorage.setItem("a", "1"); document.cookie = "b=2"
top.postMessage([name, config.title, api.info.title, none.status, localStorage.getItem("a"), document.cookie].join(), "*")</script>`,
		"vendor/lib.js": `export const name = "lib"`,
	}
	got := w.start(update{"files": files, "stack": plain, "api": `{"info": {"title": "Pets"}}`,
		"saved": update{"title": "Config"}})
	if got.Type != "painted" {
		t.Fatalf("%+v", got)
	}
	if said := js[string](w, "said.at(-1)"); said != "lib,Config,Pets,501,1,b=2" {
		t.Errorf("%q", said)
	}
	files["index.html"] = index
	files["src/main.ts"] = "\nimport { title } from './generated/title'\ndocument.title = title"
	got = w.send(update{"files": files})
	if got.File != "src/main.ts" || got.Line != 2 ||
		!strings.Contains(got.Message,
			"src/generated/title would have been generated, and version 2.0.0 of the stack @acme/plain has no preview module") {
		t.Errorf("%+v", got)
	}
}

func TestFrame_ShowsOnePreview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := forms(w)
	module := folder(w, "stack")["mod.ts"]
	module = strings.Replace(module, "`      <h2>{", "`      <h2 ref={() => top!.postMessage(\"part ${name}\", \"*\")}>{",
		1)
	first["stack"], first["preview"] = stack(w, map[string]string{"mod.ts": module}), "PlaceOrderForm"
	if got := w.start(first); got.Type != "painted" {
		t.Fatalf("%+v", got)
	}
	js[any](w,
		`new Promise(ok => { const look = () => said.includes("part PlaceOrderForm") ? ok() : setTimeout(look, 5); look() })`)
	if all := js[[]string](w, "said"); strings.Contains(strings.Join(all, " "), "AddPet") {
		t.Errorf("%q", all)
	}
}
