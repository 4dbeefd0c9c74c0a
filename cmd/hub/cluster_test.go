package main

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"example.com/projecthub/store/storetest"
)

// cluster is a PostgreSQL server of a test's own, which the test may stop, kill or
// replace by its standby.
type cluster struct {
	t    testing.TB
	dir  string
	port string
}

// startCluster starts a server with settings, such as max_connections=50, which ends
// with the test. Without PostgreSQL's programs the test is skipped, or fails where
// skipping is forbidden.
func startCluster(t testing.TB, settings ...string) *cluster {
	t.Helper()
	s := newCluster(t)
	s.run(programOf(t, "initdb"), "-D", s.data(), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8",
		"--no-sync")
	s.start(settings...)
	return s
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	programOf(t, "initdb")
	dir, err := os.MkdirTemp("", "postgres-") // not t.TempDir, which other users cannot read
	if err != nil {
		t.Fatal(err)
	}
	s := &cluster{t: t, dir: dir}
	t.Cleanup(func() {
		_ = s.control("-m", "immediate", "stop").Run()
		os.RemoveAll(dir)
	})
	if os.Geteuid() == 0 {
		if out, err := exec.Command("chown", "postgres", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(listener.Addr().String())
	listener.Close()
	return s
}

// programOf returns the path of one of PostgreSQL's programs.
func programOf(t testing.TB, name string) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if path, err := exec.LookPath(name); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 || runtime.GOOS == "windows" {
		storetest.Missing(t, "PostgreSQL's programs: apt-get install postgresql")
	}
	return slices.Max(found)
}

func (s *cluster) data() string { return filepath.Join(s.dir, "data") }

// command returns a command that runs as the server's user, which root cannot be.
func (s *cluster) command(name string, args ...string) *exec.Cmd {
	if os.Geteuid() == 0 {
		args = append([]string{"--reuid=postgres", "--regid=postgres", "--clear-groups", name}, args...)
		name = "setpriv"
	}
	c := exec.Command(name, args...)
	c.Dir = "/"
	return c
}

// run runs a program as the server's user.
func (s *cluster) run(name string, args ...string) {
	s.t.Helper()
	s.must(s.command(name, args...))
}

func (s *cluster) must(c *exec.Cmd) {
	s.t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		s.t.Fatalf("%s: %v\n%s%s", c.Path, err, out, log)
	}
}

func (s *cluster) control(args ...string) *exec.Cmd {
	all := append([]string{"-D", s.data(), "-l", filepath.Join(s.dir, "log"), "-w"}, args...)
	return s.command(programOf(s.t, "pg_ctl"), all...)
}

// start starts a server that does not run. It survives the end of its processes, not that
// of the machine, which tests cannot end.
func (s *cluster) start(settings ...string) {
	s.t.Helper()
	options := "-p " + s.port + " -k " + s.dir + " -c listen_addresses=127.0.0.1 -c fsync=off"
	for _, setting := range settings {
		options += " -c " + setting
	}
	s.must(s.control("-o", options, "start"))
}

// kill ends the server as a crash does.
func (s *cluster) kill() { s.must(s.control("-m", "immediate", "stop")) }

// promote makes a standby take writes.
func (s *cluster) promote() { s.must(s.control("promote")) }

// standby starts a server that follows s under a name, which s can name in
// synchronous_standby_names.
func (s *cluster) standby(name string) *cluster {
	s.t.Helper()
	standby := newCluster(s.t)
	standby.run(programOf(s.t, "pg_basebackup"), "-D", standby.data(), "-R", "-c", "fast", "--no-sync",
		"-d", fmt.Sprintf("host=127.0.0.1 port=%s user=postgres application_name=%s", s.port, name))
	standby.start()
	return standby
}

// address returns the address of the server's database postgres, for its superuser.
func (s *cluster) address() string {
	return "postgres://postgres@127.0.0.1:" + s.port + "/postgres?sslmode=disable"
}

// configure changes a setting of a running server.
func (s *cluster) configure(setting, value string) {
	s.t.Helper()
	db, err := sql.Open("pgx", s.address())
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{"ALTER SYSTEM SET " + setting + " = '" + value + "'", "SELECT pg_reload_conf()"} {
		if _, err := db.Exec(statement); err != nil {
			s.t.Fatal(err)
		}
	}
}

// startPooler starts pgbouncer, with settings, before a server, and returns its port.
func (s *cluster) startPooler(settings map[string]string) (port string) {
	s.t.Helper()
	p := newCluster(s.t)
	config := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%s user=postgres\n[pgbouncer]\n"+
		"listen_addr = 127.0.0.1\nlisten_port = %s\nauth_type = any\nlogfile = %s/log\nunix_socket_dir =\n",
		s.port, p.port, p.dir)
	for name, value := range settings {
		config += name + " = " + value + "\n"
	}
	file := filepath.Join(p.dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		s.t.Fatal(err)
	}
	c := s.command("pgbouncer", file)
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+p.port)
		if err == nil {
			conn.Close()
			return p.port
		}
		if time.Now().After(end) {
			s.t.Fatal(err)
		}
	}
}
