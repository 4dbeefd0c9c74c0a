package store

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/uptrace/bun/migrate"

	"example.com/projecthub/store/migrations"
)

// A backup is a zstd stream, with its checksum, of lines of JSON: a backupHeader, then for
// each table a backupTable and its rows, an array of values for each, at last a backupEnd.
// A value is a string, a number, true, false or null; bytes are a string in base64, never null.

const backupFormat = "projecthub-backup-1"

type backupHeader struct {
	Format     string   `json:"format"`
	Migrations []string `json:"migrations"` // the steps that the schema has taken
}

type backupTable struct {
	Table   string         `json:"table"`
	Columns []backupColumn `json:"columns"`
}

type backupColumn struct {
	Name string     `json:"name"`
	Type columnType `json:"type"`
}

type backupEnd struct {
	Rows int64 `json:"rows"` // of all tables
}

// columnType is the type of a column, whichever the database.
type columnType string

const (
	typeText    columnType = "text"
	typeInteger columnType = "integer"
	typeBoolean columnType = "boolean"
	typeBytes   columnType = "bytes"
)

// columnTypes are the types by the names that the databases give them.
var columnTypes = map[string]columnType{
	"TEXT": typeText, "BIGINT": typeInteger, "INT8": typeInteger, "BOOLEAN": typeBoolean, "BOOL": typeBoolean, "BLOB": typeBytes, "BYTEA": typeBytes,
}

// Backup writes all rows to w, as they are at one moment: with every write that was
// acknowledged before, and none in part. Hubs go on reading and writing meanwhile; the log
// of SQLite grows until the end. It returns the number of rows.
func (s *Store) Backup(ctx context.Context, w io.Writer) (rows int64, err error) {
	taken, err := s.taken(ctx)
	if err != nil {
		return 0, err
	}
	tables, err := backupTables()
	if err != nil {
		return 0, err
	}
	// A restored hub orders certificates anew: a backup must not allow to pose as the hub.
	tables = slices.DeleteFunc(tables, func(table string) bool { return table == "certificates" })
	packed, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return 0, err
	}
	out := json.NewEncoder(packed)
	if err := out.Encode(backupHeader{backupFormat, taken}); err != nil {
		return 0, err
	}
	err = s.snapshot(ctx, func(conn *sql.Conn) error {
		for _, table := range tables {
			n, err := s.writeTable(ctx, conn, table, out)
			if err != nil {
				return fmt.Errorf("table %s: %w", table, err)
			}
			rows += n
		}
		return nil
	})
	if err != nil {
		return rows, errors.Join(wrap(err), packed.Close())
	}
	if err := out.Encode(backupEnd{rows}); err != nil {
		return rows, errors.Join(err, packed.Close())
	}
	return rows, packed.Close()
}

// taken returns the names of the steps that the schema has taken, which have to be those
// that this hub knows.
func (s *Store) taken(ctx context.Context) ([]string, error) {
	if err := s.CheckSchema(ctx); err != nil {
		return nil, err
	}
	steps, err := migrations.All()
	if err != nil {
		return nil, err
	}
	m := migrate.NewMigrator(s.read, steps, migrate.WithTableName(migrations.Marks))
	missing, err := m.MissingMigrations(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("the database was migrated by a newer hub, to %s: use that hub", missing[len(missing)-1].Name)
	}
	return names(steps.Sorted()), nil
}

func names(steps migrate.MigrationSlice) []string {
	var all []string
	for _, step := range steps {
		all = append(all, step.Name)
	}
	return all
}

// snapshot calls f with a connection on which every query sees the same state.
func (s *Store) snapshot(ctx context.Context, f func(*sql.Conn) error) error {
	conn, err := s.read.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	release, err := s.keepObjects(ctx)
	if err != nil {
		return err
	}
	defer release()
	begin := []string{"BEGIN"} // not BeginTx, which on SQLite would keep writers out
	if s.dsn.path == "" {
		begin = append([]string{"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}, withoutLimits()...)
		begin = append(begin, "SELECT pg_advisory_xact_lock_shared("+backupLock+")")
	}
	for _, statement := range begin {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return errors.Join(f(conn), rollback(ctx, conn))
}

// withoutLimits are statements that lift the limits of a session's times for a transaction.
func withoutLimits() []string {
	var all []string
	for name := range sessionTimes {
		all = append(all, "SET LOCAL "+name+" = 0")
	}
	return all
}

// backupTables are the tables of a backup. Those that say which objects are where are about
// one object store; a backup has what is in the objects.
func backupTables() ([]string, error) {
	tables, err := migrations.Tables()
	return slices.DeleteFunc(tables, func(name string) bool { return name == "object_store" || name == "unused_objects" }), err
}

func (s *Store) writeTable(ctx context.Context, conn *sql.Conn, table string, out *json.Encoder) (n int64, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT * FROM "+table)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	columns, err := columnsOf(rows)
	if err != nil {
		return 0, err
	}
	row := make([]any, len(columns)) // pointers to the values
	for i, column := range columns {
		row[i] = column.Type.pointer()
	}
	if err := out.Encode(backupTable{table, columns}); err != nil {
		return 0, err
	}
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			return n, err
		}
		for _, value := range row {
			if b, ok := value.(*[]byte); ok && *b == nil {
				*b = []byte{} // SQLite's driver reads empty bytes as NULL
			}
		}
		if table == packTable {
			if err := s.insideBackup(ctx, columns, row); err != nil {
				return n, err
			}
		}
		if err := out.Encode(row); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}

// columnsOf returns the columns of rows.
func columnsOf(rows *sql.Rows) (columns []backupColumn, err error) {
	found, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for _, column := range found {
		kind, ok := columnTypes[strings.ToUpper(column.DatabaseTypeName())]
		if !ok {
			return nil, fmt.Errorf("column %s has the type %s", column.Name(), column.DatabaseTypeName())
		}
		columns = append(columns, backupColumn{column.Name(), kind})
	}
	return columns, nil
}

// pointer returns where a value of the type, or NULL, is read into.
func (t columnType) pointer() any {
	switch t {
	case typeInteger:
		return new(*int64)
	case typeBoolean:
		return new(*bool)
	case typeBytes:
		return new([]byte)
	default:
		return new(*string)
	}
}

// backupReader reads the lines of a backup.
type backupReader struct {
	lines *json.Decoder
	text  *lineLimit
	unzip *zstd.Decoder
	ahead json.RawMessage // a line that was read and is no row

	maxRow  int64
	outside *uploading // what packs become; nil: they stay as they are
}

// Limits of what a backup may need, in bytes. A row of the largest list of base files that a
// hub takes by default has 22 MiB.
const (
	DefaultMaxRow   = 64 << 20
	maxOther        = 64 << 10 // a line that is no row
	maxBackupWindow = 64 << 20 // of its compression
)

// RowTooLongError says that a backup has a row that is longer than [Options] allow.
type RowTooLongError struct{ Most int64 }

func (e *RowTooLongError) Error() string {
	return fmt.Sprintf("a row is longer than %d bytes", e.Most)
}

// lineLimit fails when more is read than a line may have, before it fills the memory.
type lineLimit struct {
	r    io.Reader
	left int64
	full error
}

func (l *lineLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, l.full
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// ErrBackup says that what is read is no backup, or is damaged or incomplete.
var ErrBackup = errors.New("not a whole backup")

// maxBeginning is how much of a backup is read for its first line, at most, in bytes. The
// decoder reads ahead.
const maxBeginning = 4 << 20

// CheckBackup returns ErrBackup unless r begins as a backup does. The reader that it returns
// has all that r had.
func CheckBackup(r io.Reader) (io.Reader, error) {
	var read bytes.Buffer
	// The decoder skips any number of empty frames, which a backup does not begin with.
	b, _, err := newBackupReader(io.TeeReader(io.LimitReader(r, maxBeginning), &read), 0)
	if err != nil {
		return nil, err
	}
	b.unzip.Close()
	return io.MultiReader(&read, r), nil
}

func newBackupReader(r io.Reader, maxRow int64) (*backupReader, backupHeader, error) {
	unzip, err := zstd.NewReader(bufio.NewReader(r), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxBackupWindow))
	if err != nil {
		return nil, backupHeader{}, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	text := &lineLimit{r: unzip, left: maxOther, full: fmt.Errorf("its first line is longer than %d bytes", maxOther)}
	b := &backupReader{lines: json.NewDecoder(text), text: text, unzip: unzip, maxRow: cmp.Or(maxRow, DefaultMaxRow)}
	var head backupHeader
	if err := b.lines.Decode(&head); err != nil {
		unzip.Close()
		return nil, head, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	if head.Format != backupFormat {
		unzip.Close()
		return nil, head, fmt.Errorf("%w: its format is %q, not %q", ErrBackup, head.Format, backupFormat)
	}
	return b, head, nil
}
