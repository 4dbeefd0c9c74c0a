package store

import (
	"cmp"
	"context"
	"database/sql"

	"github.com/uptrace/bun"
)

// liteConn is SQLite's connection within one write, whose transaction others may share:
// see [group].
type liteConn struct {
	bun.Conn
	group *group
	ended func() error // why the write must end, nil: it need not
}

// The queries that bun builds run here, too.

func (c *liteConn) NewSelect() *bun.SelectQuery { return c.Conn.NewSelect().Conn(c) }
func (c *liteConn) NewInsert() *bun.InsertQuery { return c.Conn.NewInsert().Conn(c) }
func (c *liteConn) NewUpdate() *bun.UpdateQuery { return c.Conn.NewUpdate().Conn(c) }
func (c *liteConn) NewDelete() *bun.DeleteQuery { return c.Conn.NewDelete().Conn(c) }
func (c *liteConn) NewRaw(query string, args ...any) *bun.RawQuery {
	return c.Conn.NewRaw(query, args...).Conn(c)
}

// ExecContext runs a statement.
func (c *liteConn) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	ctx, err := c.limit(ctx)
	if err != nil {
		return nil, err
	}
	res, err := c.Conn.Conn.ExecContext(ctx, statement, args...)
	return res, c.failed(err)
}

// QueryContext runs a query.
func (c *liteConn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx, err := c.limit(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.Conn.Conn.QueryContext(ctx, query, args...)
	return rows, c.failed(err)
}

// QueryRowContext runs a query for one row.
func (c *liteConn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if limited, err := c.limit(ctx); err == nil {
		ctx = limited
	} else {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		ctx = ended
	}
	return c.Conn.Conn.QueryRowContext(ctx, query, args...)
}

// exec runs a statement that is prepared once.
func (c *liteConn) exec(ctx context.Context, statement string, args []any) (sql.Result, error) {
	if err := c.over(ctx); err != nil {
		return nil, err
	}
	res, err := c.group.prepared.exec(statement, args...)
	return res, c.failed(err)
}

// ask answers questions.
func (c *liteConn) ask(ctx context.Context, questions []*question) error {
	for _, q := range questions {
		if err := c.over(ctx); err != nil {
			return err
		}
		if err := c.group.prepared.ask(q); err != nil {
			return c.failed(err)
		}
	}
	return nil
}

// limit returns the context of a statement, which nothing interrupts, or why it must not run:
// SQLite would roll back what others wrote in the transaction. Without others, watching for
// the end of the request would take longer than most statements.
func (c *liteConn) limit(ctx context.Context) (context.Context, error) {
	return context.WithoutCancel(ctx), c.over(ctx)
}

// over returns why no further statement may run, or nil.
func (c *liteConn) over(ctx context.Context) error { return cmp.Or(c.ended(), ctx.Err()) }

// failed notes that a statement failed, and returns its error.
func (c *liteConn) failed(err error) error {
	if err != nil {
		c.group.open.doubt = true
	}
	return err
}
