package hubserver

import (
	"time"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
)

// PreviewOrigin is that of package page.
var PreviewOrigin = page.PreviewOrigin

// Register mounts endpoints with the server's own handlers.
func (s *Server) Register(endpoints []wire.Endpoint) {
	s.router = httprouter.New()
	s.mount(endpoints)
}

// RecheckOften has the rights of those who read events looked at often.
func (s *Server) RecheckOften() { s.watches.RecheckEvery = 50 * time.Millisecond }
