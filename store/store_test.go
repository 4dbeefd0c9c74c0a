package store_test

import (
	"errors"
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// each runs f with an empty, migrated store, once a database.
func each(t *testing.T, f func(*testing.T, *store.Store)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		t.Parallel()
		f(t, open(t, address))
	})
}

func open(t testing.TB, address string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), address, store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMigrate_IsDoneOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		if err := s.CheckSchema(t.Context()); err != nil {
			t.Error(err)
		}
		if done, err := s.Migrate(t.Context()); err != nil || len(done) != 0 {
			t.Error(done, err)
		}
	})
}

func TestAccess_UnknownTokenOrSession(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		for _, a := range []store.AccessQuery{
			{Token: "x", Account: "acme", Kind: store.KindProject, Slug: "web"}, {Session: "x"},
		} {
			if _, err := s.View(t.Context()).Access(a); !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
		}
	})
}
