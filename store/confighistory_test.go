package store_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// counted is a write whose keys are counted.
func counted(user, body string) store.ConfigWrite {
	w := by(user, set(body))
	w.Count = func(from, to []byte) (store.KeyCounts, error) {
		c, err := flat.Count(from, to)
		return store.KeyCounts(c), err
	}
	return w
}

func writeConfig(t testing.TB, s *store.Store, r ref.Ref, w store.ConfigWrite) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error { _, _, err := tx.WriteConfig(t.Context(), r, w); return err })
}

func history(t testing.TB, s *store.Store, r ref.Ref, before int64, limit int) (entries []store.ConfigEntry) {
	t.Helper()
	err := s.Read(t.Context(), func(v *store.View) (err error) {
		entries, err = v.ConfigHistory(t.Context(), r, before, limit)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func revision(t testing.TB, s *store.Store, r ref.Ref, revision string) (c *store.Config, err error) {
	t.Helper()
	err = s.Read(t.Context(), func(v *store.View) error {
		c, err = v.ConfigRevision(t.Context(), r, revision)
		return err
	})
	return c, err
}

// lines describes entries, newest first.
func lines(entries []store.ConfigEntry) (all []string) {
	for _, e := range entries {
		parent := e.Parent
		if parent != "" {
			parent = parent[:4]
		}
		all = append(all, fmt.Sprintf("%d %s<%s %s %s %s %s +%d~%d-%d", e.N, e.Revision[:4], parent, e.UpdatedBy, e.UpdatedVia, e.TokenName, e.RequestID, e.Added, e.Changed, e.Removed))
	}
	return all
}

func TestConfigHistory_HasEachWriteThatChanges(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		if got := history(t, s, web, 0, 10); len(got) != 0 {
			t.Errorf("a config that was never written has the history %v", lines(got))
		}
		a, b := `{"a":1}`, `{"a":2,"b":3}`
		for _, w := range []struct{ user, body string }{{"alice", a}, {"bob", a}, {"bob", b}, {"carol", "{}"}, {"alice", a}} {
			writeConfig(t, s, web, counted(w.user, w.body))
		}
		one, two := sumOf(a)[:4], sumOf(b)[:4]
		want := []string{
			"4 " + one + "<4413 alice push laptop r1 +1~0-0",
			"3 4413<" + two + " carol push laptop r1 +0~0-2",
			"2 " + two + "<" + one + " bob push laptop r1 +1~1-0",
			"1 " + one + "< alice push laptop r1 +1~0-0",
		}
		all := history(t, s, web, 0, 10)
		if diff := cmp.Diff(want, lines(all)); diff != "" {
			t.Error(diff)
		}
		pages := append(history(t, s, web, 0, 3), history(t, s, web, all[2].N, 3)...)
		if diff := cmp.Diff(want, lines(pages)); diff != "" {
			t.Errorf("in pages: %s", diff)
		}
		for _, body := range []string{a, b, "{}"} {
			if c, err := revision(t, s, web, sumOf(body)); err != nil || string(c.Body) != body || c.HasConfig != (body != "{}") {
				t.Errorf("%s: %+v, %v", body, c, err)
			}
		}
		if c, err := revision(t, s, web, sumOf(b)); err == nil && c.UpdatedBy != "bob" {
			t.Errorf("the revision was written by %s", c.UpdatedBy)
		}
		if _, err := revision(t, s, web, sumOf("other")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a revision that never was: %v", err)
		}
	})
}

func TestConfigRevision_IsOfItsProjectOnly(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		write(t, s, func(tx *store.Tx) error {
			p := webProject()
			p.Slug = "other"
			return tx.CreateProject(t.Context(), p)
		})
		for _, body := range []string{`{"a":1}`, `{"a":2}`} {
			writeConfig(t, s, web, counted("alice", body))
		}
		if c, err := revision(t, s, mustRef(t, "@acme/other"), sumOf(`{"a":1}`)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v, %v", c, err)
		}
	})
}

// A body above the size of a frame is stored in several pieces.
func TestConfigRevision_ReadsLargeBodies(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		large := `{"a":"` + strings.Repeat("0123456789", frame.MaxSize/10) + `"}`
		for _, body := range []string{large, `{}`} {
			writeConfig(t, s, web, counted("alice", body))
		}
		if c, err := revision(t, s, web, sumOf(large)); err != nil || string(c.Body) != large {
			t.Errorf("%v", err)
		}
	})
}

// What was written before there was a history, or by a hub of the release before, is an
// entry from the next write on, and is listed before.
func TestConfigHistory_AddsWhatIsMissing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		old, err := `{"old":1}`, error(nil)
		writeConfig(t, s, web, counted("alice", `{"first":1}`))
		execute(t, address, fmt.Sprintf("UPDATE configs SET body = %s, revision = '%s', updated_by = 'bob', updated_at = updated_at + 1", literal(address, old), sumOf(old)))
		listed := history(t, s, web, 0, 10)
		if len(listed) != 2 || listed[0].Revision != sumOf(old) || listed[0].UpdatedBy != "bob" {
			t.Errorf("%v", lines(listed))
		}
		if one := history(t, s, web, 0, 1); len(one) != 1 || one[0].Revision != sumOf(old) {
			t.Errorf("a page of one: %v", lines(one))
		}
		writeConfig(t, s, web, counted("carol", `{"new":1}`))
		want := []string{"3 " + sumOf(`{"new":1}`)[:4] + "<" + sumOf(old)[:4] + " carol push laptop r1 +1~0-1", "2 " + sumOf(old)[:4] + "< bob push   +0~0-0"}
		if diff := cmp.Diff(want, lines(history(t, s, web, 0, 10))[:2]); diff != "" {
			t.Error(diff)
		}
		c, err := revision(t, s, web, sumOf(old))
		if err != nil || string(c.Body) != old {
			t.Errorf("%v, %v", c, err)
		}
	})
}

// literal writes bytes as a value of SQL.
func literal(address, text string) string {
	if store.Path(address) != "" {
		return fmt.Sprintf("x'%x'", text)
	}
	return fmt.Sprintf(`'\x%x'`, text)
}

// bodiesApart moves the bodies of all histories to where a hub of an earlier release has them.
func bodiesApart(t *testing.T, address string) {
	t.Helper()
	execute(t, address, "INSERT INTO config_bodies (account, slug, revision, n, body) SELECT DISTINCT account, slug, revision, 0, body FROM config_history WHERE body IS NOT NULL")
	execute(t, address, "UPDATE config_history SET body = NULL")
}

func TestConfigRevision_ReadsBodiesOfAnEarlierRelease(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		for _, body := range []string{`{"a":1}`, `{"a":2}`, `{"a":1}`, `{"a":3}`} {
			writeConfig(t, s, web, counted("alice", body))
		}
		bodiesApart(t, address)
		writeConfig(t, s, web, counted("alice", `{"a":2}`))
		writeConfig(t, s, web, counted("alice", `{"a":4}`))
		for _, body := range []string{`{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":4}`} {
			if c, err := revision(t, s, web, sumOf(body)); err != nil || string(c.Body) != body {
				t.Errorf("%s: %v, %v", body, c, err)
			}
		}
		if _, err := s.Check(t.Context(), false, func(p store.Problem) { t.Error(p) }); err != nil {
			t.Error(err)
		}
	})
}

func TestConfigRevision_ReportsDamage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		for _, body := range []string{`{"a":1}`, `{"a":2}`} {
			writeConfig(t, s, web, counted("alice", body))
		}
		other := literal(address, string(frame.Append(nil, []byte(`{"a":3}`))))
		for _, damage := range []string{
			"UPDATE config_history SET body = " + literal(address, "no frame"),
			"UPDATE config_history SET body = " + other,
			"",
			"UPDATE config_bodies SET body = " + other,
			"DELETE FROM config_bodies",
		} {
			if damage == "" {
				bodiesApart(t, address)
				continue
			}
			execute(t, address, damage)
			if c, err := revision(t, s, web, sumOf(`{"a":1}`)); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("after %s: %v, %v", damage, c, err)
			}
		}
		writeConfig(t, s, web, counted("alice", `{"a":1}`)) // stores it again
		writeConfig(t, s, web, counted("alice", `{}`))
		if c, err := revision(t, s, web, sumOf(`{"a":1}`)); err != nil || string(c.Body) != `{"a":1}` {
			t.Errorf("once it is stored again: %v, %v", c, err)
		}
	})
}

func TestPruneHistory_KeepsTheNewestAndTheYoung(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web := project(t, s)
		for i := range 8 { // two of them have the same body
			writeConfig(t, s, web, counted("alice", fmt.Sprintf(`{"a":%d}`, i%7)))
		}
		keep := store.Retention{Entries: 3, Age: 24 * time.Hour, Bytes: 1 << 20}
		prune := func(want int) {
			t.Helper()
			if n, err := s.PruneHistory(t.Context(), keep); n != want || err != nil {
				t.Errorf("%d entries were removed, want %d: %v", n, want, err)
			}
		}
		prune(0)
		bodiesApart(t, address)
		age := func(where string) {
			// Time passes for all that is stored.
			execute(t, address, fmt.Sprintf("UPDATE periodic_work SET ran_at = ran_at - %[1]d, position = position - %[1]d", 25*time.Hour.Microseconds()))
			execute(t, address, fmt.Sprintf("UPDATE config_history SET updated_at = updated_at - %d WHERE %s", 25*time.Hour.Microseconds(), where))
		}
		age("n < 3")
		prune(2)
		age("n >= 3")
		prune(3)
		prune(0)
		if got := history(t, s, web, 0, 10); len(got) != 3 || got[0].N != 8 {
			t.Errorf("%v", lines(got))
		}
		if c, err := revision(t, s, web, sumOf(`{"a":0}`)); err != nil || string(c.Body) != `{"a":0}` {
			t.Errorf("the body of an entry that is kept: %v, %v", c, err)
		}
		if _, err := revision(t, s, web, sumOf(`{"a":1}`)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a revision that was removed: %v", err)
		}
		if n := rowsOf(t, address, "config_bodies"); n != 3 {
			t.Errorf("%d bodies are left, want 3", n)
		}
		keep.Entries = 1
		prune(2)
		purge(t, s, web)
		for _, table := range []string{"config_bodies", "config_history"} {
			if n := rowsOf(t, address, table); n != 0 {
				t.Errorf("%d rows of %s are left of a project that is gone", n, table)
			}
		}
	})
}

func rowsOf(t *testing.T, address, table string) (n int) {
	t.Helper()
	query(t, address, "SELECT count(*) FROM "+table, &n)
	return n
}

func query(t *testing.T, address, text string, result any) {
	t.Helper()
	if err := openRaw(t, address).QueryRowContext(t.Context(), text).Scan(result); err != nil {
		t.Fatal(err)
	}
}

// noisyConfig returns a config of about so many bytes that does not compress.
func noisyConfig(bytes int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	random := make([]byte, bytes*3/4)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	return `{"a":"` + base64.StdEncoding.EncodeToString(random) + `"}`
}

// A day of 200 writes of 1 MiB leaves as many bytes as the hub is told to keep.
func TestWriteConfig_BoundsBytesOfHistory(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		open(t, address).Close() // creates the tables
		keep := store.Retention{Entries: 5, Age: 90 * 24 * time.Hour, Bytes: 16 << 20}
		s, err := store.Open(t.Context(), address, store.Options{Retention: keep})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		web := project(t, s)
		for i := range uint64(200) {
			writeConfig(t, s, web, by("alice", set(noisyConfig(1<<20, i))))
		}
		entries := history(t, s, web, 0, 300)
		if n := len(entries); n < 15 || n > 25 || entries[0].N != 200 {
			t.Errorf("%d entries are left, the newest is %d", n, entries[0].N)
		}
		if n := sumBytes(t, address); n > keep.Bytes {
			t.Errorf("the bodies take %d bytes, more than %d", n, keep.Bytes)
		}
		t.Logf("%d entries, %d bytes", len(entries), sumBytes(t, address))
		if path := store.Path(address); path != "" { // what is removed is used again
			if info, err := os.Stat(path); err != nil || info.Size() > 3*keep.Bytes {
				t.Errorf("the database has %d bytes: %v", info.Size(), err)
			}
		}
		for _, e := range entries {
			if _, err := revision(t, s, web, e.Revision); err != nil {
				t.Errorf("revision of entry %d: %v", e.N, err)
			}
		}
		// Less is kept by the next gc, but never less than the newest entries.
		keep.Bytes = 1
		if _, err := s.PruneHistory(t.Context(), keep); err != nil {
			t.Error(err)
		}
		if entries := history(t, s, web, 0, 300); len(entries) != keep.Entries {
			t.Errorf("%d entries are left", len(entries))
		}
	})
}

// Many small entries make room for a large one.
func TestWriteConfig_BoundsBytesAfterManySmallWrites(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := project(t, s)
		for i := range 300 {
			writeConfig(t, s, web, by("alice", set(fmt.Sprintf(`{"a":%d}`, i))))
		}
		if n := len(history(t, s, web, 0, 1000)); n != 300 {
			t.Errorf("%d entries of 300 small ones are left", n)
		}
		if n, err := s.PruneHistory(t.Context(), store.Retention{Entries: 10, Age: time.Hour, Bytes: 1000}); err != nil || n < 200 {
			t.Errorf("%d entries were removed: %v", n, err)
		}
		if n := len(history(t, s, web, 0, 1000)); n < 10 || n > 99 {
			t.Errorf("%d entries are left", n)
		}
	})
}

// sumBytes returns how many bytes the bodies of all histories take.
func sumBytes(t *testing.T, address string) (n int64) {
	t.Helper()
	query(t, address, "SELECT COALESCE(sum(length(body)), 0) FROM config_history", &n)
	return n
}
