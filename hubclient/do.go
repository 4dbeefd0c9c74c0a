package hubclient

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// request is one call, which may take several attempts. Its methods change it, and return it.
type request struct {
	endpoint   *wire.Endpoint
	path       string
	parameters url.Values // of the query
	about      ref.Ref    // what the path names; zero: nothing
	header     map[string]string
	body       func(context.Context) io.ReadCloser // returns a new body for each attempt; nil: none
	length     int64                               // of the body; -1: unknown
	single     bool                                // it is attempted once: the caller tries again
	writes     bool                                // after a lost response it may have been applied
	invalid    error                               // why it cannot be sent
}

// to returns a request to an endpoint. The parameters of its path are the parts of r,
// unless that is zero, and the values.
func to(op wire.Op, r ref.Ref, values ...string) *request {
	e := op.Endpoint()
	if !r.IsZero() {
		values = append([]string{r.Account(), r.Slug()}, values...)
	}
	req := &request{
		endpoint: e, path: e.Expand(values...), parameters: url.Values{}, about: r, header: map[string]string{},
	}
	req.writes = e.Method != http.MethodGet
	if e.Keyed {
		req.header["Idempotency-Key"] = rand.Text()
	}
	if e.Returns != nil {
		req.header["Accept"] = strings.Join(e.Returns, ", ") + ", application/problem+json"
	}
	return req
}

// query sets parameters. Empty values are left out.
func (r *request) query(q url.Values) *request {
	maps.Copy(r.parameters, q)
	maps.DeleteFunc(r.parameters, func(_ string, values []string) bool { return values[0] == "" })
	return r
}

// dryRun makes r a request that only reports what it would do.
func (r *request) dryRun() *request {
	r.writes = false
	return r.query(url.Values{"dryRun": {"1"}})
}

func (r *request) json(v any) *request {
	data, err := wire.Encode(v)
	if err != nil {
		r.invalid = err
	}
	return r.bytes("application/json", data)
}

// named says which project the body names.
func (r *request) named(account, slug string) *request {
	about, err := ref.New(account, slug)
	if err != nil {
		r.invalid = &Error{Code: CodeInvalidName, Detail: err.Error()}
	}
	r.about = about
	return r
}

func (r *request) bytes(mediaType string, data []byte) *request {
	r.header["Content-Type"] = mediaType
	r.length = int64(len(data))
	r.body = func(context.Context) io.ReadCloser { return io.NopCloser(bytes.NewReader(data)) }
	return r
}

// match makes it a condition that revision is the present one; "": no condition.
func (r *request) match(revision string) *request {
	if revision != "" {
		r.header["If-Match"] = quote(revision)
	}
	return r
}

func quote(revision string) string { return `"` + revision + `"` }

type answer struct {
	status int
	size   int  // of the body, bytes
	lost   bool // an attempt before this one may have been applied
}

// result sends r and returns the response's body as a T.
func result[T any](ctx context.Context, c *Client, r *request) (*T, error) {
	body := new(T)
	_, err := c.send(ctx, r, body)
	return body, err
}

// send sends r until the hub responds or the time is over, and decodes a success into
// v. Errors are *Error, the context's, or that of an [Opener].
func (c *Client) send(ctx context.Context, r *request, v any) (*answer, error) {
	if r.invalid != nil {
		return nil, r.invalid
	}
	tries := c.newTries()
	for {
		a := &answer{lost: tries.lost}
		err := c.exchange(ctx, r, func(resp *http.Response) error {
			body, err := c.readBody(ctx, resp)
			if err != nil {
				return err
			}
			a.status, a.size = resp.StatusCode, len(body)
			return c.decode(resp, body, v, r)
		})
		if err == nil {
			return a, nil
		}
		if r.single {
			return nil, err
		}
		// What does something each time that it is sent is sent again only if it has not left this machine.
		if e, ok := err.(*Error); ok && r.endpoint.Once && !e.unconnected {
			e.again = false
		}
		if err := tries.again(ctx, err); err != nil {
			return nil, err
		}
	}
}

const (
	// First and longest wait between two attempts, before jitter.
	firstWait = 200 * time.Millisecond
	maxWait   = 5 * time.Second

	// tellAfter is how long a call has to fail before Waiting is called.
	tellAfter = time.Second

	// unconnectedFor is how long a hub to which no connection can be opened is tried.
	// The time-out is for hubs that respond slowly.
	unconnectedFor = 5 * time.Second
)

// tries decides whether, and when, a call is tried again.
type tries struct {
	client   *Client
	waits    backoff.ExponentialBackOff
	failing  time.Time // since when; zero: nothing has failed yet
	deadline time.Time // after which no attempt starts
	reached  bool      // an attempt had a connection to the hub
	lost     bool      // an attempt may have been applied without our knowing
	told     bool      // Waiting was called
}

func (c *Client) newTries() *tries {
	return &tries{
		client: c,
		waits: backoff.ExponentialBackOff{
			InitialInterval:     firstWait,
			RandomizationFactor: 0.5,
			Multiplier:          2,
			MaxInterval:         maxWait,
		},
	}
}

// again waits and returns nil if an attempt that failed with err should be repeated;
// otherwise it returns the error of the call.
func (t *tries) again(ctx context.Context, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return ended(err, t.lost)
	}
	t.lost = t.lost || e.lost
	e.lost = t.lost
	t.reached = t.reached || !e.unconnected
	now := time.Now()
	if t.failing.IsZero() { // the first attempt may have taken longer than the time-out, as long as data came
		t.failing, t.deadline = now, now.Add(t.client.opts.Timeout)
	}
	if e.unconnected {
		patience := unconnectedFor
		if !t.reached && loopbackName(t.client.base.Hostname()) {
			patience = 0 // it is not running, and did not just end a connection to be restarted
		}
		if limit := now.Add(patience); limit.Before(t.deadline) {
			t.deadline = limit
		}
	}
	wait := e.After
	if wait == 0 {
		wait = t.waits.NextBackOff()
	}
	next := now.Add(wait)
	if !e.again || next.After(t.deadline) {
		e.conclude()
		return e
	}
	if waiting := t.client.opts.Waiting; waiting != nil && !t.told && next.Sub(t.failing) > tellAfter {
		waiting(e, t.deadline)
		t.told = true
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ended(ctx.Err(), t.lost)
	}
}

// exchange sends r once, and calls read with a response that is a success, or not modified.
func (c *Client) exchange(ctx context.Context, r *request, read func(*http.Response) error) (err error) {
	reached := false
	defer func() { // only a write leaves doubt about what was applied
		if e, ok := err.(*Error); ok {
			e.lost = e.lost && r.writes
		}
		err = ended(err, reached && r.writes)
	}()
	tracedContext := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { reached = true },
	})
	req, err := c.newRequest(tracedContext, r)
	if err != nil {
		return err
	}
	defer req.Body.Close()
	traced := Attempt{Method: r.endpoint.Method, Path: req.URL.Path}
	start := time.Now()
	defer func() {
		traced.Took = time.Since(start)
		if c.opts.Trace != nil {
			c.opts.Trace(traced)
		}
	}()
	resp, err := c.roundTrip(req)
	if err != nil {
		return c.transportError(ctx, reached, err)
	}
	defer resp.Body.Close()
	traced.Status, traced.RequestID = resp.StatusCode, line(resp.Header.Get("X-Request-Id"))
	status, fromHub := resp.StatusCode, resp.Header.Get("Hub-Version") != ""
	if fromHub {
		traced.HubVersion = line(resp.Header.Get("Hub-Version"))
		traced.TokenExpires, _ = http.ParseTime(resp.Header.Get(wire.TokenExpires))
		if isDirect := resp.Request.URL.Path == req.URL.Path; isDirect && status < 300 {
			c.noteRename(req.URL.Path, resp.Header.Get("Content-Location"))
		}
	}
	if status >= http.StatusBadRequest {
		body, err := c.readBody(ctx, resp)
		if err != nil {
			return err
		}
		return c.refusal(resp, body)
	}
	notModified := status == http.StatusNotModified && r.header["If-None-Match"] != ""
	if status != http.StatusOK && status != http.StatusCreated && !notModified {
		return c.notAHub(status, "it answered %s", statusText(status))
	}
	if !fromHub {
		return c.notAHub(status, "another web server answered")
	}
	return read(resp)
}

func (c *Client) newRequest(ctx context.Context, r *request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.endpoint.Method, c.base.String()+r.path, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery = r.parameters.Encode()
	req.Header.Set("User-Agent", c.opts.UserAgent)
	req.Header.Set("Accept", "application/json, application/problem+json")
	if c.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	// A connection that is used again has to take the whole body, even after the hub refused it.
	req.Close = req.Header.Get("Expect") != ""
	if r.body != nil {
		req.Body, req.ContentLength = r.body(ctx), r.length
	}
	return req, nil
}

const maxRedirects = 3

var redirects = []int{
	http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
	http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
}

// roundTrip sends req, and follows the redirects of a GET within the origin. An http.Client
// would send the token on to other ports and schemes of the same host.
func (c *Client) roundTrip(req *http.Request) (*http.Response, error) {
	if c.opts.Before != nil {
		defer c.opts.Before()()
	}
	for followed := 0; ; followed++ {
		resp, err := c.transport.RoundTrip(req)
		if err != nil || !slices.Contains(redirects, resp.StatusCode) || resp.Header.Get("Location") == "" {
			return resp, err
		}
		resp.Body.Close()
		next, err := resp.Location()
		if err != nil {
			return nil, c.redirected("an address that cannot be read")
		}
		next.User = nil
		origin, err := ParseOrigin(next.Scheme + "://" + next.Host)
		if req.Method != http.MethodGet || followed == maxRedirects || err != nil || origin != c.Origin() {
			return nil, c.redirected(next.String())
		}
		c.noteRename(req.URL.Path, next.Path)
		next.Host = c.base.Host
		req = req.Clone(req.Context())
		req.URL, req.Host = next, ""
	}
}
