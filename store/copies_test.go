package store_test

import (
	"context"
	"crypto/rand"
	"testing"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// The source is deleted between the copy of its config and that of its base files.
func TestCopyContents_CopiesAllOrNothing(t *testing.T) {
	name := "test_" + rand.Text()
	address := storetest.Postgres(t) // SQLite runs one write after the other
	s := open(t, address+"&application_name="+name)
	web := project(t, s)
	writeConfig(t, s, web, counted("alice", `{"a":1}`))
	tree := mustPut(t, s, web, map[string]string{"a": "alpha"})
	copied, deleted := mustRef(t, "@acme/copy"), make(chan error, 1)
	write(t, s, func(tx *store.Tx) error {
		p := webProject()
		p.Slug = copied.Slug()
		if err := tx.CreateProject(t.Context(), p); err != nil {
			return err
		}
		w := store.ConfigWrite{Author: store.Author{By: "alice"}}
		w.Count = func(from, to []byte) (store.KeyCounts, error) {
			settled := make(chan error, 1)
			go func() {
				err := s.Write(context.Background(), func(tx *store.Tx) error {
					_, err := tx.DeleteProject(context.Background(), web, "alice")
					return err
				})
				settled <- err
				deleted <- err
			}()
			awaitLockOr(t, address, name, settled)
			counts, err := flat.Count(from, to)
			return store.KeyCounts(counts), err
		}
		return tx.CopyContents(t.Context(), copied, web, w)
	})
	if err := <-deleted; err != nil {
		t.Error(err)
	}
	err := s.Read(t.Context(), func(v *store.View) error {
		digest, err := v.SnapshotDigest(t.Context(), copied)
		if digest != tree {
			t.Errorf("the base files of the copy are %q, want %s", digest, tree)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
