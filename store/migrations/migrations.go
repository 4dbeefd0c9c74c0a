// Package migrations holds the schema of the hub's database as numbered steps.
// A step that was released never changes. One text serves both databases; only
// the names of two types differ.
package migrations

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/migrate"
)

//go:embed *.sql
var files embed.FS

// All returns the steps in their order. Each marks itself as taken.
func All() (*migrate.Migrations, error) {
	all := migrate.NewMigrations()
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	last := ""
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		number, comment, _ := strings.Cut(strings.TrimSuffix(name, ".sql"), "_")
		if number == last { // the mark of one would stand for both
			return nil, fmt.Errorf("two migrations have the number %s", number)
		}
		last = number
		all.Add(migrate.Migration{
			Name:    number,
			Comment: comment,
			Up: func(ctx context.Context, m *migrate.Migrator, step *migrate.Migration) error {
				return run(ctx, m.DB(), step, string(text))
			},
		})
	}
	return all, nil
}

var created = regexp.MustCompile(`(?m)^CREATE TABLE (\w+) `)

// Tables returns the names of all tables, each after those that it refers to, because
// a step creates it after them. The table Marks is not among them.
func Tables() ([]string, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, found := range created.FindAllSubmatch(text, -1) {
			all = append(all, string(found[1]))
		}
	}
	return all, nil
}

// Marks is the table that says which steps were taken.
const Marks = "bun_migrations"

// run takes a step and marks it as taken in one transaction: what ends the
// process in between leaves neither.
func run(ctx context.Context, db *bun.DB, step *migrate.Migration, text string) error {
	// Names sort by byte everywhere, whatever the database's own collation.
	types := strings.NewReplacer(" NAME", ` TEXT COLLATE "C"`, " BYTES", " BYTEA")
	if db.Dialect().Name() == dialect.SQLite {
		types = strings.NewReplacer(" NAME", " TEXT", " BYTES", " BLOB")
	}
	return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if db.Dialect().Name() == dialect.PG { // a large table takes its time
			if _, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, types.Replace(text)); err != nil {
			return err
		}
		_, err := tx.NewInsert().Model(step).ModelTableExpr(Marks).Exec(ctx)
		return err
	})
}
