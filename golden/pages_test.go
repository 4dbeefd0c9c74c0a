//go:build unix

package golden_test

import (
	"html"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var shownCommands = regexp.MustCompile(`(?s)<div class="command"><pre[^>]*><code>(.*?)</code>`)

// commandsOf returns the command lines that a page shows.
func (w *world) commandsOf(browser *http.Client, path string) []string {
	w.t.Helper()
	body := w.page(browser, path)
	var lines []string
	for _, shown := range shownCommands.FindAllStringSubmatch(body, -1) {
		lines = append(lines, strings.Split(html.UnescapeString(shown[1]), "\n")...)
	}
	if len(lines) == 0 {
		w.t.Errorf("%s shows no command:\n%s", path, body)
	}
	return lines
}

func TestPages_CommandsWorkWhenPasted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.env = append(w.env, "CI=true")
	w.write("index.html", "<h1>Pets</h1>\n")
	w.patch(`{"set": {"title": "Animals"}}`)
	browser := w.signedIn()
	entry := regexp.MustCompile(`/@alice/web/history\?to=\w+`).FindAllString(w.page(browser, "/@alice/web/history"), -1)
	if len(entry) != 2 {
		t.Fatalf("the history has the entries %q", entry)
	}
	paths := []string{
		"/", "/?q=web", "/@alice", "/sign-in", "/tokens", "/device", "/@alice/web/files", "/@alice/web", "/@alice/web?q=none",
		"/@alice/web/preview", "/@alice/web/files",
		"/@alice/web/history", "/@alice/web/history?of=files", entry[0], entry[1], "/@alice/web/settings",
	}
	var last []string // what deletes the project
	for _, path := range paths {
		for _, line := range w.commandsOf(browser, path) {
			if strings.HasPrefix(line, "tool init ") || strings.HasPrefix(line, "tool project create ") {
				continue // of a new project, which this workspace has
			}
			if strings.HasPrefix(line, "tool project rm ") {
				last = append(last, line+" --force")
				continue
			}
			if strings.HasPrefix(line, "tool pull ") || strings.HasPrefix(line, "tool restore ") {
				line += " --force" // a terminal asks
			}
			line = strings.TrimSuffix(line, " --watch") // it does not end
			if out, code := w.paste(line); code != 0 {
				t.Errorf("%s: %s ends with exit code %d\n%s", path, line, code, out)
			}
		}
	}
	signIn := w.commandsOf(&http.Client{}, "/sign-in?to=/@alice/web/history")
	if !slices.Equal(signIn, []string{"tool project view @alice/web --web"}) {
		t.Errorf("the sign-in of a project shows %q", signIn)
	}
	for _, line := range append(signIn, last...) {
		if out, code := w.paste(line); code != 0 {
			t.Errorf("%s ends with exit code %d\n%s", line, code, out)
		}
	}
	if len(last) != 1 {
		t.Errorf("the project is deleted by %q", last)
	}
}

// page returns a page of the hub.
func (w *world) page(browser *http.Client, path string) string {
	w.t.Helper()
	resp, err := browser.Get(w.origin + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(body)
}
