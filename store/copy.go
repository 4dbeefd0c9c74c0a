package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"example.com/projecthub/store/sqldb"
)

// table is a table of the schema.
type table struct {
	name        string
	columns     []string
	isBool      []bool // for each column; SQLite returns booleans as numbers
	hasSequence bool   // its ids come from one
}

// tables returns all tables in the order of schema.sql: each after those that it refers to.
func tables() (all []table) {
	creates := regexp.MustCompile(`(?s)CREATE TABLE (\w+) \(\n(.*?)\n\);`)
	columns := regexp.MustCompile(`(\w+) +(ID|NAME|BIGINT|BOOLEAN|BYTES)\b`)
	for _, created := range creates.FindAllStringSubmatch(schema, -1) {
		t := table{name: created[1]}
		for _, column := range columns.FindAllStringSubmatch(created[2], -1) {
			name, kind := column[1], column[2]
			t.columns, t.isBool = append(t.columns, name), append(t.isBool, kind == "BOOLEAN")
			t.hasSequence = t.hasSequence || kind == "ID"
		}
		all = append(all, t)
	}
	return all
}

// ErrNotEmpty says that a database has rows already.
var ErrNotEmpty = errors.New("the database is not empty")

// ErrUnfinished says that a copy to a database has not ended, or was interrupted.
var ErrUnfinished = errors.New("the database is incomplete: a copy to it is still running, or was interrupted")

// copying is the name of a row in tasks, which a database has until a copy to it has ended.
const copying = "copying"

func (s *Store) checkComplete(ctx context.Context) error {
	unfinished, err := s.View(ctx).Exists("SELECT 1 FROM tasks WHERE name = ?", copying)
	if unfinished {
		return ErrUnfinished
	}
	return err
}

// CopyTo copies all rows, as they are at one moment, to another store, which may use the other kind of database. That
// must be migrated, and have no rows: ErrNotEmpty. If the copy fails later, or is interrupted, the other store has a
// part of the rows: Migrate and CheckSchema return ErrUnfinished for it.
func (s *Store) CopyTo(ctx context.Context, to *Store) error {
	for _, t := range tables() {
		some, err := to.View(ctx).Exists("SELECT 1 FROM " + t.name)
		if err != nil {
			return err
		}
		if some {
			return fmt.Errorf("%w: it has rows in %s", ErrNotEmpty, t.name)
		}
	}
	err := to.Write(ctx, func(tx *Tx) error {
		return tx.exec("INSERT INTO tasks (name, ran_at) VALUES (?, ?)", copying, tx.Now())
	})
	if err != nil {
		return err
	}
	err = s.Snapshot(ctx, func(v View) error {
		for _, t := range tables() {
			if err := t.copy(ctx, v, to); err != nil {
				return fmt.Errorf("copy the table %s: %w", t.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return to.Write(ctx, func(tx *Tx) error { return tx.exec("DELETE FROM tasks WHERE name = ?", copying) })
}

// A transaction of a copy ends once it has so many rows, or bytes.
const (
	copyRows  = 200
	copyBytes = 4 << 20
)

func (t table) copy(ctx context.Context, from View, to *Store) error {
	columns := strings.Join(t.columns, ", ")
	insert := "INSERT INTO " + t.name + " (" + columns + ") VALUES (" + sqldb.List(len(t.columns)) + ")"
	var rows [][]any
	bytes := 0
	flush := func() error {
		err := to.Write(ctx, func(tx *Tx) error {
			for _, row := range rows {
				if err := tx.exec(insert, row...); err != nil {
					return err
				}
			}
			return nil
		})
		rows, bytes = rows[:0], 0
		return err
	}
	err := sqldb.Each(from, t.fields, func(row []any) error {
		for i := range row {
			switch value := row[i].(type) {
			case int64:
				if t.isBool[i] {
					row[i] = value != 0
				}
			case []byte:
				bytes += len(value)
			}
		}
		rows = append(rows, row)
		if len(rows) < copyRows && bytes < copyBytes {
			return nil
		}
		return flush()
	}, "SELECT "+columns+" FROM "+t.name+" ORDER BY 1") // so a token comes after its parent
	if err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	if t.hasSequence {
		return t.copySequence(ctx, from, to)
	}
	return nil
}

// fields allocates row with a value for each column, and returns pointers to them.
func (t table) fields(row *[]any) (to []any) {
	*row = make([]any, len(t.columns))
	for i := range *row {
		to = append(to, &(*row)[i])
	}
	return to
}

// copySequence sets the last used id in the other store, so that none is used twice.
func (t table) copySequence(ctx context.Context, from View, to *Store) error {
	last := "SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = '" + t.name + "'"
	if from.IsPostgres() {
		last = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM " + t.name + "_id_seq"
	}
	var id int64
	if err := from.One(sqldb.Row(&id), last); err != nil || id == 0 {
		return err
	}
	return to.Write(ctx, func(tx *Tx) error {
		if tx.IsPostgres() {
			return tx.One(sqldb.Row(new(int64)), "SELECT setval('"+t.name+"_id_seq', ?)", id)
		}
		if err := tx.exec("DELETE FROM sqlite_sequence WHERE name = ?", t.name); err != nil {
			return err
		}
		return tx.exec("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", t.name, id)
	})
}

// Backup writes a copy of an SQLite database, as it is at one moment, to a new file, which is on disk when Backup
// returns. The copy has no certificates, because their keys are secret. It fails as [sqldb.DB.CopyInto] does;
// PostgreSQL has programs of its own for this.
func (s *Store) Backup(ctx context.Context, path string) error {
	return s.CopyInto(ctx, path, "DELETE FROM certificates")
}
