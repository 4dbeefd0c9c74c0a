// Package hubserver is the hub's HTTP side: the route table, who may call what,
// one file a resource, and the answers of the contract in hubclient/wire.
//
// It keeps nothing in memory that another replica would need, and leaves every
// decision about what is atomic to the store.
package hubserver

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/hubserver/ratelimit"
	"example.com/projecthub/store"
)

// Config is what a hub is made of. Every field is needed, except where it says otherwise.
type Config struct {
	Store     *store.Store
	PublicURL string // the origin under which people reach the hub
	// PreviewURL is the origin of the preview's frame, on another host than PublicURL; "": that
	// of PreviewOrigin, and without one there are no previews.
	PreviewURL string
	Version    string
	Log        *slog.Logger
	Limits     Limits
	Fetch      *fetch.Fetcher // for importing API descriptions
	// TrustedProxies are the networks of proxies whose X-Forwarded-For is believed. It may be empty.
	TrustedProxies []netip.Prefix
}

// Limits bound what a hub takes. Sizes are bytes.
type Limits struct {
	ConfigBytes      int64
	ConfigKeys       int
	ConfigDepth      int
	DescriptionBytes int64
	BundleBytes      int64
	BaseFiles        int
	BaseFileBytes    int64
	BaseFilesBytes   int64
	PlanBytes        int64         // of a manifest of base files
	BodyIdle         time.Duration // of waiting for the next [minRate] bytes of a body or response
	Memory           int64         // of all requests together
	Connections      int           // that are open
}

// DefaultLimits are the limits that the contract names.
var DefaultLimits = Limits{
	ConfigBytes:      1 << 20,
	ConfigKeys:       10_000,
	ConfigDepth:      32,
	DescriptionBytes: 16 << 20,
	BundleBytes:      64 << 20,
	BaseFiles:        20_000,
	BaseFileBytes:    25 << 20,
	BaseFilesBytes:   1 << 30,
	PlanBytes:        16 << 20,
	BodyIdle:         30 * time.Second,
	Memory:           128 << 20,
	Connections:      8192,
}

// maxJSON bounds a JSON body that has no limit of its own, and what is stored
// around a config in the body that carries it.
const maxJSON = 64 << 10

// Server answers a hub's requests.
type Server struct {
	Config
	router      *httprouter.Router
	origins     *http.CrossOriginProtection
	previewHost string // of PreviewURL
	description []byte // OpenAPI, as JSON
	memory      *memory
	connections *connections
	measures    *measures
	watches     *watches
	uses        uses
	polls       polls
	limiter     *ratelimit.Limiter
	draining    atomic.Bool
	running     running
}

// New returns a hub on an open and migrated store.
func New(cfg Config) *Server {
	cfg.Log = slog.New(tokenless{cfg.Log.Handler()})
	described, err := describe(cfg.PublicURL, cfg.Limits)
	if err != nil {
		panic(err) // it is part of the program
	}
	origins := http.NewCrossOriginProtection()
	if err := origins.AddTrustedOrigin(cfg.PublicURL); err != nil { // a proxy may change the Host
		panic(err) // the caller has parsed it
	}
	if cfg.PreviewURL == "" {
		cfg.PreviewURL = PreviewOrigin(cfg.PublicURL)
	}
	s := &Server{Config: cfg, previewHost: hostOf(cfg.PreviewURL), router: httprouter.New(), origins: origins, description: described, memory: newMemory(cfg.Limits.Memory), connections: newConnections(&cfg), measures: newMeasures(), limiter: ratelimit.New(cfg.Store)}
	s.watches = newWatches(func(ctx context.Context, r ref.Ref) (state store.ProjectState, err error) {
		err = s.Store.Read(ctx, func(v *store.View) (err error) {
			state, err = v.ProjectState(ctx, r)
			return err
		})
		return state, err
	})
	s.router.RedirectTrailingSlash = false
	s.router.RedirectFixedPath = false
	s.router.HandleOPTIONS = false
	s.router.NotFound = s.plain(unknownPattern, s.unknownRoute)
	s.router.MethodNotAllowed = s.plain(otherMethodPattern, s.methodNotAllowed)
	s.registerAll(wire.Endpoints, s.handlers())
	s.observe()
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.isPreviewHost(r) {
		s.plain(previewHostPattern, s.previewFile).ServeHTTP(w, r)
		return
	}
	// The router looks at the decoded path, where this would pass for a separator.
	if strings.Contains(strings.ToUpper(r.URL.RawPath), "%2F") {
		s.router.NotFound.ServeHTTP(w, r)
		return
	}
	s.router.ServeHTTP(w, r)
}

// call is one request on its way through the hub.
type call struct {
	s        *Server
	w        *responseWriter
	r        *http.Request
	params   httprouter.Params
	op       wire.Op // "": the path is no endpoint's
	id       string
	who      *caller      // nil: anonymous
	page     bool         // the response is HTML, that to a failure too
	reserved *reservation // what it has reserved; nil: nothing
	parts    [parts]int64 // of what an upload has reserved

	granted       []grant  // what the caller was permitted
	writesConfig  bool     // its transactions do
	changesRights []string // accounts whose rights its transactions change
}

func (c *call) ctx() context.Context { return c.r.Context() }

// handler answers a request or returns why it does not: a *problem, or an error
// of the store, which becomes one.
type handler func(c *call) error

// plain serves h to any caller, without checking the token.
func (s *Server) plain(pattern string, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, nil, pattern, h) })
}

// serve runs one handler with all that every answer has: a request id, the hub's
// version, a log line, and a problem for an error or a panic.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, params httprouter.Params, pattern string, h handler) {
	start := time.Now()
	control := http.NewResponseController(w)
	control.SetWriteDeadline(time.Time{}) // the last one of the connection's former request
	b := newBody(r, s.Limits.BodyIdle, control)
	c := &call{s: s, params: params, id: newRequestID()}
	c.w = &responseWriter{ResponseWriter: w, body: b, draining: &s.draining, pace: pace{idle: s.Limits.BodyIdle}}
	c.r = r.WithContext(r.Context()) // a copy: the server looks at its own request's body after us
	c.r.Body = b
	c.r.URL.RawQuery = storableQuery(c.r.URL.RawQuery)
	for i := range params {
		params[i].Value = storable(params[i].Value)
	}
	s.setCommon(w.Header(), c.id)
	cut := false
	defer func() {
		// The response is sent last, so that its log line is there when it arrives.
		if !cut && c.send() != nil {
			panic(http.ErrAbortHandler) // ends the connection: no other request on it is handled
		}
	}()
	defer c.done()
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("panic", "request", c.id, "route", pattern, "panic", p, "stack", string(debug.Stack()))
			cut = !c.fail(pattern, errInternal)
		}
		took := time.Since(start)
		s.measures.note(c.r.Method, pattern, c.w.status, took)
		s.logRequest(c, pattern, cut, took)
		if cut {
			panic(http.ErrAbortHandler) // ends the connection, so that what was sent does not look whole
		}
	}()
	if err := h(c); err != nil {
		cut = !c.fail(pattern, err)
	}
}

// unknownRoute responds to people and clients differently, by the path.
func (s *Server) unknownRoute(c *call) error {
	path := c.r.URL.Path
	reads := c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
	if reads && (strings.HasPrefix(path, "/@") || !strings.HasPrefix(path, "/v1/") && strings.Contains(c.r.Header.Get("Accept"), "text/html")) {
		c.page = true
		if err := c.view(); err != nil {
			return err
		}
		return c.absentPage("", "")
	}
	p := problemf(http.StatusNotFound, wire.CodeUnknownRoute, "this hub has no route %s", c.r.URL.EscapedPath())
	if strings.HasPrefix(path, "/v1/") {
		_ = p.hint("the client may be newer than the hub (version %s)", s.Version)
	}
	return p
}

func (s *Server) methodNotAllowed(c *call) error {
	// The router names OPTIONS, which it was told not to answer.
	methods := strings.Split(c.w.Header().Get("Allow"), ", ")
	allow := strings.Join(slices.DeleteFunc(methods, func(m string) bool { return m == http.MethodOptions }), ", ")
	c.w.Header().Set("Allow", allow)
	return problemf(http.StatusMethodNotAllowed, wire.CodeMethodNotAllowed, "%s does not support %s", c.r.URL.Path, c.r.Method).
		hint("it supports %s", allow)
}
