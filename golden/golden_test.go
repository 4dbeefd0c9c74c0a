// Package golden drives the built programs from outside, as their users do:
// scripts of command lines, terminal screens, and the graph of imports. It
// imports nothing of the project.
//
// go test ./golden -update writes what the programs print into testdata. The
// difference is then read line by line, as a user would.
package golden_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the programs print into the golden files")

// bin is the directory with the built programs.
var bin string

// defaultOrigin is built into tool: an address at which no hub ever answers.
const defaultOrigin = "http://127.0.0.1:1"

func TestMain(m *testing.M) {
	// Before the flags are read, so that -parallel wins: most of the time, these tests wait for programs.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	flag.Parse()
	if testing.Short() {
		fmt.Println("-short: the built programs are not tested")
		return
	}
	handleSignals()
	code, err := build(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// handleSignals lets the programs handle signals that these tests send. What ignores one, such
// as go test in the background of a script or under nohup, hands that on.
func handleSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

func build(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "golden-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	bin = dir
	c := goBuild(dir, "..")
	if out, err := c.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("go build: %w\n%s", err, out)
	}
	for _, name := range []string{"hub", "tool"} {
		if err := install(filepath.Join(dir, name)); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// goBuild builds the programs from a directory with the sources, as they are released.
func goBuild(to, from string) *exec.Cmd {
	const internal = "example.com/projecthub/cmd/tool/internal/"
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w -X main.version=1.2.3 -X "+internal+"app.Version=1.2.3 -X "+internal+"identity.DefaultOrigin="+defaultOrigin,
		"-o", to+string(filepath.Separator), "./cmd/hub", "./cmd/tool", "./cmd/demo")
	c.Dir, c.Env = from, append(os.Environ(), "CGO_ENABLED=0")
	return c
}

// install writes a program anew, as unpacking does. As the linker leaves it, in
// pages that it mapped one by one, it starts more slowly.
func install(program string) error {
	b, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	if err := os.Remove(program); err != nil {
		return err
	}
	return os.WriteFile(program, b, 0o755)
}

func program(name string) string { return filepath.Join(programs(), name) }

// programs returns the directory with the built programs. go test repeats a result
// as long as every file that a test looked at is the same, and the compiler looks
// at what they are built from for itself: so each test looks at it, too.
func programs() string {
	lookAtSources()
	return bin
}

// sources are what the programs are built from.
func sources() []string {
	return strings.Fields("cmd hubclient hubserver prompts store tui go.mod go.sum")
}

var lookAtSources = sync.OnceFunc(func() {
	for _, dir := range sources() {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			panic(err)
		}
	}
})

// required reports whether skipping is forbidden.
func required() bool { return os.Getenv("TEST_REQUIRE_ALL") == "1" }

// skip skips a test that needs what is not there, or fails it where skipping is forbidden.
func skip(t testing.TB, need string) {
	t.Helper()
	if required() {
		t.Fatal("needs ", need)
	}
	t.Skip("needs ", need)
}

// need returns the path of an outside program, and skips the test without it.
func need(t testing.TB, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		skip(t, name+": "+install)
	}
	return path
}

// golden compares text with the file testdata/name, or writes it there.
func golden(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs (-update accepts it):\n%s", path, cmp.Diff(string(want), text))
	}
}

// codeOf returns the exit code in the error of a command.
func codeOf(t testing.TB, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}
