package preview_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

var prototype = flag.String("prototype", "",
	"folder of a host.prototype.js, with which BenchmarkFrame compares the frame")

// prototypeDriver gives the page the driver's open_ and send for the prototype, which takes
// other messages.
const prototypeDriver = `
window.open_ = async ({files, packages, stack, api}) => {
  window.element_ = document.createElement("iframe")
  element_.setAttribute("sandbox", "allow-scripts")
  addEventListener("message", e => { if (e.source === element_.contentWindow) events.push({...e.data, type: e.data.hub === "error" ? "failed" : e.data.hub}) })
  element_.src = FRAME.replace("/preview/frame", "/prototype")
  document.getElementById("place").append(element_)
  await until(e => e.type === "ready")
  // It looks for the parts of a package next to the package.
  const nested = ([name, code]) => [name, name.includes("/") ? code.replaceAll('"./chunk-', '"../chunk-') : code]
  return send({files, vendor: Object.fromEntries([...await packages_].map(nested)), stack, api: JSON.parse(api),
  	mode: "data", draft: {}})
}
window.updates = 0
window.send = async ({draft, ...change}) => {
  element_.contentWindow.postMessage({to: "preview", ...change, config: draft, settings: draft}, "*")
  const n = ++updates
  return until(e => e.n === n && (e.type === "painted" || e.type === "failed"))
}
0`

// openPrototype loads the page anew, with the prototype in place of the frame. It is built
// with the packages of package-lock.json.
func (w *world) openPrototype() {
	w.Helper()
	folder, err := filepath.Abs("node_modules")
	if err != nil {
		w.Fatal(err)
	}
	build := exec.CommandContext(w.Context, filepath.Join(folder, ".bin", "esbuild"),
		filepath.Join(*prototype, "host.prototype.js"), "--bundle", "--minify", "--format=iife")
	build.Env = append(os.Environ(), "NODE_PATH="+folder)
	build.Stderr = os.Stderr
	if w.prototype, err = build.Output(); err != nil {
		w.Fatal(err)
	}
	w.open()
	js[any](w, fmt.Sprintf("window.FRAME = %q;%s", w.frame+"/preview/frame", prototypeDriver))
}
