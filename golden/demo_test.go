package golden_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemo_LeavesNothingBehind runs it as somebody whose variables
// would lead it there, or astray.
func TestDemo_LeavesNothingBehind(t *testing.T) {
	demo := filepath.Join(t.TempDir(), "demo")
	if out, err := exec.Command("go", "build", "-o", demo, "example.com/projecthub/cmd/demo").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	home := t.TempDir()
	c := exec.Command(demo, "--once")
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "TOOL_CONFIG_DIR", "TOOL_STATE_DIR"} {
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
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(path, filepath.Join("go", "telemetry")) { // the compiler's, too
			t.Errorf("it left %s", path)
		}
		return err
	})
}
