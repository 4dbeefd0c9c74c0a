package hubserver

import (
	"context"
	"maps"
	"slices"
	"sync"

	"example.com/projecthub/store"
)

// uses holds which tokens and sessions were used since that was last stored, so that a
// request need not wait for a write.
type uses struct {
	mu       sync.Mutex
	tokens   map[string]bool // by hash
	sessions map[store.SessionKey]bool
}

func (u *uses) note(tokens []string, sessions ...store.SessionKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.tokens == nil {
		u.tokens, u.sessions = map[string]bool{}, map[store.SessionKey]bool{}
	}
	for _, hash := range tokens {
		u.tokens[hash] = true
	}
	for _, key := range sessions {
		u.sessions[key] = true
	}
}

// take returns the tokens and sessions that were noted, and forgets them.
func (u *uses) take() ([]string, []store.SessionKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	tokens, sessions := slices.Collect(maps.Keys(u.tokens)), slices.Collect(maps.Keys(u.sessions))
	u.tokens, u.sessions = nil, nil
	return tokens, sessions
}

// SaveTokenUses stores that tokens and sessions were used. A hub calls it about once a
// minute, and when it has answered its last request. What could not be stored is kept
// for the next call.
func (s *Server) SaveTokenUses(ctx context.Context) error {
	tokens, sessions := s.uses.take()
	if len(tokens)+len(sessions) == 0 {
		return nil
	}
	err := s.Store.WriteUnsynced(ctx, func(tx *store.Tx) error {
		if err := tx.TouchTokens(ctx, tokens); err != nil {
			return err
		}
		return tx.TouchSessions(ctx, sessions)
	})
	if err != nil {
		s.uses.note(tokens, sessions...)
	}
	return err
}
