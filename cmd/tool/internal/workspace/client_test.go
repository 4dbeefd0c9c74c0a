package workspace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/wire"
)

func TestClient_ReturnsFieldsWithPositions(t *testing.T) {
	c := newClient(t, "\ufeff{\r\n\t\"project\": \"@acme/web\",\r\n\t\"é\": 1, \"api\" :\t\"not a ref\"\r\n}")
	at := func(line, column int) workspace.Position {
		return workspace.Position{File: clientJSON, Line: line, Column: column}
	}
	if diff := cmp.Diff(workspace.Field{Text: "@acme/web", At: at(2, 13)}, c.Project); diff != "" {
		t.Errorf("Project (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(workspace.Field{Text: "not a ref", At: at(3, 18)}, c.API); diff != "" {
		t.Errorf("API (-want +got):\n%s", diff)
	}
	if c.Source.Present() {
		t.Errorf("Source is there: %v", c.Source)
	}
	if got, want := c.API.At.String(), ".tool/web/client.json:3:18"; got != want {
		t.Errorf("place %s, want %s", got, want)
	}
}

func TestClient_ErrorsHavePositions(t *testing.T) {
	for text, reason := range map[string]string{
		"":                              ":1:1: the file is empty: a JSON object was expected",
		"[]":                            ":1:1: a JSON object was expected, not an array",
		"{\n  // slug\n}":               ":2:3: JSON has no comments",
		"{\n  \"api\": \"@a/b\",\n}":    ":2:16: a value was expected after the comma",
		`{"api": "@a/b", "api": ""}`:    `:1:17: "api" is set twice`,
		"{\"é\": 1, \"project\": \xff}": ":1:21: invalid",
		`{"project": null}`:             ":1:13: project is null: a string was expected",
		`{"api": {"account": "a"}}`:     ":1:9: api is an object: a string was expected",
		`{"source": ["a.yaml"]}`:        ":1:12: source is an array: a string was expected",
		`{"settings": null}`:            ":1:14: settings is null: an object was expected",
		`{"settings": []}`:              ":1:14: settings is an array: an object was expected",
		`{"enrichments": "x"}`:          ":1:17: enrichments is a string: an array or object of records was expected",
		`{"enrichments": [{}, [], 1]}`:  ":1:22: enrichments[1] is an array: a record is an object",
		"{\"settings\": {\"enrichments\":\n {\"a\": {}, \"b\": true}}}": ":2:17: settings.enrichments.b is a boolean: a " +
			"record is an object",
		`{"settings": {"enrichments": {}}, "enrichments": []}`: ":1:50: enrichments is set here and in " +
			"settings.enrichments",
	} {
		_, err := project(t, newWorkspace(t, map[string]string{clientJSON: text})).Client()
		wantFault(t, err, failure.CodeInvalidFile, clientJSON+reason)
	}
}

func TestClient_UnreadableFileIsNamed(t *testing.T) {
	w := newWorkspace(t, map[string]string{".tool/web/stack.json": "{}", "readme.md": ""})
	file := filepath.Join(w.Dir, clientJSON)
	fails := func(code wire.Code, reason string) {
		t.Helper()
		_, err := project(t, w).Client()
		wantFault(t, err, code, clientJSON, reason)
		os.RemoveAll(file)
	}

	_, err := project(t, w).Client()
	if e := wantFault(t, err, failure.CodeInvalidFile, clientJSON+": no such file"); !strings.Contains(e.Hint,
		`{"settings": {}}`) {
		t.Errorf("hint %q", e.Hint)
	}
	os.Mkdir(file, 0o755)
	fails(failure.CodeInvalidFile, ": is a directory")
	write(t, w.Dir, clientJSON, `{"settings": {"a": "`+strings.Repeat("x", 16<<20)+`"}}`)
	fails(failure.CodeInvalidFile, ": larger than 16 MiB")
	symlink(t, "nowhere.json", file)
	fails(failure.CodeInvalidFile, ": a symlink that leads nowhere")
	symlink(t, "client.json", file)
	fails(failure.CodeInvalidFile, ": ")
	outside := tempDir(t)
	write(t, outside, "client.json", `{"settings": {}}`)
	relative, err := filepath.Rel(filepath.Dir(file), filepath.Join(outside, "client.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{filepath.Join(outside, "client.json"), relative, outside} {
		symlink(t, target, file)
		fails(failure.CodeOutsideWorkspace, "leads out of the workspace")
	}
	os.RemoveAll(filepath.Dir(file))
	symlink(t, outside, filepath.Dir(file))
	_, err = w.Project("web")
	wantFault(t, err, failure.CodeNoLocalProject)
}

func TestClient_ReadsThroughSymlinkInsideWorkspace(t *testing.T) {
	w := newWorkspace(t, map[string]string{".tool/web/stack.json": "{}", "shared/client.json": `{"api": "@a/b"}`})
	for _, target := range []string{"../../shared/client.json", filepath.Join(w.Dir, "shared/client.json")} {
		file := filepath.Join(w.Dir, clientJSON)
		os.Remove(file)
		symlink(t, target, file)
		if c := client(t, w); c.API.Text != "@a/b" {
			t.Errorf("through %s: api is %q", target, c.API.Text)
		}
	}
}

func TestClient_WarnsAboutMisspelledMember(t *testing.T) {
	c := newClient(t,
		"{\n  \"setings\": {},\n  \"Project\": 1,\n  \"apu\": 1,\n  \"app\": 1,\n  \"sourec\": 1,\n  \"enrichment\": 1,\n  \"name\": 1, \"map\": 1, \"$schema\": \"x\", \"settings\": {\"api\": 1, \"setings\": 1}\n}")
	want := []string{
		clientJSON + `:2:3: "setings" is not used: did you mean "settings"?`,
		clientJSON + `:3:3: "Project" is not used: did you mean "project"?`,
		clientJSON + `:4:3: "apu" is not used: did you mean "api"?`,
		clientJSON + `:5:3: "app" is not used: did you mean "api"?`,
		clientJSON + `:6:3: "sourec" is not used: did you mean "source"?`,
		clientJSON + `:7:3: "enrichment" is not used: did you mean "enrichments"?`,
	}
	var got []string
	for _, w := range c.Warnings {
		got = append(got, w.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestConfig_IncludesEnrichments(t *testing.T) {
	for _, c := range []struct {
		text, config string
		enrichments  int
	}{
		{`{"settings": {}}`, `{}`, 0},
		{`{"settings": {"a": {"b.c": 1.0}, "z": []}, "source": "x"}`, `{"a.b\\.c":1.0,"z":[]}`, 0},
		{`{"settings": {"a": 1}, "enrichments": [{"x": 1}, {}]}`, `{"a":1,"enrichments":[{"x":1},{}]}`, 2},
		{`{"enrichments": {"e": {"x": 1}, "f": {}}, "settings": {"z": 1}}`, `{"enrichments.e.x":1,"enrichments.f":{},"z":1}`,
			2},
		{`{"settings": {"enrichments": [{}]}}`, `{"enrichments":[{}]}`, 1},
	} {
		client := newClient(t, c.text)
		config, err := client.Config()
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := string(config.Canonical()); got != c.config {
			t.Errorf("%s folds to %s, want %s", c.text, got, c.config)
		}
		if got := config.EnrichmentCount(); got != c.enrichments {
			t.Errorf("%s holds %d enrichments, want %d", c.text, got, c.enrichments)
		}
		settings, err := client.Settings()
		if err != nil || !json.Valid(settings) {
			t.Errorf("%s: settings %s, %v", c.text, settings, err)
		}
	}
}

func TestConfig_FailsWithoutSettings(t *testing.T) {
	for _, text := range []string{`{}`, `{"setings": {}}`, `{"enrichments": []}`} {
		_, err := newClient(t, text).Config()
		e := wantFault(t, err, failure.CodeNoSettings, clientJSON+` has no "settings"`)
		if want := `pull the hub's config, or write "settings": {} to mean an empty one`; e.Hint != want {
			t.Errorf("hint %q, want %q", e.Hint, want)
		}
	}
}

func TestConfig_RejectsHugeSettings(t *testing.T) {
	var leaves strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&leaves, `"%d": 1, `, i)
	}
	text := `{"settings": {"` + strings.Repeat("n", 100_000) + `": {` + leaves.String() + `"z": 1}}}`
	c, err := workspace.ParseClient([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Config()
	wantFault(t, err, failure.CodeInvalidFile, clientJSON+":1:14: settings: ")
}

func FuzzClient(f *testing.F) {
	for _, seed := range []string{
		`{"project":"@a/b","api":"","source":"x","settings":{"basePath":"src"}}`,
		`{"settings":{},"enrichments":[{}]}`, `{"settings":{"enrichments":{"a":1}}}`, "\ufeff{}", `{"setings":1}`,
		`{"api":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := workspace.ParseClient(text)
		if err != nil {
			var e failure.Failure
			if !errors.As(err, &e) || e.Code != failure.CodeInvalidFile {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		settings, err := c.Settings()
		if err != nil {
			return
		}
		if !json.Valid(settings) {
			t.Fatalf("%q: settings %q are no JSON", text, settings)
		}
		config, err := c.Config()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if again, err := workspace.SetConfig(text, config); err != nil || !bytes.Equal(again, text) {
			t.Fatalf("%q with its own config is %q, %v", text, again, err)
		}
	})
}

func TestConfig_RefusesManyLevels(t *testing.T) {
	for levels, want := range map[int]string{100: "", 101: "settings: the config's depth is 101, above the limit of 100"} {
		settings := strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels)
		_, err := newClient(t, `{"settings": `+settings+`}`).Config()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}
