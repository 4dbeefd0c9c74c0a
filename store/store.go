// Package store keeps a hub's rows: accounts, tokens, projects with their config and base files,
// stacks, APIs and rate limits, in SQLite or in PostgreSQL. schema.sql explains the tables.
//
// Each subject has a file, with its SQL in it. A [View] reads. [Store.Write] is the only way to change
// something: it runs methods of [Tx] in a transaction, so what is atomic is decided here. What takes long,
// such as to compress a list of files, is done before, by a function called Prepare….
//
// The package must not know HTTP, or the types of package wire. It says which role a caller has
// ([View.Access]), but refuses nothing for the lack of one. Its methods name rows by id: names are looked up
// once, with the rights.
package store

import (
	"context"
	_ "embed"
	"errors"
	"slices"

	"example.com/projecthub/store/sqldb"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	*sqldb.DB
	Retention Retention // DefaultRetention unless it is changed before the first write
}

// Options say how to open a database.
type Options = sqldb.Options

// Time is a moment in microseconds since 1970 in UTC; 0 means never.
type Time = sqldb.Time

// MissingError says that an SQLite file does not exist.
type MissingError = sqldb.MissingError

// At converts a time of package time. Path returns the SQLite file that an address names.
var (
	At   = sqldb.At
	Path = sqldb.Path
)

// Errors to test for with errors.Is. Others are internal errors.
var (
	ErrNotFound    = sqldb.ErrNotFound
	ErrExists      = sqldb.ErrExists
	ErrReference   = sqldb.ErrReference
	ErrDamaged     = sqldb.ErrDamaged
	ErrFull        = sqldb.ErrFull
	ErrUnavailable = sqldb.ErrUnavailable

	ErrAddress      = sqldb.ErrAddress
	ErrInUse        = sqldb.ErrInUse
	ErrSchemaOld    = sqldb.ErrSchemaOld
	ErrSchemaRights = sqldb.ErrSchemaRights
	ErrRights       = sqldb.ErrRights

	ErrChanged   = errors.New("another write was first") // what the write was prepared for has changed
	ErrUnchecked = errors.New("the settings have to pass another schema than the one they were checked against")
	ErrMissing   = errors.New("blobs are missing")
	ErrSize      = errors.New("does not have the size of the blob with its sha256")
)

// DefaultConnections and MinConnections are how many connections to PostgreSQL may be open, by default and at least.
const (
	DefaultConnections = sqldb.DefaultConnections
	MinConnections     = sqldb.MinConnections
)

// Open opens the database at address, sqlite:PATH or postgres://…, without migrating it. It fails as [sqldb.Open]
// does.
func Open(ctx context.Context, address string, opts Options) (*Store, error) {
	db, err := sqldb.Open(ctx, address, opts)
	if err != nil {
		return nil, err
	}
	return &Store{DB: db, Retention: DefaultRetention}, nil
}

//go:embed schema.sql
var schema string

// steps are the changes of the schema, in order. Until the first release there is one, which is edited in place.
var steps = []sqldb.Step{{Name: "0001", SQL: schema, Postgres: `
	-- Bodies are compressed already.
	ALTER TABLE blobs ALTER body SET STORAGE EXTERNAL;
	ALTER TABLE revisions ALTER body SET STORAGE EXTERNAL;
	ALTER TABLE stack_versions ALTER body SET STORAGE EXTERNAL;`}}

// Migrate updates the schema, and returns the names of the steps that it applied: see [sqldb.DB.Migrate].
// ErrUnfinished if a copy to the database has not ended.
func (s *Store) Migrate(ctx context.Context) (applied []string, err error) {
	if applied, err = s.DB.Migrate(ctx, steps...); err != nil {
		return applied, err
	}
	return applied, s.checkComplete(ctx)
}

// CheckSchema returns [sqldb.ErrSchemaOld] unless the schema is up to date; ErrUnfinished when a copy to
// the database has not ended.
func (s *Store) CheckSchema(ctx context.Context) error {
	if err := s.DB.CheckSchema(ctx, steps...); err != nil {
		return err
	}
	return s.checkComplete(ctx)
}

// View reads for one request: outside of a transaction, or inside (see Tx).
type View struct{ sqldb.View }

// Tx is a transaction: a view that also writes.
type Tx struct {
	View
	tx     *sqldb.Tx
	keep   Retention // of the store
	locked int64     // ID of the resource that Access has locked, see lock; 0: none
}

// View returns a view outside of any transaction: each query reads what is committed when it runs.
func (s *Store) View(ctx context.Context) View { return View{s.DB.View(ctx)} }

// Write runs f in a transaction, which is on disk when Write returns nil. f may run more than once, so it must reset
// whatever it sets outside of itself: see [sqldb.DB.Write].
func (s *Store) Write(ctx context.Context, f func(*Tx) error) error {
	return s.DB.Write(ctx, func(tx *sqldb.Tx) error {
		return f(&Tx{View: View{tx.View}, tx: tx, keep: s.Retention})
	})
}

// Snapshot runs f with a view of one moment: see [sqldb.DB.Snapshot].
func (s *Store) Snapshot(ctx context.Context, f func(View) error) error {
	return s.DB.Snapshot(ctx, func(v sqldb.View) error { return f(View{v}) })
}

// Now returns the transaction's time, the same each time: see [sqldb.Tx.Now].
func (tx *Tx) Now() Time { return tx.tx.Now() }

// exec changes rows.
func (tx *Tx) exec(text string, args ...any) error {
	_, err := tx.tx.Exec(text, args...)
	return err
}

// send is exec without waiting for the answer: see [sqldb.Tx.Send].
func (tx *Tx) send(text string, args ...any) error { return tx.tx.Send(text, args...) }

// count is exec that returns how many rows were changed.
func (tx *Tx) count(text string, args ...any) (int, error) { return tx.tx.Exec(text, args...) }

// change is exec that reports whether a row was changed.
func (tx *Tx) change(text string, args ...any) (bool, error) {
	n, err := tx.tx.Exec(text, args...)
	return n > 0, err
}

// lock makes other transactions that lock the resource wait until this one ends; on SQLite all wait anyway.
// ErrNotFound if the resource was deleted.
func (tx *Tx) lock(resource int64) error {
	if resource == tx.locked {
		return nil
	}
	return tx.One(sqldb.Row(new(int64)), lockResource, resource)
}

const lockResource = "SELECT id FROM resources WHERE id = ? AND deleted_at = 0 @lock"

// in returns the condition that a column has one of the ids or names, and its arguments, filled up so
// that there are few statements to prepare: no row has the id 0, or the name "".
func in[T any](list []T) (condition string, args []any) {
	size := 8
	for size < len(list) {
		size *= 8
	}
	args = make([]any, 0, size)
	for _, value := range append(slices.Clip(list), make([]T, size-len(list))...) {
		args = append(args, value)
	}
	return "IN (" + sqldb.List(size) + ")", args
}

// orNull returns a value for a column that may be null: null for the zero value.
func orNull[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}
