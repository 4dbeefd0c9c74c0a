package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
)

// Queries are written with bun, except for two kinds, where bun costs too much:
//
//   - Those with large binary values, because bun writes values into the text of the
//     query, in hexadecimal. To insert a pack of 512 KiB then takes 13 times as long on
//     SQLite and 7 times as long on PostgreSQL, and to read one from PostgreSQL twice
//     as long. They go through execLarge and readLarge.
//   - Those that nearly every request runs, because a database takes several times as
//     long to compile one as to run it. They go through one, which prepares them.

// raw runs statements without bun.
type raw interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (v *View) raw() raw {
	switch db := v.db.(type) {
	case *bun.DB:
		return db.DB
	case bun.Tx:
		return db.Tx
	}
	return v.db.(*liteConn)
}

// execLarge runs a statement with large values, with ? for each value.
func (tx *Tx) execLarge(ctx context.Context, statement string, args ...any) error {
	_, err := tx.execLargeResult(ctx, statement, args...)
	return err
}

func (tx *Tx) execLargeResult(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	if tx.postgres() {
		statement, args = rebind(pgx.QueryExecModeDescribeExec, statement, args)
	}
	if conn, ok := tx.db.(*liteConn); ok {
		ctx, prepared, err := conn.prepare(ctx, statement)
		if err != nil {
			return nil, conn.failed(err)
		}
		res, err := prepared.ExecContext(ctx, args...)
		return res, conn.failed(err)
	}
	return tx.raw().ExecContext(ctx, statement, args...)
}

// readLarge reads the one row of a query into dest; ErrNotFound when there is none.
func (v *View) readLarge(ctx context.Context, dest []any, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	if v.postgres() {
		query, args = rebind(pgx.QueryExecModeDescribeExec, query, args)
		if _, alone := v.db.(*bun.DB); alone {
			// In one round trip: behind a pooler, the next one can go to another connection.
			args = append([]any{pgx.QueryExecModeExec, pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args[1:]...)
		}
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

// rebind numbers the placeholders of a statement as PostgreSQL wants them, and says how
// pgx sends it.
func rebind(mode pgx.QueryExecMode, statement string, args []any) (string, []any) {
	var b strings.Builder
	for i, part := range strings.Split(statement, "?") {
		if i > 0 {
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String(), append([]any{mode}, args...)
}

// one reads the one row of a frequent query; ErrNotFound when there is none. The query is
// prepared once a connection.
func (v *View) one(ctx context.Context, dest any, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	rows, err := v.rows(ctx, v.store.mode(), query, args)
	if _, ok := v.db.(*bun.DB); ok && v.store.isOutdated(err) { // a transaction is run again as a whole
		rows, err = v.rows(ctx, pgx.QueryExecModeExec, query, args)
	}
	if err != nil {
		return wrap(err)
	}
	defer rows.Close()
	if !rows.Next() {
		return wrap(cmp.Or(rows.Err(), sql.ErrNoRows))
	}
	return wrap(v.store.read.ScanRow(ctx, rows, dest))
}

func (v *View) rows(ctx context.Context, mode pgx.QueryExecMode, query string, args []any) (*sql.Rows, error) {
	if v.postgres() {
		query, args = rebind(mode, query, args)
		return v.raw().QueryContext(ctx, query, args...)
	}
	if conn, ok := v.db.(*liteConn); ok {
		ctx, prepared, err := conn.prepare(ctx, query)
		if err != nil {
			return nil, err
		}
		rows, err := prepared.QueryContext(ctx, args...)
		return rows, conn.failed(err)
	}
	prepared, err := v.store.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return prepared.QueryContext(ctx, args...)
}

// mode is how PostgreSQL gets frequent statements.
func (s *Store) mode() pgx.QueryExecMode {
	if s.unprepared.Load() {
		return pgx.QueryExecModeExec
	}
	return pgx.QueryExecModeCacheStatement
}

// isOutdated reports whether a statement has to be sent again, because what PostgreSQL has
// prepared is outdated: another hub has changed the schema, or a pooler such as pgbouncer
// gives each transaction any session. In the latter case the store prepares no more.
func (s *Store) isOutdated(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	switch pg.Code {
	case "26000", "42P05": // invalid_sql_statement_name, duplicate_prepared_statement
		s.unprepared.Store(true)
		return true
	}
	return pg.Code == "0A000" && strings.Contains(pg.Routine, "RevalidateCachedQuery")
}

// prepare returns SQLite's statement for query, which lasts as long as the store.
func (s *Store) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if prepared, ok := s.statements.Load(query); ok {
		return prepared.(*sql.Stmt), nil
	}
	own, err := s.read.DB.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	prepared, faster := s.statements.LoadOrStore(query, own)
	if faster {
		own.Close()
	}
	return prepared.(*sql.Stmt), nil
}
