package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/store"
	"example.com/projecthub/store/objects"
	"example.com/projecthub/store/storetest"
)

// withObjects runs f for both databases, with packs in a directory.
func withObjects(t *testing.T, f func(t *testing.T, s *store.Store, dir string)) {
	storetest.Each(t, func(t *testing.T, address string) {
		dir := filepath.Join(t.TempDir(), "blobs")
		f(t, openWith(t, address, directory(t, dir)), dir)
	})
}

func directory(t testing.TB, dir string) objects.Store {
	t.Helper()
	d, err := objects.Open("file:"+dir, true)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// openWith is open with packs in an object store.
func openWith(t testing.TB, address string, outside objects.Store) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), address, store.Options{Create: true, Objects: outside})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.UseObjects(t.Context()); err != nil {
		t.Fatal(err)
	}
	addAccounts(t, s)
	return s
}

// keys returns the keys of the packs in an object store.
func keys(t testing.TB, outside objects.Store) (all []string) {
	t.Helper()
	err := outside.List(context.Background(), func(key string) error {
		if key != store.MarkKey {
			all = append(all, key)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestObjects_KeepPacksOutsideTheDatabase(t *testing.T) {
	withObjects(t, func(t *testing.T, s *store.Store, dir string) {
		web := project(t, s)
		blobs := map[string]string{"a": "alpha", "b": string(bytes.Repeat([]byte("b"), 1000)), "empty": ""}
		if err := put(t.Context(), s, web, blobs); err != nil {
			t.Fatal(err)
		}
		if n := len(keys(t, directory(t, dir))); n != 1 {
			t.Errorf("%d objects, want one pack", n)
		}
		s.Read(t.Context(), func(v *store.View) error {
			if size, err := v.LargestPack(t.Context()); size != 0 || err != nil {
				t.Errorf("a pack in the database has %d bytes: %v", size, err)
			}
			return nil
		})
		got, err := get(t.Context(), s, web)
		if diff := cmp.Diff(blobs, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		if _, err := s.Check(t.Context(), false, func(p store.Problem) { t.Error(p.Cause) }); err != nil {
			t.Error(err)
		}
	})
}

func TestCollect_RemovesObjectsAfterGracePeriod(t *testing.T) {
	keepTrees(t, 1)
	withObjects(t, func(t *testing.T, s *store.Store, dir string) {
		web, outside := project(t, s), directory(t, dir)
		for _, blobs := range []map[string]string{{"a": "alpha"}, {"b": "beta"}} {
			if err := put(t.Context(), s, web, blobs); err != nil {
				t.Fatal(err)
			}
		}
		if c := collect(t, s, store.DefaultGrace); c != (store.Collected{}) || len(keys(t, outside)) != 2 {
			t.Errorf("within the grace: %+v, %q", c, keys(t, outside))
		}
		if c := collect(t, s, none); c.Packs != 1 || c.Objects != 1 || len(keys(t, outside)) != 1 {
			t.Errorf("after it: %+v, %q", c, keys(t, outside))
		}
		if got, err := get(t.Context(), s, web); err != nil || got["b"] != "beta" {
			t.Errorf("%v %q", err, got)
		}
	})
}

func TestBackup_MovesPacksBetweenDatabaseAndObjects(t *testing.T) {
	blobs := map[string]string{"a": "alpha", "b": "beta"}
	storetest.Each(t, func(t *testing.T, address string) {
		inside := open(t, address)
		web := project(t, inside)
		if err := put(t.Context(), inside, web, blobs); err != nil {
			t.Fatal(err)
		}
		first := backupOf(t, inside)
		outside := directory(t, t.TempDir())
		moved := restored(t, first, outside)
		if got, err := get(t.Context(), moved, web); len(keys(t, outside)) != 1 || err != nil || !cmp.Equal(got, blobs) {
			t.Errorf("moved out: %q, %v %q", keys(t, outside), err, got)
		}
		second := backupOf(t, moved)
		if got, want := sortedLines(t, second), sortedLines(t, first); got != want {
			t.Errorf("a backup of it is\n%s\nnot\n%s", got, want)
		}
		back := restored(t, second, nil)
		if got, err := get(t.Context(), back, web); err != nil || !cmp.Equal(got, blobs) {
			t.Errorf("moved back: %v %q", err, got)
		}
	})
}

// restored returns a new database that is filled from a backup.
func restored(t *testing.T, backup []byte, outside objects.Store) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), storetest.SQLite(t), store.Options{Create: true, Objects: outside})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Restore(t.Context(), bytes.NewReader(backup)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBackup_SaysThatAnObjectIsMissing(t *testing.T) {
	outside := directory(t, t.TempDir())
	s := openWith(t, storetest.SQLite(t), outside)
	if err := put(t.Context(), s, project(t, s), map[string]string{"a": "alpha"}); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys(t, outside) {
		if strings.HasPrefix(key, "packs/") {
			if err := outside.Remove(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Backup(t.Context(), io.Discard); !errors.Is(err, store.ErrMissing) {
		t.Errorf("%v", err)
	}
}

func TestRestore_RemovesObjectsAfterFailure(t *testing.T) {
	inside := open(t, storetest.SQLite(t))
	if err := put(t.Context(), inside, project(t, inside), map[string]string{"a": "alpha"}); err != nil {
		t.Fatal(err)
	}
	backup := backupOf(t, inside)
	outside := directory(t, t.TempDir())
	s, err := store.Open(t.Context(), storetest.SQLite(t), store.Options{Create: true, Objects: outside})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Restore(t.Context(), bytes.NewReader(append(bytes.Clone(backup), backup...))); !errors.Is(err, store.ErrBackup) {
		t.Errorf("%v, want that it is no backup", err)
	}
	if left := keys(t, outside); left != nil {
		t.Errorf("%q is left", left)
	}
	if _, err := s.Restore(t.Context(), bytes.NewReader(backup)); err != nil || len(keys(t, outside)) != 1 {
		t.Errorf("then the whole one: %v, %q", err, keys(t, outside))
	}
}

func TestUseObjects_RefusesAnotherStore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		dir := t.TempDir()
		s := openWith(t, address, directory(t, dir))
		project(t, s)
		other := directory(t, t.TempDir())
		moved := filepath.Join(t.TempDir(), "moved")
		if err := os.CopyFS(moved, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			given objects.Store
			fine  bool
		}{"the same": {directory(t, dir), true}, "none": {nil, false}, "another": {other, false}, "a copy": {directory(t, moved), true}} {
			again, err := store.Open(t.Context(), address, store.Options{Objects: c.given})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			var refused *store.OtherObjectsError
			if err := again.UseObjects(t.Context()); (err == nil) != c.fine || err != nil && !errors.As(err, &refused) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if left := keys(t, other); left != nil {
			t.Errorf("the refused one contains %q", left)
		}
	})
}

func TestUseObjects_RefusesWhatIsOfAnotherDatabase(t *testing.T) {
	dir := t.TempDir()
	openWith(t, storetest.SQLite(t), directory(t, dir))
	inside := storetest.Open(t, storetest.SQLite(t))
	for name, address := range map[string]string{"a new database": storetest.SQLite(t), "one with blobs": ""} {
		if address == "" {
			address = storetest.SQLite(t)
			open(t, address)
		}
		s, err := store.Open(t.Context(), address, store.Options{Create: true, Objects: directory(t, dir)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		var refused *store.OtherObjectsError
		if err := s.UseObjects(t.Context()); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := inside.UseObjects(t.Context()); err != nil {
		t.Errorf("a database without objects: %v", err)
	}
}

func TestCheck_ReportsObjectsThatNoRowNames(t *testing.T) {
	withObjects(t, func(t *testing.T, s *store.Store, dir string) {
		web, outside := project(t, s), directory(t, dir)
		if err := put(t.Context(), s, web, map[string]string{"a": "alpha"}); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"packs/acme/AB/ABC", "packs/stranger/AB/ABC", "notes.txt"} {
			if err := outside.Put(t.Context(), key, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		for _, repair := range []bool{false, true} {
			var problems []string
			_, err := s.Check(t.Context(), repair, func(p store.Problem) {
				problems = append(problems, p.Cause.Error())
				if strings.Contains(p.Remedy, "--repair") == repair {
					t.Errorf("with --repair %v: %s", repair, p.Remedy)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) != 1 || !strings.Contains(problems[0], "2 objects") {
				t.Errorf("%q, want 2 objects", problems)
			}
		}
		if c := collect(t, s, none); c.Objects != 1 || slices.Contains(keys(t, outside), "packs/acme/AB/ABC") {
			t.Errorf("after the repair: %+v, %q", c, keys(t, outside))
		}
	})
}

func TestCheck_ReportsLostObject(t *testing.T) {
	withObjects(t, func(t *testing.T, s *store.Store, dir string) {
		web, outside := project(t, s), directory(t, dir)
		blobs := map[string]string{"a": "alpha"}
		if err := put(t.Context(), s, web, blobs); err != nil {
			t.Fatal(err)
		}
		if err := outside.Remove(t.Context(), keys(t, outside)[0]); err != nil {
			t.Fatal(err)
		}
		var problems []error
		if _, err := s.Check(t.Context(), true, func(p store.Problem) { problems = append(problems, p.Cause) }); err != nil {
			t.Fatal(err)
		}
		if len(problems) != 1 || !errors.Is(problems[0], store.ErrDamaged) {
			t.Errorf("%v", problems)
		}
		if err := put(t.Context(), s, web, blobs); err != nil {
			t.Errorf("the same files again: %v", err)
		}
		if got, err := get(t.Context(), s, web); err != nil || !cmp.Equal(got, blobs) {
			t.Errorf("then: %v %q", err, got)
		}
	})
}

// waitFor is a writer that calls then once, before it takes the first bytes.
type waitFor struct{ then func() }

func (w *waitFor) Write(p []byte) (int, error) {
	if w.then != nil {
		w.then()
	}
	w.then = nil
	return len(p), nil
}

func TestCollect_TakesNoObjectsDuringBackup(t *testing.T) {
	keepTrees(t, 1)
	withObjects(t, func(t *testing.T, s *store.Store, dir string) {
		web := project(t, s)
		noise := make([]byte, 2<<20) // so that the backup's first bytes leave before its end
		rand.Read(noise)
		for _, blobs := range []map[string]string{{"a": string(noise)}, {"b": "beta"}} {
			if err := put(t.Context(), s, web, blobs); err != nil {
				t.Fatal(err)
			}
		}
		w := &waitFor{func() {
			if c := collect(t, s, none); c.Packs != 1 || c.Objects != 0 {
				t.Errorf("during the backup: %+v", c)
			}
		}}
		if _, err := s.Backup(t.Context(), w); err != nil {
			t.Error(err)
		}
		if c := collect(t, s, none); c.Objects != 1 {
			t.Errorf("after it: %+v", c)
		}
	})
}
