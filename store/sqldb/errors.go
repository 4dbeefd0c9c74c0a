package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What a caller can tell apart. Everything else is a fault of the hub.
var (
	ErrNotFound    = errors.New("not found")
	ErrExists      = errors.New("already exists")
	ErrReference   = errors.New("something else refers to it")
	ErrDamaged     = errors.New("stored data is damaged")
	ErrFull        = errors.New("the database's disk is full")
	ErrUnavailable = errors.New("the database does not answer")
	ErrRights      = errors.New("the database's role has no right to its tables")
	ErrAddress     = errors.New("malformed database address")
)

// wrap adds the sentinel above that a driver's error stands for, if there is one. It goes by the codes of errors,
// never by their texts.
func wrap(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return meaning(err, sqliteMeaning(lite.Code()))
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return meaning(err, postgresMeaning(pg.Code))
	}
	_, dial := errors.AsType[*pgconn.ConnectError](err)
	_, broken := errors.AsType[net.Error](err) // of the connection to PostgreSQL
	if dial || broken || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) || pgconn.SafeToRetry(err) {
		return meaning(err, ErrUnavailable)
	}
	return err
}

// meaning joins err with a sentinel, unless there is none, or err has it already.
func meaning(err, sentinel error) error {
	if sentinel == nil || errors.Is(err, sentinel) {
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

// unavailable is wrap for an error that means ErrUnavailable whatever its code is.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return meaning(wrap(err), ErrUnavailable)
}

func sqliteMeaning(code int) error {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return ErrExists
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return ErrReference
	}
	switch code & 0xff { // the rest says more about the cause
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM:
		return ErrUnavailable
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ErrDamaged
	}
	return nil
}

func postgresMeaning(code string) error {
	switch code {
	case "23505": // unique_violation
		return ErrExists
	case "23503": // foreign_key_violation
		return ErrReference
	case "42501": // insufficient_privilege
		return ErrRights
	case "53100": // disk_full
		return ErrFull
	case "55P03", "25006", "25P03", "25P04", "40001", "40P01": // a timeout, a deadlock, or read-only
		return ErrUnavailable
	}
	switch code[:2] {
	case "08", "53", "57", "58": // connections, resources, a server that shuts down, its system
		return ErrUnavailable
	case "XX":
		return ErrDamaged
	}
	return nil
}

// isConflict reports whether PostgreSQL has rolled back the transaction in favor of another one.
func isConflict(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "40001" || pg.Code == "40P01")
}
