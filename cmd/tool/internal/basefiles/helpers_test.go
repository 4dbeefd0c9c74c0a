package basefiles_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

var ctx = context.Background()

// plant makes a workspace of files, whose contents are their names when empty.
func plant(t testing.TB, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		if text == "" {
			text = name
		}
		write(t, filepath.Join(root, name), text)
	}
	return root
}

func named(names ...string) map[string]string {
	files := map[string]string{}
	for _, name := range names {
		files[name] = ""
	}
	return files
}

func write(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o777))
	must(t, os.WriteFile(name, []byte(text), 0o666))
}

// age gives files a time long past, so that they count as settled.
func age(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		must(t, os.Chtimes(name, past, past))
	}
}

var past = time.Date(2020, 1, 2, 3, 4, 5, 678, time.UTC)

// at are the options for an app that is the whole workspace.
func at(root string) basefiles.Options {
	return basefiles.Options{Workspace: root, Root: root}
}

func choose(t testing.TB, o basefiles.Options) *basefiles.Selection {
	t.Helper()
	s, err := basefiles.Choose(ctx, o)
	must(t, err)
	return s
}

func hash(t testing.TB, s *basefiles.Selection) tree.Tree {
	t.Helper()
	set, err := s.Hash(ctx, nil)
	must(t, err)
	return set.Tree
}

func paths(s *basefiles.Selection) []string {
	var list []string
	for _, f := range s.Files {
		list = append(list, f.Path)
	}
	return list
}

func wantPaths(t testing.TB, s *basefiles.Selection, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, paths(s)); diff != "" {
		t.Errorf("chosen (-want +got):\n%s", diff)
	}
}

// wantFault checks what a program and a person are told.
func wantFault(t testing.TB, err error, code wire.Code, reason string) failure.Failure {
	t.Helper()
	var e failure.Failure
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want one with code %s", err, code)
	}
	if e.Code != code || e.Error() != reason || e.Stage != "" {
		t.Errorf("error %q (code %s, stage %q), want %q (code %s)", e, e.Code, e.Stage, reason, code)
	}
	return e
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// need skips a test without the program name, or fails it where nothing may be left out.
func need(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	lack(t, name+" is not installed: apt-get install "+name)
}

func lack(t testing.TB, message string) {
	t.Helper()
	if os.Getenv("TEST_REQUIRE_ALL") == "1" {
		t.Fatal(message)
	}
	t.Skip(message)
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	need(t, "git")
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, stderr.Bytes())
	}
	return string(out)
}

// TestMain keeps the settings of whoever runs the tests from git.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull,
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		os.Setenv(name, value)
	}
	os.Exit(m.Run())
}

func link(t testing.TB, target, name string) {
	t.Helper()
	must(t, os.Symlink(target, name))
}
