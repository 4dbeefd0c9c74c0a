package store

import (
	"context"
	"fmt"
	"time"
)

// due reports whether no hub has run a periodic task within the time every. It notes that this hub runs it now.
func (s *Store) due(ctx context.Context, name string, every time.Duration) (due bool, err error) {
	err = s.Write(ctx, func(tx *Tx) error {
		due, err = tx.change(`INSERT INTO tasks (name, ran_at) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET ran_at = excluded.ran_at WHERE tasks.ran_at <= ?`,
			name, tx.Now(), tx.Now().Add(-every))
		return err
	})
	return due, err
}

// Pruned counts the rows that Prune has deleted.
type Pruned struct{ Answers, Audit, Tokens, Sessions, Links, Devices, Drafts int }

// pruneRows is how many rows Prune deletes in one transaction, at most.
const pruneRows = 1000

// Prune deletes answers, tokens, sessions, links, devices and drafts that ended long ago, and rows of the audit log
// that are older than audit. It does nothing if a hub did so within the time every. If it fails, it has deleted some.
func (s *Store) Prune(ctx context.Context, audit, every time.Duration) (p Pruned, err error) {
	if due, err := s.due(ctx, "prune", every); err != nil || !due {
		return p, err
	}
	for _, old := range []struct {
		deleted    *int // the count of these rows
		table, key string
		where      string        // selects the rows from before a time
		age        time.Duration // of the rows that are deleted, at least
	}{
		{&p.Answers, "answers", "caller, route, key", "created_at < ? ORDER BY created_at", answersKept},
		{&p.Audit, "audit", "id", "at < ? ORDER BY at", audit},
		// A token with which others were created stays until they are deleted: a revocation of its parent
		// revokes them through it.
		{&p.Tokens, "tokens", "id", `COALESCE(NULLIF(revoked_at, 0), NULLIF(expires_at, 0)) < ?
			AND NOT EXISTS (SELECT 1 FROM tokens c WHERE c.parent_id = tokens.id)`, KeepTokens},
		{&p.Sessions, "sessions", "id", "seen_at < ? ORDER BY seen_at", SessionLife},
		// The page can say for a day why a link that has expired does not work.
		{&p.Links, "links", "id", "expires_at < ? ORDER BY expires_at", AccountLinkLife},
		{&p.Devices, "devices", "hash", "expires_at < ? ORDER BY expires_at", DeviceLife},
		{&p.Drafts, "drafts", "hash", "expires_at < ? ORDER BY expires_at", 0},
	} {
		text := fmt.Sprintf("DELETE FROM %[1]s WHERE (%[2]s) IN (SELECT %[2]s FROM %[1]s WHERE %[3]s LIMIT ?)",
			old.table, old.key, old.where)
		for n := pruneRows; n == pruneRows; *old.deleted += n {
			err := s.Write(ctx, func(tx *Tx) (err error) {
				n, err = tx.count(text, tx.Now().Add(-old.age), pruneRows)
				return err
			})
			if err != nil {
				return p, err
			}
		}
	}
	return p, nil
}
