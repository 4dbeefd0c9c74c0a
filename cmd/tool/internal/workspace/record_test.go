package workspace_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/flat"
)

func TestRecord_KeepsStyleOfFile(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"in place", "{\n  \"project\": \"@acme/old\",\n  \"x\": [1,\n2]\n}\n",
			"{\n  \"project\": \"@acme/web\",\n  \"x\": [1,\n2]\n}\n"},
		{"in place, odd spacing", "{ \"x\":1,\"project\"\t:\t\"@acme/old\"}", "{ \"x\":1,\"project\"\t:\t\"@acme/web\"}"},
		{"in place, escaped name", `{"pro\u006aect": ""}`, `{"pro\u006aect": "@acme/web"}`},
		{"in place, not below", `{"x": {"project": "a"}, "project": "b"}`, `{"x": {"project": "a"}, "project": "@acme/web"}`},
		{"absent", "{\n  \"settings\": {}\n}\n", "{\n  \"settings\": {},\n  \"project\": \"@acme/web\"\n}\n"},
		{"absent, four spaces", "{\n    \"settings\": {}\n}\n",
			"{\n    \"settings\": {},\n    \"project\": \"@acme/web\"\n}\n"},
		{"absent, tabs, CRLF, BOM, no final newline", "\ufeff{\r\n\t\"settings\":{}\r\n}",
			"\ufeff{\r\n\t\"settings\":{},\r\n\t\"project\":\"@acme/web\"\r\n}"},
		{"absent, one line", `{"settings": {}}`, `{"settings": {}, "project": "@acme/web"}`},
		{"absent, one narrow line", `{"settings":{}}`, `{"settings":{},"project":"@acme/web"}`},
		{"absent, one wide line", `{ "settings": {} }`, `{ "settings": {}, "project": "@acme/web" }`},
		{"absent, only below", "{\n  \"settings\": {\n    \"project\": 1\n  }\n}",
			"{\n  \"settings\": {\n    \"project\": 1\n  },\n  \"project\": \"@acme/web\"\n}"},
		{"empty", "{}\n", "{\n  \"project\": \"@acme/web\"\n}\n"},
		{"empty, CRLF", "{}\r\n", "{\r\n  \"project\": \"@acme/web\"\r\n}\r\n"},
		{"empty, two lines", "{\n}", "{\n  \"project\": \"@acme/web\"\n}"},
		{"equal", `{"project":"@acme/web"}`, `{"project":"@acme/web"}`},
		{"equal, escaped", `{"project":"@acme\/web"}`, `{"project":"@acme\/web"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := newClient(t, c.text)
			changed, err := client.Record("project", "@acme/web", false)
			if err != nil || changed != (c.text != c.want) {
				t.Errorf("changed %t, error %v", changed, err)
			}
			dir := client.Workspace().Dir
			if diff := cmp.Diff(c.want, read(t, dir, clientJSON)); diff != "" {
				t.Errorf("client.json (-want +got):\n%s", diff)
			}
			if client.Project.Text != "@acme/web" {
				t.Errorf("Project is %q afterwards", client.Project.Text)
			}
			if got := files(t, dir); len(got) != 1 {
				t.Errorf("there are now %v", got)
			}
		})
	}
}

func TestFill_KeepsExistingValue(t *testing.T) {
	w := newWorkspace(t, map[string]string{clientJSON: `{"settings": {}}`})
	first, second := client(t, w), client(t, w)
	if changed, err := first.Record("project", "@acme/web", true); !changed || err != nil {
		t.Errorf("absent: changed %t, error %v", changed, err)
	}
	// The second was read before the field was filled.
	if changed, err := second.Record("project", "@acme/other", true); changed || err != nil {
		t.Errorf("present by now: changed %t, error %v", changed, err)
	}
	if got := second.Project.Text; got != "@acme/web" {
		t.Errorf("Project is %q afterwards", got)
	}
	if got, want := read(t, w.Dir, clientJSON), `{"settings": {}, "project": "@acme/web"}`; got != want {
		t.Errorf("client.json is %s, want %s", got, want)
	}
}

func TestRecord_KeepsEditMadeSinceRead(t *testing.T) {
	c := newClient(t, `{"settings": {}}`)
	dir := c.Workspace().Dir
	write(t, dir, clientJSON, `{"settings": {"a": 1}}`)
	if changed, err := c.Record("api", "@acme/pets", false); !changed || err != nil {
		t.Errorf("changed %t, error %v", changed, err)
	}
	if got, want := read(t, dir, clientJSON), `{"settings": {"a": 1}, "api": "@acme/pets"}`; got != want {
		t.Errorf("client.json is %s, want %s", got, want)
	}
}

func TestRecord_KeepsEditMadeWhileWriting(t *testing.T) {
	c := newClient(t, `{"settings": {}}`)
	dir := c.Workspace().Dir
	edits := 0
	workspace.OnSync(t, func(f *os.File) error {
		if edits < 3 {
			edits++
			write(t, dir, clientJSON, `{"settings": {"edit": `+strings.Repeat("1", edits)+`}}`)
		}
		return f.Sync()
	})
	if changed, err := c.Record("api", "@acme/pets", false); !changed || err != nil {
		t.Errorf("changed %t, error %v", changed, err)
	}
	if got, want := read(t, dir, clientJSON), `{"settings": {"edit": 111}, "api": "@acme/pets"}`; got != want {
		t.Errorf("client.json is %s, want %s", got, want)
	}
}

func TestRecord_GivesUpOnConstantlyChangingFile(t *testing.T) {
	c := newClient(t, `{}`)
	dir := c.Workspace().Dir
	n := 0
	workspace.OnSync(t, func(f *os.File) error {
		n++
		write(t, dir, clientJSON, `{"n": "`+strings.Repeat("x", n)+`"}`)
		return nil
	})
	_, err := c.Record("api", "@acme/pets", false)
	wantFault(t, err, failure.CodeNotRecorded, clientJSON, "keeps changing")
	if got, want := files(t, dir), []string{clientJSON}; !cmp.Equal(got, want) {
		t.Errorf("there are now %v", got)
	}
}

func TestRecord_GivesUpOnALockThatAnotherProgramKeeps(t *testing.T) {
	c := newClient(t, `{}`)
	workspace.LockTime(t, 20*time.Millisecond)
	lock := workspace.LockOf(filepath.Dir(filepath.Join(c.Workspace().Dir, clientJSON)))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	_, err := c.Record("api", "@acme/pets", false)
	wantFault(t, err, failure.CodeNotRecorded, clientJSON, "another program has locked its directory")
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if changed, err := c.Record("api", "@acme/pets", false); !changed || err != nil {
		t.Errorf("changed %t, error %v", changed, err)
	}
}

func TestRecord_RefusesFileBrokenOrRemovedMeanwhile(t *testing.T) {
	c := newClient(t, `{}`)
	dir := c.Workspace().Dir
	write(t, dir, clientJSON, `{"api": `)
	_, err := c.Record("api", "@acme/pets", false)
	e := wantFault(t, err, failure.CodeNotRecorded, clientJSON+":1:9: ")
	if want := `add this line to .tool/web/client.json by hand: "api": "@acme/pets"`; e.Hint != want {
		t.Errorf("hint %q, want %q", e.Hint, want)
	}
	if got := read(t, dir, clientJSON); got != `{"api": ` {
		t.Errorf("client.json is now %q", got)
	}
	if err := os.Remove(filepath.Join(dir, clientJSON)); err != nil {
		t.Fatal(err)
	}
	_, err = c.Record("api", "@acme/pets", false)
	wantFault(t, err, failure.CodeNotRecorded, clientJSON+": file does not exist")
	if got := files(t, dir); len(got) > 0 {
		t.Errorf("there are now %v", got)
	}
}

func TestReplace_EditsMemberByMember(t *testing.T) {
	for _, c := range []struct{ name, text, settings, want string }{
		{"nothing to do", "{\"settings\":\n{ \"b\" : 1.0, \"a\": {} } }", `{"a":{},"b":1.0}`,
			"{\"settings\":\n{ \"b\" : 1.0, \"a\": {} } }"},
		{"no settings yet", "{\n  \"project\": \"@a/b\"\n}\n", `{"a":1}`,
			"{\n  \"project\": \"@a/b\",\n  \"settings\": {\n    \"a\": 1\n  }\n}\n"},
		{"enrichments at the top level", "{\n  \"enrichments\": [],\n  \"settings\": {}\n}", `{"a":1,"enrichments":[{}]}`,
			"{\n  \"enrichments\": [\n    {}\n  ],\n  \"settings\": {\n    \"a\": 1\n  }\n}"},
		{"enrichments in settings", `{"settings": {"enrichments": {"e": {}}}}`, `{"enrichments":{"e":{},"f":{}}}`,
			`{"settings": {"enrichments": {"e": {}, "f": {}}}}`},
		{"enrichments nowhere yet", `{"settings": {"a": 1}}`, `{"a":1,"enrichments":[{}]}`,
			`{"settings": {"a": 1, "enrichments": [{}]}}`},
		{"enrichments gone", "{\n  \"enrichments\": [{}],\n  \"settings\": {}\n}", `{}`, "{\n  \"settings\": {}\n}"},
		{"enrichments without settings", `{"enrichments": [{}]}`, `{"a":1,"enrichments":[{}]}`,
			`{"enrichments": [{}], "settings": {"a": 1}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := newClient(t, c.text)
			config := fold(t, c.settings)
			changed, err := client.Replace(config)
			if err != nil || (len(changed) > 0) != (c.text != c.want) {
				t.Errorf("changed %v, error %v", changed, err)
			}
			if diff := cmp.Diff(c.want, read(t, client.Workspace().Dir, clientJSON)); diff != "" {
				t.Errorf("client.json (-want +got):\n%s", diff)
			}
			wantConfig(t, client, config)
		})
	}
}

func TestReplace_LeavesUnchangedFileUntouched(t *testing.T) {
	c := newClient(t, `{"settings": {"a": 1}}`)
	workspace.OnExchange(t, func(*os.Root, string, string) error { panic("client.json is written") })
	if changed, err := c.Replace(fold(t, `{"a": 1}`)); len(changed) > 0 || err != nil {
		t.Errorf("Replace: changed %v, error %v", changed, err)
	}
	c = newClient(t, `{"project": "@a\/b"}`)
	if changed, err := c.Record("project", "@a/b", false); changed || err != nil {
		t.Errorf("Record: changed %t, error %v", changed, err)
	}
}

func TestReplace_KeepsEditMadeSinceRead(t *testing.T) {
	const edited = `{"settings": {"a": 2}}`
	c := newClient(t, `{"settings": {"a": 1}}`)
	dir := c.Workspace().Dir
	write(t, dir, clientJSON, edited)
	_, err := c.Replace(fold(t, `{"b": 1}`))
	wantFault(t, err, failure.CodeNotRecorded, clientJSON, "edited meanwhile")

	c = client(t, c.Workspace())
	workspace.OnSync(t, func(f *os.File) error {
		write(t, dir, clientJSON, `{"settings": {"a": 3}}`)
		return f.Sync()
	})
	_, err = c.Replace(fold(t, `{"b": 1}`))
	wantFault(t, err, failure.CodeNotRecorded, clientJSON, "edited meanwhile")
	if got, want := read(t, dir, clientJSON), `{"settings": {"a": 3}}`; got != want {
		t.Errorf("client.json is now %s, want %s", got, want)
	}
}

func TestReplace_RejectsConfigThatDoesNotUnfold(t *testing.T) {
	c := newClient(t, `{"settings": {}}`)
	_, err := c.Replace(fold(t, `{"enrichments": [1]}`))
	wantFault(t, err, failure.CodeNotRecorded, "enrichments[0] is a number: a record is an object")
	if got := read(t, c.Workspace().Dir, clientJSON); got != `{"settings": {}}` {
		t.Errorf("client.json is now %s", got)
	}
}

func TestRecord_KeepsMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are a matter of unix")
	}
	for _, mode := range []os.FileMode{0o600, 0o640, 0o666, 0o755, 0o777} {
		c := newClient(t, "{}")
		file := filepath.Join(c.Workspace().Dir, clientJSON)
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Record("api", "@a/b", false); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode is %v, want %v (%v)", info.Mode().Perm(), mode, err)
		}
	}
}

func TestRecord_WritesThroughSymlinkInsideWorkspaceOnly(t *testing.T) {
	w := newWorkspace(t, map[string]string{".tool/web/stack.json": "{}", "shared/client.json": "{}"})
	link := filepath.Join(w.Dir, clientJSON)
	symlink(t, "../../shared/client.json", link)
	c := client(t, w)
	if _, err := c.Record("api", "@a/b", false); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(link); err != nil || target != "../../shared/client.json" {
		t.Errorf("the link became %q, %v", target, err)
	}
	if got := read(t, w.Dir, "shared/client.json"); !strings.Contains(got, "@a/b") {
		t.Errorf("the target is %q", got)
	}

	outside := tempDir(t)
	write(t, outside, "client.json", "{}")
	os.Remove(link)
	symlink(t, filepath.Join(outside, "client.json"), link)
	_, err := c.Record("api", "@a/c", false)
	wantFault(t, err, failure.CodeNotRecorded, "leads out of the workspace")
	if got := read(t, outside, "client.json"); got != "{}" {
		t.Errorf("the file outside became %q", got)
	}
}

func FuzzSetField(f *testing.F) {
	for _, seed := range []string{`{}`, "{\r\n\t\"project\" : \"@a\\/b\"\r\n}", `{"x":[1,{"project":2}]}`, "\ufeff{ }\n",
		"{\n}", "{}\n "} {
		f.Add([]byte(seed), "@acme/web")
	}
	f.Add([]byte(`{"project":1}`), "\n\u2028\"")
	f.Fuzz(func(t *testing.T, text []byte, value string) {
		result, err := workspace.SetField(text, "project", value)
		if err != nil {
			return
		}
		quoted, _ := jsontext.AppendQuote(nil, value)
		start, end, old := projectOf(t, text)
		switch {
		case old == nil:
			if _, _, put := projectOf(t, result); !bytes.Equal(put, quoted) {
				t.Fatalf("%q became %q", text, result)
			}
			if before, after := commonEnds(text, result); before+after != len(text) {
				t.Fatalf("%q became %q: more than a new member", text, result)
			}
		case sameString(old, quoted):
			if !bytes.Equal(result, text) {
				t.Fatalf("%q became %q though it had the value", text, result)
			}
		default:
			if want := slices.Concat(text[:start], quoted, text[end:]); !bytes.Equal(result, want) {
				t.Fatalf("%q became %q, want %q", text, result, want)
			}
		}
	})
}

// projectOf returns where the value of the member project stands, and its text.
func projectOf(t *testing.T, text []byte) (start, end int, value []byte) {
	d := json.NewDecoder(bytes.NewReader(text))
	base := 0
	if rest, ok := bytes.CutPrefix(text, []byte("\ufeff")); ok {
		base = len(text) - len(rest)
		d = json.NewDecoder(bytes.NewReader(rest))
	}
	if _, err := d.Token(); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if name == "project" {
			end := base + int(d.InputOffset())
			return end - len(raw), end, raw
		}
	}
	return 0, 0, nil
}

func sameString(a, b []byte) bool {
	var x, y string
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x == y && a[0] == '"'
}

// commonEnds returns how many bytes a and b have in common at their start, and then at their end.
func commonEnds(a, b []byte) (before, after int) {
	for before < min(len(a), len(b)) && a[before] == b[before] {
		before++
	}
	for after < min(len(a), len(b))-before && a[len(a)-1-after] == b[len(b)-1-after] {
		after++
	}
	return before, after
}

func fold(t testing.TB, settings string) flat.Config {
	t.Helper()
	config, err := flat.Fold([]byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func wantConfig(t testing.TB, c *workspace.Client, want flat.Config) {
	t.Helper()
	got, err := c.Config()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Canonical(), want.Canonical()) {
		t.Errorf("client.json folds to\n%s, want\n%s", got.Canonical(), want.Canonical())
	}
}
