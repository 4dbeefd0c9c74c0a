// Package fetch gets a document from an address that a stranger chose. It is the only way out of a
// hub: all that is fetched for a user goes through it.
//
// It reaches public unicast addresses alone, and those that the hub's administrator allows. The
// address that is dialled is checked, for each redirect again. A request has nothing of the hub's or
// of the user's, and all failures look the same, so that a caller cannot probe the hub's network. The
// package does not know what the document is.
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
	"sync"
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

// Options says who fetches, what may be fetched, and how. All of it may be zero.
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

	mu       sync.Mutex
	inFlight map[string]int // fetches of each account
}

// New returns a Fetcher.
func New(options Options) *Fetcher {
	f := &Fetcher{options: options, guard: guard(options.Allow), inFlight: map[string]int{}}
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

// CheckURL returns an *[InvalidURL] for an address that no fetcher takes.
func CheckURL(address string) error {
	_, err := parse(address)
	return err
}

// Get returns the document at address, for account. The error is an *InvalidURL, a *Busy, a *TooLarge
// or, for all other causes, a *Refused.
//
// read reads all of a document, which may come slowly, and takes at most one byte beyond the limit;
// its errors are wrapped. nil means [io.ReadAll].
func (f *Fetcher) Get(
	ctx context.Context, account, address string, read func(io.Reader) ([]byte, error),
) ([]byte, error) {
	u, err := parse(address)
	if err != nil {
		return nil, err
	}
	if !f.count(account, 1) {
		return nil, &Busy{account}
	}
	defer f.count(account, -1)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := f.follow(ctx, u)
	if err != nil {
		return nil, &Refused{err}
	}
	defer response.Body.Close()
	encoding, limit := response.Header.Get("Content-Encoding"), f.options.MaxBytes
	switch host := response.Request.URL.Host; {
	case response.StatusCode != http.StatusOK:
		return nil, &Refused{fmt.Errorf("get from %s: status %s", host, response.Status)}
	case encoding != "" && encoding != "identity":
		return nil, &Refused{fmt.Errorf("get from %s: content encoding %q", host, encoding)}
	case response.ContentLength > limit:
		return nil, &TooLarge{limit}
	}
	if read == nil {
		read = io.ReadAll
	}
	data, err := read(io.LimitReader(response.Body, limit+1))
	if int64(len(data)) > limit {
		return nil, &TooLarge{limit}
	}
	if err != nil {
		return nil, &Refused{err}
	}
	return data, nil
}

// maxInFlight is how many documents are fetched for one account at once.
const maxInFlight = 4

// count adds n to what is in flight for account, unless that would be too much.
func (f *Fetcher) count(account string, n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inFlight[account]+n > maxInFlight {
		return false
	}
	if f.inFlight[account] += n; f.inFlight[account] == 0 {
		delete(f.inFlight, account)
	}
	return true
}

// follow returns the response at u, or where u redirects to.
func (f *Fetcher) follow(ctx context.Context, u *url.URL) (*http.Response, error) {
	for range 1 + maxRedirects {
		response, err := f.request(ctx, u)
		if err != nil {
			return nil, fmt.Errorf("get from %s: %w", u.Host, err)
		}
		if !slices.Contains([]int{301, 302, 303, 307, 308}, response.StatusCode) {
			return response, nil
		}
		response.Body.Close()
		next, err := response.Location()
		if err == nil {
			err = checkRedirect(u, next)
		}
		if err != nil {
			return nil, fmt.Errorf("redirect from %s: %w", u.Host, err)
		}
		u = next
	}
	return nil, fmt.Errorf("more than %d redirects, the last one to %s", maxRedirects, u.Host)
}

// request sends a request for u.
func (f *Fetcher) request(ctx context.Context, u *url.URL) (*http.Response, error) {
	own := f.options.Own
	if own != nil && strings.EqualFold(own.Hostname(), u.Hostname()) && port(own) == port(u) {
		return nil, errors.New("it is the hub itself")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "hub/"+f.options.Version)
	request.Header.Set("Accept", "application/json, application/yaml, */*;q=0.5")
	request.Header.Set("Accept-Encoding", "identity") // which also keeps the transport from inflating
	return f.transport.RoundTrip(request)
}

// dial connects to a host all of whose addresses may be fetched from. It looks the name up once, and
// dials what it has checked, so that a name that soon means another address is of no use.
func (f *Fetcher) dial(ctx context.Context, _, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout) // [http.Transport] has detached it from the request's
	defer cancel()
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := portNumber(service)
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
	for _, to := range addresses {
		if err := f.guard.check(netip.AddrPortFrom(to, port)); err != nil {
			return nil, err
		}
	}
	for _, to := range addresses[:min(len(addresses), maxAddresses)] {
		conn, failed := f.options.Dial(ctx, netip.AddrPortFrom(to, port))
		if failed == nil {
			return conn, nil
		}
		err = errors.Join(err, failed)
	}
	return nil, err
}
