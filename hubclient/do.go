package hubclient

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// request is one call, which may take several attempts. A call can be sent again if it
// is idempotent or has an Idempotency-Key; others are only until the hub is reached.
type request struct {
	endpoint *wire.Endpoint
	path     string  // with the query
	about    ref.Ref // what the path names; zero: nothing
	header   map[string]string
	body     func(context.Context) io.ReadCloser // returns a new body for each attempt; nil: none
	length   int64                               // of the body; -1: unknown
	once     bool                                // one attempt only: the caller retries
}

// to returns a request to an endpoint. The parameters of its path are the parts of r,
// unless that is zero, and the values.
func to(op wire.Op, r ref.Ref, values ...string) request {
	e := op.Endpoint()
	if !r.IsZero() {
		values = append([]string{r.Account(), r.Slug()}, values...)
	}
	req := request{endpoint: e, path: e.Expand(values...), about: r}
	if e.Keyed {
		req.set("Idempotency-Key", rand.Text())
	}
	if e.Returns != nil {
		req.set("Accept", strings.Join(e.Returns, ", ")+", application/problem+json")
	}
	return req
}

// query adds parameters to the path. Empty values are left out.
func (r *request) query(q url.Values) {
	for name, values := range q {
		if values[0] == "" {
			delete(q, name)
		}
	}
	if len(q) > 0 {
		r.path += "?" + q.Encode()
	}
}

// jsonBody sets v as the body.
func (r *request) jsonBody(v any) error {
	data, err := wire.Encode(v)
	if err != nil {
		return err
	}
	r.set("Content-Type", "application/json")
	r.bytesBody(data)
	return nil
}

func (r *request) bytesBody(data []byte) {
	r.length = int64(len(data))
	r.body = func(context.Context) io.ReadCloser { return io.NopCloser(bytes.NewReader(data)) }
}

// keyedBy sets an Idempotency-Key that is the same in every program that gives these
// parts, so that the hub creates once even if the program is run again.
func (r *request) keyedBy(parts ...string) {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	r.set("Idempotency-Key", hex.EncodeToString(h.Sum(nil)))
}

func (r *request) set(header, value string) {
	if r.header == nil {
		r.header = map[string]string{}
	}
	r.header[header] = value
}

// answer is a successful response.
type answer struct {
	status int
	size   int  // of the body, bytes
	lost   bool // an attempt before this one may have been applied
}

// tellAfter is how long a call has to fail before Waiting is called.
const tellAfter = time.Second

// First and longest wait between two attempts, before jitter.
const (
	firstWait = 200 * time.Millisecond
	maxWait   = 5 * time.Second
)

// result sends r and returns the response's body as a T.
func result[T any](ctx context.Context, c *Client, r request) (*T, error) {
	body := new(T)
	_, err := c.send(ctx, r, body)
	return body, err
}

// send sends r until the hub responds or the time is over, and decodes a success into
// v. Errors are *Error, the context's, or that of an [Opener].
func (c *Client) send(ctx context.Context, r request, v any) (*answer, error) {
	tries := c.newTries()
	for {
		a, err := c.attempt(ctx, r, v)
		if err == nil {
			a.lost = tries.lost
			return a, nil
		}
		if r.once {
			return nil, err
		}
		if e, ok := err.(*Error); ok && r.endpoint.Once && !e.unconnected {
			e.again = false
		}
		if err := tries.again(ctx, r.endpoint.Method, err); err != nil {
			return nil, err
		}
	}
}

// tries decides whether, and when, a call is tried again.
type tries struct {
	timeout time.Duration
	waits   backoff.ExponentialBackOff
	end     time.Time // of trying again: time-out after the first failure, however long that attempt had moved
	near    bool      // the hub is on this machine
	reached bool      // an attempt had a connection to the hub
	lost    bool      // an attempt may have been applied without our knowing
	waiting func(*Error, time.Time)
}

func (c *Client) newTries() *tries {
	return &tries{
		timeout: c.opts.Timeout, waiting: c.opts.Waiting, near: loopbackName(c.base.Hostname()),
		waits: backoff.ExponentialBackOff{InitialInterval: firstWait, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: maxWait},
	}
}

// again waits and returns nil if an attempt that failed with err should be repeated;
// otherwise it returns the error of the call.
func (t *tries) again(ctx context.Context, method string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return ended(method, err, t.lost)
	}
	t.lost = t.lost || e.lost
	e.lost = t.lost
	t.reached = t.reached || !e.unconnected
	if t.end.IsZero() {
		t.end = time.Now().Add(t.timeout)
	}
	if limit := time.Now().Add(t.patience()); e.unconnected && t.end.After(limit) {
		t.end = limit
	}
	wait := e.After
	if wait == 0 {
		wait = t.waits.NextBackOff()
	}
	if !e.again || time.Now().Add(wait).After(t.end) {
		e.conclude(method)
		return e
	}
	if t.waiting != nil && time.Until(t.end)-wait < t.timeout-tellAfter {
		t.waiting(e, t.end)
		t.waiting = nil
	}
	return ended(method, pause(ctx, wait), t.lost)
}

// unconnectedFor is how long a hub to which no connection can be opened is tried.
// The time-out is for hubs that respond slowly.
const unconnectedFor = 5 * time.Second

// patience returns how long to go on trying to open a connection. What refuses one
// on this machine is not running, unless it has just ended a connection of this
// call, as a hub does that is being restarted.
func (t *tries) patience() time.Duration {
	if t.near && !t.reached {
		return 0
	}
	return unconnectedFor
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempt sends r once.
func (c *Client) attempt(ctx context.Context, r request, v any) (*answer, error) {
	reached := false
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached = true }})
	req, err := c.newRequest(traced, r)
	if err != nil {
		return nil, err
	}
	defer req.Body.Close()
	told := Attempt{Method: r.endpoint.Method, Path: req.URL.Path}
	start := time.Now()
	defer func() {
		if told.Took = time.Since(start); c.opts.Trace != nil {
			c.opts.Trace(told)
		}
	}()
	resp, err := c.roundTrip(req)
	if err != nil {
		return nil, ended(r.endpoint.Method, c.transportError(ctx, reached, err), reached)
	}
	defer resp.Body.Close()
	told.Status, told.RequestID = resp.StatusCode, line(resp.Header.Get("X-Request-Id"))
	if end, err := http.ParseTime(resp.Header.Get(wire.TokenExpires)); err == nil && c.opts.TokenExpires != nil {
		c.opts.TokenExpires(end)
	}
	if err := c.checkStatus(req, resp); err != nil {
		return nil, err
	}
	limit := r.limit()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, ended(r.endpoint.Method, c.transportError(ctx, reached, err), reached)
	}
	if int64(len(body)) > limit {
		return nil, c.notAHub(resp.StatusCode, "its response is larger than %d MiB", limit>>20)
	}
	return c.read(resp, body, v, r)
}

func (c *Client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.endpoint.Method, c.base.String()+r.path, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", c.opts.UserAgent)
	req.Header.Set("Accept", "application/json, application/problem+json")
	if c.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	// Or a transport sends the body even after a refusal, to reuse the connection.
	req.Close = req.Header.Get("Expect") != ""
	if r.body != nil {
		req.Body, req.ContentLength = r.body(ctx), r.length
	}
	return req, nil
}

// maxRedirects bounds how many redirects within the origin a GET follows.
const maxRedirects = 3

// roundTrip sends req, and follows what redirects a GET within the origin. It is
// no http.Client, because that sends the token on to other ports and schemes of
// the same host.
func (c *Client) roundTrip(req *http.Request) (*http.Response, error) {
	if c.opts.Before != nil {
		defer c.opts.Before()()
	}
	for followed := 0; ; followed++ {
		resp, err := c.transport.RoundTrip(req)
		if err != nil || !redirects(resp) {
			return resp, err
		}
		resp.Body.Close()
		next, err := resp.Location()
		if err != nil {
			return nil, c.redirected("an address that cannot be read")
		}
		next.User = nil
		if req.Method != http.MethodGet || followed == maxRedirects || !c.sameOrigin(next.Scheme+"://"+next.Host) {
			return nil, c.redirected(next.String())
		}
		next.Host = c.base.Host
		req = req.Clone(req.Context())
		req.URL, req.Host = next, ""
	}
}

func redirects(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location") != ""
	}
	return false
}

func (c *Client) sameOrigin(address string) bool {
	origin, err := ParseOrigin(address)
	return err == nil && origin == c.Origin()
}
