package preview_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// canary notes what reaches it: requests, whatever else is sent on a connection, and STUN, at a
// port of its own for each app.
type canary struct {
	t     testing.TB
	mu    sync.Mutex
	heard map[string][]string // by the name of an app
	url   string
}

// newCanary starts a canary for the time of a test.
func newCanary(t testing.TB) *canary {
	t.Helper()
	c := &canary{t: t, heard: map[string][]string{}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		app, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		c.note(strings.ReplaceAll(app, "_", " "), r.Method+" "+r.URL.Path)
	}))
	// A browser may open a connection for a navigation that it then refuses: what counts is
	// whether anything is sent on it.
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateActive {
			c.note("a connection", "bytes")
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *canary) note(app, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard[app] = append(c.heard[app], what)
}

// arm returns the app with the addresses of the canary.
func (c *canary) arm(a breakout) breakout {
	c.t.Helper()
	stun, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { stun.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, _, err := stun.ReadFrom(buffer)
			if err != nil {
				return
			}
			c.note(a.Name, fmt.Sprintf("STUN, %d bytes", n))
		}
	}()
	url := c.url + "/" + strings.ReplaceAll(a.Name, " ", "_")
	fill := strings.NewReplacer("CANARY", url, "SOCKET", strings.Replace(url, "http", "ws", 1), "STUN",
		fmt.Sprint(stun.LocalAddr().(*net.UDPAddr).Port))
	a.HTML, a.Script = fill.Replace(a.HTML), fill.Replace(a.Script)
	return a
}

// leaks returns what reached the canary, and proves that something would have been heard.
func (c *canary) leaks() []string {
	c.t.Helper()
	resp, err := http.Get(c.url + "/control/x")
	if err != nil {
		c.t.Fatal(err)
	}
	resp.Body.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.heard["control"]) == 0 {
		c.t.Error("the canary hears nothing")
	}
	delete(c.heard, "control")
	if n := len(c.heard["a connection"]); n > 1 { // one is the control's
		c.heard["a connection"] = []string{fmt.Sprint(n-1, " with bytes")}
	} else {
		delete(c.heard, "a connection")
	}
	var all []string
	for app, what := range c.heard {
		all = append(all, app+": "+strings.Join(slices.Compact(what), ", "))
	}
	slices.Sort(all)
	return all
}
