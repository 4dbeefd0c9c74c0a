package hubserver

import (
	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/wire"
)

// Reserved returns how many bytes requests have reserved, now and at most so far.
func (s *Server) Reserved() (now, peak int64) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.memory.used, s.memory.peak
}

// Framing is what follows the requests on a connection.
type Framing struct{ f framing }

func NewFraming() *Framing { return &Framing{} }

func (f *Framing) Scan(p []byte) (int, error) { return f.f.scan(p) }

// Between reports whether no request has begun since the last one ended.
func (f *Framing) Between() bool { return f.f.state == betweenRequests }

// Register registers endpoints with the server's own handlers.
func (s *Server) Register(endpoints []wire.Endpoint) {
	s.router = httprouter.New()
	s.registerAll(endpoints, s.handlers())
}

// Peak returns how many bytes were reserved after f, and at most while it ran.
func (s *Server) Peak(f func()) (now, peak int64) {
	s.memory.mu.Lock()
	s.memory.peak = s.memory.used
	s.memory.mu.Unlock()
	f()
	return s.Reserved()
}
