// Package certificate provides the certificates with which a hub speaks TLS: from two files,
// or from an authority that speaks ACME. It knows neither HTTP nor the hub's resources.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"sync"
	"time"
)

// get is [tls.Config.GetCertificate].
type get func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// config returns a configuration with which HTTP/2 can be negotiated.
func config(get get, log *slog.Logger) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: warning(get, log)}
}

// When the log warns of a certificate, and how often.
const (
	warnBefore = 14 * 24 * time.Hour
	warnEvery  = time.Hour
)

// warning logs that a certificate is about to expire, which says that its renewal fails.
func warning(get get, log *slog.Logger) get {
	var mu sync.Mutex
	var warned time.Time
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		c, err := get(hello)
		if err != nil || time.Until(leaf(c).NotAfter) > warnBefore {
			return c, err
		}
		mu.Lock()
		defer mu.Unlock()
		if time.Since(warned) > warnEvery {
			warned = time.Now()
			log.Warn("the certificate expires soon and was not renewed", "names", leaf(c).DNSNames, "expires", leaf(c).NotAfter)
		}
		return c, nil
	}
}

// leaf returns the certificate of the hub itself, parsed.
func leaf(c *tls.Certificate) *x509.Certificate {
	if c.Leaf != nil {
		return c.Leaf
	}
	if parsed, err := x509.ParseCertificate(c.Certificate[0]); err == nil {
		return parsed
	}
	return &x509.Certificate{NotAfter: time.Now().Add(2 * warnBefore)}
}
