package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/sync/singleflight"

	"example.com/projecthub/store"
)

// Order says which certificates to order, and where.
type Order struct {
	Domains   []string
	Directory string // the address of an ACME authority; "": Let's Encrypt
	Store     *store.Store
	Log       *slog.Logger
}

// authorityTimeout bounds one request to the authority.
const authorityTimeout = 30 * time.Second

// ACME returns a configuration with certificates of the domains, which are ordered when they
// are first needed and renewed in time. The authority checks that the hub serves the domains
// with a challenge on port 443. All hubs on a database share the certificates, and each can
// answer the challenge of another. obtain has them ordered at once, and logs what fails.
func ACME(o Order) (c *tls.Config, obtain func()) {
	m := &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      &shared{store: o.Store},
		HostPolicy: autocert.HostWhitelist(o.Domains...),
		Client:     &acme.Client{DirectoryURL: o.Directory, HTTPClient: &http.Client{Timeout: authorityTimeout}, UserAgent: "hub"},
	}
	orders := &orders{get: m.GetCertificate}
	get := func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		// autocert looks up the challenge of any name.
		if err := m.HostPolicy(hello.Context(), strings.ToLower(hello.ServerName)); err != nil {
			return nil, err
		}
		if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) { // the authority checks the challenge
			return m.GetCertificate(hello)
		}
		return orders.wait(hello)
	}
	c = config(get, o.Log)
	c.NextProtos = append(c.NextProtos, acme.ALPNProto)
	return c, func() {
		for _, domain := range o.Domains {
			if found, err := m.GetCertificate(modernHello(domain)); err != nil {
				o.Log.Error("no certificate could be obtained", "domain", domain, "error", err)
			} else {
				o.Log.Info("using a certificate", "domain", domain, "expires", leaf(found).NotAfter)
			}
		}
	}
}

// orders has one goroutine for each name and kind of key wait for a certificate, which may
// be ordered meanwhile: handshakes wait for that one, and no longer than they may take.
type orders struct {
	get     get
	flights singleflight.Group
}

func (o *orders) wait(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	asked, key := modernHello(strings.ToLower(hello.ServerName)), "modern "
	if !modern(hello) {
		asked, key = &tls.ClientHelloInfo{ServerName: asked.ServerName}, "old "
	}
	done := o.flights.DoChan(key+asked.ServerName, func() (c any, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("a panic: %v\n%s", p, debug.Stack())
			}
		}()
		return o.get(asked)
	})
	select {
	case r := <-done:
		c, _ := r.Val.(*tls.Certificate)
		return c, r.Err
	case <-hello.Context().Done():
		return nil, fmt.Errorf("there is no certificate for %s yet: %w", asked.ServerName, hello.Context().Err())
	}
}

// modernHello is a handshake for which autocert returns a certificate with an ECDSA key;
// without the cipher suite it returns one with an RSA key.
func modernHello(name string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// modern reports whether a client supports certificates with an ECDSA key.
func modern(hello *tls.ClientHelloInfo) bool {
	return slices.Contains(hello.SignatureSchemes, tls.ECDSAWithP256AndSHA256) && slices.Contains(hello.SupportedCurves, tls.CurveP256) &&
		(slices.Contains(hello.SupportedVersions, tls.VersionTLS13) || slices.ContainsFunc(hello.CipherSuites, func(suite uint16) bool {
			return strings.HasPrefix(tls.CipherSuiteName(suite), "TLS_ECDHE_ECDSA_")
		}))
}

// shared keeps what autocert needs in the database.
type shared struct {
	store   *store.Store
	ordered sync.Map // names of certificates that this hub orders
}

// pollEvery is the time between two looks for a certificate that another hub orders.
const pollEvery = 500 * time.Millisecond

// Get returns what is stored under a name. Of several hubs that need a certificate, one is
// told that there is none, and orders it; the others wait for it.
func (s *shared) Get(ctx context.Context, name string) ([]byte, error) {
	for {
		data, err := s.find(ctx, name)
		if !errors.Is(err, store.ErrNotFound) {
			return data, err
		}
		if strings.Contains(name, "+") && !strings.HasSuffix(name, "+rsa") {
			return nil, autocert.ErrCacheMiss // a challenge, or the key of the account
		}
		_, ours := s.ordered.Load(name) // autocert orders it once
		if ours {
			return nil, autocert.ErrCacheMiss
		}
		err = s.store.Write(ctx, func(tx *store.Tx) (err error) {
			ours, err = tx.OrderCertificate(ctx, name)
			return err
		})
		if err != nil {
			return nil, err
		}
		if ours {
			s.ordered.Store(name, true)
			return nil, autocert.ErrCacheMiss
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

func (s *shared) find(ctx context.Context, name string) (data []byte, err error) {
	err = s.store.Read(ctx, func(v *store.View) (err error) {
		data, err = v.Certificate(ctx, name)
		return err
	})
	return data, err
}

// Put stores data under a name.
func (s *shared) Put(ctx context.Context, name string, data []byte) error {
	return s.store.Write(ctx, func(tx *store.Tx) error { return tx.PutCertificate(ctx, name, data) })
}

// Delete deletes what is stored under a name.
func (s *shared) Delete(ctx context.Context, name string) error {
	return s.store.Write(ctx, func(tx *store.Tx) error { return tx.DeleteCertificate(ctx, name) })
}
