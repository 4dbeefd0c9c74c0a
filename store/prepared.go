package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"

	"github.com/uptrace/bun/schema"
)

// prepared are the frequent statements of one of SQLite's connections, of which it prepares
// each once. They go to the driver itself: one goroutine at a time uses them, and what
// database/sql does to let many share them takes a quarter of the time of a short query.
// Nothing interrupts one: to watch for a reason takes longer than most of them.
type prepared struct {
	conn       *sql.Conn // nil: not connected
	tables     *schema.Tables
	statements map[string]*preparedStatement
}

type preparedStatement struct {
	driver.Stmt
	args []driver.NamedValue
	row  []driver.Value // of a query

	// Where the columns of a row go in a struct of this type; nil: nowhere.
	of     reflect.Type
	fields []*schema.Field
}

func newPrepared(conn *sql.Conn, tables *schema.Tables) *prepared {
	return &prepared{conn: conn, tables: tables, statements: map[string]*preparedStatement{}}
}

func (p *prepared) disconnect() {
	if p.conn == nil {
		return
	}
	_ = p.conn.Raw(func(any) error { // unless database/sql has closed it
		for _, s := range p.statements {
			s.Close()
		}
		return nil
	})
	clear(p.statements)
	p.conn.Close()
	p.conn = nil
}

// exec runs a statement.
func (p *prepared) exec(statement string, args ...any) (res sql.Result, err error) {
	err = p.use(statement, args, func(s *preparedStatement) (err error) {
		res, err = s.Stmt.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
		return err
	})
	return res, err
}

// ask answers a question.
func (p *prepared) ask(q *question) error {
	return p.use(q.query, q.args, func(s *preparedStatement) (err error) {
		rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(context.Background(), s.args)
		if err != nil {
			return err
		}
		defer func() {
			if closed := rows.Close(); err == nil || errors.Is(err, io.EOF) {
				err = closed
			}
		}()
		if s.row == nil {
			s.row = make([]driver.Value, len(rows.Columns()))
		}
		if err = rows.Next(s.row); err != nil {
			return err // io.EOF: there is no row
		}
		defer clear(s.row)
		q.found = true
		return s.scan(p.tables, rows.Columns(), q.dest)
	})
}

// use calls f with a statement that has its arguments. database/sql would close the
// connection after a panic, with a transaction or a statement that it does not know of.
func (p *prepared) use(text string, args []any, f func(*preparedStatement) error) error {
	panicked := ""
	err := p.conn.Raw(func(conn any) (err error) {
		defer func() {
			if p := recover(); p != nil {
				panicked = withStack(p)
			}
		}()
		s := p.statements[text]
		if s == nil {
			s = &preparedStatement{args: make([]driver.NamedValue, len(args))}
			if s.Stmt, err = conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), text); err != nil {
				return err
			}
			p.statements[text] = s
		}
		for i, arg := range args {
			s.args[i].Ordinal = i + 1
			if s.args[i].Value, err = driver.DefaultParameterConverter.ConvertValue(arg); err != nil {
				return err
			}
		}
		defer clear(s.args) // which may be large
		return f(s)
	})
	if panicked != "" {
		panic(panicked)
	}
	return err
}

// withStack describes a panic for the goroutine that it is passed on to.
func withStack(value any) string { return fmt.Sprintf("%v\n%s", value, debug.Stack()) }

// scan puts the row into dest: a value, or a struct with a field for each column.
func (s *preparedStatement) scan(tables *schema.Tables, columns []string, dest any) error {
	value := reflect.ValueOf(dest).Elem()
	if value.Kind() != reflect.Struct {
		return schema.Scanner(value.Type())(value, s.row[0])
	}
	if s.of != value.Type() {
		s.of, s.fields = value.Type(), make([]*schema.Field, len(columns))
		for i, column := range columns {
			s.fields[i] = tables.Get(s.of).LookupField(column)
		}
	}
	for i, f := range s.fields {
		if f == nil {
			continue
		}
		if body, ok := s.row[i].([]byte); ok && f.StructField.Type == reflect.TypeFor[[]byte]() {
			f.Value(value).SetBytes(body) // there is one row, after which the driver leaves alone what it returned
		} else if err := f.ScanValue(value, s.row[i]); err != nil {
			return err
		}
	}
	return nil
}
