// Package hubclient speaks to a hub: one method an endpoint, retries where they
// are safe, and errors that say what a person can do about them. Any Go program
// can use it.
//
// It knows nothing of a command line, a local file or a terminal, and never sends
// a token anywhere but to the origin it was made for.
package hubclient

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"example.com/projecthub/hubclient/tree"
)

// Options say which hub to speak to, and how.
type Options struct {
	Origin    string // scheme://host[:port]
	Token     string // "" sends none
	UserAgent string
	Timeout   time.Duration  // without a byte moving; 0: [DefaultTimeout]
	Roots     *x509.CertPool // nil: the system's
	AllowHTTP bool           // send the token over plain http to a host that is not loopback
	Before    func() func()  // called before every attempt, and what it returns when the hub has answered; nil allowed
	Trace     func(Attempt)  // called after every attempt; nil allowed

	// TokenExpires is called with the end of the token, after every response that states
	// it; nil allowed.
	TokenExpires func(time.Time)

	// HubVersion is called with the hub's version, after every response that states it; nil allowed.
	HubVersion func(string)

	// Waiting is called, once in each call, when it has failed for a while and is tried
	// again until some time; nil allowed.
	Waiting func(err *Error, until time.Time)
}

// DefaultTimeout is how long a call waits without a byte moving.
const DefaultTimeout = 60 * time.Second

// Attempt is one request with its response. Each retry is another attempt.
type Attempt struct {
	Method, Path string
	Status       int // 0: no response
	Took         time.Duration
	RequestID    string
}

// Client speaks to one hub with one token. It is safe for concurrent use.
type Client struct {
	opts      Options
	base      *url.URL
	connect   dialFunc // opens a connection; tests replace it
	transport *http.Transport
	push      string // see BeginPush
	message   string
	renamed   sync.Map // the present ref.Ref of projects by the former one
}

// BeginPush makes the config and the base files that c puts from now on one push: their entries
// in the history have the same Push, and the message.
func (c *Client) BeginPush(message string) { c.push, c.message = rand.Text(), message }

// pushQuery returns the parameters of all writes of a push.
func (c *Client) pushQuery() url.Values { return url.Values{"push": {c.push}, "message": {c.message}} }

// New returns a client. The error is an *[Error]: not_a_hub when the origin is
// none, token_malformed when no header can carry the token, insecure_origin when
// there is a token, and the origin is plain http to a host that is not loopback.
func New(opts Options) (*Client, error) {
	origin, err := ParseOrigin(opts.Origin)
	if err != nil {
		return nil, &Error{Code: CodeNotAHub, Detail: "the origin is " + err.Error()}
	}
	base, err := url.Parse(origin)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(opts.Token, tree.Unprintable) {
		return nil, &Error{Code: CodeTokenMalformed, Detail: "the token holds a control character"}
	}
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultTimeout
	}
	c := &Client{opts: opts, base: base}
	if c.guarded() && !loopbackName(base.Hostname()) {
		return nil, c.insecure()
	}
	c.transport = c.newTransport()
	return c, nil
}

// Origin returns the origin that the client speaks to.
func (c *Client) Origin() string { return c.base.String() }

// guarded reports whether the token may only be sent within this machine.
func (c *Client) guarded() bool {
	return c.base.Scheme == "http" && c.opts.Token != "" && !c.opts.AllowHTTP
}

// newTransport returns a transport that speaks HTTP/1.1 alone: only there does a
// connection on which no byte moves mean a request that does not move.
func (c *Client) newTransport() *http.Transport {
	c.connect = (&net.Dialer{Timeout: c.opts.Timeout, Control: c.checkDialled}).DialContext
	return &http.Transport{
		Proxy:                  c.proxy,
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: c.opts.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    c.opts.Timeout,
		ExpectContinueTimeout:  min(5*time.Second, c.opts.Timeout/2),
		MaxResponseHeaderBytes: 256 << 10,
		DisableCompression:     true,
		IdleConnTimeout:        c.opts.Timeout / 2, // before idleConn ends it, maybe under a new request
		MaxIdleConnsPerHost:    4,
	}
}

// checkDialled refuses to connect when the token may not go to address. A name
// such as localhost can lead anywhere, so what counts is the address.
func (c *Client) checkDialled(_, address string, _ syscall.RawConn) error {
	if ap, err := netip.ParseAddrPort(address); c.guarded() && (err != nil || !ap.Addr().IsLoopback()) {
		return c.insecure()
	}
	return nil
}

// proxy obeys HTTPS_PROXY and NO_PROXY. A plain http hub is on this machine or
// deliberately near: no proxy is to see its token.
func (c *Client) proxy(r *http.Request) (*url.URL, error) {
	if r.URL.Scheme != "https" {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}
