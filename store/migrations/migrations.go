// Package migrations holds the schema of the hub's database as numbered steps.
// A step that was released never changes. One text serves both databases; only
// the names of two types differ.
package migrations

import (
	"context"
	"embed"
	"io/fs"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/migrate"
)

//go:embed *.sql
var files embed.FS

// All returns the steps in their order.
func All() (*migrate.Migrations, error) {
	all := migrate.NewMigrations()
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		number, comment, _ := strings.Cut(strings.TrimSuffix(name, ".sql"), "_")
		all.Add(migrate.Migration{
			Name:    number,
			Comment: comment,
			Up: func(ctx context.Context, m *migrate.Migrator, _ *migrate.Migration) error {
				return run(ctx, m.DB(), string(text))
			},
		})
	}
	return all, nil
}

// run executes a step in one transaction, so that it happened whole or not at all.
func run(ctx context.Context, db *bun.DB, text string) error {
	// Names sort by byte everywhere, whatever the database's own collation.
	types := strings.NewReplacer(" NAME", ` TEXT COLLATE "C"`, " BYTES", " BYTEA")
	if db.Dialect().Name() == dialect.SQLite {
		types = strings.NewReplacer(" NAME", " TEXT", " BYTES", " BLOB")
	}
	return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, types.Replace(text))
		return err
	})
}
