package certificate_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/hubserver/certificate"
)

// authority is a certificate that signs itself, of the authority of the tests. The process
// trusts it, as an administrator has it trust an authority of their own: with SSL_CERT_FILE.
var authority = struct{ cert, key string }{}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "certificate")
	if err != nil {
		panic(err)
	}
	authority.cert, authority.key = filepath.Join(dir, "authority.crt"), filepath.Join(dir, "authority.key")
	if err := issue(authority.cert, authority.key, "authority", 24*time.Hour); err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", authority.cert)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// issue writes a certificate that signs itself, and its key.
func issue(cert, key, name string, life time.Duration) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return err
	}
	template := x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(life),
		DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &private.PublicKey, private)
	if err != nil {
		return err
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return err
	}
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}),
		0o600); err != nil {
		return err
	}
	return os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
}

// buffer is a log that several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *buffer) count(text string) int { return strings.Count(b.String(), text) }

// pair is two files with a certificate and its key.
type pair struct {
	*testing.T
	cert, key string
	log       buffer
	config    *tls.Config
}

func newPair(t *testing.T, life time.Duration) *pair {
	t.Helper()
	dir := t.TempDir()
	p := &pair{T: t, cert: filepath.Join(dir, "hub.crt"), key: filepath.Join(dir, "hub.key")}
	p.issue("first", life)
	config, err := certificate.Files(p.cert, p.key, slog.New(slog.NewTextHandler(&p.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	p.config = config
	return p
}

// issue writes a new certificate with its key. Its size or its time tells it from the former one.
func (p *pair) issue(name string, life time.Duration) {
	p.Helper()
	if err := issue(p.cert, p.key, name, life); err != nil {
		p.Fatal(err)
	}
}

// served is the name in the certificate that a handshake gets now.
func (p *pair) served() string {
	p.Helper()
	c, err := p.config.GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		p.Fatal(err)
	}
	return c.Leaf.Subject.CommonName
}

func TestFiles_AreReadAgainWhenTheyChange(t *testing.T) {
	p := newPair(t, 100*24*time.Hour)
	if got := p.served(); got != "first" {
		t.Errorf("the certificate is %q", got)
	}
	p.issue("second", 100*24*time.Hour)
	await(t, "the new certificate", func() bool { return p.served() == "second" })
}

func TestFiles_RefuseVersionsBeforeTLS12(t *testing.T) {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", newPair(t, 100*24*time.Hour).config)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake()
			conn.Close()
		}
	}()
	for version, accepted := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false,
		tls.VersionTLS12: true, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", listener.Addr().String(),
			&tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version})
		if (err == nil) != accepted {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

func TestFiles_KeepTheFormerPairWhileTheNewOneIsBroken(t *testing.T) {
	p := newPair(t, 100*24*time.Hour)
	other := newPair(t, 100*24*time.Hour)
	for name, spoil := range map[string]func() error{
		"the key of another certificate": func() error { // both may have been made at the same time
			return errors.Join(os.Rename(other.key, p.key), os.Chtimes(p.key, time.Time{}, time.Now().Add(time.Hour)))
		},
		"no PEM":  func() error { return os.WriteFile(p.cert, []byte("hello"), 0o600) },
		"no file": func() error { return os.Remove(p.cert) },
	} {
		logged := p.log.count("the former one is kept")
		if err := spoil(); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if name == "the key of another certificate" {
			other.issue("other", time.Hour)
		}
		await(t, "the log of "+name, func() bool {
			if got := p.served(); got != "first" {
				t.Fatalf("%s: %q is served", name, got)
			}
			return p.log.count("the former one is kept") > logged
		})
	}
	p.issue("mended", 100*24*time.Hour)
	await(t, "the new certificate", func() bool { return p.served() == "mended" })
}

func TestFiles_MustBeAPairAtTheStart(t *testing.T) {
	p := newPair(t, time.Hour)
	if _, err := certificate.Files(p.cert, p.cert, slog.Default()); err == nil || !strings.Contains(err.Error(), p.cert) {
		t.Errorf("a certificate in the place of the key: %v", err)
	}
	if _, err := certificate.Files("absent.crt", p.key, slog.Default()); err == nil ||
		!strings.Contains(err.Error(), "absent.crt") {
		t.Errorf("a file that is absent: %v", err)
	}
}

func TestFiles_WarnBeforeTheCertificateExpires(t *testing.T) {
	for life, warnings := range map[time.Duration]int{13 * 24 * time.Hour: 1, 15 * 24 * time.Hour: 0} {
		p := newPair(t, life)
		p.served()
		p.served()
		if got := p.log.count("expires soon"); got != warnings {
			t.Errorf("%d warnings %v before the end, not %d", got, life, warnings)
		}
	}
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", what)
		}
	}
}

func TestFiles_RefuseCBC(t *testing.T) {
	config := newPair(t, 100*24*time.Hour).config
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if slices.Contains(suite.SupportedVersions, tls.VersionTLS13) {
			continue
		}
		here, there := net.Pipe()
		go tls.Client(there, &tls.Config{
			InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite.ID},
		}).HandshakeContext(t.Context())
		err := tls.Server(here, config).HandshakeContext(t.Context())
		here.Close()
		accepted := strings.HasPrefix(suite.Name, "TLS_ECDHE_ECDSA_") && !strings.Contains(suite.Name, "CBC") &&
			!strings.Contains(suite.Name, "RC4") // the key of the test is ECDSA
		if accepted != (err == nil) {
			t.Errorf("%s: %v", suite.Name, err)
		}
	}
}
