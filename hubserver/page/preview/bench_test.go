package preview_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// BenchmarkFrame reports, in milliseconds, how long a first view and the edit of a config
// take from the message to the painted frame: the median, and of edits what 95 of 100 do not
// exceed. The targets are 60 (120) for the edit of the app of the test data, 90 (160) with 500
// files, and 186 for the first view of the app of the test data.
//
// With -prototype DIR it takes turns with the prototype of the preview, which DIR has the
// source of, in the same browser, and reports the prototype's figures and the ratios to them.
func BenchmarkFrame(b *testing.B) {
	for _, size := range []struct{ files, operations int }{{0, 0}, {500, 50}, {2000, 1000}} {
		b.Run(fmt.Sprintf("files=%d/operations=%d", size.files, size.operations), func(b *testing.B) {
			w := newWorld(b)
			app := forms(w)
			app["stack"] = manyForms(w)
			app["files"] = manyFiles(w, size.files)
			if size.files > 0 {
				app["api"] = manyOperations(size.operations)
			}
			ours, theirs := figures{}, figures{}
			for b.Loop() {
				w.open()
				w.measure(app, ours)
				if *prototype != "" {
					w.openPrototype()
					w.measure(app, theirs)
				}
			}
			b.ReportMetric(ours.percentile("edit", 95), "edit-p95-ms")
			ours.report(b, "", "first", "edit", "generate", "link", "boot", "ran")
			if *prototype != "" {
				theirs.report(b, "prototype-", "first", "edit")
				b.ReportMetric(ours.median("first")/theirs.median("first"), "first-ratio")
				b.ReportMetric(ours.median("edit")/theirs.median("edit"), "edit-ratio")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// figures are durations in milliseconds, by what they are of.
type figures map[string][]float64

func (f figures) median(name string) float64 { return f.percentile(name, 50) }

func (f figures) percentile(name string, n int) float64 {
	all := slices.Sorted(slices.Values(f[name]))
	return all[min(len(all)*n/100, len(all)-1)]
}

// measure opens an app and edits its config some times.
func (w *world) measure(app update, f figures) {
	w.Helper()
	const edits = 20
	js[any](w, "window.first = "+quote(w, app)+", packages_.then(() => 1)")
	timed := func(call string) float64 {
		return js[float64](w, fmt.Sprintf(
			`(async () => { const t = performance.now(); const e = await %s; if (e.type !== "painted") throw new Error(JSON.stringify(e)); return performance.now() - t })()`, call))
	}
	f["first"] = append(f["first"], timed("open_(first)"))
	for n := range edits {
		f["edit"] = append(f["edit"], timed(fmt.Sprintf(`send({draft: {title: "edit %d"}})`, n)))
		for step, took := range w.said("painted").Times {
			f[step] = append(f[step], took)
		}
	}
}

// manyForms is the stack of the test data, which offers no more previews than the contract
// allows, and takes nothing that the prototype does not give.
func manyForms(w *world) update {
	w.Helper()
	module := strings.NewReplacer("{ artifacts, previews, notes }",
		"{ artifacts, previews: previews.slice(0, 500), notes }", "${stack.name} ${stack.version}", "forms").Replace(
		folder(w, "stack")["mod.ts"])
	return stack(w, map[string]string{"mod.ts": module})
}

// manyFiles is the app of the test data with more components, all of which it imports.
func manyFiles(w *world, n int) map[string]string {
	files := folder(w, "app")
	var imports strings.Builder
	for i := range n - len(files) {
		name := fmt.Sprintf("Part%d", i)
		files["src/parts/"+name+".tsx"] = fmt.Sprintf(
			"interface Props { label: string }\nexport const %s = ({ label }: Props) => (\n  <section className=\"part\">\n    <h3>{label}</h3>\n    <p>Part %d</p>\n  </section>\n)\n", name, i)
		fmt.Fprintf(&imports, "import { %s } from './parts/%s'; console.assert(%s)\n", name, name, name)
	}
	files["src/main.tsx"] = imports.String() + files["src/main.tsx"]
	return files
}

func manyOperations(n int) string {
	var paths []string
	for i := range n {
		var properties []string
		for j := range 6 {
			properties = append(properties,
				fmt.Sprintf(`"field%d": {"type": "string", "description": "A field of the model"}`, j))
		}
		paths = append(paths, fmt.Sprintf(
			`"/model%d": {"post": {"operationId": "create%d", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {%s}}}}}, "responses": {"201": {"description": "created"}}}}`, i, i, strings.Join(properties, ", ")))
	}
	return `{"openapi": "3.1.0", "info": {"title": "Models", "version": "1"}, "paths": {` + strings.Join(paths, ", ") +
		`}}`
}

func (f figures) report(b *testing.B, prefix string, names ...string) {
	for _, name := range names {
		b.ReportMetric(f.median(name), prefix+name+"-ms")
	}
}
