//go:build unix

package golden_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// signals are those that ask a program to end, with the exit code of each.
var signals = []struct {
	signal syscall.Signal
	code   int
}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}}

func TestSignal_EndsCommandInPipeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	w.setting(after)
	arrived := make(chan struct{})
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/v1/whoami") { // of the login
			hub.ServeHTTP(rw, r)
			return
		}
		arrived <- struct{}{}
		hold(r)
	})
	held, mine := w.config(), w.read(clientJSON)
	for _, s := range signals {
		for _, args := range [][]string{
			{"push", "web"}, {"push", "web", "--base-files-only"}, {"pull", "web"}, {"publish", "web", "--dry-run"},
			{"project", "rm", "web"}, {"project", "list"},
		} {
			for _, asJSON := range []bool{false, true} {
				if asJSON {
					args = append(args, "--json")
				}
				var stdout, stderr bytes.Buffer
				c := w.command(args...)
				c.Stdout, c.Stderr = &stdout, &stderr
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				<-arrived
				c.Process.Signal(s.signal)
				code := codeOf(t, c.Wait())
				r := &run{append([]string{"tool"}, args...), code, stdout.String(), stderr.String()}
				for _, problem := range r.problems() {
					t.Errorf("%s after %v: %s\n%s%s", r.line(), s.signal, problem, r.stdout, r.stderr)
				}
				if code != s.code {
					t.Errorf("%s after %v: exit code %d, want %d", r.line(), s.signal, code, s.code)
				}
				if asJSON {
					var failed head
					if err := json.Unmarshal(stdout.Bytes(), &failed); err != nil || failed.Code != "interrupted" {
						t.Errorf("%s after %v: %s", r.line(), s.signal, &stdout)
					}
				} else if !strings.Contains(r.stderr, ": interrupted (stage ") {
					t.Errorf("%s after %v: %s", r.line(), s.signal, &stderr)
				}
			}
		}
	}
	if got := w.config(); got != held {
		t.Errorf("the hub's config changed: %s", got)
	}
	if got := w.read(clientJSON); got != mine {
		t.Errorf("client.json changed: %s", got)
	}
}

// Under nohup a command outlives its terminal, and so does one whose shell ignores
// the interrupts of others.
func TestSignal_IgnoredEndsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	arrived, answer := make(chan struct{}), make(chan struct{})
	w.proxy(func(rw http.ResponseWriter, r *http.Request, hub http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/config") {
			arrived <- struct{}{}
			<-answer
		}
		hub.ServeHTTP(rw, r)
	})
	for name, s := range map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT} {
		c := exec.Command(need(t, "sh", "a shell"), "-c", "trap '' "+name+"; exec tool push web")
		c.Dir, c.Env = w.dir, w.env
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-arrived
		c.Process.Signal(s)
		answer <- struct{}{}
		if code := codeOf(t, c.Wait()); code != 0 {
			t.Errorf("SIG%s: exit code %d", name, code)
		}
	}
}

func TestSignal_SecondEndsDrainingHub(t *testing.T) {
	t.Parallel()
	h := startHub(t, sqlite(t, t.TempDir()))
	h.admin(t, "account", "create", "alice")
	conn, err := net.Dial("tcp", h.listen)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The hub asks for the body once it waits for it, which never comes.
	fmt.Fprintf(conn,
		"POST /v1/apis/upload HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
			"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n", h.token(t, "alice", "write:catalog"))
	if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, " 100 ") {
		t.Fatalf("the hub answers %q, %v", line, err)
	}
	h.once.Do(func() {
		h.cmd.Process.Signal(syscall.SIGINT)
		h.log.await(t, "stopping")
		h.cmd.Process.Signal(syscall.SIGINT)
		h.cmd.Wait()
	})
	if status := h.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() {
		t.Errorf("it ended with %v: %s", h.cmd.ProcessState, h.log)
	}
}
