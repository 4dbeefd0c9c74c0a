package store_test

import (
	"errors"
	"os"
	"regexp"
	"testing"

	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

func TestCopyTo_AnyDatabase(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		last := newProject(t, s)
		execute(t, s, "DELETE FROM resources WHERE id = ?", last)
		set, blobs := files(t, "a", "b", "")
		err := errors.Join(putConfig(t, s, project, `{"a":1}`, store.Condition{}), push(t, s, project, set, blobs))
		if err != nil {
			t.Fatal(err)
		}
		execute(t, s, `INSERT INTO tokens (hash, shown, name, account_id, parent_id, scopes, created_at)
			SELECT 'one', '', '', id, NULL, '', 1 FROM accounts WHERE id = (SELECT MIN(id) FROM accounts)`)
		execute(t, s, `INSERT INTO tokens (hash, shown, name, account_id, parent_id, scopes, created_at)
			SELECT 'two', '', '', account_id, id, '', 1 FROM tokens`)
		execute(t, s, "UPDATE projects SET enforce_schema = TRUE WHERE id = ?", project)
		kinds := map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres}
		for kind, address := range kinds {
			t.Run("to "+kind, func(t *testing.T) {
				to := open(t, address(t))
				if err := s.CopyTo(t.Context(), to); err != nil {
					t.Fatal(err)
				}
				for name := range store.Columns() {
					var want, got int
					count := "SELECT count(*) FROM " + name
					err := errors.Join(s.View(t.Context()).One(sqldb.Row(&want), count),
						to.View(t.Context()).One(sqldb.Row(&got), count))
					if err != nil || got != want {
						t.Errorf("%s: %d rows of %d, %v", name, got, want, err)
					}
				}
				v := to.View(t.Context())
				now, err := v.Newest(project, store.Files)
				config, configErr := v.Newest(project, store.Config)
				rule, ruleErr := v.SettingsSchema(project)
				err = errors.Join(err, configErr, ruleErr)
				if err != nil || now.Digest != set.Digest() || string(config.Content) != `{"a":1}` || !rule.Enforced {
					t.Errorf("%+v, %+v, %v", now, config, err)
				}
				if _, err := to.Check(t.Context(), false, func(p store.Problem) { t.Error(p.Cause) }); err != nil {
					t.Error(err)
				}
				if id := newProject(t, to); id <= last {
					t.Errorf("the id %d is given again", id)
				}
				if err := s.CopyTo(t.Context(), to); !errors.Is(err, store.ErrNotEmpty) {
					t.Errorf("to a database with rows: %v", err)
				}
			})
		}
	})
}

// A copy that ends early leaves a database that no command takes for a whole one.
func TestCopyTo_LeavesNoPartThatIsTakenForAWhole(t *testing.T) {
	withProject(t, func(t *testing.T, s *store.Store, project int64) {
		for kind, address := range map[string]string{"sqlite": storetest.SQLite(t), "postgres": storetest.Postgres(t)} {
			to := open(t, address)
			execute(t, to, "ALTER TABLE revisions RENAME COLUMN body TO other")
			if err := s.CopyTo(t.Context(), to); err == nil {
				t.Fatal("it was copied")
			}
			if some, err := to.View(t.Context()).Exists("SELECT 1 FROM accounts"); err != nil || !some {
				t.Error("nothing was copied before it failed:", err)
			}
			_, migrateErr := to.Migrate(t.Context())
			for _, err := range []error{to.CheckSchema(t.Context()), migrateErr} {
				if !errors.Is(err, store.ErrUnfinished) {
					t.Errorf("to %s: %v", kind, err)
				}
			}
			if err := s.CopyTo(t.Context(), to); !errors.Is(err, store.ErrNotEmpty) {
				t.Errorf("to %s again: %v", kind, err)
			}
		}
	})
}

func TestCopyTo_KnowsAllColumns(t *testing.T) {
	s := open(t, storetest.SQLite(t))
	tables, err := sqldb.Column[string](s.View(t.Context()),
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'bun_%'")
	if err != nil || len(tables) != len(store.Columns()) {
		t.Fatalf("%d tables, of %d: %v", len(store.Columns()), len(tables), err)
	}
	for _, name := range tables {
		columns, err := sqldb.Column[string](s.View(t.Context()), "SELECT name FROM pragma_table_info(?)", name)
		if err != nil || len(columns) != len(store.Columns()[name]) {
			t.Errorf("%s has %v, not %v; %v", name, columns, store.Columns()[name], err)
		}
	}
}

func TestBackup_HasAllButCertificates(t *testing.T) {
	s := open(t, storetest.SQLite(t))
	project := newProject(t, s)
	execute(t, s, "INSERT INTO certificates (name, data) VALUES ('key', ?)", []byte("a secret that no backup has"))
	path := t.TempDir() + "/backup.db"
	if err := s.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || regexp.MustCompile("a secret").Match(text) {
		t.Error("the copy has certificates:", err)
	}
	copied := open(t, "sqlite:"+path)
	if _, err := copied.View(t.Context()).Newest(project, store.Config); err != nil {
		t.Error(err)
	}
	if err := s.Backup(t.Context(), path); !errors.Is(err, os.ErrExist) {
		t.Errorf("to a file that exists: %v", err)
	}
}
