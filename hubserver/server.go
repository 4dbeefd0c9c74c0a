// Package hubserver puts a hub together: it mounts the handlers of packages api and page on a router,
// and serves them. What is atomic, the store decides.
//
// It keeps nothing in memory that another hub on the same database would need, and must not know what
// a handler does.
package hubserver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/api"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// Config is what a hub is made of.
type Config = request.Config

// Limits bound what a hub takes.
type Limits = request.Limits

// DefaultLimits are the limits that the contract names.
var DefaultLimits = request.DefaultLimits

// Server answers a hub's requests.
type Server struct {
	*request.Hub
	router      *httprouter.Router
	previewHost http.Handler
	description []byte // OpenAPI, as JSON
	watches     *api.Watches
}

// New returns a hub on an open and migrated store. It panics if an endpoint has no handler, which is a mistake in the
// program.
func New(cfg Config) *Server {
	if cfg.PreviewURL == "" {
		cfg.PreviewURL = page.PreviewOrigin(cfg.PublicURL)
	}
	hub, err := request.New(cfg)
	description, malformed := describe(cfg.PublicURL, cfg.Limits)
	if err := cmp.Or(err, malformed); err != nil {
		panic(err) // the caller has parsed the address, and the description is part of the program
	}
	hub.CountBot, hub.AddDeleted, hub.FailurePage = api.CountBot, api.AddDeleted, page.FailurePage
	s := &Server{Hub: hub, router: httprouter.New(), description: description, watches: api.NewWatches(cfg.Store)}
	hub.Wrote = s.watches.Wrote
	s.router.RedirectTrailingSlash, s.router.RedirectFixedPath, s.router.HandleOPTIONS = false, false, false
	s.router.NotFound = hub.Plain("unknown", page.UnknownRoute)
	s.router.MethodNotAllowed = hub.Plain("method not allowed", request.MethodNotAllowed)
	s.previewHost = hub.Plain("preview host", page.PreviewFile)
	s.mount(Endpoints())
	return s
}

// Endpoints returns every endpoint of a hub: those of its API, and its pages.
func Endpoints() []wire.Endpoint { return slices.Concat(wire.Endpoints, page.Endpoints()) }

// mount adds each endpoint with its handler to the router, and HEAD where the method is GET.
func (s *Server) mount(endpoints []wire.Endpoint) {
	handlers := map[wire.Op]request.Handler{wire.OpHealth: s.health, wire.OpReady: s.ready, wire.OpOpenAPI: s.openAPI}
	maps.Copy(handlers, api.Handlers(s.watches))
	maps.Copy(handlers, page.Handlers())
	for i := range endpoints {
		e := &endpoints[i]
		f := handlers[e.Op]
		if f == nil {
			panic(fmt.Sprintf("%s %s has no handler", e.Method, e.Path))
		}
		s.router.Handle(e.Method, request.Pattern(e), s.Handle(e.Method, e, f))
		if e.Method == http.MethodGet {
			s.router.Handle(http.MethodHead, request.Pattern(e), s.Handle(http.MethodHead, e, f))
		}
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case page.IsPreviewHost(r, s.PreviewURL):
		s.previewHost.ServeHTTP(w, r)
	case strings.Contains(strings.ToUpper(r.URL.RawPath), "%2F"): // the router would take it for a separator
		s.router.NotFound.ServeHTTP(w, r)
	default:
		s.router.ServeHTTP(w, r)
	}
}

func (s *Server) health(c *request.Call) error {
	return c.JSON(http.StatusOK, wire.Status{Status: "ok", Version: s.Version})
}

// ready responds with 200 if requests can be served: the hub is not about to stop, and the database
// responds and takes writes.
func (s *Server) ready(c *request.Call) error {
	if s.IsDraining() {
		return request.Unavailable(1, "this hub is about to stop")
	}
	ctx, cancel := context.WithTimeout(c.Ctx(), 5*time.Second)
	defer cancel()
	if err := s.Store.Ready(ctx); err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return c.JSON(http.StatusOK, wire.Status{Status: "ready", Version: s.Version})
}

func (s *Server) openAPI(c *request.Call) error {
	c.Send(http.StatusOK, "application/json", s.description)
	return nil
}

// DeleteExpired deletes the projects whose time has come, and returns how many.
func (s *Server) DeleteExpired(ctx context.Context) (int, error) {
	deleted, err := s.Store.DeleteExpired(ctx)
	for _, project := range deleted {
		s.watches.Wrote(project.ID)
	}
	return len(deleted), err
}
