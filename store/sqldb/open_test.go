package sqldb_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

func TestOpen_DoesNotCreateMissingDatabase(t *testing.T) {
	address := storetest.SQLite(t)
	_, err := sqldb.Open(t.Context(), address, sqldb.Options{})
	if missing, ok := errors.AsType[*sqldb.MissingError](err); !ok || missing.Path != sqldb.Path(address) {
		t.Errorf("got %v, want a MissingError", err)
	}
}

func TestOpen_RejectsMalformedAddress(t *testing.T) {
	for _, address := range []string{"", "hub.db", "sqlite:", "mysql://x", "postgres://%zz", "postgres://h:port/"} {
		if _, err := sqldb.Open(t.Context(), address, sqldb.Options{}); !errors.Is(err, sqldb.ErrAddress) {
			t.Errorf("%q: %v, want ErrAddress", address, err)
		}
	}
}

func TestOpen_SQLiteFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode bits on Windows")
	}
	address := storetest.SQLite(t)
	db := open(t, address)
	if _, err := db.Lock(); err != nil {
		t.Fatal(err)
	}
	copied := sqldb.Path(address) + ".copy"
	if err := db.CopyInto(t.Context(), copied, "DELETE FROM names"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(sqldb.Path(address) + "*")
	if err != nil || len(files) != 5 { // itself, -wal, -shm, .lock and the copy
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", filepath.Base(file), info.Mode(), err)
		}
	}
}

func TestLock_OneHubPerSQLiteFile(t *testing.T) {
	address := storetest.SQLite(t)
	db := open(t, address)
	unlock, err := db.Lock()
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Lock()
	if !errors.Is(err, sqldb.ErrInUse) || !strings.HasSuffix(err.Error(), fmt.Sprintf("(process %d)", os.Getpid())) {
		t.Errorf("a second lock: %v, want ErrInUse with the process", err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(sqldb.Path(address), link); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, "sqlite:"+link).Lock(); !errors.Is(err, sqldb.ErrInUse) {
		t.Errorf("by a link: %v, want ErrInUse", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Lock(); err != nil {
		t.Errorf("after unlocking: %v", err)
	}
}

func TestMigrate_IsDoneOnceBySeveralHubs(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	var group sync.WaitGroup
	taken := make([]int, 6)
	for i := range taken {
		db := openEmpty(t, address)
		group.Go(func() {
			done, err := db.Migrate(t.Context(), names)
			if err != nil {
				t.Error(err)
			}
			taken[i] = len(done)
		})
	}
	group.Wait()
	sum := 0
	for _, n := range taken {
		sum += n
	}
	if sum != 1 {
		t.Errorf("one step was taken %d times", sum)
	}
}

func TestMigrate_UnmarkedStepWasNotTaken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		db := openEmpty(t, address)
		// A table of marks that takes none ends the migration where a crash can.
		execute(t, address, "CREATE TABLE bun_migrations (id INTEGER PRIMARY KEY, name TEXT CHECK (name = ''), "+
			"group_id INTEGER, migrated_at TIMESTAMP)")
		if done, err := db.Migrate(t.Context(), names); err == nil || len(done) != 0 {
			t.Fatalf("a step without its mark: %v, %v", done, err)
		}
		execute(t, address, "DROP TABLE bun_migrations")
		db = openEmpty(t, address) // as after a crash
		if done, err := db.Migrate(t.Context(), names); err != nil || len(done) != 1 {
			t.Errorf("the next try: %v, %v", done, err)
		}
		if err := addName(t.Context(), db, "a"); err != nil {
			t.Error(err)
		}
	})
}

func TestCheckSchema(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		db := openEmpty(t, address)
		if err := db.CheckSchema(t.Context(), names); !errors.Is(err, sqldb.ErrSchemaOld) {
			t.Errorf("an empty database: %v", err)
		}
		more := sqldb.Step{Name: "0002", SQL: "CREATE TABLE more (id ID, name NAME NOT NULL)"}
		if done, err := db.Migrate(t.Context(), names, more); err != nil || len(done) != 2 {
			t.Fatal(done, err)
		}
		if err := db.CheckSchema(t.Context(), names, more); err != nil {
			t.Error(err)
		}
		if err := db.CheckSchema(t.Context(), names); !errors.Is(err, sqldb.ErrSchemaNew) {
			t.Errorf("one of a newer hub: %v", err)
		}
		last := sqldb.Step{Name: "0003", SQL: "CREATE TABLE last (id ID)"}
		if err := db.CheckSchema(t.Context(), names, more, last); !errors.Is(err, sqldb.ErrSchemaOld) {
			t.Errorf("one of an older hub: %v", err)
		}
	})
}

func TestMigrate_RoleWithoutRights(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, address, "GRANT USAGE ON SCHEMA "+u.Query().Get("search_path")+" TO pg_monitor") // a role of every server
	db := openEmpty(t, address+"&role=pg_monitor")
	if _, err := db.Migrate(t.Context(), names); !errors.Is(err, sqldb.ErrSchemaRights) {
		t.Errorf("an empty database: %v, want ErrSchemaRights", err)
	}
	open(t, address)
	if err := db.CheckSchema(t.Context(), names); !errors.Is(err, sqldb.ErrRights) {
		t.Errorf("without a right to read: %v, want ErrRights", err)
	}
	execute(t, address, "GRANT SELECT ON bun_migrations TO pg_monitor")
	if done, err := db.Migrate(t.Context(), names); err != nil || len(done) != 0 {
		t.Errorf("a schema that is up to date needs no right to change it: %v, %v", done, err)
	}
}

func TestView_ReadsWhatIsCommitted(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		v := db.View(t.Context())
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if err := add(tx, "a"); err != nil {
				return err
			}
			if err := tx.One(sqldb.Row(new(string)), "SELECT name FROM names WHERE name = ?", "a"); err != nil {
				t.Errorf("in the transaction: %v", err)
			}
			err := v.One(sqldb.Row(new(string)), "SELECT name FROM names WHERE name = ?", "a")
			if !errors.Is(err, sqldb.ErrNotFound) {
				t.Errorf("before the commit: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if err := v.One(sqldb.Row(new(string)), "SELECT name FROM names WHERE name = ?", "a"); err != nil {
			t.Errorf("after the commit: %v", err)
		}
	})
}

func TestNow_DoesNotAdvanceInATransaction(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		before, err := db.View(t.Context()).Now()
		if err != nil {
			t.Fatal(err)
		}
		err = db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if first, second := tx.Now(), tx.Now(); first < before || second != first {
				t.Errorf("%d before, %d and %d within", before, first, second)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestSnapshot_SeesOneMoment(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		if err := addName(t.Context(), db, "before"); err != nil {
			t.Fatal(err)
		}
		err := db.Snapshot(t.Context(), func(v sqldb.View) error {
			for _, name := range []string{"first", "second"} {
				var seen []string
				err := sqldb.Each(v, func(name *string) []any { return sqldb.Row(name) }, func(name string) error {
					seen = append(seen, name)
					return nil
				}, "SELECT name FROM names")
				if err != nil || len(seen) != 1 {
					t.Errorf("%v, %v", seen, err)
				}
				if err := addName(t.Context(), db, name); err != nil {
					return err
				}
			}
			return sqldb.ErrNotFound
		})
		if !errors.Is(err, sqldb.ErrNotFound) {
			t.Error(err)
		}
		if got := stored(t, db); len(got) != 3 {
			t.Errorf("stored are %v", got)
		}
	})
}
