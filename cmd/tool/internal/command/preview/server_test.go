package preview

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
)

func testServer() *server {
	return &server{name: "web", token: "SECRET", page: "127.0.0.1:4000", frame: "localhost:4000"}
}

func (s *server) get(host, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://"+host+path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func shown(revision string, files map[string]string) snapshot {
	s := snapshot{Config: []byte(`{"a":1}`), Revision: revision, API: `{}`, Tree: revision, files: map[string]file{}}
	s.Stack = stack{Name: "@a/b", Version: "1.0.0", Module: "mod.ts", Digest: "d", files: map[string]file{"mod.ts": {"m",
		2, []byte("//")}}}
	for path, content := range files {
		s.files[path] = file{"digest of " + content, int64(len(content)), []byte(content)}
	}
	return s
}

func TestServer_ServesOnlyItsHostsAndSecretPath(t *testing.T) {
	t.Parallel()
	s := testServer()
	s.show(shown("r", nil), nil)
	const page, frame = "127.0.0.1:4000", "localhost:4000"
	for _, c := range []struct {
		host, path, site string
		status           int
	}{
		{page, "/SECRET/", "", 200},
		{page, "/SECRET/", "none", 200},
		{page, "/SECRET/changes?after=0", "same-origin", 200},
		{page, "/SECRET/local.js", "same-origin", 200},
		{page, "/SECRET/preview/host.js", "", 200},
		{page, "/SECRET/dist/style.css", "", 200},
		{page, "/SECRET/packages.json", "", 200},
		{page, "/SECRET/changes?after=x", "", 400},
		{page, "/SECRET/", "cross-site", 403},
		{page, "/SECRET/changes?after=0", "same-site", 403},
		{page, "/", "", 404},
		{page, "/SECRE/", "", 404},
		{page, "/SECRETS/", "", 404},
		{page, "/SECRET", "", 404},
		{page, "//SECRET/", "", 404},
		{page, "/SECRET/index.html", "", 404},
		{page, "/SECRET/../../../etc/passwd", "", 404},
		{page, "/SECRET/page/index.html", "", 404},
		{page, "/SECRET/.tool/web/client.json", "", 404},
		{page, "/SECRET/..%2f..%2fetc%2fpasswd", "", 404},
		{page, "/SECRET/preview/", "", 404},
		{page, "/preview/frame", "", 404},
		{frame, "/preview/frame", "cross-site", 200},
		{frame, "/SECRET/", "", 404},
		{frame, "/SECRET/changes?after=0", "", 404},
		{"evil.example:4000", "/SECRET/", "", 421},
		{"evil.example", "/preview/frame", "", 421},
		{"127.0.0.1", "/SECRET/", "", 421},
		{"127.0.0.1:4001", "/SECRET/", "", 421},
		{"127.0.0.1.evil.example:4000", "/SECRET/", "", 421},
		{"[::1]:4000", "/SECRET/", "", 421},
	} {
		header := []string{}
		if c.site != "" {
			header = []string{"Sec-Fetch-Site", c.site}
		}
		w := s.get(c.host, c.path, header...)
		if w.Code != c.status {
			t.Errorf("%s%s from %q: %d, want %d", c.host, c.path, c.site, w.Code, c.status)
		}
		if w.Code != 200 && strings.Contains(w.Body.String(), "SECRET") {
			t.Errorf("%s%s: the secret is in the response", c.host, c.path)
		}
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s%s: %s", c.host, c.path, name)
			}
		}
		if c.host == page && w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s%s can be embedded by other sites", c.host, c.path)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "CONNECT"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1:4000/SECRET/changes", nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// read reads a response as local.js does.
func read(t *testing.T, body []byte) (c changes, contents map[string]string) {
	t.Helper()
	head, rest, _ := bytes.Cut(body, []byte("\n"))
	if err := json.Unmarshal(head, &c); err != nil {
		t.Fatal(err)
	}
	contents = map[string]string{}
	for _, f := range append(c.Imports, c.Files...) {
		if !f.Large && !f.Same {
			contents[f.Path], rest = string(rest[:f.Size]), rest[f.Size:]
		}
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes too many", len(rest))
	}
	return c, contents
}

func TestServer_SendsWhatChanged(t *testing.T) {
	t.Parallel()
	s := testServer()
	s.show(shown("1", map[string]string{"a": "alpha", "b": "beta", "c": ""}), nil)
	first := s.get(s.page, "/SECRET/changes?after=0")
	c, contents := read(t, first.Body.Bytes())
	if got := fmt.Sprint(c.N, c.Files,
		contents); got != "1 [{a 5 false false} {b 4 false false} {c 0 false false}] map[a:alpha b:beta c: mod.ts://]" ||
		string(c.Config) != `{"a":1}` || c.API != "{}" || c.Stack.Module != "mod.ts" || c.Failed != nil {
		t.Errorf("%+v: %s", c, got)
	}
	s.show(shown("2", map[string]string{"a": "other", "c": "", "d": "new"}), nil)
	c, contents = read(t, s.get(s.page, "/SECRET/changes?after=1").Body.Bytes())
	if got := fmt.Sprint(c.N, c.Files,
		contents); got != "2 [{a 5 false false} {c 0 false true} {d 3 false false}] map[a:other d:new]" ||
		!c.Imports[0].Same {
		t.Errorf("%+v: %s", c, got)
	}
	s.show(shown("2", map[string]string{"a": "other"}), &failed{Message: "no"})
	c, contents = read(t, s.get(s.page, "/SECRET/changes?after=2").Body.Bytes())
	if c.Failed == nil || c.Failed.Message != "no" || len(contents) != 0 {
		t.Errorf("%+v: %q", c, contents)
	}
	for _, after := range []string{"0", "1", "7"} { // which the server does not remember
		if c, contents = read(t, s.get(s.page, "/SECRET/changes?after="+after).Body.Bytes()); len(contents) != 2 {
			t.Errorf("after %s: %+v: %q", after, c, contents)
		}
	}
}

func TestServer_WaitsForChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testServer()
		s.show(shown("1", nil), nil)
		if w := s.get(s.page, "/SECRET/changes?after=1"); w.Code != http.StatusNoContent {
			t.Errorf("nothing changed: %d", w.Code)
		}
		answered := make(chan int)
		go func() { answered <- s.get(s.page, "/SECRET/changes?after=1").Code }()
		synctest.Wait()
		s.show(shown("2", nil), nil)
		if code := <-answered; code != http.StatusOK {
			t.Errorf("status %d", code)
		}
	})
}

func TestServer_LinkLeadsToThePageOnce(t *testing.T) {
	t.Parallel()
	s := testServer()
	s.code = "CODE"
	const page = "127.0.0.1:4000"
	for _, path := range []string{"/open/", "/open/COD", "/open/CODE/", "/CODE/"} {
		if w := s.get(page, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := s.get(page, "/open/CODE"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/SECRET/" ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the link leads to %d %v", w.Code, w.Header())
	}
	if w := s.get(page, "/open/CODE"); w.Code != http.StatusGone ||
		strings.Contains(w.Body.String()+w.Header().Get("Location"), "SECRET") {
		t.Errorf("used again, it leads to %d %v: %s", w.Code, w.Header(), w.Body)
	}
}

func TestServer_ListensOnThisMachineAlone(t *testing.T) {
	t.Parallel()
	s, err := newServer("web")
	if err != nil {
		t.Fatal(err)
	}
	s.show(shown("1", nil), nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.serve(ctx) }()
	client := &http.Client{Timeout: 10 * time.Second}
	resp, err := client.Get(s.address())
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("local preview")) {
		t.Errorf("%d %v %.200s", resp.StatusCode, err, body)
	}
	for _, l := range s.listeners {
		if host := l.Addr().String(); !strings.HasPrefix(host, "127.0.0.1:") && !strings.HasPrefix(host, "[::1]:") {
			t.Errorf("it listens on %s", host)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
