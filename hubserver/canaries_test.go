package hubserver_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubserver"
)

// canaries are secrets that no log, metric or profile may have: a token anywhere, and what
// a body, a query or a header says.
type canaries struct{ token, word string }

// send sends both in each of these places. In a path only a token is secret: the log has the
// paths of requests.
func (c canaries) send(who *caller, places []place) (sent int) {
	who.hub.Helper()
	for _, put := range places {
		for _, text := range []string{c.token, c.word} {
			q := put(text)
			if path, _, _ := strings.Cut(q.path, "?"); strings.Contains(path, c.word) {
				continue
			}
			sent++
			if _, err := who.try(q.method, q.path, q.body, q.header); err != nil {
				who.hub.Fatalf("%s %s: %v", q.method, q.path, err)
			}
		}
	}
	return sent
}

// every returns every nth place, or each in a full run.
func every(n int, places []place) (some []place) {
	for i, p := range places {
		if i%rounds(n, 1) == 0 {
			some = append(some, p)
		}
	}
	return some
}

func (c canaries) check(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{c.token[len("hubpat_")+5:], c.word} {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s: …%s…", where, text[max(0, i-300):min(len(text), i+100)])
		}
	}
	if i := pat.Index([]byte(text)); i >= 0 {
		t.Errorf("%s has a token: …%s…", where, text[max(0, i-300):i+12])
	}
}

func TestLog_HasNoSecretFromAnyPlace(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		m := &matrix{testHub: hub, account: "acme", kind: "private"}
		m.furnishKind()
		hub.client.Transport = hub.client.Transport.(*recorder).next // most of this is outside of the contract
		secrets := canaries{hub.token("sam"), "nightingale"}
		browser := hub.session("anna")
		var places []place
		for _, e := range endpoints {
			places = append(places, m.places(&e)...)
		}
		sent := secrets.send(hub.as("anna"), every(3, places)) + secrets.send(browser, every(10, places))
		hub.sql("ALTER TABLE projects RENAME TO hidden") // the database's errors quote the statement
		sent += secrets.send(hub.as("anna"), every(10, places))

		broken := &lockedBuffer{} // the log of a hub without a store, which panics
		server := httptest.NewServer(hubserver.New(
			hubserver.Config{PublicURL: publicURL, Version: hubVersion, Log: slog.New(slog.NewJSONHandler(broken, nil)),
				Limits: hubserver.DefaultLimits}))
		t.Cleanup(server.Close)
		other := *hub
		other.url = server.URL
		secrets.send(other.with(hub.as("anna").token), every(20, places))
		panics := 0
		for _, l := range broken.lines(t) {
			if l["msg"] == "panic" {
				panics++
			}
		}
		if panics < 50 {
			t.Errorf("only %d panics", panics)
		}
		hub.log.lines(t) // each is one object
		_, cookie, _ := strings.Cut(browser.cookie, "=")
		for where, text := range map[string]string{
			"the log": hub.log.String(), "the log of panics": broken.String(), "/metrics": hub.admin("/metrics"),
			"the goroutines": hub.admin("/debug/pprof/goroutine?debug=2"), "the heap": hub.admin("/debug/pprof/heap?debug=1"),
		} {
			secrets.check(t, where, text)
			if strings.Contains(text, cookie) {
				t.Errorf("%s has the cookie of a session", where)
			}
		}
		t.Logf("%d requests, %d panics", sent, panics)
	})
}

// admin returns what the administrators' listener responds.
func (h *testHub) admin(path string) string {
	h.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	h.server.AdminServer("localhost:0").Handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		h.Fatalf("%s: %d", path, w.Code)
	}
	return w.Body.String()
}

// reserved returns how many bytes of memory requests hold.
func (h *testHub) reserved() (n int64) {
	h.Helper()
	for line := range strings.Lines(h.admin("/metrics")) {
		if number, ok := strings.CutPrefix(line, "hub_memory_reserved_bytes "); ok {
			if _, err := fmt.Sscan(number, &n); err != nil {
				h.Fatal(err)
			}
			return n
		}
	}
	h.Fatal("/metrics does not say how much is reserved")
	return 0
}
