package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/sync/singleflight"

	"example.com/projecthub/store"
)

// handshakeTime is how long a handshake waits for a certificate. Only tests change it.
var handshakeTime = 10 * time.Second

// ACME returns a configuration with certificates of domains. The authority with an ACME directory, ""
// for Let's Encrypt, issues them when they are first needed; they are renewed in time. It checks that
// the hub serves the domains with a challenge on port 443. All hubs on a database share the
// certificates, and each can answer the challenge of another. obtain orders them at once, and logs
// what fails.
func ACME(domains []string, directory string, s *store.Store, log *slog.Logger) (c *tls.Config, obtain func()) {
	m := &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      cache{s},
		HostPolicy: autocert.HostWhitelist(domains...),
		Client: &acme.Client{
			DirectoryURL: directory, HTTPClient: &http.Client{Timeout: 30 * time.Second}, UserAgent: "hub",
		},
	}
	var flights singleflight.Group
	find := func(name string) <-chan singleflight.Result {
		// A certificate with an ECDSA key, which all clients of TLS 1.2 with modern cipher suites support.
		hello := &tls.ClientHelloInfo{ServerName: name, CipherSuites: suites}
		return flights.DoChan(name, func() (any, error) {
			for {
				found, err := m.GetCertificate(hello)
				if !errors.Is(err, errOrdered) {
					return found, err
				}
				time.Sleep(pollEvery)
			}
		})
	}
	c = config(func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		name := strings.ToLower(hello.ServerName)
		if err := m.HostPolicy(hello.Context(), name); err != nil { // autocert looks up the challenge of any name
			return nil, err
		}
		if len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == acme.ALPNProto {
			return m.GetCertificate(hello) // the authority checks the challenge
		}
		select { // autocert alone keeps a handshake until the order has ended, for up to 5 minutes
		case r := <-find(name):
			return r.Val.(*tls.Certificate), r.Err
		case <-hello.Context().Done():
			return nil, hello.Context().Err()
		case <-time.After(handshakeTime):
			return nil, fmt.Errorf("there is no certificate for %s yet", name)
		}
	}, log)
	c.NextProtos = append(c.NextProtos, acme.ALPNProto)
	return c, func() {
		for _, domain := range domains {
			if r := <-find(domain); r.Err != nil {
				log.Error("no certificate could be obtained", "domain", domain, "error", r.Err)
			} else {
				log.Info("using a certificate", "domain", domain, "expires", r.Val.(*tls.Certificate).Leaf.NotAfter)
			}
		}
	}
}

// errOrdered says that another hub orders the certificate, or that this one failed to a short time ago.
var errOrdered = errors.New("the certificate is being ordered")

// pollEvery is the time between two reads of a certificate that another hub orders.
const pollEvery = 500 * time.Millisecond

// cache is an [autocert.Cache] in the database.
type cache struct{ store *store.Store }

// Get returns what is stored under a name. Of several hubs that need a certificate, one gets a cache
// miss, and orders it. The others get errOrdered: they cannot wait here, where autocert holds the lock
// of all its certificates.
func (c cache) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := c.store.View(ctx).Certificate(name)
	if !errors.Is(err, store.ErrNotFound) {
		return data, err
	}
	ours := strings.Contains(name, "+") // a challenge, or the key of the account
	if !ours {
		if ours, err = c.store.OrderCertificate(ctx, name); err != nil {
			return nil, err
		}
	}
	if !ours {
		return nil, errOrdered
	}
	return nil, autocert.ErrCacheMiss
}

// Put stores data under a name.
func (c cache) Put(ctx context.Context, name string, data []byte) error {
	return c.store.Write(ctx, func(tx *store.Tx) error { return tx.PutCertificate(name, data) })
}

// Delete deletes what is stored under a name.
func (c cache) Delete(ctx context.Context, name string) error {
	return c.store.Write(ctx, func(tx *store.Tx) error { return tx.DeleteCertificate(name) })
}
