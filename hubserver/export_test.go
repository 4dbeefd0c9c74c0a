package hubserver

import (
	"testing"
	"time"

	"github.com/julienschmidt/httprouter"

	"example.com/projecthub/hubclient/wire"
)

// CookieName is the name of the cookie of a session.
func (s *Server) CookieName() string { return cookieName(s.PublicURL) }

// LocalPath is where a browser goes that asks to return to next.
var LocalPath = localPath

// CleanCode is the code of a terminal as it is stored.
var CleanCode = cleanCode

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

// MaxCallerStreams is how many streams of events one caller may have open.
const MaxCallerStreams = maxCallerStreams

// RecheckOften has the rights of those who read events looked at often.
func RecheckOften(t testing.TB) {
	former := recheckEvery
	recheckEvery = 50 * time.Millisecond
	t.Cleanup(func() { recheckEvery = former })
}

// Streams returns how many streams of events are open, and about how many projects.
func (s *Server) Streams() (streams, projects int) {
	s.watches.mu.Lock()
	defer s.watches.mu.Unlock()
	return s.watches.streams, len(s.watches.projects)
}

// FillStreams takes the place of all streams but those of callers who have one.
func (s *Server) FillStreams() (release func()) {
	s.watches.mu.Lock()
	defer s.watches.mu.Unlock()
	s.watches.streams += maxStreams
	return func() {
		s.watches.mu.Lock()
		defer s.watches.mu.Unlock()
		s.watches.streams -= maxStreams
	}
}

// FillSearches has so many searches wait that no other may.
func (s *Server) FillSearches() (release func()) {
	add := func(n int) {
		s.memory.mu.Lock()
		defer s.memory.mu.Unlock()
		s.memory.queues[searching].waiting += n
	}
	add(maxQueue)
	return func() { add(-maxQueue) }
}

// ForgetPolls has the terminals that wait ask as if it were for the first time.
func (s *Server) ForgetPolls() {
	s.polls.mu.Lock()
	defer s.polls.mu.Unlock()
	s.polls.last = nil
}
