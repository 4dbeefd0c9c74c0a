package sqldb

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"sync"

	"github.com/uptrace/bun"
)

// Queries are SQL text with ? for each value, and are prepared. bun would write the values into the text, and the
// database would compile it for each request, which takes longer than to run it.
//
// Three words in a text stand for what differs between the databases. @now is the present, in microseconds. @lock
// at the end of a SELECT locks its rows until the end of the transaction; @share locks them, too, but only
// against @lock. Both are empty on SQLite, which has one writer.

// runner runs SQL on a pool or a connection.
type runner interface {
	query(ctx context.Context, text string, args []any) (rows, error)
	exec(ctx context.Context, text string, args []any) (sql.Result, error)
}

// rows are [sql.Rows], or those of a pipeline.
type rows interface {
	Next() bool
	Scan(to ...any) error
	Err() error
	Close() error
}

// View reads the database for one request: outside of a transaction, or inside (see Tx).
type View struct {
	ctx  context.Context
	db   runner
	of   *DB
	long bool // see [DB.Snapshot]
}

// Context returns the context of the request.
func (v View) Context() context.Context { return v.ctx }

// IsPostgres reports whether the database is PostgreSQL.
func (v View) IsPostgres() bool { return v.of.IsPostgres() }

// Row returns its arguments: pointers to where the columns of a row are stored, in their order.
func Row(fields ...any) []any { return fields }

// Reader is a View, or a type that embeds one, such as Tx.
type Reader interface {
	each(scan func(rows) error, text string, args []any) error
}

// each calls scan for each row of a query.
func (v View) each(scan func(rows) error, text string, args []any) error {
	ctx, cancel := v.limited()
	defer cancel()
	rows, err := v.db.query(ctx, text, args)
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

// One reads the only row of a query. ErrNotFound means that there is no row, and nothing else.
func (v View) One(to []any, text string, args ...any) error {
	found := false
	err := v.each(func(r rows) error {
		found = true
		return wrap(r.Scan(to...))
	}, text, args)
	if err == nil && !found {
		err = ErrNotFound
	}
	return err
}

// Exists reports whether a query has a row.
func (v View) Exists(text string, args ...any) (exists bool, err error) {
	err = v.One(Row(&exists), "SELECT EXISTS ("+text+")", args...)
	return exists, err
}

// Each calls f with each row of a query, until f fails. fields returns where the columns are stored in a T. f must
// not use v.
func Each[T any](v Reader, fields func(*T) []any, f func(T) error, text string, args ...any) error {
	return v.each(func(r rows) error {
		var item T
		if err := r.Scan(fields(&item)...); err != nil {
			return wrap(err)
		}
		return f(item)
	}, text, args)
}

// All returns all rows of a query, see Each.
func All[T any](v Reader, fields func(*T) []any, text string, args ...any) (list []T, err error) {
	err = Each(v, fields, func(item T) error {
		list = append(list, item)
		return nil
	}, text, args...)
	return list, err
}

// Column returns all rows of a query with one column.
func Column[T any](v Reader, text string, args ...any) ([]T, error) {
	return All(v, func(item *T) []any { return Row(item) }, text, args...)
}

// Exec changes rows, and returns how many. ErrExists if a row with that key exists already, ErrReference if
// another row refers to one that would be deleted, or a row would refer to a missing one.
func (tx *Tx) Exec(text string, args ...any) (int, error) {
	ctx, cancel := tx.limited()
	defer cancel()
	result, err := tx.db.exec(ctx, text, args)
	if err != nil {
		return 0, wrap(err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// Send is Exec without an answer: on PostgreSQL the statement travels with the next one, or with the commit, which then
// returns its error. It is for statements that cannot fail for a reason that f knows.
func (tx *Tx) Send(text string, args ...any) error {
	if p, ok := tx.db.(*pipeline); ok {
		p.queue(text, args)
		return nil
	}
	_, err := tx.Exec(text, args...)
	return err
}

// limited returns the context of a statement. Nothing interrupts SQLite, see prepared.
func (v View) limited() (context.Context, context.CancelFunc) {
	if v.IsPostgres() && !v.long {
		return context.WithTimeout(v.ctx, queryTime)
	}
	return v.ctx, func() {}
}

// Select returns a query of bun, for lists with filters, whose SQL would have to be put together. It does not see
// what its own transaction has written.
func (v View) Select() *bun.SelectQuery { return v.of.lists.NewSelect() }

// Scan runs a query of [View.Select]. dest is what bun's Scan takes.
func (v View) Scan(q *bun.SelectQuery, dest ...any) error {
	ctx, cancel := v.limited()
	defer cancel()
	return wrap(q.Scan(ctx, dest...))
}

// List returns n placeholders: "?, ?" for 2.
func List(n int) string { return strings.Repeat(", ?", n)[2:] }

// prepared is the runner of SQLite. It compiles each text once for each connection. A context does not interrupt a
// query, because to watch it takes longer than most queries.
type prepared struct {
	db interface { // *sql.DB or *sql.Conn
		PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
	}
	statements sync.Map // of *sql.Stmt by text
}

var liteWords = strings.NewReplacer("@now", "CAST(unixepoch('subsec') * 1000000 AS INTEGER)", "@lock", "", "@share", "")

// statement returns the compiled statement of a text.
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

func (p *prepared) query(ctx context.Context, text string, args []any) (rows, error) {
	s, err := p.statement(text)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.WithoutCancel(ctx), args...)
}

func (p *prepared) exec(ctx context.Context, text string, args []any) (sql.Result, error) {
	s, err := p.statement(text)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(context.WithoutCancel(ctx), args...)
}

// close closes the statements. As long as one is open, SQLite neither closes the connection nor copies its log
// into the database file.
func (p *prepared) close() {
	p.statements.Range(func(_, s any) bool {
		s.(*sql.Stmt).Close()
		return true
	})
}

// numbered is the runner of PostgreSQL outside of writes. pgx prepares each text once for each connection.
type numbered struct {
	db interface { // *sql.DB or *sql.Tx
		QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
		ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	}
}

var (
	pgWords = strings.NewReplacer("@now", "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
		"@lock", "FOR NO KEY UPDATE", "@share", "FOR SHARE")
	texts sync.Map // results of number, by text
)

// number returns a text as PostgreSQL takes it, with $1, $2 and so on.
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

func (n numbered) query(ctx context.Context, text string, args []any) (rows, error) {
	return n.db.QueryContext(ctx, number(text), args...)
}

func (n numbered) exec(ctx context.Context, text string, args []any) (sql.Result, error) {
	return n.db.ExecContext(ctx, number(text), args...)
}
