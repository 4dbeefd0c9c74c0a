package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
)

// pgConn is PostgreSQL's connection within one transaction. Each round trip costs as much
// as a small statement, so that statements whose results nobody waits for are queued: they
// go with the next query, the last ones with COMMIT, and the first ones with BEGIN.
type pgConn struct {
	bun.Conn
	store  *Store
	ended  func() error // why the write must end, nil: it need not
	queue  []pgQuery
	begun  bool
	failed error // of a queued statement: no other one runs after it
}

// pgQuery is a statement, with what reads its one row; nil: it has none.
type pgQuery struct {
	text string
	args []any
	scan func(pgx.Rows) error
}

// transactPostgres runs f in a transaction.
func (s *Store) transactPostgres(ctx context.Context, synced bool, f func(*pgConn) error) error {
	ctx, cancel := context.WithTimeout(ctx, transactionTime)
	defer cancel()
	waiting, stop := context.WithTimeout(ctx, lockWait)
	defer stop()
	conn, err := s.write.Conn(waiting)
	if err != nil {
		return err
	}
	defer conn.Close() // ends the session if the transaction has not ended
	c := &pgConn{Conn: conn, store: s, ended: ctx.Err, queue: []pgQuery{{text: "BEGIN"}}}
	if !synced {
		c.queue = append(c.queue, pgQuery{text: "SET LOCAL synchronous_commit = off"})
	}
	finished := false
	defer func() {
		if !finished && c.begun {
			_, _ = conn.Conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	if err := f(c); err != nil {
		if !errors.Is(err, c.failed) {
			err = errors.Join(err, c.failed)
		}
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if !c.begun && len(c.queue) == 1 {
		return nil // it did nothing
	}
	finished = true
	if err := c.flush(ctx, pgQuery{text: "COMMIT"}); err != nil {
		finished = false
		return err
	}
	return nil
}

// flush runs what is queued, and then these, in one round trip.
func (c *pgConn) flush(ctx context.Context, last ...pgQuery) error {
	if err := cmp.Or(c.failed, c.ended()); err != nil {
		return err
	}
	all := append(c.queue, last...)
	c.queue = nil
	if len(all) == 0 {
		return nil
	}
	c.begun = true
	err := c.Conn.Conn.Raw(func(driverConn any) error {
		conn := pgxOf(driverConn)
		if c.store.unprepared.Load() {
			return runEach(ctx, conn, all)
		}
		return runAll(ctx, conn, all)
	})
	if err != nil && c.failed == nil {
		c.failed = err
	}
	return err
}

// runAll runs statements in one round trip, once they are prepared.
func runAll(ctx context.Context, conn *pgx.Conn, all []pgQuery) (err error) {
	batch := &pgx.Batch{}
	for _, q := range all {
		batch.Queue(q.text, q.args...)
	}
	results := conn.SendBatch(ctx, batch)
	defer func() {
		if e := results.Close(); err == nil {
			err = e
		}
	}()
	for _, q := range all {
		if q.scan == nil {
			tag, err := results.Exec()
			if err == nil {
				err = checkCommit(q.text, tag.String())
			}
			if err != nil {
				return err
			}
			continue
		}
		rows, err := results.Query()
		if err == nil {
			err = q.read(rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runEach runs statements one by one, for a pooler that keeps no prepared ones.
func runEach(ctx context.Context, conn *pgx.Conn, all []pgQuery) error {
	for _, q := range all {
		rows, err := conn.Query(ctx, q.text, append([]any{pgx.QueryExecModeExec}, q.args...)...)
		if err == nil {
			err = q.read(rows)
		}
		if err == nil {
			err = checkCommit(q.text, rows.CommandTag().String())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads the one row; without one, it is left to the caller of scan to notice.
func (q pgQuery) read(rows pgx.Rows) error {
	defer rows.Close()
	if rows.Next() && q.scan != nil {
		if err := q.scan(rows); err != nil {
			return err
		}
	}
	rows.Close()
	return rows.Err()
}

// checkCommit returns an error if a COMMIT rolled back, as it does after a failure.
func checkCommit(statement, tag string) error {
	if statement == "COMMIT" && tag != statement {
		return fmt.Errorf("%w: COMMIT answered %s", ErrUnavailable, tag)
	}
	return nil
}

// The queries that bun builds run here, too, after what is queued.

func (c *pgConn) NewSelect() *bun.SelectQuery { return c.Conn.NewSelect().Conn(c) }
func (c *pgConn) NewInsert() *bun.InsertQuery { return c.Conn.NewInsert().Conn(c) }
func (c *pgConn) NewUpdate() *bun.UpdateQuery { return c.Conn.NewUpdate().Conn(c) }
func (c *pgConn) NewDelete() *bun.DeleteQuery { return c.Conn.NewDelete().Conn(c) }
func (c *pgConn) NewRaw(query string, args ...any) *bun.RawQuery {
	return c.Conn.NewRaw(query, args...).Conn(c)
}

// ExecContext runs a statement.
func (c *pgConn) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	if err := c.flush(ctx); err != nil {
		return nil, err
	}
	return c.Conn.Conn.ExecContext(ctx, statement, args...)
}

// QueryContext runs a query.
func (c *pgConn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := c.flush(ctx); err != nil {
		return nil, err
	}
	return c.Conn.Conn.QueryContext(ctx, query, args...)
}

// QueryRowContext runs a query for one row.
func (c *pgConn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if err := c.flush(ctx); err != nil { // which Write returns
		ended, cancel := context.WithCancel(ctx)
		cancel()
		ctx = ended
	}
	return c.Conn.Conn.QueryRowContext(ctx, query, args...)
}

// simpleConnector makes connections on which a query without values uses the simple
// protocol: bun writes values into the query's text, so that preparing it is of no use.
type simpleConnector struct{ driver.Connector }

// Connect returns a new connection.
func (c simpleConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &simpleConn{conn.(*stdlib.Conn)}, nil
}

type simpleConn struct{ *stdlib.Conn }

// pgxOf returns pgx's connection below what [sql.Conn.Raw] passes.
func pgxOf(driverConn any) *pgx.Conn { return driverConn.(*simpleConn).Conn.Conn() }

// QueryContext runs a query.
func (c *simpleConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) == 0 {
		args = []driver.NamedValue{{Ordinal: 1, Value: pgx.QueryExecModeSimpleProtocol}}
	}
	return c.Conn.QueryContext(ctx, query, args)
}
