//go:build unix

package golden_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tour of the guide "start" works from an empty directory, line by line as printed. Only
// the hub's address differs, because the default one may be in use here.
func TestGuide_StartWorksAsPrinted(t *testing.T) {
	t.Parallel()
	blocks := tourOf(t)
	root := t.TempDir()
	dir := filepath.Join(root, "empty")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + programs() + ":" + os.Getenv("PATH"), "HOME=" + root, "HUB_LISTEN=127.0.0.1:0"}
	for name, value := range environment(root) {
		env = append(env, name+"="+value)
	}
	hub := exec.Command("sh", "-c", "exec "+strings.TrimSpace(blocks[0]))
	hub.Dir, hub.Env = dir, env
	stdout, err := hub.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hub.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		hub.Process.Signal(syscall.SIGTERM)
		hub.Wait()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("hub serve prints no address: %v", err)
	}

	// Each line is echoed before it runs, so that a failure shows where it ended.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	const printed = "http://127.0.0.1:4680"
	if !strings.Contains(blocks[1], printed) {
		t.Fatalf("the tour does not log in to %s", printed)
	}
	tour := exec.CommandContext(ctx, "sh", "-ev")
	tour.Dir, tour.Env = dir, env
	tour.Stdin = strings.NewReader(strings.ReplaceAll(blocks[1], printed, strings.TrimSpace(address)))
	out, err := tour.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	position := 0
	for _, want := range []string{
		"Created the local project web", "Published @alice/web 0.1.0", "Created @alice/web from web", "config       same",
		`+ title: "Pets"`, "Pushed web to @alice/web", "Pulled web from @alice/web", "Deleted @alice/web",
	} {
		found := strings.Index(string(out)[position:], want)
		if found < 0 {
			t.Fatalf("%q is not printed, or too early:\n%s", want, out)
		}
		position += found
	}
}

// tourOf returns the shell blocks of the guide.
func tourOf(t *testing.T) []string {
	t.Helper()
	guide, err := os.ReadFile("../cmd/tool/guide/start.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		blocks = append(blocks, block[1])
	}
	if len(blocks) != 2 {
		t.Fatalf("the tour has %d blocks of shell lines, want the hub's and tool's", len(blocks))
	}
	return blocks
}
