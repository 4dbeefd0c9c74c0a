package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// auditRows returns what rows say, oldest first: the account, actor and action of each.
func auditRows(t *testing.T, s *store.Store, f store.AuditFilter) (said []string) {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	if err := s.Read(t.Context(), func(v *store.View) error {
		rows, err := v.AuditRows(t.Context(), f)
		for _, r := range slices.Backward(rows) {
			said = append(said, strings.Join([]string{r.Account, r.Actor, r.Action}, " "))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return said
}

func TestAuditRows_Filters(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		for _, row := range []store.AuditRow{
			{Account: "acme", Actor: "alice", Action: "token.create"},
			{Account: "acme", Actor: "hub", Action: "token.revoke"},
			{Account: "bob", Actor: "alice", Action: "tokens.other"},
			{Account: "bob", Actor: "alice", Action: "project.delete"},
		} {
			write(t, s, func(tx *store.Tx) error { return tx.Audit(t.Context(), row) })
		}
		for _, c := range []struct {
			filter store.AuditFilter
			want   []string
		}{
			{store.AuditFilter{}, []string{"acme alice token.create", "acme hub token.revoke", "bob alice tokens.other", "bob alice project.delete"}},
			{store.AuditFilter{Limit: 1}, []string{"bob alice project.delete"}},
			{store.AuditFilter{Account: "acme"}, []string{"acme alice token.create", "acme hub token.revoke"}},
			{store.AuditFilter{Actor: "hub"}, []string{"acme hub token.revoke"}},
			{store.AuditFilter{Action: "token"}, []string{"acme alice token.create", "acme hub token.revoke"}},
			{store.AuditFilter{Action: "token.create"}, []string{"acme alice token.create"}},
			{store.AuditFilter{Account: "bob", Action: "token"}, nil},
			{store.AuditFilter{Since: store.At(time.Now().Add(time.Hour))}, nil},
		} {
			if got := auditRows(t, s, c.filter); !slices.Equal(got, c.want) {
				t.Errorf("%+v: got %q, want %q", c.filter, got, c.want)
			}
		}
	})
}

func TestPruneAudit_DeletesOldRowsOfEachAccount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s, ctx := open(t, address), t.Context()
		write(t, s, func(tx *store.Tx) error {
			for i := range 1100 { // more than one transaction deletes
				if err := tx.Audit(ctx, store.AuditRow{Account: fmt.Sprint("org", i%2*i%3), Action: "a.old"}); err != nil {
					return err
				}
			}
			return nil
		})
		execute(t, address, fmt.Sprintf("UPDATE audit SET at = at - %d", time.Hour.Microseconds()))
		write(t, s, func(tx *store.Tx) error { return tx.Audit(ctx, store.AuditRow{Account: "org0", Action: "a.new"}) })
		for i, want := range []int{1100, 0} {
			if n, err := s.PruneAudit(ctx, time.Minute, 0); n != want || err != nil {
				t.Errorf("run %d deleted %d rows, %v; want %d", i, n, err, want)
			}
		}
		if got := auditRows(t, s, store.AuditFilter{}); !slices.Equal(got, []string{"org0  a.new"}) {
			t.Errorf("left: %q", got)
		}
		if n, err := s.PruneAudit(ctx, 0, time.Hour); n != 0 || err != nil {
			t.Errorf("a run within the hour deleted %d rows, %v", n, err)
		}
	})
}

// A user whose tokens are revoked already may have sessions.
func TestRevokeTokensOf_CountsWhatEnded(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		signIn(t, s, hashOf(1), "")
		for _, want := range []store.Revoked{{Sessions: 1}, {}} {
			write(t, s, func(tx *store.Tx) error {
				got, err := tx.RevokeTokensOf(t.Context(), "alice")
				if got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				return err
			})
		}
	})
}
