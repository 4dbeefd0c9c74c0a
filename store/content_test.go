package store_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

// withProject runs f with a store, once a database, in which there is a project.
func withProject(t *testing.T, f func(t *testing.T, s *store.Store, project int64)) {
	t.Helper()
	each(t, func(t *testing.T, s *store.Store) { f(t, s, newProject(t, s)) })
}

// newProject adds a project, with an account, a stack and an API of its own.
func newProject(t testing.TB, s *store.Store) (project int64) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		var account, stack, api int64
		name := rand.Text()
		err := tx.One(sqldb.Row(&account),
			"INSERT INTO accounts (name, kind, created_at) VALUES (?, 'user', 1) RETURNING id", name)
		for kind, id := range map[string]*int64{store.KindStack: &stack, store.KindAPI: &api, store.KindProject: &project} {
			err = errors.Join(err, tx.One(sqldb.Row(id), `INSERT INTO resources (account_id, kind, slug,
		created_at, created_by)
				VALUES (?, ?, 'web', 1, ?) RETURNING id`, account, kind, name))
		}
		return errors.Join(err,
			tx.Exec("INSERT INTO stacks (id, latest, newest) VALUES (?, '', '')", stack),
			tx.Exec(`INSERT INTO apis (id, title, version, format, media_type, document, json, targets)
				VALUES (?, '', '', '', '', '', '', '')`, api),
			tx.Exec(`INSERT INTO projects (id, stack_id, stack_version, api_id, visibility)
				VALUES (?, ?, 'latest', ?, 'private')`,
				project, stack, api),
			tx.AddEmptyConfig(project))
	})
	return project
}

var alice = store.Author{User: "alice", Via: "push"}

// putConfig writes a config as a hub does.
func putConfig(t testing.TB, s *store.Store, project int64, body string, c store.Condition) error {
	t.Helper()
	before, err := s.View(t.Context()).Newest(project, store.Config)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	w, err := store.PrepareConfig(before, []byte(body), alice)
	if err != nil {
		return err
	}
	return s.Write(t.Context(), func(tx *store.Tx) error {
		_, _, err := tx.WriteConfig(project, w, c)
		return err
	})
}

// files makes a set of files with these contents, and their blobs.
func files(t testing.TB, contents ...string) (tree.Tree, []store.Blob) {
	t.Helper()
	var entries []tree.Entry
	blobs := map[string]store.Blob{}
	for i, c := range contents {
		b := store.NewBlob([]byte(c))
		blobs[b.SHA256] = b
		path := fmt.Sprintf("f%05d", i)
		entries = append(entries, tree.Entry{Path: path, Mode: tree.Regular, Size: b.Size, SHA256: b.SHA256})
	}
	set, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return set, slices.Collect(maps.Values(blobs))
}

// push makes files those of the project, as a hub does.
func push(t testing.TB, s *store.Store, project int64, set tree.Tree, blobs []store.Blob) error {
	t.Helper()
	before, err := s.View(t.Context()).Newest(project, store.Files)
	if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	sent := map[string]bool{}
	for _, b := range blobs {
		sent[b.SHA256] = true
	}
	w, err := store.PrepareFiles(before, set.Canonical(), sent, alice)
	if err != nil {
		return err
	}
	if err := putBlobs(t, s, project, blobs); err != nil {
		return err
	}
	return s.Write(t.Context(), func(tx *store.Tx) error {
		_, _, err := tx.WriteFiles(project, w)
		return err
	})
}

func putBlobs(t testing.TB, s *store.Store, project int64, blobs []store.Blob) error {
	return s.Write(t.Context(), func(tx *store.Tx) error { return tx.PutBlobs(project, blobs) })
}

func digests(blobs []store.Blob) (all []string) {
	for _, b := range blobs {
		all = append(all, b.SHA256)
	}
	return all
}

func TestWriteConfig_ComparesAndSets(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		one, two := store.Digest([]byte(`{"a":1}`)), store.Digest([]byte(`{"a":2}`))
		for _, c := range []struct {
			body string
			If   store.Condition
			want error
			n    int64 // of the newest revision after it
		}{
			{`{}`, store.Condition{Exists: true, Match: []string{store.NoConfig}}, nil, 1},
			{`{"a":1}`, store.Condition{Exists: true, New: true}, nil, 2},
			{`{"a":1}`, store.Condition{New: true}, store.ErrChanged, 2},
			{`{"a":1}`, store.Condition{}, nil, 2}, // the same again
			{`{"a":2}`, store.Condition{Match: []string{two}}, store.ErrChanged, 2},
			{`{"a":2}`, store.Condition{Match: []string{}}, store.ErrChanged, 2},
			{`{"a":2}`, store.Condition{NoMatch: []string{one}}, store.ErrChanged, 2},
			{`{"a":2}`, store.Condition{Match: []string{two, one}}, nil, 3},
			{`{"a":1}`, store.Condition{Exists: true}, nil, 4},
			{`{}`, store.Condition{}, nil, 5},
			{`{"a":1}`, store.Condition{New: true}, nil, 6},
		} {
			before, _ := s.View(t.Context()).Newest(project, store.Config)
			err := putConfig(t, s, project, c.body, c.If)
			now, readErr := s.View(t.Context()).Newest(project, store.Config)
			if !errors.Is(err, c.want) || readErr != nil || now.N != c.n {
				t.Errorf("%s if %v: %v, revision %d, %v", c.body, c.If, err, now.N, readErr)
			}
			parent := before.Digest
			if before.N == 1 {
				parent = ""
			}
			if c.want == nil && (string(now.Content) != c.body || now.N > before.N && now.Parent != parent) {
				t.Errorf("%s after %s: %+v", c.body, before.Content, now)
			}
		}
		former, err := s.View(t.Context()).Revision(project, store.Config, two)
		history, listErr := s.View(t.Context()).History(project, store.Config, 0, 10)
		if err := errors.Join(err, listErr); err != nil || string(former.Content) != `{"a":2}` || len(history) != 5 {
			t.Fatalf("%s, %+v, %v", former.Content, history, err)
		}
		if h := history[3]; h.Digest != two || h.Changed != 1 || h.User != "alice" {
			t.Errorf("%+v", h)
		}
		page, err := s.View(t.Context()).History(project, store.Config, 5, 2)
		if err != nil || page[0].N != 4 || len(page) != 2 {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

// Two writes were prepared for the same config; the second one is compared with the first.
func TestWriteConfig_ComparesAgainAfterAnotherWrite(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		before, err := s.View(t.Context()).Newest(project, store.Config)
		if err != nil {
			t.Fatal(err)
		}
		for i, body := range []string{`{"a":1,"b":1}`, `{"a":2}`} {
			w, err := store.PrepareConfig(before, []byte(body), alice)
			if err != nil {
				t.Fatal(err)
			}
			var replaced, after store.Revision
			write(t, s, func(tx *store.Tx) (err error) {
				replaced, after, err = tx.WriteConfig(project, w, store.Condition{})
				return err
			})
			if i == 1 && (len(replaced.Content) != 13 || after.Changed != 1 || after.Removed != 1) {
				t.Errorf("%s replaced, %+v", replaced.Content, after)
			}
		}
	})
}

func TestWriteConfig_ManyAtOnceAreInOneLine(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		var group sync.WaitGroup
		for i := range 100 {
			group.Go(func() {
				c := store.Condition{New: i%10 == 0} // of these, one succeeds or none
				err := putConfig(t, s, project, fmt.Sprintf(`{"a":%d}`, i), c)
				if err != nil && !errors.Is(err, store.ErrChanged) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		history, err := s.View(t.Context()).History(project, store.Config, 0, 1000)
		if err != nil || len(history) < 90 {
			t.Fatal(len(history), err)
		}
		for i, r := range history[:len(history)-1] {
			if r.N != history[i+1].N+1 || r.Parent != history[i+1].Digest {
				t.Errorf("%d follows %d", r.N, history[i+1].N)
			}
		}
	})
}

func TestWriteConfig_NeedsTheCheckThatIsEnforcedNow(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		publish := func(version, schema string) {
			execute(t, s, `INSERT INTO stack_versions
				(stack_id, version, tree, body, schema, size_bytes, file_count, published_at, published_by)
				SELECT stack_id, CAST(? AS TEXT), '', ?, CAST(? AS TEXT), 0, 0, 1, 'alice' FROM projects WHERE id = ?`,
				version, []byte{}, schema, project)
			execute(t, s, "UPDATE stacks SET latest = ? WHERE id = (SELECT stack_id FROM projects WHERE id = ?)",
				version, project)
		}
		before, err := s.View(t.Context()).Newest(project, store.Config)
		if err != nil {
			t.Fatal(err)
		}
		try := func(checked string, want error) {
			t.Helper()
			w, err := store.PrepareConfig(before, []byte(`{"a":1}`), alice)
			if err != nil {
				t.Fatal(err)
			}
			w.Checked = checked
			err = s.Write(t.Context(), func(tx *store.Tx) error {
				_, _, err := tx.WriteConfig(project, w, store.Condition{})
				return err
			})
			if !errors.Is(err, want) {
				t.Errorf("checked against %q: %v, want %v", checked, err, want)
			}
		}
		execute(t, s, "UPDATE projects SET enforce_schema = TRUE WHERE id = ?", project)
		try("", nil) // the stack has no version
		publish("1.0.0", "one")
		try("", store.ErrUnchecked)
		try("one", nil)
		publish("2.0.0", "two")
		try("one", store.ErrUnchecked)
		try("two", nil)
		execute(t, s, "UPDATE projects SET stack_version = '1.0.0' WHERE id = ?", project)
		try("two", store.ErrUnchecked)
		execute(t, s, "UPDATE stack_versions SET withdrawn_at = 5 WHERE version = '1.0.0'")
		rule, err := s.View(t.Context()).SettingsSchema(project)
		if err != nil || rule.Digest != "one" || rule.Withdrawn != "1.0.0" || rule.UseVersion != "2.0.0" {
			t.Errorf("%+v, %v", rule, err)
		}
		execute(t, s, "UPDATE projects SET enforce_schema = FALSE WHERE id = ?", project)
		try("", nil)
	})
}

func TestWriteFiles_KeepsHistoryInLittleSpace(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		contents := make([]string, 500)
		for i := range contents {
			contents[i] = fmt.Sprint("content ", i, strings.Repeat("x", i%40))
		}
		contents[3] = "" // an empty file
		var trees []string
		for n := range 40 {
			contents[n*7] = fmt.Sprint("changed ", n)
			set, blobs := files(t, contents...)
			if err := push(t, s, project, set, blobs); err != nil {
				t.Fatal(err)
			}
			trees = append(trees, set.Digest())
		}
		for i, d := range trees {
			r, err := s.View(t.Context()).Revision(project, store.Files, d)
			if i >= 20 && (err != nil || store.Digest(r.Content) != d) || i > 0 && i < 20 && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("revision %d: %v, base %d", i+1, err, r.Base())
			}
		}
		var rows, bytes int64
		if err := s.View(t.Context()).One(sqldb.Row(&rows, &bytes),
			"SELECT count(*), sum(length(body)) FROM revisions WHERE project_id = ? AND kind = 'files'", project); err != nil {
			t.Fatal(err)
		}
		if rows > 21 || bytes > 80_000 {
			t.Errorf("%d rows have %d bytes", rows, bytes)
		}
		got, err := s.View(t.Context()).Blobs(project, []string{store.Digest(nil)})
		if err != nil || got[store.Digest(nil)].Size != 0 {
			t.Error("the empty file:", got, err)
		}
	})
}

func TestWriteFiles_NumbersFollowConfigs(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		set, blobs := files(t, "a")
		err := errors.Join(putConfig(t, s, project, `{"a":1}`, store.Condition{}), push(t, s, project, set, blobs))
		r, readErr := s.View(t.Context()).Numbered(project, store.Files, 3)
		if err := errors.Join(err, readErr); err != nil || r.Digest != set.Digest() {
			t.Error(r, err)
		}
	})
}

func TestMissing_OfAnotherProject(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		_, blobs := files(t, "a")
		if err := putBlobs(t, s, project, blobs); err != nil {
			t.Fatal(err)
		}
		other := newProject(t, s)
		if lacking, err := s.View(t.Context()).Missing(other, digests(blobs)); err != nil || len(lacking) != 1 {
			t.Error("another project has the blob:", err)
		}
		if _, err := s.View(t.Context()).Blobs(other, digests(blobs)); !errors.Is(err, store.ErrMissing) {
			t.Error("another project reads the blob:", err)
		}
	})
}
