package store_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
)

func TestCollect_SkipsDamagedContents(t *testing.T) {
	keepTrees(t, 1)
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		set := map[string]string{}
		for i := range 40 {
			set[fmt.Sprintf("f%02d", i)] = strings.Repeat(fmt.Sprint("content ", i), 1000)
		}
		if err := pushed(t.Context(), s, web, set, slices.Collect(maps.Keys(set))); err != nil {
			t.Fatal(err)
		}
		// Six are left of the only pack, so that they are to be moved; a byte of one is another.
		damaged := set["f03"]
		write(t, s, func(tx *store.Tx) error {
			return tx.ReplacePacks(t.Context(), func(body []byte) []byte {
				return []byte(strings.Replace(string(body), damaged[:100], "?"+damaged[1:100], 1))
			})
		})
		kept := map[string]string{}
		for _, name := range []string{"f01", "f02", "f03", "f04", "f05", "f06"} {
			kept[name] = set[name]
		}
		write(t, s, func(tx *store.Tx) error { return swapTo(t.Context(), tx, web, entriesOf(kept)) })
		var moved, removed int
		for range 3 {
			c, err := s.Collect(t.Context(), none)
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), sumOf(damaged)) {
				t.Errorf("%+v, %v: want an error that names what is damaged", c, err)
			}
			moved, removed = moved+c.Moved, removed+c.Blobs
		}
		if moved != 5 || removed != 34 {
			t.Errorf("%d contents were moved and %d removed, want 5 and 34", moved, removed)
		}
		delete(kept, "f03")
		files, err := tree.New(entriesOf(kept))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(t.Context(), s, files); err != nil {
			t.Error(err)
		}
		// Once it is uploaded again there is nothing to report.
		kept["f03"] = damaged
		if err := pushed(t.Context(), s, web, kept, []string{"f03"}); err != nil {
			t.Fatal(err)
		}
		collect(t, s, none)
		if _, err := readAll(t.Context(), s, files); err != nil {
			t.Error(err)
		}
	})
}

func TestCollect_MovesContentsInTheOrderOfTheirSet(t *testing.T) {
	keepTrees(t, 1)
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		set := map[string]string{}
		for i := range 60 { // one push each, the last file first, next to what is removed again
			name := fmt.Sprintf("f%02d", 59-i)
			set[name] = strings.Repeat(name, 50)
			set["gone"] = strings.Repeat(fmt.Sprint("gone", i), 500)
			if err := pushed(t.Context(), s, web, set, []string{name, "gone"}); err != nil {
				t.Fatal(err)
			}
		}
		delete(set, "gone")
		write(t, s, func(tx *store.Tx) error { return swapTo(t.Context(), tx, web, entriesOf(set)) })
		collect(t, s, none)
		files, err := tree.New(entriesOf(set))
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		err = s.Read(t.Context(), func(v *store.View) error {
			reader := v.BlobReader("acme")
			stored, err := reader.Locate(t.Context(), files)
			for _, f := range stored {
				order = append(order, f.Path)
				err = errors.Join(err, reader.Copy(t.Context(), io.Discard, f.Blob))
			}
			return err
		})
		if diff := cmp.Diff(slices.Sorted(maps.Keys(set)), order); diff != "" || err != nil {
			t.Errorf("%v: the files are stored in another order: %s", err, diff)
		}
		if n, bytes := packs(t, s); n > 61 {
			t.Errorf("%d packs of %d bytes", n, bytes)
		}
	})
}
