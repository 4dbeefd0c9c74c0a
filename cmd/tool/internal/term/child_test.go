package term_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/hubclient/pat"
)

func TestEnvironment_HasNoSecrets(t *testing.T) {
	token := pat.New()
	env := []string{
		"PATH=/bin", "TOOL_HUB_TOKEN=" + token, "tool_hub_token=mistyped",
		"HUB_DB=postgres://hub:secret@db/hub", "HUB_LISTEN=:1",
		"MINE=Bearer " + token, "TOOL_API_ORIGIN=https://hub.example.com", "EMPTY=", "HTTPS_PROXY=http://proxy",
	}
	want := []string{"PATH=/bin", "TOOL_API_ORIGIN=https://hub.example.com", "EMPTY=", "HTTPS_PROXY=http://proxy"}
	if diff := cmp.Diff(want, term.Environment(env)); diff != "" {
		t.Error(diff)
	}
}

func TestOpenBrowser_RefusesWhatAnOpenerCouldActOn(t *testing.T) {
	overSSH := func(name string) string { return map[string]string{"SSH_CONNECTION": "x"}[name] } // where none is started
	const origin = "https://hub.example.com"
	for _, address := range []string{
		"https://hub.example.com", "http://hub.example.com/", "https://hub.example.com:8443/",
		"https://hub.example.com.evil.test/",
		"https://hub.example.com@evil.test/", "https://evil.test/?https://hub.example.com/",
		"", "file:///etc/passwd", "javascript:alert(1)", "-version", "http://", "https:///x",
		"http://user:secret@hub.example.com/", "http://hub.example.com/ --renderer-cmd-prefix=id",
		"https://hub.example.com/\"&calc", "https://hub.example.com/'", "https://hub.example.com/`id`",
		"https://hub.example.com/$(id)", "https://hub.example.com/;id", "https://hub.example.com/|id",
		"https://hub.example.com/<x>", "https://hub.example.com/\\x", "https://hub.example.com/\n--version",
		"https://hub.example.com/\u202e", "https://hub.example.com/{a,b}", "https://hub.example.com/*",
	} {
		if _, err := term.OpenBrowser(overSSH, origin, address); err == nil || errors.Is(err, term.ErrNoBrowser) {
			t.Errorf("%q would be opened: %v", address, err)
		}
	}
	for origin, path := range map[string]string{
		"http://127.0.0.1:4680": "/@acme/web/preview", origin: "/link?code=acme.AbC-_~&x=1%20#top",
		"http://[::1]:4680": "/device?code=ABCD-EFGH",
	} {
		address := origin + path
		if _, err := term.OpenBrowser(overSSH, origin, address); !errors.Is(err, term.ErrNoBrowser) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestOpenBrowser_SaysOnlyThatAPageWasOpenedWhereItWas(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs xdg-open")
	}
	bin := t.TempDir()
	pipe := filepath.Join(bin, "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("PATH", bin)
	for script, want := range map[string]struct{ opened, failed bool }{
		"exit 0": {opened: true}, "exit 3": {failed: true},
		"read line < " + pipe: {}, // the browser itself, until it is closed
	} {
		if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		opened, err := term.OpenBrowser(func(string) string { return "" }, "http://hub.test", "http://hub.test/")
		if opened != want.opened || errors.Is(err, term.ErrNoBrowser) != want.failed {
			t.Errorf("%s: opened %v, %v", script, opened, err)
		}
	}
	if err := os.WriteFile(pipe, []byte("\n"), 0); err != nil { // ends the browser
		t.Error(err)
	}
}

func TestCommand_HasNoSecretsInItsEnvironment(t *testing.T) {
	t.Setenv("TOOL_HUB_TOKEN", pat.New())
	c, err := term.Command(t.Context(), "go", "version")
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range c.Env {
		if pat.Index([]byte(variable)) >= 0 {
			t.Errorf("the environment has %s", variable)
		}
	}
	if c.Env == nil {
		t.Error("the environment is inherited")
	}
}
