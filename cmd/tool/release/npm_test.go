package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// builtBy writes the files of goreleaser into a directory: a script as the program for this machine, and
// a program for another one.
func builtBy(t *testing.T, script string) (dist string) {
	t.Helper()
	dist = filepath.Join(t.TempDir(), "dist")
	type extra struct{ ID string }
	var list []map[string]any
	for _, system := range []string{runtime.GOOS, "windows"} {
		dir := filepath.Join(dist, "tool_"+system)
		program := filepath.Join(dir, "tool")
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(program, []byte(script), 0o755)); err != nil {
			t.Fatal(err)
		}
		list = append(list, map[string]any{
			"type": "Binary", "goos": system, "goarch": runtime.GOARCH, "extra": extra{"tool"},
			"path": "dist/tool_" + system + "/tool",
		})
	}
	list = append(list, map[string]any{"type": "Binary", "extra": extra{"hub"}}, map[string]any{"type": "Archive"})
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dist, "artifacts.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return dist
}

func TestPackages_InstallTheProgramOfThisSystem(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs npm and sh: apt-get install npm")
	}
	dist, dir, project := builtBy(t, "#!/bin/sh\necho \"$@\"\nexit 3\n"), t.TempDir(), t.TempDir()
	if err := packages("1.2.3", "@acme/tool", dist, dir); err != nil {
		t.Fatal(err)
	}
	npm := func(args ...string) {
		t.Helper()
		c := exec.Command("npm", append(args, "--offline", "--no-audit", "--no-fund")...)
		c.Dir, c.Env = project, append(os.Environ(), "HOME="+project, "npm_config_cache="+filepath.Join(project, "cache"))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("npm %q: %v\n%s", args, err, out)
		}
	}
	suffix := "-" + nodeName(runtime.GOOS) + "-" + nodeName(runtime.GOARCH)
	npm("pack", filepath.Join(dir, "tool"), filepath.Join(dir, "tool"+suffix))
	npm("install", "./acme-tool-1.2.3.tgz", "./acme-tool"+suffix+"-1.2.3.tgz")
	tool := filepath.Join(project, "node_modules", ".bin", "tool")
	run := func() string {
		out, err := exec.Command(tool, "push", "a b").CombinedOutput()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out) + exit.String()
	}
	if got := run(); got != "push a b\nexit status 3" {
		t.Errorf("the installed tool says %q", got)
	}
	if err := os.RemoveAll(filepath.Join(project, "node_modules", "@acme", "tool"+suffix)); err != nil {
		t.Fatal(err)
	}
	if got := run(); !strings.HasPrefix(got, "error: there is no package @acme/tool"+suffix+"\n") {
		t.Errorf("without its program tool says %q", got)
	}
}

func TestPackages_RunNoScriptsAndSuitOneSystemEach(t *testing.T) {
	dir := t.TempDir()
	if err := packages("1.2.3", "@acme/tool", builtBy(t, ""), dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "package.json"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			manifest
			Scripts map[string]string
		}
		if err := json.Unmarshal(text, &m); err != nil || m.Scripts != nil {
			t.Errorf("%s: %v", text, err)
		}
		isMain := m.Name == "@acme/tool"
		if isMain != (len(m.OS) == 0) || isMain != (m.Optional["@acme/tool-win32-"+nodeName(runtime.GOARCH)] == "1.2.3") {
			t.Errorf("%s is %s", m.Name, text)
		}
	}
}
