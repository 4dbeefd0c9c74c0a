package store_test

import (
	"testing"
	"time"

	"example.com/projecthub/store"
)

func TestPrune_DeletesWhatIsOld(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		const day = 24 * time.Hour
		now, err := s.View(t.Context()).Now()
		if err != nil {
			t.Fatal(err)
		}
		execute(t, s, "INSERT INTO accounts (id, name, kind, created_at) VALUES (1, 'anna', 'user', 1)")
		for name, age := range map[string]time.Duration{"old": 500 * day, "new": 0} {
			at := now.Add(-age)
			execute(t, s, `INSERT INTO answers (caller, route, key, body_hash, created_at, status, location, body)
				VALUES (?, '', '', '', ?, 200, '', ?)`, name, at, []byte{})
			execute(t, s, `INSERT INTO audit (at, account, actor, token, action, object, detail, request_id, address)
				VALUES (?, '', '', '', ?, '', '', '', '')`, at, name)
			execute(t, s, `INSERT INTO tokens (hash, shown, name, account_id, scopes, created_at, revoked_at)
				VALUES (?, '', '', 1, '', 1, ?)`, name, at)
			execute(t, s, `INSERT INTO sessions (hash, user_id, scopes, agent, address, created_at, expires_at, seen_at)
				VALUES (?, 1, '', '', '', 1, ?, ?)`, name, at, at)
			execute(t, s, `INSERT INTO links (hash, kind, account_id, scopes, role, page, created_at, expires_at)
				VALUES (?, 'sign-in', 1, '', '', '', 1, ?)`, name, at)
			execute(t, s, `INSERT INTO devices (hash, code, client, address, network, site, state, scopes, ends_at,
				created_at, expires_at) VALUES (?, ?, '', '', '', '', 'pending', '', 0, 1, ?)`, name, name, at)
		}
		want := store.Pruned{Answers: 1, Audit: 1, Tokens: 1, Sessions: 1, Links: 1, Devices: 1}
		if got, err := s.Prune(t.Context(), 400*day, day); got != want || err != nil {
			t.Errorf("got %+v, %v", got, err)
		}
		execute(t, s, "UPDATE audit SET at = 1")
		if got, err := s.Prune(t.Context(), 400*day, day); got != (store.Pruned{}) || err != nil {
			t.Errorf("within a day: %+v, %v", got, err)
		}
		if got, err := s.Prune(t.Context(), 400*day, 0); got != (store.Pruned{Audit: 1}) || err != nil {
			t.Errorf("at once: %+v, %v", got, err)
		}
	})
}

func TestPrune_DeletesMoreThanOnePage(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		execute(t, s, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
			INSERT INTO audit (at, account, actor, token, action, object, detail, request_id, address)
			SELECT 1, '', '', '', '', '', '', '', '' FROM n`)
		if got, err := s.Prune(t.Context(), time.Hour, 0); got != (store.Pruned{Audit: 2500}) || err != nil {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
