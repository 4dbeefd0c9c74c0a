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
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/template"

	"gopkg.in/yaml.v3"
)

// release makes what .goreleaser.yaml says for this machine, without goreleaser, and returns the
// archive and the list of the modules in it.
func release(t *testing.T) (archive, materials []byte) {
	t.Helper()
	text, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Before struct{ Hooks []string }
		Builds []struct {
			Main, Binary        string
			Env, Flags, Ldflags []string
		}
		Archives []struct {
			Name  string `yaml:"name_template"`
			Files []struct{ Src, Dst string }
		}
		NFPMs []struct {
			Contents []struct{ Src string }
			Scripts  map[string]string
		} `yaml:"nfpms"`
		SBOMs []struct {
			Cmd             string
			Args, Documents []string
		} `yaml:"sboms"`
	}
	dir := t.TempDir()
	if err := yaml.Unmarshal(bytes.ReplaceAll(text, []byte(".release"), []byte(dir)), &config); err != nil {
		t.Fatal(err)
	}
	build, packed, list := config.Builds[0], config.Archives[0], config.SBOMs[0]
	program, document := filepath.Join(t.TempDir(), build.Binary), filepath.Join(t.TempDir(), "document")
	variables := strings.NewReplacer("$artifact", program, "$document", document)
	run := func(env, args []string) {
		for i, arg := range args {
			args[i] = variables.Replace(filledIn(t, arg))
		}
		c := exec.Command(args[0], args[1:]...)
		c.Dir, c.Env = "..", append(os.Environ(), env...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	for _, hook := range config.Before.Hooks {
		run(nil, strings.Split(strings.NewReplacer("{{ ", "{{", " }}", "}}").Replace(hook), " "))
	}
	for _, p := range config.NFPMs {
		for _, file := range p.Contents {
			filesOf(t, file.Src)
		}
		for _, script := range p.Scripts {
			filesOf(t, script)
		}
	}
	run(build.Env, slices.Concat([]string{"go", "build", "-o", program, "-ldflags", strings.Join(build.Ldflags, " ")},
		build.Flags, []string{build.Main}))
	run(nil, append([]string{list.Cmd}, list.Args...))
	if materials, err = os.ReadFile(document); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	add := func(file, name string) {
		content, err := os.ReadFile(file)
		if err == nil {
			name = filledIn(t, packed.Name) + "/" + name
			err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))})
		}
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add(program, build.Binary)
	for _, files := range packed.Files {
		for _, file := range filesOf(t, files.Src) {
			add(file, path.Join(files.Dst, filepath.Base(file)))
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), materials
}

var first struct {
	sync.Once
	archive, materials []byte
}

// firstRelease returns a release that tests share.
func firstRelease(t *testing.T) (archive, materials []byte) {
	first.Do(func() { first.archive, first.materials = release(t) })
	return first.archive, first.materials
}

// filesOf returns the files that a pattern of .goreleaser.yaml names, at least one.
func filesOf(t *testing.T, pattern string) []string {
	t.Helper()
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join("..", pattern)
	}
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("there is no %s: %v", pattern, err)
	}
	return found
}

// filledIn fills in a template of .goreleaser.yaml for this machine.
func filledIn(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	err := template.Must(template.New("").Parse(text)).Execute(&b, map[string]any{
		"Version": "1.2.3", "CommitDate": "2026-01-02T10:00:00Z", "Os": runtime.GOOS, "Arch": runtime.GOARCH,
		"Binary": "tool", "Env": map[string]string{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRelease_HasProgramManPagesAndCompletions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its archive is a zip")
	}
	t.Parallel()
	archive, materials := firstRelease(t)
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
	program := filepath.Join(t.TempDir(), "tool")
	// A program that another test starts meanwhile would keep it open for writing.
	syscall.ForkLock.RLock()
	err = os.WriteFile(program, []byte(files["tool"]), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, "--version").Output(); err != nil || string(out) != "tool 1.2.3\n" {
		t.Errorf("tool --version prints %q, %v", out, err)
	}
	checkMaterials(t, program, materials)
	for _, page := range helpOf(t, "tool") {
		text := files["man/man1/"+page+".1"]
		if strings.HasPrefix(page, "tool-help-") {
			continue // a topic
		}
		if !strings.Contains(text, ".TH \"TOOL") || !strings.Contains(text, "2026") {
			t.Errorf("%s has no man page: %q", page, text)
		}
	}
	for page, part := range map[string]string{
		"tool-push": "push [<project>...]", "tool-init": "@ACCOUNT/SLUG", "tool-project-view": "<@account/slug>",
	} {
		if !strings.Contains(files["man/man1/"+page+".1"], part) {
			t.Errorf("the man page of %s does not say %s:\n%s", page, part, files["man/man1/"+page+".1"])
		}
	}
	for _, name := range []string{
		"completions/tool.bash", "completions/_tool", "completions/tool.fish", "completions/tool.ps1", "README.md",
	} {
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
		got = append(got, strings.ReplaceAll(c.PURL, "%2B", "+"))
		if len(c.Hashes) != 1 && !strings.Contains(c.PURL, "/std@") {
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
