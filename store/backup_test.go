package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/store"
	"example.com/projecthub/store/migrations"
	"example.com/projecthub/store/storetest"
)

func TestCheckBackup_KeepsAllThatIsRead(t *testing.T) {
	s := open(t, storetest.SQLite(t))
	project(t, s)
	backup := backupOf(t, s)
	r, err := store.CheckBackup(bytes.NewReader(backup))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, backup) {
		t.Errorf("%v, %d of %d bytes", err, len(got), len(backup))
	}
	if _, err := store.CheckBackup(strings.NewReader("openapi: 3.1.0")); !errors.Is(err, store.ErrBackup) {
		t.Errorf("%v", err)
	}
	skipped := &countingReader{r: io.MultiReader(strings.NewReader("\x50\x2a\x4d\x18\xff\xff\xff\x0f"), zeros{})} // a frame of 256 MiB that says nothing
	if _, err := store.CheckBackup(skipped); !errors.Is(err, store.ErrBackup) || skipped.n > 8<<20 {
		t.Errorf("%v, after %d bytes that were kept", err, skipped.n)
	}
}

type countingReader struct {
	r io.Reader
	n int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestBackup_IsRestoredToBothDatabases gives every table a row, and compares backups of a
// database and of those that it was restored to.
func TestBackup_IsRestoredToBothDatabases(t *testing.T) {
	ctx := t.Context()
	storetest.Each(t, func(t *testing.T, address string) {
		s := storetest.Open(t, address)
		fillEveryTable(t, address)
		backup := backupOf(t, s)
		for name, other := range map[string]string{"sqlite": storetest.SQLite(t), "postgres": storetest.Postgres(t)} {
			restored, err := store.Open(ctx, other, store.Options{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { restored.Close() })
			rows, err := restored.Restore(ctx, bytes.NewReader(backup))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, want := sortedLines(t, backupOf(t, restored)), sortedLines(t, backup); got != want || rows == 0 {
				t.Errorf("%s: %d rows are restored as\n%s\nnot\n%s", name, rows, got, want)
			}
			if _, err := restored.Restore(ctx, bytes.NewReader(backup)); !errors.Is(err, store.ErrNotEmpty) {
				t.Errorf("%s: a second time: %v", name, err)
			}
		}
	})
}

// TestRestore_RefusesWhatIsNoWholeBackup cuts a backup at many places and changes bytes.
func TestRestore_RefusesWhatIsNoWholeBackup(t *testing.T) {
	ctx := t.Context()
	address := storetest.SQLite(t)
	s := storetest.Open(t, address)
	fillEveryTable(t, address)
	backup := backupOf(t, s)
	storetest.Each(t, func(t *testing.T, address string) {
		empty, err := store.Open(ctx, address, store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer empty.Close()
		for i := 0; i < len(backup); i += 1 + len(backup)/40 {
			changed := bytes.Clone(backup)
			changed[i] ^= 0x10
			for what, bad := range map[string][]byte{"cut": backup[:i], "changed": changed, "appended": append(bytes.Clone(backup), backup...)} {
				if _, err := empty.Restore(ctx, bytes.NewReader(bad)); err == nil {
					t.Fatalf("a backup that is %s at %d is restored", what, i)
				}
			}
		}
		if _, err := empty.Restore(ctx, bytes.NewReader(backup)); err != nil {
			t.Errorf("after the others, the whole one: %v", err)
		}
	})
}

// TestRestore_RefusesCraftedBackups restores what no hub wrote, with a valid checksum.
func TestRestore_RefusesCraftedBackups(t *testing.T) {
	ctx := t.Context()
	steps := strings.SplitN(emptyBackup(t), "\n", 2)[0]
	const account = `{"table": "accounts", "columns": [{"name": "name", "type": "text"}, {"name": "kind", "type": "text"}, {"name": "created_at", "type": "integer"}, {"name": "disabled_at", "type": "%s"}]}`
	storetest.Each(t, func(t *testing.T, address string) {
		empty, err := store.Open(ctx, address, store.Options{Create: true, MaxRow: 64 << 10})
		if err != nil {
			t.Fatal(err)
		}
		defer empty.Close()
		for name, c := range map[string]struct{ lines, why string }{
			"marks of steps":      {`{"table": "bun_migrations", "columns": [{"name": "name", "type": "text"}]}` + "\n" + `["0001"]`, "no such table"},
			"a system table":      {`{"table": "sqlite_sequence", "columns": [{"name": "name", "type": "text"}]}` + "\n" + `["x"]`, "no such table"},
			"SQL in a name":       {`{"table": "accounts; DROP TABLE accounts", "columns": []}`, "no such table"},
			"SQL in a column":     {`{"table": "accounts", "columns": [{"name": "name) SELECT 1 --", "type": "text"}]}`, "other columns"},
			"another type":        {fmt.Sprintf(account, "text") + "\n" + `["anna", "user", 1, "never"]`, "other columns"},
			"an unknown type":     {fmt.Sprintf(account, "") + "\n" + `["anna", "user", 1, "never"]`, "other columns"},
			"a huge number":       {fmt.Sprintf(account, "integer") + "\n" + `["anna", "user", 1e400, 0]`, "cannot unmarshal"},
			"a number above 2^63": {fmt.Sprintf(account, "integer") + "\n" + `["anna", "user", 9223372036854775808, 0]`, "cannot unmarshal"},
			"a row before tables": {`["anna"]`, "cannot unmarshal"},
			"an endless line":     {`["` + strings.Repeat("x", 1<<20) + `"]`, "longer than"},
			"depth":               {strings.Repeat("[", 20_000), "depth"},
		} {
			_, err := empty.Restore(ctx, bytes.NewReader(zipped(t, steps+"\n"+c.lines+"\n"+`{"rows": 1}`+"\n")))
			if !errors.Is(err, store.ErrBackup) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v, want %q", name, err, c.why)
			}
		}
		window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 20 << 3, 0x01, 0x00, 0x00} // of 1 GiB
		if _, err := empty.Restore(ctx, bytes.NewReader(window)); !errors.Is(err, zstd.ErrWindowSizeExceeded) {
			t.Errorf("a window of 1 GiB: %v", err)
		}
		if _, err := empty.Restore(ctx, bytes.NewReader(zipped(t, steps+"\n"+fmt.Sprintf(account, "integer")+"\n"+`["anna", "user", 1, 0]`+"\n"+`{"rows": 1}`))); err != nil {
			t.Errorf("after the others, a valid one: %v", err)
		}
	})
}

// TestRestore_NeedsMemoryForItsLongestRow restores archives that are short, and endless once
// they are decompressed.
func TestRestore_NeedsMemoryForItsLongestRow(t *testing.T) {
	ctx := t.Context()
	steps := strings.SplitN(emptyBackup(t), "\n", 2)[0] + "\n"
	const maxRow, endless = 1 << 20, 16 << 20
	table := steps + `{"table": "accounts", "columns": [{"name": "name", "type": "text"}, {"name": "kind", "type": "text"}, {"name": "created_at", "type": "integer"}, {"name": "disabled_at", "type": "integer"}]}` + "\n"
	storetest.Each(t, func(t *testing.T, address string) {
		empty, err := store.Open(ctx, address, store.Options{Create: true, MaxRow: maxRow})
		if err != nil {
			t.Fatal(err)
		}
		defer empty.Close()
		for name, c := range map[string]struct{ begin, repeated, why string }{
			"a header of many steps":  {`{"format": "projecthub-backup-1", "migrations": [""`, `,""`, "its first line is longer than"},
			"a long step":             {`{"format": "projecthub-backup-1", "migrations": ["`, `x`, "its first line is longer than"},
			"a table of many columns": {steps + `{"table": "accounts", "columns": [{}`, `,{}`, "longer than"},
			"a row of many values":    {table + `[0`, `,0`, "a row is longer than 1048576 bytes"},
			"a long value":            {table + `["`, `x`, "a row is longer than 1048576 bytes"},
			"a long row that ends":    {table + `["anna", "user"` + strings.Repeat(",0", maxRow/2-20) + "]\n", "", "a row has more than 4 values"},
			"a long table that ends":  {steps + `{"table": "accounts", "columns": [{}` + strings.Repeat(",{}", maxRow/3-20) + "]}\n", "", "the line of a table is longer than 65536 bytes"},
			"space between values":    {table + `["anna",`, ` `, "a row is longer than 1048576 bytes"},
			"space between lines":     {table, ` `, "a row is longer than 1048576 bytes"},
		} {
			text := c.begin
			if c.repeated != "" {
				text += strings.Repeat(c.repeated, endless/len(c.repeated))
			}
			archive := bytes.NewReader(zipped(t, text))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := empty.Restore(ctx, archive)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, store.ErrBackup) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v, want %q", name, err, c.why)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 32*maxRow {
				t.Errorf("%s: it allocates %d bytes", name, took)
			}
		}
	})
}

// emptyBackup returns a backup of an empty database as text.
func emptyBackup(t *testing.T) string {
	t.Helper()
	text, err := unzipped(backupOf(t, storetest.Open(t, storetest.SQLite(t))))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll([]byte(text), nil)
}

func unzipped(backup []byte) (string, error) {
	r, err := zstd.NewReader(nil)
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := r.DecodeAll(backup, nil)
	return string(text), err
}

// fillEveryTable inserts two rows into each table. All texts of a row are the same, so that
// they refer to each other.
func fillEveryTable(t *testing.T, address string) {
	t.Helper()
	db := openRaw(t, address)
	tables, err := migrations.Tables()
	if err != nil {
		t.Fatal(err)
	}
	if found := catalog(t, db, address); !slices.Equal(slices.Sorted(slices.Values(tables)), found) {
		t.Fatalf("the tables are %q, not %q", found, tables)
	}
	for _, table := range tables {
		if _, err := db.Exec("DELETE FROM " + table); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range tables {
		for i, text := range []string{"a 'quoted' \u202e\n\\ name", "ä"} {
			insert(t, db, table, text, i)
		}
	}
}

func insert(t *testing.T, db *sql.DB, table, text string, i int) {
	t.Helper()
	rows, err := db.Query("SELECT * FROM " + table + " WHERE 1 = 0")
	if err != nil {
		t.Fatal(err)
	}
	columns, err := rows.ColumnTypes()
	rows.Close()
	if err != nil {
		t.Fatal(err)
	}
	var names, marks []string
	var values []any
	for _, c := range columns {
		names, marks = append(names, c.Name()), append(marks, fmt.Sprintf("$%d", len(marks)+1))
		if table == "packs" && c.Name() == "object" { // it has its own body
			values = append(values, "")
			continue
		}
		switch strings.ToUpper(c.DatabaseTypeName()) {
		case "TEXT":
			values = append(values, text)
		case "BIGINT", "INT8":
			values = append(values, int64(i)<<62+int64(len(values)))
		case "BOOLEAN", "BOOL":
			values = append(values, i == 0)
		default:
			values = append(values, [][]byte{{0, 255, '\n', '"'}, {}}[i])
		}
	}
	statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "), strings.Join(marks, ", "))
	if _, err := db.Exec(statement, values...); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
}

// catalog returns the names of the tables that a database has, sorted.
func catalog(t *testing.T, db *sql.DB, address string) []string {
	t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'bun%'"
	if !strings.HasPrefix(address, "sqlite:") {
		query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT LIKE 'bun%'"
	}
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func backupOf(t *testing.T, s *store.Store) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.Backup(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sortedLines returns what is in a backup, without the order of rows.
func sortedLines(t *testing.T, backup []byte) string {
	t.Helper()
	text, err := unzipped(backup)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(text, "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}
