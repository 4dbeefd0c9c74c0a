package golden_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	pocketbase = flag.String("pocketbase", "",
		"compare the hub with this `PROGRAM`: go install github.com/pocketbase/pocketbase/examples/base@v0.39.11")
	loadTime    = flag.Duration("load-time", 2*time.Second, "how long each load of BenchmarkLoad takes")
	loadProfile = flag.String("load-profile", "", "write CPU profiles of the hubs under load into this `DIRECTORY`")
	loadRecords = flag.Int("load-records", 1000, "how many configs BenchmarkLoad reads and writes")
)

// BenchmarkLoad reads and writes configs of 4 KB with a token, on a hub with SQLite, one
// with PostgreSQL and on PocketBase in turn, and reports ratios of the medians: ours to
// PocketBase's. Ours wait for the disk before they answer a write; PocketBase does not.
//
//	go test ./golden -run '^$' -bench Load -benchtime 3x -pocketbase ~/go/bin/base
//
// Without -pocketbase it reports requests a second alone.
func BenchmarkLoad(b *testing.B) {
	wrk := need(b, "wrk", "apt-get install wrk")
	servers := []*loaded{hubUnderLoad(b, "sqlite", sqlite)}
	if os.Getenv("HUB_TEST_POSTGRES") != "" {
		servers = append(servers, hubUnderLoad(b, "postgres", postgres))
	}
	if *pocketbase != "" {
		servers = append(servers, pocketbaseUnderLoad(b))
	}
	type kind struct {
		method      string
		connections int
	}
	results := map[*loaded]map[kind][]load{}
	var kinds []kind
	for _, method := range []string{"GET", "PUT"} {
		for _, connections := range []int{1, 16, 64} {
			kinds = append(kinds, kind{method, connections})
		}
	}
	for b.Loop() {
		for _, k := range kinds {
			for _, s := range servers {
				if results[s] == nil {
					results[s] = map[kind][]load{}
				}
				l := s.run(b, wrk, k.method, k.connections)
				b.Logf("%-10s %s c=%-2d %7.0f requests/s, p50 %v, p99 %v", s.name, k.method, k.connections, l.rate, l.p50, l.p99)
				results[s][k] = append(results[s][k], l)
			}
		}
	}
	peer := servers[len(servers)-1]
	for _, s := range servers {
		b.Logf("%-10s peak memory %d MiB", s.name, s.peak()>>20)
		for _, k := range kinds {
			name := fmt.Sprintf("%s-%s-%d", s.name, k.method, k.connections)
			if s == peer || *pocketbase == "" {
				b.ReportMetric(middle(results[s][k], load.requests), name+"/s")
				continue
			}
			b.ReportMetric(middle(results[s][k], load.requests)/middle(results[peer][k], load.requests), name+"-ratio")
			if k.connections == 64 {
				b.ReportMetric(middle(results[s][k], load.slowest)/middle(results[peer][k], load.slowest), name+"-p99-ratio")
			}
		}
		if *pocketbase != "" && s != peer {
			b.ReportMetric(float64(s.peak())/float64(peer.peak()), s.name+"-memory-ratio")
		}
	}
}

// loaded is a server that is put under load.
type loaded struct {
	name    string
	origin  string
	admin   string // address of its profiles, "": none
	process *os.Process
	scripts map[string]string // of wrk, by method
}

// load is what one run of wrk measured.
type load struct {
	rate     float64
	p50, p99 time.Duration
}

func (l load) requests() float64 { return l.rate }
func (l load) slowest() float64  { return float64(l.p99) }

func middle(all []load, of func(load) float64) float64 {
	figures := make([]float64, len(all))
	for i, l := range all {
		figures[i] = of(l)
	}
	slices.Sort(figures)
	return figures[len(figures)/2]
}

var (
	wrkRate    = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	wrkLatency = regexp.MustCompile(`(50|99)%\s+([0-9.]+(?:us|ms|s))`)
)

func (s *loaded) run(b *testing.B, wrk, method string, connections int) (l load) {
	b.Helper()
	c := exec.Command(wrk, "-t1", fmt.Sprint("-c", connections), fmt.Sprintf("-d%.0fs", max(1, loadTime.Seconds())),
		"--latency", "-s", s.scripts[method], s.origin)
	if s.admin != "" {
		defer s.profile(b, fmt.Sprintf("%s-%s-%d", s.name, method, connections))()
	}
	out, err := c.CombinedOutput()
	rate := wrkRate.FindSubmatch(out)
	if err != nil || rate == nil || bytes.Contains(out, []byte("Non-2xx")) ||
		bytes.Contains(out, []byte("Socket errors")) {
		b.Fatalf("%s, %s: %v\n%s", s.name, method, err, out)
	}
	l.rate, _ = strconv.ParseFloat(string(rate[1]), 64)
	for _, m := range wrkLatency.FindAllSubmatch(out, -1) {
		took, err := time.ParseDuration(string(m[2]))
		if err != nil {
			b.Fatal(err)
		}
		if string(m[1]) == "50" {
			l.p50 = took
		} else {
			l.p99 = took
		}
	}
	return l
}

// profile starts a CPU profile; the function that it returns writes it.
func (s *loaded) profile(b *testing.B, name string) (end func()) {
	done := make(chan error, 1)
	go func() {
		r, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%.0f", s.admin, max(1, loadTime.Seconds())))
		if err == nil {
			defer r.Body.Close()
			var profile []byte
			if profile, err = io.ReadAll(r.Body); err == nil {
				err = os.WriteFile(filepath.Join(*loadProfile, name+".pprof"), profile, 0o600)
			}
		}
		done <- err
	}()
	return func() {
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
}

// peak is the most memory that the server used, in bytes.
func (s *loaded) peak() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Pid))
	m := regexp.MustCompile(`VmHWM:\s+([0-9]+) kB`).FindSubmatch(status)
	if err != nil || m == nil {
		return 0
	}
	kib, _ := strconv.ParseInt(string(m[1]), 10, 64)
	return kib << 10
}

// addLoad makes wrk's script for one kind of request. %d of path is the number of a
// record, from 1; body has a mark in the place of a number that no other request has.
func (s *loaded) addLoad(b *testing.B, method, sent, path, token, body string) {
	b.Helper()
	first, last, _ := strings.Cut(body, mark)
	script := fmt.Sprintf(`
wrk.headers["Authorization"] = %q
wrk.headers["Content-Type"] = "application/json"
function init() math.randomseed(os.time()) end
function request()
  local body = nil
  if %q ~= "GET" then body = %q .. math.random(1000000000) .. %q end
  return wrk.format(%q, string.format(%q, math.random(%d)), nil, body)
end
`, "Bearer "+token, sent, first, last, sent, path, *loadRecords)
	name := filepath.Join(b.TempDir(), method+".lua")
	if err := os.WriteFile(name, []byte(script), 0o600); err != nil {
		b.Fatal(err)
	}
	if s.scripts == nil {
		s.scripts = map[string]string{}
	}
	s.scripts[method] = name
}

// mark is the place of a number in a document.
const mark = "@@"

// document is a JSON object of about 4 KB, with a mark.
func document() string {
	var text strings.Builder
	text.WriteString(`{"n":` + mark)
	for i := 0; text.Len() < 4000; i++ {
		fmt.Fprintf(&text, `,"section%02d":{"title":"Section %d of the page","color":"#%06x","visible":%t}`, i, i,
			i*7919%0xffffff, i%3 == 0)
	}
	return text.String() + "}"
}

// hubUnderLoad starts a hub with many projects.
func hubUnderLoad(b *testing.B, name string, db database) *loaded {
	b.Helper()
	h := &hub{db: db(b, b.TempDir())}
	s := &loaded{name: name}
	h.cmd = exec.Command(program("hub"), "serve", "--db", h.db, "--listen", "127.0.0.1:0")
	if *loadProfile != "" {
		s.admin = freeAddress(b)
		h.cmd.Args = append(h.cmd.Args, "--admin-listen", s.admin)
	}
	log, err := os.Create(filepath.Join(b.TempDir(), "log")) // this program would read it too slowly
	if err != nil {
		b.Fatal(err)
	}
	h.cmd.Stderr = log
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { h.stop(b); log.Close() })
	if h.origin, err = bufio.NewReader(stdout).ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	h.origin = strings.TrimSpace(h.origin)
	h.admin(b, "account", "create", "alice")
	token := h.token(b, "alice", "write:catalog")
	(&world{t: b, hub: h, origin: h.origin, token: token}).projects(1)
	numbers := fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)", *loadRecords)
	execute(b, h.db, "INSERT INTO resources (account_id, kind, slug, created_at, created_by) "+numbers+
		" SELECT account_id, kind, 'p' || i, created_at, created_by FROM n, resources WHERE slug = 'p0'")
	execute(b, h.db, "INSERT INTO projects (id, stack_id, stack_version, api_id, visibility) "+
		"SELECT r.id, p.stack_id, p.stack_version, p.api_id, p.visibility FROM resources r, projects p "+
		"WHERE r.kind = 'project' AND r.id <> p.id")
	const columns = "kind, n, nth, total, digest, parent, by_user, via, token, request_id, push, message, at, files, " +
		"bytes, added, changed, removed, base, body"
	execute(b, h.db, "INSERT INTO revisions (project_id, "+columns+") SELECT r.id, v."+
		strings.ReplaceAll(columns, ", ", ", v.")+
		" FROM resources r, revisions v WHERE r.kind = 'project' AND r.id <> v.project_id AND v.n = 1")
	s.origin, s.process = h.origin, h.cmd.Process
	const path, put = "/v1/projects/alice/p%d/config", "/v1/projects/alice/p%d/client-config"
	body := `{"settings":` + document() + `}`
	s.addLoad(b, "GET", "GET", path, token, "")
	s.addLoad(b, "PUT", "PUT", put, token, body)
	for i := range *loadRecords {
		exchange(b, "PUT", h.origin+fmt.Sprintf(put, i+1), token, strings.Replace(body, mark, fmt.Sprint(i), 1), nil)
	}
	return s
}

// pocketbaseUnderLoad starts PocketBase, with its default settings and a collection that
// any user may read and change.
func pocketbaseUnderLoad(b *testing.B) *loaded {
	b.Helper()
	dir := b.TempDir()
	const email, password = "load@example.com", "1234567890"
	if out, err := exec.Command(*pocketbase, "superuser", "create", email, password, "--dir",
		dir).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	address := freeAddress(b)
	origin := "http://" + address
	c := exec.Command(*pocketbase, "serve", "--http", address, "--dir", dir)
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Process.Kill(); c.Wait() })
	awaitAnswer(b, origin+"/api/health")
	var admin, user struct{ Token string }
	login := fmt.Sprintf(`{"identity":%q,"password":%q}`, email, password)
	exchange(b, "POST", origin+"/api/collections/_superusers/auth-with-password", "", login, &admin)
	exchange(b, "POST", origin+"/api/collections/users/records", admin.Token,
		fmt.Sprintf(`{"email":%q,"password":%q,"passwordConfirm":%[2]q}`, email, password), nil)
	exchange(b, "POST", origin+"/api/collections/users/auth-with-password", "", login, &user)
	exchange(b, "POST", origin+"/api/collections", admin.Token, `{"name":"docs","type":"base","fields":[{"name":"doc","type":"json"}],
		"viewRule":"@request.auth.id != \"\"","updateRule":"@request.auth.id != \"\""}`, nil)
	s := &loaded{name: "pocketbase", origin: origin, process: c.Process}
	const path = "/api/collections/docs/records/record%09d"
	body := `{"doc":` + document() + `}`
	for i := range *loadRecords {
		doc := strings.Replace(document(), mark, fmt.Sprint(i), 1)
		exchange(b, "POST", origin+"/api/collections/docs/records", admin.Token,
			fmt.Sprintf(`{"id":"record%09d","doc":%s}`, i+1, doc), nil)
	}
	s.addLoad(b, "GET", "GET", path, user.Token, "")
	s.addLoad(b, "PUT", "PATCH", path, user.Token, body)
	return s
}

// awaitAnswer waits until a program that was started answers.
func awaitAnswer(b testing.TB, address string) {
	b.Helper()
	for start := time.Now(); ; runtime.Gosched() {
		if r, err := http.Get(address); err == nil {
			r.Body.Close()
			return
		} else if time.Since(start) > 30*time.Second {
			b.Fatal(err)
		}
	}
}

func freeAddress(b testing.TB) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// exchange sends a JSON body, and decodes the response into v unless that is nil.
func exchange(b testing.TB, method, url, token, body string, v any) {
	b.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode >= 300 {
		b.Fatalf("%s %s: %d %s, %v", method, url, r.StatusCode, text, err)
	}
	if v != nil {
		if err := json.Unmarshal(text, v); err != nil {
			b.Fatal(err)
		}
	}
}
