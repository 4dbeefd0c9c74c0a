package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

// catalog is a store in which the org acme, with the id 1, has a stack and an API.
type catalog struct {
	*testing.T
	*store.Store
	stack, api int64
}

func eachCatalog(t *testing.T, f func(c *catalog)) {
	t.Helper()
	each(t, func(t *testing.T, s *store.Store) {
		c := &catalog{T: t, Store: s}
		c.sql("INSERT INTO accounts (name, kind, created_at) VALUES ('acme', 'org', 1), ('other', 'org', 1)")
		c.write(nil, func(tx *store.Tx) (err error) {
			c.stack, err = tx.AddStack(1, "site", "alice")
			return err
		})
		c.publish(nil, "1.0.0", "a", "b")
		c.api = c.register(nil, "pets", "{}")
		f(c)
	})
}

func (c *catalog) sql(text string, args ...any) {
	c.Helper()
	err := c.DB.Write(c.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
}

func (c *catalog) write(want error, f func(tx *store.Tx) error) {
	c.Helper()
	if err := c.Write(c.Context(), f); !errors.Is(err, want) || want == nil && err != nil {
		c.Fatalf("%v, want %v", err, want)
	}
}

func (c *catalog) view() store.View { return c.View(c.Context()) }

func (c *catalog) count(query string, args ...any) (n int) {
	c.Helper()
	if err := c.view().One(sqldb.Row(&n), "SELECT count(*) FROM "+query, args...); err != nil {
		c.Fatal(err)
	}
	return n
}

// filesOf returns a list of files with these contents, and their blobs.
func filesOf(t testing.TB, contents ...string) (tree.Tree, []store.Blob) {
	t.Helper()
	var entries []tree.Entry
	var blobs []store.Blob
	for i, content := range contents {
		b := store.NewBlob([]byte(content))
		blobs = append(blobs, b)
		e := tree.Entry{Path: fmt.Sprint("f", i), Mode: tree.Regular, Size: b.Size, SHA256: b.SHA256}
		entries = append(entries, e)
	}
	files, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return files, blobs
}

func sentAll(files tree.Tree) map[string]bool {
	sent := map[string]bool{}
	for _, e := range files {
		sent[e.SHA256] = true
	}
	return sent
}

func (c *catalog) publish(want error, number string, contents ...string) (p store.Published) {
	c.Helper()
	files, blobs := filesOf(c, contents...)
	w := store.PrepareVersion(number, files, "", nil, "alice")
	c.write(want, func(tx *store.Tx) (err error) {
		if err := tx.PutBlobs(c.stack, blobs); err != nil {
			return err
		}
		p, _, err = tx.PublishVersion(c.stack, w)
		return err
	})
	return p
}

func (c *catalog) description(slug, document string) (store.API, []store.Blob) {
	blobs := []store.Blob{store.NewBlob([]byte(document)), store.NewBlob([]byte("targets"))}
	api := store.API{Title: "Pets", Document: blobs[0].SHA256, JSON: blobs[0].SHA256, Targets: blobs[1].SHA256}
	api.AccountID, api.Slug, api.CreatedBy = 1, slug, "alice"
	return api, blobs
}

func (c *catalog) register(want error, slug, document string) (id int64) {
	c.Helper()
	api, blobs := c.description(slug, document)
	c.write(want, func(tx *store.Tx) (err error) {
		id, err = tx.AddAPI(api, blobs, false)
		return err
	})
	return id
}

func (c *catalog) project(slug string) store.Project {
	p := store.Project{Resource: store.Resource{AccountID: 1, Slug: slug, Visibility: "private", CreatedBy: "alice"}}
	p.Stack.ID, p.StackVersion, p.API.ID = c.stack, "latest", c.api
	return p
}

func (c *catalog) create(want error, p store.Project) (id int64) {
	c.Helper()
	c.write(want, func(tx *store.Tx) (err error) {
		id, err = tx.AddProject(p)
		return err
	})
	return id
}

func (c *catalog) remove(id int64) (until store.Time) {
	c.Helper()
	c.write(nil, func(tx *store.Tx) (err error) {
		until, err = tx.DeleteProject(id, "alice")
		return err
	})
	return until
}

// fill writes a config, and files with these contents.
func (c *catalog) fill(id int64, config string, contents ...string) {
	c.Helper()
	by := store.Author{User: "alice", Via: "push"}
	before, err := c.view().Newest(id, store.Config)
	if err != nil {
		c.Fatal(err)
	}
	write, err := store.PrepareConfig(before, []byte(config), by)
	if err != nil {
		c.Fatal(err)
	}
	files, blobs := filesOf(c, contents...)
	list, err := store.PrepareFiles(store.Revision{}, files.Canonical(), sentAll(files), by)
	if err != nil {
		c.Fatal(err)
	}
	c.write(nil, func(tx *store.Tx) error {
		if _, _, err := tx.WriteConfig(id, write, store.Condition{}); err != nil {
			return err
		}
		if err := tx.PutBlobs(id, blobs); err != nil {
			return err
		}
		_, _, err := tx.WriteFiles(id, list)
		return err
	})
}

func TestAddProject_ShowsWhatItBinds(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		id := c.create(nil, c.project("web"))
		p, err := c.view().Project(id)
		if err != nil || p.String() != "@acme/web" || p.Stack.String() != "@acme/site" || p.API.String() != "@acme/pets" {
			t.Fatalf("%+v, %v", p, err)
		}
		written := p.Config.HasConfig() || p.Config.At != 0 || p.Config.User != "" || p.Files.N != 0
		if p.ResolvedVersion() != "1.0.0" || written {
			t.Errorf("%+v", p)
		}
		c.fill(id, `{"a":1}`, "x", "yy")
		p, err = c.view().Project(id)
		if err != nil || !p.Config.HasConfig() || p.Config.At == 0 || p.Config.Via != "push" {
			t.Errorf("%+v, %v", p, err)
		}
		if p.Files.Files != 2 || p.Files.Bytes != 3 {
			t.Errorf("%+v", p.Files)
		}
		state, err := c.view().ProjectState(id)
		want := store.ProjectState{
			Config: store.WrittenBy{Digest: p.Config.Digest, User: "alice", Via: "push"},
			Files:  store.WrittenBy{Digest: p.Files.Digest, User: "alice", Via: "push"},
		}
		if err != nil || state != want {
			t.Errorf("%+v, %v", state, err)
		}
	})
}

func TestAddProject_ConflictComesBeforeWhatItBinds(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		id := c.create(nil, c.project("web"))
		none := c.project("web")
		none.Stack.ID = 0
		c.create(store.ErrExists, none)
		none.Slug = "shop"
		c.create(store.ErrNotPublished, none)
		version := c.project("shop")
		version.StackVersion, version.API.ID = "2.0.0", 0
		c.create(store.ErrNotPublished, version)
		version.StackVersion = "1.0.0"
		c.create(store.ErrNoAPI, version)
		var empty int64
		c.write(nil, func(tx *store.Tx) (err error) { empty, err = tx.AddStack(1, "empty", "alice"); return err })
		version.Stack.ID, version.StackVersion = empty, "latest"
		c.create(store.ErrNotPublished, version)
		if n := c.count("projects"); n != 1 {
			t.Errorf("%d projects", n)
		}
		c.write(store.ErrNoAPI, func(tx *store.Tx) error {
			p, err := tx.LockProject(id)
			if err != nil {
				return err
			}
			p.API.ID = c.stack
			return tx.EditProject(p)
		})
	})
}

func TestDeleteProject_FreesTheNameAndEndsItsTokens(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		first := c.create(nil, c.project("web"))
		c.sql(`INSERT INTO tokens (hash, shown, name, account_id, scopes, only_account_id, resource_id, created_at)
			VALUES ('h', '', '', 1, '', 1, ?, 1)`, first)
		c.fill(first, `{"a":1}`, "x")
		if until := c.remove(first); until == 0 {
			t.Error("it is not kept")
		}
		if _, err := c.view().Project(first); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		second := c.create(nil, c.project("web"))
		a, err := c.view().Access(store.AccessQuery{Token: "h", Account: "acme", Kind: store.KindProject, Slug: "web"})
		if err != nil || a.RevokedAt == 0 || a.Resource.ID != 0 {
			t.Errorf("%+v, %v", a, err)
		}
		restore := func(want error, slug string) {
			t.Helper()
			trashed, err := c.view().Trashed(1, store.KindProject, "web")
			if err != nil || trashed.DeletedBy != "alice" {
				t.Fatal(trashed, err)
			}
			c.write(want, func(tx *store.Tx) error {
				_, _, err := tx.RestoreProject(trashed, slug)
				return err
			})
		}
		restore(store.ErrExists, "web")
		restore(nil, "web-old")
		p, err := c.view().Project(first)
		if err != nil || p.Slug != "web-old" || !p.Config.HasConfig() || p.Files.Files != 1 {
			t.Errorf("%+v, %v", p, err)
		}
		if n := c.count("tokens WHERE revoked_at <> 0"); n != 1 {
			t.Error("the token is valid again")
		}
		// The one that was deleted last is restored first.
		c.remove(second)
		third := c.create(nil, c.project("web"))
		c.sql("UPDATE resources SET deleted_at = deleted_at - 1000 WHERE id = ?", second)
		c.remove(third)
		trash, err := c.view().Trash(store.KindProject, []string{"acme"}, store.Name{}, 10)
		if err != nil || len(trash) != 1 || trash[0].ID != third {
			t.Errorf("%+v, %v", trash, err)
		}
		restore(nil, "web")
		if r, err := c.view().ResourceByName("acme", store.KindProject, "web"); err != nil || r.ID != third {
			t.Error(r, err)
		}
	})
}

func TestRestoreProject_BindsTheAPIThatHasTheName(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		id := c.create(nil, c.project("web"))
		c.sql("UPDATE projects SET public_preview = TRUE")
		c.write(store.ErrReference, func(tx *store.Tx) error { return tx.DeleteAPI(c.api, "alice") })
		c.remove(id)
		c.write(nil, func(tx *store.Tx) error { return tx.DeleteAPI(c.api, "alice") })
		trashed, err := c.view().Trashed(1, store.KindProject, "web")
		if err != nil {
			t.Fatal(err)
		}
		c.write(store.ErrNoAPI, func(tx *store.Tx) error { _, _, err := tx.RestoreProject(trashed, "web"); return err })
		again := c.register(nil, "pets", "{}")
		ended := false
		c.write(nil, func(tx *store.Tx) (err error) { _, ended, err = tx.RestoreProject(trashed, "web"); return err })
		if p, err := c.view().Project(id); err != nil || !ended || p.API.ID != again || p.PublicPreview {
			t.Errorf("%+v, %v, %v", p, ended, err)
		}
	})
}

func TestPurge_TakesAllThatBelongsToIt(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		id := c.create(nil, c.project("web"))
		c.fill(id, `{"a":1}`, "x")
		c.remove(id)
		c.write(nil, func(tx *store.Tx) error { return tx.DeleteAPI(c.api, "alice") })
		purge := func(want int) {
			t.Helper()
			if n, err := c.Purge(t.Context()); n != want || err != nil {
				t.Errorf("purged %d, %v, want %d", n, err, want)
			}
		}
		purge(0)
		c.sql("UPDATE resources SET deleted_at = 1 WHERE id = ?", c.api)
		purge(0) // the project uses the API
		c.sql("UPDATE resources SET deleted_at = 1 WHERE id = ?", id)
		purge(2)
		for table, column := range map[string]string{"revisions": "project_id", "blobs": "resource_id", "projects": "id"} {
			if n := c.count(table+" WHERE "+column+" = ?", id); n != 0 {
				t.Errorf("%d rows of %s", n, table)
			}
		}
		if n := c.count("audit WHERE action IN ('project.purge', 'api.purge') AND actor = 'hub'"); n != 2 {
			t.Errorf("%d rows of the audit log", n)
		}
	})
}

func TestDeleteExpired_DeletesInTime(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		p := c.project("pr-7")
		p.ExpiresAt = store.At(time.Now().Add(time.Hour))
		id := c.create(nil, p)
		if until := c.remove(id); until != 0 || c.count("resources WHERE id = ?", id) != 0 {
			t.Error("it is kept")
		}
		id = c.create(nil, p)
		c.create(nil, c.project("web"))
		if gone, err := c.DeleteExpired(t.Context()); err != nil || len(gone) != 0 {
			t.Error(gone, err)
		}
		c.sql("UPDATE projects SET expires_at = 1 WHERE id = ?", id)
		if gone, err := c.DeleteExpired(t.Context()); err != nil || len(gone) != 1 || gone[0].String() != "@acme/pr-7" {
			t.Error(gone, err)
		}
		if n := c.count("audit WHERE object = '@acme/pr-7' AND detail = 'expired'"); n != 1 || c.count("projects") != 1 {
			t.Error(n)
		}
	})
}

// copy copies the project source, which ends with the error want.
func (c *catalog) copy(want error, source int64, slug string, by store.Author) (id int64) {
	p := c.project(slug)
	made, err := c.BeginCopy(c.Context(), source, p.Resource)
	if err == nil {
		err = c.CopyBlobs(c.Context(), made)
	}
	if err != nil {
		c.Fatal(err)
	}
	p.ID = made.ID
	c.write(want, func(tx *store.Tx) (err error) {
		if id, err = tx.AddProject(p); err != nil {
			return err
		}
		return tx.FinishCopy(id, made, by)
	})
	return id
}

func TestCopyProject_HasBlobsOfItsOwn(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		source := c.create(nil, c.project("web"))
		c.fill(source, `{"a":1,"b":2}`, "x", "y", "x")
		by := store.Author{User: "bob", Via: "create"}
		id := c.copy(nil, source, "copy", by)
		p, err := c.view().Project(id)
		want, _ := c.view().Project(source)
		same := p.Config.Digest == want.Config.Digest && p.Files.Digest == want.Files.Digest
		if err != nil || !same || p.Config.User != "bob" {
			t.Errorf("%+v, want %+v, %v", p, want, err)
		}
		if r, err := c.view().Newest(id, store.Config); err != nil || r.Added != 2 {
			t.Errorf("%+v, %v", r, err)
		}
		c.remove(source)
		c.sql("DELETE FROM resources WHERE id = ?", source)
		files, err := c.view().Newest(id, store.Files)
		if err != nil {
			t.Fatal(err)
		}
		list, err := tree.Read(files.Content)
		if err != nil || len(list) != 3 || c.count("blobs WHERE resource_id = ?", id) != 2 {
			t.Error(list, err)
		}
		if _, err := c.BeginCopy(t.Context(), source, c.project("none").Resource); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a copy of a project that was deleted: %v", err)
		}
	})
}

// A copy copies in batches, shows nowhere until it is a project, and leaves nothing if it never becomes one.
func TestCopyBlobs_ArePurgedAfterADay(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		source := c.create(nil, c.project("web"))
		c.fill(source, `{"a":1}`, strings.Repeat("x", 3<<20), strings.Repeat("y", 3<<20), strings.Repeat("z", 5<<20))
		before := c.count("resources")
		made, err := c.BeginCopy(t.Context(), source, c.project("copy").Resource)
		if err == nil {
			err = c.CopyBlobs(t.Context(), made)
		}
		if err != nil || c.count("blobs WHERE resource_id = ?", made.ID) != 3 {
			t.Error(made.ID, err)
		}
		trash, err := c.view().Trash(store.KindProject, []string{"acme"}, store.Name{}, 10)
		if err != nil || len(trash) != 0 || c.count("projects") != 1 {
			t.Error(trash, err)
		}
		if n, err := c.Purge(t.Context()); n != 0 || err != nil {
			t.Errorf("it was purged at once: %d, %v", n, err)
		}
		c.sql("UPDATE resources SET deleted_at = deleted_at - ? WHERE id = ?", store.Grace.Microseconds(), made.ID)
		if n, err := c.Purge(t.Context()); n != 1 || err != nil || c.count("resources") != before {
			t.Errorf("%d were purged, %v", n, err)
		}
	})
}

// A copy whose source lacks a blob does not come to be.
func TestCopyProject_FailsWithoutABlob(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		source := c.create(nil, c.project("web"))
		c.fill(source, `{"a":1}`, "x", "y")
		c.sql("DELETE FROM blobs WHERE resource_id = ? AND sha256 = ?", source, store.NewBlob([]byte("x")).SHA256)
		c.copy(store.ErrMissing, source, "copy", store.Author{})
		if n := c.count("projects"); n != 1 {
			t.Errorf("%d projects", n)
		}
	})
}

func TestListProjects_InPages(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		var ids []int64
		for i := range 5 {
			p := c.project(fmt.Sprint("p", i))
			if i%2 == 0 {
				p.Visibility = "public"
			}
			ids = append(ids, c.create(nil, p))
		}
		other := c.project("p0")
		other.AccountID, other.Visibility = 2, "public"
		c.create(nil, other)
		for i, test := range []struct {
			filter store.ProjectFilter
			want   []string
		}{
			{
				store.ProjectFilter{Accounts: []string{"acme"}},
				[]string{"@acme/p0", "@acme/p1", "@acme/p2", "@acme/p3", "@acme/p4"},
			},
			{store.ProjectFilter{}, nil},
			{store.ProjectFilter{Accounts: []string{"acme"}, Public: true, Search: "/p0"}, []string{"@acme/p0", "@other/p0"}},
			{store.ProjectFilter{Accounts: []string{"acme"}, Search: "_"}, nil},
			{store.ProjectFilter{Public: true, Within: "acme"}, []string{"@acme/p0", "@acme/p2", "@acme/p4"}},
			{
				store.ProjectFilter{Public: true, Within: "acme", Project: ids[1]},
				[]string{"@acme/p0", "@acme/p1", "@acme/p2", "@acme/p4"},
			},
			{store.ProjectFilter{Project: ids[3]}, []string{"@acme/p3"}},
		} {
			for _, limit := range []int{1, 2, 100} {
				var got []string
				f := test.filter
				for f.Limit = limit; ; {
					page, err := c.view().ListProjects(f)
					if err != nil {
						t.Fatal(err)
					}
					for _, p := range page {
						got = append(got, p.String())
						f.After = store.Name{Account: p.Account, Slug: p.Slug}
					}
					if len(page) < limit {
						break
					}
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("%d in pages of %d: %v, want %v", i, limit, got, test.want)
				}
			}
		}
		c.sql("UPDATE accounts SET disabled_at = 1 WHERE name = 'other'")
		page, err := c.view().ListProjects(store.ProjectFilter{Public: true, Limit: 100})
		if err != nil || len(page) != 3 {
			t.Error(page, err)
		}
	})
}

func TestPublishVersion_RisesAndNeverChanges(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		if p := c.publish(nil, "1.0.0", "a", "b"); !p.Already || p.First {
			t.Errorf("%+v", p)
		}
		c.publish(store.ErrExists, "1.0.0", "a")
		for _, test := range []struct {
			number, latest string
			newer          bool
		}{
			{"0.9.0", "1.0.0", false}, {"2.0.0-rc.1", "1.0.0", true}, {"1.1.0", "1.0.0", false}, {"2.0.0", "2.0.0", true},
		} {
			files, blobs := filesOf(t, test.number)
			w := store.PrepareVersion(test.number, files, "", nil, "alice")
			err := c.Write(t.Context(), func(tx *store.Tx) error {
				if err := tx.PutBlobs(c.stack, blobs); err != nil {
					return err
				}
				_, _, err := tx.PublishVersion(c.stack, w)
				return err
			})
			_, older := errors.AsType[*store.NotNewerError](err)
			s, _, readErr := c.view().Stack(c.stack)
			if older == test.newer || err != nil && !older || readErr != nil || s.Latest != test.latest {
				t.Errorf("%s: %v, %+v, %v", test.number, err, s, readErr)
			}
		}
		files, err := c.view().StackFiles(c.stack, "1.0.0")
		if want, _ := filesOf(t, "a", "b"); err != nil || files.Digest() != want.Digest() {
			t.Error(files, err)
		}
		missing, _ := filesOf(t, "never sent")
		w := store.PrepareVersion("3.0.0", missing, "", nil, "alice")
		c.write(store.ErrMissing, func(tx *store.Tx) error { _, _, err := tx.PublishVersion(c.stack, w); return err })
	})
}

func TestWithdrawVersion_LatestSkipsIt(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		withdraw := func(want error, number string, undo bool, latest string, changed bool) {
			t.Helper()
			c.write(want, func(tx *store.Tx) error {
				got, did, err := tx.WithdrawVersion(c.stack, number, undo)
				if err == nil && (got != latest || did != changed) {
					t.Errorf("%s, %v", got, did)
				}
				return err
			})
		}
		withdraw(store.ErrOnlyVersion, "1.0.0", false, "", false)
		withdraw(store.ErrNotFound, "1.1.0", false, "", false)
		c.publish(nil, "1.1.0", "x")
		id := c.create(nil, c.project("web"))
		withdraw(nil, "1.1.0", false, "1.0.0", true)
		withdraw(nil, "1.1.0", false, "1.0.0", false)
		c.publish(store.ErrWithdrawn, "1.1.0", "x")
		c.sql("UPDATE projects SET stack_version = '1.1.0'")
		if p, err := c.view().Project(id); err != nil || !p.Withdrawn || p.StackLatest != "1.0.0" {
			t.Errorf("%+v, %v", p, err)
		}
		withdraw(nil, "1.1.0", true, "1.1.0", true)
		if n, err := c.view().Followers(c.stack, 10); n != 0 || err != nil {
			t.Error(n, err)
		}
	})
}

func TestUpdateAPI_ReplacesTheDescription(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		for _, test := range []struct {
			document string
			changed  bool
		}{{"{}", false}, {`{"a":1}`, true}} {
			api, blobs := c.description("", test.document)
			c.write(nil, func(tx *store.Tx) error {
				after, changed, err := tx.UpdateAPI(c.api, api, blobs, "bob")
				other := after.Slug != "pets" || after.Document != api.Document || (after.UpdatedAt != 0) != test.changed
				if err == nil && (other || changed != test.changed) {
					t.Errorf("%+v, %v", after, changed)
				}
				return err
			})
		}
		if removed, err := c.Collect(t.Context(), c.api, -time.Hour); err != nil || removed != 1 {
			t.Error(removed, err)
		}
		a, err := c.view().API(c.api)
		if err != nil || a.UpdatedBy != "bob" {
			t.Fatalf("%+v, %v", a, err)
		}
		if _, err := c.view().Blobs(c.api, []string{a.Document, a.JSON, a.Targets}); err != nil {
			t.Error(err)
		}
	})
}

func TestAddAPI_MakesAFreeSlug(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		c.register(store.ErrExists, "pets", "{}")
		for _, want := range []string{"pets-2", "pets-3", "pets-4"} {
			api, blobs := c.description("pets", "{}")
			c.write(nil, func(tx *store.Tx) error {
				id, err := tx.AddAPI(api, blobs, true)
				if err != nil {
					return err
				}
				if added, err := tx.API(id); err != nil || added.Slug != want {
					t.Errorf("%s, %v, want %s", added.Slug, err, want)
				}
				return nil
			})
		}
		apis, err := c.view().APIs([]string{"acme"}, store.Name{Account: "acme", Slug: "pets"}, 2)
		if err != nil || len(apis) != 2 || apis[0].Slug != "pets-2" {
			t.Error(apis, err)
		}
	})
}

func TestCollect_KeepsTheFilesOfVersions(t *testing.T) {
	eachCatalog(t, func(c *catalog) {
		_, blobs := filesOf(t, "nobody names it")
		c.write(nil, func(tx *store.Tx) error { return tx.PutBlobs(c.stack, blobs) })
		if removed, err := c.Collect(t.Context(), c.stack, -time.Hour); err != nil || removed != 1 {
			t.Error(removed, err)
		}
		if n := c.count("blobs WHERE resource_id = ?", c.stack); n != 2 {
			t.Errorf("%d blobs", n)
		}
	})
}
