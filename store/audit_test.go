package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/store"
)

// auditRows returns what rows say, oldest first: the account, actor and action of each.
func auditRows(t *testing.T, s *store.Store, f store.AuditFilter) (said []string) {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	rows, err := s.View(t.Context()).AuditRows(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range slices.Backward(rows) {
		said = append(said, strings.Join([]string{r.Account, r.Actor, r.Action}, " "))
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
			write(t, s, func(tx *store.Tx) error { return tx.Audit(row) })
		}
		acme := []string{"acme alice token.create", "acme hub token.revoke"}
		for _, c := range []struct {
			filter store.AuditFilter
			want   []string
		}{
			{store.AuditFilter{}, append(acme[:2:2], "bob alice tokens.other", "bob alice project.delete")},
			{store.AuditFilter{Limit: 1}, []string{"bob alice project.delete"}},
			{store.AuditFilter{Account: "acme"}, acme},
			{store.AuditFilter{Actor: "hub"}, acme[1:]},
			{store.AuditFilter{Action: "token"}, acme},
			{store.AuditFilter{Action: "token.create"}, acme[:1]},
			{store.AuditFilter{Account: "bob", Action: "token"}, nil},
			{store.AuditFilter{Since: store.At(time.Now().Add(time.Hour))}, nil},
		} {
			if got := auditRows(t, s, c.filter); !slices.Equal(got, c.want) {
				t.Errorf("%+v: got %q, want %q", c.filter, got, c.want)
			}
		}
	})
}

func TestAudit_KeepsAllFields(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		want := store.AuditRow{
			Account: "acme", Actor: "alice", Token: "hubpat_abcde", Action: "config.write", Object: "@acme/web",
			Detail: "1f", RequestID: "id", Address: "203.0.113.9",
		}
		write(t, s, func(tx *store.Tx) error { return tx.Audit(want) })
		rows, err := s.View(t.Context()).AuditRows(store.AuditFilter{Limit: 9})
		if err != nil || len(rows) != 1 || rows[0].ID == 0 || rows[0].At == 0 {
			t.Fatalf("%+v, %v", rows, err)
		}
		if want.ID, want.At = rows[0].ID, rows[0].At; rows[0] != want {
			t.Errorf("got %+v, want %+v", rows[0], want)
		}
	})
}
