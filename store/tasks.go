package store

import (
	"context"
	"time"
)

// due reports whether this hub is the one that now runs a periodic task, which no hub did within a time.
func (s *Store) due(ctx context.Context, name string, every time.Duration) (due bool, err error) {
	err = s.Write(ctx, func(tx *Tx) error {
		due, err = tx.change(`INSERT INTO tasks (name, ran_at) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET ran_at = excluded.ran_at WHERE tasks.ran_at <= ?`,
			name, tx.Now(), tx.Now().Add(-every))
		return err
	})
	return due, err
}

// Pruned counts the rows that Prune deleted.
type Pruned struct{ Answers, Audit, Tokens, Sessions, Links, Devices int }

// pruned is how many rows Prune deletes in one transaction.
const pruned = 1000

// Prune deletes what has ended long ago, and rows of the audit log that are older than a time,
// unless a hub did so within another time. When it fails, it has deleted some.
func (s *Store) Prune(ctx context.Context, audit, every time.Duration) (p Pruned, err error) {
	if due, err := s.due(ctx, "prune", every); err != nil || !due {
		return p, err
	}
	for _, old := range []struct {
		deleted *int
		text    string // deletes at most so many rows from before a time
		age     time.Duration
	}{
		{&p.Answers, pruneAnswers, answersKept}, {&p.Audit, pruneAudit, audit}, {&p.Tokens, pruneTokens, KeepTokens},
		{&p.Sessions, pruneSessions, SessionLife}, {&p.Links, pruneLinks, AccountLinkLife},
		{&p.Devices, pruneDevices, DeviceLife},
	} {
		for n := pruned; n == pruned; *old.deleted += n {
			err := s.Write(ctx, func(tx *Tx) (err error) {
				n, err = tx.count(old.text, tx.Now().Add(-old.age), pruned)
				return err
			})
			if err != nil {
				return p, err
			}
		}
	}
	return p, nil
}
