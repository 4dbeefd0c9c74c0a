//go:build unix

package apisource_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/projecthub/cmd/tool/internal/apisource"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

// What is not a regular file of the workspace is not read, wherever a link points.
func TestBundle_ReadsOnlyFilesOfTheWorkspace(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(outside, "secret.yaml", "get: {summary: secret}\n")
	write(dir, ".tool/web/client.json", "{}")
	write(dir, ".git/config.yaml", "get: {summary: secret}\n")
	write(dir, "real/b.yaml", "get: {$ref: c.yaml}\n") // c.yaml next to the file, not to the link
	write(dir, "real/c.yaml", "summary: found\n")
	write(dir, "openapi.yaml", `openapi: 3.0.0
paths:
  /file: {$ref: out.yaml}
  /folder: {$ref: out/secret.yaml}
  /up: {$ref: ../secret.yaml}
  /git: {$ref: .git/config.yaml}
  /pipe: {$ref: pipe}
  /directory: {$ref: real}
  /link: {$ref: link.yaml}
`)
	for link, to := range map[string]string{"out.yaml": filepath.Join(outside, "secret.yaml"), "out": outside,
		"link.yaml": "real/b.yaml"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := apisource.Bundle(ws.ReadFile, "openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(s.Document), "secret}") || !strings.Contains(string(s.Document), "found") {
		t.Errorf("the document is\n%s", s.Document)
	}
	if len(s.Problems) != 6 {
		t.Errorf("%d problems: %v", len(s.Problems), s.Problems)
	}
}
