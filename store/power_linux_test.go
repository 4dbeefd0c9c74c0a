package store_test

import (
	"errors"
	"path/filepath"
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// After a failed sync, a later one succeeds without the pages that the failed one should have
// written, among them those of writes that did not wait for the disk.
func TestWrite_AfterAFailedSyncIsKeptWithAllThatItFollows(t *testing.T) {
	t.Parallel()
	d := storetest.NewDisk(t)
	address := "sqlite:" + filepath.Join(d.Dir, "hub.db")
	s := storetest.Open(t, address)
	create := func(name string) func(*store.Tx) error {
		return func(tx *store.Tx) error { return tx.CreateAccount(t.Context(), name, store.KindUser) }
	}
	if err := s.WriteUnsynced(t.Context(), create("unsynced")); err != nil {
		t.Fatal(err)
	}
	d.Fail()
	if err := s.Write(t.Context(), create("refused")); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("while the disk fails to sync: %v", err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("ready while the disk fails to sync: %v", err)
	}
	d.Heal()
	if err := s.Write(t.Context(), create("acknowledged")); err != nil {
		t.Fatal(err)
	}
	d.Protect() // so that closing writes nothing
	s.Close()
	d.Cut(0)
	s = storetest.Open(t, address)
	defer s.Close()
	for _, name := range []string{"unsynced", "acknowledged"} {
		if err := s.Write(t.Context(), create(name)); !errors.Is(err, store.ErrExists) {
			t.Errorf("%s after a power cut: %v", name, err)
		}
	}
}
