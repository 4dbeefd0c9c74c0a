package golden_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestPush_AsksOnceBeforeFilesThatGitIgnores(t *testing.T) {
	t.Parallel()
	need(t, "git", "apt-get install git")
	w := newLocal(t, before)
	w.write(".gitignore", "secrets/\n")
	w.write("secrets/key.json", "{}\n")
	if out, err := exec.Command("git", "init", "-q", w.dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	const leave, push = "> Cancel", "> Push them"
	baseFiles := func() string {
		text, _ := w.fetch("/v1/projects/alice/web/preview/base-files")
		return text
	}

	term := w.open(usual, "project", "create", "web", "--base-files")
	term.wait(leave)
	golden(t, "screen/push-ignored.txt",
		strings.NewReplacer(w.hub.origin, "http://hub.example.com", filepath.Dir(w.dir), "DIR").Replace(term.text()))
	term.press(enter)
	term.ends(0)
	if _, status := w.fetch("/v1/projects/alice/web"); status != 404 {
		t.Errorf("the project exists after a no: %d", status)
	}
	w.must("project", "create", "web")

	term = w.open(usual, "push", "web", "--base-files-only")
	w.talk(term, []turn{{leave, "", enter}})
	term.ends(0)
	if files := baseFiles(); strings.Contains(files, "secrets") {
		t.Errorf("pushed after a no: %s", files)
	}
	term = w.open(usual, "push", "web", "--base-files-only")
	w.talk(term, []turn{{leave, "", up}, {push, "", enter}})
	term.ends(0)
	if files := baseFiles(); !strings.Contains(files, "secrets/key.json") {
		t.Errorf("not pushed after a yes: %s", files)
	}
	w.write("secrets/key.json", "{\"new\": 1}\n")
	term = w.open(usual, "push", "web", "--base-files-only")
	term.ends(0) // the answer is remembered
}
