package hubserver

import (
	"context"
	"sync"

	"example.com/projecthub/store"
)

// uses holds which tokens were used since that was last stored, so that a request
// need not wait for a write.
type uses struct {
	mu     sync.Mutex
	hashes map[string]bool
}

func (u *uses) note(hash string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.hashes == nil {
		u.hashes = map[string]bool{}
	}
	u.hashes[hash] = true
}

// take returns the tokens that were noted, and forgets them.
func (u *uses) take() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := make([]string, 0, len(u.hashes))
	for hash := range u.hashes {
		taken = append(taken, hash)
	}
	u.hashes = nil
	return taken
}

// SaveTokenUses stores that tokens were used. A hub calls it about once a minute,
// and when it has answered its last request. What could not be stored is kept for
// the next call.
func (s *Server) SaveTokenUses(ctx context.Context) error {
	hashes := s.uses.take()
	if len(hashes) == 0 {
		return nil
	}
	err := s.Store.WriteUnsynced(ctx, func(tx *store.Tx) error { return tx.TouchTokens(ctx, hashes) })
	if err != nil {
		for _, hash := range hashes {
			s.uses.note(hash)
		}
	}
	return err
}
