package store_test

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

func numbers(t *testing.T, s *store.Store, project int64, kind store.RevisionKind) []int64 {
	t.Helper()
	list, err := s.View(t.Context()).Numbers(project, kind)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Both kinds share one count, and each is trimmed by its own rows.
func TestTrim_CountsRowsOfAKind(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		s.Retention = store.Retention{Revisions: 5, Bytes: 1 << 30, Lists: 20}
		contents := make([]string, 100)
		for i := range 100 {
			if err := putConfig(t, s, project, fmt.Sprintf(`{"a":%d}`, i), store.Condition{}); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				contents[i] = fmt.Sprint("changed ", i)
				set, blobs := files(t, contents...)
				if err := push(t, s, project, set, blobs); err != nil {
					t.Fatal(err)
				}
			}
			for _, kind := range []store.RevisionKind{store.Config, store.Files} {
				for _, n := range numbers(t, s, project, kind) {
					if _, err := s.View(t.Context()).Numbered(project, kind, n); err != nil {
						t.Fatalf("after %d: r%d: %v", i, n, err)
					}
				}
			}
		}
		if got := numbers(t, s, project, store.Config); !slices.Equal(got, []int64{151, 149, 148, 146, 145}) {
			t.Error("configs:", got)
		}
		if got := numbers(t, s, project, store.Files); len(got) > 21 || !slices.Equal(got[:3], []int64{150, 147, 144}) {
			t.Error("files:", got)
		}
	})
}

func TestTrim_GoesOnAfterAGap(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		s.Retention = store.Retention{Revisions: 5, Bytes: 1 << 30, Lists: 20}
		for i := range 30 {
			if err := putConfig(t, s, project, fmt.Sprintf(`{"a":%d}`, i), store.Condition{}); err != nil {
				t.Fatal(err)
			}
			if i%7 == 0 { // as if somebody had removed a row
				n := numbers(t, s, project, store.Config)
				execute(t, s, "DELETE FROM revisions WHERE project_id = ? AND n = ?", project, n[min(2, len(n)-1)])
			}
		}
		if got := numbers(t, s, project, store.Config); len(got) > 5 {
			t.Error(got)
		}
	})
}

func TestTrim_KeepsByAgeAndBytes(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		put := func(size int) {
			t.Helper()
			body := fmt.Sprintf(`{"a":%q}`, rand.Text())
			for len(body) < size {
				body = body[:len(body)-2] + rand.Text() + `"}`
			}
			if err := putConfig(t, s, project, body, store.Condition{}); err != nil {
				t.Fatal(err)
			}
		}
		s.Retention = store.Retention{Revisions: 2, Age: time.Hour, Bytes: 40_000}
		for range 150 {
			put(100)
		}
		if got := numbers(t, s, project, store.Config); len(got) != 151 {
			t.Error("young:", len(got))
		}
		put(35_000) // makes all others too old, at once
		var rows, bytes int64
		err := s.View(t.Context()).One(sqldb.Row(&rows, &bytes),
			"SELECT count(*), sum(length(body) + length(names)) FROM revisions WHERE project_id = ? AND kind = 'config'",
			project)
		if err != nil || rows < 2 || bytes > 40_000 {
			t.Error(rows, "rows of", bytes, "bytes", err)
		}
		execute(t, s, "UPDATE revisions SET at = at - ? WHERE project_id = ?", 2*time.Hour.Microseconds(), project)
		put(100)
		if got := numbers(t, s, project, store.Config); len(got) != 2 {
			t.Error("old:", len(got))
		}
	})
}

func TestTrimHistories_DropsWhatNoWriteDrops(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		s.Retention = store.Retention{Revisions: 2, Age: time.Hour, Bytes: 1 << 30, Lists: 1}
		put := func(value int) {
			t.Helper()
			if err := putConfig(t, s, project, fmt.Sprintf(`{"a":%d}`, value), store.Condition{}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 9 {
			put(i)
		}
		trim := func(every time.Duration, want, kept int) {
			t.Helper()
			got, err := s.TrimHistories(t.Context(), every)
			if n := len(numbers(t, s, project, store.Config)); err != nil || got != want || n != kept {
				t.Errorf("%d histories were trimmed, want %d; %d configs are kept, want %d; %v", got, want, n, kept, err)
			}
		}
		trim(0, 0, 10) // all are young
		execute(t, s, "UPDATE revisions SET at = at - ? WHERE project_id = ?", 2*time.Hour.Microseconds(), project)
		trim(time.Hour, 0, 10) // it ran a moment ago
		trim(0, 1, 2)
		trim(0, 0, 2)
		set, blobs := files(t, "one")
		if err := push(t, s, project, set, blobs); err != nil {
			t.Fatal(err)
		}
		trim(0, 0, 2)
		put(9)
		trim(0, 0, 2)
	})
}

// Whatever lists follow each other, each that is kept can be read.
func TestWriteFiles_AnyHistoryCanBeRead(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		seed := mathrand.Uint64()
		r := mathrand.New(mathrand.NewPCG(seed, 1))
		var trees []string
		contents := []string{}
		for range 60 {
			for range 1 + r.IntN(300) {
				switch {
				case len(contents) > 0 && r.IntN(3) == 0:
					contents = slices.Delete(contents, 0, 1+r.IntN(len(contents)))
				case len(contents) > 0 && r.IntN(2) == 0:
					contents[r.IntN(len(contents))] = fmt.Sprint(r.IntN(50))
				default:
					contents = append(contents, make([]string, r.IntN(100))...)
				}
			}
			if len(trees) > 0 && r.IntN(5) == 0 { // the same again
				contents = slices.Clone(contents)
			}
			set, blobs := files(t, contents...)
			if err := push(t, s, project, set, blobs); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if len(trees) == 0 || trees[len(trees)-1] != set.Digest() {
				trees = append(trees, set.Digest())
			}
			kept, err := s.View(t.Context()).History(project, store.Files, 0, 100)
			if err != nil || len(kept) < min(len(trees), 20) || len(kept) > 21 {
				t.Fatalf("seed %d: %d of %d are kept, %v", seed, len(kept), len(trees), err)
			}
			for i, k := range kept[:min(len(kept), 20)] {
				got, err := s.View(t.Context()).Numbered(project, store.Files, k.N)
				if err != nil || got.Digest != trees[len(trees)-1-i] {
					t.Fatalf("seed %d, r%d: %v", seed, k.N, err)
				}
			}
		}
	})
}
