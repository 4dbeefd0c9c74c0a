package hubserver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
)

// testTLS is a configuration of TLS with a certificate that no client trusts.
var testTLS = func() *tls.Config {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
}()

// secure gives a hub a listener with TLS, to which its callers connect from now on.
func (h *testHub) secure(listener net.Listener, dial dialer, protocol string) {
	h.Helper()
	server := h.server.HTTPServer(testTLS.Clone()) // a server adds its protocols to what it gets
	go server.ServeTLS(h.server.Listener(listener), "", "")
	transport := &http.Transport{DialContext: dial, DisableCompression: true, ForceAttemptHTTP2: protocol == "h2",
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	h.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	h.url = "https://" + listener.Addr().String()
	h.client = &http.Client{Transport: &recorder{t: h, next: transport}}
}

// secureHub returns a hub with TLS whose callers speak the protocol.
func secureHub(t *testing.T, protocol string) *testHub {
	t.Helper()
	hub := one(t, func(c *hubserver.Config) { c.PublicURL = "https://hub.test" })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hub.secure(listener, (&net.Dialer{}).DialContext, protocol)
	return hub
}

func TestTLS_ServesBothProtocols(t *testing.T) {
	for _, protocol := range []string{"h2", "http/1.1"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			hub := secureHub(t, protocol)
			hub.project()
			alice := hub.as("alice")
			alice.put(clientCfg, `{"settings": {"title": "Pets"}}`).want(200)
			if a := alice.get(web); a.header.Get("Strict-Transport-Security") == "" {
				t.Error("no Strict-Transport-Security")
			}
			alice.put(baseFiles, archive(t, file{name: "large", content: noise(20 << 20)})).want(200)
			if got := alice.get(baseFiles + "/archive").want(200); len(got.body) < 20<<20 {
				t.Errorf("the archive has %d bytes", len(got.body))
			}
			alice.put(baseFiles, archive(t, file{name: "../x"})).problem(422, wire.CodeInvalidBody)
			hub.with("").put(baseFiles, archive(t, file{name: "a", content: noise(4 << 20)})).want(401)
			alice.get(web).want(200)
		})
	}
}

func TestTLS_NegotiatesHTTP2(t *testing.T) {
	for protocol, major := range map[string]int{"h2": 2, "http/1.1": 1} {
		hub := secureHub(t, protocol)
		resp, err := hub.client.Get(hub.url + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		if resp.ProtoMajor != major {
			t.Errorf("%s: %s was spoken", protocol, resp.Proto)
		}
	}
}

func TestTLS_ChecksFramingOfHTTP1(t *testing.T) {
	hub := secureHub(t, "http/1.1")
	for name, c := range ambiguous {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(hub.url, "https://"), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		l := newLine(t, conn)
		l.write(c.head + smuggled)
		if got := l.responses(); !slices.Equal(got, []int{c.status}) {
			t.Errorf("%s: the statuses are %v, want %d", name, got, c.status)
		}
		conn.Close()
	}
}

func TestTLS_AnswersPlainHTTP(t *testing.T) {
	hub := secureHub(t, "http/1.1")
	token, calls := hub.as("alice").token, 0
	for _, path := range []string{"/healthz", "/", "/@acme/web", "/v1/whoami", config} {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(hub.url, "https://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			calls++
			l := newLine(t, conn)
			l.send(method + " " + path + " HTTP/1.1\nAuthorization: Bearer " + token)
			resp, err := http.ReadResponse(l.in, nil) // the hub has not read it, so that HEAD is answered by a body, too
			if method == "DELETE" {                   // which net/http does not take for HTTP
				if err == nil {
					t.Errorf("%s %s: status %d", method, path, resp.StatusCode)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			redirects := resp.Header.Get("Location") != ""
			if err != nil || resp.StatusCode != 400 || redirects || !strings.Contains(string(body), "HTTPS") {
				t.Errorf("%v, %d: %s", err, resp.StatusCode, body)
			}
			l.closed()
		}
	}
	t.Logf("%d calls", calls)
}

func TestHTTP2_RefusedBodyKeepsConnection(t *testing.T) {
	hub := secureHub(t, "h2")
	hub.project()
	reused := false
	ctx := httptrace.WithClientTrace(t.Context(),
		&httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
	for i, status := range []int{401, 401, 200} {
		caller, body, method := hub.with("x"), any(archive(t, file{name: "a", content: noise(8 << 20)})), "PUT"
		if status == 200 {
			caller, body, method = hub.as("alice"), nil, "GET"
		}
		a, err := caller.tryWithin(ctx, method, map[string]string{"PUT": baseFiles, "GET": web}[method], body)
		if err != nil {
			t.Fatal(err)
		}
		if a.want(status); i > 0 && !reused {
			t.Errorf("request %d has a connection of its own", i)
		}
	}
}

func TestHTTP2_EventsArriveUntilCancelled(t *testing.T) {
	hub := secureHub(t, "h2")
	hub.project()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := hub.as("rita").request("GET", events, nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req.WithContext(ctx))
	if err != nil || resp.ProtoMajor != 2 {
		t.Fatalf("%v, %v", resp, err)
	}
	read := func(until string) {
		t.Helper()
		var all strings.Builder
		for buf := make([]byte, 1<<10); !strings.Contains(all.String(), until); {
			n, err := resp.Body.Read(buf)
			if all.Write(buf[:n]); err != nil {
				t.Fatalf("%v after %q", err, all.String())
			}
		}
	}
	read("event: config")
	hub.as("alice").put(clientCfg, `{"settings": {"title": "Pets"}}`).want(200)
	read("event: config")
	cancel()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if strings.Contains(hub.log.String(), `"route":"/v1/projects/:account/:slug/events"`) {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("the stream is open after the request was cancelled")
		}
	}
}

// HTTP/2 says when the hub stops that a connection takes no other request, so that none has
// to end before.
func TestHTTP2_ConnectionOutlastsDraining(t *testing.T) {
	hub := secureHub(t, "h2")
	hub.server.Drain()
	for i := range 3 {
		reused := false
		ctx := httptrace.WithClientTrace(t.Context(),
			&httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }})
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, hub.url+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := hub.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if reused != (i > 0) {
			t.Errorf("request %d has the connection of the one before: %t", i, reused)
		}
	}
}

// Streams of events do not end by themselves, and must not delay the end of the hub.
func TestHTTP2_ShutdownEndsEvents(t *testing.T) {
	hub := one(t, func(c *hubserver.Config) { c.PublicURL = "https://hub.test" })
	hub.project()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := hub.server.HTTPServer(testTLS.Clone())
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(hub.server.Listener(listener), "", "") }()
	hub.url = "https://" + listener.Addr().String()
	req, err := hub.as("rita").request("GET", events, nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil || resp.ProtoMajor != 2 {
		t.Fatalf("%v, %v", resp, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func TestHTTP2_LimitsHeaders(t *testing.T) {
	hub := secureHub(t, "h2")
	resp, err := hub.client.Transport.(*recorder).next.RoundTrip(&http.Request{
		Method: "GET", URL: mustParse(t, hub.url+"/healthz"), Header: http.Header{"X-Large": {strings.Repeat("x", 80<<10)}},
	})
	if err == nil {
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d", resp.StatusCode)
		}
	} else if !strings.Contains(err.Error(), "header list larger") && !strings.Contains(err.Error(), "GOAWAY") {
		t.Error(err)
	}
}

// quiet2 is quiet for a caller that speaks HTTP/2.
func quiet2(t *testing.T, f func(t *testing.T, hub *testHub, dial func() *tls.Conn)) {
	quiet(t, func(t *testing.T, hub *testHub, _ func() *line) {
		listener := newPipes()
		hub.secure(listener, listener.dial, "h2")
		hub.url = "https://hub.test"
		f(t, hub, func() *tls.Conn {
			raw, err := listener.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { raw.Close() })
			return tls.Client(raw, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		})
	})
}

func TestHTTP2_StalledBodyTimesOut(t *testing.T) {
	quiet2(t, func(t *testing.T, hub *testHub, _ func() *tls.Conn) {
		body := tarOf(t, file{name: "a", content: "x"})
		for _, n := range []int{0, 1, 512, len(body) - 1} {
			read, write := io.Pipe()
			req, err := hub.as("alice").request("PUT", baseFiles, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Body, req.ContentLength = read, int64(len(body))
			req.Header.Set("Content-Type", "application/x-tar")
			go write.Write(body[:n])
			start := time.Now()
			resp, err := hub.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			write.CloseWithError(errors.New("over"))
			if took := time.Since(start); resp.StatusCode != 400 || !strings.Contains(string(answer), "timeout while reading") ||
				took != hubserver.DefaultLimits.BodyIdle {
				t.Errorf("after %d bytes: %d in %v: %s", n, resp.StatusCode, took, answer)
			}
		}
		hub.as("alice").get(baseFiles).problem(404, wire.CodeNotFound)
	})
}

func TestHTTP2_GivesUpCallerThatDoesNotRead(t *testing.T) {
	quiet2(t, func(t *testing.T, hub *testHub, _ func() *tls.Conn) {
		hub.as("alice").put(baseFiles, archive(t, file{name: "a", content: noise(8 << 20)})).want(200)
		req, err := hub.as("alice").request("GET", baseFiles+"/archive", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := hub.client.Transport.(*recorder).next.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * hubserver.DefaultLimits.BodyIdle)
		if got, err := io.Copy(io.Discard, resp.Body); err == nil {
			t.Errorf("all %d bytes came after a minute", got)
		}
		if used := hub.reserved(); used != 0 {
			t.Errorf("%d bytes are still reserved", used)
		}
	})
}

func TestHTTP2_ClosesConnectionsWithoutRequests(t *testing.T) {
	const preface = http2.ClientPreface
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	for name, c := range map[string]struct {
		sent  string
		after time.Duration
	}{
		"no preface":              {"", 10 * time.Second},
		"half a preface":          {preface[:10], 10 * time.Second},
		"no settings":             {preface, 2 * time.Second},
		"nothing more":            {preface + settings, 2 * time.Minute},
		"half a block of headers": {preface + settings + "\x00\x00\x20\x01\x05\x00\x00\x00\x01\x82", 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			quiet2(t, func(t *testing.T, _ *testHub, dial func() *tls.Conn) {
				conn := dial()
				start := time.Now()
				if _, err := io.WriteString(conn, c.sent); err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, conn); err == nil && time.Since(start) == 0 {
					t.Error("the connection was closed at once")
				}
				if open := time.Since(start); open > c.after+hubserver.DefaultLimits.BodyIdle {
					t.Errorf("the connection was open for %v", open)
				}
			})
		})
	}
}

func TestHTTP2_AnnouncesItsLimits(t *testing.T) {
	hub := secureHub(t, "h2")
	conn, err := tls.Dial("tcp", strings.TrimPrefix(hub.url, "https://"),
		&tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, http2.ClientPreface)
	frame, err := http2.NewFramer(conn, conn).ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	got := map[http2.SettingID]uint32{}
	frame.(*http2.SettingsFrame).ForeachSetting(func(s http2.Setting) error { got[s.ID] = s.Val; return nil })
	if got[http2.SettingMaxConcurrentStreams] != 8 || got[http2.SettingMaxFrameSize] != 16<<10 ||
		got[http2.SettingInitialWindowSize] != 64<<10 || got[http2.SettingMaxHeaderListSize] > 17<<10 {
		t.Errorf("the settings are %v", got)
	}
}

func TestTLS_EndsSilentHandshakes(t *testing.T) {
	for name, sent := range map[string]string{"nothing": "", "half a record": "\x16\x03\x01\x02\x00\x01"} {
		t.Run(name, func(t *testing.T) {
			quiet2(t, func(t *testing.T, _ *testHub, dial func() *tls.Conn) {
				raw := dial().NetConn()
				if _, err := io.WriteString(raw, sent); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				io.Copy(io.Discard, raw)
				if open := time.Since(start); open != 10*time.Second {
					t.Errorf("the connection was open for %v", open)
				}
				synctest.Wait()
			})
		})
	}
}

func TestTLS_SurvivesPanicsInHandshakes(t *testing.T) {
	hub := one(t, func(c *hubserver.Config) { c.PublicURL = "https://hub.test" })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := testTLS.Clone()
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if hello.ServerName == "panic.test" {
			panic("no certificate")
		}
		return nil, nil
	}
	server := hub.server.HTTPServer(config)
	go server.ServeTLS(hub.server.Listener(listener), "", "")
	t.Cleanup(func() { server.Close() })
	for name, served := range map[string]bool{"panic.test": false, "hub.test": true} {
		conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{ServerName: name, InsecureSkipVerify: true})
		if served != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
