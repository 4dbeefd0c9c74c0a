package previewmodule

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse_ChecksTheMember(t *testing.T) {
	for manifest, want := range map[string]string{
		`{}`:                "",
		`{"preview": null}`: "",
		`{"preview": {"module": "mod.ts", "contract": 1}, "x": 1}`: "",
		`{"preview": {"module": "mod.ts"}}`:                        "preview.contract must be 1, not 0",
		`{"preview": {"module": "mod.ts", "contract": 2}}`:         "preview.contract must be 1, not 2",
		`{"preview": {"module": "../mod.ts", "contract": 1}}`:      "preview.module must be",
		`{"preview": {"module": "mod.tsx", "contract": 1}}`:        "preview.module must be",
		`{"preview": {"contract": 1}}`:                             "preview.module must be",
		`{"preview": 5}`:                                           "malformed",
		`{`:                                                        "malformed",
	} {
		_, err := Parse([]byte(manifest))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", manifest, err)
		}
	}
}

func TestImports_AreTheOnesOfTheModule(t *testing.T) {
	source := strings.Join([]string{
		`import a from './a'`,
		`import { b as c, type D } from "./b.ts"; import * as e from './e'`,
		`import './side'`,
		`import type { T } from './types'`,
		`import type, { U } from './named-type'`,
		`export * from './all'; export { x } from './x'; export type { Y } from './y'`,
		`export const z = './no'; export default './no'`,
		`const lazy = () => import('./lazy'), url = import.meta.url + './no'`,
		`// import './no'`,
		`/* import './no'`,
		`*/ const s = "import './no'", t = 'from \'./no\'', u = ` + "`import './no' ${`${'./no'}`} import './no'`",
		`const r = /import '.\/no'["']/g, q = 4 / 2 / 1; import './after'`,
		`o.import('./no'); o.from('./no'); type V = typeof import('./no')[0] extends 1 ? 2 : 3`,
		`import json from './d.json' with { type: 'json' }`,
		`import`,
		`  {`,
		`  multi,`,
		`} from`,
		`  './multi'`,
	}, "\n")
	var got []string
	for _, i := range imports(source) {
		got = append(got, i.name)
	}
	want := []string{"./a", "./b.ts", "./e", "./side", "./named-type", "./all", "./x", "./lazy", "./after", "./d.json", "./multi"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	all := imports(source)
	if last := all[len(all)-1]; last.line != 19 {
		t.Errorf("%+v", last)
	}
}

func check(files map[string]string) error {
	p := &Preview{Module: "mod.ts", Contract: 1}
	return p.Check(func(path string) bool { _, ok := files[path]; return ok }, func(path string) ([]byte, error) { return []byte(files[path]), nil })
}

func TestCheck_FollowsImports(t *testing.T) {
	good := map[string]string{"mod.ts": "import './lib/a'\nimport d from './d.json'", "lib/a.ts": "export * from '../b.js'", "b.ts": "import './mod'", "d.json": "{}"}
	if err := check(good); err != nil {
		t.Error(err)
	}
	for want, files := range map[string]map[string]string{
		"preview.module names mod.ts, which is not in the bundle": {},
		`mod.ts:2 imports "./none", which is not in the bundle`:   {"mod.ts": "\nimport './none'"},
		`mod.ts:1 imports "lodash", but`:                          {"mod.ts": "import 'lodash'"},
		`a.ts:1 imports "../out", which is not`:                   {"mod.ts": "import './a'", "a.ts": "import '../out'"},
		`imports "./x.tsx", which is not`:                         {"mod.ts": "import './x.tsx'", "x.tsx": ""},
		"larger than 2 MiB":                                       {"mod.ts": "import './a'", "a.ts": strings.Repeat(" ", MaxBytes)},
	} {
		if err := check(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func FuzzImports(f *testing.F) {
	for _, seed := range []string{"import './a'", "`${`${1}`}`", "'\\", "/[/]/", "/*", "`${{}}`", "export"} {
		f.Add(seed)
	}
	if module, err := os.ReadFile("../../hubserver/page/preview/testdata/stack/mod.ts"); err == nil {
		f.Add(string(module))
	}
	f.Fuzz(func(t *testing.T, source string) {
		lines := strings.Count(source, "\n") + 1
		for _, i := range imports(source) {
			if i.line < 1 || i.line > lines {
				t.Errorf("line %d of %d", i.line, lines)
			}
		}
		// What comes before in a comment changes nothing.
		if got, want := len(imports("/* import './x' */"+source)), len(imports(source)); got != want {
			t.Errorf("%d imports, want %d", got, want)
		}
	})
}
