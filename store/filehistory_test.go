package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// keepTrees has the hub keep so many trees.
func keepTrees(t *testing.T, n int64) {
	t.Helper()
	former := store.KeptTrees
	store.KeptTrees = n
	t.Cleanup(func() { store.KeptTrees = former })
}

func fileHistory(t *testing.T, s *store.Store, r ref.Ref) (entries []store.FilesEntry) {
	t.Helper()
	err := s.Read(t.Context(), func(v *store.View) (err error) {
		entries, err = v.FileHistory(t.Context(), r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func former(t *testing.T, s *store.Store, r ref.Ref, digest string) (files tree.Tree, err error) {
	t.Helper()
	err = s.Read(t.Context(), func(v *store.View) (err error) {
		files, err = v.FormerTree(t.Context(), r, digest)
		return err
	})
	return files, err
}

// mustPut pushes contents by their paths, and returns the digest of their tree.
func mustPut(t *testing.T, s *store.Store, r ref.Ref, contents map[string]string) string {
	t.Helper()
	if err := put(t.Context(), s, r, contents); err != nil {
		t.Fatal(err)
	}
	var digest string
	err := s.Read(t.Context(), func(v *store.View) (err error) {
		digest, err = v.SnapshotDigest(t.Context(), r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// restore makes a former tree the present one.
func restore(t *testing.T, s *store.Store, r ref.Ref, digest string) error {
	t.Helper()
	return s.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.SwapSnapshot(t.Context(), r, store.Swap{
			Author: store.Author{By: "bob", Via: "api", TokenName: "ci", RequestID: "r2"}, Tree: digest,
			Next: func(tree.Tree) (tree.Tree, error) { return tx.FormerTree(t.Context(), r, digest) },
		})
		return err
	})
}

func TestFileHistory_HasEachTree(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		if got := fileHistory(t, s, web); len(got) != 0 {
			t.Errorf("without base files: %+v", got)
		}
		one := map[string]string{"a": "alpha", "b": "beta"}
		first := mustPut(t, s, web, one)
		mustPut(t, s, web, one) // changes nothing
		second := mustPut(t, s, web, map[string]string{"a": "gamma", "c": "beta", "d": "delta"})
		if err := restore(t, s, web, first); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range fileHistory(t, s, web) {
			got = append(got, fmt.Sprintf("%d %s<%.4s %s %s %s %s %d files +%d~%d-%d", e.N, e.Tree[:4], e.Parent, e.UpdatedBy, e.UpdatedVia, e.TokenName, e.RequestID, e.Count, e.Added, e.Changed, e.Removed))
		}
		want := []string{
			"3 " + first[:4] + "<" + second[:4] + " bob api ci r2 2 files +1~1-2",
			"2 " + second[:4] + "<" + first[:4] + " alice    3 files +2~1-1",
			"1 " + first[:4] + "< alice    2 files +2~0-0",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if files, err := get(t.Context(), s, web); err != nil || !cmp.Equal(files, one) {
			t.Errorf("after the restore: %v, %v", files, err)
		}
		if _, err := former(t, s, web, strings.Repeat("0", 64)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a tree that never was: %v", err)
		}
	})
}

// Whatever is pushed, and however often garbage is collected: each tree in the history
// can be restored with all of its contents, and nothing else is kept.
func TestFileHistory_KeepsWhatItsTreesNeed(t *testing.T) {
	keepTrees(t, 4)
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		r := rand.New(rand.NewPCG(1, 2))
		contents := map[string]map[string]string{} // of each tree
		var pushed []string
		for range 40 {
			files := map[string]string{}
			for range 1 + r.IntN(4) {
				files[fmt.Sprint("f", r.IntN(5))] = fmt.Sprint("content ", r.IntN(8))
			}
			digest := ""
			if len(pushed) > 2 && r.IntN(4) == 0 {
				digest = pushed[len(pushed)-2-r.IntN(2)]
				if err := restore(t, s, web, digest); err != nil {
					t.Fatal(err)
				}
			} else {
				digest = mustPut(t, s, web, files)
				contents[digest] = files
			}
			if len(pushed) == 0 || pushed[len(pushed)-1] != digest {
				pushed = append(pushed, digest)
			}
			if r.IntN(2) == 0 {
				collect(t, s, none)
			}
			kept := slices.Clone(pushed[max(0, len(pushed)-4):])
			slices.Reverse(kept)
			var listed []string
			for _, e := range fileHistory(t, s, web) {
				listed = append(listed, e.Tree)
			}
			if !slices.Equal(listed, kept) {
				t.Fatalf("the history is %v, want %v", listed, kept)
			}
			needed := map[string]bool{}
			for _, digest := range kept {
				files, err := former(t, s, web, digest)
				if err != nil || len(files) != len(contents[digest]) {
					t.Fatalf("%s: %v, %v", digest, files, err)
				}
				for _, e := range files {
					needed[e.SHA256] = true
					if got, err := content(t, s, e.SHA256); err != nil || got != contents[digest][e.Path] {
						t.Fatalf("%s in %s: %q, %v", e.Path, digest, got, err)
					}
				}
			}
			if c := collect(t, s, none); c.Blobs > 0 {
				collect(t, s, none)
			}
			if n := blobs(t, s); n != len(needed) {
				t.Fatalf("%d contents are stored, the history needs %d", n, len(needed))
			}
		}
		purge(t, s, web)
		collect(t, s, none)
		if n := blobs(t, s); n != 0 {
			t.Errorf("%d contents are left of a project that is gone", n)
		}
	})
}

func content(t *testing.T, s *store.Store, digest string) (text string, err error) {
	t.Helper()
	err = s.Read(t.Context(), func(v *store.View) error {
		there, err := v.Blobs(t.Context(), "acme", []string{digest})
		if err != nil {
			return err
		}
		var b bytes.Buffer
		err = v.BlobReader("acme").Copy(t.Context(), &b, there[digest])
		text = b.String()
		return err
	})
	return text, err
}

func blobs(t *testing.T, s *store.Store) int {
	t.Helper()
	n := 0
	err := s.Read(t.Context(), func(v *store.View) error {
		all, err := v.BlobDigests(t.Context())
		n = len(all)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A blob that leaves the history has its grace period from then on, however long ago it
// was pushed.
func TestFileHistory_BlobsThatLeaveItHaveAGracePeriod(t *testing.T) {
	keepTrees(t, 2)
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		for i := range 2 {
			mustPut(t, s, web, map[string]string{"a": fmt.Sprint(i)})
		}
		execute(t, address, fmt.Sprintf("UPDATE contents SET touched_at = touched_at - %d", (48*time.Hour).Microseconds()))
		collect(t, s, time.Hour) // has looked at all that was touched before
		mustPut(t, s, web, map[string]string{"a": "2"})
		if c := collect(t, s, time.Hour); c.Blobs != 0 || blobs(t, s) != 3 {
			t.Errorf("a moment after it left: %+v", c)
		}
		if c := collect(t, s, none); c.Blobs != 1 || blobs(t, s) != 2 {
			t.Errorf("after its grace period: %+v", c)
		}
	})
}

// A hub of the release before replaces base files without a row. What it found cannot
// be reached any more, and is not promised.
func TestFileHistory_BeginsAnewAfterAHubOfTheReleaseBefore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		first := mustPut(t, s, web, map[string]string{"a": "1"})
		second := mustPut(t, s, web, map[string]string{"a": "2"})
		execute(t, address, "DELETE FROM file_history WHERE n = 2")
		if got := fileHistory(t, s, web); len(got) != 1 || got[0].Tree != second {
			t.Errorf("%+v", got)
		}
		third := mustPut(t, s, web, map[string]string{"a": "3"})
		var listed []string
		for _, e := range fileHistory(t, s, web) {
			listed = append(listed, e.Tree)
		}
		if want := []string{third, second}; !slices.Equal(listed, want) {
			t.Errorf("%v, want %v", listed, want)
		}
		if _, err := former(t, s, web, first); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("what it found: %v", err)
		}
		if files, err := former(t, s, web, second); err != nil || len(files) != 1 {
			t.Errorf("%v, %v", files, err)
		}
	})
}

func TestFormerTree_ReportsDamage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		first := mustPut(t, s, web, map[string]string{"a": "1"})
		mustPut(t, s, web, map[string]string{"b": "2"})
		good := store.EncodeUndo([]string{"b"}, tree.Tree{{Path: "a", Mode: tree.Regular, Size: 7, SHA256: strings.Repeat("0", 64)}})
		for _, damaged := range [][]byte{[]byte("no frame"), store.EncodeUndo([]string{"c"}, nil), good, good[:len(good)-3]} {
			execute(t, address, "UPDATE file_history SET undo = "+literal(address, string(damaged))+" WHERE n = 2")
			if files, err := former(t, s, web, first); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("%v, %v", files, err)
			}
		}
		mustPut(t, s, web, map[string]string{"c": "3"}) // a push does not read it
	})
}

func FuzzDecodeUndo(f *testing.F) {
	f.Add([]byte("\n\n"))
	f.Add([]byte("a\nb\n\n0644 1 00 c\n\n0644 2 11 d\n"))
	f.Add([]byte("a\n\n\n0644 2 11 d\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		u, err := store.DecodeUndoText(text)
		if err != nil {
			return
		}
		again, err := store.DecodeUndo(u)
		if err != nil || !cmp.Equal(u, again) {
			t.Errorf("%q is %+v, and again %+v, %v", text, u, again, err)
		}
	})
}
