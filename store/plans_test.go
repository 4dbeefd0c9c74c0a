package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// crowd fills a database with n rows of everything that grows: projects of acme,
// one in a hundred of them public, and what belongs to them.
func crowd(t *testing.T, address string, n int) *store.Store {
	t.Helper()
	s := open(t, address)
	project(t, s)
	old := store.At(time.Now().Add(-48 * time.Hour))
	for _, insert := range []string{
		`accounts (name, kind, created_at, disabled_at) %s SELECT 'u' || i, 'user', 0, 0 FROM n`,
		`stacks (account, slug, latest, newest) %s SELECT 'acme', 's' || i, '', '' FROM n`,
		`apis (account, slug, title, version, format, sha256, created_at, created_by) %s SELECT 'acme', 'pets-' || (i + 1), '', '', '', '', 0, '' FROM n`,
		`projects (account, slug, stack_account, stack_slug, stack_version, api_account, api_slug, visibility, created_at, created_by)
		%s SELECT 'acme', 'p' || i, 'acme', 'stack', 'latest', 'acme', 'pets', CASE WHEN i %% 100 = 0 THEN 'public' ELSE 'private' END, 0, 'alice' FROM n`,
		`configs (account, slug, revision, has_config, updated_at, updated_by, updated_via, body)
		%s SELECT 'acme', 'p' || i, '', false, 0, '', '', '' FROM n`,
		`base_sets (account, slug, tree, count, bytes, files, updated_at, updated_by, indexed_tree)
		%s SELECT 'acme', 'p' || i, 't', 0, 0, '', 0, '', 't' FROM n`,
		`base_set_contents (account, slug, sha256) %s SELECT 'acme', 'p' || i, 'd' || i FROM n`,
		fmt.Sprintf(`contents (account, sha256, size, stream, start, touched_at) %%s SELECT 'acme', 'd' || i, 1, 's' || i, 0, %d FROM n`, old),
		`packs (account, stream, start, length, body) %s SELECT 'acme', 's' || i, 0, 1, '' FROM n`,
		fmt.Sprintf(`answers (caller, method, path, key, body_hash, created_at, status) %%s SELECT 'alice', 'POST', '/', 'k' || i, '', %d, 200 FROM n`,
			store.At(time.Now())),
	} {
		numbers := fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)", n)
		execute(t, address, "INSERT INTO "+fmt.Sprintf(insert, numbers))
	}
	execute(t, address, fmt.Sprintf("INSERT INTO periodic_work (task, ran_at, position) VALUES ('collect', 0, %d)", store.At(time.Now().Add(-24*time.Hour))))
	if store.Path(address) == "" { // as PostgreSQL does on its own, and a hub never does in SQLite
		execute(t, address, "ANALYZE")
	}
	return s
}

// bounded fails the test unless none of the queries of f reads a number of rows
// that depends on how many there are.
func bounded(t *testing.T, s *store.Store, most int, f func() error) {
	t.Helper()
	plans, err := s.Plans(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) == 0 {
		t.Fatal("no query was seen")
	}
	for _, p := range plans {
		if p.Scans || p.Rows > most {
			t.Errorf("%d rows are read by %s", p.Rows, p)
		}
	}
}

// many is a number of rows that shows in every plan that reads all of them.
const many = 20_000

func TestQueries_ReadABoundedNumberOfRows(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a database")
	}
	storetest.Each(t, func(t *testing.T, address string) {
		s := crowd(t, address, many)
		stack := mustRef(t, "@acme/stack")
		late := mustRef(t, "@acme/p99")
		read := func(f func(v *store.View) error) func() error {
			return func() error { return s.Read(t.Context(), f) }
		}
		list := func(f store.ProjectFilter, want int) func() error {
			f.Limit = 51
			return read(func(v *store.View) error {
				page, err := v.Projects(t.Context(), f)
				if len(page) != want {
					t.Errorf("a page has %d projects, want %d", len(page), want)
				}
				return err
			})
		}
		visible := func(f store.ProjectFilter, want int) func() error {
			f.Limit = 51
			return read(func(v *store.View) error {
				page, err := v.VisibleProjects(t.Context(), f)
				if len(page) != want {
					t.Errorf("a page has %d projects, want %d", len(page), want)
				}
				return err
			})
		}
		const page = 51 * 5 // a project, its account, config, stack and base files
		own, one := []string{"acme", "alice"}, []string{"acme"}
		for name, c := range map[string]struct {
			most int
			f    func() error
		}{
			"the first page of the caller's accounts": {page, list(store.ProjectFilter{Accounts: own}, 51)},
			"a late page of the caller's accounts":    {page, list(store.ProjectFilter{Accounts: own, After: late}, 51)},
			"the first page of an account":            {page, list(store.ProjectFilter{Accounts: one}, 51)},
			"a late page of an account":               {page, list(store.ProjectFilter{Accounts: one, After: late}, 51)},
			"a stranger's first page":                 {page, list(store.ProjectFilter{Accounts: one, PublicOnly: true}, 51)},
			"a stranger's late page":                  {page, list(store.ProjectFilter{Accounts: one, PublicOnly: true, After: late}, 1)},
			"the first page of all public projects":   {page + 51, visible(store.ProjectFilter{}, 51)},
			"a late page of all public projects":      {page + 51, visible(store.ProjectFilter{After: mustRef(t, "@acme/p9")}, 11)},
			"the followers of a stack": {1000, read(func(v *store.View) error {
				n, err := v.Followers(t.Context(), stack, 1000)
				if n != 1000 {
					t.Errorf("%d followers", n)
				}
				return err
			})},
			"the projects that use an API": {page, read(func(v *store.View) error {
				users, err := v.ProjectsUsing(t.Context(), mustRef(t, "@acme/pets"), 51)
				if len(users) != 51 {
					t.Errorf("%d projects", len(users))
				}
				return err
			})},
			"an idempotency key": {1, func() error {
				return s.Write(t.Context(), func(tx *store.Tx) error {
					_, err := tx.ClaimAnswer(t.Context(), &store.Answer{Caller: "alice", Method: "POST", Path: "/", Key: "new"})
					return err
				})
			}},
			"a slug that many APIs have": {1, func() error {
				return s.Write(t.Context(), func(tx *store.Tx) error {
					slug, err := tx.FreeSlug(t.Context(), "acme", "pets")
					if want := fmt.Sprintf("pets-%d", many+2); slug != want {
						t.Errorf("slug %q, want %q", slug, want)
					}
					return err
				})
			}},
			"the purge of answers": {1000, func() error { _, err := s.PurgeAnswers(t.Context()); return err }},
			"a token by its start": {1, func() error {
				return s.Write(t.Context(), func(tx *store.Tx) error {
					if _, err := tx.RevokeToken(t.Context(), "abcdef"); !errors.Is(err, store.ErrNotFound) {
						return err
					}
					return nil
				})
			}},
		} {
			t.Run(name, func(t *testing.T) { bounded(t, s, c.most, c.f) })
		}
	})
}

func TestProjects_PagesListEachProjectOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		var want []string
		write(t, s, func(tx *store.Tx) error {
			want = nil
			for _, account := range []string{"acme", "alice"} {
				for i := range 7 {
					p := webProject()
					p.Account, p.Slug = account, fmt.Sprint("p", i)
					if i%2 == 0 {
						p.Visibility = "public"
					}
					if err := tx.CreateProject(t.Context(), p); err != nil {
						return err
					}
					want = append(want, "@"+account+"/"+p.Slug)
				}
				if account == "acme" {
					want = append(want, "@acme/web")
				}
			}
			return nil
		})
		for limit := 1; limit < 17; limit++ {
			var got []string
			for after := (ref.Ref{}); ; {
				var page []store.ProjectView
				err := s.Read(t.Context(), func(v *store.View) (err error) {
					page, err = v.Projects(t.Context(), store.ProjectFilter{Accounts: []string{"alice", "acme", "none"}, After: after, Limit: limit})
					return err
				})
				if err != nil || len(page) > limit {
					t.Fatalf("%d projects, %v", len(page), err)
				}
				if len(page) == 0 {
					break
				}
				for _, p := range page {
					got = append(got, "@"+p.Account+"/"+p.Slug)
				}
				after = mustRef(t, got[len(got)-1])
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("pages of %d list %v, want %v", limit, got, want)
			}
		}
	})
}

func TestPurgeAnswers_RemovesWhatExpired(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := crowd(t, address, 2500)
		if n, err := s.PurgeAnswers(t.Context()); n != 0 || err != nil {
			t.Errorf("%d of the fresh answers were removed, %v", n, err)
		}
		execute(t, address, fmt.Sprintf("UPDATE answers SET created_at = created_at - %d WHERE key <> 'k7'", 25*time.Hour.Microseconds()))
		if n, err := s.PurgeAnswers(t.Context()); n != 2499 || err != nil {
			t.Errorf("%d answers were removed, want 2499: %v", n, err)
		}
		write(t, s, func(tx *store.Tx) error {
			first, err := tx.ClaimAnswer(t.Context(), &store.Answer{Caller: "alice", Method: "POST", Path: "/", Key: "k7"})
			if first == nil {
				t.Error("the answer that had not expired is gone")
			}
			return err
		})
	})
}

func TestVisibleProjects_ListsReadableAndPublicProjectsOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		project(t, s)
		write(t, s, func(tx *store.Tx) error {
			for _, name := range []string{"bert", "gone"} {
				if err := tx.CreateAccount(t.Context(), name, store.KindUser); err != nil {
					return err
				}
			}
			for _, p := range []struct{ account, slug, visibility string }{
				{"acme", "open", "public"}, {"alice", "own", "private"}, {"bert", "app", "public"}, {"bert", "secret", "private"}, {"gone", "app", "public"},
			} {
				row := webProject()
				row.Account, row.Slug, row.Visibility = p.account, p.slug, p.visibility
				if err := tx.CreateProject(t.Context(), row); err != nil {
					return err
				}
			}
			_, err := tx.DisableAccount(t.Context(), "gone")
			return err
		})
		for _, c := range []struct {
			accounts []string
			search   string
			want     string
		}{
			{nil, "", "[acme/open bert/app]"},
			{[]string{"acme", "alice"}, "", "[acme/open acme/web alice/own bert/app]"},
			{[]string{"acme", "alice"}, "we", "[acme/web]"},
			{[]string{"acme", "alice"}, "E/O", "[acme/open alice/own]"},
			{[]string{"acme", "alice"}, "%", "[]"},
			{[]string{"acme", "alice"}, "_", "[]"},
			{nil, "secret", "[]"},
		} {
			for limit := 1; limit < 6; limit++ {
				got := []string{}
				for after := (ref.Ref{}); ; {
					var page []store.ProjectView
					err := s.Read(t.Context(), func(v *store.View) (err error) {
						page, err = v.VisibleProjects(t.Context(), store.ProjectFilter{Accounts: c.accounts, Search: c.search, After: after, Limit: limit})
						return err
					})
					if err != nil || len(page) > limit {
						t.Fatalf("%d projects, %v", len(page), err)
					}
					if len(page) == 0 {
						break
					}
					for _, p := range page {
						got = append(got, p.Account+"/"+p.Slug)
					}
					after = mustRef(t, "@"+got[len(got)-1])
				}
				if fmt.Sprint(got) != c.want {
					t.Errorf("%v searched for %q in pages of %d: %v, want %s", c.accounts, c.search, limit, got, c.want)
				}
			}
		}
	})
}
