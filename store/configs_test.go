package store_test

import (
	"slices"
	"testing"

	"example.com/projecthub/store"
)

func set(body string) store.ConfigChange {
	return func(*store.Config) ([]byte, error) { return []byte(body), nil }
}

// by returns a push of the user.
func by(user string, change store.ConfigChange) store.ConfigWrite {
	return store.ConfigWrite{Author: store.Author{By: user, Via: "push", TokenName: "laptop", RequestID: "r1"}, Change: change}
}

func TestPutConfig_EqualContentChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		var first, second *store.Config
		for _, w := range []struct {
			by   string
			into **store.Config
		}{{"alice", &first}, {"bob", &second}} {
			write(t, s, func(tx *store.Tx) (err error) {
				_, *w.into, err = tx.WriteConfig(t.Context(), web, by(w.by, set(`{"a":1}`)))
				return err
			})
		}
		if second.UpdatedBy != "alice" || second.UpdatedAt != first.UpdatedAt || !second.HasConfig {
			t.Errorf("after equal content: %+v, before: %+v", second.ConfigState, first.ConfigState)
		}
	})
}

func TestWriteConfig_ComputesEachRevisionOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		bodies := store.CountRevisions(t)
		write(t, s, func(tx *store.Tx) error {
			_, after, err := tx.WriteConfig(t.Context(), web, by("alice", set(`{"a":1}`)))
			if err == nil && after.Revision != sumOf(`{"a":1}`) {
				t.Errorf("the revision is %s, want that of the body", after.Revision)
			}
			return err
		})
		if want := []string{"{}", `{"a":1}`}; !slices.Equal(*bodies, want) {
			t.Errorf("revisions were computed of %q, want each of %q once", *bodies, want)
		}
	})
}
