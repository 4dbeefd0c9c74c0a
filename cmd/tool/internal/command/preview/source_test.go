package preview

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/cmd/tool/internal/watcher"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

func testSource(t *testing.T, files map[string]string) *source {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	local, err := ws.Project("web")
	if err != nil {
		t.Fatal(err)
	}
	a := app.New(func(string) (string, bool) { return "", false }, term.Streams{})
	a.Cache = t.TempDir()
	return &source{app: a, local: local}
}

var project = map[string]string{
	".tool/web/client.json": `{"source": "api.yaml", "settings": {"basePath": "app/src"}}`,
	".tool/web/stack.json":  `{"name": "@a/web", "version": "1.0.0", "preview": {"module": "mod.ts", "contract": 1}}`,
	".tool/web/mod.ts":      "export const toArtifacts = () => ({artifacts: {}})",
	".tool/web/notes.md":    "not importable",
	"api.yaml":              "openapi: 3.1.0\npaths: {}\n",
	"app/index.html":        "<p>",
	"app/.toolignore":       "/left-out\n",
	"app/left-out":          "no",
	"secret.txt":            "outside the app",
}

func paths(files map[string]file) []string { return slices.Sorted(maps.Keys(files)) }

func TestSource_ReadsWhatIsPushedAndPublished(t *testing.T) {
	t.Parallel()
	s := testSource(t, project)
	now, err := s.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(paths(now.files), " "); got != ".toolignore index.html" {
		t.Errorf("base files %s", got)
	}
	if got := strings.Join(paths(now.Stack.files), " "); got != "mod.ts stack.json" {
		t.Errorf("files of the stack %s", got)
	}
	if now.Stack.Name != "@a/web" || now.Stack.Version != "1.0.0" || now.Stack.Module != "mod.ts" ||
		string(now.Config) != `{"basePath":"app/src"}` {
		t.Errorf("%+v %s", now.Stack, now.Config)
	}
	again, err := s.read(t.Context())
	if err != nil || !again.same(now) {
		t.Errorf("it differs from itself: %v", err)
	}
}

// A link may lead anywhere, also if it was put there after the file was chosen.
func TestSource_FollowsNoLinkOutOfTheApp(t *testing.T) {
	t.Parallel()
	s := testSource(t, project)
	dir := s.local.Workspace.Dir
	for link, to := range map[string]string{"app/link.txt": "../secret.txt", "app/etc": "/etc",
		".tool/web/evil.ts": "/etc/passwd", ".tool/web/up": "../.."} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	now, err := s.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(paths(now.files), paths(now.Stack.files))
	if got := strings.Join(all, " "); got != ".toolignore index.html mod.ts stack.json" {
		t.Errorf("it reads %s", got)
	}
	if err := os.Remove(filepath.Join(dir, "api.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "api.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.read(t.Context()); err == nil || !strings.Contains(err.Error(), "leads out of the workspace") {
		t.Errorf("a description outside the workspace: %v", err)
	}
	client := filepath.Join(dir, ".tool/web/client.json")
	for _, basePath := range []string{"../src", "/etc/src", ".tool/web/up/src"} {
		if err := os.WriteFile(client, []byte(`{"source": "secret.txt", "settings": {"basePath": "`+basePath+`"}}`),
			0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.read(t.Context()); err == nil {
			t.Errorf("basePath %s is read", basePath)
		}
	}
}

func TestSource_WatchesAllFilesOfTheDescription(t *testing.T) {
	t.Parallel()
	files := maps.Clone(project)
	files["api.yaml"] = "openapi: 3.1.0\npaths:\n  /pets:\n    $ref: api/paths/pets.yaml\n"
	files["api/paths/pets.yaml"] = "get:\n  responses:\n    '200':\n      content: {application/json: {schema: {$ref: " +
		"../schemas/Pet.json}}}\n"
	files["api/schemas/Pet.json"] = `{"type": "object", "title": "First"}`
	s := testSource(t, files)
	if now, err := s.read(t.Context()); err != nil || !strings.Contains(string(now.API), "First") {
		t.Fatalf("%v", err)
	}
	for name, isIgnored := range map[string]bool{
		"api.yaml": false, "api/paths/pets.yaml": false, "api/schemas/Pet.json": false, "api/schemas/New.yml": false,
		"app/index.html": false,
		"secret.txt":     true, "api/schemas/notes.md": true, ".tool/web/pulled.json": true,
	} {
		path := s.local.Workspace.Path(name)
		if !slices.Contains(s.dirs, filepath.Dir(path)) {
			t.Errorf("%s is not watched: %q", name, s.dirs)
		}
		if s.ignored(path) != isIgnored {
			t.Errorf("%s is ignored: %v", name, !isIgnored)
		}
	}

	w := watcher.New(func(warning string) { t.Error(warning) })
	defer w.Close()
	shown := make(chan string, 9)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	w.Add(s.dirs...)
	go func() {
		ended <- s.follow(ctx, w, func(now snapshot, _ *failed) { shown <- string(now.API) })
	}()
	if err := os.WriteFile(s.local.Workspace.Path("api/schemas/Pet.json"),
		[]byte(`{"type": "object", "title": "Second"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := <-shown; !strings.Contains(got, "Second") {
		t.Errorf("it shows %s", got)
	}
	stop()
	<-ended
}

func TestSource_BoundsWhatItReads(t *testing.T) {
	t.Parallel()
	s := testSource(t, project)
	large := func(name string, size int64) {
		t.Helper()
		path := filepath.Join(s.local.Workspace.Dir, filepath.FromSlash(name))
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	large("app/film.bin", maxFile+1)
	now, err := s.read(t.Context())
	if err != nil || now.files["film.bin"].content != nil || now.files["film.bin"].size != maxFile+1 {
		t.Errorf("a large file: %v", err)
	}
	for _, name := range []string{"a", "b", "c"} {
		large("app/"+name, 20<<20)
	}
	if _, err := s.read(t.Context()); err == nil || !strings.Contains(err.Error(), "a preview takes at most 64 MiB") {
		t.Errorf("too many bytes: %v", err)
	}
	for _, name := range []string{"a", "b", "c"} {
		large("app/"+name, 0)
	}
	large(".tool/web/data.json", maxStack)
	if _, err := s.read(t.Context()); err == nil || !strings.Contains(err.Error(), "a preview takes at most 16 MiB") {
		t.Errorf("a large stack: %v", err)
	}
}
