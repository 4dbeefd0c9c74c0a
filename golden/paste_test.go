//go:build unix

package golden_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// paste types a line into a shell.
func (w *world) paste(line string) (output string, code int) {
	w.t.Helper()
	c := exec.Command("sh", "-c", line)
	c.Dir, c.Env = w.dir, append(w.env, "PATH="+programs()+":"+os.Getenv("PATH"))
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.Run()
	return out.String(), c.ProcessState.ExitCode()
}

// A cloned repository decides what its local projects are called.
func TestAdvice_IsNoShellCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	for _, name := range []string{"$(touch owned)", "`touch owned`", "a; touch owned", "a'; touch owned; '",
		"a\ntouch owned", "-n", "--help", "a b"} {
		w.write(".tool/"+name+"/client.json", `{"settings": {}}`)
		var lines []string
		for _, args := range [][]string{
			{"push", "--", name}, {"pull", "--", name}, {"pull", "--project", "@alice/web", "--", name},
			{"push", "--project", "@alice/gone", "--", name},
			{"status", "--", name}, {"push", "--project", "@alice/web", "--no-record", "--", name}, {"push"}, {"publish"},
			{"project", "view"},
			{"project", "create", "x", "--from=" + name}, {"project", "rm", "x"}, {"-C", name, "push", "web"},
		} {
			out, _ := w.command(append([]string{"--no-input"}, args...)...).CombinedOutput()
			lines = append(lines, advised(string(out))...)
		}
		if len(lines) < 6 {
			t.Errorf("%q: it advises only %q", name, lines)
		}
		for _, line := range lines {
			out, code := w.paste(line)
			if _, err := os.Stat(filepath.Join(w.dir, "owned")); err == nil {
				t.Fatalf("%q: it runs code: %s\n%s", name, line, out)
			}
			if code == exitUsage && !strings.Contains(name, "\n") {
				t.Errorf("%q: it advises what makes no sense: %s\n%s", name, line, out)
			}
		}
		if err := os.RemoveAll(filepath.Join(w.dir, ".tool", name)); err != nil {
			t.Fatal(err)
		}
	}
}

// What is advised after a command acts on the same hub and workspace as the command.
func TestAdvice_IsAboutTheSameHubAndWorkspace(t *testing.T) {
	t.Parallel()
	one, two := newWorld(t, before), newWorld(t, before)
	two.env = append(two.env, "TOOL_HUB_TOKEN="+two.token) // the login is another hub's
	login := exec.Command(program("tool"), "login", "--origin", one.origin, "--token", one.token)
	login.Env = two.env
	if out, err := login.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	held := one.config()
	two.setting(after)
	for name, how := range map[string]struct {
		env  []string
		args []string
	}{
		"flag":        {nil, []string{"--origin", two.origin}},
		"environment": {[]string{"TOOL_API_ORIGIN=" + two.origin}, nil},
	} {
		content := contentOf(two)
		c := exec.Command(program("tool"), append([]string{"-C", two.dir, "push", "web", "--no-input"}, how.args...)...)
		c.Dir, c.Env = filepath.Dir(two.dir), append(two.env, how.env...)
		out, err := c.CombinedOutput()
		lines := advised(string(out))
		if err != nil || len(lines) != 1 || contentOf(two) == content {
			t.Fatalf("%s: %v, it advises %q\n%s", name, err, lines, out)
		}
		dir := two.dir
		two.dir = filepath.Dir(dir)
		out2, code := two.paste(lines[0])
		two.dir = dir
		if code != 0 || contentOf(two) != content || one.config() != held {
			t.Errorf("%s: %s ends with %d and leaves %s and %s\n%s", name, lines[0], code, two.config(), one.config(), out2)
		}
	}
}

// contentOf returns the config that a world's hub stores, without who wrote it.
func contentOf(w *world) string {
	content, _, _ := strings.Cut(w.config(), `"revision"`)
	return content
}
