package golden_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var shownCode = regexp.MustCompile(`Your code: ([B-Z]{4}-[B-Z]{4})`)

// signedIn returns a browser that is signed in with the token of w.
func (w *world) signedIn() *http.Client {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	w.post(browser, "/sign-in", url.Values{"token": {w.token}})
	return browser
}

// post sends a form of a page.
func (w *world) post(browser *http.Client, path string, form url.Values) {
	w.t.Helper()
	resp, err := browser.PostForm(w.origin+path, form)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: status %d", path, resp.StatusCode)
	}
}

// waiting opens tool login in a terminal and returns it with the code that it shows.
func (w *world) waiting() (term *terminal, code string) {
	w.t.Helper()
	term = w.open(usual, "login", "--origin", w.origin)
	w.talk(term, []turn{{"> In a browser", "", enter}, {"Waiting for your approval; ctrl-c cancels.", "", ""}})
	found := shownCode.FindStringSubmatch(term.text())
	if found == nil {
		w.t.Fatalf("no code is shown:\n%s", term.text())
	}
	return term, found[1]
}

func TestLogin_IsApprovedInBrowser(t *testing.T) {
	t.Parallel()
	w := newEmpty(t)
	opened := filepath.Join(t.TempDir(), "opened")
	w.write("../bin/xdg-open", "#!/bin/sh\necho \"$1\" > "+opened+"\n")
	if err := os.Chmod(filepath.Join(w.dir, "../bin/xdg-open"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "PATH="+filepath.Join(w.dir, "../bin")+":"+programs()+":"+os.Getenv("PATH"))
	browser := w.signedIn()
	term, code := w.waiting()
	w.post(browser, "/device", url.Values{"code": {code}, "decision": {"approve"}, "scopes": {"write:config"},
		"lifetime": {"7d"}})
	term.ends(0)
	for _, text := range []string{w.origin + "/device?code=" + code, "Logged in to " + w.origin + " as alice",
		"write:config"} {
		if !strings.Contains(term.text(), text) {
			t.Errorf("it does not say %q:\n%s", text, term.text())
		}
	}
	if address, err := os.ReadFile(opened); err != nil ||
		strings.TrimSpace(string(address)) != w.origin+"/device?code="+code {
		t.Errorf("it opens %q, %v", address, err)
	}
	if !strings.Contains(w.must("status"), "as           alice") {
		t.Error("nobody is logged in")
	}
}

func TestLogin_InterruptLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newEmpty(t)
	w.env = append(w.env, "PATH="+programs()) // no browser can be started
	browser := w.signedIn()
	term, code := w.waiting()
	if !strings.Contains(term.text(), "No browser could be started from here") {
		t.Errorf("it says\n%s", term.text())
	}
	term.press(ctrlC)
	term.ends(130)
	resp, err := browser.PostForm(w.origin+"/device",
		url.Values{"code": {code}, "decision": {"approve"}, "lifetime": {"7d"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	// A token is created when the terminal fetches it, which nobody does.
	if resp, err = browser.Get(w.origin + "/tokens"); err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if page, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 ||
		strings.Contains(string(page), "tool on ") {
		t.Errorf("status %d, %v: there is a token of the terminal\n%s", resp.StatusCode, err, page)
	}
	if out, err := w.command("status").CombinedOutput(); err == nil && strings.Contains(string(out), "alice") {
		t.Errorf("a login is stored: %s", out)
	}
}
