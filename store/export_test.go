package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// Waits says how the transaction will wait for the disk when it is committed, in
// the words of its database.
func (tx *Tx) Waits(ctx context.Context) (how string, err error) {
	query := "PRAGMA synchronous"
	if tx.postgres() {
		query = "SHOW synchronous_commit"
	}
	return how, tx.db.QueryRowContext(ctx, query).Scan(&how)
}

// FreeSlug returns the slug of the next API of account that is called wish.
func (tx *Tx) FreeSlug(ctx context.Context, account, wish string) (string, error) {
	return tx.freeSlug(ctx, account, wish)
}

// LargestPack is the size of the largest pack that is stored, in bytes.
func (v *View) LargestPack(ctx context.Context) (bytes int64, err error) {
	return bytes, v.db.(bun.IDB).NewRaw("SELECT max(length(body)) FROM packs").Scan(ctx, &bytes)
}

// Packs returns how many packs are stored, and the bytes of their content.
func (v *View) Packs(ctx context.Context) (n, bytes int64, err error) {
	return n, bytes, v.db.(bun.IDB).NewRaw("SELECT count(*), CAST(coalesce(sum(length), 0) AS bigint) FROM packs").Scan(ctx, &n, &bytes)
}

// ReplacePacks stores other bytes as the packs' bodies, as a failing disk does.
func (tx *Tx) ReplacePacks(ctx context.Context, change func(body []byte) []byte) error {
	var all []struct {
		Stream string
		Start  int64
		Body   []byte
	}
	if err := tx.db.NewRaw("SELECT stream, start, body FROM packs").Scan(ctx, &all); err != nil {
		return err
	}
	for _, p := range all {
		if err := tx.execLarge(ctx, "UPDATE packs SET body = ? WHERE stream = ? AND start = ?", change(p.Body), p.Stream, p.Start); err != nil {
			return err
		}
	}
	return nil
}

// MarkKey is the key of the object that says whose objects there are.
const MarkKey = markKey

// Upload uploads packs to the object store, if there is one.
func (s *Store) Upload(ctx context.Context, account string, packs []Pack) ([]Pack, error) {
	return s.upload(ctx, account, packs)
}

// Occupy takes every read connection, and reports how many calls wait for one. Those that
// wait for one of SQLite's for frequent queries are not counted.
func (s *Store) Occupy(ctx context.Context) (waiting func() int64, release func(), err error) {
	var conns []*sql.Conn
	var frequent []*prepared
	release = func() {
		for _, conn := range conns {
			conn.Close()
		}
		for _, p := range frequent {
			s.frequent <- p
		}
	}
	for range cap(s.frequent) {
		frequent = append(frequent, <-s.frequent)
	}
	for range s.read.Stats().MaxOpenConnections {
		conn, err := s.read.DB.Conn(ctx)
		if err != nil {
			release()
			return nil, nil, err
		}
		conns = append(conns, conn)
	}
	return func() int64 { return s.read.Stats().WaitCount }, release, nil
}

// AskWrongly asks for a value that goes nowhere, which panics.
func (v *View) AskWrongly(ctx context.Context) error {
	var nowhere chan int
	return v.one(ctx, &nowhere, "SELECT 1 AS one")
}

// Break has database/sql close the connections of SQLite's frequent queries.
func (s *Store) Break() {
	for range cap(s.frequent) {
		p := <-s.frequent
		if p.conn != nil {
			_ = p.conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		s.frequent <- p
	}
}

// Deallocate makes the sessions that read forget their prepared statements, as a pooler
// does that gives each transaction any session.
func (s *Store) Deallocate(ctx context.Context) error {
	var conns []*sql.Conn
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for range s.read.Stats().OpenConnections {
		conn, err := s.read.DB.Conn(ctx)
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		if _, err := conn.ExecContext(ctx, "DEALLOCATE ALL"); err != nil {
			return err
		}
	}
	return nil
}

// ShareLonger makes SQLite's transactions be handed on however old they are.
func ShareLonger(t testing.TB) {
	former := sharedTime
	sharedTime = time.Hour
	t.Cleanup(func() { sharedTime = former })
}

// Queued returns how many writes wait for their turn on SQLite.
func (s *Store) Queued() int {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	return len(s.group.queue)
}

// Commits returns how many transactions SQLite was asked to commit, and how many writes
// had a savepoint, while nobody writes.
func (s *Store) Commits() (commits, savepoints int) { return s.group.commits, s.group.savepoints }

// Exec runs a statement in the transaction.
func (tx *Tx) Exec(ctx context.Context, statement string, args ...any) error {
	return tx.execLarge(ctx, statement, args...)
}

// Send runs a statement in the transaction, whose result nobody waits for.
func (tx *Tx) Send(ctx context.Context, statement string, args ...any) error {
	return tx.send(ctx, statement, args...)
}

// WriteWithoutHistory is [Tx.WriteConfig] that adds nothing to the history, to compare.
func (tx *Tx) WriteWithoutHistory(ctx context.Context, r ref.Ref, w ConfigWrite) error {
	before, _, err := tx.lockedConfig(ctx, r)
	if err != nil || before.damaged() {
		return err
	}
	body, err := w.Change(before)
	if err != nil {
		return err
	}
	after := *before
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	after.Body, after.ConfigState = body, ConfigState{Revision: revisionOf(body), HasConfig: true, UpdatedAt: now, UpdatedBy: w.By, UpdatedVia: w.Via}
	return tx.putConfig(ctx, &after)
}

// Setting is the value of a setting of PostgreSQL in the session of v.
func (v *View) Setting(ctx context.Context, name string) (value string, err error) {
	return value, v.db.(bun.IDB).NewRaw("SHOW "+name).Scan(ctx, &value)
}

// Plan is how a database runs a query.
type Plan struct {
	Query string
	Lines []string
	Scans bool // a whole table, or a sort of what a request asked for in order
	Rows  int  // that were read; PostgreSQL alone says

	within []string
}

func (p Plan) String() string { return p.Query + "\n" + strings.Join(p.Lines, "\n") }

// recorded notes queries while it is on.
type recorded struct {
	queries []string
	on      bool
}

func (r *recorded) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (r *recorded) AfterQuery(_ context.Context, e *bun.QueryEvent) {
	switch verb, _, _ := strings.Cut(e.Query, " "); {
	case r.on && (verb == "SELECT" || verb == "DELETE" || verb == "UPDATE" || verb == "INSERT"):
		r.queries = append(r.queries, e.Query)
	}
}

// Plans runs f and returns the plans of its queries. Those that are prepared or
// whose values travel separately are left out: they ask for one row by its key.
func (s *Store) Plans(ctx context.Context, f func() error) ([]Plan, error) {
	r := &recorded{on: true}
	s.read = s.read.WithQueryHook(r)
	if s.dsn.path == "" {
		s.write = s.read
	} else {
		s.write = s.write.WithQueryHook(r)
		s.group.close()
		s.group = newGroup(s.write)
	}
	err := f()
	r.on = false
	if err != nil {
		return nil, err
	}
	var all []Plan
	for _, q := range r.queries {
		p, err := s.plan(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q, err)
		}
		all = append(all, p)
	}
	return all, nil
}

var errUndo = errors.New("undo")

var counts = regexp.MustCompile(`actual rows=([0-9.]+) loops=([0-9]+)`)
var filtered = regexp.MustCompile(`Rows Removed by Filter: ([0-9]+)`)

func (s *Store) plan(ctx context.Context, query string) (p Plan, err error) {
	p.Query = query
	explain := "EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) "
	if s.dsn.path != "" {
		explain = "EXPLAIN QUERY PLAN "
	}
	err = s.Write(ctx, func(tx *Tx) error {
		rows, err := tx.db.QueryContext(ctx, explain+query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var line string
			into := []any{&line}
			if s.dsn.path != "" {
				into = []any{&id, &parent, &unused, &line}
			}
			if err := rows.Scan(into...); err != nil {
				return err
			}
			p.add(line)
		}
		return errors.Join(rows.Err(), errUndo)
	})
	if errors.Is(err, errUndo) {
		err = nil
	}
	return p, err
}

func (p *Plan) add(line string) {
	p.Lines = append(p.Lines, line)
	if name, ok := strings.CutPrefix(line, "CO-ROUTINE "); ok {
		p.within = append(p.within, "SCAN "+name) // of the rows of a query within this one
	}
	if strings.HasPrefix(line, "SCAN ") && !strings.Contains(line, "CONSTANT ROW") && !slices.Contains(p.within, line) ||
		strings.Contains(line, "USE TEMP B-TREE") {
		p.Scans = true
	}
	if m := counts.FindStringSubmatch(line); m != nil && strings.Contains(line, "Scan") {
		rows, _ := strconv.ParseFloat(m[1], 64)
		loops, _ := strconv.Atoi(m[2])
		p.Rows += int(rows * float64(loops))
	}
	if m := filtered.FindStringSubmatch(line); m != nil {
		n, _ := strconv.Atoi(m[1])
		p.Rows += n
	}
}

// LockCollecting keeps collections from running.
func (s *Store) LockCollecting(ctx context.Context) (unlock func(), err error) {
	return s.lockTask(ctx, collecting)
}

// CountRevisions returns the bodies whose revisions are computed from now on.
func CountRevisions(t testing.TB) *[]string {
	bodies := new([]string)
	revisionOf = func(body []byte) string {
		*bodies = append(*bodies, string(body))
		return hexSum(body)
	}
	t.Cleanup(func() { revisionOf = hexSum })
	return bodies
}

// SetRecent says that a blob was stored a moment ago.
func (s *Swap) SetRecent(digest string) { s.recent = map[string]bool{digest: true} }

// BlobDigests returns the digests of all blobs that are stored.
func (v *View) BlobDigests(ctx context.Context) (digests []string, err error) {
	return digests, v.db.NewSelect().Model((*Blob)(nil)).Column("sha256").Scan(ctx, &digests)
}

// EncodeUndo encodes what removes and puts files.
func EncodeUndo(remove []string, put tree.Tree) []byte {
	return (&FilesUndo{Added: remove, Removed: put}).encode()
}

// DecodeUndoText decodes a text that is not compressed yet; DecodeUndo encodes and decodes.
func DecodeUndoText(text []byte) (*FilesUndo, error) { return decodeUndo(frame.Append(nil, text)) }
func DecodeUndo(u *FilesUndo) (*FilesUndo, error)    { return decodeUndo(u.encode()) }

// Trace has t told of each statement that stores send to PostgreSQL from now on.
func Trace(t pgx.QueryTracer) { tracer = t }

// EndUnanswered sets up connections to PostgreSQL.
var EndUnanswered = endUnanswered
