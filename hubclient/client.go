// Package hubclient speaks to a hub: one method an endpoint, retries where they
// are safe, and errors that say what a person can do about them. Any Go program
// can use it.
//
// It knows nothing of a command line, a local file or a terminal, and never sends
// a token anywhere but to the origin it was made for.
package hubclient

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
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
	HubVersion   string    // "": no hub responded
	TokenExpires time.Time // zero: never, or it is not known
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

func (c *Client) pushQuery() url.Values { return url.Values{"push": {c.push}, "message": {c.message}} }

// New returns a client. The error is an *[Error]: not_a_hub when the origin is
// none, token_malformed when no header can carry the token, insecure_origin when
// there is a token, and the origin is plain http to a host that is not loopback.
func New(opts Options) (*Client, error) {
	origin, err := ParseOrigin(opts.Origin)
	if err != nil {
		return nil, &Error{Code: CodeNotAHub, Detail: "the origin is " + err.Error()}
	}
	base, _ := url.Parse(origin) // it was parsed before
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
	c.connect = (&net.Dialer{Timeout: opts.Timeout, Control: c.checkDialled}).DialContext
	// It speaks HTTP/1.1 alone: only there does a connection on which no byte moves mean a request that does not move.
	c.transport = &http.Transport{
		Proxy:                  c.proxy,
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: opts.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    opts.Timeout,
		ExpectContinueTimeout:  min(5*time.Second, opts.Timeout/2),
		MaxResponseHeaderBytes: 256 << 10,
		DisableCompression:     true,
		IdleConnTimeout:        opts.Timeout / 2, // before idleConn ends it, maybe under a new request
		MaxIdleConnsPerHost:    4,
	}
	return c, nil
}

// Origin returns the origin that the client speaks to.
func (c *Client) Origin() string { return c.base.String() }

// guarded reports whether the token may only be sent within this machine.
func (c *Client) guarded() bool {
	return c.base.Scheme == "http" && c.opts.Token != "" && !c.opts.AllowHTTP
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

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	reading, end := context.WithCancel(context.Background())
	return &idleConn{Conn: conn, idle: c.opts.Timeout, drained: reading.Done(), end: end}, nil
}

// CloseIdle closes the connections that no call uses. Later calls open their own.
func (c *Client) CloseIdle() { c.transport.CloseIdleConnections() }

// idleConn fails when no byte has moved, in either direction, for as long as idle.
type idleConn struct {
	net.Conn
	idle     time.Duration
	timedOut atomic.Bool
	readErr  atomic.Pointer[error] // the error that ended reading
	drained  <-chan struct{}       // closed when there is nothing more to read
	end      func()                // closes drained
}

func (c *idleConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.SetDeadline(time.Now().Add(c.idle))
	}
	if err != nil {
		if !errors.Is(err, net.ErrClosed) {
			c.readErr.CompareAndSwap(nil, &err)
		}
		c.end()
	}
	return n, c.cause(err)
}

func (c *idleConn) Write(p []byte) (int, error) {
	const piece = 16 << 10 // so that a large write counts as progress while it lasts
	written := 0
	for {
		c.SetDeadline(time.Now().Add(c.idle))
		n, err := c.Conn.Write(p[written:min(len(p), written+piece)])
		written += n
		if err != nil {
			// The other direction reads what the hub sent before it closed the connection: a transport that
			// sees the failed write first drops the response, which says why the hub refused the body.
			select {
			case <-c.drained:
			case <-time.After(time.Second): // no reader is active during a handshake
			}
			return written, c.cause(err)
		}
		if written == len(p) {
			return written, nil
		}
	}
}

func (c *idleConn) Close() error {
	c.end()
	return c.Conn.Close()
}

// cause returns err, or the error behind it. When one direction fails, the transport
// closes the connection, and the other direction sees only that.
func (c *idleConn) cause(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.timedOut.Store(true)
	}
	if err != nil && c.timedOut.Load() {
		return os.ErrDeadlineExceeded
	}
	if first := c.readErr.Load(); first != nil && errors.Is(err, net.ErrClosed) {
		return *first
	}
	return err
}
