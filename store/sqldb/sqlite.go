package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // the driver
)

// MissingError says that the database at Path does not exist.
type MissingError struct{ Path string }

func (e *MissingError) Error() string { return "database " + e.Path + " does not exist" }

// Path returns the absolute path of the SQLite file that an address names, "" for an address of PostgreSQL or a
// malformed one. It follows symbolic links, so that the files next to the database, such as its lock, have one path.
func Path(address string) string {
	path, ok := strings.CutPrefix(address, "sqlite:")
	if !ok || path == "" {
		return ""
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return path
}

func (db *DB) openSQLite(ctx context.Context, create bool) error {
	if _, err := os.Stat(db.path); errors.Is(err, fs.ErrNotExist) {
		if !create {
			return &MissingError{db.path}
		}
		if err := createFile(db.path); err != nil {
			return err
		}
	}
	writes, err := openFile(db.path, 2, writerPragmas...) // one writes, one copies the log
	if err != nil {
		return err
	}
	// One more than processors, because a thread that the system has paused keeps its connection.
	reads, err := openFile(db.path, min(4, 1+runtime.GOMAXPROCS(0)), "query_only(1)", "cache_size(-1500)")
	if err != nil {
		return errors.Join(err, writes.Close())
	}
	db.writes, db.reads = writes, reads
	db.view, db.lists = &prepared{db: reads}, bun.NewDB(reads, sqlitedialect.New())
	if db.writer, err = newWriter(ctx, db); err != nil {
		return errors.Join(wrap(err), writes.Close(), reads.Close())
	}
	return nil
}

func openFile(path string, conns int, pragmas ...string) (*sql.DB, error) {
	all := append([]string{
		fmt.Sprintf("busy_timeout(%d)", lockTime.Milliseconds()),
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
	}, pragmas...)
	q := url.Values{"_txlock": {"immediate"}, "mode": {"rw"}, "_pragma": all}
	address := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	pool, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool, nil
}

// createFile creates an empty file that only its owner can read, and syncs the directories above it, which may be
// new, too. SQLite creates the files next to it with the same mode.
func createFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	for {
		if err := syncDirectory(dir); err != nil || dir == filepath.Dir(dir) {
			return err
		}
		dir = filepath.Dir(dir)
	}
}

// syncDirectory writes the names in a directory to the disk. Some systems do not allow that, which is no error: only
// a failure of the disk is one.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer d.Close()
	if err := d.Sync(); errors.Is(err, syscall.EIO) {
		return err
	}
	return nil
}

// ErrInUse says that another hub has locked the SQLite file.
var ErrInUse = errors.New("another hub is running on this database")

// Lock claims an SQLite file for one hub, by a lock of the operating system on PATH.lock, which ends with the
// process, however that ends. ErrInUse if another hub has it. On PostgreSQL, which any number of hubs can use, it
// does nothing.
func (db *DB) Lock() (unlock func() error, err error) {
	if db.IsPostgres() {
		return func() error { return nil }, nil
	}
	lock := flock.New(db.path + ".lock")
	taken, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !taken {
		holder := ""
		if pid, err := os.ReadFile(lock.Path()); err == nil && len(pid) > 0 {
			holder = fmt.Sprintf(" (process %s)", pid)
		}
		return nil, fmt.Errorf("%s: %w%s", db.path, ErrInUse, holder)
	}
	_ = os.WriteFile(lock.Path(), []byte(strconv.Itoa(os.Getpid())), 0o600) // for the error of another hub
	return lock.Unlock, nil
}

// CopyInto writes a copy of an SQLite database, as it is at one moment, to a new file, which is on disk when
// CopyInto returns. prepare is SQL that changes the copy. Until the copy is complete, its name is path.part.
// [fs.ErrExist] if path exists, [errors.ErrUnsupported] on PostgreSQL.
func (db *DB) CopyInto(ctx context.Context, path, prepare string) error {
	if db.IsPostgres() {
		return errors.ErrUnsupported
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	part := path + ".part"
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} { // of a copy that was interrupted
		if err := os.Remove(part + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	err = db.copyInto(ctx, part, prepare)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = publish(f, path)
	}
	if err == nil {
		err = syncDirectory(filepath.Dir(path))
	}
	_ = os.Remove(part) // unless it was renamed
	return wrap(err)
}

// publish renames a file to path, which must not exist. It fails if another copy has replaced the file under its
// present name: nobody knows then which of the two has written what.
func publish(f *os.File, path string) error {
	own, err := f.Stat()
	if err != nil {
		return err
	}
	if named, err := os.Lstat(f.Name()); err != nil || !os.SameFile(own, named) {
		return fmt.Errorf("another backup to %s is running", path)
	}
	err = os.Link(f.Name(), path) // a rename would replace an existing file
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(f.Name(), path) // some file systems have no links
	}
	return err
}

// copyInto copies the database to path, an empty file, and runs prepare there.
func (db *DB) copyInto(ctx context.Context, path, prepare string) error {
	source, err := openFile(db.path, 1) // one with query_only refuses VACUUM
	if err != nil {
		return err
	}
	defer source.Close()
	if _, err := source.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return err
	}
	copied, err := openFile(path, 1, "journal_mode(DELETE)", "secure_delete(1)")
	if err != nil {
		return err
	}
	_, err = copied.ExecContext(ctx, prepare)
	return errors.Join(err, copied.Close())
}
