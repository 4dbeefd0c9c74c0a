package sqldb_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

var names = sqldb.Step{Name: "0001", SQL: "CREATE TABLE names (name NAME PRIMARY KEY, body BYTES)"}

// each runs f with an empty database of each kind, which has a table of names.
func each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		t.Parallel()
		f(t, open(t, address))
	})
}

func open(t *testing.T, address string) *sqldb.DB {
	t.Helper()
	db := openEmpty(t, address)
	if _, err := db.Migrate(t.Context(), names); err != nil {
		t.Fatal(err)
	}
	return db
}

func openEmpty(t *testing.T, address string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), address, sqldb.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// openRaw opens a database without the package.
func openRaw(t *testing.T, address string) *sql.DB {
	t.Helper()
	driver := "pgx"
	if path := sqldb.Path(address); path != "" {
		driver, address = "sqlite", path
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t *testing.T, address, statement string) {
	t.Helper()
	if _, err := openRaw(t, address).ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func add(tx *sqldb.Tx, name string) error {
	_, err := tx.Exec("INSERT INTO names (name, body) VALUES (?, ?)", name, []byte{})
	return err
}

func addName(ctx context.Context, db *sqldb.DB, name string) error {
	return db.Write(ctx, func(tx *sqldb.Tx) error { return add(tx, name) })
}

func stored(t *testing.T, db *sqldb.DB) []string {
	t.Helper()
	all, err := sqldb.All(db.View(t.Context()), func(name *string) []any { return sqldb.Row(name) },
		"SELECT name FROM names ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// setting is the value of a setting in the session of v.
func setting(t *testing.T, v sqldb.View, name string) (value string) {
	t.Helper()
	text := "SHOW " + name
	if !v.IsPostgres() {
		text = "PRAGMA " + name
	}
	if err := v.One(sqldb.Row(&value), text); err != nil {
		t.Error(err)
	}
	return value
}

func numbered(i int) string { return fmt.Sprintf("n%03d", i) }
