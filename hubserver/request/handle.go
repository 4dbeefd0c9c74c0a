package request

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// Call is one request on its way through the hub.
type Call struct {
	Hub      *Hub
	W        *ResponseWriter
	R        *http.Request
	Params   httprouter.Params
	ID       string
	Endpoint *wire.Endpoint // nil: the path is no endpoint's
	Page     bool           // responses are HTML, errors included

	// Access is the caller, and the caller's rights on what the path or the query names. It is nil
	// without a token or session. At endpoints that need none it is nil until the handler calls Look or
	// Visit.
	Access *store.Access
	// Resource is what the path names. ID 0: it does not exist, the caller may not know it, or the path
	// names none.
	Resource store.Resource

	route  *route
	grants []grant // the rights that Write checks again
	room   Room
	held   *hold // memory of the room; nil: none was needed yet
	cut    bool  // the response had begun when the call failed
}

// Handler answers a call, or returns why it does not: a *Problem, or an error of the store, which
// becomes one.
type Handler func(c *Call) error

// Pattern returns an endpoint's path in the router's syntax, as used in logs and metrics.
func Pattern(e *wire.Endpoint) string {
	return strings.NewReplacer("{file}", "*file", "{", ":", "}", "").Replace(e.Path)
}

// Handle returns the router's handler of an endpoint for a method, which is the endpoint's or HEAD. It
// calls f for callers who have the role and the scope that the endpoint needs.
func (h *Hub) Handle(method string, e *wire.Endpoint, f Handler) httprouter.Handle {
	route := h.newRoute(method, Pattern(e))
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		h.newCall(w, r, params, route, e).serve(func(c *Call) error {
			if err := h.origins.Check(r); err != nil {
				return Problemf(http.StatusForbidden, wire.CodeCrossSite,
					"cross-origin requests are not allowed").Because(err)
			}
			if err := c.admit(); err != nil {
				return err
			}
			if _, err := url.ParseQuery(c.R.URL.RawQuery); err != nil { // so that no handler uses a part of it
				return Problemf(http.StatusBadRequest, wire.CodeInvalidBody, "malformed query: %v", err)
			}
			return f(c)
		})
	}
}

// Plain serves f to any caller, for paths that are no endpoint's. Logs and metrics name it by pattern.
// Metrics name no method: callers could invent any number of them.
func (h *Hub) Plain(pattern string, f Handler) http.Handler {
	route := h.newRoute("", pattern)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.newCall(w, r, nil, route, nil).serve(f) })
}

// serve runs a handler. An error, or a panic, becomes a problem; each request is counted and logged.
func (c *Call) serve(f Handler) {
	start := time.Now()
	defer c.release()
	defer func() {
		if p := recover(); p != nil {
			c.Hub.Log.Error("panic", "request", c.ID, "route", c.route.pattern, "panic", p, "stack", string(debug.Stack()))
			c.fail(errors.New("panic"))
		}
		took := time.Since(start)
		c.route.note(c.W.status, took)
		c.log(took)
		if c.cut {
			panic(http.ErrAbortHandler) // ends the connection, so that the response does not look complete
		}
	}()
	err := checkFields(c.R.Header)
	if err == nil {
		err = f(c)
	}
	if err != nil {
		c.fail(err)
	}
}

// fail responds with the problem of err, unless a response has begun.
func (c *Call) fail(err error) {
	p := ToProblem(err)
	c.logFailure(p)
	c.cut = c.W.status != 0
	if !c.cut {
		c.writeProblem(p)
	}
}

// permissions switches off what neither a page nor an app in the preview needs.
const permissions = "accelerometer=(), bluetooth=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), " +
	"hid=(), magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), serial=(), usb=()"

// maxFields is how many header fields a request may have. Each takes many times its bytes in memory.
const maxFields = 100

func checkFields(header http.Header) error {
	n := 0
	for _, values := range header {
		n += len(values)
	}
	if n <= maxFields {
		return nil
	}
	return Problemf(http.StatusRequestHeaderFieldsTooLarge, wire.CodeTooLarge,
		"the request has %d header fields: this hub accepts at most %d", n, maxFields).WithHeader("Connection", "close")
}

// newCall returns the call of a request, and sets the headers that every response has.
func (h *Hub) newCall(
	w http.ResponseWriter, r *http.Request, params httprouter.Params, route *route, e *wire.Endpoint,
) *Call {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // clears that of the connection's previous request
	c := &Call{Hub: h, Params: params, Endpoint: e, ID: strings.ToLower(rand.Text()[:16]), route: route}
	b := newBody(r, h.Limits.BodyIdle, control)
	c.W = &ResponseWriter{ResponseWriter: w, hub: h, body: b, pace: pace{idle: h.Limits.BodyIdle}}
	c.R = r.WithContext(r.Context()) // a copy: net/http needs its own request's body after the handler
	c.R.Body = b
	c.R.URL.RawQuery = storableQuery(c.R.URL.RawQuery)
	for i := range params {
		params[i].Value = storable(params[i].Value)
	}
	if e != nil {
		c.Page, c.room = slices.Equal(e.Returns, wire.HTML), roomOf(e)
		if e.Keyed && c.R.Header.Get(idempotencyKey) != "" {
			b.hash = sha256.New()
			_, _ = io.WriteString(b.hash, c.R.URL.RawQuery+"\n")
		}
	}
	header := w.Header()
	header.Set("X-Request-Id", c.ID)
	header.Set("Hub-Version", h.Version)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", permissions)
	if strings.HasPrefix(h.PublicURL, "https://") { // browsers then send the cookie to no plain http
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
	return c
}

// Ctx returns the context of the request, which ends when the caller is gone.
func (c *Call) Ctx() context.Context { return c.R.Context() }

// View returns a view of the store for the time of the call.
func (c *Call) View() store.View { return c.Hub.Store.View(c.Ctx()) }

// Param returns the value of a parameter of the path, "" if it has none of that name.
func (c *Call) Param(name string) string { return c.Params.ByName(name) }

// Ref returns the account and the slug, or the user, that the path names; the zero ref if they are
// missing or invalid. It is valid where the endpoint finds its account in the path ([wire.InPath]).
func (c *Call) Ref() ref.Ref {
	r, _ := ref.New(c.Param("account"), cmp.Or(c.Param("slug"), c.Param("user")))
	return r
}

// NeedResource returns a 404 if what the path names does not exist for this caller.
func (c *Call) NeedResource() error {
	if c.Resource.ID != 0 {
		return nil
	}
	about := c.about()
	p := noResource(about)
	if about.Kind == store.KindProject && c.Has(wire.Writer) {
		c.Hub.AddDeleted(c, about, p)
	}
	return p
}

func noResource(query store.AccessQuery) *Problem {
	kind := query.Kind
	if kind == store.KindAPI {
		kind = "API"
	}
	return NotFound(kind + " @" + query.Account + "/" + query.Slug)
}

// UnknownRoute is the [Handler] of paths that are no endpoint's: 404.
func UnknownRoute(c *Call) error {
	p := Problemf(http.StatusNotFound, wire.CodeUnknownRoute, "this hub has no route %s", c.R.URL.EscapedPath())
	if strings.HasPrefix(c.R.URL.Path, "/v1/") {
		return p.WithHint("the client may be newer than the hub (version %s)", c.Hub.Version)
	}
	return p.WithHint("the routes of this hub: %s/v1/openapi.json", c.Hub.PublicURL)
}

// MethodNotAllowed is the [Handler] of paths that are an endpoint's for other methods: 405. The router
// has put these into the header, and OPTIONS, which it does not serve.
func MethodNotAllowed(c *Call) error {
	allow := strings.NewReplacer(", OPTIONS", "", "OPTIONS, ", "").Replace(c.W.Header().Get("Allow"))
	c.W.Header().Set("Allow", allow)
	return Problemf(http.StatusMethodNotAllowed, wire.CodeMethodNotAllowed,
		"%s does not support %s", c.R.URL.Path, c.R.Method).WithHint("it supports %s", allow)
}

// substitute is the control character SUB. Like what it replaces, it is in no valid name.
const substitute = "\x1a"

// storable replaces what PostgreSQL refuses in a text, NUL and bytes that are not UTF-8, so that a
// look-up of such a name finds nothing instead of failing.
func storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", substitute), substitute)
}

// storableQuery is storable for an encoded query or form. What is malformed in it stays as it is.
func storableQuery(encoded string) string {
	parts := strings.Split(encoded, "&")
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(value)
		if err == nil && plain != storable(plain) && !strings.Contains(part, ";") { // url.ParseQuery refuses semicolons
			parts[i] = name + "=" + url.QueryEscape(storable(plain))
		}
	}
	return strings.Join(parts, "&")
}
