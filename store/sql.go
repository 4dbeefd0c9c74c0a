package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// Queries are written with bun, except for two kinds, where bun costs too much:
//
//   - Those with large binary values, because bun writes values into the text of the
//     query, in hexadecimal. To insert a pack of 512 KiB then takes 13 times as long on
//     SQLite and 7 times as long on PostgreSQL, and to read one from PostgreSQL twice
//     as long. They go through execLarge and readLarge.
//   - Those that nearly every request runs, because SQLite takes three times as long to
//     compile one as to run it. They go through one, which prepares them.

// raw runs statements without bun.
type raw interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (v *View) raw() raw {
	if db, ok := v.db.(*bun.DB); ok {
		return db.DB
	}
	return v.db.(bun.Tx).Tx
}

// execLarge runs a statement with large values, with ? for each value.
func (tx *Tx) execLarge(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	statement, args = tx.rebind(statement, args)
	_, err := tx.raw().ExecContext(ctx, statement, args...)
	return err
}

// readLarge reads the one row of a query into dest; ErrNotFound when there is none.
func (v *View) readLarge(ctx context.Context, dest []any, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	query, args = v.rebind(query, args)
	if _, alone := v.db.(*bun.DB); alone && v.postgres() {
		// In one round trip: behind a pooler, the next one can go to another connection.
		args = append([]any{pgx.QueryExecModeExec, pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args[1:]...)
	}
	return wrap(v.raw().QueryRowContext(ctx, query, args...).Scan(dest...))
}

// affected returns how many rows a statement changed.
func affected(res sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// rebind numbers the placeholders of a statement as PostgreSQL wants them, and has
// the values sent in binary.
func (v *View) rebind(statement string, args []any) (string, []any) {
	if !v.postgres() {
		return statement, args
	}
	var b strings.Builder
	for i, part := range strings.Split(statement, "?") {
		if i > 0 {
			fmt.Fprintf(&b, "$%d", i)
		}
		b.WriteString(part)
	}
	return b.String(), append([]any{pgx.QueryExecModeDescribeExec}, args...)
}

// one reads the one row of a frequent query; ErrNotFound when there is none. SQLite
// prepares the query once a connection. PostgreSQL, for which that would be another
// round trip, gets it through bun.
func (v *View) one(ctx context.Context, dest any, query string, args ...any) error {
	db, ok := v.db.(*bun.DB)
	if !ok || v.postgres() {
		return wrap(v.db.(bun.IDB).NewRaw(query, args...).Scan(ctx, dest))
	}
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	prepared, err := v.store.prepare(ctx, query)
	if err != nil {
		return wrap(err)
	}
	rows, err := prepared.QueryContext(ctx, args...)
	if err != nil {
		return wrap(err)
	}
	defer rows.Close()
	if !rows.Next() {
		return wrap(cmp.Or(rows.Err(), sql.ErrNoRows))
	}
	return wrap(db.ScanRow(ctx, rows, dest))
}

// prepare returns the statement for query, which lasts as long as the store.
func (s *Store) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if prepared, ok := s.prepared.Load(query); ok {
		return prepared.(*sql.Stmt), nil
	}
	own, err := s.read.DB.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	prepared, faster := s.prepared.LoadOrStore(query, own)
	if faster {
		own.Close()
	}
	return prepared.(*sql.Stmt), nil
}
