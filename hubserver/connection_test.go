package hubserver_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// line is one connection to a hub, spoken byte by byte.
type line struct {
	t testing.TB
	net.Conn
	in  *bufio.Reader
	req *http.Request // the last one sent
}

func newLine(t testing.TB, conn net.Conn) *line {
	return &line{t: t, Conn: conn, in: bufio.NewReader(conn)}
}

// dial opens a connection to the hub's listener.
func (h *testHub) dial() *line {
	h.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { conn.Close() })
	return newLine(h, conn)
}

// send writes a request's head: its first line and headers, each on a line of text.
func (l *line) send(head string) {
	l.t.Helper()
	head = strings.ReplaceAll(strings.TrimSpace(head), "\n", "\r\n") + "\r\nHost: hub.test\r\n\r\n"
	var err error
	if l.req, err = http.ReadRequest(bufio.NewReader(strings.NewReader(head))); err != nil {
		l.t.Fatal(err)
	}
	if _, err := io.WriteString(l, head); err != nil {
		l.t.Fatal(err)
	}
}

// answer reads the answer to what was sent last.
func (l *line) answer() *answer {
	l.t.Helper()
	resp, err := http.ReadResponse(l.in, l.req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	x := &exchange{
		method: l.req.Method, path: l.req.URL.Path, header: l.req.Header, body: []byte("whatever was sent"),
		status: resp.StatusCode, answerHeader: resp.Header, answer: body,
	}
	x.hold(l.t)
	return &answer{t: l.t, call: l.req.Method + " " + l.req.URL.Path, status: resp.StatusCode, header: resp.Header,
		closes: resp.Close, body: body}
}

// closed fails the test unless the hub has closed the connection, or does so.
func (l *line) closed() {
	l.t.Helper()
	if b, err := l.in.ReadByte(); err == nil {
		l.t.Errorf("the connection goes on with %q", b)
	}
}

func TestConnection_RefusalComesBeforeBody(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	hub.as("alice").put(baseFiles, archive(t, file{name: "a"})).want(200)
	token := hub.as("alice").token
	const mebi = 1 << 20
	for name, c := range map[string]struct {
		path, token, headers string
		length               int64
		status               int
	}{
		"no token":                        {baseFiles, "x", "", 1000 * mebi, 401},
		"no role":                         {baseFiles, hub.as("sam").token, "", 1000 * mebi, 403},
		"no scope":                        {baseFiles, hub.token("alice"), "", 1000 * mebi, 403},
		"no project":                      {"/v1/projects/acme/none/preview/base-files", token, "", 1000 * mebi, 404},
		"another type":                    {baseFiles, token, "Content-Type: text/plain", 1000 * mebi, 415},
		"another encoding":                {baseFiles, token, "Content-Encoding: br", 1000 * mebi, 415},
		"a seed":                          {baseFiles, token, "If-None-Match: *", 1000 * mebi, 412},
		"above the limit":                 {baseFiles, token, "", 5000 * mebi, 413},
		"a large config":                  {clientCfg, token, "Content-Type: application/json", 2 * mebi, 413},
		"a large bundle":                  {site + "/versions/2.0.0", token, "", 65 * mebi, 413},
		"no version":                      {site + "/versions/2", token, "", mebi, 404},
		"below the server's own patience": {baseFiles, "x", "", 1000, 401},
	} {
		l := hub.dial()
		l.send(fmt.Sprintf("PUT %s HTTP/1.1\nAuthorization: Bearer %s\nContent-Length: %d\nExpect: 100-continue\n%s", c.path,
			c.token, c.length, c.headers))
		if a := l.answer(); a.status != c.status {
			t.Errorf("%s: status %d, want %d: %s", name, a.status, c.status, a.body)
		} else if !a.closes {
			t.Errorf("%s: the connection is kept, although the next bytes are unknown", name)
		}
	}
}

func TestConnection_ContinueIsSentWhenBodyIsWanted(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	body := tarOf(t, file{name: "a"})
	l := hub.dial()
	l.send(fmt.Sprintf("PUT %s HTTP/1.1\nAuthorization: Bearer %s\nContent-Length: %d\nExpect: 100-continue", baseFiles,
		hub.as("alice").token, len(body)))
	resp, err := http.ReadResponse(l.in, nil)
	if err != nil || resp.StatusCode != http.StatusContinue {
		t.Fatalf("%v, %v", resp, err)
	}
	if _, err := l.Write(body); err != nil {
		t.Fatal(err)
	}
	l.answer().want(200)
	l.send(fmt.Sprintf("GET %s HTTP/1.1\nAuthorization: Bearer %s", baseFiles, hub.as("alice").token))
	l.answer().want(200)
}

// While the hub drains, a response ends its connection, also if the request came before.
func TestConnection_EndsWhileTheHubDrains(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	body := tarOf(t, file{name: "a"})
	head := fmt.Sprintf("PUT %s HTTP/1.1\nAuthorization: Bearer %s\nContent-Length: %d", baseFiles, hub.as("alice").token,
		len(body))
	before, after := hub.dial(), hub.dial()
	before.send(head + "\nExpect: 100-continue")
	if resp, err := http.ReadResponse(before.in, nil); err != nil || resp.StatusCode != http.StatusContinue {
		t.Fatalf("%v, %v", resp, err)
	}
	hub.server.Drain()
	after.send(head)
	for _, l := range []*line{before, after} {
		if _, err := l.Write(body); err != nil {
			t.Fatal(err)
		}
		if !l.answer().want(200).closes {
			t.Error("the response does not say that the connection ends")
		}
		l.closed()
	}
}

func TestConnection_AboveTheLimitIsClosed(t *testing.T) {
	hub := one(t, func(cfg *hubserver.Config) { cfg.Limits.Connections = 1 })
	const request = "GET /healthz HTTP/1.1\r\nHost: hub\r\n\r\n"
	held := hub.dial()
	answered := func(l *line) bool {
		_, _ = io.WriteString(l, request) // a connection that is closed shows when it is read
		resp, err := http.ReadResponse(l.in, nil)
		if err != nil {
			return false
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err == nil && resp.StatusCode == 200
	}
	if !answered(held) {
		t.Fatal("the first connection has no place")
	}
	if second := hub.dial(); answered(second) {
		t.Error("there is a second one")
	}
	if !answered(held) {
		t.Error("the first one has ended")
	}
	held.Close()
	for !answered(hub.dial()) { // the hub sees the end of the other one
	}
	if log := hub.log.String(); !strings.Contains(log, "connections are refused") {
		t.Errorf("the log does not say so: %s", log)
	}
}

func TestConnection_DiscardsRestOfRefusedBody(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	head := fmt.Sprintf("PUT %s HTTP/1.1\nAuthorization: Bearer %s\nContent-Length: ", baseFiles, hub.as("alice").token)
	refused := append(rawTar("../x", '0')[:512], make([]byte, 900<<10)...)
	l := hub.dial()
	l.send(head + fmt.Sprint(len(refused)))
	if _, err := l.Write(refused); err != nil { // all of it, before a look at the answer
		t.Fatal(err)
	}
	l.answer().problem(422, wire.CodeInvalidBody)
	l.send(head + "5")
	if _, err := io.WriteString(l, "hello"); err != nil {
		t.Fatal(err)
	}
	l.answer().problem(400, wire.CodeInvalidBody)

	l = hub.dial()
	l.send(head + fmt.Sprint(100<<20))
	go l.Write(append(rawTar("../x", '0')[:512], make([]byte, 4<<20)...)) // ends with the connection
	a := l.answer()
	if a.problem(422, wire.CodeInvalidBody); !a.closes {
		t.Error("the connection is kept, though most of the body is to come")
	}
}

func TestConnection_TruncatedBodyIsRejected(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	for _, request := range []string{
		"PUT " + baseFiles + " HTTP/1.1", "PUT " + site + "/versions/2.0.0 HTTP/1.1", "POST /v1/apis/upload HTTP/1.1",
		"PUT /v1/apis/acme/pets/document HTTP/1.1",
		"PUT " + clientCfg + " HTTP/1.1\nContent-Type: application/json",
		"POST /v1/projects HTTP/1.1\nContent-Type: application/json",
	} {
		for _, length := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
			l := hub.dial()
			l.send(request + "\nAuthorization: Bearer " + hub.as("alice").token + "\n" + length)
			if _, err := io.WriteString(l, "a\r\n{\"openapi\""); err != nil {
				t.Fatal(err)
			}
			if err := l.Conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if p := l.answer().problem(400, wire.CodeInvalidBody); !strings.Contains(p.Detail, "ended early") {
				t.Errorf("%s: %q", request, p.Detail)
			}
		}
	}
}

// pipes is a listener without a network, for tests whose clock is not the world's.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.conns <- there
	return here, nil
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// quiet runs f with a hub and a way to connect to it, on a clock that is stopped
// still while anything is being done and jumps ahead where all wait.
func quiet(t *testing.T, f func(t *testing.T, hub *testHub, dial func() *line)) {
	defer func() { // what the bubble left in a pool has channels that cannot be used outside of it
		runtime.GC()
		runtime.GC()
	}()
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		hub := newHubOn(t, listener, listener.dial, storetest.SQLite(t), nil)
		hub.project()
		f(t, hub, func() *line {
			conn, err := listener.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			return newLine(t, conn)
		})
	})
}

// put is the head of a push of base files.
func put(hub *testHub, length int, more ...string) string {
	return fmt.Sprintf("PUT %s HTTP/1.1\nAuthorization: Bearer %s\nContent-Length: %d\n%s", baseFiles,
		hub.as("alice").token, length, strings.Join(more, "\n"))
}

// What all requests share is made outside of every bubble.
var (
	_, _ = store.Decompress(nil, store.Compress([]byte("x")), 1)
	_    = hubserver.New(hubserver.Config{PublicURL: publicURL, Log: slog.New(slog.DiscardHandler),
		Limits: hubserver.DefaultLimits})
)

func TestConnection_StalledBodyTimesOut(t *testing.T) {
	quiet(t, func(t *testing.T, hub *testHub, dial func() *line) {
		body := tarOf(t, file{name: "a", content: "x"})
		for _, n := range []int{0, 1, 512, 513, 1024, len(body) - 1} {
			l := dial()
			l.send(put(hub, len(body)))
			if _, err := l.Write(body[:n]); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			p := l.answer().problem(400, wire.CodeInvalidBody)
			if took := time.Since(start); took != hubserver.DefaultLimits.BodyIdle || !strings.Contains(p.Detail, "timeout") {
				t.Errorf("after %d bytes: %q in %v", n, p.Detail, took)
			}
			l.closed()
		}
		hub.as("alice").get(baseFiles).problem(404, wire.CodeNotFound)
	})
}

// slow sends the start of a body, and waits until the hub holds as much as it should by then.
func (h *testHub) slow(head string, length, sent int, holds int64) {
	h.Helper()
	l := h.dial()
	l.send(fmt.Sprintf("%s\nContent-Type: application/json\nContent-Length: %d", head, length))
	if _, err := l.Write(bytes.Repeat([]byte(" "), sent)); err != nil {
		h.Fatal(err)
	}
	eventually(h.TB.(*testing.T), func() bool { return h.reserved() >= holds })
}

// Slow strangers must not keep others from logging in.
func TestRoom_SlowStrangersKeepNobodyFromSigningIn(t *testing.T) {
	hub := one(t, func(cfg *hubserver.Config) {
		cfg.TrustedProxies, cfg.Limits.Memory = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 4<<20
	})
	for i := range 20 { // together all that strangers may have
		head := fmt.Sprintf("POST /v1/device HTTP/1.1\nX-Forwarded-For: 203.0.113.%d", i%3)
		hub.slow(head, 64<<10, 36<<10, int64(i+1)*36<<10)
	}
	start := time.Now()
	hub.terminal().poll().problem(400, wire.CodeAuthorizationPending)
	hub.with("").post("/sign-in", form("token", hub.token("alice"), "to", "/")).want(303)
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A slow description holds room for what came of it, not for the work that it will take.
func TestRoom_SlowDescriptionLeavesRoomToOthers(t *testing.T) {
	hub := one(t, func(cfg *hubserver.Config) { cfg.Limits.Memory = 16 << 20 })
	hub.catalog()
	head := "POST /v1/apis/upload?account=sam&slug=slow HTTP/1.1\nAuthorization: Bearer " +
		hub.token("sam", wire.Scopes...)
	hub.slow(head, 2<<20+1, 2<<20, 2<<20)
	large := strings.Replace(pets, "{", "{"+strings.Repeat(" ", 1<<20), 1)
	hub.as("alice").post("/v1/apis/upload?account=acme&slug=large", large).want(201)
}

func TestConnection_SlowBodyIsAllowed(t *testing.T) {
	quiet(t, func(t *testing.T, hub *testHub, dial func() *line) {
		body := tarOf(t, file{name: "a", content: noise(1 << 20)})
		l := dial()
		l.send(put(hub, len(body)))
		start := time.Now()
		for part := range slices.Chunk(body, 64<<10) {
			time.Sleep(hubserver.DefaultLimits.BodyIdle - time.Second)
			if _, err := l.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		l.answer().want(200)
		t.Logf("a push of %v", time.Since(start))
	})
}

func TestBody_GivesUpCallerBelowLeastRate(t *testing.T) {
	quiet(t, func(t *testing.T, hub *testHub, dial func() *line) {
		body := tarOf(t, file{name: "a", content: noise(1 << 20)})
		l := dial()
		l.send(put(hub, len(body)))
		sent := 0
		for part := range slices.Chunk(body, 100) { // never silent for long
			time.Sleep(hubserver.DefaultLimits.BodyIdle / 10)
			if _, err := l.Write(part); err != nil {
				break
			}
			sent += len(part)
		}
		synctest.Wait()
		if sent > 2000 {
			t.Errorf("the hub took %d bytes before it gave up", sent)
		}
		if used := hub.reserved(); used != 0 {
			t.Errorf("%d bytes are still reserved", used)
		}
	})
}

func TestResponse_ThatIsNotTakenEndsTheConnection(t *testing.T) {
	quiet(t, func(t *testing.T, hub *testHub, dial func() *line) {
		token := "Authorization: Bearer " + hub.as("alice").token
		body := `{"settings": {"title": "second"}}`
		get := "GET " + web + "/config HTTP/1.1\r\nHost: hub\r\n" + token + "\r\n\r\n"
		put := fmt.Sprintf(
			"PUT %s/client-config HTTP/1.1\r\nHost: hub\r\n%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			web, token, len(body), body)
		l := dial()
		if _, err := io.WriteString(l, get+put); err != nil {
			t.Fatal(err)
		}
		time.Sleep(hubserver.DefaultLimits.BodyIdle + time.Second)
		l.closed()
		if text := string(hub.as("alice").get(web + "/config").want(200).body); strings.Contains(text, "second") {
			t.Errorf("the second request was handled: %s", text)
		}
	})
}

func TestResponse_GivesUpCallerBelowLeastRate(t *testing.T) {
	quiet(t, func(t *testing.T, hub *testHub, dial func() *line) {
		hub.as("alice").put(baseFiles, archive(t, file{name: "a", content: noise(4 << 20)})).want(200)
		l := dial()
		l.send("GET " + baseFiles + "/archive HTTP/1.1\nAuthorization: Bearer " + hub.as("alice").token)
		got := 0
		buf := make([]byte, 100)
		for {
			n, err := l.Read(buf)
			if got += n; err != nil {
				break
			}
			time.Sleep(hubserver.DefaultLimits.BodyIdle / 10)
		}
		if got > 1<<20 {
			t.Errorf("%d bytes went to a caller that takes 100 every %v", got, hubserver.DefaultLimits.BodyIdle/10)
		}
	})
}

func TestConnection_UnreadBodyDoesNotDelayResponse(t *testing.T) {
	quiet(t, func(t *testing.T, hub *testHub, dial func() *line) {
		token := "Authorization: Bearer " + hub.as("alice").token
		for head, status := range map[string]int{
			"GET " + web + " HTTP/1.1\nContent-Length: 100\n" + token:                      200,
			"GET " + web + " HTTP/1.1\nTransfer-Encoding: chunked\n" + token:               200,
			"DELETE /v1/projects/acme/none HTTP/1.1\nContent-Length: 1000000\n" + token:    200,
			"PUT " + baseFiles + " HTTP/1.1\nContent-Length: 100\nAuthorization: Bearer x": 401,
			"POST /nothing HTTP/1.1\nContent-Length: 10":                                   404,
		} {
			l := dial()
			l.send(head)
			start := time.Now()
			l.answer().want(status)
			if took := time.Since(start); took > time.Second {
				t.Errorf("%q: the answer came after %v", head, took)
			}
			l.closed()
		}
	})
}

func TestConnection_RefusedCallerIsReleased(t *testing.T) {
	quiet(t, func(t *testing.T, hub *testHub, dial func() *line) {
		l := dial()
		l.send(fmt.Sprintf("PUT %s HTTP/1.1\nContent-Length: 1000\nExpect: 100-continue", baseFiles))
		start := time.Now()
		l.answer().want(401)
		if took := time.Since(start); took != 0 {
			t.Errorf("the answer came after %v", took)
		}
		l.closed()
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("the connection was closed after %v", took)
		}
	})
}

func TestConnection_StalledHeaderTimesOut(t *testing.T) {
	quiet(t, func(t *testing.T, hub *testHub, dial func() *line) {
		l := dial()
		if _, err := io.WriteString(l, "GET /healthz HTTP/1.1\r\nX: "); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := io.ReadAll(l); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("the hub waited for %v", took)
		}
	})
}

func TestConnection_SlowReaderIsAllowedStalledIsNot(t *testing.T) {
	quiet(t, func(t *testing.T, hub *testHub, dial func() *line) {
		content := noise(1 << 20)
		big := bundle(t, "2.0.0", file{name: "noise", content: content})
		hub.as("alice").put(site+"/versions/2.0.0", big).want(201)
		head := fmt.Sprintf("GET %s/versions/2.0.0/bundle HTTP/1.1\nAuthorization: Bearer %s", site, hub.as("alice").token)
		l := dial()
		l.send(head)
		resp, err := http.ReadResponse(l.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		for err == nil {
			time.Sleep(hubserver.DefaultLimits.BodyIdle * 2 / 3)
			_, err = io.CopyN(&got, resp.Body, 64<<10)
		}
		if err != io.EOF || !bytes.Contains(got.Bytes(), []byte(content)) {
			t.Errorf("%d bytes came, of a file of %d: %v", got.Len(), len(content), err)
		}
		l = dial()
		l.send(head)
		time.Sleep(3 * hubserver.DefaultLimits.BodyIdle)
		if n, err := io.Copy(io.Discard, l); int(n) >= len(content) {
			t.Errorf("a reader that slept still got %d bytes, %v", n, err)
		}
	})
}

// noise is text that no compression makes smaller.
func noise(n int) string {
	b := make([]byte, n)
	x := uint64(1)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return string(b)
}

func TestConnection_IdleConnectionIsReused(t *testing.T) {
	quiet(t, func(t *testing.T, hub *testHub, dial func() *line) {
		l := dial()
		auth := "Authorization: Bearer " + hub.as("alice").token
		l.send("GET " + config + " HTTP/1.1\n" + auth)
		etag := l.answer().want(200).etag()
		for range 3 {
			time.Sleep(hubserver.DefaultLimits.BodyIdle * 3)
			l.send("GET " + config + " HTTP/1.1\nIf-None-Match: " + etag + "\n" + auth)
			l.answer().want(304)
			time.Sleep(hubserver.DefaultLimits.BodyIdle * 3)
			body := tarOf(t, file{name: "a"})
			l.send(put(hub, len(body), "Expect: 100-continue"))
			resp, err := http.ReadResponse(l.in, nil)
			if err != nil || resp.StatusCode != http.StatusContinue {
				t.Fatalf("%v, %v", resp, err)
			}
			if _, err := l.Write(body); err != nil {
				t.Fatal(err)
			}
			l.answer().want(200)
		}
	})
}

func TestShutdown_WaitsForRequests(t *testing.T) {
	g := newGate(t)
	hub := one(t, importer(g.Server))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := hub.server.HTTPServer(nil)
	served := make(chan error, 1)
	go func() { served <- server.Serve(hub.server.Listener(listener)) }()
	hub.url = "http://" + listener.Addr().String()
	alice := hub.as("alice")
	answers := make([]*answer, 8)
	var running sync.WaitGroup
	for i := range answers {
		account := []string{"alice", "acme"}[i%2] // each may have four at once
		running.Go(func() {
			var err error
			if answers[i], err = alice.try("POST", "/v1/apis/import", wire.ImportAPI{Account: account, URL: g.URL}); err != nil {
				t.Error(err)
			}
		})
	}
	for range answers {
		<-g.entered
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Shutdown(context.Background()) }()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		conn.Close()
		t.Error("a hub that stops takes another connection")
	}
	close(g.leave)
	running.Wait()
	for _, a := range answers {
		a.want(201)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
