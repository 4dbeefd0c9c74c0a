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

func gitIgnored(t *testing.T, o basefiles.Options) []string {
	t.Helper()
	ignored, err := basefiles.GitIgnored(ctx, o.Root, choose(t, o).Files)
	must(t, err)
	return ignored
}

func TestGitIgnored_ListsFilesThatGitWouldNotTrack(t *testing.T) {
	root := plant(t, map[string]string{
		".gitignore": "/local\n*.draft\n:odd\n\\[x]*\nforced\nprivate/\n", "app/.gitignore": "*.bak\n",
		"app/local": "", "app/a.draft": "", "app/sub/b.draft": "", "app/c.bak": "", "app/fine": "", "app/:odd": "",
		"app/[x]*": "", "app/forced": "",
		"app/private/a": "", "app/private/b/c": "", "app/sub/private/forced": "", "app/sub/private/d": "",
		"app/node_modules/a.draft": "", "app/module/a.draft": "",
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
	if diff := cmp.Diff(want, gitIgnored(t, app)); diff != "" {
		t.Error(diff)
	}
}

func TestGitIgnored_DetectsIgnoredAppRoot(t *testing.T) {
	root := plant(t, map[string]string{".gitignore": "[a]pps/\n", "apps/[web]/a": "", "apps/[web]/src/b": "",
		"apps/w": ""})
	git(t, root, "init", "-q")
	app := basefiles.Options{Workspace: root, Root: filepath.Join(root, "apps/[web]")}
	if diff := cmp.Diff([]string{"a", "src/b"}, gitIgnored(t, app)); diff != "" {
		t.Error(diff)
	}
}

func TestGitIgnored_IsZeroOutsideARepository(t *testing.T) {
	if ignored := gitIgnored(t, at(plant(t, named(".gitignore", "a")))); len(ignored) > 0 {
		t.Errorf("%q", ignored)
	}
}

func TestGitIgnored_KnowsWhatGitItselfRefusesToTell(t *testing.T) {
	plantIgnored := func(t *testing.T) basefiles.Options {
		root := plant(t, map[string]string{".gitignore": "private\n", "app/private": "", "app/a": ""})
		git(t, root, "init", "-q")
		return basefiles.Options{Workspace: root, Root: filepath.Join(root, "app")}
	}
	t.Run("the repository of another user", func(t *testing.T) {
		o := plantIgnored(t)
		t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
		if diff := cmp.Diff([]string{"private"}, gitIgnored(t, o)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a bare repository in the app", func(t *testing.T) {
		o := plantIgnored(t)
		git(t, o.Root, "init", "-q", "--bare", ".")
		if diff := cmp.Diff([]string{"private"}, gitIgnored(t, o)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestGitIgnored_FailsWhenItIsNotKnown(t *testing.T) {
	need(t, "git")
	root := plant(t, named("app/a", "b"))
	must(t, os.Mkdir(filepath.Join(root, ".git"), 0o777))
	app := filepath.Join(root, "app")
	files := choose(t, basefiles.Options{Workspace: root, Root: app}).Files
	ignored, err := basefiles.GitIgnored(ctx, app, files)
	if err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("a broken repository: %q, %v", ignored, err)
	}
	t.Setenv("PATH", t.TempDir())
	if ignored, err := basefiles.GitIgnored(ctx, app, files); err == nil || err.Error() != "git is not installed" {
		t.Errorf("without git: %q, %v", ignored, err)
	}
}

func TestGitIgnored_RunsNoProgramOfTheRepository(t *testing.T) {
	root := plant(t, named("a", "b"))
	git(t, root, "init", "-q")
	trap := filepath.Join(root, ".git", "trap")
	must(t, os.WriteFile(trap, []byte("#!/bin/sh\ntouch '"+trap+".sprung'\n"), 0o777))
	git(t, root, "add", "a")
	git(t, root, "config", "core.fsmonitor", trap)
	gitIgnored(t, at(root))
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
	gitIgnored(t, at(root))
	if _, err := os.Stat(sprung); err == nil {
		t.Error("the repository's transport ran")
	}
	_ = exec.Command("git", "-C", root, "ls-files").Run()
	if _, err := os.Stat(sprung); err != nil {
		t.Errorf("the trap does not work: %v", err)
	}
}
