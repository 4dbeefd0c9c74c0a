package golden_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDemo_LeavesNothingBehind runs it as somebody whose variables would lead it there, or
// astray, and types what it prints while its hub is up.
func TestDemo_LeavesNothingBehind(t *testing.T) {
	need(t, "curl", "apt-get install curl")
	home := t.TempDir()
	c := exec.Command(program("demo"), "--keep")
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME",
		"TOOL_CONFIG_DIR", "TOOL_STATE_DIR"} {
		c.Env = append(c.Env, name+"="+filepath.Join(home, name))
	}
	c.Env = append(c.Env, "HUB_PUBLIC_URL=http://elsewhere.invalid", "HUB_DB=sqlite:"+filepath.Join(home, "theirs.db"),
		"TOOL_HUB_TOKEN=theirs", "TOOL_API_ORIGIN=http://elsewhere.invalid")
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} { // the compiler's own
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		c.Env = append(c.Env, name+"="+strings.TrimSpace(string(value)))
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var printed []string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if printed = append(printed, lines.Text()); strings.Contains(lines.Text(), "/link?code=") { // the last one
			break
		}
	}
	typeDemo(t, strings.Join(printed, "\n"))
	err = errors.Join(c.Process.Signal(os.Interrupt), c.Wait())
	if err != nil {
		t.Fatalf("%v: %s", err, strings.Join(printed, "\n"))
	}
	filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(path, filepath.Join("go", "telemetry")) { // the compiler's, too
			t.Errorf("it left %s", path)
		}
		return err
	})
}

// typeDemo types into a shell what the demo printed to be typed.
func typeDemo(t *testing.T, printed string) {
	t.Helper()
	_, advice, _ := strings.Cut(printed, "In another terminal, try:\n")
	setUp := regexp.MustCompile(`(?m)^  (cd .*\n  export .*)$`).FindStringSubmatch(advice)
	edit := regexp.MustCompile(`(?m)^\$ (curl (?:.*\\\n)*.*)$`).FindStringSubmatch(printed)
	if setUp == nil || edit == nil {
		t.Fatalf("it prints nothing to be typed: %s", printed)
	}
	enter := func(line, want string) {
		shell := exec.Command("sh", "-c", line)
		shell.Env = []string{"PATH=" + os.Getenv("PATH"), "NO_PROXY=*"}
		if out, err := shell.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s\n%v: it prints %s, not %s", line, err, out, want)
		}
	}
	enter(edit[1], `"revision":`)
	enter(setUp[1]+"\ntool status", "config       same")
}
