package golden_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// release makes the release archive for this machine, and returns its bytes.
func release(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command("go", "run", "../cmd/tool/release", "-version", "1.2.3", "-only", runtime.GOOS+"/"+runtime.GOARCH, dir)
	c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1767348000")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive, err := os.ReadFile(filepath.Join(dir, "tool_1.2.3_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func TestRelease_HasProgramManPagesAndCompletions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its archive is a zip")
	}
	t.Parallel()
	archive := release(t)
	if again := release(t); !bytes.Equal(archive, again) {
		t.Error("the same source makes another archive")
	}
	files := map[string]string{}
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(h.Name, "/")
		files[name] = string(text)
	}
	path := filepath.Join(t.TempDir(), "tool")
	// A program that another test starts meanwhile would keep it open for writing.
	syscall.ForkLock.RLock()
	err = os.WriteFile(path, []byte(files["tool"]), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path, "--version").Output(); err != nil || string(out) != "tool 1.2.3\n" {
		t.Errorf("tool --version prints %q, %v", out, err)
	}
	for _, page := range helpOf(t, "tool") {
		text := files["man/man1/"+page+".1"]
		if strings.HasPrefix(page, "tool-help-") {
			continue // a topic
		}
		if !strings.Contains(text, ".TH \"TOOL") || !strings.Contains(text, "2026") {
			t.Errorf("%s has no man page: %q", page, text)
		}
	}
	for page, part := range map[string]string{"tool-push": "push [<project>...]", "tool-init": "@ACCOUNT/SLUG", "tool-project-view": "<@account/slug>"} {
		if !strings.Contains(files["man/man1/"+page+".1"], part) {
			t.Errorf("the man page of %s does not say %s:\n%s", page, part, files["man/man1/"+page+".1"])
		}
	}
	for _, name := range []string{"completions/tool.bash", "completions/_tool", "completions/tool.fish", "completions/tool.ps1", "README.md"} {
		if len(files[name]) < 1000 {
			t.Errorf("%s is %q", name, files[name])
		}
	}
}
