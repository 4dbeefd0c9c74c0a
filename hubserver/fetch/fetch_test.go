package fetch_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubserver/fetch"
)

// A proxy in the environment would be dialled instead of the target: all tests run with one.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		os.Setenv(name, "http://127.0.0.1:1")
	}
	os.Exit(m.Run())
}

func TestFetch_ReturnsDocument(t *testing.T) {
	w := newWorld()
	w.names["pets.example"] = []string{public}
	w.site(public+":80", ok("openapi: 3.1.0\n"))
	w.site("[2606:4700::6810:84e5]:80", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
	for address, want := range map[string]string{
		"http://pets.example/a.yaml":                  "openapi: 3.1.0\n",
		"http://pets.example:80/a.yaml?v=1#fragment":  "openapi: 3.1.0\n",
		"http://PETS.example.":                        "openapi: 3.1.0\n",
		"http://" + public:                            "openapi: 3.1.0\n",
		"http://ok.invalid@pets.example":              "",
		"http://[2606:4700::6810:84e5]/":              "hello",
		"http://[::ffff:93.184.216.34]/":              "",
		"http://pets.example#@127.0.0.1/":             "openapi: 3.1.0\n",
		"http://pets.example/%2f%2e%2e/a?url=file://": "openapi: 3.1.0\n",
	} {
		got, err := get(w.fetcher(fetch.Options{}), address)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("Get(%s) = %q, %v, want %q", address, got, err, want)
		}
	}
}

func TestFetch_SendsOnlyUserAgent(t *testing.T) {
	w := newWorld()
	w.names["a.example"], w.names["b.example"] = []string{public}, []string{"1.1.1.1"}
	w.site(public+":80", strings.Replace(redirect("302", "http://b.example/next#there"), "\r\n", "\r\nSet-Cookie: a=b\r\n",
		1))
	w.site("1.1.1.1:80", ok("{}"))
	if _, err := get(w.fetcher(fetch.Options{Version: "1.2.3"}), "http://a.example/first?q=1#here"); err != nil {
		t.Fatal(err)
	}
	head := func(path, host string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: hub/1.2.3\r\n" +
			"Accept: application/json, application/yaml, */*;q=0.5\r\nAccept-Encoding: identity\r\n\r\n"
	}
	want := []string{head("/first?q=1", "a.example"), head("/next", "b.example")}
	if diff := cmp.Diff(want, w.heads); diff != "" {
		t.Error(diff)
	}
}

func TestFetch_RefusesOwnOrigin(t *testing.T) {
	own, err := url.Parse("https://Hub.example")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	w.names["hub.example"], w.names["a.example"] = []string{public}, []string{"1.1.1.1"}
	w.site("1.1.1.1:80", redirect("307", "https://hub.example:443/v1/whoami"))
	f := w.fetcher(fetch.Options{Own: own})
	for _, address := range []string{"https://hub.example/", "https://HUB.EXAMPLE:443/a", "http://hub.example:443",
		"http://a.example"} {
		_, err := get(f, address)
		wantRefused(t, err)
	}
	if slices.Contains(w.dialled, public+":443") {
		t.Error("the hub dialled itself")
	}
	w.site(public+":80", ok("another service on the same host"))
	if _, err := get(f, "http://hub.example"); err != nil {
		t.Errorf("another port of the hub's host: %v", err)
	}
}

func TestFetch_TriesNextAddress(t *testing.T) {
	w := newWorld()
	w.names["a.example"] = []string{"1.0.0.1", "2606:4700::1", "1.0.0.3", public, "1.0.0.5"}
	w.site(public+":80", ok("there"))
	if got, err := get(w.fetcher(fetch.Options{}), "http://a.example"); string(got) != "there" {
		t.Errorf("Get = %q, %v", got, err)
	}
	w.names["a.example"] = []string{"1.0.0.1", "1.0.0.2", "1.0.0.3", "1.0.0.4", public}
	w.dialled = nil
	if _, err := get(w.fetcher(fetch.Options{}), "http://a.example"); err == nil || len(w.dialled) != 4 {
		t.Errorf("%d addresses were tried, err %v, want 4", len(w.dialled), err)
	}
}

func TestFetch_VerifiesHTTPS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, "http://example.com/", http.StatusFound)
			return
		}
		w.Write([]byte(r.Proto))
	}))
	server.EnableHTTP2 = true
	server.StartTLS() // for its certificate, which names example.com
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	w := newWorld()
	w.names["example.com"], w.names["other.example"] = []string{public}, []string{public}
	w.site(public+":80", ok("plain"))
	w.sites[public+":443"] = func(conn net.Conn) {
		quiet := http.Server{Handler: server.Config.Handler, ErrorLog: log.New(io.Discard, "", 0)}
		quiet.Serve(tls.NewListener(newOneConn(conn), server.TLS))
	}
	trusting := w.fetcher(fetch.Options{RootCAs: roots})
	if got, err := get(trusting, "https://example.com/"); string(got) != "HTTP/1.1" {
		t.Errorf("Get = %q, %v", got, err)
	}
	for name, test := range map[string]struct {
		f   *fetch.Fetcher
		url string
	}{
		"unknown authority":     {w.fetcher(fetch.Options{RootCAs: x509.NewCertPool()}), "https://example.com/"},
		"another host":          {trusting, "https://other.example/"},
		"redirect out of HTTPS": {trusting, "https://example.com/down"},
	} {
		t.Run(name, func(t *testing.T) {
			w.dialled = nil
			_, err := get(test.f, test.url)
			wantRefused(t, err)
			if slices.Contains(w.dialled, public+":80") {
				t.Error("it went on without TLS")
			}
		})
	}
}

// oneConn is a listener with one connection. It ends when that one is closed.
type oneConn struct {
	net.Conn
	ended context.Context
	end   context.CancelFunc
	taken bool
}

func newOneConn(conn net.Conn) *oneConn {
	ended, end := context.WithCancel(context.Background())
	return &oneConn{Conn: conn, ended: ended, end: end}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if l.taken {
		<-l.ended.Done()
		return nil, net.ErrClosed
	}
	l.taken = true
	return l, nil
}

func (l *oneConn) Addr() net.Addr { return l.LocalAddr() }

func (l *oneConn) Close() error {
	l.end()
	return l.Conn.Close()
}

func TestFetch_FourAtOncePerAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		release := make(chan struct{})
		w.sites[public+":80"] = func(conn net.Conn) {
			w.readHead(conn)
			<-release
			conn.Write([]byte(ok("done")))
		}
		f := w.fetcher(fetch.Options{})
		results := make(chan error, 8)
		start := func(account string) {
			go func() {
				_, err := f.Get(context.Background(), account, "http://"+public, nil)
				results <- err
			}()
		}
		for range 4 {
			start("acme")
			start("other")
		}
		synctest.Wait()
		for _, account := range []string{"acme", "other"} {
			var busy *fetch.Busy
			_, err := f.Get(context.Background(), account, "http://"+public, nil)
			if !errors.As(err, &busy) || err.Error() != "4 fetches of account "+account+" are under way already" {
				t.Errorf("the fifth fetch of %s: %v, want a *Busy", account, err)
			}
		}
		close(release)
		for range 8 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		for range 10 {
			if _, err := f.Get(context.Background(), "acme", "http://"+public, nil); err != nil {
				t.Errorf("one after the other: %v", err)
			}
		}
	})
}

func TestFetch_EndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.sites[public+":80"] = w.silent
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := w.fetcher(fetch.Options{}).Get(ctx, "acme", "http://"+public, nil)
		wantRefused(t, err)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the cause is %v", errors.Unwrap(err))
		}
	})
}
