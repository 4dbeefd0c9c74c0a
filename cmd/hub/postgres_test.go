package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/store/storetest"
)

// The short forms run with every test; the long forms are
//
//	go test ./cmd/hub -run 'TestPostgres|TestKill|TestPowerCut|TestRestart' -failovers 20 -starts 20 -terminations 200 \
//		-kills 300 -power-cuts 200 -restarts 100 -timeout 2h -v
var (
	failovers    = flag.Int("failovers", 1, "times that a standby replaces the primary under load")
	starts       = flag.Int("starts", 1, "times that five hubs start together on an empty database")
	terminations = flag.Int("terminations", 20, "times that a connection to PostgreSQL is ended under load")
)

// A standby is promoted when the primary ends under load, and the old primary is set up
// anew as the next standby.
func TestPostgres_FailsOverWithoutLosingAcknowledgedWrites(t *testing.T) {
	primary := startCluster(t)
	standby := primary.standby("standby")
	primary.configure("synchronous_standby_names", "*")
	l := newLoad(t, primary.address())
	for i := range *failovers {
		if i > 0 {
			standby = primary.standby("standby")
			primary.configure("synchronous_standby_names", "*")
		}
		address := fmt.Sprintf("postgres://postgres@127.0.0.1:%s,127.0.0.1:%s/postgres?sslmode=disable", primary.port,
			standby.port)
		hubs := []*process{serve(t, address), serve(t, address)}
		l.lead(hubs[0].base, hubs[1].base)
		if i == 0 {
			l.begin(4)
		}
		l.await(30)
		primary.kill()
		start := time.Now()
		standby.promote()
		standby.configure("synchronous_standby_names", "")
		promoted := time.Since(start)
		l.await(5) // more than the four requests that may have been in progress
		t.Logf("writes were back %v after the primary ended, of which the promotion took %v", time.Since(start), promoted)
		if took := time.Since(start); *failovers > 1 && took > 10*time.Second {
			t.Errorf("writes were back after %v", took)
		}
		l.await(10)
		primary, l.address = standby, standby.address()
		l.lead(hubs[0].base)
	}
	l.end()
}

// A host that does not answer leaves time to connect to the next one.
func TestPostgres_SkipsAHostThatDoesNotAnswer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	l := newLoad(t, storetest.Postgres(t))
	address, err := url.Parse(l.address)
	if err != nil {
		t.Fatal(err)
	}
	address.Host = silent.Addr().String() + "," + address.Host
	l.lead(serve(t, address.String()).base)
	l.begin(1)
	l.await(3)
	l.end()
}

func TestPostgres_HubsStartTogetherOnAnEmptyDatabase(t *testing.T) {
	for range *starts {
		startTogether(t, storetest.Postgres(t))
	}
}

func startTogether(t *testing.T, address string) {
	t.Helper()
	var hubs [5]*process
	var all sync.WaitGroup
	for i := range hubs {
		all.Go(func() {
			var err error
			if hubs[i], err = tryServe(t, address); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	for _, hub := range hubs {
		hub.kill()
	}
	if steps, names := count(t, address, "bun_migrations"),
		count(t, address, "(SELECT DISTINCT name FROM bun_migrations) AS names"); steps != names {
		t.Errorf("%d steps were taken, of %d", steps, names)
	}
}

// grants are the rights that hub serve needs, as guide/postgres.md lists them.
const grants = `GRANT USAGE ON SCHEMA %[1]s TO %[2]s;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %[1]s TO %[2]s;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA %[1]s TO %[2]s;`

func TestPostgres_ServesWithoutTheRightToChangeTheSchema(t *testing.T) {
	address := storetest.Postgres(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	schema := u.Query().Get("search_path")
	admin := openSQL(t, address)
	defer admin.Close()
	role := "serve_" + strings.TrimPrefix(schema, "test_")
	execute := func(statement string) {
		t.Helper()
		if _, err := admin.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	execute("CREATE ROLE " + role + " LOGIN")
	t.Cleanup(func() {
		if _, err := openSQL(t, address).Exec("DROP OWNED BY " + role + "; DROP ROLE " + role); err != nil {
			t.Error(err)
		}
	})
	u.User = url.User(role)
	execute(fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s", schema, role))
	if _, err := tryServe(t, u.String()); err == nil || !strings.Contains(err.Error(), "hub migrate") ||
		!strings.Contains(err.Error(), "no right to change the schema") {
		t.Errorf("on an empty schema: %v", err)
	}
	l := newLoad(t, address)
	if _, err := tryServe(t, u.String()); err == nil || !strings.Contains(err.Error(), "no right to its tables") ||
		!strings.Contains(err.Error(), "hub help postgres") {
		t.Errorf("without rights to the tables: %v", err)
	}
	execute(fmt.Sprintf(grants, schema, role))
	l.lead(serve(t, u.String()).base)
	l.begin(2)
	l.await(20)
	l.end()
	if out, err := exec.Command(program, "gc", "--db", u.String()).CombinedOutput(); err != nil {
		t.Errorf("hub gc: %v: %s", err, out)
	}
	text, err := os.ReadFile("guide/postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(fmt.Sprintf(grants, "public", "hub_serve"), "\n") {
		if !strings.Contains(string(text), line) {
			t.Errorf("guide/postgres.md lacks %s", line)
		}
	}
}

func TestPostgres_OlderHubRefusesNewerSchema(t *testing.T) {
	address := storetest.Postgres(t)
	storetest.Open(t, address)
	db := openSQL(t, address)
	defer db.Close()
	if _, err := db.Exec(
		"INSERT INTO bun_migrations (name, group_id, migrated_at) SELECT '9' || n, 1, now() FROM generate_series(100, 116) AS n"); err != nil {
		t.Fatal(err)
	}
	_, err := tryServe(t, address)
	if err == nil || !strings.Contains(err.Error(), "the database was made by a newer hub") {
		t.Errorf("got %v", err)
	}
}

func TestPostgres_StatementsThatTakeTooLongAre503(t *testing.T) {
	address := storetest.Postgres(t)
	l := newLoad(t, address)
	l.lead(serve(t, address+"&lock_timeout=0&statement_timeout=100ms").base)
	l.publish("site", "1.0.0")
	l.register("Pets", "pets")
	l.create("web")
	db := openSQL(t, address)
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE revisions"); err != nil { // even for reads
		t.Fatal(err)
	}
	const path = "/v1/projects/alice/web/"
	for method, path := range map[string]string{http.MethodGet: path + "config", http.MethodPut: path + "client-config"} {
		status, answer, err := l.once(method, (*l.bases.Load())[0]+path, "application/json", "", `{"settings": {}}`)
		if err != nil || status != http.StatusServiceUnavailable ||
			!strings.Contains(string(answer), "the hub's database does not answer") {
			t.Errorf("%s: %d %s %v", method, status, answer, err)
		}
	}
}

// The outcome of a write whose connection ends during COMMIT is unknown to the hub: it
// answers 503, and the same request again is safe.
func TestPostgres_EndedConnectionsLoseAndRepeatNothing(t *testing.T) {
	address := storetest.Postgres(t)
	l := newLoad(t, address)
	const name = "ended"
	own := address + "&application_name=" + name // other tests keep their connections
	l.lead(serve(t, own, "--db-connections", "8").base, serve(t, own, "--db-connections", "8").base)
	l.begin(4)
	db := openSQL(t, address)
	defer db.Close()
	ended := 0
	for i := 0; ended < *terminations; i++ {
		query := "query LIKE 'COMMIT%'"
		if i%2 == 0 {
			query = "query NOT LIKE 'COMMIT%'"
		}
		var n int
		err := db.QueryRow(`SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
			WHERE pid <> pg_backend_pid() AND state <> 'idle' AND application_name = $1 AND `+query+` LIMIT 1) AS one`, name).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		if ended += n; n > 0 {
			l.await(2)
		}
	}
	l.end()
}

// pooler starts pgbouncer before a server, with few connections that all clients share by
// transaction.
func pooler(t *testing.T, server *cluster, name string) (address string) {
	t.Helper()
	if _, err := exec.LookPath("pgbouncer"); err != nil {
		storetest.Missing(t, "pgbouncer: apt-get install pgbouncer")
	}
	port := server.startPooler(map[string]string{"pool_mode": "transaction", "default_pool_size": "8",
		"max_client_conn": "200"})
	return "postgres://postgres@127.0.0.1:" + port + "/" + name + "?sslmode=disable&default_query_exec_mode=exec"
}

func TestPostgres_WorksBehindPgBouncer(t *testing.T) {
	server := startCluster(t)
	address := pooler(t, server, "postgres")
	l := newLoad(t, address)
	l.lead(serve(t, address).base, serve(t, address).base)
	l.begin(8)
	l.await(200)
	l.end()
	for range 2 { // the lock of the first one is free again
		if out, err := exec.Command(program, "gc", "--db", address).CombinedOutput(); err != nil {
			t.Errorf("hub gc: %v: %s", err, out)
		}
	}
	for _, args := range [][]string{{"fsck", "--db", address}, {"copy", "--db", address, "--to", storetest.SQLite(t)}} {
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			t.Errorf("hub %s: %v: %s", args[0], err, out)
		}
	}
}
