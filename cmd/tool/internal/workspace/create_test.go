package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func TestCreate_WritesLocalProject(t *testing.T) {
	dir := tempDir(t)
	stack, err := ref.Parse("@acme/web-stack")
	if err != nil {
		t.Fatal(err)
	}
	got, err := workspace.Create(dir, "web",
		workspace.Start{Source: "https://x.test/api.json", BasePath: "apps/web/src", Stack: stack})
	if want := []string{clientJSON, stackJSON, "apps/web/.toolignore"}; !cmp.Equal(got, want) || err != nil {
		t.Fatalf("Create = %v, %v, want %v", got, err, want)
	}
	for name, want := range map[string]string{
		clientJSON: "{\n  \"source\": \"https://x.test/api.json\",\n  \"settings\": {\n    \"basePath\": " +
			"\"apps/web/src\"\n  }\n}\n",
		stackJSON: "{\n  \"name\": \"@acme/web-stack\",\n  \"version\": \"0.1.0\"\n}\n",
	} {
		if diff := cmp.Diff(want, read(t, dir, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for line := range strings.Lines(read(t, dir, "apps/web/.toolignore")) {
		if !strings.HasPrefix(line, "#") {
			t.Errorf("a rule in the new .toolignore: %q", line)
		}
	}

	w := find(t, filepath.Join(dir, "apps/web"))
	c := client(t, w)
	if root, err := c.AppRoot(); root != "apps/web" || err != nil || len(c.Warnings) > 0 {
		t.Errorf("app root %q, %v, warnings %v", root, err, c.Warnings)
	}
	if config, err := c.Config(); config.Len() != 1 || err != nil {
		t.Errorf("config %v, %v", config.Keys(), err)
	}
	s, err := project(t, w).Stack()
	if err != nil {
		t.Fatal(err)
	}
	if name, err := s.Name(); name != stack || err != nil {
		t.Errorf("stack %v, %v", name, err)
	}
	if v, err := s.Version(); v != "0.1.0" || err != nil {
		t.Errorf("version %q, %v", v, err)
	}
}

func TestCreate_Defaults(t *testing.T) {
	dir := tempDir(t)
	got, err := workspace.Create(dir, "web", workspace.Start{})
	if want := []string{clientJSON, stackJSON, ".toolignore"}; !cmp.Equal(got, want) || err != nil {
		t.Fatalf("Create = %v, %v, want %v", got, err, want)
	}
	want := "{\n  \"source\": \"openapi.yaml\",\n  \"settings\": {\n    \"basePath\": \"src\"\n  }\n}\n"
	if diff := cmp.Diff(want, read(t, dir, clientJSON)); diff != "" {
		t.Errorf("client.json (-want +got):\n%s", diff)
	}
	s, err := project(t, find(t, dir)).Stack()
	if err != nil || s.Named() { // the first publish adds the name
		t.Errorf("named, or %v", err)
	}
}

func TestCreate_SecondProjectSharesIgnoreFile(t *testing.T) {
	dir := tempDir(t)
	write(t, dir, ".toolignore", "drafts/\n")
	got, err := workspace.Create(dir, "web", workspace.Start{})
	if want := []string{clientJSON, stackJSON}; !cmp.Equal(got, want) || err != nil {
		t.Errorf("Create = %v, %v, want %v", got, err, want)
	}
	if _, err := workspace.Create(dir, "api", workspace.Start{}); err != nil {
		t.Error(err)
	}
	if names, err := find(t, dir).Projects(); !cmp.Equal(names, []string{"api", "web"}) || err != nil {
		t.Errorf("Projects = %v, %v", names, err)
	}
	if got := read(t, dir, ".toolignore"); got != "drafts/\n" {
		t.Errorf(".toolignore is now %q", got)
	}
}

func TestCreate_OverwritesNothing(t *testing.T) {
	for _, existing := range []string{clientJSON, stackJSON} {
		dir := tempDir(t)
		write(t, dir, existing, "mine")
		_, err := workspace.Create(dir, "web", workspace.Start{BasePath: "apps/web/src"})
		wantFault(t, err, failure.CodeInvalidFile, existing+": file already exists")
		if got := files(t, dir); !cmp.Equal(got, []string{existing}) || read(t, dir, existing) != "mine" {
			t.Errorf("with %s there are %v", existing, got)
		}
	}
	dir := tempDir(t)
	if err := os.MkdirAll(filepath.Join(dir, ".tool/web"), 0o755); err != nil {
		t.Fatal(err)
	}
	symlink(t, "../../elsewhere.json", filepath.Join(dir, clientJSON))
	_, err := workspace.Create(dir, "web", workspace.Start{})
	wantFault(t, err, failure.CodeInvalidFile, clientJSON+": file already exists")
}

func TestCreate_FailureLeavesNothing(t *testing.T) {
	outside := tempDir(t)
	for name, c := range map[string]struct {
		name   string
		start  workspace.Start
		file   string
		code   wire.Code
		reason string
	}{
		"no slug": {"Web App", workspace.Start{}, "", hubclient.CodeInvalidName,
			`"Web App" cannot name a new local project`},
		"a path": {"../web", workspace.Start{}, "", hubclient.CodeInvalidName, `"../web"`},
		"source outside": {"web", workspace.Start{Source: "../openapi.yaml"}, "", failure.CodeOutsideWorkspace,
			`source: "../openapi.yaml" leads out`},
		"base path outside": {"web", workspace.Start{BasePath: "/srv/src"}, "", failure.CodeOutsideWorkspace,
			`base path: "/srv/src" is absolute`},
		"base path by link": {"web", workspace.Start{BasePath: "out/web/src"}, "", failure.CodeOutsideWorkspace,
			"leads out"},
		".tool is a file":     {"web", workspace.Start{}, ".tool", failure.CodeInvalidFile, ".tool: not a directory"},
		"app root is a file":  {"web", workspace.Start{BasePath: "apps/src"}, "apps", failure.CodeInvalidFile, "apps"},
		"app root below file": {"web", workspace.Start{BasePath: "apps/web/src"}, "apps", failure.CodeInvalidFile, "apps"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tempDir(t)
			symlink(t, outside, filepath.Join(dir, "out"))
			want := []string{"out"}
			if c.file != "" {
				write(t, dir, c.file, "")
				want = []string{c.file, "out"}
			}
			_, err := workspace.Create(dir, c.name, c.start)
			e := wantFault(t, err, c.code, c.reason)
			if c.code == hubclient.CodeInvalidName &&
				(len(e.Recipe) != 1 || !strings.HasPrefix(e.Recipe[0].String(), "tool init w")) {
				t.Errorf("recipe %v", e.Recipe)
			}
			if got := entries(t, dir); !cmp.Equal(got, want) {
				t.Errorf("there are now %v, want %v", got, want)
			}
			if got := entries(t, outside); len(got) > 0 {
				t.Errorf("outside there are now %v", got)
			}
		})
	}
	_, err := workspace.Create(filepath.Join(outside, "absent"), "web", workspace.Start{})
	wantFault(t, err, failure.CodeNoWorkspace, "absent: ")
}

// entries lists what is directly in dir.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range list {
		names = append(names, entry.Name())
	}
	return names
}
