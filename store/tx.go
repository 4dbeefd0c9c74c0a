package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"
)

// View reads. It has no method that writes, so that code within [Store.Read] that
// writes does not compile.
type View struct {
	db    selecting
	store *Store
	now   Time
}

// selecting is what a View may do with the database.
type selecting interface {
	NewSelect() *bun.SelectQuery
	NewRaw(query string, args ...any) *bun.RawQuery
	Dialect() schema.Dialect
}

// Tx reads and writes in one transaction, within [Store.Write].
type Tx struct {
	View
	db bun.IDB // the database of View
}

// Time is a moment in microseconds since 1970 in UTC; 0 stands for never.
type Time int64

// At returns the Time of t.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMicro())
}

// Time returns t as a time in UTC, the zero time for never.
func (t Time) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(t)).UTC()
}

func (t Time) add(d time.Duration) Time { return t + Time(d.Microseconds()) }

// Now is the time of the database, so that replicas with different clocks
// agree; SQLite has no replicas, there it is the process's. It stands still
// within a transaction.
func (v *View) Now(ctx context.Context) (Time, error) {
	if v.now != 0 {
		return v.now, nil
	}
	if !v.postgres() {
		v.now = At(time.Now())
		return v.now, nil
	}
	err := v.db.NewSelect().ColumnExpr("?", v.nowExpr()).Scan(ctx, &v.now)
	return v.now, err
}

// nowExpr is the present as a value of a query.
func (v *View) nowExpr() any {
	if v.postgres() {
		return bun.SafeQuery("(extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
	}
	return int64(At(time.Now()))
}

// raw is where statements are run without bun.
type raw interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (v *View) raw() raw {
	if db, ok := v.db.(*bun.DB); ok {
		return db.DB
	}
	return v.db.(bun.Tx).Tx
}

// exec runs a statement with ? for its values. They travel beside it, as bun's do
// not: what is large would be written into its text, twice as long.
func (tx *Tx) exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	statement, args = tx.beside(statement, args)
	return tx.raw().ExecContext(ctx, statement, args...)
}

// query is exec for rows, which the caller closes.
func (v *View) query(ctx context.Context, statement string, args ...any) (*rows, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	statement, args = v.beside(statement, args)
	found, err := v.raw().QueryContext(ctx, statement, args...)
	if err != nil {
		cancel()
		return nil, err
	}
	return &rows{found, cancel}, nil
}

// one reads the one row of a query that is asked all the time; ErrNotFound when
// there is none. SQLite takes longer to understand such a query than to answer it,
// and is made to do so once a connection. PostgreSQL would need a round trip for that.
func (v *View) one(ctx context.Context, dest any, query string, args ...any) error {
	db, ok := v.db.(*bun.DB)
	if !ok || v.postgres() {
		return wrap(v.db.NewRaw(query, args...).Scan(ctx, dest))
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

func (v *View) beside(statement string, args []any) (string, []any) {
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

func (v *View) postgres() bool { return v.db.Dialect().Name() == dialect.PG }

// forUpdate locks the rows that q reads until the end of the transaction. SQLite
// has one writer, which needs no such lock.
func (tx *Tx) forUpdate(q *bun.SelectQuery) *bun.SelectQuery {
	if tx.postgres() {
		return q.For("UPDATE")
	}
	return q
}

// skipLocked ends a query for rows to change that others may be changing as well.
func (tx *Tx) skipLocked() string {
	if tx.postgres() {
		return " FOR UPDATE SKIP LOCKED"
	}
	return ""
}
