package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// installer runs install.sh against a server with one release.
type installer struct {
	t         *testing.T
	directory string
	path      string            // PATH
	files     map[string][]byte // of the release
	archive   string            // its name for this machine
}

func newInstaller(t *testing.T) *installer {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("install.sh is for Linux and macOS")
	}
	name := fmt.Sprintf("tool_1.2.3_%s_%s", runtime.GOOS, runtime.GOARCH)
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	packed := tar.NewWriter(zipped)
	const program = "#!/bin/sh\necho tool 1.2.3\n"
	err := packed.WriteHeader(&tar.Header{Name: name + "/tool", Mode: 0o755, Size: int64(len(program))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = packed.Write([]byte(program))
	if err := errors.Join(err, packed.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	sums := fmt.Sprintf("%064d  tool_1.2.3_plan9_386.tar.gz\n%x  %s.tar.gz\n", 0, sha256.Sum256(b.Bytes()), name)
	return &installer{
		t:         t,
		directory: filepath.Join(t.TempDir(), "a bin"),
		path:      os.Getenv("PATH"),
		files:     map[string][]byte{name + ".tar.gz": b.Bytes(), "SHA256SUMS": []byte(sums)},
		archive:   name + ".tar.gz",
	}
}

// run installs the release, and returns what the script printed.
func (i *installer) run() (string, error) {
	i.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := i.files[strings.TrimPrefix(r.URL.Path, "/releases/v1.2.3/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	defer server.Close()
	shell, err := exec.LookPath("sh")
	if err != nil {
		i.t.Skip("needs sh")
	}
	c := exec.Command(shell, "install.sh", server.URL+"/releases/", "v1.2.3", i.directory)
	c.Env = []string{"PATH=" + i.path, "HOME=" + i.t.TempDir()}
	out, err := c.CombinedOutput()
	return string(out), err
}

// refused fails the test unless the script fails, says why, and installs nothing.
func (i *installer) refused(why string) {
	i.t.Helper()
	out, err := i.run()
	if err == nil || !strings.Contains(out, why) {
		i.t.Errorf("install.sh ends with %v and prints %q, which should say %q", err, out, why)
	}
	if _, err := os.Stat(filepath.Join(i.directory, "tool")); err == nil {
		i.t.Error("a program was installed")
	}
}

func TestInstall_ReplacesTheProgramAfterVerifyingIt(t *testing.T) {
	i := newInstaller(t)
	for range 2 {
		if out, err := i.run(); err != nil || !strings.Contains(out, "Installed tool 1.2.3 in "+i.directory) {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if out, err := exec.Command(filepath.Join(i.directory, "tool")).Output(); string(out) != "tool 1.2.3\n" {
		t.Errorf("the program prints %q, %v", out, err)
	}
	if files, err := os.ReadDir(i.directory); err != nil || len(files) != 1 {
		t.Errorf("the directory has %v, %v", files, err)
	}
}

func TestInstall_RefusesAWrongSum(t *testing.T) {
	i := newInstaller(t)
	i.files[i.archive] = append(i.files[i.archive], 0)
	i.refused("the checksum of " + i.archive)
}

func TestInstall_RefusesAnArchiveWithoutASum(t *testing.T) {
	i := newInstaller(t)
	i.files["SHA256SUMS"] = fmt.Appendf(nil, "%064d  another.tar.gz\n", 0)
	i.refused("SHA256SUMS does not list " + i.archive)
}

func TestInstall_RefusesAReleaseWithoutSums(t *testing.T) {
	i := newInstaller(t)
	delete(i.files, "SHA256SUMS")
	i.refused("cannot download")
}

func TestInstall_FailsWithoutAProgramForSums(t *testing.T) {
	i := newInstaller(t)
	i.path = t.TempDir()
	for _, name := range []string{"uname", "curl", "mktemp", "rm", "awk", "cut", "tar", "mkdir", "cp", "chmod", "mv"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Skip("needs ", name)
		}
		if err := os.Symlink(program, filepath.Join(i.path, name)); err != nil {
			t.Fatal(err)
		}
	}
	i.refused("install sha256sum or shasum")
}
