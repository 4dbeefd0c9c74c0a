package basefiles_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/basefiles"
)

func TestGitIgnored_ListsFilesThatGitWouldNotTrack(t *testing.T) {
	root := plant(t, map[string]string{
		".gitignore": "/local\n*.draft\n:odd\nforced\nprivate/\n", "app/.gitignore": "*.bak\n",
		"app/local": "", "app/a.draft": "", "app/sub/b.draft": "", "app/c.bak": "", "app/fine": "", "app/:odd": "", "app/forced": "",
		"app/private/a": "", "app/private/b/c": "", "app/sub/private/forced": "", "app/sub/private/d": "", "app/node_modules/a.draft": "",
	})
	git(t, root, "init", "-q")
	git(t, root, "add", "-f", "app/forced", "app/sub/private/forced") // tracked after all
	app := basefiles.Options{Workspace: root, Root: filepath.Join(root, "app")}
	// As in a hook of another repository.
	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GIT_INDEX_FILE", "nowhere")
	want := []string{":odd", "a.draft", "c.bak", "private/a", "private/b/c", "sub/b.draft", "sub/private/d"}
	if diff := cmp.Diff(want, basefiles.GitIgnored(ctx, choose(t, app))); diff != "" {
		t.Error(diff)
	}
}

func TestGitIgnored_DetectsIgnoredAppRoot(t *testing.T) {
	root := plant(t, map[string]string{".gitignore": "[a]pps/\n", "apps/[web]/a": "", "apps/[web]/src/b": "", "apps/w": ""})
	git(t, root, "init", "-q")
	app := basefiles.Options{Workspace: root, Root: filepath.Join(root, "apps/[web]")}
	if diff := cmp.Diff([]string{"a", "src/b"}, basefiles.GitIgnored(ctx, choose(t, app))); diff != "" {
		t.Error(diff)
	}
}

func TestGitIgnored_IsZeroWithoutGit(t *testing.T) {
	s := choose(t, at(plant(t, named(".gitignore", "a"))))
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(t.TempDir()))
	if paths := basefiles.GitIgnored(ctx, s); len(paths) > 0 {
		t.Errorf("outside a repository: %q", paths)
	}
	t.Setenv("PATH", t.TempDir())
	if paths := basefiles.GitIgnored(ctx, s); len(paths) > 0 {
		t.Errorf("without git: %q", paths)
	}
}

func TestGitIgnored_RunsNoProgramOfTheRepository(t *testing.T) {
	root := plant(t, named("a", "b"))
	git(t, root, "init", "-q")
	trap := filepath.Join(root, ".git", "trap")
	must(t, os.WriteFile(trap, []byte("#!/bin/sh\ntouch '"+trap+".sprung'\n"), 0o777))
	git(t, root, "add", "a")
	git(t, root, "config", "core.fsmonitor", trap)
	s := choose(t, at(root))
	basefiles.GitIgnored(ctx, s)
	if _, err := os.Stat(trap + ".sprung"); err == nil {
		t.Error("the repository's fsmonitor ran")
	}
	git(t, root, "status")
	if _, err := os.Stat(trap + ".sprung"); err != nil {
		t.Errorf("the trap does not work: %v", err)
	}
}
