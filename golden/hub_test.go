package golden_test

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// database makes the address of an empty database for one test.
type database func(t testing.TB, dir string) string

func sqlite(_ testing.TB, dir string) string { return "sqlite:" + filepath.Join(dir, "hub.db") }

// postgres returns a fresh schema, which goes with the test.
func postgres(t testing.TB, _ string) string {
	base := os.Getenv("HUB_TEST_POSTGRES")
	if base == "" {
		skip(t, "PostgreSQL: set HUB_TEST_POSTGRES to postgres://USER:PASSWORD@HOST/DATABASE")
	}
	db, err := sql.Open("pgx", base)
	if err != nil {
		t.Fatal(err)
	}
	schema := "golden_" + strings.ToLower(rand.Text())
	if _, err := db.Exec("CREATE SCHEMA " + schema); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP SCHEMA " + schema + " CASCADE"); err != nil {
			t.Error(err)
		}
		db.Close()
	})
	address, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	q := address.Query()
	q.Set("search_path", schema)
	address.RawQuery = q.Encode()
	return address.String()
}

// hub is a running hub.
type hub struct {
	origin string // under which it is reached
	listen string // host:port on which it listens
	db     string
	cmd    *exec.Cmd
	log    *lockedBuffer
	once   sync.Once
}

var listening = regexp.MustCompile(`\blisten=(\S+) `)

// startHub runs hub serve with flags, and stops it with the test.
func startHub(t testing.TB, db string, flags ...string) *hub {
	t.Helper()
	found := make(chan string, 1)
	h := &hub{db: db, log: &lockedBuffer{found: found}}
	h.cmd = exec.Command(program("hub"), append([]string{"serve", "--db", db, "--listen", "127.0.0.1:0"}, flags...)...)
	h.cmd.Stderr = h.log
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.stop(t) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		h.cmd.Wait()
		t.Fatalf("the hub did not start: %s", h.log)
	}
	h.origin = strings.TrimSpace(line)
	h.listen = <-found
	return h
}

// stop ends the hub as a service manager does, and waits for it.
func (h *hub) stop(t testing.TB) {
	h.once.Do(func() {
		if h.cmd.Process.Signal(syscall.SIGTERM) != nil {
			h.cmd.Process.Kill() // where there is no such signal
			h.cmd.Wait()
			return
		}
		if err := h.cmd.Wait(); err != nil {
			t.Errorf("the hub ended with %v: %s", err, h.log)
		}
	})
}

// admin runs a hub command beside the database and returns its stdout.
func (h *hub) admin(t testing.TB, args ...string) string {
	t.Helper()
	c := exec.Command(program("hub"), append(args, "--db", h.db)...)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("hub %s: %v\n%s", strings.Join(args, " "), err, err.(*exec.ExitError).Stderr)
	}
	return strings.TrimSpace(string(out))
}

// token makes a token with scopes.
func (h *hub) token(t testing.TB, user string, scopes ...string) string {
	t.Helper()
	args := []string{"token", "create", "--user", user, "--name", "test"}
	for _, s := range scopes {
		args = append(args, "--scope", s)
	}
	return h.admin(t, args...)
}

// expire ends the life of a token, which no command does: it had one until 2020.
func expire(t testing.TB, address, token string) {
	t.Helper()
	execute(t, address, fmt.Sprintf("UPDATE tokens SET expires_at = %d WHERE hash = '%x'",
		time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), sha256.Sum256([]byte(token))))
}

// execute runs a statement on a hub's database, for what no command does.
func execute(t testing.TB, address, statement string) {
	t.Helper()
	driver := "pgx"
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		driver, address = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// lockedBuffer collects a hub's log while a test reads it, and finds in it where
// the hub listens.
type lockedBuffer struct {
	mu    sync.Mutex
	b     strings.Builder
	found chan string
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Write(p)
	if at := listening.FindStringSubmatch(l.b.String()); at != nil && l.found != nil {
		l.found <- at[1]
		l.found = nil
	}
	return len(p), nil
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// await waits until the log holds text.
func (l *lockedBuffer) await(t testing.TB, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(l.String(), text); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("the log never says %q: %s", text, l)
		}
	}
}

// front is an address that stays while the hubs behind it come and go. Its
// connections go to them in turn.
type front struct {
	origin   string
	listener net.Listener
	mu       sync.Mutex
	hubs     []*hub
	next     int
	guard    chan net.Conn // where connections go instead, if it is there
}

func newFront(t testing.TB) *front {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	f := &front{origin: "http://" + listener.Addr().String(), listener: listener}
	go f.serve()
	return f
}

func (f *front) serve() {
	for {
		conn, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		guard := f.guard
		f.mu.Unlock()
		if guard != nil {
			guard <- conn
			continue
		}
		go relay(conn, f.target())
	}
}

func (f *front) lead(hubs []*hub) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hubs = hubs
}

func (f *front) target() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	return f.hubs[f.next%len(f.hubs)].listen
}

func relay(from net.Conn, target string) {
	defer from.Close()
	to, err := net.DialTimeout("tcp", target, 5*time.Second)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		io.Copy(to, from)
		to.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(from, to)
}
