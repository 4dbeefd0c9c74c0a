package golden_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Callers that are slow in each way that slowhttptest knows, and one that it does not, on two
// thousand connections for two minutes, keep no ordinary request waiting. The hub's memory has a limit, and all of
// it is free again once they are gone.
func TestTrust_SlowCallers(t *testing.T) {
	t.Parallel()
	a := newAttack(t)
	before := a.hub.gauges(t)
	n, lasts := rounds(100, 2000), time.Duration(rounds(2, 120))*time.Second
	ctx, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	for kind, call := range a.kinds() {
		for i := range kind.part * n / 100 {
			a.callers.Go(func() { a.repeat(ctx, i, call) })
		}
	}
	times := a.ordinary(ctx)
	peak := highest(a.hub.cmd.Process.Pid)
	a.callers.Wait()
	took := a.hub.awaitGauges(t, before, 24) // connections to the database, which are kept
	slices.Sort(times)
	p50, p99 := times[len(times)/2], times[len(times)*99/100]
	t.Logf("%d connections for %v, opened %d times and refused %d times with Retry-After: %d ordinary requests took %v "+
		"at the median and %v at the 99th percentile; at most %.0f MiB resident; all free again after %v",
		n, lasts, a.opened.Load(), a.refused.Load(), len(times), p50, p99, peak, took.Round(time.Millisecond))
	if peak > 256 {
		t.Errorf("the hub took %.0f MiB", peak)
	}
	if *trust == "full" && p99 > time.Second {
		t.Errorf("ordinary requests took %v at the 99th percentile", p99)
	}
}

// attack is a hub that alice works with, and that mallory, who has an account of their own, attacks
// from many addresses.
type attack struct {
	*world
	mallory         string // their token
	drip            string // an address that takes for ever to answer
	callers         sync.WaitGroup
	opened, refused atomic.Int64
}

func newAttack(t *testing.T) *attack {
	t.Helper()
	drip := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			io.WriteString(w, " ")
			http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(time.Second):
			}
		}
	}))
	t.Cleanup(drip.Close)
	address := strings.TrimPrefix(drip.URL, "http://")
	_, port, _ := net.SplitHostPort(address)
	a := &attack{drip: drip.URL, world: newLocal(t, `{"a": 1}`,
		append(withGauges, "--import-allow", "127.0.0.0/8:"+port)...)}
	a.must("project", "create", "web", "--visibility", "public", "--no-input")
	a.hub.admin(t, "account", "create", "mallory")
	a.mallory = a.hub.token(t, "mallory", "write:catalog", "admin:resource")
	(&stressed{t: t, world: a.world, token: a.token, path: aliceWeb + "/preview/base-files"}).upload(
		3 << 20) // more than the system's buffers
	return a
}

// slowKind is a kind of slow caller, and its part of all in percent.
type slowKind struct {
	name string
	part int
}

// kinds are the ways to be slow. Each uses a connection as long as the hub or ctx allows.
func (a *attack) kinds() map[slowKind]func(ctx context.Context, c *slowConn) {
	head := func(method, path, more string) string {
		return method + " " + path + " HTTP/1.1\r\nHost: " + a.hub.listen + "\r\n" + more
	}
	body := "Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n{\"project\": "
	return map[slowKind]func(ctx context.Context, c *slowConn){
		{"headers", 25}: func(ctx context.Context, c *slowConn) {
			c.send(head("GET", "/", ""))
			c.each(ctx, func() error { return c.send("X-A: b\r\n") })
		},
		{"body of a stranger", 10}: func(ctx context.Context, c *slowConn) {
			c.send(head("POST", "/v1/device", body))
			c.each(ctx, func() error { return c.send(" ") })
		},
		{"body of a user", 15}: func(ctx context.Context, c *slowConn) {
			c.send(head("POST", "/v1/projects", "Authorization: Bearer "+a.mallory+"\r\n"+body))
			c.each(ctx, func() error { return c.send(" ") })
		},
		{"reading", 25}: func(ctx context.Context, c *slowConn) {
			c.send(head("GET", aliceWeb+"/preview/base-files/archive", "\r\n"))
			c.each(ctx, func() error { return c.receive(32) })
		},
		{"idle, after an answer in many ranges", 20}: func(ctx context.Context, c *slowConn) {
			c.send(head("GET", "/static/style.css", "Range: bytes=0-"+ranges+"\r\n\r\n"))
			c.receive(64 << 10)
			<-ctx.Done()
		},
		{"import of an address that drips", 5}: func(ctx context.Context, c *slowConn) {
			body := fmt.Sprintf(`{"url": %q}`, a.drip)
			c.send(head("POST", "/v1/apis/import",
				fmt.Sprintf("Authorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", a.mallory,
					len(body), body)))
			c.receive(1024)
		},
	}
}

// ranges are what follows the first range of a request for many.
var ranges = func() string {
	var all strings.Builder
	for i := range 500 {
		fmt.Fprintf(&all, ",%d-%d", i, i+1000)
	}
	return all.String()
}()

// slowConn is a connection with small buffers, on which something happens now and then.
type slowConn struct {
	net.Conn
	first []byte // of what came
}

const slowPause = 500 * time.Millisecond

func (c *slowConn) send(text string) error {
	_, err := io.WriteString(c, text)
	return err
}

// receive reads up to n bytes.
func (c *slowConn) receive(n int) error {
	p := make([]byte, n)
	got, err := c.Read(p)
	if len(c.first) < 1024 {
		c.first = append(c.first, p[:got]...)
	}
	return err
}

// each does something again after a pause until it fails, as it does when the hub has
// closed the connection, or ctx ends.
func (c *slowConn) each(ctx context.Context, do func() error) {
	tick := time.NewTicker(slowPause + rand.N(slowPause))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if do() != nil {
				c.receive(1024) // why
				return
			}
		}
	}
}

// repeat calls on one connection after the other until ctx ends, which also ends a connection
// that waits.
func (a *attack) repeat(ctx context.Context, i int, call func(context.Context, *slowConn)) {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%100))},
		Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2304) })
		}}
	for ctx.Err() == nil {
		conn, err := from.DialContext(ctx, "tcp", a.hub.listen)
		if err != nil {
			if ctx.Err() == nil {
				a.t.Errorf("the hub takes no connection: %v", err)
			}
			return
		}
		a.opened.Add(1)
		c := &slowConn{Conn: conn}
		ended := context.AfterFunc(ctx, func() { conn.Close() })
		call(ctx, c)
		ended()
		conn.Close()
		a.refusal(c.first)
		select { // as a program does that is not to use all of its own machine
		case <-ctx.Done():
		case <-time.After(slowPause):
		}
	}
}

// refusal counts a refusal, which has to say when to come back.
func (a *attack) refusal(answer []byte) {
	head, _, whole := strings.Cut(string(answer), "\r\n\r\n")
	if !whole || !strings.Contains(head, " 503 ") && !strings.Contains(head, " 429 ") {
		return
	}
	if a.refused.Add(1); !strings.Contains(head, "\r\nRetry-After: ") {
		a.t.Errorf("a refusal does not say when to come back: %q", head)
	}
}

// ordinary reads and writes a config until ctx ends, on a kept connection and on new ones, and returns how
// long each request took. All of them have to succeed.
func (a *attack) ordinary(ctx context.Context) (times []time.Duration) {
	var mu sync.Mutex
	var workers sync.WaitGroup
	for _, client := range []*http.Client{{Transport: &http.Transport{}},
		{Transport: &http.Transport{DisableKeepAlives: true}}} {
		workers.Go(func() {
			defer client.CloseIdleConnections()
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for i := 0; ctx.Err() == nil; i++ {
				method, path, body := "GET", aliceWeb+"/config", ""
				if i%2 == 1 {
					method, path, body = "PUT", aliceWeb+"/client-config", fmt.Sprintf(`{"settings": {"a": %d}}`, i)
				}
				start := time.Now()
				if err := a.exchange(client, method, path, body); err != nil {
					a.t.Errorf("an ordinary request after %v: %v", time.Since(start), err)
				}
				mu.Lock()
				times = append(times, time.Since(start))
				mu.Unlock()
				<-tick.C
			}
		})
	}
	workers.Wait()
	return times
}

// exchange makes a request that has to succeed.
func (a *attack) exchange(client *http.Client, method, path, body string) error {
	req, err := http.NewRequest(method, a.hub.origin+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(bufio.NewReader(resp.Body))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %.200s", resp.Status, text)
	}
	return err
}
