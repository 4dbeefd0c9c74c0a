package hubserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"example.com/projecthub/store"
)

// healthz says that the process answers.
func (s *Server) healthz(c *call) error {
	return c.json(http.StatusOK, map[string]string{"status": "ok", "version": s.Version})
}

// readyz says that requests can be served: the database answers.
func (s *Server) readyz(c *call) error {
	ctx, cancel := context.WithTimeout(c.ctx(), 5*time.Second)
	defer cancel()
	if err := s.Store.Ping(ctx); err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return c.json(http.StatusOK, map[string]string{"status": "ready", "version": s.Version})
}
