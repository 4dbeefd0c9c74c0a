// Package storetest opens empty databases for tests: a temporary SQLite file, or
// a fresh schema of a real PostgreSQL.
package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

// PostgresVariable names the environment variable with the address of a
// PostgreSQL database in which tests may make schemas.
const PostgresVariable = "HUB_TEST_POSTGRES"

// RequireVariable names the environment variable that forbids skipping.
const RequireVariable = "TEST_REQUIRE_ALL"

// Missing skips a test that needs what the machine lacks, or fails it where skipping is
// forbidden.
func Missing(t testing.TB, need string) {
	t.Helper()
	if os.Getenv(RequireVariable) != "" {
		t.Fatal("needs " + need)
	}
	t.Skip("needs " + need)
}

// Each runs f as one subtest a database. Without a PostgreSQL that part is
// skipped, or fails where skipping is forbidden.
func Each(t *testing.T, f func(t *testing.T, address string)) {
	t.Run("sqlite", func(t *testing.T) { f(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { f(t, Postgres(t)) })
}

// SQLite returns the address of an SQLite file that does not exist.
func SQLite(t testing.TB) string {
	return "sqlite:" + filepath.Join(t.TempDir(), "hub.db")
}

// Postgres returns the address of a fresh schema, which goes with the test.
func Postgres(t testing.TB) string {
	t.Helper()
	base := os.Getenv(PostgresVariable)
	if base == "" {
		Missing(t, "PostgreSQL: set "+PostgresVariable+" to postgres://USER:PASSWORD@HOST/DATABASE")
	}
	db, err := sql.Open("pgx", base)
	if err != nil {
		t.Fatal(err)
	}
	schema := "test_" + strings.ToLower(rand.Text())
	if _, err := db.Exec("CREATE SCHEMA " + schema); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP SCHEMA " + schema + " CASCADE"); err != nil {
			t.Error(err)
		}
		db.Close()
	})
	address, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	q := address.Query()
	q.Set("search_path", schema)
	address.RawQuery = q.Encode()
	return address.String()
}

// Open returns a migrated store at address, which is closed with the test.
func Open(t testing.TB, address string) *store.Store {
	t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, address, store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// OpenCopy is Open, which takes longer than most tests, with a copy of an SQLite file that is migrated already. Nothing
// syncs the copy.
func OpenCopy(t testing.TB, address string) *store.Store {
	t.Helper()
	path := sqldb.Path(address)
	if _, err := os.Stat(path); path != "" && err != nil {
		once.Do(func() {
			first := SQLite(t)
			Open(t, first).Close()
			migrated, _ = os.ReadFile(sqldb.Path(first)) // without it, each test migrates
		})
		if err := os.WriteFile(path, migrated, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Open(t, address)
}

var (
	once     sync.Once
	migrated []byte // what an SQLite file contains that has the schema, and no data
)
