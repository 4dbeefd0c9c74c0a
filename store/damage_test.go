package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

// Two uploads of the same blobs, in opposite orders, do not wait for each other.
func TestPutBlobs_DoesNotDeadlock(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		contents := make([]string, 300)
		for i := range contents {
			contents[i] = fmt.Sprint(i)
		}
		_, blobs := files(t, contents...)
		var runs atomic.Int64
		var group sync.WaitGroup
		for range 4 {
			mine := slices.Clone(blobs)
			slices.Reverse(blobs)
			group.Go(func() {
				for range 5 {
					err := s.Write(t.Context(), func(tx *store.Tx) error {
						runs.Add(1)
						return tx.PutBlobs(project, mine)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if n := runs.Load(); n != 20 {
			t.Error(n, "transactions for 20 writes")
		}
	})
}

func TestOne_DoesNotTakeAnErrorForNoRow(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, _ int64) {
		text := "SELECT 1 / (id - id) FROM accounts"
		if !s.IsPostgres() { // SQLite has no such error
			text = "SELECT abs(-9223372036854775807 - (id > 0)) FROM accounts"
		}
		var n int64
		if err := s.View(t.Context()).One(sqldb.Row(&n), text); err == nil || errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		if err := s.View(t.Context()).One(sqldb.Row(&n), "SELECT id FROM accounts WHERE id = 0"); err != store.ErrNotFound {
			t.Error(err)
		}
	})
}

func TestPutBlobs_ReplacesADamagedBody(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		_, blobs := files(t, "a")
		open := func() error {
			found, err := s.View(t.Context()).Blobs(project, digests(blobs))
			if err == nil {
				_, err = found[blobs[0].SHA256].Open(nil)
			}
			return err
		}
		if err := putBlobs(t, s, project, blobs); err != nil {
			t.Fatal(err)
		}
		execute(t, s, "UPDATE blobs SET body = ?", store.NewBlob([]byte("b")).Body)
		if err := open(); !errors.Is(err, store.ErrDamaged) {
			t.Error("damaged:", err)
		}
		if err := errors.Join(putBlobs(t, s, project, blobs), open()); err != nil {
			t.Error("uploaded again:", err)
		}
	})
}

func TestBlob_OfAnotherSizeOrWithMoreFramesIsDamaged(t *testing.T) {
	skippable := []byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 'x'}
	for _, content := range []string{"alpha", strings.Repeat("large ", 1<<20)} {
		b := store.NewBlob([]byte(content))
		if _, err := b.Open(nil); err != nil || b.Verify() != nil {
			t.Error(err, b.Verify())
		}
		damaged := []store.Blob{
			{SHA256: b.SHA256, Size: b.Size, Body: slices.Concat(skippable, b.Body)},
			{SHA256: b.SHA256, Size: b.Size, Body: slices.Concat(b.Body, skippable)},
		}
		for _, size := range []int64{0, -1, b.Size - 1, b.Size + 1, 1 << 40, 1<<62 + 5, -1 << 63} {
			damaged = append(damaged, store.Blob{SHA256: b.SHA256, Size: size, Body: b.Body})
		}
		for i, d := range damaged {
			if _, err := d.Open(nil); !errors.Is(err, store.ErrDamaged) || !errors.Is(d.Verify(), store.ErrDamaged) {
				t.Error(i, d.Size, err, d.Verify())
			}
		}
	}
}

func TestWriteConfig_ReplacesADamagedOne(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		const body = `{"a":1,"b":2}`
		if err := putConfig(t, s, project, body, store.Condition{}); err != nil {
			t.Fatal(err)
		}
		stored := [][]byte{[]byte("no frame"), store.Compress([]byte(`{"a":1,"b":3}`))}
		for i, next := range []string{body, `{"c":3}`} {
			execute(t, s, "UPDATE revisions SET body = ? WHERE n = (SELECT MAX(n) FROM revisions)", stored[i])
			damaged, err := s.View(t.Context()).Newest(project, store.Config)
			if !errors.Is(err, store.ErrDamaged) || damaged.Digest != store.Digest([]byte(body)) || damaged.Content != nil {
				t.Errorf("the damaged one: %+v, %v", damaged, err)
			}
			if err := putConfig(t, s, project, next, store.Condition{New: true}); !errors.Is(err, store.ErrChanged) {
				t.Error("it is not what a create may replace:", err)
			}
			if err := putConfig(t, s, project, next, store.Condition{Match: []string{damaged.Digest}}); err != nil {
				t.Error(err)
			}
			now, err := s.View(t.Context()).Newest(project, store.Config)
			if err != nil || string(now.Content) != next || now.Parent != "" || now.Added != 2-i {
				t.Errorf("the next one: %+v, %v", now, err)
			}
			wantUndamaged(t, s)
		}
	})
}

func TestWriteFiles_ReplacesADamagedList(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		contents := make([]string, 500)
		set, blobs := files(t, contents...)
		if err := push(t, s, project, set, blobs); err != nil {
			t.Fatal(err)
		}
		contents[7] = "changed"
		_, more := files(t, contents...)
		for _, next := range []struct {
			set   []string
			blobs []store.Blob
		}{{contents, more}, {contents, nil}, {make([]string, 500), nil}} {
			execute(t, s, "UPDATE revisions SET body = ? WHERE n = (SELECT MAX(n) FROM revisions)", []byte("no frame"))
			set, _ := files(t, next.set...)
			if err := push(t, s, project, set, next.blobs); err != nil {
				t.Fatal(err)
			}
			if now, err := s.View(t.Context()).Newest(project, store.Files); err != nil || now.Digest != set.Digest() {
				t.Errorf("%+v, %v", now.Digest, err)
			}
			wantUndamaged(t, s)
		}
	})
}

func TestSchema_NoIDIsUsedTwice(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		execute(t, s, "DELETE FROM resources WHERE id = ?", project)
		if again := newProject(t, s); again <= project {
			t.Errorf("%d after %d", again, project)
		}
	})
}

func TestDecompress_TakesOneOrdinaryFrame(t *testing.T) {
	frame := func(size int, options ...zstd.EOption) []byte {
		e, err := zstd.NewWriter(nil, append(options, zstd.WithZeroFrames(true))...)
		if err != nil {
			t.Fatal(err)
		}
		return e.EncodeAll(make([]byte, size), nil)
	}
	a := frame(1 << 20)
	skippable := []byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 'x'}
	for name, f := range map[string][]byte{
		"nothing":             {},
		"two frames":          append(slices.Clone(a), a...),
		"a byte more":         append(slices.Clone(a), 0),
		"a byte less":         a[:len(a)-1],
		"skippable":           skippable,
		"and a skippable one": append(slices.Clone(a), skippable...),
		"a large window":      frame(10<<20, zstd.WithWindowSize(16<<20), zstd.WithSingleSegment(false)),
		"a large segment":     frame(10<<20, zstd.WithSingleSegment(true)),
		"more than the limit": frame(11 << 20),
		"another size": func() []byte {
			b := slices.Clone(frame(100<<10, zstd.WithSingleSegment(true)))
			b[5]++
			return b
		}(),
	} {
		if _, err := store.Decompress(nil, f, 10<<20); err == nil {
			t.Error(name, "is taken")
		}
	}
	for _, size := range []int{0, 1, 255, 256, 1 << 10, 128 << 10, 5 << 20} {
		got, err := store.Decompress(nil, frame(size), 10<<20)
		if err != nil || len(got) != size {
			t.Error(size, len(got), err)
		}
		got, err = store.Decompress(nil, store.Compress(make([]byte, size)), int64(size))
		if err != nil || len(got) != size {
			t.Error("our own:", size, len(got), err)
		}
		if _, err := store.Decompress(nil, frame(size+1), int64(size)); err == nil {
			t.Error("one byte more than", size)
		}
	}
}

func TestCheck_NamesAndRepairs(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		contents := []string{"alpha", "beta", "gamma"}
		set, blobs := files(t, contents...)
		err := errors.Join(putConfig(t, s, project, `{"a":1}`, store.Condition{}), push(t, s, project, set, blobs))
		if err != nil {
			t.Fatal(err)
		}
		var problems []string
		check := func(repair bool) store.Checked {
			t.Helper()
			problems = nil
			n, err := s.Check(t.Context(), repair, func(p store.Problem) {
				problems = append(problems, p.Cause.Error())
				if p.Remedy == "" || !errors.Is(p.Cause, store.ErrDamaged) && !errors.Is(p.Cause, store.ErrMissing) {
					t.Errorf("%+v", p)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := check(false); len(problems) > 0 || n != (store.Checked{Blobs: 3, Projects: 1, APIs: 1}) {
			t.Errorf("%+v, %q", n, problems)
		}
		alpha, beta := store.Digest([]byte("alpha")), store.Digest([]byte("beta"))
		execute(t, s, "UPDATE blobs SET body = ? WHERE sha256 = ?", []byte("no frame"), alpha)
		execute(t, s, "DELETE FROM blobs WHERE sha256 = ?", beta)
		execute(t, s, "UPDATE revisions SET body = ? WHERE kind = 'config' AND n > 1", []byte("no frame"))
		check(true)
		all := strings.Join(problems, "\n")
		if len(problems) != 3 || strings.Count(all, "project @") != 3 || !strings.Contains(all, alpha) ||
			!strings.Contains(all, beta) || !strings.Contains(all, `"f00001"`) || !strings.Contains(all, "config: ") {
			t.Errorf("%s", all)
		}
		lacking, err := s.View(t.Context()).Missing(project, digests(blobs))
		if slices.Sort(lacking); err != nil || len(lacking) != 2 {
			t.Errorf("after a repair, %v are missing; %v", lacking, err)
		}
		if err := push(t, s, project, set, nil); !errors.Is(err, store.ErrMissing) {
			t.Error("a push that sends nothing after a repair:", err)
		}
		err = errors.Join(push(t, s, project, set, blobs), putConfig(t, s, project, `{"a":1}`, store.Condition{}))
		if err != nil {
			t.Fatal(err)
		}
		if check(false); len(problems) > 0 { // what replaces a damaged config removes it
			t.Errorf("%q", problems)
		}
	})
}

// Older revisions that cannot be read would be reported, and keep blobs from sweeps, as long as history is
// kept. The newest ones stay: the next write replaces them.
func TestCheck_RepairDeletesOlderRevisions(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		contents := make([]string, 500)
		for i := range 3 {
			contents[i] = "changed"
			set, blobs := files(t, contents...)
			err := errors.Join(putConfig(t, s, project, fmt.Sprintf(`{"a":%d}`, i), store.Condition{}),
				push(t, s, project, set, blobs))
			if err != nil {
				t.Fatal(err)
			}
		}
		lists, configs := numbers(t, s, project, store.Files), numbers(t, s, project, store.Config)
		damage := func(n int64) {
			execute(t, s, "UPDATE revisions SET body = ? WHERE project_id = ? AND n = ?", []byte("no frame"), project, n)
		}
		repair := func(wantLists, wantConfigs []int64, problems ...string) {
			t.Helper()
			var got []string
			if _, err := s.Check(t.Context(), true, func(p store.Problem) { got = append(got, p.Remedy[:5]) }); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, problems) {
				t.Errorf("problems: %q, want %q", got, problems)
			}
			if got := numbers(t, s, project, store.Files); !slices.Equal(got, wantLists) {
				t.Errorf("lists: %d, want %d", got, wantLists)
			}
			if got := numbers(t, s, project, store.Config); !slices.Equal(got, wantConfigs) {
				t.Errorf("configs: %d, want %d", got, wantConfigs)
			}
		}
		damage(configs[1])
		damage(lists[1])
		repair([]int64{lists[0], lists[2]}, slices.Delete(slices.Clone(configs), 1, 2), "it is", "it is")
		wantUndamaged(t, s)
		if _, err := s.Collect(t.Context(), project, -time.Second); err != nil {
			t.Error("sweep:", err)
		}

		damage(lists[2]) // the base of the newest one
		damage(configs[0])
		repair([]int64{lists[0], lists[2]}, slices.Delete(slices.Clone(configs), 1, 2), "push ", "it is", "push ")
		set, blobs := files(t, contents...)
		if err := push(t, s, project, set, blobs); err != nil {
			t.Fatal(err)
		}
		if err := putConfig(t, s, project, `{"b":1}`, store.Condition{}); err != nil {
			t.Fatal(err)
		}
		repair(numbers(t, s, project, store.Files)[:1], numbers(t, s, project, store.Config), "it is")
		wantUndamaged(t, s)
	})
}

// A revision whose base is missing cannot be read: what it names must stay.
func TestCollect_StopsAtDamage(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		contents := make([]string, 500)
		for i := range contents {
			contents[i] = fmt.Sprint(i)
		}
		for i := range 3 {
			contents[i] = "changed"
			set, blobs := files(t, contents...)
			if err := push(t, s, project, set, blobs); err != nil {
				t.Fatal(err)
			}
		}
		newest, err := s.View(t.Context()).Newest(project, store.Files)
		if err != nil || newest.Base() == 0 {
			t.Fatal("the newest list has no base:", err)
		}
		execute(t, s, "DELETE FROM revisions WHERE project_id = ? AND n = ?", project, newest.Base())
		if _, err := s.Collect(t.Context(), project, -time.Second); !errors.Is(err, store.ErrDamaged) {
			t.Error("it went on:", err)
		}
		named := []string{store.Digest([]byte("9")), store.Digest([]byte("changed"))}
		lacking, err := s.View(t.Context()).Missing(project, named)
		if len(lacking) > 0 || err != nil {
			t.Error("it removed", lacking, err)
		}
	})
}

// wantUndamaged checks all that is stored.
func wantUndamaged(t *testing.T, s *store.Store) {
	t.Helper()
	if _, err := s.Check(t.Context(), false, func(p store.Problem) { t.Error(p.Cause) }); err != nil {
		t.Error(err)
	}
}
