package golden_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// pastedLines counts the command lines that scripts were advised to type and typed.
var pastedLines atomic.Int64

var advisedLine = regexp.MustCompile(
	`(?m)(?:  try: |to restore it: |to restore them: |to restore the previous config: |a push records it: |project with: |to undo it: |to list more: |to download what was restored: )(.*)$`)

// advised returns the command lines that an output tells people to paste.
func advised(output string) []string {
	var lines []string
	for _, found := range advisedLine.FindAllStringSubmatch(output, -1) {
		if !strings.Contains(found[1], " --local") { // which serves until it is interrupted
			lines = append(lines, found[1])
		}
	}
	return lines
}

// guard stands before a hub: it notes each request, and lets none pass that writes.
type guard struct {
	hub      http.Handler
	mu       sync.Mutex
	projects []string
	requests int
}

var projectPath = regexp.MustCompile(`^/v1/projects/([^/]+/[^/]+)`)

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.requests++
	if found := projectPath.FindStringSubmatch(r.URL.Path); found != nil {
		g.projects = append(g.projects, found[1])
	}
	g.mu.Unlock()
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		g.hub.ServeHTTP(w, r)
		return
	}
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprint(w,
		`{"type": "about:blank", "title": "guarded", "status": 403, "code": "not_permitted", "detail": "guarded"}`)
}

// queue is the listener of connections that come through a channel.
type queue struct {
	conns chan net.Conn
	addr  net.Addr
	once  sync.Once
	ended chan struct{}
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case conn := <-q.conns:
		return conn, nil
	case <-q.ended:
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error {
	q.once.Do(func() { close(q.ended) })
	return nil
}

func (q *queue) Addr() net.Addr { return q.addr }

// guarded runs do while no request reaches the hubs that would write.
func (f *front) guarded(t testing.TB, do func()) *guard {
	t.Helper()
	target := &url.URL{Scheme: "http", Host: f.target()}
	g := &guard{hub: httputil.NewSingleHostReverseProxy(target)}
	q := &queue{conns: make(chan net.Conn), addr: f.listener.Addr(), ended: make(chan struct{})}
	server := &http.Server{Handler: g}
	go server.Serve(q)
	f.mu.Lock()
	f.guard = q.conns
	f.mu.Unlock()
	do()
	f.mu.Lock()
	f.guard = nil
	f.mu.Unlock()
	server.Close()
	return g
}

// pasteAdvice types each command line that the output of a run advises into a shell, in a
// copy of the script's files, and checks that it acts on the same hub, workspace and project
// as what was run.
func (s *script) pasteAdvice(ts *testscript.TestScript, r *run) {
	if s.address == "" || strings.HasPrefix(s.address, "postgres") || s.front == nil {
		return
	}
	output := r.stderr
	if !strings.HasPrefix(r.stdout, "{") {
		output += r.stdout
	}
	var lines []string
	for _, line := range advised(output) {
		if key := s.normal(ts, r.line()+"\n"+line); !s.pasted[key] {
			if s.pasted == nil {
				s.pasted = map[string]bool{}
			}
			s.pasted[key] = true
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return
	}
	before := s.try(ts, r.line())
	for _, line := range lines {
		pastedLines.Add(1)
		s.checkAdvice(r, line, before, s.try(ts, line))
	}
	// Later lines of the script read what the run printed.
	dir := s.t.TempDir()
	out, err := filepath.Join(dir, "out"), filepath.Join(dir, "err")
	ts.Check(os.WriteFile(out, []byte(r.stdout), 0o600))
	ts.Check(os.WriteFile(err, []byte(r.stderr), 0o600))
	ts.Check(ts.Exec("sh", "-c", `cat "$1"; cat "$2" >&2`, "-", out, err))
}

// A trial is what came of a line that was typed where it can change nothing.
type trial struct {
	*guard
	others int // requests to the other hub
	output string
	code   int
}

// try types a line into a shell, where copies of the script's files are in their place.
func (s *script) try(ts *testscript.TestScript, line string) trial {
	saved := s.t.TempDir()
	places := []string{ts.Getenv("WORK"), s.dir}
	ts.Check(ts.Exec("cp", "-a", places[0], places[1], saved))
	swap := func(place string) {
		moved := filepath.Join(saved, filepath.Base(place))
		ts.Check(errors.Join(os.Rename(place, place+".here"), os.Rename(moved, place), os.Rename(place+".here", moved)))
	}
	for _, place := range places {
		swap(place)
		defer swap(place)
	}
	if strings.HasPrefix(line, "tool login") {
		line = `printf %s "$TOKEN" | ` + strings.TrimSuffix(line, " --with-token") +
			" --with-token" // which is what a terminal asks for
	}
	t := trial{}
	run := func() { ts.Check(ts.Exec("sh", "-c", line+"\necho EXIT $?")) }
	if s.other == nil {
		t.guard = s.front.guarded(s.t, run)
	} else {
		other := s.other.guarded(s.t, func() { t.guard = s.front.guarded(s.t, run) })
		t.projects, t.requests, t.others = append(t.projects, other.projects...), t.requests+other.requests, other.requests
	}
	out := ts.ReadFile("stdout")
	end := strings.LastIndex(out, "EXIT ")
	_, err := fmt.Sscanf(out[end:], "EXIT %d", &t.code)
	ts.Check(err)
	t.output = out[:end] + ts.ReadFile("stderr")
	return t
}

func (s *script) checkAdvice(r *run, line string, before, after trial) {
	complain := func(what string) {
		s.t.Errorf("%s\nadvises: %s\n%s (exit %d)\n%s", r.line(), line, what, after.code, after.output)
	}
	if after.code == exitUsage {
		complain("that makes no sense")
	}
	for _, text := range []string{"no workspace", "no local project"} {
		if strings.Contains(after.output, text) && !strings.Contains(before.output, text) {
			complain("that is about another workspace")
		}
	}
	for _, project := range after.projects {
		if len(before.projects) > 0 && !slices.Contains(before.projects, project) && !strings.Contains(line, project) {
			complain("that is about another project: " + project)
		}
	}
	if (before.others > 0) != (after.others > 0) && before.requests > 0 && after.requests > 0 &&
		!strings.Contains(line, s.other.origin) {
		complain("that is about another hub")
	}
	if before.requests > 0 && after.requests == 0 && after.code != 0 && strings.HasPrefix(line, "tool ") {
		complain("that does not reach the hub")
	}
}
