package workspace_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/stackmanifest"
	"example.com/projecthub/hubserver/fileschema"
	"example.com/projecthub/hubserver/schema"
)

// readers read the files that have a schema as commands do.
var readers = map[string]func(*workspace.Workspace) error{
	"hub.json": func(ws *workspace.Workspace) error {
		_, err := ws.Hub()
		return err
	},
	"stack.json": func(ws *workspace.Workspace) error {
		stack, err := webOf(ws).Stack()
		if err != nil {
			return err
		}
		if _, err := stack.Version(); err != nil {
			return err
		}
		text, _, err := ws.ReadFile(".tool/web/stack.json")
		if err != nil {
			return err
		}
		_, err = stackmanifest.Parse(text)
		return err
	},
	"client.json": func(ws *workspace.Workspace) error {
		client, err := webOf(ws).Client()
		if err != nil {
			return err
		}
		if client.Source.Present() {
			if _, err := client.Schema(); err != nil {
				return err
			}
		}
		if _, err := client.AppRoot(); err != nil {
			return err
		}
		return checkRefs(client)
	},
	"client.env.json": func(ws *workspace.Workspace) error {
		client, err := webOf(ws).In("env").Client()
		if err != nil {
			return err
		}
		return checkRefs(client)
	},
}

func webOf(ws *workspace.Workspace) *workspace.Project {
	return &workspace.Project{Name: "web", Workspace: ws}
}

func checkRefs(client *workspace.Client) error {
	for _, field := range []workspace.Field{client.Project, client.API} {
		if _, err := ref.Parse(field.Text); field.Present() && err != nil {
			return err
		}
	}
	return nil
}

// agree requires that a schema and the reader of a file judge it alike.
func agree(t *testing.T, ws *workspace.Workspace, kind, text string) (accepted bool) {
	t.Helper()
	found, ok := fileschema.Get(kind)
	if !ok {
		t.Fatalf("there is no schema %s", kind)
	}
	file := map[string]string{"hub.json": ".tool/hub.json", "client.env.json": ".tool/web/client.env.json"}[kind]
	if file == "" {
		file = ".tool/web/" + kind
	}
	if err := os.WriteFile(ws.Path(file), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	readErr := readers[kind](ws)
	findings, err := schema.Validate(found.Text, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if (readErr == nil) != (len(findings) == 0) {
		t.Errorf("%s %s: the reader says %v, the schema %v", kind, text, readErr, findings)
	}
	return readErr == nil
}

// kindOf returns which schema is for a file, "" for none.
func kindOf(name string) string {
	base := path.Base(name)
	switch {
	case base == "hub.json" || base == "client.json" || base == "stack.json":
		return base
	case strings.HasPrefix(base, "client.") && strings.HasSuffix(base, ".json"):
		return "client.env.json"
	}
	return ""
}

// samples are the files of the golden scripts and of the demo, by the schema that is for them.
func samples(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	add := func(name, text string) {
		if kind := kindOf(name); kind != "" && strings.Contains(name, ".tool/") && json.Valid([]byte(text)) &&
			!slices.Contains(all[kind], text) {
			all[kind] = append(all[kind], text)
		}
	}
	err := filepath.WalkDir("../../../../golden/testdata/script", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		archive, err := txtar.ParseFile(file)
		if err == nil {
			for _, f := range archive.Files {
				add(f.Name, string(f.Data))
			}
		}
		return err
	})
	for _, dir := range []string{"../../../internal/sample", "../../../demo"} {
		if err != nil {
			break
		}
		err = filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(file)
			add(filepath.ToSlash(file), string(text))
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// mutated bounds how many samples of a kind are tried with other values.
const mutated = 4

// webWorkspace returns a workspace with the local project web.
func webWorkspace(t *testing.T) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".tool/web"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".tool/web/client.json"), []byte(`{"settings": {}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

func TestFileSchemas_AgreeWithTheReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	t.Parallel()
	values := []string{`null`, `1`, `true`, `""`, `"x"`, `[]`, `{}`, `[1]`, `{"a": 1}`, `"@acme/web"`, `"@Acme/web"`,
		`"acme/web"`, `"@acme/-"`, `"@a/b/c"`,
		`"1.0.0"`, `"1.0"`, `"01.0.0"`, `"1.0.0-rc.1"`, `"1.0.0-01"`, `"1.0.0+b"`, `"v1.0.0"`, `"https://hub.example.com"`,
		`"https://hub.example.com/"`, `"https://hub.example.com/x"`,
		`"ftp://x"`, `"HTTPS://x.test/api"`, `"/etc/x"`, `"../x"`, `"a/b.yaml"`, `[{}]`, `{"a": {}}`, `{"schema": 1}`,
		`{"schema": "s.json"}`, `{"schema": "../s.json"}`, `{"schema": null}`,
		`{"module": "m.ts", "contract": 1}`, `{"module": "m.py", "contract": 1}`, `{"module": "m.ts", "contract": 2}`,
		`{"module": "m.ts"}`, `{"enrichments": []}`, `{"enrichments": 1}`, `{"basePath": 1}`, `{"basePath": "src"}`}
	members := map[string][]string{
		"hub.json":        {"origin"},
		"stack.json":      {"name", "version", "settings", "preview"},
		"client.json":     {"project", "api", "source", "settings", "enrichments"},
		"client.env.json": {"origin", "project", "api", "settings"},
	}
	accepted, refused, seen := 0, 0, map[string]bool{}
	for kind, texts := range samples(t) {
		ws := webWorkspace(t)
		count := func(text string) {
			switch {
			case seen[kind+text]:
			case agree(t, ws, kind, text):
				accepted++
			default:
				refused++
			}
			seen[kind+text] = true
		}
		for i, text := range texts {
			if count(text); i >= mutated {
				continue
			}
			for _, member := range members[kind] {
				for _, value := range values {
					var object map[string]json.RawMessage
					if err := json.Unmarshal([]byte(text), &object); err != nil {
						continue
					}
					object[member] = json.RawMessage(value)
					changed, err := json.Marshal(object)
					if err != nil {
						t.Fatal(err)
					}
					count(string(changed))
				}
			}
		}
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
	if accepted < 200 || refused < 500 {
		t.Errorf("%d were accepted and %d refused: too few", accepted, refused)
	}
}
