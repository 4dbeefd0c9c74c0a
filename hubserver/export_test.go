package hubserver

// Reserved returns how many bytes requests have reserved, now and at most so far.
func (s *Server) Reserved() (now, peak int64) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.memory.used, s.memory.peak
}
