package hubserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// healthz responds as long as the process runs.
func (s *Server) healthz(c *call) error {
	return c.json(http.StatusOK, wire.Status{Status: "ok", Version: s.Version})
}

// Drain makes /readyz fail, so that a load balancer sends no more requests. All
// requests that arrive are still served. A connection of HTTP/1 ends with its next response:
// on one that is open when the hub stops, a proxy could send a request at that moment.
func (s *Server) Drain() { s.draining.Store(true) }

// readyz responds with 200 if requests can be served: the hub is not about to stop, and
// the database responds and takes writes.
func (s *Server) readyz(c *call) error {
	if s.draining.Load() {
		return problemf(http.StatusServiceUnavailable, wire.CodeUnavailable, "this hub is about to stop").with("Retry-After", "1")
	}
	ctx, cancel := context.WithTimeout(c.ctx(), 5*time.Second)
	defer cancel()
	if err := s.Store.Ready(ctx); err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return c.json(http.StatusOK, wire.Status{Status: "ready", Version: s.Version})
}
