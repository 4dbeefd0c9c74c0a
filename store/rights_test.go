package store_test

import (
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// SQLite tells when what was read with a token may no longer hold, so that a write need not
// read it again.
func TestSameRights_EndWithAChangeOfRights(t *testing.T) {
	address := storetest.SQLite(t)
	s := open(t, address)
	web := project(t, s)
	token := digestOf('a')
	write(t, s, func(tx *store.Tx) error {
		return tx.CreateToken(t.Context(), &store.Token{Hash: token, Owner: "alice"})
	})
	other, err := store.Open(t.Context(), address, store.Options{}) // as another process does
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	same := func(a *store.Admission) (is bool) {
		t.Helper()
		write(t, s, func(tx *store.Tx) error { is = tx.SameRights(a); return nil })
		return is
	}
	revoke := func(tx *store.Tx) error { _, err := tx.RevokeToken(t.Context(), token); return err }
	setRole := func(tx *store.Tx) error { return tx.SetMember(t.Context(), "acme", "alice", "reader") }
	create := func(tx *store.Tx) error { return tx.CreateAccount(t.Context(), "bob", store.KindUser) }

	for _, change := range []struct {
		what string
		by   *store.Store
		f    func(*store.Tx) error
		want bool
	}{
		{"nothing", s, func(*store.Tx) error { return nil }, true},
		{"a config", s, func(tx *store.Tx) error {
			_, _, err := tx.WriteConfig(t.Context(), web, by("alice", set(`{"a":1}`)))
			return err
		}, true},
		{"a role", s, setRole, false},
		{"anything that is done elsewhere", other, create, false},
		{"a revocation elsewhere", other, revoke, false},
		{"a revocation", s, revoke, false},
	} {
		a, err := admission(t, s, store.Asked{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		if !same(a) {
			a, _ = admission(t, s, store.Asked{Token: token}) // what the test did before was another's
		}
		write(t, change.by, change.f)
		if got := same(a); got != change.want {
			t.Errorf("after %s: %v, want %v", change.what, got, change.want)
		}
	}

	a, _ := admission(t, s, store.Asked{Token: token})
	write(t, s, func(tx *store.Tx) error {
		if err := revoke(tx); err != nil {
			return err
		}
		during, err := admission(t, s, store.Asked{Token: token}) // of the state before
		if tx.SameRights(a) || tx.SameRights(during) {
			t.Error("rights are the same in a transaction that changes them")
		}
		a = during
		return err
	})
	if same(a) {
		t.Error("what was read while rights changed counts after it")
	}
}
