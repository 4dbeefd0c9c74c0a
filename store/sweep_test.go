package store_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

func sweepAt(t *testing.T, s *store.Store, resource int64) (at store.Time) {
	t.Helper()
	err := s.View(t.Context()).One(sqldb.Row(&at), "SELECT sweep_at FROM resources WHERE id = ?", resource)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestCollect_KeepsWhatIsNamedAndWhatIsYoung(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		set, blobs := files(t, "a", "b")
		_, orphan := files(t, "orphan")
		if err := errors.Join(push(t, s, project, set, blobs), putBlobs(t, s, project, orphan)); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			grace time.Duration
			want  int
		}{{time.Hour, 0}, {-time.Second, 1}, {-time.Second, 0}} {
			if n, err := s.Collect(t.Context(), project, c.grace); n != c.want || err != nil {
				t.Errorf("grace %v: %d, %v, want %d", c.grace, n, err, c.want)
			}
		}
	})
}

func TestSweep_LooksAtWhatIsDue(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		_, blobs := files(t, "a", "b")
		sweep := func(want int) {
			t.Helper()
			if n, err := s.Sweep(t.Context()); n != want || err != nil {
				t.Errorf("%d were removed, %v, want %d", n, err, want)
			}
		}
		if sweepAt(t, s, project) != 0 {
			t.Error("a new project is to be swept")
		}
		if err := putBlobs(t, s, project, blobs); err != nil {
			t.Fatal(err)
		}
		due := sweepAt(t, s, project)
		if due == 0 {
			t.Fatal("no sweep follows an upload")
		}
		sweep(0)
		_, more := files(t, "c")
		if err := putBlobs(t, s, project, more); err != nil || sweepAt(t, s, project) != due {
			t.Error("another upload defers the sweep", err)
		}
		// A day later, but for c.
		execute(t, s, "UPDATE resources SET sweep_at = 1 WHERE id = ?", project)
		execute(t, s, "UPDATE blobs SET at = at - ? WHERE sha256 <> ?", (2 * store.Grace).Microseconds(), more[0].SHA256)
		sweep(2)
		if at := sweepAt(t, s, project); at <= due {
			t.Error("the next sweep, for what is young, is due", at)
		}
		execute(t, s, "UPDATE resources SET sweep_at = 1 WHERE id = ?", project)
		execute(t, s, "UPDATE blobs SET at = 1")
		sweep(1)
		if sweepAt(t, s, project) != 0 {
			t.Error("what has no blobs is to be swept")
		}
	})
}

func TestSweep_GoesOnAfterDamage(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, first int64) {
		second := newProject(t, s)
		for _, project := range []int64{first, second} {
			set, blobs := files(t, "a", "b")
			_, orphan := files(t, "orphan")
			if err := errors.Join(push(t, s, project, set, blobs), putBlobs(t, s, project, orphan)); err != nil {
				t.Fatal(err)
			}
		}
		execute(t, s, "UPDATE blobs SET at = 1")
		execute(t, s, "UPDATE resources SET sweep_at = id")
		execute(t, s, "UPDATE revisions SET body = ? WHERE project_id = ? AND kind = 'files'", []byte("no frame"), first)
		if n, err := s.Sweep(t.Context()); n != 1 || !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%d were removed, %v", n, err)
		}
		if n, err := s.Sweep(t.Context()); n != 0 || err != nil {
			t.Errorf("the next one: %d were removed, %v", n, err)
		}
		if at := sweepAt(t, s, first); at < store.At(time.Now().Add(store.Grace-time.Hour)) {
			t.Error("what is damaged is swept again at", at)
		}
	})
}

// A sweep that a write interrupts is tried again, also if no other write follows.
func TestCollect_IsDueAgainAfterAWriteInterruptedIt(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		_, orphan := files(t, "orphan")
		for wait := 10 * time.Millisecond; ; wait *= 2 { // until the lists are read before the write ends
			if err := putBlobs(t, s, project, orphan); err != nil {
				t.Fatal(err)
			}
			begun := make(chan bool, 10)
			var group sync.WaitGroup
			group.Go(func() {
				err := s.Write(t.Context(), func(tx *store.Tx) error {
					err := tx.Named(project)
					if err == nil { // a query sends what waits to be sent, so that the project is locked from here on
						_, err = tx.Project(project)
					}
					begun <- true
					time.Sleep(wait)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
			<-begun
			removed, err := s.Collect(t.Context(), project, -time.Second)
			group.Wait()
			if err != nil {
				t.Fatal(err)
			}
			if removed > 0 {
				continue
			}
			if at := sweepAt(t, s, project); at == 0 || at > store.At(time.Now().Add(time.Hour)) {
				t.Error("the next sweep is due at", at)
			}
			return
		}
	})
}

// Stacks and APIs name blobs, too.
func TestCollect_OfAStackAndAnAPI(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		var stack, api int64
		err := s.View(t.Context()).One(sqldb.Row(&stack, &api), "SELECT stack_id, api_id FROM projects WHERE id = ?", project)
		if err != nil {
			t.Fatal(err)
		}
		set, blobs := files(t, "a", "b", "c")
		_, orphan := files(t, "orphan")
		execute(t, s, `INSERT INTO stack_versions
			(stack_id, version, tree, body, schema, size_bytes, file_count, published_at, published_by)
			VALUES (?, '1.0.0', ?, ?, ?, 0, 0, 1, '')`,
			stack, set.Digest(), store.Compress(set.Canonical()), blobs[0].SHA256)
		execute(t, s, "UPDATE apis SET document = ?, json = ?, targets = ? WHERE id = ?",
			blobs[0].SHA256, blobs[1].SHA256, blobs[2].SHA256, api)
		for _, resource := range []int64{stack, api} {
			if err := putBlobs(t, s, resource, slices.Concat(blobs, orphan)); err != nil {
				t.Fatal(err)
			}
			if n, err := s.Collect(t.Context(), resource, -time.Second); n != 1 || err != nil {
				t.Errorf("%d were removed, %v", n, err)
			}
			if lacking, err := s.View(t.Context()).Missing(resource, digests(blobs)); len(lacking) > 0 || err != nil {
				t.Error("it lacks", lacking, err)
			}
		}
	})
}

// A push names old blobs, which it does not send, while a collection removes what is not named.
// Either the push is told that blobs are missing, or they stay.
func TestCollect_NoPushLosesABlob(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		set, blobs := files(t, "a", "b", "c")
		page := []string{blobs[0].SHA256, blobs[1].SHA256, blobs[2].SHA256}
		later := store.At(time.Now().Add(time.Hour))
		remove := func(writes int64) error {
			return s.Write(t.Context(), func(tx *store.Tx) error { return tx.RemoveBlobs(project, writes, later, page) })
		}

		// The push comes after the collection has read what is named.
		if err := errors.Join(putBlobs(t, s, project, blobs), push(t, s, project, set, nil)); err != nil {
			t.Fatal(err)
		}
		if err := remove(0); !errors.Is(err, store.ErrChanged) {
			t.Error("removed although a revision was added:", err)
		}

		// The push comes after the removal.
		if err := errors.Join(push(t, s, project, tree.Tree{}, nil), remove(2)); err != nil {
			t.Fatal(err)
		}
		if err := push(t, s, project, set, nil); !errors.Is(err, store.ErrMissing) {
			t.Error("pushed although blobs are missing:", err)
		}
	})
}

func TestCollect_AmongPushes(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		set, blobs := files(t, "a", "b", "c")
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		s.Retention.Lists = 1 // nothing but the newest row names a blob
		removed := 0
		group.Go(func() {
			for ctx.Err() == nil {
				n, err := s.Collect(t.Context(), project, -time.Second)
				if err != nil {
					t.Error(err)
				}
				removed += n
			}
		})
		defer group.Wait()
		defer cancel()
		refused := 0
		for i := range 100 {
			if err := putBlobs(t, s, project, blobs[i%3:]); err != nil {
				t.Fatal(err)
			}
			err := push(t, s, project, set, nil)
			if errors.Is(err, store.ErrMissing) {
				refused++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if lacking, err := s.View(t.Context()).Missing(project, digests(blobs)); err != nil || len(lacking) > 0 {
				t.Fatal("the project lacks", lacking, err)
			}
			if err := push(t, s, project, tree.Tree{}, nil); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		group.Wait()
		t.Log(removed, "blobs were removed,", refused, "pushes refused")
	})
}
