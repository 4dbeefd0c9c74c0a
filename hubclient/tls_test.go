package hubclient_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// secureHub returns a hub behind TLS, and its certificate as a pool.
func secureHub(t *testing.T, configure func(*tls.Config)) (*httptest.Server, *x509.CertPool) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(w, 200, wire.Whoami{User: "alice", TokenName: r.Header.Get("Authorization")})
	}))
	server.TLS = &tls.Config{}
	configure(server.TLS)
	server.Config.ErrorLog = quiet
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server, roots
}

// secureHost is a name in the certificate of a test server.
const secureHost = "hub.example.com:443"

func TestTLS_OnlyTrustedCertificateGetsToken(t *testing.T) {
	for name, test := range map[string]struct {
		host      string
		trusted   bool
		configure func(*tls.Config)
		code      wire.Code
		says      string
	}{
		"trusted": {secureHost, true, nil, "", ""},
		"unknown issuer": {secureHost, false, nil, hubclient.CodeUnreachable,
			"the certificate of https://hub.example.com is not trusted: x509: certificate signed by unknown authority"},
		"another's name": {"hub.example.net:443", true, nil, hubclient.CodeUnreachable,
			"is not trusted: x509: certificate is valid for"},
		"old TLS": {secureHost, true, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS11 },
			hubclient.CodeUnreachable, "https://hub.example.com refuses the connection: tls: protocol version not supported"},
		"a certificate too": {secureHost, true, func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert },
			hubclient.CodeUnreachable, "https://hub.example.com refuses the connection: tls: certificate required"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.configure == nil {
				test.configure = func(*tls.Config) {}
			}
			server, roots := secureHub(t, test.configure)
			if !test.trusted {
				roots = x509.NewCertPool()
			}
			attempts := 0
			c, err := hubclient.New(hubclient.Options{
				Origin: "https://" + test.host, Token: token, Roots: roots, Trace: func(hubclient.Attempt) { attempts++ },
			})
			if err != nil {
				t.Fatal(err)
			}
			c.DialBy(func(ctx context.Context, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
			})
			me, err := c.Whoami(t.Context())
			if test.code == "" {
				if err != nil || me.TokenName != "Bearer "+token {
					t.Errorf("%+v, %v", me, err)
				}
				return
			}
			e := wantCode(t, err, test.code)
			if attempts != 1 || !strings.Contains(e.Detail, test.says) {
				t.Errorf("%d attempts: %+v", attempts, e)
			}
		})
	}
}

func TestTLS_MixedWithPlainHTTPIsNotAHub(t *testing.T) {
	secure, _ := secureHub(t, func(*tls.Config) {})
	plain := httptest.NewServer(http.HandlerFunc(
		func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	defer plain.Close()
	for _, o := range []string{"http://" + secure.Listener.Addr().String(), "https://" + plain.Listener.Addr().String()} {
		c, err := hubclient.New(hubclient.Options{Origin: o, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Whoami(t.Context())
		if e := wantCode(t, err, hubclient.CodeNotAHub); !strings.HasPrefix(e.Detail, o) {
			t.Error(e)
		}
	}
}

// The proxy's variables are read once in a process, so each case has its own.
func TestMain(m *testing.M) {
	if os.Getenv("HUBCLIENT_TEST_ORIGIN") != "" {
		callFromEnvironment()
		return
	}
	os.Exit(m.Run())
}

// callFromEnvironment calls a hub, and prints where it dialled and what came of it.
func callFromEnvironment() {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(os.Getenv("HUBCLIENT_TEST_ROOTS")))
	c, err := hubclient.New(hubclient.Options{
		Origin: os.Getenv("HUBCLIENT_TEST_ORIGIN"), Token: token, AllowHTTP: true, Roots: roots, Timeout: time.Minute,
	})
	if err != nil {
		panic(err)
	}
	c.DialBy(func(ctx context.Context, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "hub.example.com:") {
			fmt.Println("dialled the hub")
			address = os.Getenv("HUBCLIENT_TEST_HUB")
		}
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	me, err := c.Whoami(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("answered", strings.HasPrefix(me.TokenName, "Bearer hubpat_"))
}

// proxy tunnels to a hub, and notes what it was asked.
type proxy struct {
	*httptest.Server
	hub string
	no  bool // it refuses

	mu    sync.Mutex
	asked []string
	token bool // one was seen
}

func newProxy(t *testing.T, hub string, refuse bool) *proxy {
	p := &proxy{hub: hub, no: refuse}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.Host)
	p.token = p.token || r.Header.Get("Authorization") != ""
	p.mu.Unlock()
	if p.no || r.Method != http.MethodConnect {
		http.Error(w, "no", http.StatusForbidden)
		return
	}
	far, err := net.Dial("tcp", p.hub)
	if err != nil {
		panic(err)
	}
	near := hijack(w)
	io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { io.Copy(far, near); far.Close() }()
	go func() { io.Copy(near, far); near.Close() }()
}

func TestProxy_OnlyForHTTPS(t *testing.T) {
	secure, _ := secureHub(t, func(*tls.Config) {})
	plain := httptest.NewServer(secure.Config.Handler)
	defer plain.Close()
	const direct, tunnel = "dialled the hub\nanswered true\n", "CONNECT hub.example.com:443"
	for name, test := range map[string]struct {
		origin string
		env    string // with %s: the proxy's address
		refuse bool
		prints string // a prefix
		asked  string
	}{
		"https, none":         {"https://hub.example.com", "X=%s", false, direct, ""},
		"https":               {"https://hub.example.com", "HTTPS_PROXY=%s", false, "answered true\n", tunnel},
		"https, lower case":   {"https://hub.example.com", "https_proxy=%s", false, "answered true\n", tunnel},
		"https, of http only": {"https://hub.example.com", "HTTP_PROXY=%s", false, direct, ""},
		"https, exempt":       {"https://hub.example.com", "HTTPS_PROXY=%s NO_PROXY=example.com", false, direct, ""},
		"https, not exempt": {"https://hub.example.com", "HTTPS_PROXY=%s NO_PROXY=example.net", false, "answered true\n",
			tunnel},
		"https, refused": {"https://hub.example.com", "HTTPS_PROXY=%s", true,
			"https://hub.example.com cannot be reached: Forbidden\n", tunnel},
		"http": {"http://hub.example.com",
			"HTTP_PROXY=%s HTTPS_PROXY=%s ALL_PROXY=%s http_proxy=%s all_proxy=%s", false, direct, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProxy(t, secure.Listener.Addr().String(), test.refuse)
			hub := secure
			if strings.HasPrefix(test.origin, "http:") {
				hub = plain
			}
			got := callInProcess(t, test.origin, hub, strings.Fields(strings.ReplaceAll(test.env, "%s", p.URL)))
			p.mu.Lock()
			defer p.mu.Unlock()
			if asked := strings.Join(p.asked, ", "); got != test.prints || asked != test.asked || p.token {
				t.Errorf("it prints %q, the proxy was asked %q, and saw a token: %v", got, asked, p.token)
			}
		})
	}
}

// callInProcess calls hub by an origin in a process with these variables.
func callInProcess(t *testing.T, origin string, hub *httptest.Server, env []string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(env, "GORACE=atexit_sleep_ms=0", "HUBCLIENT_TEST_ORIGIN="+origin,
		"HUBCLIENT_TEST_HUB="+hub.Listener.Addr().String())
	if hub.TLS != nil {
		root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hub.Certificate().Raw})
		cmd.Env = append(cmd.Env, "HUBCLIENT_TEST_ROOTS="+string(root))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}
