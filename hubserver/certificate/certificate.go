// Package certificate provides the certificates with which a hub speaks TLS: from two files,
// or from an authority that speaks ACME. It knows neither HTTP nor the hub's resources.
package certificate

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// suites are those of TLS 1.2 with forward secrecy and AEAD: no CBC. Those of TLS 1.3 all are.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// When the log warns that a certificate was not renewed, and how often.
const (
	warnBefore = 14 * 24 * time.Hour
	warnEvery  = time.Hour
)

// config returns a configuration with the certificates that get returns.
func config(get func(*tls.ClientHelloInfo) (*tls.Certificate, error), log *slog.Logger) *tls.Config {
	var mu sync.Mutex
	var warned time.Time
	checked := func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		c, err := get(hello)
		if err != nil || c.Leaf == nil || time.Until(c.Leaf.NotAfter) > warnBefore {
			return c, err
		}
		mu.Lock()
		defer mu.Unlock()
		if time.Since(warned) > warnEvery {
			warned = time.Now()
			log.Warn("the certificate expires soon and was not renewed", "names", c.Leaf.DNSNames, "expires", c.Leaf.NotAfter)
		}
		return c, nil
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, CipherSuites: suites, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: checked,
	}
}

// Files returns a configuration with the certificate chain and the key in two PEM files.
// They are read again when they change; while they do not match, the former pair is used.
func Files(cert, key string, log *slog.Logger) (*tls.Config, error) {
	load := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("certificate %s with key %s: %w", cert, key, err)
		}
		return &pair, nil
	}
	seen := stamp(cert, key) // before they are read, so that no change is missed
	current, err := load()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	return config(func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		now := stamp(cert, key)
		if now == seen {
			return current, nil
		}
		seen = now
		if changed, err := load(); err != nil {
			log.Error("the new certificate is not used; the former one is kept", "error", err)
		} else {
			current = changed
			log.Info("using a new certificate", "file", cert, "expires", current.Leaf.NotAfter)
		}
		return current, nil
	}, log), nil
}

// stamp returns the times and sizes of files.
func stamp(paths ...string) (all string) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			all += fmt.Sprintln(info.ModTime().UnixNano(), info.Size())
		}
	}
	return all
}
