package sqldb

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"sync"

	"github.com/uptrace/bun"
)

// Queries are SQL text with ? for each value, and are prepared: bun writes the values into the
// text, so that the database compiles it for each request, which takes longer than to run it.
//
// Three words in a text differ between the databases: @now is the present, in microseconds; @lock at
// the end of a SELECT locks its rows until the end of the transaction, and @share against @lock alone.
// SQLite has one writer, which needs no such lock.

// runner runs SQL on a pool or a connection.
type runner interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

// View reads the database for one request: outside of a transaction, or inside (see Tx).
type View struct {
	ctx  context.Context
	db   runner
	of   *DB
	long bool // see [DB.Snapshot]
}

// Context is that of the request.
func (v View) Context() context.Context { return v.ctx }

// IsPostgres reports whether the database is PostgreSQL.
func (v View) IsPostgres() bool { return v.of.IsPostgres() }

// Row names where the columns of a row go: pointers.
func Row(fields ...any) []any { return fields }

// Reader is a View, or a type that embeds one.
type Reader interface {
	each(scan func(*sql.Rows) error, text string, args []any) error
}

func (v View) each(scan func(*sql.Rows) error, text string, args []any) error {
	ctx, cancel := v.limited()
	defer cancel()
	rows, err := v.db.QueryContext(ctx, text, args...)
	if err != nil {
		return wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return wrap(rows.Err())
}

// One reads the only row of a query; ErrNotFound when there is none, and for no other reason.
func (v View) One(to []any, text string, args ...any) error {
	found := false
	err := v.each(func(rows *sql.Rows) error {
		found = true
		return wrap(rows.Scan(to...))
	}, text, args)
	if err == nil && !found {
		err = ErrNotFound
	}
	return err
}

// Exists reports whether a query has a row.
func (v View) Exists(text string, args ...any) (exists bool, err error) {
	return exists, v.One(Row(&exists), "SELECT EXISTS ("+text+")", args...)
}

// Each calls f with rows of T, whose columns go to fields, until f fails. f must not use v.
func Each[T any](v Reader, fields func(*T) []any, f func(T) error, text string, args ...any) error {
	return v.each(func(rows *sql.Rows) error {
		var item T
		if err := rows.Scan(fields(&item)...); err != nil {
			return wrap(err)
		}
		return f(item)
	}, text, args)
}

// All reads rows of T, whose columns go to fields.
func All[T any](v Reader, fields func(*T) []any, text string, args ...any) (list []T, err error) {
	return list, Each(v, fields, func(item T) error {
		list = append(list, item)
		return nil
	}, text, args...)
}

// Column reads rows of one column.
func Column[T any](v Reader, text string, args ...any) ([]T, error) {
	return All(v, func(item *T) []any { return Row(item) }, text, args...)
}

// Exec changes rows, and returns how many; ErrExists when one is there already, ErrReference when
// another one refers to it.
func (tx *Tx) Exec(text string, args ...any) (int, error) {
	ctx, cancel := tx.limited()
	defer cancel()
	result, err := tx.db.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, wrap(err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// limited is the context of a statement. Nothing interrupts SQLite, see prepared.
func (v View) limited() (context.Context, context.CancelFunc) {
	if v.IsPostgres() && !v.long {
		return context.WithTimeout(v.ctx, queryTime)
	}
	return v.ctx, func() {}
}

// Select returns a query for a list with filters, where SQL would be put together. It reads what
// is committed, also in a transaction.
func (v View) Select() *bun.SelectQuery { return v.of.lists.NewSelect() }

// Scan runs a query of [View.Select]. The destination is as bun takes it.
func (v View) Scan(q *bun.SelectQuery, dest ...any) error {
	ctx, cancel := v.limited()
	defer cancel()
	return wrap(q.Scan(ctx, dest...))
}

// List returns n placeholders.
func List(n int) string { return strings.Repeat(", ?", n)[2:] }

// prepared is SQLite. It compiles each text once a connection, and nothing interrupts it: to watch
// the context takes longer than most queries.
type prepared struct {
	db interface { // *sql.DB or *sql.Conn
		PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
	}
	statements sync.Map // of *sql.Stmt by text
}

var liteWords = strings.NewReplacer("@now", "CAST(unixepoch('subsec') * 1000000 AS INTEGER)", "@lock", "", "@share", "")

func (p *prepared) statement(text string) (*sql.Stmt, error) {
	if known, ok := p.statements.Load(text); ok {
		return known.(*sql.Stmt), nil
	}
	made, err := p.db.PrepareContext(context.Background(), liteWords.Replace(text))
	if err != nil {
		return nil, err
	}
	known, loaded := p.statements.LoadOrStore(text, made)
	if loaded {
		made.Close()
	}
	return known.(*sql.Stmt), nil
}

func (p *prepared) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	s, err := p.statement(text)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.WithoutCancel(ctx), args...)
}

func (p *prepared) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	s, err := p.statement(text)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(context.WithoutCancel(ctx), args...)
}

// close closes the statements: with one that is open, SQLite does not close the connection, nor
// copy its log into the database file.
func (p *prepared) close() {
	p.statements.Range(func(_, s any) bool {
		s.(*sql.Stmt).Close()
		return true
	})
}

// numbered is PostgreSQL, whose placeholders are $1, $2, … pgx prepares each text once a connection.
type numbered struct{ runner }

var (
	pgWords = strings.NewReplacer("@now", "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
		"@lock", "FOR NO KEY UPDATE", "@share", "FOR SHARE")
	texts sync.Map // of text with numbers by text
)

func number(text string) string {
	if known, ok := texts.Load(text); ok {
		return known.(string)
	}
	parts := strings.Split(pgWords.Replace(text), "?")
	for i := range parts[1:] {
		parts[i] += "$" + strconv.Itoa(i+1)
	}
	numbered := strings.Join(parts, "")
	texts.Store(text, numbered)
	return numbered
}

func (n numbered) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return n.runner.QueryContext(ctx, number(text), args...)
}

func (n numbered) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return n.runner.ExecContext(ctx, number(text), args...)
}
