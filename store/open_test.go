package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

func TestMigrate_TwiceIsOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := storetest.Open(t, address)
		if err := s.CheckSchema(t.Context()); err != nil {
			t.Error(err)
		}
		if done, err := s.Migrate(t.Context()); err != nil || len(done) != 0 {
			t.Errorf("a second Migrate: %v, %v", done, err)
		}
	})
}

func TestMigrate_UnmarkedStepWasNotTaken(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s, err := store.Open(t.Context(), address, store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		// A table of marks that takes none ends the migration where a crash can.
		execute(t, address, "CREATE TABLE bun_migrations (id INTEGER PRIMARY KEY, name TEXT CHECK (name = ''), group_id INTEGER, migrated_at TIMESTAMP)")
		if done, err := s.Migrate(t.Context()); err == nil || len(done) != 0 {
			t.Fatalf("a step without its mark: %v, %v", done, err)
		}
		execute(t, address, "DROP TABLE bun_migrations")
		if done, err := s.Migrate(t.Context()); err != nil || len(done) == 0 {
			t.Errorf("the next try: %v, %v", done, err)
		}
		if err := s.CheckSchema(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// openRaw opens a database without the store.
func openRaw(t *testing.T, address string) *sql.DB {
	t.Helper()
	driver := "pgx"
	if path := store.Path(address); path != "" {
		driver, address = "sqlite", path
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// execute runs a statement on a database without the store.
func execute(t *testing.T, address, statement string) {
	t.Helper()
	if _, err := openRaw(t, address).ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_DoesNotCreateMissingDatabase(t *testing.T) {
	address := storetest.SQLite(t)
	var missing *store.MissingError
	if _, err := store.Open(t.Context(), address, store.Options{}); !errors.As(err, &missing) || missing.Path != store.Path(address) {
		t.Errorf("got %v, want a MissingError", err)
	}
}

func TestCheckSchema_UnreadableIsNotOld(t *testing.T) {
	address := storetest.Postgres(t)
	storetest.Open(t, address)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, address, "GRANT USAGE ON SCHEMA "+u.Query().Get("search_path")+" TO pg_monitor") // a role that is always there
	s, err := store.Open(t.Context(), address+"&role=pg_monitor", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CheckSchema(t.Context()); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("without rights: %v", err)
	}
}

func TestCheckSchema_EmptyDatabaseIsOutdated(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s, err := store.Open(t.Context(), address, store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchemaOld) {
			t.Errorf("got %v", err)
		}
	})
}

func TestOpen_RejectsMalformedAddress(t *testing.T) {
	for _, address := range []string{"", "hub.db", "sqlite:", "mysql://x", "postgres://%zz", "postgres://h:port/"} {
		if _, err := store.Open(t.Context(), address, store.Options{}); !errors.Is(err, store.ErrAddress) {
			t.Errorf("%q: %v, want ErrAddress", address, err)
		}
	}
}

func TestOpen_SQLiteFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode bits on Windows")
	}
	address := storetest.SQLite(t)
	s := storetest.Open(t, address)
	if _, err := s.Lock(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(store.Path(address) + "*")
	if err != nil || len(files) != 4 { // itself, -wal, -shm and .lock
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
	s := storetest.Open(t, address)
	unlock, err := s.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock(); !errors.Is(err, store.ErrInUse) || !strings.HasSuffix(err.Error(), fmt.Sprintf("(process %d)", os.Getpid())) {
		t.Errorf("a second lock: %v, want ErrInUse with the process", err)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(store.Path(address), link); err != nil {
		t.Fatal(err)
	}
	if _, err := storetest.Open(t, "sqlite:"+link).Lock(); !errors.Is(err, store.ErrInUse) {
		t.Errorf("by a link: %v, want ErrInUse", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock(); err != nil {
		t.Errorf("after unlocking: %v", err)
	}
}

func TestRead_EndsWithContext(t *testing.T) {
	reads := map[string]func(context.Context, *store.View) error{
		"any": func(ctx context.Context, v *store.View) error {
			_, err := v.Account(ctx, "none")
			return err
		},
		"frequent": func(ctx context.Context, v *store.View) error {
			_, err := v.Bearer(ctx, "none")
			return err
		},
	}
	storetest.Each(t, func(t *testing.T, address string) {
		s := storetest.Open(t, address)
		for name, read := range reads {
			ask := func(ctx context.Context) error {
				return s.Read(ctx, func(v *store.View) error { return read(ctx, v) })
			}
			waiting, release, err := s.Occupy(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			before := waiting()
			first, second := make(chan error, 1), make(chan error, 1)
			go func() { first <- ask(t.Context()) }()
			for counted := name == "any" || store.Path(address) == ""; counted && waiting() == before; {
				runtime.Gosched()
			}
			ended, end := context.WithTimeout(t.Context(), 10*time.Millisecond)
			go func() { second <- ask(ended) }()
			select {
			case err := <-second:
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: the second call: %v", name, err)
				}
			case <-time.After(time.Minute):
				t.Errorf("%s: the second call waits for the first one", name)
			}
			end()
			release()
			if err := <-first; !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: the first call: %v", name, err)
			}
		}
	})
}

// A database of an earlier release is copied before it changes.
func TestMigrate_CopiesSQLiteFirst(t *testing.T) {
	address := storetest.SQLite(t)
	s := storetest.Open(t, address)
	execute(t, address, "INSERT INTO accounts (name, kind, created_at, disabled_at) VALUES ('alice', 'user', 1, 0)")
	copied := store.Path(address) + ".before-0018"
	if _, err := os.Stat(copied); err == nil {
		t.Error("a new database was copied")
	}
	execute(t, address, "DROP TABLE expiring_projects; DELETE FROM bun_migrations WHERE name = '0018'")
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := rowsOf(t, "sqlite:"+copied, "accounts"); n != 1 {
		t.Errorf("the copy has %d accounts", n)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the copy: %v, %v", info, err)
	}
}
