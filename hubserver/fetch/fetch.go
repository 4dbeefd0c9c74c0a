// Package fetch gets a document from an address that a stranger chose. It is the
// only way out of a hub: whatever is fetched for a user goes through it.
//
// It reaches nothing but public unicast addresses, and what the operator allows
// besides, checked on the very address that is dialled, at each redirect anew. It
// sends nothing of the hub's or of the user's, and it gives one answer for every
// place that it did not reach, so that a caller cannot probe the hub's network. It
// does not know what the document is.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	timeout        = 30 * time.Second // for everything, redirects included
	connectTimeout = 5 * time.Second  // to one of a host's addresses, and again for TLS
	maxRedirects   = 5
	maxAddresses   = 4        // of one host that are tried
	maxHeader      = 64 << 10 // bytes of all headers of an answer
	defaultMax     = 16 << 20 // bytes of a document
)

// Options says who fetches, what may be fetched, and through what. All of it may be zero.
type Options struct {
	Version  string   // of the hub; targets see it
	Own      *url.URL // of the hub, which is not fetched
	Allow    []Allow  // what may be fetched besides public addresses
	MaxBytes int64    // of a document; 0: 16 MiB

	RootCAs *x509.CertPool                                                 // nil: the system's
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)   // nil: the system's resolver
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error) // only to what may be fetched; nil: the network
}

// Fetcher fetches documents.
type Fetcher struct {
	options   Options
	guard     guard
	transport *http.Transport
	inFlight  limiter
}

// New returns a Fetcher.
func New(options Options) *Fetcher {
	f := &Fetcher{options: options, guard: guard(options.Allow)}
	if f.options.MaxBytes == 0 {
		f.options.MaxBytes = defaultMax
	}
	if f.options.Resolve == nil {
		f.options.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if f.options.Dial == nil {
		dialer := net.Dialer{Timeout: connectTimeout, Control: f.guard.control}
		f.options.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", to.String())
		}
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	f.transport = &http.Transport{
		Proxy:                  nil, // the environment's would be dialled instead of the target
		DialContext:            f.dial,
		TLSClientConfig:        &tls.Config{RootCAs: options.RootCAs},
		TLSHandshakeTimeout:    connectTimeout,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    -1,         // no connection serves twice, so that each address is checked when it is used
		Protocols:              &protocols, // HTTP/1 alone: one set of limits to rely on
	}
	return f
}

// CheckURL returns an *[InvalidURL] when no fetcher could take address, whatever it allows.
func CheckURL(address string) error {
	if _, err := parse(address); err != nil {
		return &InvalidURL{err.Error()}
	}
	return nil
}

// Get returns the document at address, for account. The error is an *InvalidURL,
// a *Busy, a *TooLarge or, whatever else went wrong, a *Refused.
//
// read reads the document, of which it takes at most one byte beyond the limit; its
// errors are wrapped. nil means [io.ReadAll].
func (f *Fetcher) Get(ctx context.Context, account, address string, read ReadFunc) ([]byte, error) {
	u, err := parse(address)
	if err != nil {
		return nil, &InvalidURL{err.Error()}
	}
	if !f.inFlight.enter(account) {
		return nil, &Busy{account}
	}
	defer f.inFlight.leave(account)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if read == nil {
		read = io.ReadAll
	}
	data, err := f.follow(ctx, u, read)
	var tooLarge *TooLarge
	switch {
	case errors.As(err, &tooLarge):
		return nil, tooLarge
	case err != nil:
		return nil, &Refused{err}
	}
	return data, nil
}

// ReadFunc reads all of a document, which may come slowly, into memory.
type ReadFunc func(io.Reader) ([]byte, error)

// follow gets u, or what it redirects to.
func (f *Fetcher) follow(ctx context.Context, u *url.URL, read ReadFunc) ([]byte, error) {
	for range 1 + maxRedirects {
		data, next, err := f.request(ctx, u, read)
		if err != nil {
			return nil, fmt.Errorf("get from %s: %w", u.Host, err)
		}
		if next == nil {
			return data, nil
		}
		if err := checkRedirect(u, next); err != nil {
			return nil, fmt.Errorf("redirect from %s: %w", u.Host, err)
		}
		u = next
	}
	return nil, fmt.Errorf("more than %d redirects, the last one to %s", maxRedirects, u.Host)
}

// request returns the document at u, or where u redirects to.
func (f *Fetcher) request(ctx context.Context, u *url.URL, read ReadFunc) (data []byte, next *url.URL, err error) {
	if f.isOwn(u) {
		return nil, nil, errors.New("it is the hub itself")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("User-Agent", "hub/"+f.options.Version)
	request.Header.Set("Accept", "application/json, application/yaml, */*;q=0.5")
	request.Header.Set("Accept-Encoding", "identity") // which also keeps the transport from inflating
	response, err := f.transport.RoundTrip(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	if slices.Contains([]int{301, 302, 303, 307, 308}, response.StatusCode) {
		next, err = response.Location()
		return nil, next, err
	}
	data, err = f.read(response, read)
	return data, nil, err
}

func (f *Fetcher) isOwn(u *url.URL) bool {
	own := f.options.Own
	return own != nil && strings.EqualFold(own.Hostname(), u.Hostname()) && port(own) == port(u)
}

func (f *Fetcher) read(response *http.Response, read ReadFunc) ([]byte, error) {
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", response.Status)
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, fmt.Errorf("content encoding %q", encoding)
	}
	limit := f.options.MaxBytes
	if response.ContentLength > limit {
		return nil, &TooLarge{limit}
	}
	data, err := read(io.LimitReader(response.Body, limit+1))
	if int64(len(data)) > limit {
		return nil, &TooLarge{limit}
	}
	return data, err
}

// dial connects to a host that has nothing but permitted addresses. It resolves
// once, and connects to what it has checked: a name that means another address a
// moment later does not help.
func (f *Fetcher) dial(ctx context.Context, _, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout) // [http.Transport] has detached it from the request's
	defer cancel()
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	places, err := f.resolve(ctx, host, service)
	if err != nil {
		return nil, err
	}
	for _, to := range places {
		if err := f.guard.check(to); err != nil {
			return nil, err
		}
	}
	for _, to := range places[:min(len(places), maxAddresses)] {
		conn, failed := f.options.Dial(ctx, to)
		if failed == nil {
			return conn, nil
		}
		err = errors.Join(err, failed)
	}
	return nil, err
}

// resolve returns at least one place.
func (f *Fetcher) resolve(ctx context.Context, host, service string) ([]netip.AddrPort, error) {
	number, err := portNumber(service)
	if err != nil {
		return nil, err
	}
	addresses := make([]netip.Addr, 1)
	if addresses[0], err = netip.ParseAddr(host); err != nil {
		if addresses, err = f.options.Resolve(ctx, host); err != nil {
			return nil, err
		}
	}
	if len(addresses) == 0 {
		return nil, fmt.Errorf("%s has no address", host)
	}
	places := make([]netip.AddrPort, len(addresses))
	for i, address := range addresses {
		places[i] = netip.AddrPortFrom(address, number)
	}
	return places, nil
}
