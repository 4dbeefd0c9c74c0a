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
	w.write(".git/HEAD", "ref: refs/heads/main\n")
	w.env = append(w.env, "TOOL_HUB_TOKEN="+w.token, "TOOL_API_ORIGIN="+w.origin, "OTHER="+w.token,
		"HUB_DB=postgres://hub:secret@db/hub")
	w.must("push", "web", "--base-files-only", "--no-input")
	checkNoSecrets(t, record, w.token)
}

func TestProjectView_StartsTheBrowserWithoutSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	record := w.stub("xdg-open")
	w.env = append(w.env, "TOOL_HUB_TOKEN="+w.token, "TOOL_API_ORIGIN="+w.origin, "HUB_DB=postgres://hub:secret@db/hub")
	// A shell that waits, as a person's does, keeps the browser from being hung up on.
	shell := exec.Command("sh", "-c",
		"tool project view @alice/web --web && until grep -q '^done$' "+record+"; do :; done")
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

// A token that is given in the wrong place is in the history of a shell already. It
// is not to be in a log, too.
func TestOutput_HasNoWholeToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	cut := w.token[:30]
	for _, token := range []string{w.token, cut, w.token[1:], w.token + "x", w.token[:20] + "-" + w.token[20:]} {
		for _, args := range [][]string{
			{"login", token}, {"login", "--origin", token}, {"login", "--token", token + "y"}, {"push", token},
			{"push", "web", "--project", token},
			{"push", "web", "--project", "@alice/" + token}, {"push", "web", "--if-revision", token}, {"push", "--" + token},
			{"push", "web", "--timeout", token},
			{"push", "web", "--verbose", "--origin", "http://127.0.0.1:1/" + token}, {"pull", token},
			{"pull", "web", "--base-files", "--output", token},
			{"publish", token}, {"status", token}, {"status", "-C", token}, {"project", "create", token},
			{"project", "create", "web", "--from", token},
			{"project", "create", "web", "--visibility", token}, {"project", "create", "web", "--stack-version", token},
			{"project", "list", token},
			{"project", "view", token}, {"project", "view", "@alice/" + token}, {"project", "rm", token, "--force"},
			{"project", token},
			{"init", token, "--stack", token}, {"init", "a", "b", token}, {token}, {"help", token}, {"completion", token},
			{"__complete", "push", token},
		} {
			for _, args := range [][]string{args, append(args[:len(args):len(args)], "--json")} {
				out, _ := w.command(args...).CombinedOutput() // most fail, as they should
				if longToken.Match(out) || strings.Contains(string(out), token[12:]) ||
					strings.Contains(string(out), token[13:25]) {
					t.Errorf("tool %s prints a token:\n%s", strings.Join(args, " "), out)
				}
			}
		}
		for _, args := range [][]string{{"account", "create", token}, {token}, {"token", "revoke", token},
			{"token", "create", "--user", token, "--name", "x"}, {"gc", "--audit-days", token}, {"--" + token}} {
			c := exec.Command(program("hub"), args...)
			c.Env = append(w.env, "HUB_DB="+w.hub.db)
			if out, _ := c.CombinedOutput(); longToken.Match(out) || strings.Contains(string(out), token[13:25]) {
				t.Errorf("hub %s prints a token:\n%s", strings.Join(args, " "), out)
			}
		}
	}
}

func TestLogin_SaysWhatToDoAboutATokenAsAnArgument(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	out, err := w.command("login", w.token).CombinedOutput()
	for _, part := range []string{"takes no token as an argument", "history", "revoke it",
		"try: tool login --with-token"} {
		if err == nil || !strings.Contains(string(out), part) {
			t.Errorf("it does not say %s: %v\n%s", part, err, out)
		}
	}
}
