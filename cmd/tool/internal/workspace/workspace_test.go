package workspace_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/wire"
)

// clientJSON is where the tests' local project web has its client.json.
const clientJSON = ".tool/web/client.json"

func TestFind_NearestWorkspaceAbove(t *testing.T) {
	dir := tempDir(t)
	write(t, dir, ".tool/a/client.json", "{}")
	write(t, dir, "apps/web/.tool/b/client.json", "{}")
	write(t, dir, "apps/web/src/main.ts", "")
	write(t, dir, "apps/linked/.keep", "")
	symlink(t, "../../.tool", filepath.Join(dir, "apps/linked/.tool"))
	write(t, dir, "apps/file/.tool", "no directory")
	symlink(t, filepath.Join(dir, "apps/web/src"), filepath.Join(dir, "shortcut"))
	for from, want := range map[string]string{
		".":            ".",
		"apps":         ".",
		"apps/web":     "apps/web",
		"apps/web/src": "apps/web",
		"apps/linked":  ".",
		"apps/file":    ".",
		"shortcut":     "apps/web",
	} {
		w, err := workspace.Find(filepath.Join(dir, from))
		if err != nil {
			t.Errorf("from %s: %v", from, err)
		} else if w.Dir != filepath.Join(dir, want) {
			t.Errorf("from %s found %s, want %s", from, w.Dir, want)
		}
	}

	t.Chdir(filepath.Join(dir, "apps"))
	if w, err := workspace.Find("."); err != nil || w.Dir != dir {
		t.Errorf("from the current directory: %v, %v", w, err)
	}
}

func TestFind_StopsAtHomeDirectory(t *testing.T) {
	home := tempDir(t)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	write(t, home, ".tool/dot/client.json", "{}")
	write(t, home, "code/Web App/main.ts", "")

	_, err := workspace.Find(filepath.Join(home, "code/Web App"))
	e := wantFault(t, err, failure.CodeNoWorkspace, "holds a directory .tool")
	if want := "[tool init web-app]"; fmt.Sprint(e.Recipe) != want || e.Hint == "" {
		t.Errorf("recipe %v, want %s; hint %q", e.Recipe, want, e.Hint)
	}
	if w, err := workspace.Find(home); err != nil || w.Dir != home {
		t.Errorf("from the home directory itself: %v, %v", w, err)
	}

	t.Setenv("HOME", filepath.Join(home, "code"))
	t.Setenv("USERPROFILE", filepath.Join(home, "code"))
	_, err = workspace.Find(filepath.Join(home, "code"))
	wantFault(t, err, failure.CodeNoWorkspace)
}

func TestFind_StopsAtDirectoryOfAnotherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving a directory to somebody else takes root: run the test as root")
	}
	shared := tempDir(t)
	write(t, shared, ".tool/web/client.json", "{}")
	write(t, shared, "mine/sub/x", "")
	write(t, shared, "theirs/.tool/web/client.json", "{}")
	write(t, shared, "theirs/sub/x", "")
	write(t, shared, "planted/.tool/web/client.json", "{}")
	const stranger = 12345
	for _, name := range []string{".", "theirs", "theirs/.tool", "theirs/sub", "planted/.tool"} {
		if err := os.Lchown(filepath.Join(shared, name), stranger, stranger); err != nil {
			t.Fatal(err)
		}
	}
	for from, found := range map[string]bool{
		"mine":     false, // the workspace above belongs to a stranger
		"mine/sub": false,
		"planted":  false, // a stranger put .tool into the user's directory
		"theirs":   true,  // the user went to the stranger's workspace
	} {
		w, err := workspace.Find(filepath.Join(shared, from))
		if found != (err == nil) {
			t.Errorf("from %s: %v, %v", from, w, err)
		}
	}
	if w, err := workspace.Find(filepath.Join(shared, "theirs/sub")); err != nil ||
		w.Dir != filepath.Join(shared, "theirs") {
		t.Errorf("within one stranger's tree: %v, %v", w, err)
	}
}

func TestFind_NamesMissingDirectory(t *testing.T) {
	dir := tempDir(t)
	write(t, dir, ".tool/web/client.json", "{}")
	for _, name := range []string{"absent", clientJSON} {
		_, err := workspace.Find(filepath.Join(dir, name))
		wantFault(t, err, failure.CodeNoWorkspace, "directory ", name+": ")
	}
}

func TestProjects_AreDirectoriesWithClientOrStack(t *testing.T) {
	w := newWorkspace(t, map[string]string{
		".tool/web/client.json":     "{}",
		".tool/api/stack.json":      "{}",
		".tool/.cache/client.json":  "{}",
		".tool/empty/manifest.json": "{}",
		".tool/file":                "",
		"packages/lib/client.json":  "{}",
	})
	symlink(t, "../packages/lib", filepath.Join(w.Dir, ".tool/lib"))
	symlink(t, filepath.Join(w.Dir, "packages/lib"), filepath.Join(w.Dir, ".tool/lib2"))
	outside := tempDir(t)
	write(t, outside, "client.json", "{}")
	symlink(t, outside, filepath.Join(w.Dir, ".tool/out"))
	names, err := w.Projects()
	if diff := cmp.Diff([]string{"api", "lib", "lib2", "web"}, names); diff != "" || err != nil {
		t.Errorf("Projects (-want +got), error %v:\n%s", err, diff)
	}
	for _, name := range names {
		if p, err := w.Project(name); err != nil || p.Name != name {
			t.Errorf("Project(%q) = %v, %v", name, p, err)
		}
	}
}

func TestProject_UnknownNameListsExisting(t *testing.T) {
	w := newWorkspace(t, map[string]string{".tool/web/client.json": "{}", ".tool/admin/stack.json": "{}", ".tool/x/y": ""})
	for name, hint := range map[string]string{
		"wbe":       "did you mean web? local projects: admin, web",
		"Admin":     "did you mean admin? local projects: admin, web",
		"shop":      "local projects: admin, web",
		"x":         "local projects: admin, web",
		".tool/web": "did you mean web? local projects: admin, web",
	} {
		_, err := w.Project(name)
		if e := wantFault(t, err, failure.CodeNoLocalProject, "no local project"); e.Hint != hint {
			t.Errorf("%s: hint %q, want %q", name, e.Hint, hint)
		}
	}

	_, err := newWorkspace(t, map[string]string{".tool/.keep": ""}).Project("web")
	if e := wantFault(t, err, failure.CodeNoLocalProject, `"web"`); fmt.Sprint(e.Recipe) != "[tool init web]" {
		t.Errorf("recipe %v", e.Recipe)
	}
}

func TestProject_NameIsOneSegment(t *testing.T) {
	w := newWorkspace(t, map[string]string{clientJSON: "{}", "client.json": "{}", ".tool/client.json": "{}",
		".tool/.web/client.json": "{}", ".tool/a/b/client.json": "{}"})
	for _, name := range []string{"", ".", "..", "../.tool/web", "a/b", `a\b`, `..\x`, ".web", "web/", "/web", "web\x00",
		"C:web", "./web", strings.Repeat("x", 5000)} {
		_, err := w.Project(name)
		wantFault(t, err, failure.CodeNoLocalProject)
	}
}

// newWorkspace returns a workspace of its own with the given files.
func newWorkspace(t testing.TB, files map[string]string) *workspace.Workspace {
	t.Helper()
	dir := tempDir(t)
	for name, text := range files {
		write(t, dir, name, text)
	}
	return find(t, dir)
}

func find(t testing.TB, dir string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// newClient returns the client.json of the only local project, web.
func newClient(t testing.TB, text string) *workspace.Client {
	t.Helper()
	return client(t, newWorkspace(t, map[string]string{clientJSON: text}))
}

func client(t testing.TB, w *workspace.Workspace) *workspace.Client {
	t.Helper()
	c, err := project(t, w).Client()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func project(t testing.TB, w *workspace.Workspace) *workspace.Project {
	t.Helper()
	p, err := w.Project("web")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tempDir returns a new directory by a path without symlinks.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// files lists the regular files below dir.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(dir, file)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func symlink(t testing.TB, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("symlinks are not allowed here: turn on Windows' developer mode")
		}
		t.Fatal(err)
	}
}

// wantFault returns err as a fault of that code whose reason holds all of texts.
func wantFault(t testing.TB, err error, code wire.Code, texts ...string) failure.Failure {
	t.Helper()
	var e failure.Failure
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want a fault with code %s", err, code)
	}
	if e.Code != code || e.Stage != "" {
		t.Errorf("%v: code %s, stage %q, want %s without a stage", err, e.Code, e.Stage, code)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not hold %q", err, text)
		}
	}
	return e
}
