//go:build unix

package golden_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stub puts a program first in PATH that appends its arguments and its environment
// to a file, whose path it returns.
func (w *world) stub(name string) (record string) {
	w.t.Helper()
	record = filepath.Join(filepath.Dir(w.dir), name+".record")
	w.write("../stubs/"+name, "#!/bin/sh\n{ echo \"$@\"; env; echo done; } >> '"+record+"'\n")
	stubs := filepath.Join(w.dir, "../stubs")
	if err := os.Chmod(filepath.Join(stubs, name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.env = append(w.env, "PATH="+stubs+":"+programs()+":"+os.Getenv("PATH"))
	return record
}

func TestPush_StartsGitWithoutSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	record := w.stub("git")
	w.env = append(w.env, "TOOL_HUB_TOKEN="+w.token, "TOOL_API_ORIGIN="+w.origin, "OTHER="+w.token, "HUB_DB=postgres://hub:secret@db/hub")
	w.must("push", "web", "--base-files-only", "--no-input")
	checkNoSecrets(t, record, w.token)
}

func TestProjectView_StartsTheBrowserWithoutSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	record := w.stub("xdg-open")
	w.env = append(w.env, "TOOL_HUB_TOKEN="+w.token, "TOOL_API_ORIGIN="+w.origin, "HUB_DB=postgres://hub:secret@db/hub")
	// A shell that waits, as a person's does, keeps the browser from being hung up on.
	shell := exec.Command("sh", "-c", "tool project view @alice/web --web && until grep -q '^done$' "+record+"; do :; done")
	shell.Dir, shell.Env = w.dir, w.env
	open(t, shell, usual, false).ends(0)
	checkNoSecrets(t, record, w.token)
}

// checkNoSecrets checks what a stub recorded.
func checkNoSecrets(t *testing.T, record, token string) {
	t.Helper()
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatalf("the program was not started: %v", err)
	}
	for _, secret := range []string{token, "secret", "TOOL_HUB_TOKEN"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the program was started with %s:\n%s", secret, text)
		}
	}
}
