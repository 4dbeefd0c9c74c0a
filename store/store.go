// Package store keeps a hub's rows: accounts, tokens, projects with their config
// and base files, stacks, APIs and rate limits, in SQLite or in PostgreSQL.
//
// A model and its queries stand side by side, one file a subject. The package
// decides what is atomic; it knows no HTTP, no JSON and no permission.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
	_ "modernc.org/sqlite"

	"example.com/projecthub/store/objects"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	read  *bun.DB
	write *bun.DB // PostgreSQL: a part of the connections
	group *group  // SQLite: all writes, with one of the connections of write; nil on PostgreSQL
	dsn   dsn

	checkpoints *checkpoints // nil on PostgreSQL

	frequentDB *sql.DB        // SQLite: connections for frequent queries; nil on PostgreSQL
	frequent   chan *prepared // on them, those that are not in use
	texts      sync.Map       // of frequent statements, by the table or by the text with ?
	unprepared atomic.Bool    // PostgreSQL: sessions are shared by a pooler, so that none keeps statements

	keep   Retention
	maxRow int64 // of a backup that is restored; 0: the default

	objects       *objects.Measured // nil: packs are in the database
	objectsProven atomic.Bool       // they are those of this database
}

// Options say how to open a database.
type Options struct {
	Create      bool // make an SQLite file that is not there yet
	Connections int  // to PostgreSQL, at most; 0: DefaultConnections

	Retention Retention // of histories, for each write; zero: DefaultRetention

	MaxRow int64 // of a backup that is restored, in bytes; 0: DefaultMaxRow

	Objects objects.Store // where packs are kept, see [Store.UseObjects]; nil: in the database
}

// dsn is a parsed database address.
type dsn struct {
	path string // SQLite's file, absolute; empty for PostgreSQL
	url  string // PostgreSQL's address
}

// MissingError says that the database at Path does not exist.
type MissingError struct{ Path string }

func (e *MissingError) Error() string { return "database " + e.Path + " does not exist" }

// ErrAddress says that an address names no database, whatever there is.
var ErrAddress = errors.New("malformed database address")

func parseDSN(address string) (dsn, error) {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok && path != "" {
		absolute, err := filepath.Abs(path)
		if real, linkErr := filepath.EvalSymlinks(absolute); linkErr == nil {
			absolute = real // so that files next to it, such as its lock, have one path
		}
		return dsn{path: absolute}, err
	}
	if strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://") {
		return dsn{url: address}, nil
	}
	return dsn{}, fmt.Errorf("%w: it is sqlite:PATH or postgres://…", ErrAddress)
}

// Path returns the absolute path of the SQLite file that address names, or "".
func Path(address string) string {
	d, _ := parseDSN(address)
	return d.path
}

// Open opens the database at address, sqlite:PATH or postgres://…, without
// migrating it. The error is a *[MissingError] when an SQLite file is absent, and
// ErrAddress when address is malformed.
func Open(ctx context.Context, address string, opts Options) (*Store, error) {
	d, err := parseDSN(address)
	if err != nil {
		return nil, err
	}
	s := &Store{dsn: d, keep: cmp.Or(opts.Retention, DefaultRetention), maxRow: opts.MaxRow}
	if opts.Objects != nil {
		s.objects = objects.Measure(opts.Objects)
	}
	if d.path != "" {
		err = s.openSQLite(opts)
	} else {
		err = s.openPostgres(opts.Connections)
	}
	if err != nil {
		return nil, err
	}
	if err := s.Ping(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) openSQLite(opts Options) error {
	if _, err := os.Stat(s.dsn.path); os.IsNotExist(err) && !opts.Create {
		return &MissingError{s.dsn.path}
	}
	if opts.Create {
		if err := s.createSQLite(); err != nil {
			return err
		}
	}
	open := func(conns int, pragmas ...string) (*sql.DB, error) {
		return s.dsn.openSQLite(conns, append([]string{"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}, pragmas...)...)
	}
	clean, err := open(1)
	if err != nil {
		return err
	}
	page := pageSize // an older file may have another
	if err := clean.QueryRow("PRAGMA page_size").Scan(&page); err != nil {
		clean.Close()
		return wrap(err)
	}
	write, err := open(2, fmt.Sprintf("wal_autocheckpoint(%d)", maxLog/page), fmt.Sprintf("cache_size(-%d)", writerCache))
	if err != nil {
		return err
	}
	reader := []string{"query_only(1)", fmt.Sprintf("cache_size(-%d)", readerCache)}
	read, err := open(8, reader...)
	if err != nil {
		return err
	}
	frequent := frequentReaders()
	if s.frequentDB, err = open(frequent, reader...); err != nil {
		return err
	}
	s.write, s.read = newDB(write, sqlitedialect.New()), newDB(read, sqlitedialect.New())
	s.frequent = make(chan *prepared, frequent)
	for range cap(s.frequent) {
		s.frequent <- newPrepared(nil, s.read.Dialect().Tables()) // connected by the first question
	}
	s.group = newGroup(s.write)
	s.checkpoints = newCheckpoints(clean, func(err error) { _ = s.group.note(err) })
	return nil
}

func (d dsn) openSQLite(conns int, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_txlock": {"immediate"}, "mode": {"rw"}, "_pragma": append([]string{"busy_timeout(5000)"}, pragmas...)}
	address := url.URL{Scheme: "file", Opaque: (&url.URL{Path: d.path}).EscapedPath(), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// pageSize is the page size of a new SQLite file, in bytes. A write of a config changes
// about ten pages, all of which go into the log: with pages of 16 KiB, many writers get a
// sixth less done (BenchmarkManyWriters).
const pageSize = 4 << 10

// How many KiB of pages a connection keeps, each of which takes twice its size in memory.
// SQLite's default is 2,000; 8 MiB gain nothing over these (BenchmarkLoad). There are several
// readers, which drop their pages with each commit.
const (
	writerCache = 4 << 10
	readerCache = 256
)

// frequentReaders is how many frequent queries SQLite runs at a time: one more than there are
// processors, since a thread that the system has paused keeps its connection, and at most 4,
// since each connection takes memory.
func frequentReaders() int { return min(4, 1+runtime.GOMAXPROCS(0)) }

// createSQLite creates an empty database if the file does not exist.
func (s *Store) createSQLite() error {
	made, err := makePrivate(s.dsn.path)
	if err != nil || !made {
		return err
	}
	db, err := s.dsn.openSQLite(1)
	if err != nil {
		return err
	}
	defer db.Close()
	// In this order: the log settles what a page is.
	_, err = db.Exec(fmt.Sprintf("PRAGMA page_size = %d; PRAGMA journal_mode = WAL", pageSize))
	return err
}

// makePrivate creates an empty file that only its owner can read, unless the file
// exists. SQLite gives the files that it creates next to it the same mode.
func makePrivate(path string) (made bool, err error) {
	if _, err := os.Lstat(path); err == nil { // its directories were on disk before it was made
		return false, nil
	}
	if err := objects.MakeDirectory(filepath.Dir(path)); err != nil {
		return false, err
	}
	// One that is there stays closed: closing it would end this process's locks on it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

func newDB(db *sql.DB, d schema.Dialect) *bun.DB {
	return bun.NewDB(db, d).WithQueryHook(deadlines{})
}

// Close closes every connection.
func (s *Store) Close() error {
	if s.group != nil {
		s.group.close()
		s.checkpoints.close()
		s.frequentDB.Close() // no question connects anew
		s.closeFrequent()
	}
	err := s.read.Close()
	return cmp.Or(err, s.write.Close())
}

// closeFrequent closes the connections of frequent queries, once the last query has ended.
func (s *Store) closeFrequent() {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	for range cap(s.frequent) {
		p, err := s.turn(ctx)
		if err != nil {
			return
		}
		p.disconnect()
		defer func() { s.frequent <- p }() // for questions that come too late
	}
}

// Connections returns how many connections are in use.
func (s *Store) Connections() (read, write int) {
	return s.read.Stats().InUse + cap(s.frequent) - len(s.frequent), s.write.Stats().InUse
}

// Ping asks the database whether it answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.write.PingContext(ctx); err != nil {
		return wrap(err)
	}
	return wrap(s.read.PingContext(ctx))
}

// Read calls f with a view of the latest committed state. Each query of f sees its own.
func (s *Store) Read(ctx context.Context, f func(*View) error) error {
	return wrap(f(&View{db: s.read, store: s}))
}

// writeTries bounds how often a transaction is run again that lost against another one.
const writeTries = 10

// Write calls f in a transaction that is committed, and on disk, when f and
// Write return nil. f runs again when the database asks for it. On SQLite, writes that
// come at the same time share a commit, but fail each on its own. ErrUnavailable when
// the transaction could not begin within 5 s or end within a minute, when a lock was
// not free within 5 s, when the database asked too often, or after ctx's deadline.
func (s *Store) Write(ctx context.Context, f func(*Tx) error) error { return s.commit(ctx, true, f) }

// WriteUnsynced is [Store.Write] without the wait for the disk. What f did is on disk
// when the next Write that changes something has returned, unless the database stopped
// in between: PostgreSQL itself, or the machine. Then it may be lost, never in part.
// If each batch of a first push waited for the disk, the push would take 1.5 to 1.8
// instead of 1.3 to 1.5 times as long as tar, zstd and curl with 1,000 files, and 1.6
// to 2.4 instead of 1.3 to 1.5 times with 10,000 (BenchmarkPushOfEverything, in turn).
func (s *Store) WriteUnsynced(ctx context.Context, f func(*Tx) error) error {
	return s.commit(ctx, false, f)
}

func (s *Store) commit(ctx context.Context, synced bool, f func(*Tx) error) error {
	for try := 1; ; try++ {
		err := s.transact(ctx, synced, func(db bun.IDB) error {
			return f(&Tx{View: View{db: db, store: s}, db: db})
		})
		if (isSerialization(err) || s.isOutdated(err)) && try < writeTries && pause(ctx, try) {
			continue
		}
		if err == nil && s.checkpoints != nil {
			s.checkpoints.wrote()
			if !synced {
				startWriting(s.dsn.path + "-wal")
			}
		}
		return wrap(err)
	}
}

// pause waits before a transaction is tried again, so that those that lost against
// each other do not meet again. It returns false when ctx ended.
func pause(ctx context.Context, try int) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(rand.N(time.Duration(try) * 10 * time.Millisecond)):
		return true
	}
}

// transact runs f in a transaction, and passes it the connection.
func (s *Store) transact(ctx context.Context, synced bool, f func(bun.IDB) error) error {
	if s.group != nil {
		return s.group.write(ctx, synced, func(conn *liteConn) error { return f(conn) })
	}
	return s.transactPostgres(ctx, synced, func(conn *pgConn) error { return f(conn) })
}
