//go:build linux

package golden_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// workflow is a file of GitHub Actions, or a composite action, as far as these tests read it.
type workflow struct {
	Env  map[string]string
	Jobs map[string]struct{ Steps []workflowStep }
	Runs struct{ Steps []workflowStep }
}

type workflowStep struct {
	Name, Run string
	Env       map[string]string
}

func parseWorkflow(t *testing.T, text string) (w workflow) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// guideWorkflow is the workflow in the guide to pipelines.
func guideWorkflow(t *testing.T) workflow {
	t.Helper()
	guide, err := os.ReadFile("../cmd/tool/guide/pipelines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(guide), "```yaml\n")
	text, _, ok := strings.Cut(text, "\n```\n")
	if !ok {
		t.Fatal("the guide has no workflow")
	}
	return parseWorkflow(t, text)
}

// runner runs steps as GitHub's does: each in a bash that ends at the first failure, with
// its variables.
type runner struct {
	*world
	env    map[string]string // of the workflow
	values map[string]string // of expressions
}

var expressions = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

func (r *runner) value(text string) string {
	return expressions.ReplaceAllStringFunc(text, func(e string) string {
		name := expressions.FindStringSubmatch(e)[1]
		value, ok := r.values[name]
		if !ok {
			r.t.Errorf("the expression %s has no value here", name)
		}
		return value
	})
}

func (r *runner) run(s workflowStep) (string, error) {
	if expressions.MatchString(s.Run) {
		r.t.Errorf("step %s has an expression in its script:\n%s", s.Name, s.Run)
	}
	c := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
	c.Dir, c.Env = r.dir, append(slices.Clone(r.world.env), "PATH="+programs()+":"+os.Getenv("PATH"))
	for _, env := range []map[string]string{r.env, s.Env} {
		for name, value := range env {
			c.Env = append(c.Env, name+"="+r.value(value))
		}
	}
	out, err := c.CombinedOutput()
	return string(out), err
}

// job runs all steps of a job of the workflow.
func (r *runner) job(w workflow, name string) (out string) {
	r.t.Helper()
	for _, s := range w.Jobs[name].Steps {
		if s.Run == "" {
			continue
		}
		text, err := r.run(s)
		if out += text; err != nil {
			r.t.Fatalf("%s: %s: %v\n%s", name, s.Name, err, out)
		}
	}
	if out == "" {
		r.t.Errorf("job %s has no steps", name)
	}
	return out
}

// newRunner returns a runner on a pull request, and a function that returns the comments.
func newRunner(t *testing.T, w *world, flow workflow) (r *runner, comments func() []string) {
	t.Helper()
	var bodies []string
	api := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		var comment struct{ Body string }
		text, err := io.ReadAll(req.Body)
		if err == nil {
			err = json.Unmarshal(text, &comment)
		}
		if err != nil || req.URL.Path != "/repos/acme/site/issues/7/comments" ||
			req.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("%s %v: %s, %v", req.URL, req.Header, text, err)
		}
		bodies = append(bodies, comment.Body)
		io.WriteString(rw, "{}")
	}))
	t.Cleanup(api.Close)
	temporary := t.TempDir()
	r = &runner{world: w, env: map[string]string{}, values: map[string]string{
		"github.event.number": "7", "github.token": "secret", "secrets.HUB_TOKEN": w.token,
	}}
	for name, value := range flow.Env {
		r.env[name] = strings.Replace(value, "@acme/", "@alice/", 1)
	}
	for name, value := range map[string]string{
		"TOOL_API_ORIGIN": w.origin, "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/site",
		"GITHUB_API_URL":   api.URL,
		"GITHUB_WORKSPACE": w.dir, "RUNNER_TEMP": temporary, "GITHUB_PATH": filepath.Join(temporary, "path"),
		"RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
		"GITHUB_STEP_SUMMARY": filepath.Join(temporary, "summary"),
	} {
		r.env[name] = value
	}
	return r, func() []string { return bodies }
}

// The workflow of the guide, step by step: a pull request gets a preview project and a
// comment, also when it is pushed to again; closing it removes the project; a merge pushes.
func TestReadme_WorkflowWorksAsPrinted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"curl", "jq"} {
		need(t, name, "apt-get install "+name)
	}
	w := newWorld(t, before)
	flow := guideWorkflow(t)
	r, comments := newRunner(t, w, flow)
	w.write(clientJSON, "{\n  \"project\": \"@alice/web\", \"source\": \"openapi.json\",\n  \"settings\": "+after+"\n}\n")
	main := w.config()

	for range 2 {
		r.job(flow, "preview")
	}
	preview, status := w.fetch("/v1/projects/alice/web-pr-7/config")
	if status != 200 || !strings.Contains(preview, "Animals and people") {
		t.Errorf("the preview project has %d %s", status, preview)
	}
	if now := w.config(); now != main {
		t.Errorf("the project was changed to %s", now)
	}
	if all := comments(); len(all) != 2 ||
		!strings.Contains(all[0], "| changed | <code>title</code> | <code>&#34;Pets&#34;</code> |") {
		t.Errorf("comments %q", all)
	}
	r.job(flow, "remove")
	if _, status := w.fetch("/v1/projects/alice/web-pr-7"); status != 404 {
		t.Errorf("the preview project is left: %d", status)
	}
	r.job(flow, "push")
	if now := w.config(); !strings.Contains(now, "Animals and people") {
		t.Errorf("the project has %s", now)
	}

	w.write(clientJSON, "{\n  \"settings\": nothing\n}\n")
	for _, s := range flow.Jobs["preview"].Steps {
		if s.Name == "Check" {
			if out, err := r.run(s); err == nil || !strings.Contains(out, "::error file=.tool/web/client.json,line=2,") {
				t.Errorf("%v\n%s", err, out)
			}
		}
	}
}

// The action installs what has the checksum, and runs a command whose arguments are no code.
func TestAction_InstallsAPinnedReleaseAndRunsATool(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the test has an archive for this machine, and the action is told that it is amd64")
	}
	t.Parallel()
	archive, _ := firstRelease(t)
	w := newWorld(t, before)
	r, install, run := newAction(t, w, map[string][]byte{"tool_1.2.3_linux_amd64.tar.gz": archive})
	r.values["inputs.arguments"] = "project\nview\n@alice/web; touch broken\n$(touch broken)\n"
	if out, err := r.run(install); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out := r.installed("tool"); !strings.Contains(out, "1.2.3") {
		t.Errorf("the installed tool says %s", out)
	}
	if out, err := r.run(run); err == nil {
		t.Errorf("the arguments are taken:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "broken")); err == nil {
		t.Error("an argument ran as code")
	}
	r.values["inputs.arguments"] = "project\nview\n@alice/web"
	if out, err := r.run(run); err != nil || !strings.Contains(out, "@alice/web") {
		t.Errorf("%v\n%s", err, out)
	}
	for name, value := range map[string]string{"inputs.sha256": strings.Repeat("0", 64),
		"inputs.version": "1.2.3; touch broken"} {
		former := r.values[name]
		r.values[name] = value
		if out, err := r.run(install); err == nil {
			t.Errorf("%s %q is installed:\n%s", name, value, out)
		}
		r.values[name] = former
	}
}

// On macOS and Windows the action takes the archive for that system, by the same pinned checksum.
func TestAction_TakesTheArchiveOfTheRunner(t *testing.T) {
	t.Parallel()
	const program = "#!/bin/sh\necho tool 1.2.3\n"
	var tarred, zipped bytes.Buffer
	compressed := gzip.NewWriter(&tarred)
	tarWriter, zipWriter := tar.NewWriter(compressed), zip.NewWriter(&zipped)
	err := tarWriter.WriteHeader(&tar.Header{Name: "tool_1.2.3_darwin_arm64/tool", Mode: 0o755, Size: int64(len(program))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tarWriter.Write([]byte(program))
	zipHeader := &zip.FileHeader{Name: "tool_1.2.3_windows_amd64/tool.exe"}
	zipHeader.SetMode(0o755)
	file, failed := zipWriter.CreateHeader(zipHeader)
	if failed == nil {
		_, failed = file.Write([]byte(program))
	}
	if err := errors.Join(err, failed, tarWriter.Close(), compressed.Close(), zipWriter.Close()); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"tool_1.2.3_darwin_arm64.tar.gz": tarred.Bytes(), "tool_1.2.3_windows_amd64.zip": zipped.Bytes(),
	}
	for _, c := range []struct{ system, architecture, program string }{{"macOS", "ARM64", "tool"},
		{"Windows", "X64", "tool.exe"}} {
		t.Run(c.system, func(t *testing.T) {
			if _, err := exec.LookPath("unzip"); err != nil && c.system == "Windows" {
				t.Skip("needs unzip: apt-get install unzip")
			}
			r, install, _ := newAction(t, &world{t: t, dir: t.TempDir()}, files)
			r.env["RUNNER_OS"], r.env["RUNNER_ARCH"] = c.system, c.architecture
			if out, err := r.run(install); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if out := r.installed(c.program); out != "tool 1.2.3\n" {
				t.Errorf("the installed tool says %s", out)
			}
			r.env["RUNNER_ARCH"] = "X86"
			if out, err := r.run(install); err == nil || !strings.Contains(out, "there is no release for X86") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// newAction returns the steps of the action, which install a release with files and run it, and their
// runner. The action is pinned to the release.
func newAction(t *testing.T, w *world, files map[string][]byte) (r *runner, install, run workflowStep) {
	t.Helper()
	text, err := os.ReadFile("../.github/actions/tool/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	action := parseWorkflow(t, string(text))
	var sums []byte
	for name, content := range files {
		sums = fmt.Appendf(sums, "%x  %s\n", sha256.Sum256(content), name)
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		name, _ := strings.CutPrefix(req.URL.Path, "/v1.2.3/")
		switch content, ok := files[name]; {
		case ok:
			rw.Write(content)
		case name == "SHA256SUMS":
			rw.Write(sums)
		default:
			http.NotFound(rw, req)
		}
	}))
	t.Cleanup(server.Close)
	r, _ = newRunner(t, w, workflow{})
	r.values = map[string]string{
		"inputs.version": "1.2.3", "inputs.sha256": fmt.Sprintf("%x", sha256.Sum256(sums)), "inputs.releases": server.URL,
	}
	return r, action.Runs.Steps[0], action.Runs.Steps[1]
}

// installed returns what the version command of an installed program prints.
func (r *runner) installed(program string) string {
	r.t.Helper()
	path, err := os.ReadFile(r.env["GITHUB_PATH"])
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(strings.TrimSpace(string(path)), program), "version").CombinedOutput()
	if err != nil {
		r.t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}
