package store_test

import (
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

func TestMarkUsed_TokensAndSessions(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		execute(t, s, "INSERT INTO accounts (id, name, kind, created_at) VALUES (1, 'anna', 'user', 1)")
		var tokens []int64
		for id := range int64(100) {
			tokens = append(tokens, id+1)
			execute(t, s, "INSERT INTO tokens (id, hash, shown, name, account_id, scopes, created_at) "+
				"VALUES (?, ?, '', '', 1, '', 1)", id+1, string(rune('A'+id)))
		}
		execute(t, s, "INSERT INTO sessions (id, hash, user_id, scopes, agent, address, created_at, expires_at, seen_at) "+
			"VALUES (7, 'x', 1, '', '', '', 1, 9, 1)")
		write(t, s, func(tx *store.Tx) error { return tx.MarkUsed(tokens[1:], []int64{7}) })
		var unused, unseen int
		v := s.View(t.Context())
		if err := v.One(sqldb.Row(&unused), "SELECT COUNT(*) FROM tokens WHERE used_at = 0"); err != nil || unused != 1 {
			t.Errorf("%d tokens are unused, %v; want 1", unused, err)
		}
		if err := v.One(sqldb.Row(&unseen), "SELECT COUNT(*) FROM sessions WHERE seen_at = 1"); err != nil || unseen != 0 {
			t.Errorf("%d sessions are unseen, %v", unseen, err)
		}
	})
}
