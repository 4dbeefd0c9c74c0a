package golden_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// A hub that answers nothing before it is asked everything: who the caller is, about the stack,
// and about the projects.
func TestStatus_AsksEverythingAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	names := []string{"web", "shop", "blog"}
	for _, name := range names[1:] {
		w.write(".tool/"+name+"/client.json", `{"project": "@alice/web", "settings": {}}`)
	}
	target, err := url.Parse(w.hub.origin)
	if err != nil {
		t.Fatal(err)
	}
	hub, asked, all := httputil.NewSingleHostReverseProxy(target), atomic.Int32{}, make(chan struct{})
	proxy := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if int(asked.Add(1)) == 2+len(names) {
			close(all)
		}
		select {
		case <-all:
			hub.ServeHTTP(answer, r)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(proxy.Close)
	out := w.must("status", "--origin", proxy.URL, "--token", w.token, "--timeout", "30s")
	for _, name := range names {
		if !strings.Contains(out, name+"\n") {
			t.Errorf("%s is missing:\n%s", name, out)
		}
	}
}

func TestStatus_ShowsWhichHubItWaitsFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	seen := make(chan struct{})
	slow := w.silent(seen)
	term := w.open(usual, "status", "--origin", slow, "--token", w.token)
	term.wait("waiting for " + slow)
	close(seen)
	term.ends(0)
	if strings.Contains(term.text(), "waiting for") {
		t.Errorf("the line is still shown:\n%s", term.text())
	}
}

// silent returns the address of the hub as one that answers nothing until seen is closed.
func (w *world) silent(seen <-chan struct{}) string {
	w.t.Helper()
	target, err := url.Parse(w.hub.origin)
	if err != nil {
		w.t.Fatal(err)
	}
	hub := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		select {
		case <-seen:
			hub.ServeHTTP(answer, r)
		case <-r.Context().Done():
		}
	}))
	w.t.Cleanup(server.Close)
	return server.URL
}
