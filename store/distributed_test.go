package store_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/projecthub/store"
)

// These checks keep it possible to distribute the tables by account over several machines,
// by Citus or another database that speaks PostgreSQL's protocol. They look at the schema
// and at each statement that the tests of this package make the store send; what such
// databases lack has to be named in cmd/hub/deploy/SCALE.md.

// sent collects statements without their values.
type sent struct {
	mu  sync.Mutex
	all map[string]bool
}

var values = regexp.MustCompile(`'(?:[^']|'')*'|\$?\b\d+\b`)

func (s *sent) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	text := strings.Join(strings.Fields(strings.ReplaceAll(q.SQL, `"`, "")), " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[values.ReplaceAllString(text, "?")] = true
	return ctx
}

// TraceBatchStart notes the statements that go in one round trip.
func (s *sent) TraceBatchStart(ctx context.Context, conn *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	for _, q := range b.Batch.QueuedQueries {
		s.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{SQL: q.SQL})
	}
	return ctx
}

func (s *sent) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (s *sent) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

func (s *sent) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestMain(m *testing.M) {
	flag.Parse()
	s := &sent{all: map[string]bool{}}
	store.Trace(s)
	code := m.Run()
	findings, err := s.check()
	if err != nil {
		findings = append(findings, err.Error())
	}
	for _, f := range findings {
		fmt.Println("a database that is distributed by account:", f)
		code = 1
	}
	os.Exit(code)
}

// table is what a migration says of a table.
type table struct{ keys, references []string }

var (
	creates    = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \((.*?)^\);`)
	keyed      = regexp.MustCompile(`(?:PRIMARY KEY|UNIQUE) \(([^)]*)\)|(\w+) +NAME PRIMARY KEY`)
	references = regexp.MustCompile(`FOREIGN KEY \(([^)]*)\) REFERENCES (\w+)|(\w+) +NAME NOT NULL REFERENCES (\w+)`)
)

// tables returns all tables. Those with an account in their key are distributed by it, and
// each machine has the others as a whole.
func tables() (all map[string]table, err error) {
	all = map[string]table{}
	files, err := filepath.Glob("migrations/*.sql")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, found := range creates.FindAllStringSubmatch(string(text), -1) {
			t := table{}
			for _, key := range keyed.FindAllStringSubmatch(found[2], -1) {
				t.keys = append(t.keys, key[1]+key[2])
			}
			for _, r := range references.FindAllStringSubmatch(found[2], -1) {
				t.references = append(t.references, r[1]+r[3]+" "+r[2]+r[4])
			}
			all[found[1]] = t
		}
	}
	return all, err
}

var account = regexp.MustCompile(`\baccount\b`)

func (t table) distributed() bool {
	return slices.ContainsFunc(t.keys, account.MatchString)
}

func TestSchema_CanBeDistributedByAccount(t *testing.T) {
	all, err := tables()
	if err != nil || len(all) < 20 {
		t.Fatalf("%d tables: %v", len(all), err)
	}
	for name, one := range all {
		for _, key := range one.keys {
			if one.distributed() && !account.MatchString(key) {
				t.Errorf("the key (%s) of %s has no account, so that no machine alone can check it", key, name)
			}
		}
		for _, reference := range one.references {
			columns, to := reference[:strings.LastIndex(reference, " ")], reference[strings.LastIndex(reference, " ")+1:]
			if all[to].distributed() && !(one.distributed() && strings.HasPrefix(columns, "account")) {
				t.Errorf("(%s) of %s refers to %s, which can be on another machine", columns, name, to)
			}
		}
	}
}

var (
	changes  = regexp.MustCompile(`^(?:WITH .*?\b)?(?:UPDATE|DELETE FROM) (\w+)|\b(?:UPDATE|DELETE FROM) (\w+) (?:AS|SET|WHERE)`)
	locks    = regexp.MustCompile(`\bFROM (\w+)(?: AS \w+)? WHERE .*\bFOR (?:UPDATE|SHARE)`)
	routed   = regexp.MustCompile(`\baccount\b\)? ?(?:=|IN)|\((?:\w+\.)?account, [^)]*\) (?:=|IN)`)
	moves    = regexp.MustCompile(`^UPDATE .* SET (?:[^=]*= [^,]*, )*account = `)
	volatile = regexp.MustCompile(`^(UPDATE \w+) .*\bclock_timestamp\b`)
	specials = regexp.MustCompile(`(?i)\b(pg_\w+|hashtext\w*|current_schema|clock_timestamp|unnest|LOCK TABLE|SKIP LOCKED|FOR SHARE|NOTIFY|LISTEN|synchronous_commit)\b`)
)

// ofTests are statements that only these tests send.
var ofTests = map[string]bool{"UPDATE packs SET body = ? WHERE stream = ? AND start = ?": true}

func TestDistributed_FindsWhatIsRejected(t *testing.T) {
	for statement, want := range map[string]string{
		"DELETE FROM packs WHERE stream = ?":                                               "changes or locks packs",
		"SELECT slug FROM configs WHERE slug = ? FOR UPDATE":                               "changes or locks configs",
		"UPDATE configs SET slug = ?, account = ? WHERE account = ? AND slug = ?":          "moves a row",
		"UPDATE configs SET updated_at = clock_timestamp() WHERE account = ? AND slug = ?": "UPDATE configs",
		"SELECT pg_advisory_lock(?)":                                                       "pg_advisory_lock",
		"SELECT slug FROM configs WHERE account = ? AND slug = ? FOR UPDATE":               "",
		"DELETE FROM config_history WHERE (account, slug, n) IN (?)":                       "",
		"UPDATE tokens SET last_used_at = clock_timestamp() WHERE hash = ?":                "", // named in SCALE.md
	} {
		s := &sent{all: map[string]bool{statement: true}}
		findings, err := s.check()
		if err != nil || (len(findings) > 0) != (want != "") || want != "" && !strings.Contains(findings[0], want) {
			t.Errorf("%s: %q, %v", statement, findings, err)
		}
	}
}

func (s *sent) check() (findings []string, err error) {
	all, err := tables()
	if err != nil {
		return nil, err
	}
	scale, err := os.ReadFile("../cmd/hub/deploy/SCALE.md")
	if err != nil {
		return nil, err
	}
	for _, statement := range slices.Sorted(maps.Keys(s.all)) {
		if strings.HasPrefix(statement, "EXPLAIN") || strings.Contains(statement, "CREATE TABLE") || strings.Contains(statement, "ALTER TABLE") {
			continue
		}
		for _, found := range append(changes.FindAllStringSubmatch(statement, -1), locks.FindAllStringSubmatch(statement, -1)...) {
			name := strings.Join(found[1:], "")
			if all[name].distributed() && !routed.MatchString(statement) && !ofTests[statement] {
				findings = append(findings, "it changes or locks "+name+" without an account: "+statement)
			}
		}
		if found := volatile.FindStringSubmatch(statement); found != nil && !strings.Contains(string(scale), "`"+found[1]+"`") {
			findings = append(findings, "SCALE.md does not name "+found[1]+": "+statement)
		}
		if moves.MatchString(statement) {
			findings = append(findings, "it moves a row to another machine: "+statement)
		}
		for _, special := range specials.FindAllString(statement, -1) {
			if !strings.Contains(string(scale), "`"+special+"`") {
				findings = append(findings, "SCALE.md does not name "+special+": "+statement)
			}
		}
	}
	return findings, nil
}
