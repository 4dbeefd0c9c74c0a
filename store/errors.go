package store

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

	"example.com/projecthub/store/objects"
)

// What a caller can tell apart. Everything else is a fault of the hub.
var (
	ErrNotFound    = errors.New("not found")
	ErrExists      = errors.New("already exists")
	ErrUnavailable = errors.New("the database does not answer")
	ErrFull        = errors.New("the database's disk is full")
)

// What a caller can tell apart about the object store.
var (
	ErrObjects     = objects.ErrUnavailable
	ErrObjectsFull = objects.ErrFull
)

// wrap marks a driver's error with the sentinel that it means. Drivers are told
// apart by their codes, never by their texts.
func wrap(err error) error {
	if err == nil { // as nearly always: meaning allocates
		return nil
	}
	sentinel := meaning(err)
	if sentinel == nil || errors.Is(err, sentinel) {
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

func meaning(err error) error {
	var lite *sqlite.Error
	var pg *pgconn.PgError
	var dial *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, ErrObjects), errors.Is(err, ErrObjectsFull):
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case errors.As(err, &lite):
		return sqliteMeaning(lite.Code())
	case errors.As(err, &pg):
		return postgresMeaning(pg.Code)
	case errors.As(err, &dial), errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone), errors.Is(err, driver.ErrBadConn),
		pgconn.SafeToRetry(err): // such as "conn closed", which is no sentinel of its own
		return ErrUnavailable
	}
	return nil
}

func sqliteMeaning(code int) error {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return ErrExists
	}
	switch code & 0xff { // the primary code, without what extends it
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return ErrUnavailable
	}
	return nil
}

func postgresMeaning(code string) error {
	switch {
	case code == "23505": // unique_violation
		return ErrExists
	case code == "53100": // disk_full
		return ErrFull
	case code == "25006", // read_only_sql_transaction
		code == "25P03", code == "25P04", // idle_in_transaction_session_timeout, transaction_timeout
		code == "40001", code == "40P01", // serialization_failure, deadlock_detected: too often
		code == "55P03", // lock_not_available
		len(code) == 5 && (code[:2] == "08" || code[:2] == "53" || code[:2] == "57" || code[:2] == "58"):
		return ErrUnavailable // connection lost, resources, operator, system
	}
	return nil
}

// isSerialization reports whether the transaction lost against another one and is to
// be run again.
func isSerialization(err error) bool {
	var pg *pgconn.PgError
	return errors.Is(err, errRemoved) || errors.Is(err, errRolledBack) || errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// isNoTable reports whether a query named a table that is not there. SQLite has no
// code for that alone, only one for every statement that does not fit the schema.
func isNoTable(err error) bool {
	var lite *sqlite.Error
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42P01" || errors.As(err, &lite) && lite.Code() == sqlite3.SQLITE_ERROR
}

// isNoRight reports whether the database's role lacks a right.
func isNoRight(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42501"
}
