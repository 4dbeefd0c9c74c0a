package store_test

import (
	"strings"
	"testing"

	"example.com/projecthub/store"
)

func TestAddContents_StoresEqualContentsOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
		row := func(digest string, start int64) store.Blob {
			return store.Blob{SHA256: digest, Size: 1, Stream: "s", Start: start}
		}
		for range 2 {
			write(t, s, func(tx *store.Tx) error {
				return tx.AddBlobs(t.Context(), "acme", nil, []store.Blob{row(b, 0), row(a, 1), row(b, 2), row(a, 3)})
			})
		}
		write(t, s, func(tx *store.Tx) error {
			got, err := tx.Blobs(t.Context(), "acme", []string{a, b})
			if len(got) != 2 || got[a].Start != 1 || got[b].Start != 0 {
				t.Errorf("stored %+v", got)
			}
			return err
		})
	})
}
