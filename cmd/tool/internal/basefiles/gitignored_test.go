package basefiles_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/projecthub/cmd/tool/internal/basefiles"
)

func TestGitIgnoredCountsWhatGitWouldNotTrack(t *testing.T) {
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
	count, example := basefiles.GitIgnored(ctx, choose(t, app))
	if count != 7 || example != ":odd" {
		t.Errorf("GitIgnored = %d, %q, want 7, \":odd\"", count, example)
	}
}

func TestGitIgnoredKnowsAnAppThatIsIgnoredAsAWhole(t *testing.T) {
	root := plant(t, map[string]string{".gitignore": "[a]pps/\n", "apps/[web]/a": "", "apps/[web]/src/b": "", "apps/w": ""})
	git(t, root, "init", "-q")
	app := basefiles.Options{Workspace: root, Root: filepath.Join(root, "apps/[web]")}
	if count, example := basefiles.GitIgnored(ctx, choose(t, app)); count != 2 || example != "a" {
		t.Errorf("GitIgnored = %d, %q, want 2, \"a\"", count, example)
	}
}

func TestGitIgnoredIsNothingWhereGitCannotTell(t *testing.T) {
	s := choose(t, at(plant(t, named(".gitignore", "a"))))
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(t.TempDir()))
	if count, example := basefiles.GitIgnored(ctx, s); count != 0 || example != "" {
		t.Errorf("outside a repository: %d, %q", count, example)
	}
	t.Setenv("PATH", t.TempDir())
	if count, _ := basefiles.GitIgnored(ctx, s); count != 0 {
		t.Errorf("without git: %d", count)
	}
}

func TestGitIgnoredRunsNoProgramOfTheRepository(t *testing.T) {
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
