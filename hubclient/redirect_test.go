package hubclient_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

var redirectCodes = []int{301, 302, 303, 307, 308}

// guardedHub returns a hub at an origin whose every other address is a trap.
func guardedHub(t *testing.T, scheme string, h handler) (b *hub, trapped *int) {
	t.Helper()
	listener := newPipes()
	trapped = new(int)
	b = &hub{}
	server := &httptest.Server{Listener: listener, Config: &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h(w, r, int(b.requests.Add(1))) }),
	}}
	opts := hubclient.Options{Origin: scheme + "://" + guardedHost, Token: token, AllowHTTP: true}
	if scheme == "https" {
		server.StartTLS()
		opts.Roots = x509.NewCertPool()
		opts.Roots.AddCert(server.Certificate())
	} else {
		server.Start()
	}
	var err error
	if b.Client, err = hubclient.New(opts); err != nil {
		t.Fatal(err)
	}
	b.DialBy(func(ctx context.Context, address string) (net.Conn, error) {
		if address != guardedHost {
			*trapped++
			return nil, fmt.Errorf("dialled %s", address)
		}
		return listener.dial(ctx, address)
	})
	t.Cleanup(func() {
		b.CloseIdle()
		server.Close()
	})
	return b, trapped
}

const guardedHost = "hub.example.com:4680"

// requests of each kind.
var redirected = []call{
	{"GET", "GET", false, func(ctx context.Context, c *hubclient.Client) error { _, err := c.Whoami(ctx); return err },
		nil},
	{"PUT", "PUT", true, func(ctx context.Context, c *hubclient.Client) error {
		_, err := c.PutConfig(ctx, project, wire.PutConfig{Settings: settings}, "")
		return err
	}, nil},
	{"POST", "POST", true, func(ctx context.Context, c *hubclient.Client) error {
		_, err := c.CreateProject(ctx, create)
		return err
	}, nil},
	{"DELETE", "DELETE", true, func(ctx context.Context, c *hubclient.Client) error {
		_, err := c.DeleteProject(ctx, project)
		return err
	}, nil},
}

func redirect(w http.ResponseWriter, code int, location string) {
	w.Header()["Location"] = []string{location}
	w.WriteHeader(code)
}

func TestRedirect_OtherOriginFailsWithTarget(t *testing.T) {
	targets := map[string]string{ // what is named, with S for the scheme and T for the other
		"S://hub.example.com:4681/v1":                   "",
		"S://hub.example.com/v1":                        "",
		"S://example.com:4680/":                         "",
		"S://a.hub.example.com:4680/":                   "",
		"S://hub.example.com.evil.test:4680/":           "",
		"T://hub.example.com:4680/":                     "",
		"S://127.0.0.1:4680/":                           "",
		"S://[::1]:4680/":                               "",
		"//evil.example.com/x":                          "S://evil.example.com/x",
		"S://user:secret@example.com/":                  "S://example.com/",
		"S://hub.example.com:4680@example.com/":         "S://example.com/",
		"javascript:alert(1)":                           "",
		"file:///etc/passwd":                            "",
		"S://[::1":                                      "an address that cannot be read",
		"S://user:secret@hub.example.com:x/":            "an address that cannot be read",
		"S://example.com/" + strings.Repeat("x", 9_000): "S://example.com/xxxx",
	}
	for _, scheme := range []string{"http", "https"} {
		for target, named := range targets {
			other := map[string]string{"http": "https", "https": "http"}[scheme]
			fill := strings.NewReplacer("S://", scheme+"://", "T://", other+"://").Replace
			if named == "" {
				named = target
			}
			for _, code := range redirectCodes {
				for _, c := range redirected {
					b, trapped := guardedHub(t, scheme,
						func(w http.ResponseWriter, _ *http.Request, _ int) { redirect(w, code, fill(target)) })
					e := wantCode(t, c.do(t.Context(), b.Client), hubclient.CodeRedirected)
					if *trapped != 0 || b.requests.Load() != 1 || !strings.Contains(e.Detail, fill(named)) ||
						strings.Contains(e.Detail, "secret") {
						t.Errorf("%d of a %s to %.60s: %d elsewhere, %d requests: %v", code, c.method, target, *trapped,
							b.requests.Load(), e)
					}
				}
			}
		}
	}
}

func TestRedirect_GetFollowsThreeWithinOrigin(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		for _, target := range []string{"/v1/next", "next", "?x=1", scheme + "://HUB.example.com:4680/v1/next",
			scheme + "://u:p@" + guardedHost + "/v1"} {
			for _, code := range redirectCodes {
				for times, ok := range map[int]bool{1: true, 3: true, 4: false, 100: false} {
					b, trapped := guardedHub(t, scheme, func(w http.ResponseWriter, r *http.Request, n int) {
						if r.Header.Get("Authorization") != "Bearer "+token || r.Host != guardedHost {
							t.Errorf("request %d goes to %s with %q", n, r.Host, r.Header.Get("Authorization"))
						}
						if n > times {
							answer(w, 200, wire.Whoami{User: "alice"})
							return
						}
						redirect(w, code, target)
					})
					_, err := b.Whoami(t.Context())
					if ok != (err == nil) || *trapped != 0 || b.requests.Load() != int64(min(times, 3)+1) {
						t.Errorf("%d × %d to %s: %d elsewhere, %d requests: %v", times, code, target, *trapped, b.requests.Load(), err)
					}
				}
				for _, c := range redirected[1:] {
					b, _ := guardedHub(t, scheme, func(w http.ResponseWriter, _ *http.Request, _ int) { redirect(w, code, target) })
					if wantCode(t, c.do(t.Context(), b.Client), hubclient.CodeRedirected); b.requests.Load() != 1 {
						t.Errorf("%d of a %s: %d requests", code, c.method, b.requests.Load())
					}
				}
			}
		}
	}
}

func TestRedirect_LeavesNoConnectionOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		defer listener.Close()
		var conns []*pipe
		go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/3" {
				redirect(w, 307, map[string]string{"/v1/whoami": "/1", "/1": "/2", "/2": "/3"}[r.URL.Path])
				io.WriteString(w, "a body")
				return
			}
			answer(w, 200, wire.Whoami{User: "alice"})
		}))
		c, err := hubclient.New(hubclient.Options{Origin: origin, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		c.DialBy(func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := listener.dial(ctx, address)
			conns = append(conns, conn.(*pipe))
			return conn, err
		})
		if _, err := c.Whoami(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.CloseIdle()
		synctest.Wait() // the transport closes what is not idle yet once it is
		for i, conn := range conns {
			if !conn.closed.Load() {
				t.Errorf("connection %d of %d is open", i+1, len(conns))
			}
		}
	})
}

func TestRedirect_InvalidIsNotAHub(t *testing.T) {
	for _, code := range append(slices.Clone(redirectCodes), 300, 304, 305, 306, 399) {
		for _, c := range redirected {
			b, _ := guardedHub(t, "http", func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Hub-Version", "1")
				w.WriteHeader(code)
			})
			if wantCode(t, c.do(t.Context(), b.Client), hubclient.CodeNotAHub); b.requests.Load() != 1 {
				t.Errorf("%d of a %s: %d requests", code, c.method, b.requests.Load())
			}
		}
	}
}

// With the network of the system, and the names that a resolver gives.
func TestRedirect_TokenReachesNoOtherListener(t *testing.T) {
	seen := func(tls bool) (*httptest.Server, *int) {
		n := new(int)
		h := http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { *n++ })
		if tls {
			return httptest.NewTLSServer(h), n
		}
		return httptest.NewServer(h), n
	}
	plain, plainSeen := seen(false)
	defer plain.Close()
	secure, secureSeen := seen(true)
	defer secure.Close()
	_, plainPort, _ := net.SplitHostPort(plain.Listener.Addr().String())
	for _, target := range []string{plain.URL, secure.URL, "http://localhost:" + plainPort,
		"http://[::ffff:127.0.0.1]:" + plainPort} {
		for _, code := range redirectCodes {
			base := httptest.NewTLSServer(
				http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { redirect(w, code, target) }))
			roots := x509.NewCertPool()
			roots.AddCert(base.Certificate())
			roots.AddCert(secure.Certificate())
			b, err := hubclient.New(hubclient.Options{Origin: base.URL, Token: token, Roots: roots})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range redirected {
				wantCode(t, c.do(t.Context(), b), hubclient.CodeRedirected)
			}
			base.Close()
		}
	}
	if *plainSeen+*secureSeen != 0 {
		t.Errorf("%d and %d requests reached another listener", *plainSeen, *secureSeen)
	}
}
