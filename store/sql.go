package store

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
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
	case *pgConn:
		return db
	}
	return v.db.(*liteConn)
}

// limited returns the context of a statement, unless nothing interrupts that: see [liteConn].
func (v *View) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := v.db.(*liteConn); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, queryTime)
}

// execLarge runs a statement with large values, with ? for each value.
func (tx *Tx) execLarge(ctx context.Context, statement string, args ...any) error {
	_, err := tx.execLargeResult(ctx, statement, args...)
	return err
}

func (tx *Tx) execLargeResult(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	if conn, ok := tx.db.(*liteConn); ok {
		return conn.exec(ctx, statement, args)
	}
	ctx, cancel := tx.limited(ctx)
	defer cancel()
	if tx.postgres() {
		statement, args = rebind(pgx.QueryExecModeDescribeExec, statement, args)
	}
	return tx.raw().ExecContext(ctx, statement, args...)
}

// readLarge reads the one row of a query into dest; ErrNotFound when there is none.
func (v *View) readLarge(ctx context.Context, dest []any, query string, args ...any) error {
	ctx, cancel := v.limited(ctx)
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
	return number(statement), append([]any{mode}, args...)
}

func number(statement string) string {
	var b strings.Builder
	for i, part := range strings.Split(statement, "?") {
		if i > 0 {
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}

// one reads the one row of a frequent query; ErrNotFound when there is none. The query is
// prepared once a connection.
func (v *View) one(ctx context.Context, dest any, query string, args ...any) error {
	q := &question{dest: dest, query: query, args: args}
	if err := v.ask(ctx, q); err != nil {
		return err
	}
	if !q.found {
		return wrap(sql.ErrNoRows)
	}
	return nil
}

// question is a frequent query for at most one row, which goes into dest: a value, or a
// struct with a field for each column.
type question struct {
	dest  any
	query string
	args  []any
	found bool
}

// ask answers questions, of which each sees what the former ones have locked. Within a
// transaction PostgreSQL does so in one round trip.
func (v *View) ask(ctx context.Context, questions ...*question) error {
	switch db := v.db.(type) {
	case *liteConn:
		return wrap(db.ask(ctx, questions))
	case *pgConn:
		ctx, cancel := v.limited(ctx)
		defer cancel()
		v.queue(db, questions)
		return wrap(db.flush(ctx))
	}
	if v.postgres() {
		ctx, cancel := v.limited(ctx)
		defer cancel()
		for _, q := range questions {
			if err := v.askOne(ctx, q); err != nil {
				return wrap(err)
			}
		}
		return nil
	}
	return wrap(v.store.askFrequent(ctx, questions))
}

// askFrequent answers questions on one of the connections that SQLite's frequent queries have
// of their own, so that no long query of another request holds them up.
func (s *Store) askFrequent(ctx context.Context, questions []*question) error {
	p, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer func() { s.frequent <- p }()
	if p.conn == nil {
		if p.conn, err = s.frequentDB.Conn(ctx); err != nil {
			return err
		}
	}
	for _, q := range questions {
		if err := p.ask(q); err != nil {
			if errors.Is(err, sql.ErrConnDone) {
				p.disconnect() // the next one connects anew
			}
			return err
		}
	}
	return nil
}

// turn waits for a connection for frequent queries.
func (s *Store) turn(ctx context.Context) (*prepared, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p := <-s.frequent:
		return p, nil
	default:
	}
	waiting, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	select {
	case p := <-s.frequent:
		return p, nil
	case <-waiting.Done():
		return nil, waiting.Err()
	}
}

// queue has questions answered with the next ones, or with the commit.
func (v *View) queue(conn *pgConn, questions []*question) {
	for _, q := range questions {
		conn.queue = append(conn.queue, pgQuery{text: v.store.numbered(q.query), args: q.args, scan: func(rows pgx.Rows) error {
			columns := make([]string, len(rows.FieldDescriptions()))
			for i, f := range rows.FieldDescriptions() {
				columns[i] = f.Name
			}
			q.found = true
			return rows.Scan(v.destinations(q.dest, columns)...)
		}})
	}
}

// askOne answers a question of PostgreSQL outside of a transaction.
func (v *View) askOne(ctx context.Context, q *question) error {
	rows, err := v.rows(ctx, v.store.mode(), q)
	if v.store.isOutdated(err) {
		rows, err = v.rows(ctx, pgx.QueryExecModeExec, q)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return rows.Err()
	}
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	q.found = true
	return rows.Scan(v.destinations(q.dest, columns)...)
}

func (v *View) rows(ctx context.Context, mode pgx.QueryExecMode, q *question) (*sql.Rows, error) {
	return v.raw().QueryContext(ctx, v.store.numbered(q.query), append([]any{mode}, q.args...)...)
}

// destinations returns where the columns of a row go.
func (v *View) destinations(dest any, columns []string) []any {
	value := reflect.ValueOf(dest).Elem()
	if value.Kind() != reflect.Struct {
		return []any{dest}
	}
	table := v.store.read.Table(value.Type())
	all := make([]any, len(columns))
	for i, column := range columns {
		if f := table.LookupField(column); f != nil {
			all[i] = f.Value(value).Addr().Interface()
		} else {
			all[i] = new(any) // a later release's
		}
	}
	return all
}

// modelColumns names the columns of a model, so that a later release can add some: SELECT *
// would end what PostgreSQL has prepared.
func modelColumns[T any]() string {
	table := sqlitedialect.New().Tables().Get(reflect.TypeFor[*T]())
	names := make([]string, len(table.Fields))
	for i, f := range table.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

// send runs a frequent statement whose result nobody waits for: an error ends the
// transaction. PostgreSQL gets it with the next query, or the commit.
func (tx *Tx) send(ctx context.Context, statement string, args ...any) error {
	conn, ok := tx.db.(*pgConn)
	if !ok {
		return tx.execLarge(ctx, statement, args...)
	}
	conn.queue = append(conn.queue, pgQuery{text: tx.store.numbered(statement), args: args})
	return nil
}

// sendRow is [Tx.send] for an INSERT of a row, a pointer to a model.
func (tx *Tx) sendRow(ctx context.Context, row any) error {
	value := reflect.ValueOf(row).Elem()
	table := tx.store.read.Table(value.Type())
	args := make([]any, len(table.Fields))
	for i, f := range table.Fields {
		if args[i] = f.Value(value).Interface(); f.Value(value).Kind() == reflect.Int64 {
			args[i] = f.Value(value).Int() // such as a Time
		}
	}
	return tx.send(ctx, tx.store.insert(table), args...)
}

// insert returns the INSERT of a row of a model.
func (s *Store) insert(table *schema.Table) string {
	return s.text(table, func() string {
		names := make([]string, len(table.Fields))
		for i, f := range table.Fields {
			names[i] = f.Name
		}
		return "INSERT INTO " + table.Name + " (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
	})
}

// numbered returns a frequent statement with the placeholders that PostgreSQL wants.
func (s *Store) numbered(statement string) string {
	return s.text(statement, func() string { return number(statement) })
}

// text returns what build returned for key, once.
func (s *Store) text(key any, build func() string) string {
	known, ok := s.texts.Load(key)
	if !ok {
		known, _ = s.texts.LoadOrStore(key, build())
	}
	return known.(string)
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
