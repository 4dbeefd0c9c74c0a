package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/command/check"
)

func world(t *testing.T) *apptest.World {
	t.Helper()
	t.Parallel()
	w := apptest.New(t)
	w.Local("@alice/web", `{"title": "A"}`)
	return w
}

// lines requires these findings of a check that fails, and no others.
func lines(w *apptest.World, want ...string) {
	w.Helper()
	var got []string
	for line := range strings.Lines(w.Run(check.Command, "web").Exits(1).Err) {
		if strings.HasPrefix(line, "  ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCheck_FindsNothingInAGoodProject(t *testing.T) {
	w := world(t)
	w.Env["TOOL_API_ORIGIN"] = "http://127.0.0.1:1" // not called
	w.Run(check.Command).Done().Prints("Checked 1 local project: no problem found")
	r := w.Run(check.Command, "web", "--json").Done().JSON()
	if r["type"] != "checked" || fmt.Sprint(r["projects"]) != "[web]" || fmt.Sprint(r["findings"]) != "[]" {
		t.Errorf("%v", r)
	}
}

func TestCheck_ListsAllErrorsWithTheirPositions(t *testing.T) {
	w := world(t)
	w.Write(".tool/web/client.json",
		"{\n  \"project\": \"web\",\n  \"source\": \"none.yaml\",\n  \"settings\": {\"basePath\": \"../x\"}\n}\n")
	w.Write(".tool/web/stack.json", "{\"name\": \"@alice/web\",\n \"version\": \"1\"}")
	w.Write(".tool/web/manifest.json", `{}`)
	w.Write(".tool/hub.json", "{\n  \"origin\": 5}")
	r := w.Run(check.Command, "--json").Fails("check_failed", "check")
	got := map[string]string{}
	for _, v := range r["findings"].([]any) {
		f := v.(map[string]any)
		got[fmt.Sprint(f["file"], ":", f["line"], ":", f["column"])] = f["detail"].(string)
	}
	for at, want := range map[string]string{
		".tool/hub.json:2:13":                 "origin is a number: a string was expected",
		".tool/web/stack.json:2:13":           `"1" is not a version`,
		".tool/web/manifest.json:<nil>:<nil>": `no "files"`,
		".tool/web/client.json:2:14":          "project: ",
		".tool/web/client.json:3:13":          "source: none.yaml: ",
		".tool/web/client.json:4:28":          "settings.basePath: ",
	} {
		if !strings.HasPrefix(got[at], want) {
			t.Errorf("at %s: %q, want %q", at, got[at], want)
		}
		delete(got, at)
	}
	if len(got) > 0 {
		t.Errorf("also found %q", got)
	}
}

func TestCheck_FindsMarksOfGitConflicts(t *testing.T) {
	w := world(t)
	const conflict = "{\n<<<<<<< HEAD\n  \"a\": 1\n=======\n  \"a\": 2\n>>>>>>> other\n}\n"
	w.Write("openapi.json", conflict)
	lines(w, "openapi.json:2:1: git conflict markers: the file was merged with conflicts")
	w.Write(".tool/web/client.json", conflict)
	lines(w, ".tool/web/client.json:2:1: git conflict markers: the file was merged with conflicts")
}

func TestCheck_ReadsTheAPIDescription(t *testing.T) {
	w := world(t)
	for text, want := range map[string]string{
		"a: [1": "1:1: the API description is not valid: did not find expected ',' or ']'",
		"- 1":   "1:1: the API description is not valid: a description must be an object, not an array",
		"{}": "1:1: the API description is not valid: it has neither openapi nor swagger, " +
			"so it is not an API description",
		"openapi: 3.1.0": "1:1: the API description is not valid: it has none of paths, webhooks and components, " +
			"so it describes no API",
		"openapi: 3.1.0\npaths:\n  /a: {}\n  /a: {}": `4:3: the API description is not valid: duplicate member "/a"`,
	} {
		w.Write("openapi.json", text)
		lines(w, "openapi.json:"+want)
	}
	w.Write("openapi.json", "swagger: '2.0'\npaths: {}\n")
	w.Run(check.Command, "web").Done()
	w.Write("openapi.json", "openapi: 3.1.0\npaths: {/a: {$ref: a.yaml}}\n")
	w.Write("a.yaml", "get: "+strings.Repeat("[", 99)+strings.Repeat("]", 99))
	lines(w, "openapi.json:1:1: the API description is not valid: arrays and objects are nested more than 100 deep")
}

func TestCheck_NamesDanglingReferencesToFiles(t *testing.T) {
	w := world(t)
	w.Write("openapi.json", "openapi: 3.0.0\npaths:\n"+
		"  /a: {$ref: paths/a.yaml}\n  /b: {$ref: paths/b.yaml}\n  /c: {$ref: '#/none'}\n")
	w.Write("paths/a.yaml", "get:\n  responses: {'200': {$ref: '#/ok'}}\n")
	lines(w,
		`paths/a.yaml:2:29: "#/ok" does not exist: paths/a.yaml has no #/ok`,
		`openapi.json:4:14: "paths/b.yaml" cannot be read: no such file or directory`)
}

func TestCheck_WarnsOfFilesThatHoldSecrets(t *testing.T) {
	w := world(t)
	w.Write(".toolignore", "!tls.key\n")
	w.Write("tls.key", "key\n")
	w.Write(".env", "{summary: a}\n")
	w.Write("openapi.json", `{"openapi": "3.0.0", "paths": {"/a": {"$ref": ".env"}}}`)
	const warning = ": warning: such files hold secrets"
	w.Run(check.Command).Done().Prints("tls.key"+warning, ".env"+warning)
}

// gitHubToken is put together here, so that no scanner takes this file for a leak.
var gitHubToken = "ghp" + "_" + strings.Repeat("aB3", 12)

func TestCheck_WarnsOfCredentialsInTexts(t *testing.T) {
	w := world(t)
	w.Write("src/key.ts", "\nconst key = '"+gitHubToken+"'\n")
	w.Write("openapi.json", `{"openapi": "3.0.0", "paths": {}, "x-key": "`+gitHubToken+`"}`)
	w.Run(check.Command).Done().Prints(
		"src/key.ts: warning: it has what looks like a GitHub token on line 2: a pipeline sends it only with --allow-secrets",
		"openapi.json: warning: it has what looks like a GitHub token")
	w.Local("@alice/web", `{"deploy": {"key": "`+gitHubToken+`"}}`)
	w.Run(check.Command).Done().Prints(
		"client.json: warning: settings/deploy/key: this looks like a GitHub token: everyone who can read the project can read it")
}

const stackWithSchema = `{"name": "@alice/web", "version": "1.0.0", "settings": {"schema": "s.json"}}`

func TestCheck_ComparesSettingsWithTheSchemaInTheStack(t *testing.T) {
	w := world(t)
	w.Write(".tool/web/stack.json", stackWithSchema)
	lines(w, ".tool/web/stack.json: settings.schema names s.json, which is not in the bundle")
	w.Write(".tool/web/s.json",
		`{"properties": {"title": {"type": "string"}, "size": {"not": {"minimum": 4}}}, "unevaluatedProperties": false}`)
	w.Run(check.Command, "web").Done()
	w.Write(".tool/web/client.json",
		"{\"source\": \"openapi.json\", \"settings\": {\n \"title\": 1,\n \"size\": 4, \"x\": 1}}")
	w.Write(".tool/web/client.dev.json", "{\n \"settings\": {\"title\": 2, \"size\": 1, \"x\": null}}")
	const disallowed = "the stack's schema does not allow settings"
	lines(w,
		".tool/web/client.json:3:10: "+disallowed+"/size: must not match what the schema excludes",
		".tool/web/client.json:2:11: "+disallowed+"/title: must be a string, not a number",
		".tool/web/client.json:3:18: "+disallowed+"/x: must be absent",
		".tool/web/client.dev.json:2:24: "+disallowed+"/title: must be a string, not a number",
	)
	w.Write(".tool/web/s.json", `{"type": "strin"}`)
	out := w.Run(check.Command, "web").Exits(1)
	if want := ".tool/web/stack.json: settings.schema: "; !strings.Contains(out.Err, want) {
		t.Errorf("%s lacks %q", out.Err, want)
	}
}

func TestCheck_SaysThatTheHubDidNotCheckSettings(t *testing.T) {
	w := world(t)
	w.Write(".tool/web/stack.json", stackWithSchema)
	w.Write(".tool/web/s.json", `{"properties": {"title": {"type": "number"}}}`)
	lines(w, ".tool/web/client.json:1:49: the stack's schema does not allow settings/title: must be a number, not a "+
		"string")
	const note = "the settings were not checked against the stack's schema: "
	delete(w.Env, "TOOL_HUB_TOKEN")
	w.Run(check.Command).Done().Prints("no problem found", "note: "+note)
	w.Env["TOOL_HUB_TOKEN"], w.Env["TOOL_API_ORIGIN"] = w.Token, "http://127.0.0.1:1"
	began := time.Now()
	w.Run(check.Command).Done().Prints("no problem found", "note: "+note)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestCheck_WarnsWithoutFailing(t *testing.T) {
	w := world(t)
	w.Write(".tool/web/client.json", `{"sauce": "x", "source": "openapi.json", "settings": {}}`)
	w.Run(check.Command, "web").Done().Prints("1 warning", `.tool/web/client.json:1:2: warning: "sauce" is not used`)
	w.Write(".tool/web/client.json", `{"settings": {"title": "`+strings.Repeat("x", 1<<20)+`"}}`)
	w.Run(check.Command, "web").Done().Prints("1 warning", "unless the hub's administrator allows more")
}

func TestCheck_WarnsOfFilesThatOnlySomeHubsTake(t *testing.T) {
	w := apptest.Differing(t)
	w.Write("large", "")
	if err := os.Truncate(filepath.Join(w.Dir, "large"), basefiles.UsualLimits.BaseFileBytes+1); err != nil {
		t.Fatal(err)
	}
	w.Write(".tool/web/wide", "")
	if err := os.Truncate(filepath.Join(w.Dir, ".tool/web/wide"), basefiles.UsualLimits.BaseFileBytes+1); err != nil {
		t.Fatal(err)
	}
	w.Run(check.Command).Done().
		Prints("wide has 25.1 MiB",
			"large has 25.1 MiB, and a file may have 25 MiB at most, unless the hub's administrator allows more")
}

func TestCheck_NamesAFileOnce(t *testing.T) {
	w := world(t)
	w.Write(".tool/web/client.json", `{}`)
	lines(w, `.tool/web/client.json: has no "settings"`)
	w.Write(".tool/web/client.json", `{"settings": {}}`)
	if err := os.Symlink("/etc/hosts", filepath.Join(w.Dir, ".tool/web/client.dev.json")); err != nil {
		t.Skip(err)
	}
	lines(w, ".tool/web/client.dev.json: leads out of the workspace")
}

func TestCheck_NeedsProjectsThatExist(t *testing.T) {
	w := world(t)
	w.Run(check.Command, "web", "shop", "--json").Fails("no_local_project", "read")
	w.Run(check.Command, "web", "web").Exits(2)
}

func TestCheck_ReadsEnvironments(t *testing.T) {
	w := world(t)
	w.Write(".tool/web/client.prod.json", "{\n  \"origin\": \"https://hub.example.com\", \"settings\": {\"title\": null}}")
	w.Run(check.Command).Done()
	w.Write(".tool/web/client.prod.json", "{\n  \"project\": \"web\"}")
	w.Write(".tool/web/client.staging.json", "{\n  \"settings\": []}")
	lines(w, `.tool/web/client.prod.json:2:14: project: "web" is not of the form @account/slug`,
		`.tool/web/client.staging.json:2:15: settings is an array: an object was expected`)
}
