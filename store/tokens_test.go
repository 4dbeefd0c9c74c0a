package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

func TestPruneTokens_DeletesThoseThatEndedLongAgo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s, ctx := open(t, address), t.Context()
		long, lately := -store.KeepTokens-time.Hour, -store.KeepTokens+time.Hour
		hash := func(name string) string { return fmt.Sprintf("%-64s", name) }
		write(t, s, func(tx *store.Tx) error {
			now, err := tx.Now(ctx)
			if err != nil {
				return err
			}
			at := func(d time.Duration) store.Time { return now + store.Time(d.Microseconds()) }
			for _, token := range []struct {
				name, parent     string
				expires, revoked store.Time
			}{
				{"valid", "", 0, 0}, {"valid for now", "", at(time.Hour), 0},
				{"expired lately", "", at(lately), 0}, {"revoked lately", "", 0, at(lately)}, {"revoked lately, expired", "", 0, at(lately)},
				{"expired", "", at(long), 0}, {"revoked", "", 0, at(long)}, {"revoked, never expired", "valid", at(time.Hour), at(long)},
				{"parent", "valid", 0, at(long)}, {"child", "parent", 0, 0}, // as a terminal that asked twice has it
				{"old child", "revoked", 0, at(long)},
			} {
				row := &store.Token{Hash: hash(token.name), Shown: "x", Name: token.name, Owner: "alice", ExpiresAt: token.expires, RevokedAt: token.revoked}
				parent := token.parent
				if parent != "" {
					parent = hash(parent)
				}
				if err := tx.MintToken(ctx, row, parent); err != nil {
					return err
				}
			}
			return nil
		})
		left := func() (names []string) {
			write(t, s, func(tx *store.Tx) error {
				tokens, err := tx.Tokens(ctx, "alice")
				for _, token := range tokens {
					names = append(names, token.Name)
				}
				return err
			})
			slices.Sort(names)
			return names
		}
		// The parent of a valid token stays, and that of a deleted one for another run.
		for run, want := range []int{3, 1, 0} {
			if n, err := s.PruneTokens(ctx, 0); n != want || err != nil {
				t.Errorf("run %d deleted %d tokens, %v; want %d", run, n, err, want)
			}
		}
		want := []string{"child", "expired lately", "parent", "revoked lately", "revoked lately, expired", "valid", "valid for now"}
		if got := left(); !slices.Equal(got, want) {
			t.Errorf("left: %q, want %q", got, want)
		}
		if n, err := s.PruneTokens(ctx, time.Hour); n != 0 || err != nil {
			t.Errorf("a run within the hour deleted %d tokens, %v", n, err)
		}
		write(t, s, func(tx *store.Tx) error {
			_, err := tx.RevokeToken(ctx, hash("valid"))
			return err
		})
		write(t, s, func(tx *store.Tx) error {
			b, err := tx.Bearer(ctx, hash("child"))
			if err != nil || b.RevokedAt == 0 {
				t.Errorf("the token of a deleted parent is not revoked with what that was created with: %+v, %v", b, err)
			}
			return err
		})
	})
}
