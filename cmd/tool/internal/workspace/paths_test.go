package workspace_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

func TestAppRoot_IsParentOfBasePath(t *testing.T) {
	w := newWorkspace(t, map[string]string{".tool/web/stack.json": "{}", "apps/web/src/main.ts": ""})
	symlink(t, "apps/web", filepath.Join(w.Dir, "linked"))
	symlink(t, filepath.Join(w.Dir, "apps"), filepath.Join(w.Dir, "absolute"))
	for settings, want := range map[string]string{
		`{}`:                              ".",
		`{"basePath": "src"}`:             ".",
		`{"basePath": "."}`:               ".",
		`{"basePath": "./"}`:              ".",
		`{"basePath": ""}`:                ".",
		`{"basePath": "apps/web/src"}`:    "apps/web",
		`{"basePath": "./apps/web/src/"}`: "apps/web",
		`{"basePath": "apps/x/../web/s"}`: "apps/web",
		`{"basePath": "not/yet/src"}`:     "not/yet",
		`{"basePath": "linked/src"}`:      "apps/web",
		`{"basePath": "absolute/web/x"}`:  "apps/web",
	} {
		write(t, w.Dir, clientJSON, `{"settings": `+settings+`}`)
		if got, err := client(t, w).AppRoot(); got != want || err != nil {
			t.Errorf("%s: app root %q, %v, want %q", settings, got, err, want)
		}
	}
	if got, err := newClient(t, `{}`).AppRoot(); got != "." || err != nil {
		t.Errorf("without settings: %q, %v", got, err)
	}
	_, err := newClient(t, `{"settings": {"basePath": ["src"]}}`).AppRoot()
	wantFault(t, err, failure.CodeInvalidFile, clientJSON+":1:27: settings.basePath is an array: a string was expected")
}

func TestSchema_DistinguishesFileAndURL(t *testing.T) {
	w := newWorkspace(t, map[string]string{".tool/web/stack.json": "{}", "api/openapi.yaml": "openapi: 3.1.0"})
	symlink(t, "api/openapi.yaml", filepath.Join(w.Dir, "linked.yaml"))
	for source, want := range map[string]workspace.Schema{
		"api/openapi.yaml":               {File: "api/openapi.yaml"},
		"./api//openapi.yaml":            {File: "api/openapi.yaml"},
		"linked.yaml":                    {File: "linked.yaml"},
		"http://x.test/a.yaml":           {URL: "http://x.test/a.yaml"},
		"HTTPS://x.test/a?b#c":           {URL: "HTTPS://x.test/a?b#c"},
		"https://x.test/../../etc/hosts": {URL: "https://x.test/../../etc/hosts"},
	} {
		s, err := withSource(t, w, source).Schema()
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if s.File != want.File || s.URL != want.URL {
			t.Errorf("%s: file %q, URL %q", source, s.File, s.URL)
		}
		if s.URL == "" {
			if text, err := s.Read(); string(text) != "openapi: 3.1.0" || err != nil {
				t.Errorf("%s reads as %q, %v", source, text, err)
			}
		}
	}
}

func TestSchema_UnreadableFileIsNamed(t *testing.T) {
	w := newWorkspace(t, map[string]string{".tool/web/stack.json": "{}", "dir/x": ""})
	_, err := newClient(t, "{}").Schema()
	if e := wantFault(t, err, failure.CodeInvalidFile, clientJSON+`: no "source"`); e.Hint == "" {
		t.Error("no hint")
	}
	for source, reason := range map[string]string{
		"":                     "it is empty",
		"ftp://x.test/a":       `"ftp://x.test/a" has another scheme than http and https`,
		"file:///etc/hosts":    "another scheme",
		`api\openapi.yaml`:     `"api\\openapi.yaml" holds a backslash`,
		"a\x00b":               "holds a null character",
		strings.Repeat("x", 9): "xxxxxxxxx: no such file",
		"dir":                  "dir: is a directory",
		"dir/x/y":              "dir/x/y: not a directory",
	} {
		s, err := withSource(t, w, source).Schema()
		if err == nil {
			_, err = s.Read()
		}
		wantFault(t, err, failure.CodeInvalidFile, clientJSON+":1:12: source: ", reason)
	}
	write(t, w.Dir, "huge.yaml", strings.Repeat("#", 16<<20+1))
	s, err := withSource(t, w, "huge.yaml").Schema()
	if err == nil {
		_, err = s.Read()
	}
	wantFault(t, err, failure.CodeInvalidFile, "huge.yaml: larger than 16 MiB")
}

func TestPaths_NeverLeaveWorkspace(t *testing.T) {
	outside := tempDir(t)
	write(t, outside, "secret/openapi.yaml", "secret")
	w := newWorkspace(t, map[string]string{".tool/web/stack.json": "{}", "in/x": ""})
	relative, err := filepath.Rel(w.Dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	symlink(t, filepath.Join(outside, "secret"), filepath.Join(w.Dir, "absolute"))
	symlink(t, filepath.Join(relative, "secret"), filepath.Join(w.Dir, "relative"))
	symlink(t, filepath.Join(outside, "secret/openapi.yaml"), filepath.Join(w.Dir, "in/file"))
	symlink(t, "../absolute", filepath.Join(w.Dir, "in/twice"))
	symlink(t, "..", filepath.Join(w.Dir, "up"))
	symlink(t, "/", filepath.Join(w.Dir, "in/root"))

	hostile := []string{
		"..", "../x", "../../etc/passwd", "a/../../x", "./../x", "in/../../x", "../" + filepath.Base(w.Dir) + "/in",
		"/", "/etc/passwd", "//server/share", "///x", filepath.ToSlash(outside) + "/secret/openapi.yaml",
		`C:\Windows\win.ini`, "C:/Windows/win.ini", "c:x", `\\server\share`, `\x`, `..\x`, `..\..\x`, `in\..\..\x`,
		"absolute/openapi.yaml", "relative/openapi.yaml", "in/file", "in/twice/openapi.yaml", "up/x",
		"in/root" + filepath.ToSlash(outside) + "/secret/openapi.yaml",
		"absolute", "relative", "in/twice", "up", "in/root", "absolute/new/file", "in/root/new",
	}
	for _, path := range hostile {
		_, err := withSource(t, w, path).Schema()
		wantFault(t, err, failure.CodeOutsideWorkspace, clientJSON+":1:12: source: ")

		quoted, _ := json.Marshal(path)
		write(t, w.Dir, clientJSON, `{"settings": {"basePath": `+string(quoted)+`}}`)
		_, err = client(t, w).AppRoot()
		wantFault(t, err, failure.CodeOutsideWorkspace, clientJSON+":1:27: settings.basePath: ")
	}
	if len(hostile) < 30 {
		t.Errorf("only %d hostile paths", len(hostile))
	}
}

func TestSchema_DoesNotFollowSwappedSymlink(t *testing.T) {
	outside := tempDir(t)
	write(t, outside, "openapi.yaml", "secret")
	for _, swap := range []struct{ name, target string }{
		{"api/openapi.yaml", filepath.Join(outside, "openapi.yaml")},
		{"api", outside},
	} {
		w := newWorkspace(t, map[string]string{".tool/web/stack.json": "{}", "api/openapi.yaml": "openapi: 3.1.0"})
		s, err := withSource(t, w, "api/openapi.yaml").Schema()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(w.Dir, swap.name)); err != nil {
			t.Fatal(err)
		}
		symlink(t, swap.target, filepath.Join(w.Dir, swap.name))
		text, err := s.Read()
		if len(text) > 0 {
			t.Errorf("%s: read %q", swap.name, text)
		}
		wantFault(t, err, failure.CodeOutsideWorkspace, "source: ")
		if text, err := workspace.ReadResolved(w, "api/openapi.yaml"); err == nil {
			t.Errorf("%s: read %q after it was resolved", swap.name, text)
		}
	}
}

// withSource returns w's client.json with that source.
func withSource(t *testing.T, w *workspace.Workspace, source string) *workspace.Client {
	t.Helper()
	quoted, err := json.Marshal(source)
	if err != nil {
		t.Fatal(err)
	}
	write(t, w.Dir, clientJSON, `{"source": `+string(quoted)+`}`)
	return client(t, w)
}
