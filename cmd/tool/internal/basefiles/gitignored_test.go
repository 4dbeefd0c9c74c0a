package basefiles_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/basefiles"
)

func gitIgnored(s *basefiles.Selection) []string { return s.GitIgnored(ctx, s.Files) }

func TestGitIgnored_ListsFilesThatGitWouldNotTrack(t *testing.T) {
	root := plant(t, map[string]string{
		".gitignore": "/local\n*.draft\n:odd\n\\[x]*\nforced\nprivate/\n", "app/.gitignore": "*.bak\n",
		"app/local": "", "app/a.draft": "", "app/sub/b.draft": "", "app/c.bak": "", "app/fine": "", "app/:odd": "", "app/[x]*": "", "app/forced": "",
		"app/private/a": "", "app/private/b/c": "", "app/sub/private/forced": "", "app/sub/private/d": "", "app/node_modules/a.draft": "", "app/module/a.draft": "",
	})
	git(t, root, "init", "-q")
	git(t, root, "add", "-f", "app/forced", "app/sub/private/forced") // tracked after all
	module := filepath.Join(root, "app/module")
	git(t, module, "init", "-q")
	git(t, module, "add", "-f", "a.draft")
	git(t, module, "commit", "-q", "-m", "a submodule tracks its files itself")
	git(t, root, "add", "app/module")
	app := basefiles.Options{Workspace: root, Root: filepath.Join(root, "app")}
	// As in a hook of another repository.
	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GIT_INDEX_FILE", "nowhere")
	t.Setenv("GIT_LITERAL_PATHSPECS", "1")
	want := []string{":odd", "[x]*", "a.draft", "c.bak", "private/a", "private/b/c", "sub/b.draft", "sub/private/d"}
	if diff := cmp.Diff(want, gitIgnored(choose(t, app))); diff != "" {
		t.Error(diff)
	}
}

func TestGitIgnored_DetectsIgnoredAppRoot(t *testing.T) {
	root := plant(t, map[string]string{".gitignore": "[a]pps/\n", "apps/[web]/a": "", "apps/[web]/src/b": "", "apps/w": ""})
	git(t, root, "init", "-q")
	app := basefiles.Options{Workspace: root, Root: filepath.Join(root, "apps/[web]")}
	if diff := cmp.Diff([]string{"a", "src/b"}, gitIgnored(choose(t, app))); diff != "" {
		t.Error(diff)
	}
}

func TestGitIgnored_IsZeroWithoutGit(t *testing.T) {
	s := choose(t, at(plant(t, named(".gitignore", "a"))))
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(t.TempDir()))
	if paths := gitIgnored(s); len(paths) > 0 {
		t.Errorf("outside a repository: %q", paths)
	}
	t.Setenv("PATH", t.TempDir())
	if paths := gitIgnored(s); len(paths) > 0 {
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
	gitIgnored(s)
	if _, err := os.Stat(trap + ".sprung"); err == nil {
		t.Error("the repository's fsmonitor ran")
	}
	git(t, root, "status")
	if _, err := os.Stat(trap + ".sprung"); err != nil {
		t.Errorf("the trap does not work: %v", err)
	}
}

// Git fetches an object that a partial clone lacks, by a program that the repository names.
func TestGitIgnored_FetchesNothing(t *testing.T) {
	root := plant(t, map[string]string{".gitignore": "ignored\n", "ignored": "", "app/a": "", "other/b": ""})
	git(t, root, "init", "-q")
	git(t, root, "add", ".gitignore", "app", "other")
	git(t, root, "commit", "-q", "-m", "all")
	git(t, root, "sparse-checkout", "init", "--cone", "--sparse-index")
	git(t, root, "sparse-checkout", "set", "app")
	sprung := filepath.Join(root, ".git", "sprung")
	for name, value := range map[string]string{
		"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
		"remote.origin.url": "ext::touch " + sprung, "protocol.ext.allow": "always",
	} {
		git(t, root, "config", name, value)
	}
	tree := strings.TrimSpace(git(t, root, "rev-parse", "HEAD:other")) // which the sparse index names
	must(t, os.Remove(filepath.Join(root, ".git", "objects", tree[:2], tree[2:])))
	gitIgnored(choose(t, at(root)))
	if _, err := os.Stat(sprung); err == nil {
		t.Error("the repository's transport ran")
	}
	_ = exec.Command("git", "-C", root, "ls-files").Run()
	if _, err := os.Stat(sprung); err != nil {
		t.Errorf("the trap does not work: %v", err)
	}
}
