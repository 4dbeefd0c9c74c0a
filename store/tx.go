package store

import (
	"context"
	"time"

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
	Dialect() schema.Dialect
}

// Tx reads and writes in one transaction, within [Store.Write].
type Tx struct {
	View
	db    bun.IDB       // the database of View
	asked *lockedConfig // by LockConfig
}

// Time is a moment in microseconds since 1970 in UTC; 0 means never.
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
// agree; SQLite has no replicas, there it is the process's. It does not advance
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
		return bun.SafeQuery(v.nowSQL())
	}
	return int64(At(time.Now()))
}

// nowSQL is the present in the text of a query that is prepared.
func (v *View) nowSQL() string {
	return present.of(v)
}

// dialects is a text of SQL for each database.
type dialects struct{ sqlite, postgres string }

var present = dialects{
	sqlite:   "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
	postgres: "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
}

func (d dialects) of(v *View) string {
	if v.postgres() {
		return d.postgres
	}
	return d.sqlite
}

// askWithNow is [View.ask], and asks for the present in the end.
func (tx *Tx) askWithNow(ctx context.Context, questions ...*question) error {
	if tx.postgres() {
		questions = append(questions, &question{dest: &tx.now, query: "SELECT " + tx.nowSQL()})
	}
	if err := tx.ask(ctx, questions...); err != nil || tx.postgres() {
		return err
	}
	_, err := tx.Now(ctx)
	return err
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

// lock is [Tx.forUpdate] for the text of a query.
func (tx *Tx) lock() string {
	if tx.postgres() {
		return " FOR UPDATE"
	}
	return ""
}

// skipLocked locks the rows that q reads, without those that others are changing.
func (tx *Tx) skipLocked(q *bun.SelectQuery) *bun.SelectQuery {
	if tx.postgres() {
		return q.For("UPDATE SKIP LOCKED")
	}
	return q
}
