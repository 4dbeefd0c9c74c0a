package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

var (
	scale      = flag.String("projects", "1000,10000", "how many projects BenchmarkScale compares, smallest first")
	scaleRound = flag.Duration("round", 3*time.Second, "how long each of BenchmarkScale's rounds takes")
)

// perAccount is how many projects an account has, except for the last one.
const perAccount = 1000

// BenchmarkScale compares GET and PUT of random configs of 4 KB among few and among many
// projects, in turn, with 16 clients. cmd/hub/deploy/SCALE.md has its figures:
//
//	go test ./cmd/hub -run '^$' -bench Scale -benchtime 12x -round 500ms -projects 1000,1000000 -timeout 2h
func BenchmarkScale(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		database := map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres}[name]
		b.Run(name, func(b *testing.B) {
			var all []*crowd
			for n := range strings.SplitSeq(*scale, ",") {
				projects, err := strconv.Atoi(n)
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, newCrowd(b, database(b), projects))
			}
			for _, c := range all { // what a hub does once, it has done
				c.round(b, http.MethodGet)
				c.round(b, http.MethodPut)
			}
			for b.Loop() {
				for _, c := range all {
					c.gets = append(c.gets, c.round(b, http.MethodGet))
				}
				for _, c := range all {
					c.puts = append(c.puts, c.round(b, http.MethodPut))
				}
			}
			for _, c := range all {
				get, put := middle(c.gets), middle(c.puts)
				b.ReportMetric(get.rate/middle(all[0].gets).rate, fmt.Sprintf("GET-ratio-%d", c.projects))
				b.ReportMetric(put.rate/middle(all[0].puts).rate, fmt.Sprintf("PUT-ratio-%d", c.projects))
				b.Logf("%s, %d projects, %d MiB: GET %s, PUT %s", name, c.projects, c.size(b)>>20, get, put)
			}
		})
	}
}

// measured is a round of requests.
type measured struct {
	rate     float64 // in a second
	p50, p99 time.Duration
	cpu      time.Duration // of the hub, for a request
}

func (m measured) String() string {
	return fmt.Sprintf("%.0f/s (p50 %.1f ms, p99 %.1f ms, %d µs of CPU)", m.rate, m.p50.Seconds()*1000,
		m.p99.Seconds()*1000, m.cpu.Microseconds())
}

// middle returns the median of rounds, by their rates, with the mean of their CPU.
func middle(rounds []measured) measured {
	var cpu time.Duration
	for _, r := range rounds {
		cpu += r.cpu / time.Duration(len(rounds))
	}
	sorted := slices.SortedFunc(slices.Values(rounds), func(a, b measured) int { return int(a.rate - b.rate) })
	m := sorted[len(sorted)/2]
	m.cpu = cpu
	return m
}

// crowd is a hub with many projects.
type crowd struct {
	*load
	hub        *process
	projects   int
	gets, puts []measured
}

// templates are the projects of which all others are copies.
const templates = 16

func newCrowd(b *testing.B, address string, projects int) *crowd {
	b.Helper()
	c := &crowd{load: newLoad(b, address), projects: projects}
	hub := serve(b, address)
	c.lead(hub.base)
	c.publish("site", "1.0.0")
	c.register("Pets", "pets")
	for i := range templates {
		c.create(fmt.Sprint("t", i))
		if c.put("alice", fmt.Sprint("t", i)) == nil {
			b.FailNow()
		}
	}
	hub.kill()
	start := time.Now()
	c.fill(b)
	b.Logf("%d projects filled in %v", projects, time.Since(start).Round(time.Second))
	c.hub = serve(b, address)
	c.lead(c.hub.base)
	return c
}

// cpu returns the time that the hub has spent on processors, where the system says.
func (c *crowd) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.hub.Process.Pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 15 {
		return 0
	}
	user, _ := strconv.Atoi(fields[13])
	system, _ := strconv.Atoi(fields[14])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// put writes a config of 4 KB that compresses as settings do.
func (c *crowd) put(account, slug string) []byte {
	var body strings.Builder
	body.WriteString(`{"settings": {"title": "Pets"`)
	for i := 0; body.Len() < 4000; i++ {
		fmt.Fprintf(&body, `, "section%02d": {"label%d": "%x", "enabled": true}`, i, rand.N(10), rand.Uint64())
	}
	return c.send(http.MethodPut, "/v1/projects/"+account+"/"+slug+"/client-config", "application/json", "",
		body.String()+"}}")
}

// fill copies the templates, a part in each transaction.
func (c *crowd) fill(b *testing.B) {
	b.Helper()
	db := openSQL(b, c.address)
	defer db.Close()
	execute := func(statement string) {
		b.Helper()
		if _, err := db.Exec(statement); err != nil {
			b.Fatalf("%s: %v", statement, err)
		}
	}
	const numbers = "WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
	accounts := fmt.Sprintf(numbers, 0, (c.projects-1)/perAccount)
	execute("INSERT INTO accounts (name, kind, created_at, disabled_at) " + accounts +
		" SELECT 'org' || i, 'org', 0, 0 FROM n")
	execute("INSERT INTO members (user_id, account_id, role) SELECT u.id, o.id, 'admin' " +
		"FROM accounts u JOIN accounts o ON o.kind = 'org' WHERE u.name = 'alice'")
	for first := 0; first < c.projects; first += 20 * perAccount {
		n := fmt.Sprintf(numbers, first, min(first+20*perAccount, c.projects)-1)
		execute("INSERT INTO resources (account_id, kind, slug, created_at, created_by) " + n + fmt.Sprintf(
			" SELECT a.id, 'project', 'p' || i, 1, 'alice' FROM n JOIN accounts a ON a.name = 'org' || (i / %d)", perAccount))
		for _, table := range []struct{ name, key string }{{"projects", "id"}, {"revisions", "project_id"}} {
			rows, err := db.Query("SELECT * FROM " + table.name + " WHERE 1 = 0")
			if err != nil {
				b.Fatal(err)
			}
			columns, err := rows.Columns()
			if err != nil {
				b.Fatal(err)
			}
			rows.Close()
			values := "r.id"
			for _, column := range columns[1:] {
				values += ", t." + column
			}
			execute(fmt.Sprintf(`INSERT INTO %s (%s) %s SELECT %s FROM n
				JOIN accounts a ON a.name = 'org' || (i / %d)
				JOIN resources r ON r.account_id = a.id AND r.kind = 'project' AND r.slug = 'p' || i
				JOIN accounts alice ON alice.name = 'alice'
				JOIN resources c ON c.account_id = alice.id AND c.kind = 'project' AND c.slug = 't' || (i %% %d)
				JOIN %s AS t ON t.%s = c.id`,
				table.name, strings.Join(columns, ", "), n, values, perAccount, templates, table.name, table.key))
		}
	}
	execute("ANALYZE")
}

// round sends requests for random projects from 16 clients.
func (c *crowd) round(b *testing.B, method string) measured {
	b.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	var times []time.Duration
	end, before := time.Now().Add(*scaleRound), c.cpu()
	for range 16 {
		all.Go(func() {
			var own []time.Duration
			for time.Now().Before(end) && !b.Failed() {
				i := rand.N(c.projects)
				account, slug := fmt.Sprint("org", i/perAccount), fmt.Sprint("p", i)
				start := time.Now()
				if method == http.MethodPut {
					c.put(account, slug)
				} else {
					c.send(method, "/v1/projects/"+account+"/"+slug+"/config", "", "", "")
				}
				own = append(own, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
		})
	}
	all.Wait()
	slices.Sort(times)
	if len(times) == 0 || b.Failed() {
		b.FailNow()
	}
	return measured{float64(len(times)) / scaleRound.Seconds(), times[len(times)/2], times[len(times)*99/100],
		(c.cpu() - before) / time.Duration(len(times))}
}

// size returns the bytes that the database takes on the disk.
func (c *crowd) size(b *testing.B) (bytes int64) {
	b.Helper()
	if path := store.Path(c.address); path != "" {
		files, err := filepath.Glob(path + "*")
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				bytes += info.Size()
			}
		}
		if err != nil {
			b.Fatal(err)
		}
		return bytes
	}
	db := openSQL(b, c.address)
	defer db.Close()
	err := db.QueryRow(
		"SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace").Scan(&bytes)
	if err != nil {
		b.Fatal(err)
	}
	return bytes
}
