package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// purge deletes a project for good.
func purge(t *testing.T, s *store.Store, r ref.Ref) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		if err := tx.Expire(t.Context(), r, 1); err != nil {
			return err
		}
		_, err := tx.DeleteProject(t.Context(), r, "alice")
		return err
	})
}

func remove(t *testing.T, s *store.Store, r ref.Ref) (until store.Time) {
	t.Helper()
	write(t, s, func(tx *store.Tx) (err error) {
		until, err = tx.DeleteProject(t.Context(), r, "alice")
		return err
	})
	return until
}

func undelete(t *testing.T, s *store.Store, r ref.Ref) (was bool, err error) {
	t.Helper()
	err = s.Write(t.Context(), func(tx *store.Tx) error {
		p, err := tx.RestoreProject(t.Context(), r)
		was = err == nil && p.WasDeleted
		return err
	})
	return was, err
}

// filled makes @acme/web public, with two revisions and base files.
func filled(t *testing.T, s *store.Store) ref.Ref {
	t.Helper()
	web := project(t, s)
	if err := put(t.Context(), s, web, map[string]string{"a": "one", "b": "two"}); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{"a":1}`, `{"a":2}`} {
		write(t, s, func(tx *store.Tx) error {
			_, _, err := tx.WriteConfig(t.Context(), web, counted("alice", body))
			return err
		})
	}
	write(t, s, func(tx *store.Tx) error {
		_, err := tx.EditProject(t.Context(), web, func(p *store.Project) { p.Visibility = "public" })
		return errors.Join(err, tx.SetPublicPreview(t.Context(), web, true, "alice"), tx.EnforceSchema(t.Context(), web, true, "alice"))
	})
	return web
}

// shown is all that can be read of a project.
type shown struct {
	View    *store.ProjectView
	Config  string
	State   store.ProjectState
	History []store.ConfigEntry
	Files   map[string]string
	Trees   []store.FilesEntry
}

func show(t *testing.T, s *store.Store, r ref.Ref) (is shown) {
	t.Helper()
	ctx := t.Context()
	err := s.Read(ctx, func(v *store.View) (err error) {
		if is.View, err = v.Project(ctx, r); err != nil {
			return err
		}
		c, err := v.Config(ctx, r)
		if err != nil {
			return err
		}
		is.Config = string(c.Body)
		if is.State, err = v.ProjectState(ctx, r); err != nil {
			return err
		}
		if is.History, err = v.ConfigHistory(ctx, r, 0, 10); err != nil {
			return err
		}
		is.Trees, err = v.FileHistory(ctx, r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if is.Files, err = get(ctx, s, r); err != nil {
		t.Fatal(err)
	}
	return is
}

func TestRestoreProject_BringsBackAll(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web := filled(t, s)
		before := show(t, s, web)
		if until := remove(t, s, web); until == 0 {
			t.Error("nothing says until when it can be restored")
		}
		collect(t, s, none) // keeps its blobs
		for _, want := range []bool{true, false} {
			if was, err := undelete(t, s, web); was != want || err != nil {
				t.Errorf("it was deleted: %v, %v; want %v", was, err, want)
			}
		}
		if diff := cmp.Diff(before, show(t, s, web)); diff != "" {
			t.Error(diff)
		}
	})
}

// Whatever reads or changes a project does not find one that is deleted.
func TestDeleteProject_LeavesNothingToReadOrChange(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web, ctx := filled(t, s), t.Context()
		remove(t, s, web)
		for name, read := range map[string]func(v *store.View) error{
			"Project":        func(v *store.View) error { _, err := v.Project(ctx, web); return err },
			"ProjectState":   func(v *store.View) error { _, err := v.ProjectState(ctx, web); return err },
			"Config":         func(v *store.View) error { _, err := v.Config(ctx, web); return err },
			"ConfigSize":     func(v *store.View) error { _, err := v.ConfigSize(ctx, web); return err },
			"ConfigHistory":  func(v *store.View) error { _, err := v.ConfigHistory(ctx, web, 0, 1); return err },
			"ConfigEntryOf":  func(v *store.View) error { _, err := v.ConfigEntryOf(ctx, web, sumOf(`{"a":1}`)); return err },
			"ConfigRevision": func(v *store.View) error { _, err := v.ConfigRevision(ctx, web, sumOf(`{"a":1}`)); return err },
			"SnapshotDigest": func(v *store.View) error { _, err := v.SnapshotDigest(ctx, web); return err },
			"FileHistory":    func(v *store.View) error { _, err := v.FileHistory(ctx, web); return err },
		} {
			if err := s.Read(ctx, read); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, change := range map[string]func(tx *store.Tx) error{
			"DeleteProject": func(tx *store.Tx) error { _, err := tx.DeleteProject(ctx, web, "alice"); return err },
			"EditProject": func(tx *store.Tx) error {
				_, err := tx.EditProject(ctx, web, func(p *store.Project) { p.Visibility = "private" })
				return err
			},
			"WriteConfig": func(tx *store.Tx) error {
				_, _, err := tx.WriteConfig(ctx, web, counted("alice", `{"a":3}`))
				return err
			},
			"SwapSnapshot": func(tx *store.Tx) error { return swapTo(ctx, tx, web, nil) },
			"CopyContents": func(tx *store.Tx) error {
				other := webProject()
				other.Slug = "other"
				if err := tx.CreateProject(ctx, other); err != nil {
					return err
				}
				return tx.CopyContents(ctx, mustRef(t, "@acme/other"), web, store.ConfigWrite{})
			},
		} {
			if err := s.Write(ctx, change); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := s.Write(ctx, func(tx *store.Tx) error { return tx.CreateProject(ctx, webProject()) }); !errors.Is(err, store.ErrDeleted) {
			t.Errorf("a project of the same name: %v", err)
		}
	})
}

func TestDeleteProject_LeavesLists(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web, ctx := filled(t, s), t.Context()
		other := webProject()
		other.Slug, other.Visibility = "zoo", "public"
		write(t, s, func(tx *store.Tx) error { return tx.CreateProject(ctx, other) })
		remove(t, s, web)
		err := s.Read(ctx, func(v *store.View) error {
			for _, f := range []store.ProjectFilter{
				{Accounts: []string{"acme"}, Limit: 1}, {Accounts: []string{"acme"}, PublicOnly: true, Limit: 1}, {Limit: 1}, {Search: "e", Limit: 1},
			} {
				page, err := v.VisibleProjects(ctx, f)
				if len(page) > 0 && page[0].Slug != "zoo" || len(page) == 0 && f.Search == "" {
					t.Errorf("%+v: %v", f, page)
				}
				if err != nil {
					return err
				}
			}
			following, err := v.Followers(ctx, mustRef(t, "@acme/stack"), 10)
			if err != nil || following != 1 {
				t.Errorf("%d projects follow the stack, %v", following, err)
			}
			using, err := v.ProjectsUsing(ctx, mustRef(t, "@acme/pets"), 10)
			if len(using) != 1 || using[0].Slug != "zoo" {
				t.Errorf("%v use the API", using)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestDeletedProjects_Pages(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web, ctx := filled(t, s), t.Context()
		for _, slug := range []string{"a", "z"} {
			p := webProject()
			p.Slug = slug
			write(t, s, func(tx *store.Tx) error { return tx.CreateProject(ctx, p) })
			remove(t, s, mustRef(t, "@acme/"+slug))
		}
		until := remove(t, s, web)
		list := func(accounts []string, after ref.Ref, limit int) (slugs []string) {
			t.Helper()
			if err := s.Read(ctx, func(v *store.View) error {
				page, err := v.DeletedProjects(ctx, accounts, after, limit)
				for _, d := range page {
					if slugs = append(slugs, d.Slug); d.Slug == "web" && (d.KeptUntil != until || d.DeletedBy != "alice") {
						t.Errorf("%+v", d)
					}
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return slugs
		}
		if got := list([]string{"acme", "alice"}, ref.Ref{}, 2); !slices.Equal(got, []string{"a", "web"}) {
			t.Errorf("the first page: %q", got)
		}
		if got := list([]string{"acme"}, web, 2); !slices.Equal(got, []string{"z"}) {
			t.Errorf("the second page: %q", got)
		}
		if got := list([]string{"alice"}, ref.Ref{}, 2); got != nil {
			t.Errorf("of another account: %q", got)
		}
	})
}

func TestPurgeDeleted_RemovesWhatIsNoLongerKept(t *testing.T) {
	keepTrees(t, 20)
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		web, ctx := filled(t, s), t.Context()
		if err := put(ctx, s, web, map[string]string{"a": "three"}); err != nil {
			t.Fatal(err)
		}
		remove(t, s, web)
		purged := func(want int) {
			t.Helper()
			if n, err := s.PurgeDeleted(ctx); n != want || err != nil {
				t.Errorf("%d were purged, %v; want %d", n, err, want)
			}
		}
		purged(0)
		collect(t, s, none)
		if n := blobs(t, s); n != 3 {
			t.Errorf("%d blobs are kept, want 3", n)
		}
		execute(t, address, "UPDATE deleted_projects SET kept_until = 1")
		purged(1)
		purged(0)
		if _, err := undelete(t, s, web); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("it can be restored: %v", err)
		}
		for _, table := range []string{"projects", "configs", "deleted_projects", "config_history", "config_bodies", "base_sets", "file_history", "public_previews", "enforced_schemas"} {
			if n := rowsOf(t, address, table); n != 0 {
				t.Errorf("%d rows of %s are left", n, table)
			}
		}
		collect(t, s, none)
		if n := blobs(t, s); n != 0 {
			t.Errorf("%d blobs are left", n)
		}
		if got := auditRows(t, s, store.AuditFilter{}); !slices.Equal(got, []string{"acme hub project.purge"}) {
			t.Errorf("the audit log says %q", got)
		}
		write(t, s, func(tx *store.Tx) error { return tx.CreateProject(ctx, webProject()) })
	})
}

func TestRestoreProject_NeedsItsAPI(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		web, ctx := filled(t, s), t.Context()
		remove(t, s, web)
		write(t, s, func(tx *store.Tx) error { _, err := tx.DeleteAPI(ctx, mustRef(t, "@acme/pets")); return err })
		if _, err := undelete(t, s, web); !errors.Is(err, store.ErrAPINotFound) {
			t.Errorf("without its API: %v", err)
		}
		write(t, s, func(tx *store.Tx) error {
			return tx.CreateAPI(ctx, &store.API{Account: "acme", Slug: "pets"}, &store.Document{Text: []byte("{}")}, false)
		})
		if was, err := undelete(t, s, web); !was || err != nil {
			t.Errorf("with it again: %v, %v", was, err)
		}
	})
}

func TestCheck_ReadsDeletedProjects(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := open(t, address)
		remove(t, s, filled(t, s))
		if problems := check(t, s, false); len(problems) > 0 {
			t.Errorf("undamaged: %v", problems)
		}
		for _, statement := range []string{
			"UPDATE deleted_projects SET revision = 'x' || revision", "UPDATE config_history SET revision = 'x' || revision", "UPDATE base_sets SET tree = 'x' || tree",
		} {
			before := len(check(t, s, false))
			execute(t, address, statement)
			if after := len(check(t, s, false)); after <= before {
				t.Errorf("%s: %d problems, %d before", statement, after, before)
			}
		}
		if p := check(t, s, false)[0]; !strings.HasPrefix(p.Remedy, "restore the project with tool project restore @acme/web, then replace it: tool push NAME --force") {
			t.Errorf("%v: %s", p.Cause, p.Remedy)
		}
	})
}
