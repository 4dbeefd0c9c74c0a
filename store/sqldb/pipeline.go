package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// pipeline is the runner of a write on PostgreSQL. A round trip takes longer than most statements, so that
// statements whose result is not needed at once, such as BEGIN, are sent with the next one.
type pipeline struct {
	conn  *pgx.Conn
	batch pgx.Batch // not sent yet
}

// send sends the batch, and reads the answers but the last one. The caller reads that and closes the results.
func (p *pipeline) send(ctx context.Context) (pgx.BatchResults, error) {
	batch := p.batch
	p.batch = pgx.Batch{}
	results := p.conn.SendBatch(ctx, &batch)
	for range batch.Len() - 1 {
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // it returns err again
			return nil, err
		}
	}
	return results, nil
}

// queue adds a statement to the batch. It converts arguments as package sql does: without prepared statements, behind a
// pooler, pgx knows the types of package builtin only.
func (p *pipeline) queue(text string, args []any) {
	values := make([]any, len(args))
	for i, arg := range args {
		var err error
		if values[i], err = driver.DefaultParameterConverter.ConvertValue(arg); err != nil {
			values[i] = arg // pgx says what is wrong with it
		}
	}
	p.batch.Queue(number(text), values...)
}

func (p *pipeline) query(ctx context.Context, text string, args []any) (rows, error) {
	p.queue(text, args)
	results, err := p.send(ctx)
	if err != nil {
		return nil, err
	}
	all, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	return batchRows{Rows: all, results: results}, nil
}

// batchRows are the rows of the last query of a batch.
type batchRows struct {
	pgx.Rows
	results pgx.BatchResults
}

func (r batchRows) Close() error {
	r.Rows.Close()
	return r.results.Close()
}

func (p *pipeline) exec(ctx context.Context, text string, args []any) (sql.Result, error) {
	p.queue(text, args)
	results, err := p.send(ctx)
	if err != nil {
		return nil, err
	}
	tag, err := results.Exec()
	return driver.RowsAffected(tag.RowsAffected()), cmp.Or(err, results.Close())
}

// commit ends the transaction. It fails with ErrUnavailable if it may have been committed.
func (p *pipeline) commit(ctx context.Context) error {
	p.batch.Queue("COMMIT")
	results, err := p.send(ctx)
	if err != nil {
		return wrap(err)
	}
	tag, err := results.Exec()
	if err = cmp.Or(err, results.Close()); err == nil && tag.String() != "COMMIT" {
		err = fmt.Errorf("a failed statement was ignored: %s", tag)
	}
	if err = wrap(err); err != nil && !errors.Is(err, ErrFull) && !isConflict(err) {
		err = unavailable(err)
	}
	return err
}

// end rolls back what was not committed.
func (p *pipeline) end() {
	if p.conn.IsClosed() || p.conn.PgConn().TxStatus() == 'I' { // idle
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	if _, err := p.conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = p.conn.Close(ctx)
	}
}
