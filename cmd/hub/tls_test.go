package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/store/storetest"
)

// testPair writes a certificate of this machine and its key, as PEM files.
func testPair(t *testing.T) (cert, key string) {
	t.Helper()
	issued := httptest.NewUnstartedServer(nil)
	issued.StartTLS()
	defer issued.Close()
	private, err := x509.MarshalPKCS8PrivateKey(issued.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "hub.crt"), filepath.Join(dir, "hub.key")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE",
		Bytes: issued.TLS.Certificates[0].Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestServe_SpeaksTLSWithFiles(t *testing.T) {
	cert, key := testPair(t)
	hub := serve(t, storetest.SQLite(t), "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(hub.base, "https://127.0.0.1:") {
		t.Fatalf("the hub's address is %s", hub.base)
	}
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(hub.base + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 || resp.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%s %s %v", resp.Proto, resp.Status, resp.Header)
	}
}

func TestServe_RefusesTLSThatCannotWork(t *testing.T) {
	cert, key := testPair(t)
	for line, want := range map[string]string{
		"--tls-cert " + cert:                        "used together",
		"--tls-key " + key:                          "used together",
		"--tls-cert " + cert + " --tls-key " + cert: "hub.crt",
		"--tls-cert absent.crt --tls-key " + key:    "absent.crt",
		"--tls-cert " + cert + " --tls-key " + key + " --tls-domain hub.example.com":        "cannot be used together",
		"--tls-cert " + cert + " --tls-key " + key + " --public-url http://hub.example.com": "https://",
		"--tls-acme https://ca.example.com/dir":                                             "needs --tls-domain",
		"--tls-domain hub.example.com --tls-acme http://ca.example.com/dir":                 "https://",
		"--tls-domain localhost":                                            "not a host name",
		"--tls-domain *.example.com":                                        "not a host name",
		"--tls-domain 192.0.2.1":                                            "not a host name",
		"--tls-domain hub.example.com:443":                                  "not a host name",
		"--tls-domain hub.example.com --public-url https://www.example.com": "--tls-domain www.example.com",
		"--tls-domain hub.example.com --preview-url https://preview.example.com --listen 127.0.0.1:0": "--tls-domain " +
			"preview.example.com",
	} {
		var out bytes.Buffer
		args := append([]string{"serve", "--db", storetest.SQLite(t), "--listen", "127.0.0.1:0"}, strings.Fields(line)...)
		if code := run(t.Context(), args, strings.NewReader(""), &out, &out,
			func(string) string { return "" }); code == exitDone || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d, without %q: %s", line, code, want, out.String())
		}
	}
}
