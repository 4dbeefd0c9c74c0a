package golden_test

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests named TestTrust make what the machine or a stranger can do to a hub and to
// tool: they kill programs in the middle of a write, break disks, and send what no
// client sends. The short forms run with all others; the full ones take two hours:
//
//	go test ./golden -run Trust -trust=full -timeout 4h -v
var trust = flag.String("trust", "", "full: run the tests named TestTrust as long as it takes")

// rounds returns how often a TestTrust repeats what it does.
func rounds(short, full int) int {
	if *trust == "full" {
		return full
	}
	return short
}

// privileged runs a command that only the administrator of a machine may, such as
// mount. Where nobody may, in a container for example, the test is skipped.
func privileged(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Skipf("this machine does not allow %s %v: %v %s", name, args, err, out)
	}
}

// The same sources in another directory make the same programs, byte for byte.
func TestTrust_BuildsAreReproducible(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	for _, name := range sources() {
		copySources(t, filepath.Join("..", name), filepath.Join(from, name))
	}
	c := goBuild(to, from)
	if *trust == "full" { // nothing of the first build is used
		c.Env = append(c.Env, "GOCACHE="+t.TempDir())
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"hub", "tool"} {
		first, err := os.ReadFile(program(name))
		if err != nil {
			t.Fatal(err)
		}
		if second, err := os.ReadFile(filepath.Join(to, filepath.Base(program(name)))); err != nil ||
			!bytes.Equal(first, second) {
			t.Errorf("%s: another build of %d bytes differs from one of %d: %v", name, len(second), len(first), err)
		}
	}
}

func copySources(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "node_modules" {
			return cmp.Or(err, fs.SkipDir)
		}
		relative, err := filepath.Rel(from, path)
		if target := filepath.Join(to, relative); err == nil && d.IsDir() {
			err = os.MkdirAll(target, 0o755)
		} else if text, readErr := os.ReadFile(path); err == nil {
			err = errors.Join(readErr, os.WriteFile(target, text, 0o644))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A program lists the modules that it is made of, with their checksums: go version -m
// prints them, and scanners compare them with known vulnerabilities.
func TestTrust_ProgramsListTheirModules(t *testing.T) {
	for _, name := range []string{"hub", "tool"} {
		info, err := buildinfo.ReadFile(program(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range info.Deps {
			if d.Replace != nil || !strings.HasPrefix(d.Sum, "h1:") || !strings.HasPrefix(d.Version, "v") {
				t.Errorf("%s is made of %s %s with checksum %q", name, d.Path, d.Version, d.Sum)
			}
		}
		if t.Logf("%s is made of %d modules", name, len(info.Deps)); len(info.Deps) < 10 {
			t.Error("too few")
		}
	}
}

var testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+\b`)

// A promise is worth the test behind it, which may be renamed.
func TestSecurity_NamesTestsThatExist(t *testing.T) {
	text, err := os.ReadFile("../.github/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	err = filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !regexp.MustCompile(`_test\.go$`).MatchString(path) {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(source, -1) {
			exists[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := testName.FindAllString(string(text), -1)
	if len(names) < 50 {
		t.Errorf("SECURITY.md names only %d tests", len(names))
	}
	for _, name := range names {
		if !exists[name] {
			t.Errorf("SECURITY.md names %s, which does not exist", name)
		}
	}
}
