package golden_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// release makes the release for this machine, and returns its archive and the list of the
// modules in it.
func release(t *testing.T) (archive, materials []byte) {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command("go", "run", "../cmd/tool/release", "-version", "1.2.3", "-only", runtime.GOOS+"/"+runtime.GOARCH, dir)
	c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1767348000")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	name := filepath.Join(dir, "tool_1.2.3_"+runtime.GOOS+"_"+runtime.GOARCH)
	archive, err := os.ReadFile(name + ".tar.gz")
	if err == nil {
		materials, err = os.ReadFile(name + ".cdx.json")
	}
	if err != nil {
		t.Fatal(err)
	}
	return archive, materials
}

func TestRelease_HasProgramManPagesAndCompletions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its archive is a zip")
	}
	t.Parallel()
	archive, materials := release(t)
	if again, listed := release(t); !bytes.Equal(archive, again) || !bytes.Equal(materials, listed) {
		t.Error("the same source makes another archive, or another list of modules")
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
	checkMaterials(t, path, materials)
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

// checkMaterials fails the test unless a list in CycloneDX names exactly the modules that go
// version -m finds in a program.
func checkMaterials(t *testing.T, program string, materials []byte) {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pkg:golang/std@" + info.GoVersion}
	for _, m := range info.Deps {
		want = append(want, "pkg:golang/"+m.Path+"@"+m.Version)
	}
	var list struct {
		Format     string `json:"bomFormat"`
		Components []struct {
			PURL   string
			Hashes []struct{ Content string }
		}
	}
	if err := json.Unmarshal(materials, &list); err != nil || list.Format != "CycloneDX" {
		t.Fatalf("%v in %.200s", err, materials)
	}
	var got []string
	for _, c := range list.Components {
		if got = append(got, strings.ReplaceAll(c.PURL, "%2B", "+")); len(c.Hashes) != 1 && !strings.Contains(c.PURL, "/std@") {
			t.Errorf("%s has no checksum", c.PURL)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("the program is made of\n%q\nand the list has\n%q", want, got)
	}
	t.Logf("%d modules", len(got))
}
