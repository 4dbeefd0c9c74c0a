package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun/migrate"

	"example.com/projecthub/store/migrations"
)

// ErrNotEmpty says that a database has accounts, which nothing may replace.
var ErrNotEmpty = errors.New("the database is not empty")

// Restore fills an empty database with a backup of any database, in one transaction, and
// returns the number of rows. It brings the schema to the version of the backup first, and
// up to date afterwards. On SQLite the caller holds [Store.Lock]. ErrNotEmpty when there
// are accounts already, ErrBackup when r is not a whole backup; then nothing has changed.
func (s *Store) Restore(ctx context.Context, r io.Reader) (rows int64, err error) {
	b, head, err := newBackupReader(r, s.maxRow)
	if err != nil {
		return 0, err
	}
	defer b.unzip.Close()
	known := slices.Contains(head.Migrations, objectsStep)
	if s.objects != nil && !known {
		return 0, errors.New("the backup is of a hub that had no object stores: restore it without --blobs, make a backup of that, and restore this one")
	}
	if err := s.migrateTo(ctx, head.Migrations); err != nil {
		return 0, err
	}
	if known {
		if err := s.UseObjects(ctx); err != nil {
			return 0, err
		}
	}
	if s.objects != nil {
		b.outside = newUploading(s.objects)
	}
	if rows, err = s.fill(ctx, b); err != nil {
		return 0, errors.Join(wrap(err), b.outside.abort(ctx))
	}
	_, err = s.Migrate(ctx)
	return rows, err
}

// migrateTo takes the steps that a backup has taken.
func (s *Store) migrateTo(ctx context.Context, steps []string) error {
	all, err := migrations.All()
	if err != nil {
		return err
	}
	known := names(all.Sorted())
	if len(steps) > len(known) || !slices.Equal(known[:len(steps)], steps) {
		return fmt.Errorf("the backup is of a newer hub: its schema has %d steps, this hub knows %d", len(steps), len(known))
	}
	if _, err := s.migrate(ctx, len(steps)); err != nil {
		return err
	}
	m := migrate.NewMigrator(s.write, all, migrate.WithTableName(migrations.Marks))
	found, err := m.MigrationsWithStatus(ctx)
	if err != nil {
		return wrap(err)
	}
	if n := len(found.Applied()); n != len(steps) {
		return fmt.Errorf("the database's schema has taken %d steps and the backup's %d: restore it to a new database", n, len(steps))
	}
	return nil
}

// fill inserts the rows of a backup, in one transaction.
func (s *Store) fill(ctx context.Context, b *backupReader) (rows int64, err error) {
	conn, err := s.write.DB.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	begin := []string{"BEGIN IMMEDIATE"}
	if s.dsn.path == "" {
		begin = append([]string{"BEGIN", "LOCK TABLE accounts IN EXCLUSIVE MODE"}, withoutLimits()...)
	}
	for _, statement := range begin {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return 0, errors.Join(err, rollback(ctx, conn))
		}
	}
	if rows, err = s.fillTables(ctx, conn, b); err != nil {
		return 0, errors.Join(err, rollback(ctx, conn))
	}
	if err := b.outside.wait(); err != nil { // no row is committed before its object is stored
		return 0, errors.Join(err, rollback(ctx, conn))
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return rows, err
}

func rollback(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return err
}

func (s *Store) fillTables(ctx context.Context, conn *sql.Conn, b *backupReader) (rows int64, err error) {
	if err := clearEmpty(ctx, conn); err != nil {
		return 0, err
	}
	insert := insertRows
	if s.dsn.path == "" {
		insert = copyRows
	}
	for {
		var line struct {
			backupTable
			backupEnd
		}
		raw, err := b.line()
		if err != nil {
			return rows, err
		}
		if len(raw) > maxOther {
			return rows, fmt.Errorf("%w: the line of a table is longer than %d bytes", ErrBackup, maxOther)
		}
		if err := json.Unmarshal(raw, &line); err != nil {
			return rows, damaged(err)
		}
		if line.Table == "" {
			return rows, b.end(line.Rows, rows)
		}
		if err := checkTable(ctx, conn, line.backupTable); err != nil {
			return rows, fmt.Errorf("table %.100q: %w", line.Table, err)
		}
		n, err := insert(ctx, conn, line.backupTable, b)
		if err != nil {
			return rows, fmt.Errorf("table %s: %w", line.Table, err)
		}
		rows += n
	}
}

// checkTable refuses a table that is not the hub's, or has other columns than the database's.
func checkTable(ctx context.Context, conn *sql.Conn, t backupTable) error {
	known, err := backupTables()
	if err != nil {
		return err
	}
	if !slices.Contains(known, t.Table) {
		return fmt.Errorf("%w: a hub has no such table", ErrBackup)
	}
	rows, err := conn.QueryContext(ctx, "SELECT * FROM "+quoteName(t.Table)+" WHERE 1 = 0")
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := columnsOf(rows)
	if err != nil {
		return err
	}
	byName := func(a, b backupColumn) int { return strings.Compare(a.Name, b.Name) }
	if !slices.Equal(slices.SortedFunc(slices.Values(columns), byName), slices.SortedFunc(slices.Values(t.Columns), byName)) {
		return fmt.Errorf("%w: it has other columns", ErrBackup)
	}
	return rows.Err()
}

// clearEmpty removes the few rows that a hub writes before there are accounts.
func clearEmpty(ctx context.Context, conn *sql.Conn) error {
	var accounts int
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM accounts").Scan(&accounts); err != nil {
		return err
	}
	if accounts > 0 {
		return fmt.Errorf("%w: it has accounts", ErrNotEmpty)
	}
	for _, table := range []string{"periodic_work", "devices"} {
		if _, err := conn.ExecContext(ctx, "DELETE FROM "+table); err != nil && !isNoTable(err) {
			return err
		}
	}
	return nil
}

func damaged(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", ErrBackup, err)
}

// end checks that the backup says of itself what was read, and that nothing follows.
func (b *backupReader) end(said, read int64) error {
	if said != read {
		return fmt.Errorf("%w: it has %d rows, not the %d that it says", ErrBackup, read, said)
	}
	if _, err := b.lines.Token(); !errors.Is(err, io.EOF) { // reads the checksum, too
		return fmt.Errorf("%w: more follows its end: %w", ErrBackup, err)
	}
	return nil
}

func (b *backupReader) line() (json.RawMessage, error) {
	if line := b.ahead; line != nil {
		b.ahead = nil
		return line, nil
	}
	var line json.RawMessage
	b.text.left, b.text.full = b.maxRow, &RowTooLongError{b.maxRow}
	if err := b.lines.Decode(&line); err != nil {
		return nil, damaged(err)
	}
	return line, nil
}

// row returns the values of a table's next row, nil after the last.
func (b *backupReader) row(t backupTable) ([]any, error) {
	line, err := b.line()
	if err != nil {
		return nil, err
	}
	if line[0] != '[' {
		b.ahead = line
		return nil, nil
	}
	// Value by value: an array of far more than there are columns would need many times its length.
	values := json.NewDecoder(bytes.NewReader(line))
	if _, err := values.Token(); err != nil {
		return nil, damaged(err)
	}
	row := make([]any, len(t.Columns))
	for i, column := range t.Columns {
		if !values.More() {
			return nil, fmt.Errorf("%w: a row has %d values, not %d", ErrBackup, i, len(t.Columns))
		}
		value := column.Type.pointer()
		if err := values.Decode(value); err != nil {
			return nil, damaged(err)
		}
		row[i] = reflect.ValueOf(value).Elem().Interface()
	}
	if values.More() {
		return nil, fmt.Errorf("%w: a row has more than %d values", ErrBackup, len(t.Columns))
	}
	if b.outside != nil && t.Table == packTable {
		return row, b.outside.add(t.Columns, row)
	}
	return row, nil
}

// names are the columns of a table.
func (t backupTable) names() []string {
	var all []string
	for _, column := range t.Columns {
		all = append(all, column.Name)
	}
	return all
}

// insertRows inserts a table's rows into SQLite.
func insertRows(ctx context.Context, conn *sql.Conn, t backupTable, b *backupReader) (n int64, err error) {
	values := strings.TrimSuffix(strings.Repeat("?, ", len(t.Columns)), ", ")
	insert, err := conn.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", quoteName(t.Table), strings.Join(quoteNames(t.names()), ", "), values))
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	for {
		row, err := b.row(t)
		if err != nil || row == nil {
			return n, err
		}
		if _, err := insert.ExecContext(ctx, row...); err != nil {
			return n, err
		}
		n++
	}
}

// copyRows inserts a table's rows into PostgreSQL.
func copyRows(ctx context.Context, conn *sql.Conn, t backupTable, b *backupReader) (n int64, err error) {
	var invalid error // the database would say that the copy was cancelled
	err = conn.Raw(func(driver any) error {
		next := func() (row []any, err error) {
			row, invalid = b.row(t)
			return row, invalid
		}
		n, err = pgxOf(driver).CopyFrom(ctx, pgx.Identifier{t.Table}, t.names(), pgx.CopyFromFunc(next))
		return err
	})
	return n, cmp.Or(invalid, err)
}

func quoteNames(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteName(name)
	}
	return quoted
}

// quoteName quotes what a backup says is the name of a table or a column.
func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }
