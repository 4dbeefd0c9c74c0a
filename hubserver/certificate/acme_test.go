package certificate_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"example.com/projecthub/hubserver"
	"example.com/projecthub/hubserver/certificate"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

const domain = "hub.example.com"

// startPebble runs an authority that checks challenges at the port, and returns the address
// of its directory. What it issues is valid for life seconds.
func startPebble(t *testing.T, port, life int) string {
	t.Helper()
	program, err := exec.LookPath("pebble")
	if err != nil {
		const message = "needs pebble: go -C .ci/pebble build -o ~/go/bin/pebble " +
			"github.com/letsencrypt/pebble/v2/cmd/pebble, with ~/go/bin in PATH"
		if os.Getenv(storetest.RequireVariable) != "" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": address, "certificate": authority.cert, "privateKey": authority.key, "tlsPort": port,
		"httpPort": port,
		"profiles": map[string]any{"default": map[string]any{"validityPeriod": life}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pebble.json")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	pebble := exec.Command(program, "-config", path, "-dnsserver", nameserver(t))
	rejected := 5  // percent of the nonces
	if life < 60 { // the client waits for seconds before it tries again
		rejected = 0
	}
	pebble.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", fmt.Sprint("PEBBLE_WFE_NONCEREJECT=", rejected))
	pebble.Stdout = t.Output()
	if err := pebble.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = pebble.Process.Kill()
		_ = pebble.Wait()
	})
	directory := "https://" + address + "/dir"
	await(t, "the directory", func() bool {
		resp, err := http.Get(directory)
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	return directory
}

// nameserver answers over TCP that every name is this machine's, and returns its own address.
func nameserver(t *testing.T) string {
	t.Helper()
	l, _ := listen(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = answerQuery(conn)
			}()
		}
	}()
	return l.Addr().String()
}

// answerQuery answers one query, which as every message has its length before it.
func answerQuery(conn net.Conn) error {
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return err
	}
	query := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return err
	}
	m.Response, m.Authoritative = true, true
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	reply, err := m.Pack()
	if err != nil {
		return err
	}
	_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	return err
}

// hub is a hub that orders its certificate.
type hub struct {
	listener net.Listener
	obtain   func()
	log      buffer
}

// startHub starts a hub once directory says where its authority is.
func startHub(t *testing.T, address string, listener net.Listener, directory string) *hub {
	t.Helper()
	h := &hub{listener: listener}
	log := slog.New(slog.NewTextHandler(&h.log, nil))
	s := storetest.Open(t, address)
	config, obtain := certificate.ACME([]string{domain}, directory, s, log)
	h.obtain = obtain
	server := hubserver.New(hubserver.Config{
		Store: s, PublicURL: "https://" + domain, Log: log, Limits: hubserver.DefaultLimits,
		Fetch: fetch.New(fetch.Options{}),
	}).HTTPServer(config)
	go server.ServeTLS(listener, "", "")
	t.Cleanup(func() { server.Close() })
	return h
}

// served returns the certificate of a handshake with a name.
func (h *hub) served(name string) (*x509.Certificate, error) {
	c, err := tls.Dial("tcp", h.listener.Addr().String(), &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0], nil
}

func listen(t *testing.T) (l net.Listener, port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l, l.Addr().(*net.TCPAddr).Port
}

func TestACME_HubsShareOneCertificate(t *testing.T) {
	address := storetest.Postgres(t)
	here, _ := listen(t)
	there, _ := listen(t)
	asked, port := listen(t) // where the authority checks the challenge
	directory := startPebble(t, port, 90*24*3600)
	first, second := startHub(t, address, here, directory), startHub(t, address, there, directory)
	third := startHub(t, address, asked, directory)
	done := make(chan struct{}, 2)
	for _, h := range []*hub{first, second} {
		go func() { h.obtain(); done <- struct{}{} }()
	}
	<-done
	<-done
	var serials []string
	for _, h := range []*hub{first, second, third} {
		c, err := h.served(domain)
		if err != nil {
			t.Fatalf("%v\n%s", err, h.log.String())
		}
		if err := c.VerifyHostname(domain); err != nil {
			t.Error(err)
		}
		serials = append(serials, c.SerialNumber.String())
	}
	if first.log.count("using a certificate")+second.log.count("using a certificate") != 2 {
		t.Errorf("the logs do not say that there is a certificate: %s%s", first.log.String(), second.log.String())
	}
	if slices.Sort(serials); serials[0] != serials[2] {
		t.Errorf("several certificates were ordered: %v", serials)
	}
	// A hub that starts later orders none.
	later, _ := listen(t)
	h := startHub(t, address, later, "https://127.0.0.1:1/dir")
	if c, err := h.served(domain); err != nil || c.SerialNumber.String() != serials[0] {
		t.Errorf("a hub that starts later: %v", err)
	}
	for _, other := range []string{"other.example.com", "", "127.0.0.1"} {
		if _, err := h.served(other); err == nil {
			t.Errorf("there is a certificate for %q", other)
		}
	}
}

// A certificate is renewed after two thirds of its life.
func TestACME_RenewsItsCertificate(t *testing.T) {
	l, port := listen(t)
	h := startHub(t, storetest.SQLite(t), l, startPebble(t, port, 9))
	h.obtain()
	first, err := h.served(domain)
	if err != nil {
		t.Fatalf("%v\n%s", err, h.log.String())
	}
	await(t, "another certificate", func() bool {
		c, err := h.served(domain)
		return err == nil && c.SerialNumber.Cmp(first.SerialNumber) != 0
	})
}

// silentAuthority returns the configuration of a hub whose authority does not respond, and how
// often it was asked.
func silentAuthority(t *testing.T) (config *tls.Config, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	silent := make(chan struct{})
	directory := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		<-silent
	}))
	t.Cleanup(func() { close(silent); directory.Close() })
	s := storetest.Open(t, storetest.SQLite(t))
	config, _ = certificate.ACME([]string{domain}, directory.URL, s, slog.New(slog.DiscardHandler))
	return config, asked
}

// A certificate may be ordered during a handshake, for longer than the caller may take.
func TestACME_EndsHandshakesThatWaitForACertificate(t *testing.T) {
	certificate.WaitShortly(t)
	config, _ := silentAuthority(t)
	for range 3 {
		here, there := net.Pipe()
		go tls.Client(there, &tls.Config{ServerName: domain, InsecureSkipVerify: true}).HandshakeContext(t.Context())
		err := tls.Server(here, config).HandshakeContext(t.Context())
		if err == nil || !strings.Contains(err.Error(), "no certificate") {
			t.Errorf("the handshake ends with %v", err)
		}
		here.Close()
	}
}

// An authority that does not respond must not gather handshakes.
func TestACME_WaitsOnceForAllHandshakes(t *testing.T) {
	config, asked := silentAuthority(t)
	ctx, give := context.WithCancel(t.Context())
	defer give()
	ended := make(chan error)
	const handshakes = 50
	before := runtime.NumGoroutine()
	for range handshakes {
		here, there := net.Pipe()
		go func() {
			_ = tls.Client(there, &tls.Config{ServerName: domain, InsecureSkipVerify: true}).HandshakeContext(t.Context())
			there.Close()
		}()
		go func() {
			ended <- tls.Server(here, config).HandshakeContext(ctx)
			here.Close()
		}()
	}
	await(t, "the order", func() bool { return asked.Load() > 0 })
	give()
	for range handshakes {
		if err := <-ended; err == nil {
			t.Error("a handshake succeeds")
		}
	}
	await(t, "the end of all but the order", func() bool { return runtime.NumGoroutine() < before+handshakes/2 })
	if n := asked.Load(); n != 1 {
		t.Errorf("the authority was asked %d times", n)
	}
}

// A hub that waits for the order of another hub serves its other domains meanwhile.
func TestACME_ServesOtherDomainsWhileItWaits(t *testing.T) {
	const other = "other.example.com"
	s := storetest.Open(t, storetest.SQLite(t))
	p := newPair(t, 90*24*time.Hour)
	p.issue(other, 90*24*time.Hour)
	key, err := os.ReadFile(p.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := os.ReadFile(p.cert)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Write(t.Context(), func(tx *store.Tx) error { return tx.PutCertificate(other, append(key, cert...)) })
	if err != nil {
		t.Fatal(err)
	}
	if ours, err := s.OrderCertificate(t.Context(), domain); err != nil || !ours { // as another hub does
		t.Fatal(ours, err)
	}
	config, _ := certificate.ACME([]string{domain, other}, "https://127.0.0.1:1/dir", s, slog.New(slog.DiscardHandler))
	handshake := func(name string, patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		here, there := net.Pipe()
		defer here.Close()
		go tls.Client(there, &tls.Config{ServerName: name, InsecureSkipVerify: true}).HandshakeContext(t.Context())
		return tls.Server(here, config).HandshakeContext(ctx)
	}
	if err := handshake(domain, 200*time.Millisecond); err == nil {
		t.Error("there is a certificate that was not ordered")
	}
	if err := handshake(other, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestACME_SaysWhyThereIsNoCertificate(t *testing.T) {
	l, _ := listen(t)
	h := startHub(t, storetest.SQLite(t), l, "https://127.0.0.1:1/dir")
	h.obtain()
	if h.log.count("no certificate could be obtained") != 1 || h.log.count("refused") == 0 {
		t.Errorf("the log says %s", h.log.String())
	}
	if _, err := h.served(domain); err == nil {
		t.Error("there is a certificate")
	}
}
